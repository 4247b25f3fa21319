"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from triplewire.cli.commands import (
    access,
    answers,
    compile,
    deliver,
    demo,
    edit,
    explain,
    languages,
    lint,
    match,
    poll,
    preview,
    publish,
    query,
    reasons,
    run,
    serve,
    store,
    subscribe,
    token,
)
from triplewire.cli.hubs import OnHub

app = typer.Typer(
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


app.command(name="match")(match.run)
app.command(name="compile")(compile.run)
app.command(name="explain")(explain.run)
app.command(name="lint")(lint.run)
app.command(name="languages")(languages.run)
app.command(name="demo")(demo.run)
_HUB = "On a store: a hub that remembers"
app.command(name="publish", cls=OnHub, rich_help_panel=_HUB)(publish.publish)
app.command(name="retract", cls=OnHub, rich_help_panel=_HUB)(publish.retract)
app.command(name="access", cls=OnHub, rich_help_panel=_HUB)(access.access)
app.command(name="poll", rich_help_panel=_HUB)(poll.run)
app.command(name="subscribe", cls=OnHub, rich_help_panel=_HUB)(subscribe.subscribe)
app.command(name="unsubscribe", cls=OnHub, rich_help_panel=_HUB)(subscribe.unsubscribe)
app.command(name="subscriptions", cls=OnHub, rich_help_panel=_HUB)(edit.subscriptions)
app.command(name="edit", cls=OnHub, rich_help_panel=_HUB)(edit.edit)
app.command(name="pause", cls=OnHub, rich_help_panel=_HUB)(edit.pause)
app.command(name="resume", cls=OnHub, rich_help_panel=_HUB)(edit.resume)
app.command(name="duplicate", cls=OnHub, rich_help_panel=_HUB)(edit.duplicate)
app.command(name="rows", cls=OnHub, rich_help_panel=_HUB)(answers.rows)
app.command(name="events", cls=OnHub, rich_help_panel=_HUB)(answers.events)
app.command(name="why", cls=OnHub, rich_help_panel=_HUB)(reasons.why)
app.command(name="why-not", cls=OnHub, rich_help_panel=_HUB)(reasons.why_not)
app.command(name="preview", cls=OnHub, rich_help_panel=_HUB)(preview.run)
app.command(name="query", cls=OnHub, rich_help_panel=_HUB)(query.run)
app.command(name="run", rich_help_panel=_HUB)(run.run)
app.command(name="status", rich_help_panel=_HUB)(run.status)
app.command(name="rejected", rich_help_panel=_HUB)(run.rejected)
app.add_typer(store.app, name="store", rich_help_panel=_HUB)
_SERVICE = "As a service"
app.command(name="serve", rich_help_panel=_SERVICE)(serve.run)
app.add_typer(deliver.app, name="deliver", rich_help_panel=_SERVICE)
app.add_typer(token.app, name="token", rich_help_panel=_SERVICE)
