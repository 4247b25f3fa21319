"""The options that several commands share, so that they are spelled and explained the same way everywhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from triplewire.cli.problems import usage

Format = Literal["table", "jsonl"]
ScopeName = Literal["document", "graph"]
NetworkReachName = Literal["hub", "cluster", "super-cluster", "super-super-cluster", "network"]
StartName = Literal["now", "ever"]

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

Scope = Annotated[
    ScopeName,
    typer.Option("--scope", help="Must all triples of an answer come from one document, or from any of the graph?"),
]
Start = Annotated[
    StartName,
    typer.Option("--start", help="Count only what is published from now on, or what was there before as well?"),
]
NetworkReach = Annotated[
    NetworkReachName,
    typer.Option("--reach", help="Count what is published at this hub, in a unit around it, or in all its network?"),
]
DocumentReach = Annotated[
    NetworkReachName | None,
    typer.Option("--reach", help="How far do they go in the network of the hub? Not said: as far as before, or all."),
]
Backfill = Annotated[
    Literal["auto", "now", "later"],
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
        return "jsonl"
    return format or ("table" if sys.stdout.isatty() else "jsonl")


def prefixes_of(given: list[str]) -> Mapping[str, str]:
    """The prefixes of options such as `dcat=http://www.w3.org/ns/dcat#`; ends the command if one is malformed."""
    pairs = [option.partition("=") for option in given]
    for name, equals, namespace in pairs:
        if not (equals and namespace):
            usage(f"--prefix {name}: write prefix=namespace, such as dcat=http://www.w3.org/ns/dcat#")
    return {name: namespace for name, _, namespace in pairs}


def group(help: str) -> typer.Typer:
    """A command that has commands of its own."""
    return typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        help=help,
    )
