"""`triplewire demo`: the story that shows what this is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triplewire.cli.problems import needing, usage, usage_for
from triplewire.cli.terminal import print_text
from triplewire.errors import TriplewireError


def run(
    chapter: Annotated[
        str,
        typer.Option("--chapter", metavar="NAME", help="story, reasons, latecomer, press, harbour, spark; or all."),
    ] = "story",
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
    """A story on an open-data catalogue: publish, subscribe, change, withdraw, ask why. It takes half a minute.

    The main story is told unless another chapter is named; reasons: why, why not, mistakes; latecomer: preview, a
    taxonomy that changes, a restart; press: feeds and XML; harbour: an edge; spark: a stream.

    [bold]Examples[/bold]

    \b
      triplewire demo
      triplewire demo --chapter spark
      triplewire demo --files play
      triplewire demo --serve
    """
    if serve:
        _serve(port)
    elif files is None:
        _tell(chapter)
    else:
        _copy(files)


def _tell(name: str) -> None:
    from triplewire.demo.chapters import CHAPTERS, tell

    chapters = [chapter for chapter in CHAPTERS if name in (chapter.name, "all")]
    if not chapters:
        usage(f"there is no chapter {name!r}; there are {', '.join(chapter.name for chapter in CHAPTERS)}, and all")
    tell(chapters)


def _copy(files: Path) -> None:
    from triplewire.demo.files import copy_to

    try:
        copy_to(files)
    except FileExistsError:
        usage(f"{files} exists already; name a folder that does not")
    print_text(
        f"Written to {files}. Try: triplewire match {files}/catalogue -s {files}/subscriptions -t {files}/themes.ttl"
    )


def _serve(port: int | None) -> None:
    from triplewire.demo import playground

    with needing("a service needs more packages: pip install 'triplewire[hub]'"), usage_for(TriplewireError):
        playground.serve(typer.echo, port=port)
