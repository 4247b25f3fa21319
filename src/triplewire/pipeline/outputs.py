"""Where answers go: a folder with `answers` and `bad` in it, as Parquet or JSON lines."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from triplewire.errors import PipelineError
from triplewire.pipeline.images import is_one_machine
from triplewire.pipeline.parts import write_parts
from triplewire.pipeline.tally import MOST_KEPT, Bad, Tally
from triplewire.pipeline.worker import BAD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from triplewire.pipeline.batch import BatchMatch
    from triplewire.pipeline.graph import GraphMatch

OutputFormat = Literal["parquet", "jsonl"]


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
    """The folder on this machine that a path means, if it means one."""
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
