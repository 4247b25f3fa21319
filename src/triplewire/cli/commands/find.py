"""`triplewire find`: documents that match a query now."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.sources import meant
from triplewire.cli.terminal import Screen


def run(
    store: HubUrl,
    source: Annotated[str, typer.Argument(metavar="TEXT|FILE", help="A query, or a file with one.")],
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="The text's language; a file's suffix says it already.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="Stop when there are so many.")] = 100,
    reach: options.NetworkReach = "hub",
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Look for documents that match a query now, the newest first; nothing is registered.

    With --reach, other hubs of a hierarchy are asked as well, the nearest first, until there
    are enough. Those that do not answer are named: what they have may be missing.

    [bold]Examples[/bold]

    \b
      triplewire find hub.db -l xpath '//softdrinks[@sort = "soda"]'
      triplewire find http://127.0.0.1:8080 maja.rq --reach network --limit 10
    """
    wanted = meant(source, language, options.prefixes_of(prefix))
    with hub_at(store) as hub:
        found = hub.find(wanted.text, language=wanted.language, limit=limit, prefixes=wanted.prefixes, reach=reach)
    rows = ({"document": each.uri, "hub": at} for each, at in zip(found, found.hubs, strict=True))
    print_records(rows, ["document", "hub"], options.chosen(format, json), wanted.prefixes)
    if found.silent:
        missing = f"not answered, so that something may be missing: {', '.join(found.silent)}"
        Screen(stderr=True).print(missing, markup=False, highlight=False, soft_wrap=True)
