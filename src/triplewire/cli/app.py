"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli.catalogue import CommandCatalogue
from triplewire.cli.notices import announce_compiling

app = typer.Typer(
    cls=CommandCatalogue,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"triplewire {version('triplewire')}")
        raise typer.Exit


@app.callback()
def triplewire(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Standing queries for metadata: which subscription wants which document, and why.

    [bold]Start here[/bold]

    \b
      triplewire demo                                      a short story
      triplewire demo --files play                         its files, to play with
      triplewire match play/catalogue -s play/subscriptions -t play/themes.ttl
      triplewire subscribe hub.db play/subscriptions       a hub that remembers
      triplewire publish hub.db play/catalogue
      triplewire serve hub.db                              the same hub, over HTTP

    Exit codes: 0 all fine, 1 some inputs were bad (the others were served), 2 called wrongly.
    """
    announce_compiling()
