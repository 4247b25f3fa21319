"""`triplewire preview`: what a subscription would get and cost."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_insight
from triplewire.cli.sources import meant


def run(
    store: HubUrl,
    source: Annotated[str, typer.Argument(metavar="TEXT|FILE", help="A subscription's text, or a file with one.")],
    language: options.Language = None,
    scope: options.Scope = "document",
    start: options.Start = "now",
    limit: Annotated[int, typer.Option("--limit", min=1, help="So many answers at most.")] = 100,
    prefix: options.Prefixes = [],
    json: options.AsJson = False,
) -> None:
    """Look ahead: the answers now, about how often it would have fired, what it costs, and who has it already.

    Nothing is registered.

    [bold]Examples[/bold]

    \b
      triplewire preview hub.db maja.rq --scope graph
      triplewire preview hub.db -l sparql 'SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }' --json
    """
    wanted = meant(source, language, options.prefixes_of(prefix))
    with hub_at(store) as hub:
        told = hub.preview(**wanted.query, scope=scope, start=start, limit=limit)
    print_insight(told, wanted.prefixes, json)
