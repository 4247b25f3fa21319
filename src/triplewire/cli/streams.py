"""A stream, watched: a table that is drawn again with each batch, on a terminal; lines of JSON, for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from triplewire.cli.tables import plain_table

if TYPE_CHECKING:
    from triplewire.pipeline.streaming.progress import StreamProgress

_SPLIT = ("parse", "lookup", "match", "write")


class StreamView:
    """Where a stream's numbers and sentences go."""

    def __init__(
        self, console: Console, live: Live | None, write: Callable[[Mapping[str, Any]], object] | None
    ) -> None:
        self._console, self._live, self._write = console, live, write

    def show(self, progress: StreamProgress) -> None:
        """The numbers after a batch."""
        if self._write is not None:
            self._write(asdict(progress))
        if self._live is not None:
            self._live.update(table_of(asdict(progress)), refresh=True)

    def say(self, sentence: str) -> None:
        """A sentence, above the table."""
        self._console.print(Text(sentence), highlight=False, soft_wrap=True)


@contextmanager
def shown(console: Console, write: Callable[[Mapping[str, Any]], object] | None) -> Iterator[StreamView]:
    """A view on a console; the table only on a terminal."""
    if not console.is_terminal:
        yield StreamView(console, None, write)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield StreamView(console, live, write)


def table_of(progress: Mapping[str, Any]) -> Table:
    """The numbers as a table."""
    table = plain_table("stream", "")
    for name, value in numbers_of(progress):
        table.add_row(name, value)
    return table


def numbers_of(progress: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The numbers of a stream, each with its name, as people read them."""
    split, spark = progress["split"], progress["spark"]
    yield "source", progress["source"]
    yield "state", f"{progress['state']} since {progress['since']}"
    yield "batches", f"{progress['batches']:,}"
    yield "changes", f"{progress['entries']:,} ({progress['rate']:,.1f} a second), {progress['rejected']:,} set aside"
    yield "events", f"{progress['events']:,}"
    yield "lag", f"{progress['lag']:.2f} s, {progress['waiting']:,} waiting"
    yield "last batch", ", ".join(f"{name} {split[name] * 1000:,.0f} ms" for name in _SPLIT)
    if "triggerExecution" in spark:
        yield "trigger", f"{spark['triggerExecution'] * 1000:,.0f} ms in all, as Spark tells"
    where = f"in {progress['shares']} shares, skew {progress['skew']:.1f}" if progress["shares"] else "by the driver"
    yield "matching", f"{progress['seeds']:,} partial matches begun, {where}"


def lines_of(status: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The status of a store, as people read it."""
    if status["stream"] is None:
        yield "stream", "none has run on this store"
    else:
        yield from numbers_of(status["stream"])
        yield "told", status["stream"]["updated"]
    yield "waiting now", f"{status['waiting']:,}"
    yield "set aside", f"{status['rejected']:,} in all"
    yield "backfills", ", ".join(f"{count:,} {state}" for state, count in status["backfills"].items())
    for subscription, reason in status["failed backfills"].items():
        yield "not filled", f"{subscription}: {reason}"
    for subscription, since in status["paused"].items():
        yield "paused", f"{subscription} since {since}"
    yield "committed", f"{status['batches']:,} batches, up to cursor {status['last cursor']:,}"
