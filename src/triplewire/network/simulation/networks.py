"""A network in a simulation, as its clients and its faults see it; each kind of network is one of these (X13)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Protocol

from triplewire.documents import parse
from triplewire.errors import NetworkError
from triplewire.model import Document, Event, Term
from triplewire.network.routing import NETWORK, Advertisement, height_of
from triplewire.network.simulation.world import World

Frames = Sequence[tuple[str, Any]]
"""What is to be sent, each with the node that it is for."""

_MOMENT = 1e-6
"""What clients do takes so many seconds, so that one thing is before another."""


class ClientLog(Protocol):
    """A subscription, as its client sees it."""

    log: list[Event]
    """What was told so far."""


class ClientHub(Protocol):
    """What a client can ask of the node that it is at; what that sends is given back."""

    @property
    def name(self) -> str:
        """The name of the node in the world."""

    def subscribe(
        self, id: str, client: str, text: str, language: str, since: float, *, reach: int = NETWORK
    ) -> Frames:
        """A query begins."""

    def unsubscribe(self, id: str, now: float) -> Frames:
        """A query ends."""

    def subscription(self, id: str) -> ClientLog:
        """The subscription of an id."""

    def advertise(self, id: str, advertisement: Advertisement, now: float) -> Frames:
        """It is said what will be published."""

    def withdraw(self, id: str, now: float) -> Frames:
        """What was said is taken back."""

    def publish(self, document: Document, now: float, *, reach: int = NETWORK) -> Frames:
        """A document is registered, or a new version of it."""

    def retract(self, uri: str, now: float) -> Frames:
        """A document is taken back."""


class SimulatedNetwork(ABC):
    """Nodes by their numbers, each of which stands at one or several places of the world."""

    has_units = False
    """Whether there is a reach between a hub and the whole network."""

    def __init__(self, world: World, loads: Counter[int], nodes: int) -> None:
        if nodes < 1:
            raise ValueError(f"a network has at least one node, and {nodes} were asked for")
        self._world, self._loads = world, loads
        self._members = dict.fromkeys(range(nodes))
        self._down: set[int] = set()
        self._clients = count(1)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The numbers of the nodes, those that are down among them."""
        return tuple(self._members)

    @abstractmethod
    def hub(self, node: int) -> ClientHub:
        """The hub of a node, for its clients. NetworkError while it is down."""

    @abstractmethod
    def _places(self, node: int) -> list[str]:
        """The names in the world of what a node is."""

    def _up(self) -> list[int]:
        return [node for node in self._members if node not in self._down]

    def _refuse_unknown(self, node: int) -> None:
        if node not in self._members:
            raise NetworkError(f"there is no node {node}: the network has {len(self._members)}")

    # -- clients

    def client(self, at: int) -> SimulatedClient:
        """A new client of a node."""
        self._refuse_unknown(at)
        return SimulatedClient(self, f"client-{next(self._clients)}", at)

    def moment(self, name: str) -> float:
        """The next moment, by the clock of what has this name in the world."""
        self._world.now += _MOMENT
        return self._world.clock(name)

    def act(self, node: int, frames: Frames) -> None:
        """Send what a client has caused."""
        self._world.carry(self.hub(node).name, frames)

    # -- faults

    def crash(self, node: int) -> None:
        """A node loses everything that it has not written durably, and is down.

        If it stays down for longer than the neighbours' patience, others stand in for it. One that is down stays so.
        """
        if node in self._down:
            return
        for name in self._places(node):
            self._world.crash(name)
        self._down.add(node)

    def restart(self, node: int) -> None:
        """A node that has crashed is up again."""
        self._refuse_unknown(node)
        if node not in self._down:
            raise NetworkError(f"node {node} is up")
        self._down.discard(node)
        for name in self._places(node):
            self._world.restart(name)

    def partition(self, some: Iterable[int], others: Iterable[int], *, one_way: bool = False) -> None:
        """Nothing gets from the one side to the other any more; with `one_way`, it still does back."""
        sides = [[name for node in side for name in self._places(node)] for side in (some, others)]
        self._world.partition(*sides, one_way=one_way)

    def heal(self) -> None:
        """All partitions end."""
        self._world.heal()

    def slow(self, node: int, factor: float) -> None:
        """Everything that a node sends takes so many times as long."""
        for name in self._places(node):
            self._world.slow(name, factor)

    # -- members

    @abstractmethod
    def join(self) -> int:
        """A node joins; gives its number."""

    @abstractmethod
    def leave(self, node: int) -> None:
        """A node leaves: what it has, its clients too, is handed over to others."""

    def _refuse_to_leave(self, node: int) -> None:
        self._refuse_unknown(node)
        if node in self._down:
            raise NetworkError(f"node {node} is down; it can leave when it is up")
        if len(self._members) == 1:
            raise NetworkError("the last node cannot leave")
        if self._up() == [node]:
            raise NetworkError(f"node {node} is the last one that is up; it can leave when another one is")


