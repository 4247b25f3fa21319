"""`triplewire demo`: the story that shows what this is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    files: Annotated[
        Path | None,
        typer.Option("--files", metavar="FOLDER", help="Write the story's files into a new folder instead."),
    ] = None,
) -> None:
    """A short story on an open-data catalogue: publish, match, explain; a hub: change, withdraw, ask why; a stream.

    [bold]Examples[/bold]

    \b
      triplewire demo
      triplewire demo --files play
    """
    if files is None:
        from triplewire.demo.story import tell

        tell()
        return
    from triplewire.cli.problems import usage
    from triplewire.demo.files import copy_to

    try:
        copy_to(files)
    except FileExistsError:
        usage(f"{files} exists already; name a folder that does not")
    typer.echo(
        f"Written to {files}. Try: triplewire match {files}/catalogue -s {files}/subscriptions -t {files}/themes.ttl"
    )
