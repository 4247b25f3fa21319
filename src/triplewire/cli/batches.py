"""`triplewire match` on Spark: what a command line says, made into a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from triplewire.cli.options import ScopeName
from triplewire.cli.problems import Problems, counted, usage, usage_for
from triplewire.cli.signals import ending_with
from triplewire.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

    from triplewire import Index
    from triplewire.pipeline.tally import Bad, Progress, Tally

LOCAL = "local[*]"
_SHOWN = 10
_on_spark = partial(typer.Option, rich_help_panel="On Spark: many documents, on all cores or a cluster")

To = Literal["parquet", "jsonl"]
SplitBy = Literal["subject", "graph"]
Out = Annotated[
    str | None, _on_spark("--out", metavar="PATH", help="Run on Spark; write to PATH/answers and PATH/bad.")
]
Form = Annotated[To, _on_spark("--to", help="In which form.")]
Overwrite = Annotated[bool, _on_spark("--overwrite", help="Replace what is in PATH.")]
Master = Annotated[
    str | None, _on_spark("--master", metavar="MASTER", help="Where Spark runs: local[2], spark://HOST:PORT, …")
]
SplitOption = Annotated[SplitBy | None, _on_spark("--split", help="Split N-Triples and N-Quads files into documents.")]
ContentColumn = Annotated[
    str | None, _on_spark("--content-column", metavar="NAME", help="The paths are Parquet tables.")
]
UriColumn = Annotated[str, _on_spark("--uri-column", metavar="NAME", help="Where a table has the uris.")]
WorkFolder = Annotated[
    str | None, _on_spark("--work", metavar="FOLDER", help="Scope graph: where to work; all workers see it.")
]
Conf = Annotated[list[str], _on_spark("--conf", metavar="KEY=VALUE", help="A setting of Spark. Repeatable.")]
Verbose = Annotated[bool, _on_spark("--verbose", "-v", help="Show Spark's own log.")]


@dataclass(frozen=True, slots=True)
class Batch:
    """What the arguments and options of `triplewire match` ask for."""

    paths: Sequence[str]
    out: str
    to: To
    overwrite: bool
    master: str
    split: SplitBy | None
    content_column: str | None
    uri_column: str
    scope: ScopeName
    work: str | None
    conf: Sequence[str]
    verbose: bool


def run(batch: Batch, index: Index, problems: Problems) -> None:
    """Match on Spark, write the answers, and say what was done."""
    conf = settings_of(batch.conf)
    from triplewire.pipeline.beside import Beside
    from triplewire.pipeline.session import require_packages, running

    with usage_for(PipelineError):
        require_packages()
        _refuse_before_it_starts(batch)
        with (
            ending_with(lambda: _interrupted(batch, problems)),
            Beside() as beside,
            running(batch.master, conf=conf, verbose=batch.verbose, tell=problems.note) as spark,
            said_plainly(),
        ):
            tally = beside.do(lambda: _written(spark, batch, index, problems.console))
    for bad in tally.kept[:_SHOWN]:
        problems.report(_about(bad), bad.reason)
    if tally.bad > _SHOWN:
        problems.report(f"{batch.out}/bad", f"there are {counted(tally.bad - _SHOWN, 'more problem')}")
    problems.note(_summary(batch, len(index), tally))


def _interrupted(batch: Batch, problems: Problems) -> None:
    from triplewire.pipeline.outputs import remove_unfinished

    if remove_unfinished(batch.out):
        problems.note(f"interrupted; {batch.out} has no answers, and a new run begins from nothing")
    else:
        problems.note(f"interrupted; {batch.out} is not complete: run it again with --overwrite")


def _about(bad: Bad) -> str:
    if bad.subscription is None:
        return bad.document
    return f"{bad.document}, subscription {bad.subscription}" if bad.document else f"subscription {bad.subscription}"


def _refuse_before_it_starts(batch: Batch) -> None:
    """What can be known to be wrong before Spark is there: starting it takes some seconds."""
    from triplewire.pipeline.inputs import sources
    from triplewire.pipeline.outputs import refuse_local

    refuse_local(batch.out, overwrite=batch.overwrite)
    for path in batch.paths:
        sources(path, batch.split, is_table=batch.content_column is not None)


def _written(spark: SparkSession, batch: Batch, index: Index, console: Console) -> Tally:
    from triplewire import pipeline
    from triplewire.pipeline import outputs

    if not batch.overwrite:
        outputs.refuse_what_is_there(spark, batch.out)
    documents = pipeline.documents(
        spark, batch.paths, split=batch.split, content_column=batch.content_column, uri_column=batch.uri_column
    )
    if batch.scope == "graph":
        with _bar(console, _graph_counts) as show:
            found = pipeline.match_graph(spark, documents, index, work=batch.work, show=show)
        with found:
            return outputs.write_graph(found, batch.out, batch.to)
    from triplewire.pipeline.tally import watched

    matched = pipeline.match_documents(spark, documents, index)
    with ExitStack() as stack:
        show = stack.enter_context(_bar(console, _counts))
        if show is not None:
            stack.enter_context(watched(spark.sparkContext, lambda: matched.tally, show))
        return outputs.write(matched, batch.out, batch.to)


def settings_of(given: Sequence[str]) -> dict[str, str]:
    """Spark's settings that --conf names; ends the command if one is malformed."""
    pairs = [each.partition("=") for each in given]
    for key, equals, _ in pairs:
        if not (key and equals):
            usage(f"--conf {key}: write KEY=VALUE, such as spark.driver.memory=2g")
    return {key: value for key, _, value in pairs}


@contextmanager
def said_plainly() -> Iterator[None]:
    """What Spark refuses, in a line instead of a page."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from triplewire.pipeline.session import explained

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise PipelineError(explained(str(error))) from None


@contextmanager
def _bar(console: Console, counts: Callable[[Tally], str]) -> Iterator[Callable[[Progress], None] | None]:
    """A bar of Spark's tasks with the counts beside it, on a terminal; gives what shows progress, if it is one."""
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    told = TextColumn("{task.fields[counts]}")
    columns = (SpinnerColumn(), TextColumn("matching"), BarColumn(), told, TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("matching", total=None, counts="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.tasks, total=progress.all_tasks or None, counts=counts(progress.tally))

        yield show


def _graph_counts(tally: Tally) -> str:
    rows = counted(tally.rows, "row")
    return f"{counted(tally.documents, 'document')}, {rows}, {counted(tally.bad, 'error')}"


def _counts(tally: Tally) -> str:
    matches = counted(tally.matches, "match", "matches")
    return f"{counted(tally.documents, 'document')}, {matches}, {counted(tally.bad, 'error')}"


def _summary(batch: Batch, subscriptions: int, tally: Tally) -> str:
    inputs = f"{counted(tally.documents, 'document')}, {counted(subscriptions, 'subscription')}"
    matches = "" if batch.scope == "graph" else f"{counted(tally.matches, 'match', 'matches')}, "
    answers = f"{matches}{counted(tally.rows, 'row')} in {batch.out}/answers"
    return f"{inputs}: {answers}" + (f"; {counted(tally.bad, 'problem')} in {batch.out}/bad" if tally.bad else "")
