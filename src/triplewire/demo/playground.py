"""The playground: the story's hub, served, for a person to play with until they have enough of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from triplewire import Hub
from triplewire.demo.press import EMIL, SOFIE
from triplewire.demo.subscribers import IDA, SUBSCRIBERS
from triplewire.demo.town import LISTENERS, live_through_the_story, read

if TYPE_CHECKING:
    from socket import socket as Socket

    from triplewire.hub import Server

Tell = Callable[[str], None]


def fill(hub: Hub) -> None:
    """Everybody of the story subscribes, and what it tells of happens: documents come, change and go."""
    for subscriber in SUBSCRIBERS:
        if subscriber not in LISTENERS:
            subscriber.subscribe(hub)
    hub.subscribe(SOFIE, id="sofie")
    hub.subscribe(EMIL, language="xpath", id="emil")
    live_through_the_story(hub)
    for name in ("courier.rss", "menu.xml", "courier-changed.rss", "menu-changed.xml"):
        hub.publish(read(f"later/{name}"))
    IDA.subscribe(hub)


def serve(tell: Tell, *, port: int | None = None) -> None:
    """Serve the story's hub until Ctrl-C; what is changed in it is gone then."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'town.db'}"
        with Hub(url) as hub:
            fill(hub)
        server, socket = _listening(url, port, tell)
        with socket:
            server.run([socket])
    tell("The hub is gone, with everything in it. `triplewire serve` starts one that keeps what it hears.")


def _listening(url: str, port: int | None, tell: Tell) -> tuple[Server, Socket]:
    """On the port that is wanted; if none is, on the usual one or a free one."""
    from triplewire.errors import ServiceError
    from triplewire.hub import Server, Settings
    from triplewire.hub.server import url_of

    settings = Settings(url) if port is None else Settings(url, port=port)
    server = Server(settings, when_started=lambda: tell(_where(url_of(socket, settings))))
    try:
        socket = server.bound()
    except ServiceError:
        if port is not None:
            raise
        return _listening(url, 0, tell)
    return server, socket


def _where(address: str) -> str:
    return f"""The town's hub is served on {address}, with the story's documents, subscriptions and events.
Open {address} in a browser, or try on another terminal:

  triplewire rows {address} ines
  triplewire events {address} maja --follow
  triplewire why-not {address} nora https://data.lindhaven.example/dataset/flood-warnings
  curl '{address}/v1/documents'

Ctrl-C ends it."""
