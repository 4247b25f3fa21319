"""`triplewire serve`: a hub behind HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli.hubs import store_class, url_of
from triplewire.cli.problems import Problems, usage
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.hub import Settings


def run(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORE]", envvar="TRIPLEWIRE_STORE", help="A file or a url; triplewire.db in this folder, if none."
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", envvar="TRIPLEWIRE_HOST", help="Where to listen; 127.0.0.1, if not said.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", envvar="TRIPLEWIRE_PORT", min=0, max=65535, help="8080, if not said; 0 for a free one."),
    ] = None,
    identity: Annotated[
        bool | None,
        typer.Option(
            "--identity/--no-identity", help="Must clients have a token? Only elsewhere than on this machine."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", envvar="TRIPLEWIRE_CONFIG", help="Settings, in TOML."),
    ] = None,
) -> None:
    """Serve a hub over HTTP until it is told to stop.

    Without anything it keeps what it hears in a file in this folder, and listens to
    programs on this machine only. To listen to others, make a token first.

    [bold]Examples[/bold]

    \b
      triplewire serve
      triplewire serve hub.db --port 9000
      triplewire token create hub.db me --role admin
      triplewire serve hub.db --host 0.0.0.0
      triplewire serve --config hub.toml
    """
    store_class()
    try:
        from triplewire.hub import Server
        from triplewire.hub.server import url_of as address_of
    except ImportError as error:
        usage(f"a service needs more packages: pip install 'triplewire[hub]' ({error})")
    note = Problems().note
    try:
        settings = _settings(config, store, host, port, identity)
        store_class().open(settings.store).close()
        server = Server(settings, when_started=lambda: note(_where(address_of(socket), settings)))
        socket = server.bound()
    except TriplewireError as error:
        usage(str(error))
    with socket:
        server.run([socket])
    if not server.started:
        usage("the service could not start; the lines above say why")
    note("stopped; everything that was acknowledged is in the store")


def _settings(
    config: Path | None, store: str | None, host: str | None, port: int | None, identity: bool | None
) -> Settings:
    """Those of the file, and over them what was said on the command line."""
    from triplewire.hub import Settings

    read = Settings() if config is None else Settings.read(config)
    return replace(
        read,
        store=url_of(read.store if store is None else store),
        host=read.host if host is None else host,
        port=read.port if port is None else port,
        identity=read.identity if identity is None else identity,
    )


def _where(address: str, settings: Settings) -> str:
    from triplewire.hub.identity import is_loopback

    is_open = is_loopback(settings.host) and not settings.identity
    who = "anybody on this machine may use it" if is_open else "clients need a token: triplewire token create"
    return f"hub on {address} ({who}); open it in a browser; its API: {address}/v1/openapi.json; stop it with Ctrl-C"
