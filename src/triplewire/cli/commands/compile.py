"""`triplewire compile`: what a subscription's text means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options
from triplewire.cli.patterns import as_json, as_text
from triplewire.cli.problems import SOME_BAD, Problems, usage
from triplewire.cli.subscriptions import LANGUAGE_OF, Subscription, compile_one, load
from triplewire.cli.texts import read_text
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Pattern

_MOST_PATH_CHARACTERS = 255


class Form(StrEnum):
    """How a pattern is printed."""

    text = "text"
    json = "json"


def run(
    source: Annotated[str, typer.Argument(metavar="TEXT|FILE", help="A subscription's text, or a file with one.")],
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="The text's language; a file's suffix says it already.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="LANGUAGE", help="Write it in another language.")] = None,
    prefix: options.Prefixes = [],
    format: Annotated[Form, typer.Option("--format", "-f", help="How to print the pattern.")] = Form.text,
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
    subscription = _subscription(source, language, options.prefixes_of(prefix))
    known = subscription.prefixes
    try:
        pattern = compile_one(subscription)
        typer.echo(_rendered(pattern, to, known) if to else _printed(pattern, format, known))
    except TriplewireError as error:
        Problems().report(subscription.source, error)
        raise typer.Exit(SOME_BAD) from None


def _subscription(source: str, language: str | None, prefixes: Mapping[str, str]) -> Subscription:
    """What the argument means: a file if there is one of this name, otherwise the text itself."""
    path = Path(source) if len(source) <= _MOST_PATH_CHARACTERS and "\n" not in source else None
    if path is not None and path.is_file():
        return _from_file(path, language, prefixes)
    if path is not None and path.suffix in LANGUAGE_OF:
        usage(f"there is no file {source}")
    if language is None:
        usage(f"say which language the text is in: --language, one of {', '.join(dict.fromkeys(LANGUAGE_OF.values()))}")
    return Subscription("text", language, source, prefixes, language)


def _from_file(path: Path, language: str | None, prefixes: Mapping[str, str]) -> Subscription:
    if path.suffix not in LANGUAGE_OF:
        if language is None:
            usage(f"{path}: the name does not say which language this is; add --language")
        return Subscription(path.stem, language, _text(path), prefixes, str(path))
    problems = Problems()
    found = load([str(path)], prefixes, problems)
    if not found:
        raise typer.Exit(problems.exit_code)
    return replace(found[0], language=language or found[0].language)


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        Problems().report(str(path), error)
        raise typer.Exit(SOME_BAD) from None


def _printed(pattern: Pattern, form: Form, prefixes: Mapping[str, str]) -> str:
    return json.dumps(as_json(pattern), ensure_ascii=False) if form is Form.json else as_text(pattern, prefixes)


def _rendered(pattern: Pattern, language: str, prefixes: Mapping[str, str]) -> str:
    from triplewire import render

    return render(pattern, language=language, prefixes=prefixes).rstrip()
