"""Logs: where changes are kept from their acknowledgement until a batch has applied them.

In a server's database it is the intake log of the store itself, to which a service adds without waiting for a batch.
Beside a store that is a file it is a `journal`, because SQLite has one writer at a time. `log_of` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from triplewire.errors import StoreBusy
from triplewire.intake import pairs
from triplewire.intake.journal import HeldJournal
from triplewire.intake.pairs import folder_of
from triplewire.store import NewEntry, Store, Writer


class Log:
    """The end of a log, where changes are added: here, of the intake log of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def last(self) -> int:
        """The position of the last change."""
        with self._store.reading() as reader:
            return reader.intake.last()

    def append(self, entries: Sequence[NewEntry]) -> int:
        """Add changes; they are durable when this returns. Gives the position of the last."""
        with self._store.appending() as intake:
            return intake.append_each(entries)

    def applied(self) -> int:
        """The position up to which everything is applied, or set aside."""
        with self._store.reading() as reader:
            return reader.intake.first() - 1

    @property
    def failure(self) -> str | None:
        """Why nothing can be added now, as far as that is known; what is wrong with a store, the store says."""
        return None

    def probe(self) -> None:
        """Try whether it goes again, after a failure; by the thread that adds."""

    def close(self) -> None:
        """Let go of it."""


class JournalLog(Log):
    """The end of a journal beside a store."""

    def __init__(self, store: Store) -> None:
        """StoreBusy if another service adds to it; DamagedJournal if it is damaged, or is not the store's."""
        super().__init__(store)
        self._journal = pairs.open_journal(store)

    @property
    def last(self) -> int:
        """See `Log`; positions that were given to nothing are not waited for."""
        return self._journal.acknowledged

    def append(self, entries: Sequence[NewEntry]) -> int:
        return self._journal.append(entries)

    def applied(self) -> int:
        """See `Log.applied`; files of which everything is applied go."""
        with self._store.reading() as reader:
            position, batch = pairs.applied_of(reader), reader.batches.last()
        self._journal.drop(position, batch)
        return position

    @property
    def failure(self) -> str | None:
        return self._journal.failure

    def probe(self) -> None:
        self._journal.probe()

    def close(self) -> None:
        pairs.close_journal(self._store, self._journal)


def log_of(store: Store) -> Log:
    """The log that a service adds to; of two services on one file, the second adds to the store itself."""
    if folder_of(store.url) is None:
        return Log(store)
    try:
        return JournalLog(store)
    except StoreBusy:
        return Log(store)


def back_up(store: Store, path: Path) -> int:
    """Write one state of a live store into one file, with all that was acknowledged and waits; how many wait in it.

    What waits in the journal is on the copied store's own log: each change is applied in the copy, or waits there. The
    journal is held before the store is copied. So whatever was acknowledged by then is in one of them: it is dropped
    from the journal only if the store has it. The copy has no journal: it is not the store that the journal knows.
    """
    folder = folder_of(store.url)
    waiting = 0

    def complete(writer: Writer) -> None:
        nonlocal waiting
        if held is not None:
            pairs.move(writer, held.after(pairs.position_of(writer)))
        pairs.part(writer)
        waiting = writer.intake.waiting()

    with nullcontext() if folder is None else HeldJournal(folder) as held:
        store.backup(path, complete)
    return waiting
