"""Batches: the same table of documents by one process, by Spark, and by a Spark that only reads and counts.

All three read one Parquet file. `process` and `spark` both parse, match, spell every row and write the answers as
Parquet; they take turns, so that what disturbs the machine disturbs both. On a machine where others compete for the
processors, two workers may be given no more than one process, whatever they do; so processor time is measured too
(`process-cpu`, `spark-cpu`: Java and workers together), and what it would come to on processors of their own. What
workers need to be ready, and the memory that they share, is asked of the workers themselves.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import pyarrow
import pyarrow.parquet

from benchmarks.alternatives import build
from benchmarks.report import Line, Progress, figure, table
from benchmarks.spark.processes import Mapped, cpu_seconds, memory_of
from benchmarks.targets import Verdict
from benchmarks.workloads import Workload, generate
from triplewire import Index, Limits, parse, pipeline
from triplewire.pipeline import outputs, worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPEEDUP = 1.6
OUTSIDE = 0.25
READY_TO_BUILDING = 1 / 10
SHARED = 0.6
"""Two workers that share a page count half of it each; what one changes is its own."""

_SAMPLE, _TRIES, _GROUP, _PORTION = 1000, 4, 2000, 1000
_MEDIA_TYPE = "application/n-triples"


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Measure the alternatives in turn."""
    progress.stage(f"{options.workload}: {options.subscriptions:,} subscriptions")
    workload = generate(options.workload, options.subscriptions, options.seed)
    started = perf_counter()
    index = build(workload, lambda done: progress(f"indexing: {done:,}"))
    building = perf_counter() - started
    folder = Path(tempfile.mkdtemp(prefix="triplewire-bench-"))
    try:
        index.save(folder / "subscriptions.index")
        count = options.documents or _enough(workload, index, options.seconds)
        progress(f"writing {count:,} documents")
        _write_documents(workload, count, folder / "documents.parquet")
        with pipeline.running(f"local[{options.threads}]", conf={"spark.driver.memory": "1g"}) as spark:
            return _measured(spark, folder, workload, count, building, options, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(
    spark: SparkSession,
    folder: Path,
    workload: Workload,
    count: int,
    building: float,
    options: argparse.Namespace,
    progress: Progress,
) -> list[Line]:
    documents, image = folder / "documents.parquet", folder / "subscriptions.index"
    rows, outside = 0, list[float]()

    def process() -> None:
        nonlocal rows
        rows = by_process(Index.load(image), documents, folder / "process.parquet")

    def on_spark() -> None:
        started = perf_counter()
        tally = by_spark(spark, documents, image, folder / "spark")
        elapsed = perf_counter() - started
        if tally.rows != rows or tally.documents != count or tally.bad:
            raise AssertionError(f"Spark has {tally.rows} rows and {tally.bad} problems, one process {rows} rows")
        outside.append(1 - (tally.reading + tally.matching) / (options.threads * elapsed))

    def counting() -> None:
        spark.read.parquet(str(documents)).selectExpr("sum(length(content))").collect()

    jvm = spark.sparkContext._jvm
    assert jvm is not None, "a session that runs has its Java"
    java = jvm.ProcessHandle.current().pid()
    used = {"process": process_time, "spark": lambda: cpu_seconds(java), "count": lambda: cpu_seconds(java)}
    alternatives: dict[str, Callable[[], None]] = {"process": process, "spark": on_spark, "count": counting}
    counting()  # what happens only once, such as loading classes and starting workers, is not part of it
    ready, mapped = _ready(spark, documents, image, options.threads)
    times: dict[str, list[float]] = {name: [] for name in alternatives}
    cpu: dict[str, list[float]] = {name: [] for name in alternatives}
    for number in range(options.rounds):
        for name, call in alternatives.items():
            progress(f"{count:,} documents: round {number + 1} of {options.rounds}, {name}")
            started, before = perf_counter(), used[name]()
            call()
            times[name].append(perf_counter() - started)
            cpu[name].append(used[name]() - before)
    size = (workload.name, workload.subscriptions, count)
    matches = rows / count
    lines = [
        Line(*size, name, median(taken) / count * 1e6, 0.0 if name == "count" else matches)
        for name, taken in times.items()
    ]
    lines += [Line(*size, f"{name}-cpu", median(cpu[name]) / count * 1e6, matches) for name in ("process", "spark")]
    ratios = [one / ours for one, ours in zip(times["process"], times["spark"], strict=True)]
    progress.stage("process / spark in each round: " + ", ".join(map(figure, ratios)))
    progress.stage("share of time outside parsing and matching: " + ", ".join(map(figure, outside)))
    lines.append(Line(*size, "spark-outside", median(outside) * find_us(lines, "spark"), matches))
    lines.append(Line(*size, "build", building * 1e6, 0.0, bytes=image.stat().st_size))
    lines.append(Line(*size, "worker-ready", ready * 1e6, 0.0))
    lines.append(Line(*size, "mapped", 0.0, 0.0, bytes=int(median(each.rss for each in mapped))))
    lines.append(Line(*size, "mapped-share", 0.0, 0.0, bytes=int(median(each.pss for each in mapped))))
    return lines


def by_process(index: Index, documents: Path, out: Path) -> int:
    """One process with one thread: read, parse, match, write; gives the number of rows."""
    rows, writer = 0, None
    limits = Limits()
    for batch in pyarrow.parquet.ParquetFile(documents).iter_batches(batch_size=_PORTION, use_threads=False):
        outcome = worker.matched(index, worker.given(batch), parse, limits)
        rows += len(outcome.rows)
        for answers in worker.answers_of(outcome):
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(out, answers.schema)
            writer.write_batch(answers)
    if writer is not None:
        writer.close()
    return rows


def by_spark(spark: SparkSession, documents: Path, image: Path, out: Path) -> pipeline.Tally:
    """The pipeline: read, parse, match, write."""
    batch = pipeline.match_documents(spark, pipeline.documents(spark, [str(documents)]), image)
    return outputs.write(batch, str(out))


def _enough(workload: Workload, index: Index, seconds: float) -> int:
    """How many documents keep one process busy for so many seconds, of processor time."""
    sample = [_given(workload, number) for number in range(_SAMPLE)]
    taken = []
    for _ in range(_TRIES):
        started = process_time()
        list(worker.answers_of(worker.matched(index, sample, parse, Limits())))
        taken.append(process_time() - started)
    return max(_SAMPLE, int(seconds / min(taken) * _SAMPLE))


def _given(workload: Workload, number: int) -> worker.Given:
    document = workload.documents[number % len(workload.documents)]
    return worker.Given(f"{document.uri}?{number}", document.ntriples, _MEDIA_TYPE)


def _write_documents(workload: Workload, count: int, path: Path) -> None:
    """A table of uri, content and media type, in groups that Spark can share out."""
    text = pyarrow.string()
    schema = pyarrow.schema({"uri": text, "content": pyarrow.binary(), "media_type": text})
    plain = {"compression": "none", "use_dictionary": ["media_type"]}  # the few documents repeat, as real ones do not
    with pyarrow.parquet.ParquetWriter(path, schema, **plain) as writer:
        for first in range(0, count, _GROUP):
            some = [_given(workload, number) for number in range(first, min(first + _GROUP, count))]
            columns = [[each[i] for each in some] for i in range(3)]
            writer.write_table(pyarrow.table(columns, schema=schema), row_group_size=_GROUP)


def _ready(spark: SparkSession, documents: Path, image: Path, threads: int) -> tuple[float, list[Mapped]]:
    """The seconds from nothing to a first match in a worker, and the memory of the mapped file in each worker."""
    sample = spark.read.parquet(str(documents)).limit(threads * 100).repartition(threads)
    found = sample.mapInArrow(memory_of(str(image)), "pid long, seconds double, rss long, pss long").collect()
    mapped = {row.pid: Mapped(row.rss, row.pss) for row in found}
    return median(row.seconds for row in found), list(mapped.values())


def find_us(lines: Sequence[Line], alternative: str) -> float:
    """The microseconds of an alternative."""
    return next(line.microseconds for line in lines if line.alternative == alternative)


def find_bytes(lines: Sequence[Line], alternative: str) -> int:
    """The bytes of an alternative."""
    return next(line.bytes or 0 for line in lines if line.alternative == alternative)


def comparison(lines: Sequence[Line]) -> str:
    """The lines as a table."""
    heads = ("workload", "alternative", "documents", "us/document", "rows", "MB")
    rows = [
        (
            line.workload,
            line.alternative,
            f"{line.batch:,}",
            figure(line.microseconds),
            figure(line.matches),
            figure(line.bytes / 1e6) if line.bytes is not None else "",
        )
        for line in lines
    ]
    return table(heads, rows)


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the lines say about the targets."""
    process, spark = find_us(lines, "process"), find_us(lines, "spark")
    yield Verdict("process / spark", process / spark, SPEEDUP, is_at_most=False)
    busy = find_us(lines, "process-cpu") / find_us(lines, "spark-cpu")
    yield Verdict(
        "the same, if two processors were free (2 x process-cpu / spark-cpu)", 2 * busy, SPEEDUP, is_at_most=False
    )
    yield Verdict("share of processor time outside the work of one process", 1 - busy, OUTSIDE)
    yield Verdict("share of time outside parsing and matching", find_us(lines, "spark-outside") / spark, OUTSIDE)
    ready = find_us(lines, "worker-ready") / find_us(lines, "build")
    yield Verdict("a worker is ready / building the index", ready, READY_TO_BUILDING)
    shared = find_bytes(lines, "mapped-share") / max(1, find_bytes(lines, "mapped"))
    yield Verdict("a worker's share of the mapped index", shared, SHARED)
