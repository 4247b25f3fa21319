"""The simulation: networks of hubs with clients, in virtual time; what a program can do with it (X13).

>>> sim = Simulation(seed=7, delay=(1, 50), loss=0.05, duplication=0.02)
>>> net = sim.hypercube(8)
>>> reader, writer = net.client(at=3), net.client(at=6)
>>> sid = reader.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql")
>>> writer.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")
>>> sim.run()
>>> [event.kind for event in reader.events(sid)]
['matched']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count

from triplewire.documents import parse
from triplewire.errors import NetworkError
from triplewire.model import Document, Event, Term
from triplewire.network.hypercube import CubeTopology, corner, neighbours, position_of, stand_in
from triplewire.network.link import Timing
from triplewire.network.node import Node, NodeState, Outbox
from triplewire.network.routing import Advertisement, RoutingHub, RoutingState
from triplewire.network.simulation.world import World

_TIMING = Timing(heartbeat=None)
_MOMENT = 1e-6
"""What clients do takes so many seconds, so that one thing is before another."""


class Simulation:
    """One seed, one run: virtual time, and faults. `delay` is in milliseconds, from the least to the most."""

    def __init__(
        self,
        seed: int = 0,
        *,
        delay: tuple[float, float] = (1, 50),
        loss: float = 0.0,
        duplication: float = 0.0,
        patience: float = 5.0,
    ) -> None:
        self._world = World(seed, delay=delay, loss=loss, duplication=duplication, patience=patience)
        self.loads: Counter[int] = Counter()
        """Messages that each node has taken in, by its number."""

    @property
    def messages(self) -> Counter[str]:
        """How many messages were sent between nodes, by kind."""
        return self._world.messages

    @property
    def now(self) -> float:
        """Seconds of virtual time."""
        return self._world.now

    def run(self, seconds: float | None = None) -> None:
        """Go on until nothing moves, or for so many seconds."""
        self._world.run(seconds)

    def hypercube(self, nodes: int) -> CubeNetwork:
        """A network of so many super-peers."""
        return CubeNetwork(self._world, self.loads, nodes)


class CubeNetwork:
    """Super-peers in a hypercube, by their numbers."""

    def __init__(self, world: World, loads: Counter[int], nodes: int) -> None:
        if nodes < 1:
            raise ValueError(f"a network has at least one node, and {nodes} were asked for")
        self._world, self._loads = world, loads
        self._members = dict.fromkeys(range(nodes))
        self._down: set[int] = set()
        self._clients = count(1)
        self._dimensions = 0
        self._hosts: dict[int, int] = {}
        self._epochs: Counter[int] = Counter()
        self._lost: dict[int, tuple[int, RoutingState]] = {}
        world.on_silence = self._notice
        world.place = self._place
        world.on_arrival = self._count
        self._grow((nodes - 1).bit_length())

    @property
    def nodes(self) -> tuple[int, ...]:
        """The numbers of the nodes, those that are down among them."""
        return tuple(self._members)

    def _place(self, name: str) -> str:
        """The node that stands at a corner, so that what it tells itself is no message."""
        return str(self._hosts[position_of(name)])

    def _count(self, name: str) -> None:
        self._loads[int(self._place(name))] += 1

    def _grow(self, dimensions: int) -> None:
        """The cube gets its corners, up to so many dimensions; vacant ones are stood at by a node near them."""
        old, self._dimensions = len(self._hosts), dimensions
        for position in range(old, 1 << dimensions):
            is_taken = position in self._members
            self._hosts[position] = position if is_taken else stand_in(position, self._members, dimensions)
            self._begin(position)
        for position in range(1 << dimensions):
            for other in neighbours(position, dimensions):
                if position < other and other >= old:
                    self._world.join(corner(position), corner(other))

    def _begin(self, position: int, *, stands_in: bool = False) -> None:
        """A corner begins with nothing."""
        self._epochs[position] += 1
        name = corner(position)
        self._world.add(RoutingState(name, f"{name}-{self._epochs[position]}", stands_in=stands_in), _hub_at(position))

    # -- clients

    def client(self, at: int) -> SimulatedClient:
        """A new client of a node."""
        self._refuse_unknown(at)
        return SimulatedClient(self, f"client-{next(self._clients)}", at)

    def hub(self, node: int) -> RoutingHub:
        """The hub of a node, for its clients; those of a node that has left are served by another one.

        NetworkError while it is down.
        """
        host = self._hosts.get(node)
        if host is None or host in self._down or node in self._lost:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        found = self._world.nodes[corner(node)]
        assert isinstance(found, RoutingHub), "corners are hubs"
        return found

    def _refuse_unknown(self, node: int) -> None:
        if node not in self._members:
            raise NetworkError(f"there is no node {node}: the network has {len(self._members)}")

    def moment(self) -> float:
        """The next moment."""
        self._world.now += _MOMENT
        return self._world.now

    def act(self, node: int, frames: Outbox) -> None:
        """Send what a client has caused."""
        self._world.carry(corner(node), frames)

    # -- faults

    def _corners(self, node: int) -> list[str]:
        self._refuse_unknown(node)
        return [corner(position) for position, host in self._hosts.items() if host == node]

    def crash(self, node: int) -> None:
        """A node loses everything that it has not written durably, and is down.

        If it stays down for longer than the neighbours' patience, others stand in for it.
        """
        for name in self._corners(node):
            self._world.crash(name)
        self._down.add(node)

    def restart(self, node: int) -> None:
        """A node that has crashed is up again; what others did in its place comes back to it."""
        self._refuse_unknown(node)
        if node not in self._down:
            raise NetworkError(f"node {node} is up")
        self._down.discard(node)
        for name in self._corners(node):
            self._world.restart(name)
        for position, (host, lost) in [*self._lost.items()]:
            if host == node:
                del self._lost[position]
                self._give_back(position, node, lost)

    def _give_back(self, position: int, node: int, lost: RoutingState) -> None:
        if self._world.is_down(corner(position)):
            self._take_over(position, node)
        else:
            self._hand_over(position, node)
        self._world.carry(corner(position), self.hub(position).adopt(lost, self.moment()))

    def _notice(self, name: str, silent: str) -> None:
        """A corner has not heard from a neighbour for long: another node stands in for the one that is down."""
        position = position_of(silent)
        up = [node for node in self._members if node not in self._down]
        if self._hosts[position] in self._down and up:
            self._take_over(position, stand_in(position, up, self._dimensions))

    def _take_over(self, position: int, host: int) -> None:
        """A node stands at a corner whose node is down, and begins there with nothing."""
        state = self._world.state_of(corner(position))
        if isinstance(state, RoutingState) and state.has_clients:
            self._lost[position] = self._hosts[position], state
        self._world.remove(corner(position))
        self._hosts[position] = host
        self._begin(position, stands_in=position in self._lost)
        for other in neighbours(position, self._dimensions):
            self._world.join(corner(position), corner(other))

    def partition(self, some: Iterable[int], others: Iterable[int], *, one_way: bool = False) -> None:
        """Nothing gets from the one side to the other any more; with `one_way`, it still does back."""
        sides = [[name for node in side for name in self._corners(node)] for side in (some, others)]
        self._world.partition(*sides, one_way=one_way)

    def heal(self) -> None:
        """All partitions end."""
        self._world.heal()

    def slow(self, node: int, factor: float) -> None:
        """Everything that a node sends takes so many times as long."""
        for name in self._corners(node):
            self._world.slow(name, factor)

    # -- members

    def join(self) -> int:
        """A node joins, and takes over a corner at which another one stands; gives its number."""
        vacant = (p for p, host in self._hosts.items() if p not in self._members and host not in self._down)
        position = next(vacant, None)
        if position is None:
            self._grow(self._dimensions + 1)
            return self.join()
        self._members[position] = None
        self._hand_over(position, position)
        return position

    def leave(self, node: int) -> None:
        """A node leaves: what it has, its clients too, is handed over to others."""
        self._refuse_unknown(node)
        if node in self._down:
            raise NetworkError(f"node {node} is down; it can leave when it is up")
        if len(self._members) == 1:
            raise NetworkError("the last node cannot leave")
        positions = [position for position, host in self._hosts.items() if host == node]
        del self._members[node]
        for position in positions:
            self._hand_over(position, stand_in(position, self._members, self._dimensions))

    def _hand_over(self, position: int, to: int) -> None:
        """Another node stands at a corner from now on: it is sent the corner's state, and the neighbours are told."""
        self._hosts[position] = to
        others = {self._hosts[other] for other in neighbours(position, self._dimensions)} - {to}
        self._world.messages["hand over"] += 1
        self._world.messages["moved"] += len(others)


