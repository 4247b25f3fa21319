"""The journal: changes on disk, beside a store that is a file, before a batch applies them.

SQLite has one writer at a time, and a batch may write for a second. So what is acknowledged is not kept in the store
itself but in files that are only added to: one `fdatasync` makes the changes of many clients durable, whatever writes
to the store meanwhile. The batch that applies entries notes their last position in the store, in its own transaction:
each is applied once, whatever is killed. A file is dropped when all of it is applied.

    file:   magic, identity of the journal, `follows`, `first`, check; then entries
    entry:  check, length of the rest, position, `before`; then the rest:
            kind, length of the uri, length of the media type (-1: none), uri, media type, content
    mark:   identity, the last position that was acknowledged, the last batch that the store was seen to have, check

A check is keyed with the identity, which no client knows: bytes that a client sends are never taken for an entry.

Invariant: positions grow by one. Between two files some may be left out (`follows` + 1 up to `first` - 1): they could
not be written, were never acknowledged, and no other entry gets their positions, because a reader may have seen them.

Invariant: what is up to the `before` of a whole entry, the `follows` of a file or the mark was acknowledged. So after a
crash, what is not whole and not up to one of these is a torn tail, and is cut off. What is up to one of them and cannot
be read is *gone*: a `Survey` names it, and nothing is cut, dropped or added before an operator has decided.

In comes what was read of clients' changes, at the end (`journal`); out go the same, in order (`reader`). `entries`
are the bytes, `survey` says what of them is whole. Nothing here knows of a store.
"""

from triplewire.intake.journal.entries import Mark
from triplewire.intake.journal.journal import Journal
from triplewire.intake.journal.reader import HeldJournal, JournalReader
from triplewire.intake.journal.survey import Gap, Survey

__all__ = ["Gap", "HeldJournal", "Journal", "JournalReader", "Mark", "Survey"]
