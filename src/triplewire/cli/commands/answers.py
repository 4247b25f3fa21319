"""`triplewire rows` and `triplewire events`: what answers a subscription now, and what it was told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import options
from triplewire.cli.counts import counted
from triplewire.cli.hubs import StoreUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems

if TYPE_CHECKING:
    from triplewire import Hub

_PAGE = 1_000

SubscriptionId = Annotated[str, typer.Argument(metavar="ID", help="The id of a subscription.")]


def rows(
    store: StoreUrl,
    id: SubscriptionId,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Print what answers a subscription now.

    [bold]Example[/bold]

    \b
      triplewire rows hub.db maja --json
    """
    with hub_at(store) as hub:
        found = [{name: str(term) for name, term in row.items()} for row in hub.rows(id)]
        columns = (hub.subscription(id).pattern.answer or ("(yes)",)) if found else ()
    count = print_records(found, columns, options.chosen(format, json), options.prefixes_of(prefix))
    Problems().note(counted(count, "row"))


def events(
    store: StoreUrl,
    id: SubscriptionId,
    after: Annotated[int, typer.Option("--after", metavar="CURSOR", help="Only events with a greater cursor.")] = 0,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="So many at most.")] = None,
    contents: Annotated[bool, typer.Option("--contents", help="Add the content before and after (JSON only).")] = False,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Print the events of a subscription, in order.

    Who remembers the last cursor and asks again with --after misses nothing.

    [bold]Examples[/bold]

    \b
      triplewire events hub.db maja
      triplewire events hub.db maja --after 41 --json
    """
    with hub_at(store) as hub:
        told = _events(hub, id, after, limit, contents)
        columns = ("cursor", "kind", "row", "batch")
        count = print_records(told, columns, options.chosen(format, json), options.prefixes_of(prefix))
    Problems().note(counted(count, "event"))


def _events(hub: Hub, id: str, after: int, limit: int | None, contents: bool) -> Iterator[dict[str, Any]]:
    """Page by page, so that a long log takes no memory."""
    left = limit
    while left is None or left > 0:
        page = hub.events(id, after=after, limit=_PAGE if left is None else min(left, _PAGE))
        if not page:
            return
        yield from (event.as_dict(contents=contents) for event in page)
        after, left = page[-1].cursor, None if left is None else left - len(page)
