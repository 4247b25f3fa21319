"""`triplewire compile`: what a subscription's text means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from triplewire.cli import options
from triplewire.cli.problems import SOME_BAD, Problems
from triplewire.cli.sources import meant
from triplewire.cli.subscriptions import compile_one
from triplewire.cli.terminal import print_text
from triplewire.cli.terms import short
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Pattern


Form = Literal["text", "json"]


def run(
    source: Annotated[str, typer.Argument(metavar="TEXT|FILE", help="A subscription's text, or a file with one.")],
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="The text's language; a file's suffix says it already.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="LANGUAGE", help="Write it in another language.")] = None,
    prefix: options.Prefixes = [],
    format: Annotated[Form, typer.Option("--format", "-f", help="How to print the pattern.")] = "text",
) -> None:
    """Compile a subscription, and print the pattern that it means.

    Equivalent subscriptions give the same pattern, whatever language they were written in.

    [bold]Examples[/bold]

    \b
      triplewire compile maja.rq
      triplewire compile maja.rq --to gql
      triplewire compile -l conjunctive '?x : (?x, topic, "P2P")' --format json
      triplewire compile -l sparql 'SELECT ?d { ?d a dcat:Dataset }' -p dcat=http://www.w3.org/ns/dcat#
    """
    subscription = meant(source, language, options.prefixes_of(prefix))
    known = subscription.prefixes
    try:
        pattern = compile_one(subscription)
        print_text(_rendered(pattern, to, known) if to else _printed(pattern, format, known))
    except TriplewireError as error:
        Problems().report(subscription.source, error)
        raise typer.Exit(SOME_BAD) from None


def _printed(pattern: Pattern, form: Form, prefixes: Mapping[str, str]) -> str:
    from triplewire.algebra.outline import outline, plain_pattern

    if form == "json":
        return json.dumps(plain_pattern(pattern), ensure_ascii=False)
    return short(outline(pattern), prefixes)


def _rendered(pattern: Pattern, language: str, prefixes: Mapping[str, str]) -> str:
    from triplewire import render

    return render(pattern, language=language, prefixes=prefixes).rstrip()
