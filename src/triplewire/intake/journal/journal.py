"""The end of a journal, where entries are added."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from secrets import token_bytes
from threading import Lock

from triplewire.errors import StoreBusy, StoreUnavailable
from triplewire.intake.journal.entries import FileHead, Mark, MarkFile, files_of, first_of, path_of, spelled
from triplewire.intake.journal.survey import Survey, survey
from triplewire.store import NewEntry, sync_folder
from triplewire.store.files import private_folder

log = logging.getLogger("triplewire.hub")

_sync = getattr(os, "fdatasync", os.fsync)  # which not every system has
_LONGEST = 64 * 1024 * 1024
"""Bytes after which a new file is begun."""


class Journal:
    """The end of a journal: one process at a time adds to it, and one thread of it.

    When the disk refuses (it is full, say), what was being written is cut off before anything else is added: `failure`
    says why nothing is taken meanwhile, and each attempt to add tries to go on. `last` is the last position that was
    given, `acknowledged` the last that was acknowledged.
    """

    def __init__(self, folder: Path, *, after: int = 0, identity: bytes = b"", longest: int = _LONGEST) -> None:
        """StoreBusy if another process adds to it; DamagedJournal if acknowledged entries cannot be read.

        Positions go on after `after`, which the store has, and after what is there. A torn tail is cut off.
        """
        self._folder, self._longest = folder, longest
        make_folder(folder)
        self._lock = _locked(folder)
        try:
            found = survey(folder, after, identity)
            found.refuse_damage()
            _cut(found)
            self.identity = identity or found.mark.identity or token_bytes(16)
            self._mark_file = MarkFile(folder)
        except BaseException:
            os.close(self._lock)
            raise
        self._marking = Lock()
        self._file: int | None = None
        self._path, self._size = folder, 0
        self.failure: str | None = None
        self.acknowledged = max([after, found.mark.last, *(place.position for place in found.places)])
        self.last = max(after, found.last)
        self._applied, self._batch = max(after, found.mark.applied), found.mark.batch
        self._mark()
        self._mark_file.sync()
        sync_folder(folder)

    def append(self, entries: Sequence[NewEntry]) -> int:
        """Add entries; they are durable when this returns. Gives the position of the last."""
        before, first = self.acknowledged, self.last + 1
        try:
            if self.failure is not None:
                self._heal()
            if self._file is None or self._size >= self._longest:
                self._begin_file()
            data = b"".join(
                spelled(self.identity, position, before, entry) for position, entry in enumerate(entries, first)
            )
            assert self._file is not None
            self.last += len(entries)  # whatever becomes of them: an applier may have read them already
            _write(self._file, data)
            _sync(self._file)
        except OSError as error:
            self.failure = f"the journal cannot be written ({error.strerror})"
            raise StoreUnavailable(f"{self._folder}: {self.failure}; it goes on when the disk is well") from None
        self.failure = None
        self._size += len(data)
        self.acknowledged = self.last
        self._mark()
        return self.last

    def probe(self) -> None:
        """Try to go on after a failure, without waiting for the next entry; `failure` says whether it worked."""
        if self.failure is None:
            return
        try:
            self._heal()
            self._begin_file()
            self.failure = None
        except OSError as error:
            self.failure = f"the journal cannot be written ({error.strerror})"

    def drop(self, applied: int, batch: int = 0) -> None:
        """Away with the files of which everything is applied; the store has this batch by now."""
        for path, following in pairwise(files_of(self._folder)):
            if first_of(following) <= applied + 1:
                path.unlink(missing_ok=True)
        if applied > self._applied or batch > self._batch:
            self._applied, self._batch = max(applied, self._applied), max(batch, self._batch)
            self._mark()

    def close(self) -> None:
        """Let another process add."""
        if self._file is not None:
            os.close(self._file)
        self._mark_file.close()
        os.close(self._lock)

    def _mark(self) -> None:
        with self._marking:  # one thread adds, another one drops
            self._mark_file.write(Mark(self.identity, self.acknowledged, self._applied, self._batch))

    def _begin_file(self) -> None:
        """A file that says what it follows, so that positions of which nobody was told are not missed."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        head = FileHead(self.identity, self.acknowledged, self.last + 1)
        self._path, self._size = path_of(self._folder, self.last + 1), 0
        self._file = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        _write(self._file, head.spelled())
        _sync(self._file)
        self._size = head.size
        sync_folder(self._folder)

    def _heal(self) -> None:
        """Away with what was being written when the disk refused, and on in another file.

        Why another: after a failed sync nobody knows what a system has kept of this one in memory and not on the disk.
        """
        if self._file is None:
            return
        os.ftruncate(self._file, self._size)
        os.fsync(self._file)
        os.close(self._file)
        self._file = None
        if self._size == 0 or first_of(self._path) > self.acknowledged:
            self._path.unlink(missing_ok=True)
        sync_folder(self._folder)
        log.warning("%s: what the disk refused is cut off; it goes on", self._folder)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """No other process adds to a journal meanwhile; StoreBusy if one does already."""
    make_folder(folder)
    lock = _locked(folder)
    try:
        yield
    finally:
        os.close(lock)


def make_folder(folder: Path) -> None:
    """The folder of a journal, there for good: also after the machine has lost its power."""
    is_new = not folder.is_dir()
    private_folder(folder)
    if is_new:
        sync_folder(folder.parent)


def _cut(found: Survey) -> None:
    for path, end in found.torn:
        size = path.stat().st_size
        log.warning("%s: %d bytes at the end were never acknowledged, and are cut off", path, size - end)
        if end:
            with path.open("rb+") as file:
                file.truncate(end)
                os.fsync(file.fileno())
        else:
            path.unlink()
    if found.torn:
        sync_folder(found.folder)


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _locked(folder: Path) -> int:
    file = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise StoreBusy(str(folder), 0) from None
    return file
