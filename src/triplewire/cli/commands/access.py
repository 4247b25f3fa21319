"""`triplewire access`: who may read a document, and who may change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, counted, usage, usage_for

if TYPE_CHECKING:
    from triplewire import Access

Readers = Annotated[
    list[str], typer.Option("--reader", metavar="ACCOUNT", help="Who may read it, and nobody else; may be repeated.")
]
Writers = Annotated[
    list[str], typer.Option("--writer", metavar="ACCOUNT", help="Who may read it and change it; may be repeated.")
]


def access(
    store: HubUrl,
    uri: Annotated[str, typer.Argument(metavar="URI", help="The uri of the document.")],
    reader: Readers = [],
    writer: Writers = [],
    nobody: Annotated[bool, typer.Option("--nobody", help="A list without names: for admins alone.")] = False,
    everybody: Annotated[bool, typer.Option("--everybody", help="No list: for everybody again.")] = False,
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Say who may read a document and who may change it, or print who may.

    Accounts are named by their ids (see triplewire token list); at the address of a hub also by a name that only
    one account has. A list may be given with the document, too: triplewire publish --reader.

    [bold]Examples[/bold]

    \b
      triplewire access hub.db http://example.org/parking
      triplewire access hub.db http://example.org/parking --reader 3f9a0c12ab34 --writer 77ab01fe9c02
      triplewire access http://127.0.0.1:8080 http://example.org/parking --everybody
    """
    given = list_of(reader, writer, is_given=nobody)
    if everybody and given is not None:
        usage("--everybody takes the list away: leave --reader, --writer and --nobody out")
    with hub_at(store) as hub:
        if everybody or given is not None:
            events = hub.restrict(uri, given)
            Problems().note(f"{uri}: {given or 'for everybody'}; {counted(len(events), 'event')}")
            return
        found = hub.access(uri)
    if found is None:
        Problems().note(f"{uri} is for everybody")
        return
    records = [{"account": name, "may": "change"} for name in found.writers]
    records += [{"account": name, "may": "read"} for name in found.readers]
    print_records(records, ("account", "may"), options.chosen(format, json), {})


def list_of(readers: list[str], writers: list[str], *, is_given: bool = False) -> Access | None:
    """The access list that options name; None if they name none."""
    if not readers and not writers and not is_given:
        return None
    from triplewire import Access

    with usage_for(TypeError):
        return Access(readers, writers)
