"""Entries, files and the mark of a journal as bytes, and back: what is whole, and what is not.

Journals that were begun before files had heads (version 0.9 and older) are still read; nothing is added to their files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import BinaryIO, NamedTuple
from zlib import crc32

import numpy as np

from triplewire.store import JOURNAL, NewEntry, WaitingEntry

SUFFIX = ".log"
_MAGIC = b"tripwj2\n"
_FILE = Struct("<8s16sQQ8s")
_HEAD, _OLD_HEAD, _KIND = Struct("<8sIQQ"), Struct("<IIQ"), Struct("<BIi")
_POSITION_AT = {_HEAD: 12, _OLD_HEAD: 8}
"""The byte of an entry where its position is."""
MARK = "mark"
_MARK = Struct("<16sQQQ8s")
_TRIES = 3
"""So often a mark is read that makes no sense: it may be one that is being written."""


class FileHead(NamedTuple):
    """What a file says first; without an identity, it is one of the old files, which say nothing."""

    identity: bytes
    follows: int
    first: int

    @property
    def size(self) -> int:
        """Where the entries begin."""
        return _FILE.size if self.identity else 0

    def spelled(self) -> bytes:
        """As bytes."""
        plain = _FILE.pack(_MAGIC, self.identity, self.follows, self.first, b"")[:-8]
        return plain + check(self.identity, plain)


class Whole(NamedTuple):
    """An entry that can be read; `before` was acknowledged when it was written, `end` is where the next one begins."""

    waiting: WaitingEntry
    before: int
    start: int
    end: int

    @property
    def position(self) -> int:
        """Its position."""
        return self.waiting.position


class Damage(NamedTuple):
    """Bytes that are no entry; `uris` are those of entries that seem to have been there, by position."""

    start: int
    end: int
    uris: dict[int, str]


def check(identity: bytes, data: bytes) -> bytes:
    """What tells that bytes are what this journal has written."""
    return blake2b(data, digest_size=8, key=identity).digest()


def spelled(identity: bytes, position: int, before: int, entry: NewEntry) -> bytes:
    """An entry as bytes."""
    uri, media_type = entry.uri.encode(), (entry.media_type or "").encode()
    kind = _KIND.pack(entry.kind, len(uri), -1 if entry.media_type is None else len(media_type))
    rest = b"".join((kind, uri, media_type, entry.content or b""))
    plain = _HEAD.pack(b"", len(rest), position, before)[8:] + rest
    return check(identity, plain) + plain


def files_of(folder: Path) -> list[Path]:
    """The files of a journal, in the order of their entries."""
    return [path for path in _named_in(folder) if path.is_file()]


def strangers_in(folder: Path) -> list[Path]:
    """What has the name of a journal's file and is none: a folder, a pipe, a link to nothing."""
    return [path for path in _named_in(folder) if not path.is_file() and os.path.lexists(path)]


def _named_in(folder: Path) -> list[Path]:
    try:
        names = (name for name in os.listdir(folder) if name.endswith(SUFFIX))
        return sorted(folder / name for name in names if name.removesuffix(SUFFIX).isdecimal())
    except FileNotFoundError:
        return []


def path_of(folder: Path, first: int) -> Path:
    """Where the file is that begins with a position."""
    return folder / f"{first:020d}{SUFFIX}"


def first_of(path: Path) -> int:
    """The position that a file begins with, as its name says."""
    return int(path.stem)


def head_of(file: BinaryIO, named: int) -> FileHead | None:
    """What a file says first, whose name says that it begins with `named`; None if that cannot be read."""
    file.seek(0)
    data = file.read(_FILE.size)
    if len(data) == _FILE.size and data.startswith(_MAGIC):
        _, identity, follows, first, found = _FILE.unpack(data)
        return FileHead(identity, follows, first) if check(identity, data[:-8]) == found else None
    return FileHead(b"", named - 1, named) if _is_old(file, named) else None


def _is_old(file: BinaryIO, named: int) -> bool:
    return any(one.position >= named for one in entries_in(file, FileHead(b"", named - 1, named), 0))


def is_same(found: bytes, identity: bytes) -> bool:
    """Whether what has an identity may be of the journal with another one; what has none may be any journal's."""
    return not found or not identity or found == identity


def entries_in(file: BinaryIO, head: FileHead, start: int) -> Iterator[Whole]:
    """The whole entries of a file from a byte on, up to the first that is not."""
    start = max(start, head.size)
    shape = _HEAD if head.identity else _OLD_HEAD
    size = os.fstat(file.fileno()).st_size
    while True:
        file.seek(start)
        data = file.read(shape.size)
        length = _length(data, shape)
        if length is None or start + shape.size + length > size:
            return
        one = _whole(data + file.read(length), head.identity, start)
        if one is None:
            return
        yield one
        start = one.end


def pieces_of(data: bytes, head: FileHead) -> Iterator[Whole | Damage]:
    """All of a file: what is whole in it, and what lies between."""
    start, ends = head.size, len(data)
    shape = _HEAD if head.identity else _OLD_HEAD
    expected = head.first
    while start < ends:
        one = _whole_at(data, start, head.identity, shape)
        if one is None:
            found = _next_whole(data, start + 1, head, shape)
            until = ends if found is None else found.start
            yield Damage(start, until, _uris_in(data[start:until], expected, shape))
            if found is None:
                return
            one = found
        yield one
        start, expected = one.end, one.position + 1


