"""`triplewire run` and `triplewire status`: a stream into a hub, and how it is doing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import batches, options, streams
from triplewire.cli.hubs import StoreUrl, note_new, store_at, store_class, url_of
from triplewire.cli.problems import SOME_BAD, Problems, counted, usage, usage_for
from triplewire.cli.signals import ended_by, ending_with
from triplewire.cli.terminal import print_json, print_text
from triplewire.errors import PipelineError, StoreError

if TYPE_CHECKING:
    from triplewire.pipeline.streaming.running import Stream

_LOOK = 0.1


def run(
    store: StoreUrl,
    source: Annotated[
        str,
        typer.Option("--source", metavar="SOURCE", help="A folder, 'intake', or kafka://host:port/topic."),
    ] = "intake",
    master: Annotated[
        str, typer.Option("--master", help="Where Spark runs: local[2], spark://HOST:PORT, …")
    ] = "local[*]",
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="PATH", help="Where Spark notes how far it is.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Apply what is there, and end.")] = False,
    interval: Annotated[float, typer.Option("--interval", min=0, help="Least seconds between two batches.")] = 0.0,
    small: Annotated[
        int | None,
        typer.Option("--small", min=0, metavar="N", help="Up to N partial matches are found by the driver itself."),
    ] = None,
    most: Annotated[int | None, typer.Option("--most", min=1, metavar="N", help="Changes in a batch, at most.")] = None,
    packages: Annotated[
        str | None, typer.Option("--packages", help="Packages that Spark is to fetch, such as Kafka's connector.")
    ] = None,
    kafka_config: Annotated[
        Path | None,
        typer.Option(
            "--kafka-config",
            metavar="FILE",
            help="Settings of Kafka's client (security, ...), as its own tools take them: lines of name=value.",
        ),
    ] = None,
    conf: Annotated[
        list[str], typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark. Repeatable.")
    ] = [],
    json: Annotated[bool, typer.Option("--json", help="Print the numbers of every batch as a line of JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Spark's own log.")] = False,
) -> None:
    """Apply changes to a hub as they come, on Spark, until it is stopped (Ctrl-C).

    The source is the hub's intake log (see publish --queue), a folder into which files are
    dropped, or a Kafka topic. What cannot be applied is set aside: triplewire rejected.

    [bold]Examples[/bold]

    \b
      triplewire run hub.db --source landing/
      triplewire run hub.db --source intake --once
      triplewire run postgresql://me@host/hub --checkpoint /var/lib/triplewire
      triplewire run hub.db --source kafka://host:9092/catalogue \\
        --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0
    """
    problems = Problems()
    settings = batches.settings_of(conf) | ({"spark.jars.packages": packages} if packages else {})
    url = url_of(store)
    note_new(store)
    store_class()
    from triplewire.pipeline.outputs import refuse_unwritable
    from triplewire.pipeline.session import running
    from triplewire.pipeline.streaming import CONF
    from triplewire.pipeline.streaming.kafka import client_settings
    from triplewire.pipeline.streaming.running import Plan, Stream

    with usage_for(PipelineError, StoreError):
        client = None if kafka_config is None else client_settings(kafka_config)
        given = {"interval": interval, "small": small, "most": most, "client": client}
        said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        plan = Plan(url, source, _checkpoint(url, checkpoint), **said)
        refuse_unwritable(str(plan.checkpoint), "what Spark notes (--checkpoint)")
        store_class().open(url).close()  # what is wrong with it is known before Spark is there
        with ending_with(lambda: problems.note("stopped; what was committed stays")), ExitStack() as stack:
            spark = stack.enter_context(running(master, verbose=verbose, conf=CONF | settings, tell=problems.note))
            view = stack.enter_context(streams.shown(problems.console, print_json if json else None))
            stream = Stream(spark, plan, tell=view.say, heard=lambda done: view.show(stream.meter.progress))
            stack.callback(stream.close)
            with batches.said_plainly(), _turn_on_the_log(url, source, view.say):
                _follow(stream, once, view.say)
    progress = stream.meter.progress
    problems.note(
        f"{counted(progress.batches, 'batch', 'batches')}: {counted(progress.entries, 'change')},"
        f" {counted(progress.events, 'event')}, {progress.rejected:,} set aside"
    )
    raise typer.Exit(SOME_BAD if once and progress.rejected else 0)


@contextmanager
def _turn_on_the_log(url: str, source: str, say: Callable[[str], None]) -> Iterator[None]:
    """One process at a time applies the intake log: a service that runs, or this."""
    from triplewire.intake.entries import APPLIER
    from triplewire.pipeline.streaming import INTAKE

    if source != INTAKE:
        yield
        return
    with store_class().open(url) as store:
        lease = store.lease(APPLIER)
        if not lease.hold():
            say("another process applies this log, a service perhaps; waiting until it ends")
            while not lease.hold():
                sleep(_LOOK)
        try:
            yield
        finally:
            lease.release()


def _checkpoint(url: str, given: str | None) -> str:
    """Beside a store that is a file, if nothing is said."""
    if given is not None:
        return given
    path = url.removeprefix("sqlite:///")
    if path == url:
        usage("say where Spark notes how far it is: --checkpoint PATH")
    return str(Path(f"{path}.stream").resolve())


def _follow(stream: Stream, once: bool, say: Callable[[str], None]) -> None:
    def end(*_: object) -> None:
        say("stopping, when this batch is committed")
        stream.stop()

    with ended_by(end):
        if once:
            stream.once()
        else:
            say("waiting for changes; stop with Ctrl-C")
            stream.run()


def status(store: StoreUrl, json: options.AsJson = False) -> None:
    """Say how the stream into a hub is doing, as it told last, and what waits.

    [bold]Example[/bold]

    \b
      triplewire status hub.db --json
    """
    from triplewire.pipeline.streaming.progress import status as status_of

    with store_at(store) as opened, opened.reading() as reader:
        found = status_of(reader)
    if json:
        print_json(found)
        return
    for name, value in streams.lines_of(found):
        print_text(f"{name:14}{value}")


def rejected(
    store: StoreUrl,
    after: Annotated[int, typer.Option("--after", help="Only those with a greater number.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1)] = 100,
    forget: Annotated[bool, typer.Option("--forget", help="Drop the ones that are shown.")] = False,
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Show what a stream could not apply, and why.

    [bold]Example[/bold]

    \b
      triplewire rejected hub.db
    """
    from triplewire.cli.listing import print_records

    with store_at(store) as opened:
        with opened.reading() as reader:
            found = reader.intake.rejected(after, limit)
        print_records(map(_shown, found), ("number", "uri", "reason"), options.chosen(format, json), {})
        sys.stdout.flush()
        if forget and found:
            with opened.writing() as writer:
                writer.intake.forget_rejected(found[-1].number)


def _shown(rejection: Any) -> Mapping[str, Any]:
    record = asdict(rejection)
    content = record.pop("content")
    return record | {"bytes": len(content or b"")}
