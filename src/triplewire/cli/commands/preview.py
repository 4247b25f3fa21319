"""`triplewire preview`: what a subscription would get and cost."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.sources import meant
from triplewire.cli.terminal import print_json, print_text
from triplewire.cli.terms import short


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
        told = hub.preview(
            wanted.text,
            language=wanted.language,
            scope=scope,
            start=start,
            limit=limit,
            prefixes=wanted.prefixes,
        )
    if json:
        print_json(told.as_dict())
    else:
        print_text(short(told, wanted.prefixes))
