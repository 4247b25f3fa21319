"""`triplewire rows` and `triplewire events`: what answers a subscription now, and what it was told."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import feeds, options
from triplewire.cli.counts import counted
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_json, print_records, record_of
from triplewire.cli.problems import Problems, usage

if TYPE_CHECKING:
    from triplewire import Event, Hub
    from triplewire.client import Client

_PAGE = 1_000

SubscriptionId = Annotated[str, typer.Argument(metavar="ID", help="The id of a subscription.")]


class EventFormat(StrEnum):
    """How events are printed."""

    table = "table"
    jsonl = "jsonl"
    atom = "atom"
    rss1 = "rss1"
    rss2 = "rss2"
    jsonfeed = "jsonfeed"


def rows(
    store: HubUrl,
    id: SubscriptionId,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Print what answers a subscription now.

    It is read page by page, so that a long answer takes no memory (as JSON).

    [bold]Example[/bold]

    \b
      triplewire rows hub.db maja --json
    """
    with hub_at(store) as hub:
        columns = _columns(hub, id) or ("(yes)",)
        stale = hub.subscription(id).stale_since
        found = ({name: str(term) for name, term in row.items()} for row in hub.each_row(id))
        count = print_records(found, columns, options.chosen(format, json), options.prefixes_of(prefix))
    since = f"; out of date since {stale:%Y-%m-%d %H:%M} UTC, because they take more than a limit" if stale else ""
    Problems().note(counted(count, "row") + since)


def _columns(hub: Hub | Client, id: str) -> tuple[str, ...]:
    from triplewire import Hub

    return tuple(hub.subscription(id).pattern.answer) if isinstance(hub, Hub) else hub.columns(id)


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
    contents: Annotated[bool, typer.Option("--contents", help="Add the content before and after (JSON only).")] = False,
    uri: Annotated[str | None, typer.Option("--uri", help="The address that a feed will have.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="The title of a feed; the id if none is given.")] = None,
    prefix: options.Prefixes = [],
    format: Annotated[
        EventFormat | None,
        typer.Option("--format", "-f", help="How to print; a table on a terminal, JSON lines otherwise."),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Print the events of a subscription, in order; or as a feed, the newest first.

    Who remembers the last cursor (as JSON tells it) and asks again with --after misses
    nothing. Times are those at which batches were committed, in UTC. A feed has
    the newest 100 events, or as many as --limit says; in Atom, rows that do not match any
    more are tombstones.

    [bold]Examples[/bold]

    \b
      triplewire events hub.db maja
      triplewire events hub.db maja --since 2026-03-02
      triplewire events hub.db maja --after 41 --json
      triplewire events hub.db maja --format atom --uri https://example.org/maja.atom
      triplewire events http://127.0.0.1:8080 maja --follow
    """
    times = _time("--since", since), _time("--until", until)
    if follow and times != (None, None):
        usage("--follow goes on with what happens now: leave --since and --until out, or --follow")
    with hub_at(store) as hub:
        if follow:
            with suppress(KeyboardInterrupt):
                for event in islice(_followed(hub, id, after), limit):
                    print_json(event.as_dict(contents=contents))
                    sys.stdout.flush()
            return
        if format is not None and format.name not in options.Format.__members__:
            most = limit or feeds.NEWEST
            told_as_feed = _events(hub, id, after, None, times)
            written, count = feeds.write(hub, store, id, told_as_feed, format.value, uri, title, most)
            sys.stdout.write(written.decode())
        else:
            plain = None if format is None else options.Format(format.value)
            told = (record_of(event, contents=contents) for event in _events(hub, id, after, limit, times))
            columns = ("time", "kind", "row")
            count = print_records(told, columns, options.chosen(plain, json), options.prefixes_of(prefix))
    Problems().note(counted(count, "event"))


def _followed(hub: Hub | Client, id: str, after: int) -> Iterator[Event]:
    """Without an end; a store is looked at twice a second."""
    from triplewire import Hub

    if not isinstance(hub, Hub):
        yield from hub.follow(id, after=after)
    while isinstance(hub, Hub):
        found = hub.events(id, after=after, limit=_PAGE)
        yield from found
        after = found[-1].cursor if found else after
        time.sleep(0.0 if found else 0.5)


def _time(option: str, given: str | None) -> datetime | None:
    """A time as it was typed; ends the command if it is none."""
    from triplewire.model import moment

    try:
        return None if given is None else moment(given)
    except (ValueError, OverflowError):
        usage(f"{option} {given}: this is no time; write it as 2026-03-02 or 2026-03-02T09:00")


def _events(
    hub: Hub | Client, id: str, after: int, limit: int | None, times: tuple[datetime | None, datetime | None]
) -> Iterator[Event]:
    """Page by page, so that a long log takes no memory."""
    left = limit
    while left is None or left > 0:
        most = _PAGE if left is None else min(left, _PAGE)
        page = hub.events(id, after=after, limit=most, since=times[0], until=times[1])
        if not page:
            return
        yield from page
        after, left = page[-1].cursor, None if left is None else left - len(page)
