"""Where sharing begins to pay: the same batches, found by the driver alone and by Spark's workers, in turn.

Each batch is applied to a copy of one store, so that both ways do the same; before it a small one, in the same way, so
that workers are up and know the subscriptions, as they do in a stream. `seeds` are the partial matches that the batch
begins: `--small` of `triplewire run` counts these.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.engine.workload import Workload
from benchmarks.engine.workloads import generate
from benchmarks.report import Line, Progress, figure, table
from benchmarks.spark.streaming import WORKLOAD, change_of, filled
from benchmarks.targets import Verdict
from triplewire import Hub, Publish, Retract, pipeline
from triplewire.engine.workers import Spent
from triplewire.pipeline import streaming
from triplewire.pipeline.streaming.workers import spark_finder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALONE, SHARED = "driver-alone", "in-shares"
_SMALL = {ALONE: 1 << 60, SHARED: 0}
CHANGES = (1_000, 5_000, 20_000, 50_000)
QUICK_CHANGES = (20, 60)
_TRIPLES, _QUICK_TRIPLES = 100_000, 2_000
_WARM = 20


class _Taken(NamedTuple):
    """What a batch took: seconds in all and for finding rows, partial matches begun, events."""

    seconds: float
    finding: float
    seeds: int
    events: int


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Measure each size, both ways in turn; which of them comes first, in turn as well."""
    sizes = options.changes or (QUICK_CHANGES if options.quick else CHANGES)
    triples = _QUICK_TRIPLES if options.quick else (options.triples or [_TRIPLES])[0]
    progress.stage(f"{WORKLOAD}: {options.subscriptions:,} subscriptions, {triples:,} triples")
    workload = generate(WORKLOAD, options.subscriptions, options.seed)
    conf = {"spark.driver.memory": "1g"} | streaming.CONF
    taken: dict[tuple[int, str], list[_Taken]] = defaultdict(list)
    with (
        tempfile.TemporaryDirectory(prefix="triplewire-bench-") as name,
        pipeline.running(f"local[{options.threads}]", conf=conf) as spark,
    ):
        folder = Path(name)
        history = filled(f"sqlite:///{folder / 'base.db'}", workload, triples, progress)
        warm = [change_of(change) for change in history.batch(_WARM)]
        for size in sizes:
            batch = [change_of(change) for change in history.batch(size)]
            for number in range(options.rounds):
                for way in (ALONE, SHARED) if number % 2 == 0 else (SHARED, ALONE):
                    progress(f"batches of {size:,}, {way}: {number + 1} of {options.rounds}")
                    taken[size, way].append(_applied(spark, folder, warm, batch, way))
            for way in (ALONE, SHARED):
                progress.stage(f"{size:,} changes, {way}: {_told(taken[size, way])}")
    return [_line(workload, size, way, some, triples) for (size, way), some in taken.items()]


def _applied(
    spark: SparkSession,
    folder: Path,
    warm: Sequence[Publish | Retract],
    batch: Sequence[Publish | Retract],
    way: str,
) -> _Taken:
    copy = Path(tempfile.mkdtemp(dir=folder))
    shutil.copyfile(folder / "base.db", copy / "hub.db")
    url = f"sqlite:///{copy / 'hub.db'}"
    finder = spark_finder(spark.sparkContext, url, small=_SMALL[way])
    with Hub(url, finder=finder) as hub:
        hub.apply(warm)
        finder.spent = Spent()
        started = perf_counter()
        events = len(hub.apply(batch))
        seconds = perf_counter() - started
    shutil.rmtree(copy)
    return _Taken(seconds, finder.spent.waited, finder.spent.seeds, events)


def _told(some: Sequence[_Taken]) -> str:
    seconds = ", ".join(f"{one.seconds:.2f} ({one.finding:.2f} finding)" for one in some)
    return f"{seconds} s; {some[0].seeds:,} partial matches, {some[0].events:,} events"


def _line(workload: Workload, size: int, way: str, some: Sequence[_Taken], triples: int) -> Line:
    return Line(
        workload.name,
        workload.subscriptions,
        size,
        way,
        median(one.seconds for one in some) / size * 1e6,
        some[0].events / size,
        triples=triples,
        seeds=some[0].seeds,
    )


def _ratios(lines: Sequence[Line]) -> Iterator[tuple[Line, float]]:
    """By size: a line of it, and how many times as long as the driver alone the workers take."""
    alone = {line.batch: line.microseconds for line in lines if line.alternative == ALONE}
    for line in sorted(lines, key=lambda line: line.batch):
        if line.alternative == SHARED:
            yield line, line.microseconds / alone[line.batch]


def crossing(lines: Sequence[Line]) -> str:
    """From which size on sharing is cheaper, in a sentence."""
    found: Line | None = None
    for line, ratio in _ratios(lines):
        found = None if ratio > 1 else found or line
    if found is None:
        return "Sharing is not cheaper at any of these sizes."
    return f"Sharing is cheaper from {found.batch:,} changes on ({found.seeds or 0:,} partial matches)."


def comparison(lines: Sequence[Line]) -> str:
    """The lines as a table, and where they cross."""
    heads = ("changes", "partial matches", "alternative", "seconds", "ms/change")
    rows = [
        (
            f"{line.batch:,}",
            f"{line.seeds or 0:,}",
            line.alternative,
            figure(line.microseconds * line.batch / 1e6),
            figure(line.microseconds / 1000),
        )
        for line in lines
    ]
    return f"{table(heads, rows)}\n{crossing(lines)}"


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """How the two compare at each size; below 1, sharing pays."""
    for line, ratio in _ratios(lines):
        yield Verdict(f"{line.batch:,} changes: in shares / driver alone", ratio, 1.0)
