"""The options that several commands share, so that they are spelled and explained the same way everywhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from triplewire.cli.problems import usage
from triplewire.cli.subscriptions import parse_prefixes


class Format(StrEnum):
    """How answers are printed."""

    table = "table"
    jsonl = "jsonl"


Subscriptions = Annotated[
    list[str],
    typer.Option(
        "--subscriptions",
        "-s",
        metavar="PATH",
        help="A file or folder of subscriptions (.rq .sparql .rules .gql .qel .cq .xpath; .jsonl: many). Repeatable.",
    ),
]
Prefixes = Annotated[
    list[str],
    typer.Option("--prefix", "-p", metavar="NAME=IRI", help="A prefix that subscriptions may use. Repeatable."),
]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option("--taxonomy", "-t", metavar="FILE", help="RDFS that says which class is below which, for is-a."),
]
OutputFormat = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="How to print; a table on a terminal, JSON lines otherwise."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines: the same as --format jsonl.")]


class ScopeOption(StrEnum):
    """Where the triples of one answer come from."""

    document = "document"
    graph = "graph"


class StartOption(StrEnum):
    """From when on documents count for a subscription."""

    now = "now"
    ever = "ever"


class BackfillOption(StrEnum):
    """When what answers already is looked for."""

    auto = "auto"
    now = "now"
    later = "later"


Scope = Annotated[
    ScopeOption,
    typer.Option("--scope", help="Must all triples of an answer come from one document, or from any of the graph?"),
]
Start = Annotated[
    StartOption,
    typer.Option("--start", help="Count only what is published from now on, or what was there before as well?"),
]
Backfill = Annotated[
    BackfillOption,
    typer.Option(
        "--backfill",
        help="With --start ever: look for what answers already now, or let triplewire run do it later? "
        "auto: later, if the store is large and a stream runs.",
    ),
]
Language = Annotated[
    str | None, typer.Option("--language", "-l", help="The text's language; a file's suffix says it already.")
]


def chosen(format: Format | None, json: bool = False) -> Format:
    """The format that was asked for, or the one that fits where the output goes."""
    if json:
        return Format.jsonl
    return format or (Format.table if sys.stdout.isatty() else Format.jsonl)


def prefixes_of(options: list[str]) -> Mapping[str, str]:
    """The prefixes of the options; ends the command if one is malformed."""
    try:
        return parse_prefixes(options)
    except ValueError as error:
        usage(str(error))
