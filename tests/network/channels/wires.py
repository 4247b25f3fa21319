"""What stands between an edge and its hub, or in the place of one of them: relays, liars, hubs that are none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from triplewire.network.channels.exchanges import EDGE_LINK, edge_bodies
from triplewire.network.channels.handshake import DIALS, EDGE_CHANNEL, IS_DIALLED, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.channels.spelling import read_frame, spelled_frame
from triplewire.network.link import Hello


@contextmanager
def listening(serves: Callable[[ServerConnection], None]) -> Iterator[str]:
    """A server of WebSockets on a free port; gives its address."""
    with serve(serves, "127.0.0.1", 0, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


class Relay:
    """Stands between an edge and its hub, and writes down every message of each side; `is_mute` lets none back."""

    def __init__(self, target: str) -> None:
        self.target, self.is_mute = target, False
        self.sent: list[str] = []
        self.told: list[str] = []

    def serve(self, edge: ServerConnection) -> None:
        address = self.target.replace("http", "ws") + edge.request.path
        with connect(address, proxy=None, max_size=None, user_agent_header=None) as hub:
            back = threading.Thread(target=self._back, args=(hub, edge))
            back.start()
            with suppress(ConnectionClosed):
                for text in edge:
                    self.sent.append(text)
                    hub.send(text)
            hub.close()
            back.join()

    def _back(self, hub, edge) -> None:
        with suppress(ConnectionClosed):
            for text in hub:
                if not self.is_mute:
                    self.told.append(text)
                    edge.send(text)
        edge.close()

    def questions(self) -> list[dict]:
        """What the edge asked."""
        frames = [json.loads(text).get("frame") or {} for text in self.sent]
        bodies = [frame["entry"][2] for frame in frames if "entry" in frame]
        return [body["asked"][1] for body in bodies if body]


@contextmanager
def relaying(target: str) -> Iterator[tuple[Relay, str]]:
    relay = Relay(target)
    with listening(relay.serve) as url:
        yield relay, url


class EdgeLiar:
    """A program that dials a hub as an edge does (or, with another purpose, a hub), as far as it wants to."""

    def __init__(self, url: str, path: str = EDGE_LINK, *, purpose: str = EDGE_CHANNEL, **about) -> None:
        self._purpose = purpose
        self._connecting = connect(url.replace("http", "ws") + path, proxy=None, max_size=None, **about)

    def __enter__(self):
        self.socket = self._connecting.__enter__()
        return self

    def __exit__(self, *about):
        self._connecting.__exit__(*about)

    def say(self, message: object) -> None:
        with suppress(ConnectionClosed):  # the reason is heard then
            self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> dict:
        return json.loads(self.socket.recv(timeout=30))

    def enter(self, identity: HubIdentity, **beside: str) -> HandshakeEnd:
        """A handshake as it should be."""
        end = HandshakeEnd(identity, "a" * 64, DIALS, purpose=self._purpose)
        self.say(end.hello)
        end.meet(self.hear())
        self.say({"proof": end.proof()} | beside)
        told = self.hear()
        assert told == {"welcome": True}, told
        return end

    def greet(self, identity: HubIdentity) -> None:
        """Open the link, as it should be opened."""
        self.say_frame(Hello(identity.name, "liar-1", None, "s-1"))
        while True:
            told = self.hear()
            frame = read_frame(told["frame"], edge_bodies()) if told["about"] == "frame" else None
            if isinstance(frame, Hello):
                self.say_frame(Hello(identity.name, "liar-1", None, "s-1", frame.session))
                return

    def say_frame(self, frame) -> None:
        self.say({"about": "frame", "frame": spelled_frame(frame, edge_bodies())})

    def reason(self) -> str:
        """Listen until the other side has ended it; gives the word that it said."""
        until = time.monotonic() + 30
        try:
            while time.monotonic() < until:
                self.socket.recv(timeout=30)
        except ConnectionClosed as error:
            return error.rcvd.reason if error.rcvd else ""
        raise AssertionError("it was not ended")

    def body(self) -> dict:
        """The next thing that is told over the link."""
        while True:
            entry = self.hear().get("frame", {}).get("entry")
            if entry:
                return entry[2]


class FalseHub:
    """A program that is dialled as a hub is; what it says after its handshake is up to `lies`."""

    def __init__(
        self,
        identity: HubIdentity,
        lies: Callable[[ServerConnection], None] = lambda edge: None,
        *,
        purpose: str = EDGE_CHANNEL,
    ) -> None:
        self.identity, self.lies, self.version, self._purpose = identity, lies, 1, purpose
        self.heard: list[str] = []

    def serve(self, edge: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            end = HandshakeEnd(self.identity, "b" * 64, IS_DIALLED, purpose=self._purpose)
            end.meet(self._hear(edge))
            hello = end.hello | {"proof": end.proof()}
            hello["hello"]["version"] = self.version
            edge.send(json.dumps(hello))
            self._hear(edge)
            edge.send(json.dumps({"welcome": True}))
            self.lies(edge)
            for text in edge:
                self.heard.append(text)

    def _hear(self, edge: ServerConnection) -> dict:
        self.heard.append(edge.recv(timeout=30))
        return json.loads(self.heard[-1])
