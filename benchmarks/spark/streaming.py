"""Streams: from a publisher's call to the committed event, next to a micro-batch in which nothing happens.

One stream runs on the intake log of a hub with the CATALOGUE workload. `empty-batch` is a submission that changes
nothing (a document is taken back that was never there): it goes through everything, and what it costs is Spark's.
`publish-to-event` is one change of the catalogue. The two take turns, in a small store and in a large one, so that
what else the machine does disturbs all of them alike. Then batches of a size that is worth sharing, by the driver alone
and in shares. A large store takes long to fill: with `--keep` it is kept, and used again.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from queue import Queue
from statistics import mean, median
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.engine.workload import Change, History, Workload
from benchmarks.engine.workloads import generate
from benchmarks.report import Line, Progress, figure, table
from benchmarks.targets import Verdict
from triplewire import Hub, Publish, Retract, Subscription, pipeline
from triplewire.model import RDFS
from triplewire.pipeline import streaming
from triplewire.pipeline.streaming.batches import Done
from triplewire.pipeline.streaming.running import Plan, Stream
from triplewire.pipeline.streaming.workers import spark_finder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TO_EMPTY = 2.0
GROWTH = 1.5
TRIPLES = (100_000, 5_000_000)
QUICK_TRIPLES = (2_000, 8_000)
ROUNDS = 40
WORKLOAD = "CATALOGUE"
_AT_ONCE = 1_000
_LARGE = 2_000
"""Changes of the batch that is applied both ways."""


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Measure in each size of the store."""
    sizes = options.triples or (QUICK_TRIPLES if options.quick else TRIPLES)
    rounds = 5 if options.quick else ROUNDS
    lines: list[Line] = []
    conf = {"spark.driver.memory": "1g"} | streaming.CONF
    with pipeline.running(f"local[{options.threads}]", conf=conf) as spark, ExitStack() as stack:
        worlds = []
        for triples in sizes:
            progress.stage(f"{WORKLOAD}: {options.subscriptions:,} subscriptions, {triples:,} triples")
            workload = generate(WORKLOAD, options.subscriptions, options.seed)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="triplewire-bench-")))
            url = f"sqlite:///{folder / 'hub.db'}"
            kept = options.keep and options.keep / f"{WORKLOAD}-{options.subscriptions}-{options.seed}-{triples}.db"
            worlds.append(_World(triples, workload, folder, url, _prepared(url, workload, triples, kept, progress)))
        lines += _one_by_one(spark, worlds, rounds, progress)
        for world in worlds:
            lines += _both_ways(spark, world, options.quick, progress)
    return lines


class _World(NamedTuple):
    """A store of a size, and the history that goes on in it."""

    triples: int
    workload: Workload
    folder: Path
    url: str
    history: History


def _prepared(url: str, workload: Workload, triples: int, kept: Path | None, progress: Progress) -> History:
    """`filled`, or a copy of what was filled before: a history tells the same story each time."""
    path = url.removeprefix("sqlite:///")
    if kept is None or not kept.exists():
        history = filled(url, workload, triples, progress)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
        return history
    shutil.copyfile(kept, path)
    history = workload.history()
    for _ in history.background(triples):
        pass
    return history


def filled(url: str, workload: Workload, triples: int, progress: Progress) -> History:
    """A store with the subscriptions and so many triples; gives the history that goes on from there."""
    from pyoxigraph import NamedNode, Triple

    history = workload.history()
    with Hub(url) as hub:
        below = NamedNode(RDFS + "subClassOf")
        hub.set_taxonomy([Triple(narrow, below, broad) for narrow, broad in workload.taxonomy.below()])  # type: ignore[arg-type]  # no literals
        documents, done = history.background(triples), 0
        while some := list(islice(documents, _AT_ONCE)):
            hub.apply([Publish(document) for document in some])
            done += sum(map(len, some))
            progress(f"loading: {done:,} triples")
        hub.subscribe_many(
            Subscription(str(i), "", "sparql", "graph", "now", pattern=workload.pattern(i))
            for i in range(workload.subscriptions)
        )
    return history