class SimulatedClient:
    """A client of a node: it subscribes, advertises, publishes, and is told."""

    def __init__(self, network: SimulatedNetwork, name: str, at: int) -> None:
        self._network, self.name, self.at = network, name, at
        self._numbers = count(1)
        self._homes: dict[str, int] = {}

    def _moment(self, at: int) -> float:
        return self._network.moment(self._network.hub(at).name)

    def _height(self, reach: str) -> int:
        return height_of(reach, has_units=self._network.has_units)

    def subscribe(self, text: str, *, language: str = "sparql", id: str | None = None, reach: str = "network") -> str:
        """Register a query, in any of the six languages; gives the id of the subscription.

        `reach` is "hub", "cluster", "super-cluster" or "network": what is published further away is not asked for.
        """
        found, height = id or f"{self.name}/{next(self._numbers)}", self._height(reach)
        now = self._moment(self.at)
        self._network.act(self.at, self._begun(found, text, language, now, height))
        return found

    def _begun(self, id: str, text: str, language: str, now: float, reach: int) -> Frames:
        return self._network.hub(self.at).subscribe(id, self.name, text, language, now, reach=reach)

    def unsubscribe(self, id: str) -> None:
        """Let a query end."""
        now = self._moment(self.at)
        self._network.act(self.at, self._network.hub(self.at).unsubscribe(id, now))

    def advertise(
        self,
        *,
        schemas: Iterable[str] = (),
        properties: Iterable[str] = (),
        values: Mapping[str, Iterable[Term | str | int | float]] | None = None,
        id: str | None = None,
        reach: str = "network",
    ) -> str:
        """Say what will be published; gives the id of the advertisement. It is not known beyond its reach."""
        found = id or f"{self.name}/advertisement-{next(self._numbers)}"
        wanted = Advertisement(schemas=schemas, properties=properties, values=values, reach=self._height(reach))
        now = self._moment(self.at)
        self._network.act(self.at, self._network.hub(self.at).advertise(found, wanted, now))
        return found

    def withdraw(self, id: str) -> None:
        """Take an advertisement back."""
        now = self._moment(self.at)
        self._network.act(self.at, self._network.hub(self.at).withdraw(id, now))

    def publish(
        self, data: Document | bytes | str, *, uri: str, media_type: str | None = None, reach: str = "network"
    ) -> None:
        """Register a document, or a new version of it; it is not told beyond its reach."""
        height, document = self._height(reach), read_document(data, uri, media_type)
        at = self._homes.setdefault(uri, self.at)
        now = self._moment(at)
        self._network.act(at, self._network.hub(at).publish(document, now, reach=height))

    def retract(self, uri: str) -> None:
        """Take a document back."""
        at = self._homes.get(uri, self.at)
        now = self._moment(at)
        self._network.act(at, self._network.hub(at).retract(uri, now))
        self._homes.pop(uri, None)

    def events(self, id: str) -> list[Event]:
        """What a subscription was told so far."""
        return list(self._network.hub(self.at).subscription(id).log)


def read_document(data: Document | bytes | str, uri: str, media_type: str | None) -> Document:
    """A document of this uri."""
    return replace(data, uri=uri) if isinstance(data, Document) else parse(data, uri=uri, media_type=media_type)
