"""A whole graph: the same documents as one graph, by one process and by Spark.

`GRAPH` is a catalogue: each document describes a dataset of one class, with a theme and a publisher; publishers have
documents of their own, and one of them has half of the datasets. A subscription asks for the datasets of a theme whose
publisher is in a city, so every answer joins two documents; one more asks for all datasets with their publishers'
names. Both alternatives read one Parquet file, and run the same code on it: `process` with its triples in memory,
`spark` with files between the stages. `process-cpu` and `spark-cpu` are processor time, of all processes together.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import pyarrow
import pyarrow.parquet

from benchmarks.report import Line, Progress, figure
from benchmarks.spark.batch import comparison
from benchmarks.spark.processes import cpu_seconds
from benchmarks.targets import Verdict
from triplewire import Index, Limits, compile, parse, pipeline
from triplewire.matching.finder.finder import RowFinder
from triplewire.matching.finder.queries import Queries
from triplewire.matching.finder.spelling import kept_of, spelled_rows
from triplewire.matching.incremental.flat import FIRST, flat_triples
from triplewire.model import RDF
from triplewire.pipeline import outputs, worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["comparison", "run", "verdicts"]

_CITIES, _PUBLISHERS = 20, 200
_SAMPLE, _TRIES, _GROUP, _PORTION, _SHARE = 2_000, 2, 2_000, 1_000, 5_000
_BASE = "http://catalogue.example/"


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Measure both in turn."""
    progress.stage(f"GRAPH: {options.subscriptions:,} subscriptions")
    index = index_of(options.subscriptions)
    folder = Path(tempfile.mkdtemp(prefix="triplewire-bench-"))
    try:
        write_documents(_SAMPLE, options, folder / "sample.parquet")
        count = options.documents or _enough(index, options.seconds, folder / "sample.parquet")
        progress(f"writing {count:,} documents")
        write_documents(count, options, folder / "documents.parquet")
        with pipeline.running(f"local[{options.threads}]", conf={"spark.driver.memory": "1g"}) as spark:
            return _measured(spark, index, count, folder, options, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(
    spark: SparkSession, index: Index, count: int, folder: Path, options: argparse.Namespace, progress: Progress
) -> list[Line]:
    documents = folder / "documents.parquet"
    alternatives = {
        "process": lambda: by_process(index, documents),
        "spark": lambda: by_spark(spark, index, documents, folder / "answers"),
    }
    by_spark(spark, index, folder / "sample.parquet", folder / "answers")  # what happens only once is not part of it
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "a session that runs has its Java"
    java = jvm.ProcessHandle.current().pid()
    used = {"process": process_time, "spark": lambda: process_time() + cpu_seconds(java)}
    times: dict[str, list[float]] = {name: [] for name in alternatives}
    cpu: dict[str, list[float]] = {name: [] for name in alternatives}
    rows = dict.fromkeys(alternatives, 0)
    for number in range(options.rounds):
        for name, call in alternatives.items():
            progress(f"{count:,} documents: round {number + 1} of {options.rounds}, {name}")
            started, before = perf_counter(), used[name]()
            rows[name] = call()
            times[name].append(perf_counter() - started)
            cpu[name].append(used[name]() - before)
    if len(set(rows.values())) > 1:
        raise AssertionError(f"the alternatives disagree: {rows}")
    ratios = [one / ours for one, ours in zip(times["process"], times["spark"], strict=True)]
    progress.stage("GRAPH, process / spark in each round: " + ", ".join(map(figure, ratios)))
    measured = {**times, **{f"{name}-cpu": taken for name, taken in cpu.items()}}
    matches = rows["spark"] / count
    return [
        Line("GRAPH", options.subscriptions, count, name, median(taken) / count * 1e6, matches)
        for name, taken in measured.items()
    ]


def index_of(subscriptions: int) -> Index:
    """The subscriptions: a pair of a theme and a city each, and one for all datasets."""
    index = Index()
    prefix = f"PREFIX : <{_BASE}> "
    for number in range(subscriptions - 1):
        theme, city = divmod(number, _CITIES)
        text = f'SELECT ?d ?p {{ ?d a :Dataset . ?d :theme :t{theme} . ?d :publisher ?p . ?p :city "{city}" }}'
        index.add(str(number), compile(prefix + text, language="sparql"))
    every = "SELECT ?d ?n { ?d a :Dataset . ?d :publisher ?p . ?p :name ?n }"
    index.add("all", compile(prefix + every, language="sparql"))
    return index


def documents_of(count: int, options: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Uris and contents: publishers first, then datasets."""
    chance, themes = Random(options.seed), max(1, options.subscriptions // _CITIES)
    for number in range(min(count, _PUBLISHERS)):
        about = f"<{_BASE}p{number}>"
        lines = [f'{about} <{_BASE}city> "{number % _CITIES}" .', f'{about} <{_BASE}name> "Publisher {number}" .']
        yield f"{_BASE}publishers/{number}", "\n".join(lines).encode()
    for number in range(_PUBLISHERS, count):
        about, publisher = f"<{_BASE}d{number}>", 0 if number % 2 else chance.randrange(1, _PUBLISHERS)
        lines = [
            f"{about} <{RDF}type> <{_BASE}Dataset> .",
            f"{about} <{_BASE}theme> <{_BASE}t{chance.randrange(themes)}> .",
            f"{about} <{_BASE}publisher> <{_BASE}p{publisher}> .",
            f'{about} <{_BASE}title> "Dataset {number}" .',
            f'{about} <{_BASE}rows> "{chance.randrange(100_000)}" .',
        ]
        yield f"{_BASE}datasets/{number}", "\n".join(lines).encode()


def write_documents(count: int, options: argparse.Namespace, path: Path) -> None:
    """A table of uri, content and media type, in groups that Spark can share out."""
    text = pyarrow.string()
    schema = pyarrow.schema({"uri": text, "content": pyarrow.binary(), "media_type": text})
    made = documents_of(count, options)
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while some := list(islice(made, _GROUP)):
            uris, contents = zip(*some, strict=True)
            kinds = ["application/n-triples"] * len(some)
            writer.write_table(pyarrow.table([uris, contents, kinds], schema=schema), row_group_size=_GROUP)


def by_process(index: Index, documents: Path) -> int:
    """One process with one thread; gives the number of rows."""
    queries = Queries((id, index.pattern(id)) for id in index)
    fitting, limits = queries.fitting(index.taxonomy), Limits()
    stating: dict[tuple[str, str, str], list[str]] = {}
    kinds: dict[tuple[str, str, str], list[int]] = {}
    for batch in pyarrow.parquet.ParquetFile(documents).iter_batches(batch_size=_PORTION, use_threads=False):
        read = [parse(one.content or b"", uri=str(one.uri), limits=limits) for one in worker.given(batch)]
        for document, kept in zip(read, kept_of(read, fitting, FIRST), strict=True):
            for triple, own in kept.items():
                stating.setdefault(triple, []).append(document.uri)
                kinds[triple] = own
    counts = Counter(kind for own in kinds.values() for kind in own)
    plans = queries.plans(counts, index, FIRST.number)
    chosen, number = {kind for plan in plans for kind in plan.kinds}, FIRST.number
    triples = flat_triples(stating, FIRST, queries.constants)
    seeds = (
        (kind, (number(s), number(p), number(o))) for (s, p, o), own in kinds.items() for kind in own if kind in chosen
    )
    finders, rows = [(plan, RowFinder(plan, triples)) for plan in plans], set()
    while share := list(islice(seeds, _SHARE)):
        found = (rows for plan, finder in finders for rows in finder.around(plan.seeds_of(share)))
        rows.update((each.query, each.row) for some in found for each in spelled_rows(some, triples))
    return sum(len(queries.subscriptions[query]) for query, _ in rows)


def by_spark(spark: SparkSession, index: Index, documents: Path, out: Path) -> int:
    """The pipeline; gives the number of rows."""
    with pipeline.match_graph(spark, pipeline.documents(spark, [str(documents)]), index) as found:
        return outputs.write_graph(found, str(out)).rows


def _enough(index: Index, seconds: float, sample: Path) -> int:
    """How many documents keep one process busy for so many seconds, of processor time."""
    taken = []
    for _ in range(_TRIES):
        started = process_time()
        by_process(index, sample)
        taken.append(process_time() - started)
    return max(_SAMPLE, int(seconds / min(taken) * _SAMPLE))


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """There is no target for it: what Spark gains on one machine is told, not promised."""
    return iter(())