class _Watched:
    """A stream that tells when each batch is committed."""

    def __init__(self, spark: SparkSession, url: str, folder: Path) -> None:
        self._told: Queue[Done] = Queue()
        self._stream = Stream(spark, Plan(url, streaming.INTAKE, folder / "checkpoint"), heard=self._told.put)
        self._hub = Hub(url)
        self._thread = Thread(target=self._stream.run, daemon=True)
        self._thread.start()

    def submit(self, change: Publish | Retract) -> tuple[float, Done]:
        """The seconds from the call to the commit, and what the batch was."""
        started = perf_counter()
        self._hub.submit([change])
        done = self._told.get(timeout=300)
        return perf_counter() - started, done

    def close(self) -> None:
        self._stream.stop()
        self._thread.join()
        self._stream.close()
        self._hub.close()


def _one_by_one(spark: SparkSession, worlds: Sequence[_World], rounds: int, progress: Progress) -> Iterator[Line]:
    """One change after the other, the worlds in turn; all their streams run all the time."""
    watched = [_Watched(spark, world.url, world.folder) for world in worlds]
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    events: dict[int, list[int]] = defaultdict(list)
    for number in range(-3, rounds):  # the first ones wait for workers to come up
        progress(f"round {number + 1} of {rounds}")
        for place, (stream, world) in enumerate(zip(watched, worlds, strict=True)):
            empty, _ = stream.submit(Retract(f"urn:nothing:{number}"))
            (change,) = world.history.batch(1)
            publish, done = stream.submit(change_of(change))
            if number >= 0:
                times[place, "empty-batch"].append(empty)
                times[place, "publish-to-event"].append(publish)
                events[place].append(done.events)
    for stream in watched:
        stream.close()
    for (place, name), taken in times.items():
        told = mean(events[place]) if name == "publish-to-event" else 0.0
        yield _line(worlds[place].workload, 1, name, median(taken), told, worlds[place].triples)


def _both_ways(spark: SparkSession, world: _World, quick: bool, progress: Progress) -> Iterator[Line]:
    """Large batches, applied by the driver alone, and then others like them in shares."""
    size = 50 if quick else _LARGE
    for name, small in (("driver-alone", 1 << 60), ("in-shares", 0)):
        finder = spark_finder(spark.sparkContext, world.url, small=small)
        with Hub(world.url, finder=finder) as hub:
            taken = []
            for number in range(3):
                progress(f"batches of {size}, {name}: {number + 1} of 3")
                changes = [change_of(change) for change in world.history.batch(size)]
                started = perf_counter()
                hub.apply(changes)
                taken.append((perf_counter() - started, finder.spent.seeds))
        seconds = median(seconds for seconds, _ in taken[1:])
        progress.stage(f"{name}: {seconds:.2f} s for a batch of {size:,}, {finder.spent.seeds // 3:,} seeds")
        yield _line(world.workload, size, name, seconds, 0.0, world.triples)


def change_of(change: Change) -> Publish | Retract:
    """A change of a history, as a hub takes it."""
    return Retract(change.uri) if change.document is None else Publish(change.document)


def _line(workload: Workload, batch: int, name: str, seconds: float, matches: float, triples: int) -> Line:
    per_document = seconds / batch * 1e6
    return Line(workload.name, workload.subscriptions, batch, name, per_document, matches, triples=triples)


def _find(lines: Sequence[Line], name: str, triples: int) -> float | None:
    found = [line.microseconds for line in lines if line.alternative == name and line.triples == triples]
    return found[0] if found else None


def comparison(lines: Sequence[Line]) -> str:
    """The lines as a table."""
    heads = ("triples", "alternative", "changes", "ms/change", "events")
    rows = [
        (
            f"{line.triples or 0:,}",
            line.alternative,
            f"{line.batch:,}",
            figure(line.microseconds / 1000),
            figure(line.matches),
        )
        for line in lines
    ]
    return table(heads, rows)


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the lines say about the targets."""
    sizes = sorted({line.triples or 0 for line in lines})
    for triples in sizes:
        empty, publish = _find(lines, "empty-batch", triples), _find(lines, "publish-to-event", triples)
        if empty and publish:
            yield Verdict(f"{triples:,} triples: publish-to-event / empty-batch", publish / empty, TO_EMPTY)
    first, last = (_find(lines, "publish-to-event", size) for size in (sizes[0], sizes[-1]))
    if first and last and len(sizes) > 1:
        what = f"publish-to-event, {sizes[0]:,} to {sizes[-1]:,} triples"
        yield Verdict(what, last / first, GROWTH)
