"""Peers behind HTTP for tests: of this process, or in processes of their own, as a person starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from hub.processes import Running, running
from triplewire.client import Client
from triplewire.hub import Settings, Started, start
from triplewire.hub.ring import create_peer_app
from triplewire.network.live.ring import LivePeer
from triplewire.network.ring import RingSettings


def wait_for(condition: Callable[[], object], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


class ServedPeer:
    """A peer of this process behind HTTP; it can be stopped, and started again with its store."""

    def __init__(self, store: Path, ring: RingSettings, join: str | None = None) -> None:
        self._settings = Settings(store=f"sqlite:///{store}", port=0, join=join, network_patience=2.0, deliver=False)
        self._ring = ring
        self.start()

    def start(self) -> None:
        self._started: Started | None = start(self._settings, partial(create_peer_app, ring=self._ring))
        self.url = self._started.url
        self.client = Client(self.url)

    @property
    def live(self) -> LivePeer:
        return self._started.server.config.app.state.service.peer

    def stop(self) -> None:
        if self._started is not None:
            self.client.close()
            self._started.stop()
            self._started = None


@contextmanager
def served_ring(folder: Path, size: int, ring: RingSettings) -> Iterator[list[ServedPeer]]:
    """Peers that have become a ring."""
    peers: list[ServedPeer] = []
    with ExitStack() as stack:
        for number in range(size):
            join = peers[0].url if peers else None
            peers.append(ServedPeer(folder / f"peer{number}.db", ring, join))
            stack.callback(peers[-1].stop)
        wait_for(lambda: is_ring([each.client for each in peers]))
        yield peers


def is_ring(clients: list[Client]) -> bool:
    """Whether each peer names the next one around the circle, and that one names it."""
    told = [client.network() for client in clients]
    order = sorted(told, key=lambda one: float(one.place.removesuffix(" %") or 0))
    return all(
        one.ring.successors[:1] == [after.name] and after.ring.predecessor == one.name
        for one, after in zip(order, [*order[1:], *order[:1]], strict=True)
        if len(order) > 1
    )


class PeerProcess:
    """A peer in a process of its own; killed, it can be started again with its store, at the same port."""

    def __init__(self, folder: Path, number: int, *arguments: str, join: str | None = None) -> None:
        self._folder, self._store, self._port = folder, f"peer{number}.db", "0"
        self._arguments = [*arguments, *(["--join", join] if join else [])]
        self.said: list[str] = []
        self.start()

    def start(self) -> None:
        self._stack = ExitStack()
        given = [self._store, "--port", self._port, *self._arguments]
        self._running: Running = self._stack.enter_context(running(self._folder, *given, words=("peer",)))
        self.url = self._running.heard(r"https?://[^\s/]+")[0]
        self._port = self.url.rsplit(":", 1)[1]
        self.client = Client(self.url)

    @property
    def heard(self) -> list[str]:
        """All that it has said on standard error."""
        return [*self.said, *self._running.said]

    def kill(self) -> None:
        """SIGKILL, as far as the process can tell."""
        self._running.kill()
        self.said += self._running.said
        self.client.close()
        self._stack.close()

    def terminate(self) -> None:
        self._running.process.terminate()
        self._running.process.wait()
        self.kill()


@contextmanager
def peer_processes(folder: Path, size: int, *arguments: str) -> Iterator[list[PeerProcess]]:
    """Peers in processes that have become a ring."""
    peers: list[PeerProcess] = []
    try:
        for number in range(size):
            peers.append(PeerProcess(folder, number, *arguments, join=peers[0].url if peers else None))
        wait_for(lambda: is_ring([each.client for each in peers]), 300)
        yield peers
    finally:
        for each in peers:
            each.kill()
