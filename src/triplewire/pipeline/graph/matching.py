"""Matching many documents on Spark as one graph: answers whose triples come from several documents.

    read      documents become statements: the triples that can stand in an answer, as numbers; and the terms' texts
    write     the statements become sorted arrays in files, in two orders, and the texts a third
    plan      each conjunction is seeded where the fewest triples fit
    find      the seeds are shared out evenly; each task gathers around its share, and matches what it has gathered
    answers   rows that several tasks have found are one

Nothing is joined by Spark: it sorts, and shares out. So no key is too popular: what is shared out are triples, each of
which is there once. Where one of them leads to a popular node, the triples of that node are shared out in a round of
their own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from triplewire.documents import Limits, parse
from triplewire.errors import PipelineError, UnsupportedQuery
from triplewire.matching import Index
from triplewire.matching.finder.plan import save_plans
from triplewire.matching.finder.queries import Queries
from triplewire.matching.incremental import MOST_TRIPLES
from triplewire.matching.incremental.fans import POPULAR, ROUNDS, Fan, in_rounds, shared_out
from triplewire.matching.incremental.flat import FIRST, Numbering
from triplewire.pipeline.batch import chosen, tries_once
from triplewire.pipeline.graph.finding import FOUND, FindingTask, fan_of
from triplewire.pipeline.graph.image import (
    BY_PREDICATE,
    BY_SUBJECT,
    TERMS,
    WRITTEN,
    WritingTask,
    has_collision,
    join,
)
from triplewire.pipeline.graph.reading import BAD, DOCUMENT, READ, STATEMENT, TERM, ReadingTask
from triplewire.pipeline.images import is_one_machine, place
from triplewire.pipeline.inputs import local_glob
from triplewire.pipeline.session import temporary
from triplewire.pipeline.tally import MOST_KEPT, Bad, Progress, Tally, new_tally, watched
from triplewire.pipeline.worker import Reader

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

_ROWS_OF_A_PART = 500_000
"""How many statements or terms a task sorts."""
_SEEDS_OF_A_TASK = 50_000
_LEAST_PUT_OFF = 1_000
"""Triples of popular nodes that are worth a task."""
_DOUBLED = "several documents have this uri, with different contents, and none of them counts; keep one"
_TASKS_OF_A_CORE = 4
"""So that cores which are done early have something left to do."""


@dataclass(frozen=True)
class GraphMatch:
    """What was found. The DataFrames read files in `work`, which `close` removes: take what you need before."""

    answers: DataFrame
    """`subscription`, `row`, `documents`: each distinct row, and documents that state the triples which make it."""
    bad: DataFrame
    """`document`, `subscription`, `reason`: what could not be read; the subscription is always null."""
    errors: DataFrame
    """`subscription`, `reason`: those that scope graph does not serve, or that went over a limit; without answers."""
    tally: Tally
    """How many documents there were, and how many and which of them were bad."""
    work: Path

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.work, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def match_graph(
    spark: SparkSession,
    documents: DataFrame,
    index: Index | str | PathLike[str],
    *,
    work: str | PathLike[str] | None = None,
    read: Reader = parse,
    limits: Limits | None = None,
    most_triples: int = MOST_TRIPLES,
    numbering: Numbering = FIRST,
    show: Callable[[Progress], None] | None = None,
) -> GraphMatch:
    """The answers that an index, or a saved one, has for the graph that all documents state together.

    `documents` has the columns `uri` and `content`, and may have `media_type`. A uri that is there several times, with
    different contents, is bad: a table has no order, so nobody can say which of them is the last. Blank nodes of
    different documents are different. All of it runs now; `show` hears how far it is, with rows that several tasks
    have found counted several times. `work` is a folder for what is written meanwhile and for
    what is found, in a new folder inside; on a cluster one that the driver and all workers see under this name.
    `most_triples` is how many triples one triple may lead to before a subscription fails.
    """
    columns = chosen(documents)
    index = index if isinstance(index, Index) else Index.load(index)
    folder = _folder(spark, work)
    try:
        queries, refused = _served(index)
        run = _Run(spark, folder, queries, index, numbering, new_tally(spark.sparkContext))
        with watched(spark.sparkContext, lambda: run.tally.value, show) if show else nullcontext():
            run = run.with_image(columns, read, limits or Limits())
            failed = run.find(most_triples)
        return GraphMatch(run.answers(failed), run.bad(), run.errors(failed, refused), run.told(), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _folder(spark: SparkSession, work: str | PathLike[str] | None) -> Path:
    if work is not None:
        try:
            Path(work).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PipelineError(
                f"{work}: this folder for work cannot be made ({error.strerror}); name another"
            ) from None
    elif not is_one_machine(spark):
        raise PipelineError(
            "on a cluster, scope graph needs a folder that the driver and all workers see: name one with `work`"
        )
    if work is None:
        return temporary("graph").resolve()
    folder = Path(tempfile.mkdtemp(prefix="triplewire-graph-", dir=work)).resolve()
    shutil.copymode(work, folder)  # workers may run as a user who may write there, and so here
    return folder


def _served(index: Index) -> tuple[Queries, dict[str, str]]:
    """The queries, and the subscriptions that scope graph does not serve, with the reasons."""
    from triplewire.engine.subscriptions.registrations import refuse_unserved

    queries, refused = Queries(), {}
    for id in index:
        pattern = index.pattern(id)
        try:
            refuse_unserved(pattern, "graph", "pattern")
        except UnsupportedQuery as error:
            refused[id] = f"{error.reason}. {error.hint}"
        else:
            queries.add(id, pattern)
    return queries, refused


@dataclass(frozen=True)
class _Run:
    """One match: what its stages share."""

    spark: SparkSession
    folder: Path
    queries: Queries
    index: Index
    numbering: Numbering
    tally: Accumulator[Tally]
    doubled: tuple[str, ...] = ()
    """The uris that several documents have, with different contents."""

    def _path(self, name: str) -> str:
        return str(self.folder / name)

    def _table(self, name: str) -> DataFrame:
        return self.spark.read.schema(READ if name == "read" else FOUND).parquet(local_glob(self.folder / name))

    def _read(self, what: str) -> DataFrame:
        table = self._table("read")
        return table.where(table.what == what)

    def _statements(self) -> DataFrame:
        """What documents state that are the only ones of their uris."""
        from pyspark.sql import functions as f

        found = self._read(STATEMENT)
        if not self.doubled:
            return found
        without = self._numbers("document", map(self.numbering.number, self.doubled), "int64")
        return found.join(f.broadcast(without), "document", "left_anti")

    def with_image(self, documents: DataFrame, read: Reader, limits: Limits) -> _Run:
        """Read and write; again with other numbers, if two terms have one."""
        run = self
        while True:
            run.read(documents, read, limits)
            run = replace(run, doubled=run.same_uris())
            if run.write():
                return run
            run = replace(run, numbering=run.numbering.next(), tally=new_tally(self.spark.sparkContext))

    def same_uris(self) -> tuple[str, ...]:
        """The uris of documents with different contents."""
        from pyspark.sql import functions as f

        contents = self._read(DOCUMENT).groupBy("uri").agg(f.countDistinct("number").alias("contents"))
        return tuple(sorted(row.uri for row in contents.where("contents > 1").select("uri").collect()))

    def read(self, documents: DataFrame, read: Reader, limits: Limits) -> None:
        """Statements, terms and bad documents, in one table."""
        fitting = place(self.spark, self.queries.fitting(self.index.taxonomy))
        careful = tries_once(self.spark)
        reading = ReadingTask(fitting, self.numbering, read, limits, self.tally, careful)
        table = documents.mapInArrow(reading, READ)
        table.write.mode("overwrite").parquet(f"file://{self._path('read')}")

    def write(self) -> bool:
        """The image; False if two terms have one number, and all is to be done with other numbers."""
        terms = self._read(TERM).select("number", "text").union(self._constants())
        self._write(terms, TERMS, ["number"], ["number", "text"])
        if has_collision(self.folder / "image"):
            return False
        statements = self._statements()
        self._write(
            statements.select("s", "p", "o", "document"), BY_SUBJECT, ["s", "p", "o"], ["s", "p", "o", "document"]
        )
        self._write(statements.select("p", "o", "s"), BY_PREDICATE, ["p", "o", "s"], ["p", "o", "s"])
        return True

    def _constants(self) -> DataFrame:
        import pyarrow

        texts = sorted(self.queries.constants)
        numbers = pyarrow.array([self.numbering.number(text) for text in texts], pyarrow.int64())
        table = pyarrow.table({"number": numbers, "text": pyarrow.array(texts, pyarrow.string())})
        return self.spark.createDataFrame(table)

    def _write(self, rows: DataFrame, table: str, keys: list[str], order: list[str]) -> None:
        ordered = rows.repartitionByRange(self._parts(rows.count()), *keys).sortWithinPartitions(*order)
        told = ordered.mapInArrow(WritingTask(self._path("image"), table), WRITTEN).collect()
        join(self.folder / "image", table, [part.part for part in told])

    def _parts(self, rows: int) -> int:
        return max(self.spark.sparkContext.defaultParallelism, rows // _ROWS_OF_A_PART)

    def find(self, most_triples: int) -> dict[int, str]:
        """All rows, into a table; the queries that went over a limit, with the reasons."""
        from pyspark.sql import functions as f

        fits = self._statements().select(f.explode("kinds").alias("kind"), "s", "p", "o")
        counts = {row.kind: row["count"] for row in fits.groupBy("kind").count().collect()}
        plans = self.queries.plans(counts, self.index, self.numbering.number)
        save_plans(plans, self.folder / "plans")
        kinds = sorted({kind for plan in plans for kind in plan.kinds})
        chosen = self._numbers("kind", kinds, "int32")
        seeds = fits.join(f.broadcast(chosen), "kind", "left_semi").select("kind", "s", "p", "o")
        tasks = self._tasks(sum(counts.get(kind, 0) for kind in kinds))
        shares = seeds.repartition(tasks, "s", "p", "o").dropDuplicates(["kind", "s", "p", "o"])
        finding = FindingTask(
            self._path("plans"), self._path("image"), self.numbering, most_triples, self.tally, POPULAR
        )
        fans = self._found(shares.sortWithinPartitions("kind", "s"), finding)
        in_rounds(fans, lambda fans, left: self._find_put_off(replace(finding, round=ROUNDS - left), fans))
        for name in ("image", "plans", *(f"put-off-{number}" for number in range(1, ROUNDS + 1))):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        failed = self._table("found").where("reason IS NOT NULL").select("query", "reason").collect()
        return {row.query: row.reason for row in failed}

    def _find_put_off(self, finding: FindingTask, fans: list[Fan]) -> list[Fan]:
        """What there is around popular nodes: their triples are seeds, in shares of one size, a task for each."""
        places = sorted({fan.place for fan in fans})
        plans = self._path(f"put-off-{finding.round}")
        save_plans(self.queries.fan_plans(places, self.index, self.numbering.number), Path(plans))
        kinds = {place: kind for kind, place in enumerate(places)}
        shares = shared_out(fans, self._tasks(sum(fan.size for fan in fans)), _LEAST_PUT_OFF)
        pieces = tuple(tuple((kinds[piece.fan.place], piece) for piece in share) for share in shares)
        popular = finding.popular if finding.round < ROUNDS else None
        numbers = self.spark.range(0, len(shares), 1, len(shares))
        return self._found(numbers, replace(finding, plans=plans, popular=popular, shares=pieces))

    def _found(self, shares: DataFrame, finding: FindingTask) -> list[Fan]:
        """Have rows found, into the table; what was put off."""
        found = shares.mapInArrow(finding, FOUND)
        found.write.mode("append" if finding.round else "overwrite").parquet(f"file://{self._path('found')}")
        table = self._table("found").where("fan IS NOT NULL")
        fans = table.where(table["round"] == finding.round).select("fan").distinct().collect()
        return [fan_of(row.fan) for row in fans]

    def _numbers(self, name: str, values: Iterable[int], kind: str) -> DataFrame:
        import pyarrow

        return self.spark.createDataFrame(pyarrow.table({name: pyarrow.array(list(values), kind)}))

    def _tasks(self, seeds: int) -> int:
        return max(_TASKS_OF_A_CORE * self.spark.sparkContext.defaultParallelism, seeds // _SEEDS_OF_A_TASK)

    def answers(self, failed: Mapping[int, str]) -> DataFrame:
        """Each row of each subscription once."""
        from pyspark.sql import functions as f

        found = self._table("found").where("row IS NOT NULL")
        rows = found.groupBy("query", "row").agg(f.min("documents").alias("documents"))
        row = f.map_filter(f.map_from_arrays("columns", "row"), lambda name, term: term.isNotNull())
        asking = self._subscriptions(failed)
        return rows.join(asking, "query").select("subscription", row.alias("row"), "documents")

    def _subscriptions(self, failed: Mapping[int, str]) -> DataFrame:
        """The subscriptions of each query, with the names of its columns; without those that have failed."""
        import pyarrow

        asking = [
            {"query": number, "subscription": id, "columns": pattern.answer}
            for number, (pattern, ids) in enumerate(zip(self.queries.patterns, self.queries.subscriptions, strict=True))
            if number not in failed
            for id in ids
        ]
        text = pyarrow.string()
        schema = pyarrow.schema({"query": pyarrow.int32(), "subscription": text, "columns": pyarrow.list_(text)})
        return self.spark.createDataFrame(pyarrow.Table.from_pylist(asking, schema))

    def bad(self) -> DataFrame:
        """The documents that could not be read, or have a uri that others have as well."""
        from pyspark.sql import functions as f

        nobody = f.lit(None).cast("string").alias("subscription")
        found = self._read(BAD).select(f.col("uri").alias("document"), nobody, "reason")
        return found.union(self.spark.createDataFrame(self._doubled(), found.schema)) if self.doubled else found

    def _doubled(self) -> list[Bad]:
        return [Bad(uri, None, _DOUBLED) for uri in self.doubled]

    def told(self) -> Tally:
        """The counts of documents, and of what was bad; rows are counted when they are distinct."""
        tally, doubled = self.tally.value, self._doubled()
        kept = (*tally.kept, *doubled)[:MOST_KEPT]
        return tally._replace(rows=0, bad=tally.bad + len(doubled), kept=kept)

    def errors(self, failed: Mapping[int, str], refused: Mapping[str, str]) -> DataFrame:
        """The subscriptions that were not served."""
        reasons = dict(refused)
        for query, reason in failed.items():
            reasons |= dict.fromkeys(self.queries.subscriptions[query], reason)
        return self.spark.createDataFrame(sorted(reasons.items()), "subscription string, reason string")
