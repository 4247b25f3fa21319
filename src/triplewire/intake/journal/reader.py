"""The entries of a journal, read while another process adds some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from triplewire.errors import DamagedJournal
from triplewire.intake.journal.entries import entries_in, files_of, first_of, head_of, is_same, mark_in
from triplewire.intake.journal.survey import Gap
from triplewire.store import WaitingEntry

_Part = tuple[Path, BinaryIO, int]
"""A file, open, to be read from a byte on."""


class _Missing(Exception):
    """What follows `position` is not in the files, and something later is."""

    def __init__(self, position: int, until: int) -> None:
        super().__init__(position, until)
        self.gap = Gap(position + 1, until)


def _following(parts: Iterable[_Part], position: int, identity: bytes) -> Iterator[tuple[WaitingEntry, Path, int]]:
    """The entries after a position, one behind the other, with the file and the byte where the next one begins.

    _Missing where one is left out that was acknowledged.
    """
    for path, file, start in parts:
        head = head_of(file, first_of(path))
        if head is None:  # it is being begun, or damaged: what follows it, or the mark, tells
            continue
        if not is_same(head.identity, identity):
            continue
        if head.follows > position:
            raise _Missing(position, head.follows)
        for one in entries_in(file, head, start):
            if one.position <= position:
                continue
            if one.position != position + 1 and not (position < head.first == one.position):
                raise _Missing(position, one.position - 1)
            position = one.position
            yield one.waiting, path, one.end


class JournalReader:
    """What follows a position, as far as it is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = (0, Path(), 0)  # after this position, this file goes on at this byte

    def after(self, position: int, *, most: int, most_bytes: int, identity: bytes = b"") -> list[WaitingEntry]:
        """The entries that follow a position, as far as they are whole; at least one, if there is one.

        DamagedJournal if there is none, although one was acknowledged. With an `identity`, none of another journal's.
        """
        mark = mark_in(self._folder)  # before the files: then these have at least what it says
        if not is_same(mark.identity, identity):
            return []
        found: list[WaitingEntry] = []
        size = 0
        try:
            with self._parts(position) as parts:
                for waiting, path, end in _following(parts, position, identity or mark.identity):
                    size += len(waiting.entry.content or b"")
                    if found and (len(found) >= most or size > most_bytes):
                        return found
                    found.append(waiting)
                    self._next = (waiting.position, path, end)
        except _Missing as missing:
            if not found:
                raise DamagedJournal(str(self._folder), [str(missing.gap)]) from None
        if not found and position < mark.last:
            raise DamagedJournal(str(self._folder), [str(Gap(position + 1, mark.last))])
        return found

    def last(self) -> int:
        """The last position that is known to be acknowledged; 0 if nothing is known."""
        return mark_in(self._folder).last

    def end(self) -> tuple[str, int]:
        """Something that is another after each entry that is added."""
        files = files_of(self._folder)
        try:
            return (files[-1].name, files[-1].stat().st_size) if files else ("", 0)
        except FileNotFoundError:
            return ("", 0)

    @contextmanager
    def _parts(self, position: int) -> Iterator[Iterator[_Part]]:
        """The files that may have what follows, each opened when it is its turn, with the byte to begin at."""

        def opened() -> Iterator[_Part]:
            for path, start in self._places(position):
                with suppress(FileNotFoundError):  # all of it was applied meanwhile
                    yield path, stack.enter_context(path.open("rb")), start

        with ExitStack() as stack:
            yield opened()

    def _places(self, position: int) -> Iterator[tuple[Path, int]]:
        files = files_of(self._folder)
        known, path, end = self._next
        if known == position and path in files:
            yield path, end
            files = files[files.index(path) + 1 :]
        else:
            before = [path for path in files if first_of(path) <= position + 1]
            files = files[max(0, len(before) - 1) :]
        for each in files:
            yield each, 0


class HeldJournal:
    """A journal as it is when this is made, and what is added later, as far as it is not dropped by then.

    Files that are dropped meanwhile stay here: they are open.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._files: dict[Path, BinaryIO] = {}
        self._mark = mark_in(folder)
        self._hold()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def after(self, position: int) -> Iterator[WaitingEntry]:
        """The entries that follow a position which the store has had since this was made; none is left out.

        DamagedJournal if one that was acknowledged by then cannot be read.
        """
        self._hold()
        until = position
        try:
            parts = ((path, file, 0) for path, file in self._files.items())
            for waiting, _, _ in _following(parts, position, self._mark.identity):
                position = waiting.position
                yield waiting
        except _Missing as missing:  # either it is damaged, or it was added, applied and dropped since
            until = missing.gap.last
        if position < self._mark.last:
            raise DamagedJournal(str(self._folder), [str(Gap(position + 1, max(until, self._mark.last)))])

    def _hold(self) -> None:
        for path in files_of(self._folder):
            if path not in self._files:
                with suppress(FileNotFoundError):  # all of it is applied
                    self._files[path] = self._open.enter_context(path.open("rb"))
