"""The index on its way to the workers: a file that each of them maps into memory.

On one machine all workers map the one file, and the system keeps one copy of it in memory. On a cluster, Spark brings
the file to every executor, once. Nothing is unpickled, so a worker is ready in milliseconds, and a worker that has a
version open keeps it for the batches to come.
"""

from __future__ import annotations

import shutil
import uuid
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from triplewire.matching import Index
from triplewire.pipeline.session import temporary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class PlacedIndex:
    """A saved index that every worker can open. `version` tells contents apart that come under one name."""

    place: str
    version: str
    limits: tuple[int, int]
    is_sent: bool = False
    """True if Spark brings it to the executors, and `place` is only its name."""

    def open(self) -> Index:
        """The index, in a worker; open already if it was asked for before."""
        return _opened(self)

    @property
    def path(self) -> str:
        """Where the file is, in a worker."""
        if not self.is_sent:
            return self.place
        from pyspark import SparkFiles

        return SparkFiles.get(self.place)


@lru_cache(maxsize=2)
def _opened(placed: PlacedIndex) -> Index:
    max_rows, max_steps = placed.limits
    return Index.load(placed.path, max_rows=max_rows, max_steps=max_steps)


def place(spark: SparkSession, index: Index | str | PathLike[str]) -> PlacedIndex:
    """Bring an index, or the file of a saved one, to where the workers of a session can open it."""
    if isinstance(index, Index):
        limits, path = index.limits, temporary("index") / f"{uuid.uuid4().hex}.index"
        index.save(path)
    else:
        limits, path = Index.load(index).limits, Path(index).resolve()  # loading tells now, and here, if it is damaged
    state = path.stat()
    version = f"{state.st_mtime_ns}-{state.st_size}"
    if is_one_machine(spark):
        return PlacedIndex(str(path), version, limits)
    return PlacedIndex(_send(spark, path, version), version, limits, is_sent=True)


def _send(spark: SparkSession, path: Path, version: str) -> str:
    """Have Spark bring a file to all executors, under a name that no other version has."""
    context = spark.sparkContext
    name = f"{path.stem}-{version}.index"
    if not any(sent.endswith(f"/{name}") for sent in context.listFiles):
        copy = temporary("index") / name
        shutil.copyfile(path, copy)
        context.addFile(str(copy))
    return name


def is_one_machine(spark: SparkSession) -> bool:
    """True if the workers see the files of this process."""
    master = str(spark.sparkContext.master)
    return master.startswith("local") and not master.startswith("local-cluster")
