"""Where answers go: a folder with `answers` and `bad` in it, as Parquet or JSON lines."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow
import pyarrow.parquet

from triplewire.errors import PipelineError
from triplewire.pipeline.images import is_one_machine
from triplewire.pipeline.tally import MOST_KEPT, Bad, Tally
from triplewire.pipeline.worker import ARROW_ANSWERS, BAD, Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from triplewire.pipeline.batch import BatchMatch
    from triplewire.pipeline.graph import GraphMatch

OutputFormat = Literal["parquet", "jsonl"]
_GROUP_ROWS = 100_000


def refuse_local(out: str, *, overwrite: bool = False) -> None:
    """`PipelineError` if this is a local path where nothing can be written, or something is; known without Spark."""
    if not out.strip():
        raise PipelineError("the place for the answers has no name; say --out FOLDER")
    folder = _local(out)
    if folder is None:
        return
    if folder.exists() and not overwrite:
        raise _is_there(out)
    refuse_unwritable(out, "the answers")


def refuse_unwritable(path: str, what: str) -> None:
    """`PipelineError` if this is a local path where no folder can be made, or written into."""
    folder = _local(path)
    if folder is None:
        return
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir():
        raise PipelineError(f"{path}: {there} is a file, not a folder; name another place for {what}")
    if not _is_writable(there):
        raise PipelineError(f"{path}: nothing can be written into {there}; name another place for {what}")


def _is_writable(folder: Path) -> bool:
    """Tried, because what may be written says little about folders of the system and of others' machines."""
    try:
        with tempfile.TemporaryDirectory(prefix=".triplewire-", dir=folder):
            return True
    except OSError:
        return False


def refuse_what_is_there(spark: SparkSession, out: str) -> None:
    """`PipelineError` if there is something in this place already, wherever it is."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(spelled(out))
    if path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).exists(path):
        raise _is_there(out)


def _is_there(out: str) -> PipelineError:
    return PipelineError(f"{out} is there already; name another place, or add --overwrite")


def _local(out: str) -> Path | None:
    return None if ":/" in out else Path(out).resolve()


def spelled(out: str) -> str:
    """A path as Spark takes it, whatever its default file system is."""
    folder = _local(out)
    return out if folder is None else folder.as_uri()


def write(batch: BatchMatch, out: str, format: OutputFormat = "parquet") -> Tally:
    """Run a batch: its answers to `OUT/answers`, what was bad to `OUT/bad`; what is there is overwritten.

    The tasks that answer tell what was bad as well, so that nothing is done twice, unless that is a great deal.
    """
    spark = batch.documents.sparkSession
    if batch.tally != Tally():
        batch = batch.again()
    folder = _local(out)
    if format == "parquet" and folder is not None and is_one_machine(spark):
        write_parts(batch, folder / "answers")
    else:
        _write(batch.answers, f"{spelled(out)}/answers", format)
    tally = batch.tally
    is_all = len(tally.kept) == tally.bad
    bad = spark.createDataFrame(list(tally.kept), BAD).coalesce(1) if is_all else batch.bad
    _write(bad, f"{spelled(out)}/bad", format)
    return tally


def write_graph(found: GraphMatch, out: str, format: OutputFormat = "parquet") -> Tally:
    """What was found in a graph: answers to `OUT/answers`, bad documents and failed subscriptions to `OUT/bad`."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    counting = Observation()
    answers = found.answers.observe(counting, f.count(f.lit(1)).alias("rows"))
    _write(answers, f"{spelled(out)}/answers", format)
    failed = found.errors.select(f.lit(None).cast("string").alias("document"), "subscription", "reason")
    _write(found.bad.union(failed), f"{spelled(out)}/bad", format)
    tally = found.tally
    errors = [Bad("", row.subscription, row.reason) for row in failed.collect()]
    kept = (*tally.kept, *errors)[: max(MOST_KEPT, len(errors))]
    return tally._replace(rows=counting.get["rows"], bad=tally.bad + len(errors), kept=kept)


def remove_unfinished(out: str) -> bool:
    """After an interruption: away with what was begun on this machine; True if nothing of it is left."""
    folder = _local(out)
    if folder is None:
        return False
    for name in ("answers", "bad"):
        if not (folder / name / "_SUCCESS").exists():
            shutil.rmtree(folder / name, ignore_errors=True)
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _write(frame: DataFrame, path: str, format: OutputFormat) -> None:
    frame.write.mode("overwrite").format("json" if format == "jsonl" else "parquet").save(path)


# -- answers as Parquet, written by the workers themselves


@dataclass(frozen=True)
class Writing:
    """The function that Spark maps over batches of documents: matches, writes the answers, gives the file's name.

    On one machine the workers see the disk that the answers go to. A row that goes back through Spark to be written
    there costs several times what it costs to write it on the spot. So each task writes a file of its own, under a name
    that no other attempt has; those that finished tasks have told of are put in place when the job is done.
    """

    work: Work
    folder: str

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        name = f"part-{context.partitionId():05d}-{context.taskAttemptId()}.parquet"
        if _write_file(Path(self.folder, name), self.work(batches)):
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


def _write_file(path: Path, answers: Iterable[pyarrow.RecordBatch]) -> bool:
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
