"""The backlog: what waits on the logs of a store, for an applier; first the store's own, then the journal.

What `Hub.submit`, `triplewire publish --queue` and a landing folder send is on the store's own log. A batch has entries
of one log, and takes them off it in its own transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import DamagedJournal, StoreError, TriplewireError
from triplewire.intake import pairs
from triplewire.intake.entries import Handled, change_of, entry_of
from triplewire.intake.journal import JournalReader
from triplewire.intake.settlement import Coming, Parts, Refusal
from triplewire.store import ELSEWHERE, INTAKE, JOURNAL, NewEntry, NewRejection, Reader, Store, WaitingEntry, Writer

_MUCH, _NO_END = 256 * 1024 * 1024, 1 << 60
_LOOK_INTO_THE_STORE = 0.1
"""Seconds after which a log in the store is looked at again: a question to the database each time."""


class EntryStretch(NamedTuple):
    """The entries of a log with after < position <= until."""

    log: int
    after: int
    until: int


class Backlog:
    """What waits on the logs of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        folder = pairs.folder_of(store.url)
        self._journal = None if folder is None else JournalReader(folder)
        self._end = ("", 0)
        self._looked = 0.0

    def has_news(self) -> bool:
        """Whether it is worth to look: always now and then, and at once when the journal has grown."""
        if monotonic() - self._looked > _LOOK_INTO_THE_STORE:
            return True
        return self._journal is not None and self._journal.end() != self._end

    def is_longer_than(self, count: int) -> bool:
        """Whether more than so many changes wait."""
        with self._store.reading() as reader:
            waiting = reader.intake.waiting()
        return waiting > count or waiting + len(self._of_journal(count + 1, _MUCH)) > count

    def some(self, *, most: int, most_bytes: int) -> list[WaitingEntry]:
        """The entries that are next, all of one log."""
        self._looked = monotonic()
        end = self._end if self._journal is None else self._journal.end()
        with self._store.reading() as reader:
            found = _of_intake(reader, most, most_bytes)
        if not found:
            found = self._of_journal(most, most_bytes)
        if not found:
            self._end = end
        return found

    def next_end(self, *, most: int, ends: Mapping[int, int]) -> tuple[int, int] | None:
        """The log and the position where so many entries end that are next and not behind the `ends`, if there are."""
        with self._store.reading() as reader:
            first, until = reader.intake.first(), reader.intake.until(0, most)
        until = min(until, ends.get(INTAKE, _NO_END))
        if first <= until:
            return INTAKE, until
        found = [one.position for one in self._of_journal(most, _MUCH) if one.position <= ends.get(JOURNAL, _NO_END)]
        return (JOURNAL, found[-1]) if found else None

    def ends(self) -> dict[int, int]:
        """The last position of each log."""
        with self._store.reading() as reader:
            last = {INTAKE: reader.intake.last()}
        return last if self._journal is None else last | {JOURNAL: self._journal.last() or _NO_END}

    def sizes(self, log: int, until: int) -> list[tuple[int, int]]:
        """What waits on a log up to a position: positions, each with the number of its entries."""
        with self._store.reading() as reader:
            if log == INTAKE:
                return reader.intake.sizes(0, until)
            return [(position, 1) for position in range(pairs.position_of(reader) + 1, until + 1)]

    def within(self, stretch: EntryStretch) -> Iterator[WaitingEntry]:
        """The entries of a stretch."""
        log, after, until = stretch
        if log == INTAKE:
            with self._store.reading() as reader:
                yield from reader.intake.entries(after, until)
        elif self._journal is not None:
            found = self._journal.after(after, most=until - after, most_bytes=_NO_END)
            yield from (one for one in found if one.position <= until)

    def _of_journal(self, most: int, most_bytes: int) -> list[WaitingEntry]:
        """What the journal has next, if it is known to be the store's.

        It is looked for again if files are gone because another process has applied them meanwhile.
        """
        taken = 0, b""
        while self._journal is not None:
            with self._store.reading() as reader:
                before, taken = taken, pairs.taken_of(reader)
            position, identity = taken
            if not identity:
                break
            try:
                return self._journal.after(position, most=most, most_bytes=most_bytes, identity=identity)
            except DamagedJournal:
                if taken == before:
                    raise
        return []


def _of_intake(reader: Reader, most: int, most_bytes: int) -> list[WaitingEntry]:
    found: list[WaitingEntry] = []
    size = 0
    for one in reader.intake.entries(0, reader.intake.until(0, most)):
        size += len(one.entry.content or b"")
        if found and size > most_bytes and found[-1].position != one.position:
            break
        found.append(one)
    return found


# -- what a batch makes of it


class Noted(Handled):
    """What a batch takes off the journal: it notes how far it came."""

    __slots__ = ()

    def still_waits(self, reader: Reader) -> bool:
        return pairs.position_of(reader) < self.until

    def note(self, writer: Writer) -> None:
        if pairs.position_of(writer) >= self.first:
            raise StoreError("another process has taken these changes off the journal; let one apply them, not two")
        pairs.note(writer, self.until)
        writer.intake.reject(self.rejected)


def coming(waiting: Iterable[WaitingEntry], limits: Limits = DEFAULT_LIMITS) -> Parts[WaitingEntry]:
    """The changes that entries mean; those that mean none, with the reason."""
    return [_read(one, limits) for one in waiting]


def taken(waiting: Sequence[WaitingEntry], parts: Parts[WaitingEntry]) -> Handled:
    """What a batch notes that is made of these parts of what waits on one log.

    Those that came together are taken off with the last of them. What waits elsewhere is not taken off here.
    """
    rejected = [NewRejection(_entry(one), str(one.error)) for one in parts if isinstance(one, Refusal)]
    first, last = parts[0].origin, parts[-1].origin
    if last.log == ELSEWHERE:
        return Handled(rejected=rejected)
    goes_on = any(one.position == last.position and one.item > last.item for one in waiting)
    kind = Noted if last.log == JOURNAL else Handled
    return kind(last.position - goes_on, rejected, first.position)


def _read(waiting: WaitingEntry, limits: Limits) -> Coming[WaitingEntry] | Refusal[WaitingEntry]:
    if waiting.reason is not None:
        return Refusal(waiting, None, TriplewireError(waiting.reason))
    try:
        return Coming(waiting, change_of(waiting.entry, limits))
    except TriplewireError as error:
        return Refusal(waiting, None, error)


def _entry(one: Refusal[WaitingEntry]) -> NewEntry:
    """What is set aside: the entry as it came, or of a feed the item."""
    sent = one.origin.entry
    return sent if one.change is None or one.change.uri == sent.uri else entry_of(one.change)
