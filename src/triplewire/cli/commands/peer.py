"""`triplewire peer`: a peer of a ring behind HTTP."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from triplewire.cli.commands.serve import settings_of
from triplewire.cli.hubs import store_class
from triplewire.cli.problems import Problems, needing, usage, usage_for
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.hub import Settings
    from triplewire.network.ring import RingSettings


def run(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORE]",
            help="A file or a url, of this peer alone; triplewire.db in this folder, if none. Made, if not there.",
        ),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option("--join", metavar="URL", help="Any peer of the ring that this one comes to; else, begin a ring."),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Where to listen; 127.0.0.1, if not said.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="8080, if not said; 0 for a free one.")
    ] = None,
    algorithm: Annotated[
        Literal["sqc", "mqc"],
        typer.Option("--algorithm", help="mqc shares the work out among more peers; sqc takes fewer messages."),
    ] = "mqc",
    scope: Annotated[
        Literal["graph", "document"],
        typer.Option("--scope", help="May the triples of an answer be of several documents, or must they be of one?"),
    ] = "graph",
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, max=8, help="How many peers have what is kept under a key.")
    ] = 3,
    name: Annotated[
        str, typer.Option("--name", help="How the name of a new peer begins; the fingerprint of its key follows.")
    ] = "peer",
    patience: Annotated[
        float, typer.Option("--patience", min=1.0, help="Seconds after which others stand in for a silent peer.")
    ] = 10.0,
    identity: Annotated[
        bool | None,
        typer.Option(
            "--identity/--no-identity",
            help="Must clients have a token, and other peers an account? Always elsewhere than on this machine.",
        ),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option("--certificate", metavar="FILE", help="A certificate (PEM): serve https.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="FILE", help="Its private key (PEM).")] = None,
) -> None:
    """Be a peer of a ring, over HTTP, until it is told to stop.

    A ring answers standing queries over what all its peers publish, and none of them owns it
    or has everything. Clients use a peer as they use a hub: publish, retract, subscribe and
    follow events, with scope graph. What a ring cannot do, a peer refuses, and says what to do.

    All peers of a ring have the same algorithm, scope and replicas. A peer that is stopped
    (Ctrl-C) says goodbye, and the others stand in for it; started again with its store, it is
    the same peer, and its clients go on where they were. One that is killed is stood in for
    after --patience, and loses nothing that it has acknowledged. `triplewire network leave`
    takes back what its clients asked and published, and lets it go for good.

    [bold]Examples[/bold]

    \b
      triplewire peer one.db --port 8081
      triplewire peer two.db --port 8082 --join http://127.0.0.1:8081
      triplewire peer three.db --port 8083 --join http://127.0.0.1:8082
      triplewire subscribe http://127.0.0.1:8081 play/subscriptions/maja.rq --scope graph
      triplewire publish http://127.0.0.1:8083 play/catalogue/bathing-water.ttl
      triplewire events http://127.0.0.1:8081 maja
      triplewire network status http://127.0.0.1:8082
      triplewire network leave http://127.0.0.1:8083
    """
    store_class()
    with needing("a peer needs more packages: pip install 'triplewire[hub]'"):
        import triplewire.hub.server  # noqa: F401  # all that it needs
    from triplewire.network.ring import RingSettings

    given: dict[str, Any] = {"store": store, "host": host, "port": port, "identity": identity, "network_name": name}
    given |= {"certificate": certificate, "certificate_key": key, "network_patience": patience}
    with usage_for(TriplewireError):
        settings = replace(settings_of(given, None), join=join, network=None, deliver=False, pipeline="none")
        serve(settings, RingSettings(algorithm, scope=scope, replicas=replicas))


def serve(settings: Settings, ring: RingSettings) -> None:
    """The peer and its interface, until it is told to stop."""
    from triplewire.hub import Server
    from triplewire.hub.ring import create_peer_app
    from triplewire.hub.server import url_of

    note = Problems().note
    name = _expected(settings, ring)
    server = Server(
        settings,
        when_started=lambda: note(_where(name, url_of(socket, settings), settings)),
        application=partial(create_peer_app, ring=ring),
    )
    socket = server.bound()
    with socket:
        server.run([socket])
    if not server.started:
        usage("the peer could not start; the lines above say why")
    note("stopped; everything that was acknowledged is kept")


def _expected(settings: Settings, ring: RingSettings) -> str:
    """The name of the store's peer; NetworkError if it is not one of such a ring, or runs already."""
    from triplewire.network.channels.dialling import address_of
    from triplewire.network.live.ring import PeerMemory

    if settings.join is not None:
        address_of(settings.join)
    with store_class().open(settings.store) as store:
        memory = PeerMemory(store, ring, label=settings.network_name)
        memory.close()
        return memory.identity.name


def _where(name: str, address: str, settings: Settings) -> str:
    begins = f"comes to the ring of {settings.join}" if settings.join else "begins a ring, or comes back to its own"
    who = "clients need a token" if settings.asks_who else "everybody on this machine may use it"
    return f"{name} on {address} {begins} ({who}); its API: {address}/v1/openapi.json; stop it with Ctrl-C"
