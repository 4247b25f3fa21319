"""`triplewire why` and `triplewire why-not`: reasons for answers, and for their absence."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options
from triplewire.cli.commands.answers import SubscriptionId
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_insight
from triplewire.cli.problems import usage, usage_for
from triplewire.cli.terminal import print_text

if TYPE_CHECKING:
    from triplewire.model import Term


def why(
    store: HubUrl,
    id: SubscriptionId,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=TERM", help="The row: an IRI, or a term as in N-Triples. All rows, if none."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="So many rows at most, where none is named.")] = 10,
    prefix: options.Prefixes = [],
    json: options.AsJson = False,
) -> None:
    """Say why a row answers a subscription: its triples, the documents that state them, the conditions.

    [bold]Examples[/bold]

    \b
      triplewire why hub.db maja
      triplewire why hub.db maja d=http://example.org/parking 'n="Parking"'
    """
    row = dict(_value(text) for text in values or ())
    known = options.prefixes_of(prefix)
    with hub_at(store) as hub:
        asked = [row] if row else islice(hub.each_row(id), limit)
        for each in asked:
            print_insight(hub.why(id, each), known, json)
            if not json:
                print_text("")


def why_not(
    store: HubUrl,
    id: SubscriptionId,
    resource: Annotated[str, typer.Argument(metavar="IRI", help="The resource that is missing.")],
    prefix: options.Prefixes = [],
    json: options.AsJson = False,
) -> None:
    """Say why a resource does not answer a subscription: what fails, and the values that were seen.

    [bold]Example[/bold]

    \b
      triplewire why-not hub.db maja http://example.org/parking
    """
    known = options.prefixes_of(prefix)
    with hub_at(store) as hub:
        told = hub.why_not(id, term_of(resource))
    print_insight(told, known, json)


def _value(text: str) -> tuple[str, Term]:
    name, equals, term = text.partition("=")
    if not (name and equals and term):
        usage(f"{text}: write NAME=TERM, such as d=http://example.org/parking")
    return name.removeprefix("?"), term_of(term)


def term_of(text: str) -> Term:
    """A term as a person types it: an IRI without brackets, or N-Triples; ends the command if it is neither."""
    from triplewire.model import parse_term

    with usage_for(ValueError, before=f"{text} is no term: ", after="; write an IRI, or a term as in N-Triples"):
        return parse_term(text if text.startswith(("<", '"', "_:")) else f"<{text}>")