def _hub_at(position: int) -> Callable[[NodeState], Node]:
    def made(state: NodeState) -> RoutingHub:
        assert isinstance(state, RoutingState), "it is the state of a hub"
        return RoutingHub(state, CubeTopology(position), timing=_TIMING)

    return made


class SimulatedClient:
    """A client of a node: it subscribes, advertises, publishes, and is told."""

    def __init__(self, network: CubeNetwork, name: str, at: int) -> None:
        self._network, self.name, self.at = network, name, at
        self._numbers = count(1)

    def subscribe(self, text: str, *, language: str = "sparql", id: str | None = None) -> str:
        """Register a query, in any of the six languages; gives the id of the subscription."""
        found = id or f"{self.name}/{next(self._numbers)}"
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).subscribe(found, self.name, text, language, now))
        return found

    def unsubscribe(self, id: str) -> None:
        """Let a query end."""
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).unsubscribe(id, now))

    def advertise(
        self,
        *,
        schemas: Iterable[str] = (),
        properties: Iterable[str] = (),
        values: Mapping[str, Iterable[Term | str | int | float]] | None = None,
        id: str | None = None,
    ) -> str:
        """Say what will be published; gives the id of the advertisement."""
        found = id or f"{self.name}/advertisement-{next(self._numbers)}"
        wanted = Advertisement(schemas=schemas, properties=properties, values=values)
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).advertise(found, wanted, now))
        return found

    def withdraw(self, id: str) -> None:
        """Take an advertisement back."""
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).withdraw(id, now))

    def publish(self, data: Document | bytes | str, *, uri: str, media_type: str | None = None) -> None:
        """Register a document, or a new version of it."""
        document = replace(data, uri=uri) if isinstance(data, Document) else parse(data, uri=uri, media_type=media_type)
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).publish(document, now))

    def retract(self, uri: str) -> None:
        """Take a document back."""
        now = self._network.moment()
        self._network.act(self.at, self._network.hub(self.at).retract(uri, now))

    def events(self, id: str) -> list[Event]:
        """What a subscription was told so far."""
        return list(self._network.hub(self.at).subscription(id).log)
