"""What Linux tells of processes: how long they computed, how much memory they had, and how much of it is shared."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import pyarrow

from triplewire import Index, Limits, parse
from triplewire.pipeline import worker

_AREA = re.compile(r"^[0-9a-f]+-[0-9a-f]+ ")
_WAIT = 5.0
"""Seconds in which the other workers come as far as this one."""


class Mapped(NamedTuple):
    """Bytes of a mapped file in one process: what is in memory, and its share where others have it too."""

    rss: int
    pss: int


def mapped(path: str, smaps: str) -> Mapped:
    """What Linux tells about a file that a process has mapped.

    >>> mapped("/a", "00-10 r--p 00 00:00 1 /a\\nRss: 8 kB\\nPss: 4 kB\\n10-20 r--p 00 00:00 1 /b\\nRss: 9 kB\\n")
    Mapped(rss=8192, pss=4096)
    """
    sums = {"Rss": 0, "Pss": 0}
    is_it = False
    for line in smaps.splitlines():
        if _AREA.match(line):
            is_it = line.endswith(f" {path}")
        elif is_it:
            name, _, value = line.partition(":")
            if name in sums:
                sums[name] += int(value.split()[0]) * 1024
    return Mapped(sums["Rss"], sums["Pss"])


def cpu_seconds(pid: int) -> float:
    """The processor time of a process and of all that it has started and that still run."""
    own = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    seconds = (int(own[11]) + int(own[12])) / os.sysconf("SC_CLK_TCK")
    children = [task.read_text(encoding="utf-8").split() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    return seconds + sum(cpu_seconds(int(child)) for some in children for child in some)


class Peaks:
    """The most memory that any process of a kind ever had, while a process runs: looked at now and then.

    Kinds are told apart by a word of their command lines. Of a process that forks others, these are looked at, too.
    """

    def __init__(self, pid: int, kinds: Mapping[str, str], seconds: float = 0.2) -> None:
        self.most: dict[str, int] = {}
        self._pid, self._kinds, self._seconds = pid, kinds, seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self._seconds):
            for pid in descendants(self._pid):
                with suppress(OSError, StopIteration):  # it has ended meanwhile
                    command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
                    kind = next(kind for kind, word in self._kinds.items() if word in command)
                    self.most[kind] = max(self.most.get(kind, 0), _peak(pid))


def _peak(pid: int) -> int:
    """The most bytes that a process has had in memory."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def descendants(pid: int) -> Iterator[int]:
    """What a process has started and still runs, and what that has started."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text(encoding="utf-8").split():
                yield int(child)
                yield from descendants(int(child))


def memory_of(image: str) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """A function for workers: open the index, match a document, then all of them, and look at the memory."""

    def look(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        documents = [each for batch in batches for each in worker.given(batch)]
        started = time.perf_counter()
        index = Index.load(image)
        worker.matched(index, documents[:1], parse, Limits())
        seconds = time.perf_counter() - started
        worker.matched(index, documents, parse, Limits())
        time.sleep(_WAIT)
        found = mapped(image, Path("/proc/self/smaps").read_text(encoding="utf-8"))
        values = {"pid": [os.getpid()], "seconds": [seconds], "rss": [found.rss], "pss": [found.pss]}
        yield pyarrow.RecordBatch.from_pydict(values)

    return look
