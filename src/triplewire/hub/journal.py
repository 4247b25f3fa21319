"""The journal: changes on disk, beside a store that is a file, before a batch applies them.

SQLite has one writer at a time, and a batch may write for a second. So what is acknowledged is not kept in the store
itself but in files that are only added to: one `fdatasync` makes the changes of many clients durable, whoever writes to
the store meanwhile. The batch that applies entries notes their last position in the store, in its own transaction: each
is applied once, whoever is killed when. A file is dropped when all of it is applied.

    head:  checksum of the rest, length of the rest, position
    rest:  kind, length of the uri, length of the media type (-1: none), uri, media type, content

Invariant: positions grow. What follows an entry that is not whole was never acknowledged, and is cut off.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self
from zlib import crc32

from triplewire.errors import StoreBusy, StoreUnavailable
from triplewire.store import NewEntry
from triplewire.store.privacy import private_folder

log = logging.getLogger("triplewire.hub")

_HEAD, _KIND = Struct("<IIQ"), Struct("<BIi")
_SUFFIX = ".log"
_sync = getattr(os, "fdatasync", os.fsync)  # which not every system has
_LONGEST = 64 * 1024 * 1024
"""Bytes after which a new file is begun."""


class Waiting(NamedTuple):
    """An entry at its position."""

    position: int
    entry: NewEntry


class Journal:
    """The end of a journal, where entries are added: by one process at a time, and one thread of it."""

    def __init__(self, folder: Path, *, after: int = 0, longest: int = _LONGEST) -> None:
        """StoreBusy if another process adds to it; positions go on after `after`, and after what is there."""
        private_folder(folder)
        self._folder, self._longest = folder, longest
        self._lock = _locked(folder)
        self._file: int | None = None
        self._size = 0
        self._failure: str | None = None
        self.last = max(after, self._recovered())

    def append(self, entries: Sequence[NewEntry]) -> int:
        """Add entries; they are durable when this returns. Gives the position of the last."""
        if self._failure is not None:
            raise StoreUnavailable(f"{self._folder}: {self._failure}; restart the service when the disk is well")
        data = b"".join(_spelled(self.last + number, entry) for number, entry in enumerate(entries, 1))
        try:
            if self._file is None or self._size >= self._longest:
                self._begin_file()
            assert self._file is not None
            _write(self._file, data)
            _sync(self._file)
        except OSError as error:
            # Nobody knows what of it is on the disk: nothing is added behind it, and the next start cuts it off.
            self._failure = f"the journal could not be written ({error.strerror})"
            raise StoreUnavailable(f"{self._folder}: {self._failure}") from None
        self._size += len(data)
        self.last += len(entries)
        return self.last

    def drop(self, applied: int) -> None:
        """Away with the files of which everything is applied."""
        files = _files(self._folder)
        for path, following in pairwise(files):
            if _first_of(following) <= applied + 1:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let another process add."""
        if self._file is not None:
            os.close(self._file)
        os.close(self._lock)

    def _begin_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
        path = self._folder / f"{self.last + 1:020d}{_SUFFIX}"
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size
        _sync_folder(self._folder)

    def _recovered(self) -> int:
        """The last position that is there; what follows the last whole entry is cut off."""
        files = _files(self._folder)
        if not files:
            return 0
        last, end = _first_of(files[-1]) - 1, 0
        for waiting, until in _entries(files[-1], 0):
            last, end = waiting.position, until
        torn = files[-1].stat().st_size - end
        if torn:
            log.warning("%s: %d bytes at the end were never acknowledged, and are cut off", files[-1], torn)
            os.truncate(files[-1], end)
        return last


class JournalReader:
    """The entries of a journal, read while another process adds some."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = (0, Path(), 0)  # after this position, this file goes on at this byte

    def after(self, position: int, *, most: int, most_bytes: int) -> list[Waiting]:
        """The entries that follow a position, as far as they are whole; at least one, if there is one."""
        found: list[Waiting] = []
        size = 0
        for path, start in self._places(position):
            for waiting, end in _entries(path, start):
                if waiting.position <= position:
                    continue
                size += len(waiting.entry.content or b"")
                if found and (len(found) >= most or size > most_bytes):
                    return found
                found.append(waiting)
                self._next = (waiting.position, path, end)
        return found

    def end(self) -> tuple[str, int]:
        """Something that is another after each entry that is added."""
        files = _files(self._folder)
        try:
            return (files[-1].name, files[-1].stat().st_size) if files else ("", 0)
        except FileNotFoundError:
            return ("", 0)

    def _places(self, position: int) -> Iterator[tuple[Path, int]]:
        """The files that may have what follows, each with the byte to begin at."""
        files = _files(self._folder)
        known, path, end = self._next
        if known == position and path in files:
            yield path, end
            files = files[files.index(path) + 1 :]
        else:
            before = [path for path in files if _first_of(path) <= position + 1]
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
        self._hold()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def after(self, position: int) -> Iterator[Waiting]:
        """The entries that follow a position which the store has had since this was made; none is left out."""
        self._hold()
        for file in list(self._files.values()):
            for waiting, _ in _entries_in(file, 0):
                if waiting.position == position + 1:
                    position += 1
                    yield waiting
                elif waiting.position > position:  # what is between was added, applied and dropped since
                    return

    def _hold(self) -> None:
        for path in _files(self._folder):
            if path not in self._files:
                with suppress(FileNotFoundError):  # all of it is applied
                    self._files[path] = self._open.enter_context(path.open("rb"))


def _entries(path: Path, start: int) -> Iterator[tuple[Waiting, int]]:
    """The whole entries of a file from a byte on, each with the byte where it ends."""
    try:
        with path.open("rb") as file:
            yield from _entries_in(file, start)
    except FileNotFoundError:  # all of it was applied meanwhile
        return


def _entries_in(file: BinaryIO, start: int) -> Iterator[tuple[Waiting, int]]:
    file.seek(start)
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        check, length, position = _HEAD.unpack(head)
        rest = file.read(length)
        if len(rest) != length or crc32(rest, position & 0xFFFFFFFF) != check:
            return
        start += _HEAD.size + length
        yield Waiting(position, _entry(rest)), start


def _spelled(position: int, entry: NewEntry) -> bytes:
    uri, media_type = entry.uri.encode(), (entry.media_type or "").encode()
    kind = _KIND.pack(entry.kind, len(uri), -1 if entry.media_type is None else len(media_type))
    rest = b"".join((kind, uri, media_type, entry.content or b""))
    return _HEAD.pack(crc32(rest, position & 0xFFFFFFFF), len(rest), position) + rest


def _entry(rest: bytes) -> NewEntry:
    kind, uri, media_type = _KIND.unpack_from(rest)
    at = _KIND.size
    content = at + uri + max(0, media_type)
    named = None if media_type < 0 else rest[at + uri : content].decode()
    return NewEntry(kind, rest[at : at + uri].decode(), named, rest[content:])


def _files(folder: Path) -> list[Path]:
    """In the order of their entries."""
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except FileNotFoundError:
        return []


def _first_of(path: Path) -> int:
    return int(path.stem)


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _locked(folder: Path) -> int:
    file = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise StoreBusy(str(folder), 0) from None
    return file
