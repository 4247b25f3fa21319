"""`triplewire demo`: the story that shows what this is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triplewire.cli.problems import usage
from triplewire.errors import TriplewireError


def run(
    files: Annotated[
        Path | None,
        typer.Option("--files", metavar="FOLDER", help="Write the story's files into a new folder instead."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the story's hub instead, to play with, until Ctrl-C.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="With --serve: where; 8080 or a free one, if not said."),
    ] = None,
) -> None:
    """A short story on an open-data catalogue: publish, match, explain; a hub: change, withdraw, ask why; a stream.

    [bold]Examples[/bold]

    \b
      triplewire demo
      triplewire demo --files play
      triplewire demo --serve
    """
    if serve:
        _serve(port)
    elif files is None:
        from triplewire.demo.story import tell

        tell()
    else:
        _copy(files)


def _copy(files: Path) -> None:
    from triplewire.demo.files import copy_to

    try:
        copy_to(files)
    except FileExistsError:
        usage(f"{files} exists already; name a folder that does not")
    typer.echo(
        f"Written to {files}. Try: triplewire match {files}/catalogue -s {files}/subscriptions -t {files}/themes.ttl"
    )


def _serve(port: int | None) -> None:
    from triplewire.demo import playground

    try:
        playground.serve(typer.echo, port=port)
    except ImportError as error:
        usage(f"a service needs more packages: pip install 'triplewire[hub]' ({error})")
    except TriplewireError as error:
        usage(str(error))
