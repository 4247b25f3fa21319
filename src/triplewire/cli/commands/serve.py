"""`triplewire serve`: a hub behind HTTP, and what belongs to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from triplewire.cli.hubs import store_class, url_of
from triplewire.cli.problems import Problems, needing, usage, usage_for
from triplewire.cli.signals import ended_by
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.hub import Settings


class Role(StrEnum):
    """A part of the service that may be a process of its own; no Literal, of which Typer takes no list."""

    api = "api"
    pipeline = "pipeline"
    deliver = "deliver"


def run(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORE]",
            help="A file or a url; triplewire.db in this folder, if none. Made, if it is not there. "
            "Instead of it, --hub STORE (or --store STORE) may stand anywhere.",
        ),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Where to listen; 127.0.0.1, if not said.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="8080, if not said; 0 for a free one.")
    ] = None,
    identity: Annotated[
        bool | None,
        typer.Option(
            "--identity/--no-identity", help="Must clients have a token? Only elsewhere than on this machine."
        ),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option("--certificate", metavar="FILE", help="A certificate (PEM): serve https.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="FILE", help="Its private key (PEM).")] = None,
    role: Annotated[
        list[Role], typer.Option("--role", help="Only this part, in this process. Repeatable; all, if not said.")
    ] = [],
    pipeline: Annotated[
        Literal["spark", "engine", "none"] | None,
        typer.Option("--pipeline", help="Who applies changes: a process with Spark, this process, or another one."),
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", help="Where Spark runs: local[2], spark://HOST:PORT, …")
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="PATH", help="Where Spark notes how far it is.")
    ] = None,
    reach: Annotated[
        str | None,
        typer.Option(
            "--reach",
            metavar="NETWORKS",
            help="Networks besides the public internet that events may be sent to: 127.0.0.0/8,fd00::/8; private: all.",
        ),
    ] = None,
    edge_of: Annotated[
        str | None,
        typer.Option(
            "--edge-of",
            metavar="URL",
            help="Be an edge of the hub at this address: keep what the rules of `triplewire edge` register there. "
            "TRIPLEWIRE_EDGE_KEY names the file with the private key of its account, or TRIPLEWIRE_EDGE_TOKEN is its "
            "token.",
        ),
    ] = None,
    backbone: Annotated[
        list[str],
        typer.Option(
            "--backbone",
            metavar="URL",
            help="Hold the same documents as the hub at this address; name all other hubs of the backbone. "
            "The token of an admin of them is in TRIPLEWIRE_BACKBONE_TOKEN.",
        ),
    ] = [],
    network: Annotated[
        Literal["hypercube", "hierarchy"] | None,
        typer.Option("--network", help="Be a hub of a network: subscriptions may reach what its other hubs publish."),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option("--join", metavar="URL", help="A hub of the network, which takes this one in; else, begin one."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="UNIT/UNIT", help="In a hierarchy, the units around it, the widest first."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", envvar="TRIPLEWIRE_CONFIG", help="Settings, in TOML."),
    ] = None,
) -> None:
    """Serve a hub over HTTP until it is told to stop.

    Without anything it keeps what it hears in a file in this folder, and listens
    to programs on this machine only. To listen to others, make a token first.
    Every setting may be in a TOML file, or in a variable such as TRIPLEWIRE_PORT.

    [bold]Examples[/bold]

    \b
      triplewire serve
      triplewire serve hub.db --port 9000
      triplewire token create hub.db me --role admin
      triplewire serve hub.db --host 0.0.0.0 --certificate hub.pem --key hub.key
      triplewire serve hub.db --reach 127.0.0.0/8
      triplewire serve --config hub.toml
      triplewire serve hub.db --role pipeline
      triplewire serve hub.db --role deliver
      triplewire serve edge.db --edge-of https://hub.example --port 8081
      triplewire serve town.db --backbone https://harbour.example --backbone https://hill.example
      triplewire serve first.db --network hypercube
      triplewire serve second.db --network hypercube --join http://127.0.0.1:8080 --port 8081
      triplewire serve third.db --network hierarchy --cluster lindhaven/harbour
    """
    store_class()
    with needing("a service needs more packages: pip install 'triplewire[hub]'"):
        import triplewire.hub.server  # noqa: F401  # all that it needs
    given = {
        "store": store,
        "host": host,
        "port": port,
        "identity": identity,
        "certificate": certificate,
        "certificate_key": key,
        "pipeline": pipeline,
        "master": master,
        "checkpoint": checkpoint,
        "reach": reach,
        "edge_of": edge_of,
        "backbone": ",".join(backbone) or None,
        "network": network,
        "join": join,
        "cluster": cluster,
    }
    roles = frozenset(role or Role)
    with usage_for(TriplewireError):
        settings = settings_of(given, config)
        if Role.api in roles:
            serve(settings, roles)
        else:
            work(settings, roles)


def settings_of(given: dict[str, Any], config: Path | None) -> Settings:
    """Those of the file, over them those of the environment, over them what was said on the command line."""
    from triplewire.hub import Settings

    read = {} if config is None else Settings.table_in(config)
    said = {name: value for name, value in given.items() if value is not None}
    merged = {"pipeline": "spark"} | read | Settings.of_environment(os.environ) | said
    merged["store"] = url_of(merged.get("store", Settings().store))
    return Settings.of(merged, "settings" if config is None else str(config))


def serve(settings: Settings, roles: Collection[Role]) -> None:
    """The interface, with a pipeline and a deliverer unless these are elsewhere; until it is told to stop."""
    from triplewire.hub import Server
    from triplewire.hub.server import url_of as address_of

    note = Problems().note
    if Role.pipeline not in roles:
        settings = replace(settings, pipeline="none")
    if Role.deliver not in roles:
        settings = replace(settings, deliver=False)
    _expect_whole(settings.store)
    server = Server(settings, when_started=lambda: note(_where(address_of(socket, settings), settings)))
    socket = server.bound()
    with socket:
        server.run([socket])
    if not server.started:
        usage("the service could not start; the lines above say why")
    note("stopped; everything that was acknowledged is kept")


def _expect_whole(url: str) -> None:
    """The store is made, if there is none; DamagedJournal says what is gone of what was acknowledged."""
    from triplewire.intake.pairs import refuse_damage
    from triplewire.network.live.ring.memory import is_peer

    with store_class().open(url) as store:
        refuse_damage(store)
        with store.reading() as reader:
            if is_peer(reader):
                usage(f"{url}: this store is that of a peer of a ring; run it with `triplewire peer`")


def work(settings: Settings, roles: Collection[Role]) -> None:
    """Parts without the interface, until they are told to stop."""
    note = Problems().note
    over = Event()
    with ended_by(lambda *_: over.set()), ExitStack() as stack:
        for role in roles:
            stack.enter_context(_part(role, settings, note))
        note(f"{' and '.join(roles)} of {settings.store}; stop it with Ctrl-C")
        over.wait()
    note("stopped; what was not done waits for the next one")


def _part(role: Role, settings: Settings, tell: Callable[[str], None]) -> AbstractContextManager[object]:
    """What a role does in a process without the interface."""
    if role is Role.pipeline:
        from triplewire.hub.pipeline.process import Pipeline

        return closing(Pipeline(settings, tell=tell))
    from triplewire.hub.delivery import DeliveryRole

    return closing(DeliveryRole(settings))


def _where(address: str, settings: Settings) -> str:
    asks_who = "clients need a token: triplewire token create"
    who = asks_who if settings.asks_who else "everybody on this machine may use it"
    return f"hub on {address} ({who}); open it in a browser; its API: {address}/v1/openapi.json; stop it with Ctrl-C"