def _length(data: bytes, shape: Struct) -> int | None:
    """The length of the rest that a head tells, if it can be one."""
    if len(data) < shape.size:
        return None
    length, position = shape.unpack_from(data)[1:3]
    return int(length) if length >= _KIND.size and position > 0 else None


def _whole_at(data: bytes, start: int, identity: bytes, shape: Struct) -> Whole | None:
    length = _length(data[start : start + shape.size], shape)
    until = start + shape.size + (length or 0)
    return None if length is None or until > len(data) else _whole(data[start:until], identity, start)


def _whole(data: bytes, identity: bytes, start: int) -> Whole | None:
    shape = _HEAD if identity else _OLD_HEAD
    found, _, position, *rest = shape.unpack_from(data)
    body = data[shape.size :]
    is_sound = check(identity, data[8:]) == found if identity else crc32(body, position & 0xFFFFFFFF) == found
    try:
        if is_sound:
            return Whole(_waiting(position, body), rest[0] if rest else position - 1, start, start + len(data))
    except (StructError, UnicodeDecodeError):  # the old check is a weak one
        pass
    return None


def _waiting(position: int, rest: bytes) -> WaitingEntry:
    kind, uri, media_type = _KIND.unpack_from(rest)
    at = _KIND.size
    content = at + uri + max(0, media_type)
    named = None if media_type < 0 else rest[at + uri : content].decode()
    entry = NewEntry(kind, rest[at : at + uri].decode(), named, rest[content:])
    return WaitingEntry(position, entry, log=JOURNAL)


def _next_whole(data: bytes, start: int, head: FileHead, shape: Struct) -> Whole | None:
    most = head.first + len(data) // (shape.size + _KIND.size)
    for place in _places_of_positions(data, start + _POSITION_AT[shape], head.first, most):
        one = _whole_at(data, place - _POSITION_AT[shape], head.identity, shape)
        if one is not None:
            return one
    return None


def _places_of_positions(data: bytes, start: int, least: int, most: int) -> list[int]:
    """The bytes from which eight could be a position of this file; few, where anything else is written."""
    found: list[int] = []
    for shift in range(start, min(start + 8, len(data) - 7)):
        count = (len(data) - shift) // 8
        numbers = np.frombuffer(data, "<u8", count, shift)
        found += (np.flatnonzero((numbers >= least) & (numbers <= most)) * 8 + shift).tolist()
    return sorted(found)


def _uris_in(data: bytes, expected: int, shape: Struct) -> dict[int, str]:
    """The uris of what these bytes seem to have been: entry after entry, as far as their heads follow each other."""
    found: dict[int, str] = {}
    start = 0
    while (length := _length(data[start : start + shape.size], shape)) is not None:
        position = shape.unpack_from(data, start)[2]
        at = start + shape.size
        uri = _uri_in(data[at : at + length])
        if position != expected or uri is None:
            break
        found[position] = uri
        start, expected = at + length, expected + 1
    return found


def _uri_in(rest: bytes) -> str | None:
    if len(rest) < _KIND.size:
        return None
    _, length, _ = _KIND.unpack_from(rest)
    try:
        uri = rest[_KIND.size : _KIND.size + length].decode()
    except UnicodeDecodeError:
        return None
    return uri if len(uri.encode()) == length and uri.isprintable() and ":" in uri else None


class Mark(NamedTuple):
    """Whose journal it is, the last acknowledged position, and how far its store was: applied, and in batches.

    It is written when entries are on the disk, and not waited for: a process that is killed leaves the last mark, a
    machine that loses power an older one. So it never says too much, and whatever it says must be there.

    Invariant: it is on the disk before the first file is begun. So files without a mark have lost it, and with it the
    knowledge whether their last entries are all that were acknowledged; only files of version 0.9 and older never had
    one.
    """

    identity: bytes = b""
    last: int = 0
    applied: int = 0
    batch: int = 0


class MarkFile:
    """Where the process that adds to a journal keeps its mark up to date."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / MARK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def write(self, mark: Mark) -> None:
        """Say it from now on; that it cannot be written is no harm: the older one says less, and is as true."""
        plain = _MARK.pack(*mark, b"")[:-8]
        try:
            os.pwrite(self._file, plain + check(mark.identity, plain), 0)
        except OSError:
            return

    def sync(self) -> None:
        """Wait until it is on the disk: once, when it is new, so that a journal is known to be there."""
        os.fsync(self._file)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)


def mark_in(folder: Path) -> Mark:
    """The mark of a journal; one that says nothing, if there is none that can be read."""
    for _ in range(_TRIES):
        try:
            data = (folder / MARK).read_bytes()
        except OSError:  # it is not there, or no file
            return Mark()
        if (mark := _mark_of(data)).identity:
            return mark
    return Mark()


def _mark_of(data: bytes) -> Mark:
    if len(data) != _MARK.size or not any(data):
        return Mark()
    *said, found = _MARK.unpack(data)
    mark = Mark(*said)
    return mark if check(mark.identity, data[:-8]) == found else Mark()
