"""What Linux tells of processes: how long they computed, and how much of the index's memory is a worker's own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

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
