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
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Protocol

from triplewire.engine.intake import Handled
from triplewire.errors import StoreBusy, StoreError
from triplewire.hub.journal import HeldJournal, Journal, JournalReader, Waiting
from triplewire.store import NewEntry, NewRejection, Reader, Store, Writer

_POSITION, _MOVED = "hub.journal", "hub.journal.moved"
_MUCH = 256 * 1024 * 1024
_AT_ONCE = 1_000
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

    def close(self) -> None:
        """See `Log.close`."""


class JournalLog:
    """A journal beside a store."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        with store.reading() as reader:
            self._journal = Journal(folder, after=_position(reader))

    @property
    def last(self) -> int:
        """See `Log`."""
        return self._journal.last

    def append(self, entries: Sequence[NewEntry]) -> int:
        """See `Log.append`."""
        return self._journal.append(entries)

    def applied(self) -> int:
        """See `Log.applied`; files of which everything is applied go."""
        with self._store.reading() as reader:
            position = _applied(reader)
        self._journal.drop(position)
        return position

    def close(self) -> None:
        """See `Log.close`."""
        self._journal.close()


def folder_of(url: str) -> Path | None:
    """Where the journal of a store is; None if it has none."""
    path = url.removeprefix("sqlite:///")
    return None if path in (url, "", ":memory:") else Path(f"{path}.journal")


def log_of(store: Store) -> Log:
    """The log that a service adds to; of two services on one file, the second adds to the store itself."""
    folder = folder_of(store.url)
    if folder is None:
        return StoreLog(store)
    try:
        return JournalLog(store, folder)
    except StoreBusy:
        return StoreLog(store)


@dataclass(frozen=True, slots=True)
class Submission:
    """Changes that came together, and are applied together."""

    position: int
    entries: tuple[NewEntry, ...]


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
            waiting, position = reader.intake.waiting(), _position(reader)
        if self._journal is not None and waiting <= count:
            waiting += len(self._journal.after(position, most=count + 1, most_bytes=_MUCH))
        return waiting > count

    def gather(self, *, most: int) -> int:
        """Move up to so many entries of the journal to the store's own log, where a stream finds them; how many."""
        if self._journal is None:
            return 0
        with self._store.writing() as writer:
            some = self._journal.after(_position(writer), most=most, most_bytes=_MUCH)
            _move(writer, some)
        return len(some)

    def some(self, *, most: int, most_bytes: int) -> tuple[list[Submission], type[Handled]]:
        """The submissions that are next, and what a batch that applies them has to note."""
        self._looked = monotonic()
        end = self._end if self._journal is None else self._journal.end()
        with self._store.reading() as reader:
            found = _of_intake(reader, most, most_bytes)
            if found or self._journal is None:
                return found, Handled
            position = _position(reader)
        waiting = self._journal.after(position, most=most, most_bytes=most_bytes)
        if not waiting:
            self._end = end
        return [Submission(one.position, (one.entry,)) for one in waiting], Noted


def _move(writer: Writer, some: Sequence[Waiting]) -> None:
    """Entries of the journal, to the store's own log."""
    if some:
        before = _applied(writer)
        moved = writer.intake.append_each([one.entry for one in some], _now())
        writer.settings.set(_POSITION, some[-1].position)
        writer.settings.set(_MOVED, [before, moved])


def back_up(store: Store, path: Path) -> int:
    """Write one state of a live store into one file, with all that was acknowledged and waits; how many wait in it.

    What waits in the journal is on the copied store's own log: each change is applied in the copy, or waits there. The
    journal is held before the store is copied. So whatever was acknowledged by then is in one of them: it is dropped
    from the journal only if the store has it.
    """
    folder = folder_of(store.url)
    waiting = 0

    def complete(writer: Writer) -> None:
        nonlocal waiting
        if held is not None:
            entries = held.after(_position(writer))
            while some := list(islice(entries, _AT_ONCE)):
                _move(writer, some)
        waiting = writer.intake.waiting()

    with nullcontext() if folder is None else HeldJournal(folder) as held:
        store.backup(path, complete)
    return waiting


class Noted(Handled):
    """What a batch takes off the journal: it notes how far it came."""

    __slots__ = ()

    def note(self, writer: Writer, now: str) -> None:
        """See `Handled.note`."""
        if _position(writer) >= self.first:
            raise StoreError("another process has taken these changes off the journal; let one apply them, not two")
        writer.settings.set(_POSITION, self.until)
        writer.intake.reject(self.rejected, now)


def handled(kind: type[Handled], some: Sequence[Submission], rejected: Sequence[NewRejection]) -> Handled:
    """What a batch notes that applies these submissions."""
    return kind(some[-1].position, rejected, some[0].position)


def _of_intake(reader: Reader, most: int, most_bytes: int) -> list[Submission]:
    found: list[Submission] = []
    size = 0
    for entry in reader.intake.entries(0, reader.intake.until(0, most)):
        size += len(entry.content or b"")
        plain = NewEntry(entry.kind, entry.uri, entry.media_type, entry.content)
        if found and found[-1].position == entry.position:
            found[-1] = Submission(entry.position, (*found[-1].entries, plain))
        elif found and size > most_bytes:
            break
        else:
            found.append(Submission(entry.position, (plain,)))
    return found


def _position(reader: Reader) -> int:
    """Up to where the journal is taken: applied, or moved to the store's own log."""
    return int(reader.settings.get(_POSITION, 0))


def _applied(reader: Reader) -> int:
    """Up to where the journal is applied: not what was moved, as long as some of it waits there."""
    before, moved = reader.settings.get(_MOVED, [0, 0])
    return int(before) if reader.intake.first() <= moved else _position(reader)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
