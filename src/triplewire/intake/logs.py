"""Logs: where changes are kept from their acknowledgement until a batch has applied them.

Beside a store that is a file it is a `journal`, because SQLite has one writer at a time. In a server's database it is
the intake log of the store itself, to which one adds without waiting for whoever applies a batch. `log_of` chooses.
Whoever applies reads both (`Backlog`): what `Hub.submit` and `triplewire publish --queue` send is on the store's log.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Protocol

from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import DamagedJournal, StoreBusy, StoreError, TriplewireError
from triplewire.intake import pairs
from triplewire.intake.entries import Handled, change_of, entry_of
from triplewire.intake.journal import HeldJournal, JournalReader
from triplewire.intake.pairs import applied_of, folder_of, move, position_of
from triplewire.intake.settlement import Coming, Parts, Refusal
from triplewire.store import NewEntry, NewRejection, Reader, Store, WaitingEntry, Writer

_MUCH = 256 * 1024 * 1024
_LOOK_INTO_THE_STORE = 0.1
"""Seconds after which a log in the store is looked at again: a question to the database each time."""


class Log(Protocol):
    """The end of a log, where changes are added; `last` is the position of the last."""

    @property
    def last(self) -> int: ...

    def append(self, entries: Sequence[NewEntry]) -> int:
        """Add changes; they are durable when this returns. Gives the position of the last."""

    def applied(self) -> int:
        """The position up to which everything is applied, or set aside."""

    @property
    def failure(self) -> str | None:
        """Why nothing can be added now, as far as that is known."""

    def probe(self) -> None:
        """Try whether it goes again, after a failure; by the thread that adds."""

    def close(self) -> None:
        """Let go of it."""


class StoreLog:
    """The intake log of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def last(self) -> int:
        """See `Log`."""
        with self._store.reading() as reader:
            return reader.intake.last()

    def append(self, entries: Sequence[NewEntry]) -> int:
        """See `Log.append`."""
        with self._store.appending() as intake:
            return intake.append_each(entries, _now())

    def applied(self) -> int:
        """See `Log.applied`."""
        with self._store.reading() as reader:
            return reader.intake.first() - 1

    failure = None
    """What is wrong with the store, whoever asks the store is told."""

    def probe(self) -> None:
        """See `Log.probe`."""

    def close(self) -> None:
        """See `Log.close`."""


class JournalLog:
    """A journal beside a store."""

    def __init__(self, store: Store) -> None:
        """StoreBusy if another service adds to it; DamagedJournal if it is damaged, or is not the store's."""
        self._store = store
        self._journal = pairs.open_journal(store)

    @property
    def last(self) -> int:
        """See `Log`; positions that were given to nothing are not waited for."""
        return self._journal.acknowledged

    def append(self, entries: Sequence[NewEntry]) -> int:
        """See `Log.append`."""
        return self._journal.append(entries)

    def applied(self) -> int:
        """See `Log.applied`; files of which everything is applied go."""
        with self._store.reading() as reader:
            position, batch = applied_of(reader), reader.batches.last()
        self._journal.drop(position, batch)
        return position

    @property
    def failure(self) -> str | None:
        """See `Log.failure`."""
        return self._journal.failure

    def probe(self) -> None:
        """See `Log.probe`."""
        self._journal.probe()

    def close(self) -> None:
        """See `Log.close`."""
        pairs.close_journal(self._store, self._journal)


def log_of(store: Store) -> Log:
    """The log that a service adds to; of two services on one file, the second adds to the store itself."""
    if folder_of(store.url) is None:
        return StoreLog(store)
    try:
        return JournalLog(store)
    except StoreBusy:
        return StoreLog(store)


@dataclass(frozen=True, slots=True)
class Taking:
    """Entries that are to be taken off a log, in their order, by one batch or by several; `kind` is what these note.

    Without a `kind` nothing is taken off: another one knows how far it was read.
    """

    waiting: Sequence[WaitingEntry]
    kind: type[Handled] | None = Handled

    def coming(self, limits: Limits = DEFAULT_LIMITS) -> Parts[WaitingEntry]:
        """The changes that they mean; those that mean none, with the reason."""
        return [_read(one, limits) for one in self.waiting]

    def handled(self, parts: Parts[WaitingEntry]) -> Handled:
        """What a batch notes that is made of these parts.

        An entry is taken off with the last of those that came together with it.
        """
        rejected = [NewRejection(_entry(one), str(one.error)) for one in parts if isinstance(one, Refusal)]
        if self.kind is None:
            return Handled(rejected=rejected)
        first, last = parts[0].origin, parts[-1].origin
        goes_on = any(one.position == last.position and one.item > last.item for one in self.waiting)
        return self.kind(last.position - goes_on, rejected, first.position)


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


class Backlog:
    """What waits on the logs of a store, for whoever applies it: first the store's own, then the journal."""

    def __init__(self, store: Store) -> None:
        self._store = store
        folder = folder_of(store.url)
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
            waiting, position = reader.intake.waiting(), position_of(reader)
        if self._journal is not None and waiting <= count:
            waiting += len(self._after(position, most=count + 1, most_bytes=_MUCH))
        return waiting > count

    def gather(self, *, most: int) -> int:
        """Move up to so many entries of the journal to the store's own log, where a stream finds them; how many."""
        if self._journal is None:
            return 0
        with self._store.writing() as writer:
            some = self._journal.after(position_of(writer), most=most, most_bytes=_MUCH)
            move(writer, some)
        return len(some)

    def some(self, *, most: int, most_bytes: int) -> Taking:
        """The entries that are next."""
        self._looked = monotonic()
        end = self._end if self._journal is None else self._journal.end()
        with self._store.reading() as reader:
            found = _of_intake(reader, most, most_bytes)
            if found or self._journal is None:
                return Taking(found)
            position = position_of(reader)
        waiting = self._after(position, most=most, most_bytes=most_bytes)
        if not waiting:
            self._end = end
        return Taking(waiting, Noted)

    def _after(self, position: int, *, most: int, most_bytes: int) -> list[WaitingEntry]:
        """What the journal has after a position; files may be gone because somebody has applied them meanwhile."""
        assert self._journal is not None
        try:
            return self._journal.after(position, most=most, most_bytes=most_bytes)
        except DamagedJournal:
            with self._store.reading() as reader:
                now = position_of(reader)
            if now == position:
                raise
            return self._journal.after(now, most=most, most_bytes=most_bytes)


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
            move(writer, held.after(position_of(writer)))
        pairs.part(writer)
        waiting = writer.intake.waiting()

    with nullcontext() if folder is None else HeldJournal(folder) as held:
        store.backup(path, complete)
    return waiting


class Noted(Handled):
    """What a batch takes off the journal: it notes how far it came."""

    __slots__ = ()

    def note(self, writer: Writer, now: str) -> None:
        """See `Handled.note`."""
        if position_of(writer) >= self.first:
            raise StoreError("another process has taken these changes off the journal; let one apply them, not two")
        pairs.note(writer, self.until)
        writer.intake.reject(self.rejected, now)


def _of_intake(reader: Reader, most: int, most_bytes: int) -> list[WaitingEntry]:
    found: list[WaitingEntry] = []
    size = 0
    for one in reader.intake.entries(0, reader.intake.until(0, most)):
        size += len(one.entry.content or b"")
        if found and size > most_bytes and found[-1].position != one.position:
            break
        found.append(one)
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
