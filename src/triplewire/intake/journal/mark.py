"""The mark of a journal: what it knows to be acknowledged, beside what it has.

It is written when entries are on the disk, and not waited for: a process that is killed leaves the last mark, a machine
that loses power an older one. So it never says too much, and whatever it says must be there.

Invariant: it is on the disk before the first file is begun. So files without a mark have lost it, and with it the
knowledge whether their last entries are all that were acknowledged; only files of version 0.9 and older never had one.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from triplewire.intake.journal.entries import check

MARK = "mark"
_MARK = Struct("<16sQQQ8s")
_TRIES = 3
"""So often a mark is read that makes no sense: it may be one that is being written."""


class Mark(NamedTuple):
    """Whose journal it is, the last acknowledged position, and how far its store was: applied, and in batches."""

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
