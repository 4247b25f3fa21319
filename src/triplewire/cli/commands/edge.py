"""`triplewire edge`: a store that keeps what rules register at a hub elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options, subscriptions
from triplewire.cli.hubs import StoreUrl, note_new, url_of
from triplewire.cli.listing import print_records
from triplewire.cli.problems import SOME_BAD, Problems, counted, needing, usage_for
from triplewire.cli.signals import ended_by
from triplewire.cli.terminal import print_text
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.edge import Edge, EdgeStatus, Synced

app = options.group("Keep at this store what rules register at a hub elsewhere.")

Of = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="URL",
        help="The address of the hub, which is remembered; TRIPLEWIRE_KEY names the file with the private key of the "
        "edge's account, or TRIPLEWIRE_TOKEN is its token.",
    ),
]


@app.command()
def follow(
    store: StoreUrl,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="RULE", help="Files or folders of rules, in any of the languages."),
    ],
    of: Of = None,
    prefix: options.Prefixes = [],
) -> None:
    """Follow rules: what they register at the hub is kept here after the next sync. Prints their ids.

    [bold]Example[/bold]

    \b
      triplewire edge follow edge.db berths.rules --of https://hub.example
    """
    problems = Problems()
    found = subscriptions.load(sources, options.prefixes_of(prefix), problems)
    with _edge(store, of, create=True) as edge:
        for each in subscriptions.in_order_of_use(found):
            try:
                rule = edge.follow(each.query["text"], language=each.query["language"], id=each.id or None)
            except TriplewireError as error:
                problems.report(each.source, error)
            else:
                print_text(rule.id)
    raise typer.Exit(problems.exit_code)


@app.command()
def unfollow(
    store: StoreUrl,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="The ids of rules.")],
) -> None:
    """Let go of rules, and of what no other rule keeps.

    [bold]Example[/bold]

    \b
      triplewire edge unfollow edge.db berths
    """
    with _edge(store) as edge:
        for id in ids:
            edge.unfollow(id)


@app.command()
def sync(
    store: StoreUrl,
    of: Of = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare digests of what is held for each rule, and repair what differs.")
    ] = False,
) -> None:
    """Bring what is kept up to date with the hub, once.

    [bold]Example[/bold]

    \b
      triplewire edge sync edge.db
    """
    problems = Problems()
    with _edge(store, of) as edge:
        done = edge.sync(verify=verify)
    problems.note(_told(done))
    for rule, reason in done.refused.items():
        problems.report(rule, reason)
    raise typer.Exit(problems.exit_code)


@app.command()
def run(store: StoreUrl, of: Of = None) -> None:
    """Follow the hub until it is stopped (Ctrl-C); while the hub cannot be reached, what is kept is answered from.

    [bold]Example[/bold]

    \b
      triplewire edge run edge.db --of https://hub.example
    """
    problems = Problems()
    with _edge(store, of) as edge:
        problems.note(f"following {edge.status().hub}; stop it with Ctrl-C")
        with ended_by(lambda *_: edge.stop()):
            edge.run()
        problems.note(f"stopped; what is kept is of {edge.as_of}")


@app.command()
def status(store: StoreUrl, format: options.OutputFormat = None, json: options.AsJson = False) -> None:
    """Say what an edge follows, how old what it keeps is, and what the link to its hub does.

    [bold]Example[/bold]

    \b
      triplewire edge status edge.db
    """
    with _edge(store) as edge:
        known = edge.status()
    columns = ("id", "state", "resources", "language", "text", "reason")
    print_records(map(asdict, known.rules), columns, options.chosen(format, json), {})
    Problems().note(_summary(known))


@app.command()
def cause(
    store: StoreUrl, iri: Annotated[str, typer.Argument(metavar="RESOURCE", help="The IRI of a resource.")]
) -> None:
    """Say why something is known of a resource here, or why not.

    [bold]Example[/bold]

    \b
      triplewire edge cause edge.db http://data.example/berths/7
    """
    with _edge(store) as edge:
        print_text(str(edge.cause(iri)))


@app.command()
def identity(store: StoreUrl) -> None:
    """Print the public key of an edge, for an account at its hub; one that has the key of its account needs none.

    [bold]Example[/bold]

    \b
      triplewire edge identity edge.db
    """
    from triplewire.network.channels.identities import kept_identity

    with _edge(store) as edge:
        print_text(kept_identity(edge.store, "edge").public_key)


@app.command()
def trust(
    store: StoreUrl, key: Annotated[str, typer.Argument(metavar="KEY", help="The public key of the hub.")]
) -> None:
    """Say which public key the hub of an edge has, before it is first dialled, or after it was set up anew.

    The hub's own command for it is `triplewire network identity`.

    [bold]Example[/bold]

    \b
      triplewire edge trust edge.db 5c0e…
    """
    with _edge(store, hub_key=key) as edge:
        Problems().note(f"{edge.status().hub} must have this key from now on")


@contextmanager
def _edge(store: str, of: str | None = None, *, create: bool = False, hub_key: str | None = None) -> Iterator[Edge]:
    """The edge on a store; what fails is reported, and ends the command."""
    url = url_of(store)
    if create:
        note_new(store)
    with needing("to dial a hub needs more packages: pip install 'triplewire[client]'"):
        import cryptography  # noqa: F401  # what it needs
        import websockets  # noqa: F401  # what it needs
    from triplewire.edge import Edge

    token, account, key = (os.environ.get(f"TRIPLEWIRE_{name}") or None for name in ("TOKEN", "ACCOUNT", "KEY"))
    with usage_for(TriplewireError):
        opened = Edge(url, hub=of, token=token, account=account, key=key, hub_key=hub_key, durable=True)
    try:
        with opened as edge:
            yield edge
    except TriplewireError as error:
        Problems().report(store, error)
        raise typer.Exit(SOME_BAD) from None


def _told(done: Synced) -> str:
    gone = f"{len(done.moved_out)} moved out, {len(done.deleted)} deleted"
    why = f"; everything was compared, because {done.resync}: {done.repaired} differed" if done.resync else ""
    return f"{counted(done.described, 'resource')} told, {gone}{why}; as of {done.as_of}"


def _summary(known: EdgeStatus) -> str:
    link = f"; the hub is away: {known.problem}" if known.problem else ""
    kept = f"{counted(known.cached, 'cached document')}, {counted(known.private, 'private one')}"
    return f"{known.name} of {known.hub}: {kept}; as of {known.as_of}{link}"
