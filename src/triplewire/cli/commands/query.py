"""`triplewire query`: SPARQL over the current metadata of a hub."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.sources import file_of, text_of
from triplewire.cli.terminal import print_json, print_text


def run(
    store: HubUrl,
    source: Annotated[str, typer.Argument(metavar="SPARQL|FILE", help="A query, or a file with one.")],
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Ask the current metadata: SELECT, ASK, CONSTRUCT or DESCRIBE.

    Each document is a named graph; without GRAPH, all of them count. Answers of
    CONSTRUCT and DESCRIBE are printed as N-Triples.

    [bold]Examples[/bold]

    \b
      triplewire query hub.db 'SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }'
      triplewire query hub.db report.rq --json
    """
    from pyoxigraph import QueryBoolean, QuerySolutions

    path = file_of(source)
    text = source if path is None else text_of(path)
    known = options.prefixes_of(prefix)
    with hub_at(store) as hub:
        found = hub.query(text, prefixes=known)
        if isinstance(found, QuerySolutions):
            names = [variable.value for variable in found.variables]
            rows = ({name: str(each[name]) for name in names if each[name] is not None} for each in found)
            print_records(rows, names, options.chosen(format, json), known)
        elif isinstance(found, QueryBoolean):
            print_json({"answer": bool(found)}) if json else print_text("yes" if found else "no")
        else:
            for triple in found:
                print_text(f"{triple} .")
