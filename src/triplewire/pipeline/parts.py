"""Answers as Parquet, written by the workers themselves.

On one machine the workers see the disk that the answers go to. A row that goes back through Spark to be written there
costs several times what it costs to write it on the spot, and many rows can come of one document. So each task writes
a file of its own, under a name that no other attempt has, and tells that name; when the job is done, the files that
finished tasks have told of are put in place. What attempts that failed have left is thrown away.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow
import pyarrow.parquet

from triplewire.pipeline.worker import ARROW_ANSWERS, Work

if TYPE_CHECKING:
    from triplewire.pipeline.batch import BatchMatch

_GROUP_ROWS = 100_000


@dataclass(frozen=True)
class Writing:
    """The function that Spark maps over batches of documents: matches, writes the answers, gives the file's name."""

    work: Work
    folder: str

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        name = f"part-{context.partitionId():05d}-{context.taskAttemptId()}.parquet"
        if _write(Path(self.folder, name), self.work(batches)):
            yield pyarrow.RecordBatch.from_pydict({"file": [name]})


def write_parts(batch: BatchMatch, folder: Path) -> None:
    """Run a batch; its answers go to a folder on this machine, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    staging = folder / f"_staging-{uuid.uuid4().hex}"
    staging.mkdir(parents=True)
    told = batch.documents.mapInArrow(Writing(batch.work, str(staging)), "file string").collect()
    for row in told:
        (staging / row.file).replace(folder / row.file)
    if not told:
        pyarrow.parquet.write_table(ARROW_ANSWERS.empty_table(), folder / "part-none.parquet")
    shutil.rmtree(staging)
    (folder / "_SUCCESS").touch()


def _write(path: Path, answers: Iterable[pyarrow.RecordBatch]) -> bool:
    """Write batches of answers in groups of a good size; False, and no file, if there are none."""
    waiting: list[pyarrow.RecordBatch] = []
    rows, writer = 0, None
    try:
        for batch in answers:
            waiting.append(batch)
            rows += len(batch)
            if rows >= _GROUP_ROWS:
                writer = writer or pyarrow.parquet.ParquetWriter(path, ARROW_ANSWERS)
                writer.write_table(pyarrow.Table.from_batches(waiting, ARROW_ANSWERS))
                waiting, rows = [], 0
        if rows:
            writer = writer or pyarrow.parquet.ParquetWriter(path, ARROW_ANSWERS)
            writer.write_table(pyarrow.Table.from_batches(waiting, ARROW_ANSWERS))
    finally:
        if writer is not None:
            writer.close()
    return writer is not None
