"""`triplewire rows` and `triplewire events`: what answers a subscription now, and what it was told."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from triplewire.cli import feeds, files, options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records, record_of
from triplewire.cli.problems import Problems, counted, usage
from triplewire.cli.terminal import print_json

SubscriptionId = Annotated[str, typer.Argument(metavar="ID", help="The id of a subscription.")]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write into this file; its suffix says the format, if --format does not."
    ),
]
RowFormat = Literal["table", "jsonl", "csv", "xlsx", "parquet"]
EventFormat = Literal[RowFormat, "atom", "rss1", "rss2", "jsonfeed"]
_HOW = "How to print or write; a table on a terminal, JSON lines otherwise."


def rows(
    store: HubUrl,
    id: SubscriptionId,
    out: OutFile = None,
    prefix: options.Prefixes = [],
    format: Annotated[RowFormat | None, typer.Option("--format", "-f", help=_HOW)] = None,
    json: options.AsJson = False,
) -> None:
    """Print what answers a subscription now, or write it into a file.

    All of it is read page by page, so that a long answer takes no memory (but as a table).
    CSV, Excel and Parquet have plain values, JSON lines have terms as in N-Triples.

    [bold]Examples[/bold]

    \b
      triplewire rows hub.db maja --json
      triplewire rows hub.db maja --out maja.csv
      triplewire rows http://127.0.0.1:8080 maja --out maja.xlsx
    """
    wanted = files.chosen(format, json, out)
    with hub_at(store) as hub:
        columns = hub.columns(id)
        stale = hub.subscription(id).stale_since
        if wanted == "table":
            found = ({name: str(term) for name, term in row.items()} for row in hub.each_row(id))
            count = print_records(found, columns or ("(yes)",), "table", options.prefixes_of(prefix))
        else:
            from triplewire.tables import RowLayout

            count = files.write(out, wanted, RowLayout(columns), hub.each_row(id))
    since = f"; out of date since {stale:%Y-%m-%d %H:%M} UTC, because they take more than a limit" if stale else ""
    Problems().note(counted(count, "row") + since)


def events(
    store: HubUrl,
    id: SubscriptionId,
    after: Annotated[int, typer.Option("--after", metavar="CURSOR", help="Only events with a greater cursor.")] = 0,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only events from then on: 2026-03-02, or 2026-03-02T09:00 (UTC)."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Only events before this time, written the same way.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="So many at most.")] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with each new one as it happens, as JSON, until Ctrl-C.")
    ] = False,
    contents: Annotated[
        bool, typer.Option("--contents", help="Add the content before and after (not in a table).")
    ] = False,
    uri: Annotated[str | None, typer.Option("--uri", help="The address that a feed will have.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="The title of a feed; the id if none is given.")] = None,
    out: OutFile = None,
    prefix: options.Prefixes = [],
    format: Annotated[EventFormat | None, typer.Option("--format", "-f", help=_HOW)] = None,
    json: options.AsJson = False,
) -> None:
    """Print the events of a subscription, in order, or write them into a file; or a feed, the newest first.

    Who remembers the last cursor (as JSON tells it) and asks again with --after misses
    nothing. Times are those at which batches were committed, in UTC. A feed has
    the newest 100 events, or as many as --limit says; in Atom, rows that do not match any
    more are tombstones.

    [bold]Examples[/bold]

    \b
      triplewire events hub.db maja
      triplewire events hub.db maja --since 2026-03-02
      triplewire events hub.db maja --after 41 --json
      triplewire events hub.db maja --out maja.csv
      triplewire events hub.db maja --format atom --uri https://example.org/maja.atom
      triplewire events http://127.0.0.1:8080 maja --follow
    """
    times = _time("--since", since), _time("--until", until)
    if follow and times != (None, None):
        usage("--follow goes on with what happens now: leave --since and --until out, or --follow")
    wanted = files.chosen(format, json, out)
    if follow and out is not None:
        usage("--follow prints without an end, and --out is for what ends: leave one of them out")
    with hub_at(store) as hub:
        if follow:
            with suppress(KeyboardInterrupt):
                for event in islice(hub.follow(id, after=after), limit):
                    print_json(event.as_dict(contents=contents))
                    sys.stdout.flush()
            return
        every = hub.each_event(id, after=after, since=times[0], until=times[1])
        if wanted in feeds.FORMATS:
            content, count = feeds.write(hub, store, id, every, wanted, uri, title, limit or feeds.NEWEST)
            with files.opened(out) as file:
                file.write(content)
        elif wanted == "table":
            told = (record_of(event) for event in islice(every, limit))
            columns = ("time", "kind", "row")
            count = print_records(told, columns, "table", options.prefixes_of(prefix))
        else:
            from triplewire.tables import EventLayout

            layout = EventLayout(hub.log_columns(id), contents=contents)
            count = files.write(out, wanted, layout, islice(every, limit))
    Problems().note(counted(count, "event"))


def _time(option: str, given: str | None) -> datetime | None:
    """A time as it was typed; ends the command if it is none."""
    from triplewire.model import moment

    try:
        return None if given is None else moment(given)
    except (ValueError, OverflowError):
        usage(f"{option} {given}: this is no time; write it as 2026-03-02 or 2026-03-02T09:00")
