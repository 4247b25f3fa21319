"""`triplewire subscribe`: queries that stand in a hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from triplewire.cli import options, subscriptions
from triplewire.cli.hubs import HubUrl, hub_at, is_address
from triplewire.cli.problems import Problems, counted, usage
from triplewire.cli.progress import tracked
from triplewire.cli.sources import meant
from triplewire.cli.terminal import print_text
from triplewire.errors import TriplewireError


def subscribe(
    store: HubUrl,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="PATH|TEXT", help="Files or folders of subscriptions; or one text, with --language."),
    ],
    id: Annotated[
        str | None, typer.Option("--id", help="The id of the one subscription; a file's name says it.")
    ] = None,
    language: options.Language = None,
    scope: options.Scope = "document",
    start: options.Start = "now",
    backfill: options.Backfill = "auto",
    owner: Annotated[str | None, typer.Option("--owner", help="The account that they belong to.")] = None,
    viewer: Annotated[
        str | None,
        typer.Option(
            "--viewer", metavar="ACCOUNT", help="Whose documents it sees; '' for those that are for everybody."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What people call the one subscription.")] = None,
    description: Annotated[str | None, typer.Option("--description", help="What it is for, in words.")] = None,
    reach: options.NetworkReach = "hub",
    prefix: options.Prefixes = [],
) -> None:
    """Register subscriptions in a hub, and print their ids.

    A file holds one subscription, named as the file is; a .jsonl file holds many. So may
    a feed (.rss .atom .rdf .xml): its items whose title is a language, such as GQL.
    With --start ever, what answers already is in the events first. In a large store that
    takes time: with --backfill later it is found by triplewire run, beside its stream, and
    the subscription hears nothing until then (see triplewire status). On a store it sees
    every document; with --viewer those that this account may read (see triplewire access).

    [bold]Examples[/bold]

    \b
      triplewire subscribe hub.db subscriptions/ --scope graph
      triplewire subscribe hub.db maja.rq --start ever --owner maja
      triplewire subscribe hub.db -l sparql 'SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }' --id datasets
    """
    if is_address(store) and backfill != "auto":
        usage("--backfill is decided by the hub that is served; name its store to decide it here")
    problems = Problems()
    found = _found(sources, id, language, options.prefixes_of(prefix), problems)
    if len(found) != 1 and (title or description):
        usage(f"--title and --description are of one subscription, and these are {len(found)}")
    count = 0
    with hub_at(store, create=True) as hub:
        for each in tracked(subscriptions.in_order_of_use(found), "subscribing", problems.console):
            try:
                made = hub.subscribe(
                    **each.query,
                    id=each.id or None,
                    scope=scope,
                    start=start,
                    owner=owner,
                    viewer=viewer,
                    backfill=backfill,
                    title=title,
                    description=description,
                    reach=reach,
                )
            except TriplewireError as error:
                problems.report(each.source, error)
            else:
                print_text(made.id)
                count += 1
    problems.note(f"{counted(count, 'subscription')} registered")
    raise typer.Exit(problems.exit_code)


def _found(
    sources: list[str], id: str | None, language: str | None, prefixes: Mapping[str, str], problems: Problems
) -> list[subscriptions.WrittenSubscription]:
    if language is None:
        found = subscriptions.load(sources, prefixes, problems)
    else:
        given = [meant(source, language, prefixes) for source in sources]
        found = [replace(each, id="") if each.source == each.language else each for each in given]
    if id is None:
        return found
    if len(found) != 1:
        usage(f"--id names one subscription, and these are {len(found)}")
    return [replace(found[0], id=id)]
