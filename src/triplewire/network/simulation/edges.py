"""Edges, and the hubs that they follow, in a simulation (M1, M8, M10).

>>> from triplewire.network import Simulation
>>> sim = Simulation(seed=7, delay=(1, 50), loss=0.05)
>>> net = sim.edges(2)
>>> hub, edge = net.hubs[0], net.edges[0]
>>> with net.at(edge) as here:
...     _ = here.follow("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql", id="water")
>>> net.client(at=hub).publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")
>>> sim.run()
>>> with net.at(edge) as here:
...     bool(here.query("ASK { <urn:d1> <urn:theme> <urn:water> }"))
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triplewire.backbone import BackboneHub
from triplewire.engine import Hub
from triplewire.errors import NetworkError
from triplewire.model import Document, Event
from triplewire.network.link import LinkLag, Timing
from triplewire.network.node import NodeState, Participant
from triplewire.network.routing import NETWORK, Advertisement
from triplewire.network.simulation.networks import Frames, SimulatedNetwork
from triplewire.network.simulation.stations import EdgeStation, HubStation, Station, StationState
from triplewire.network.simulation.world import World


class EdgeNetwork(SimulatedNetwork):
    """Hubs, of one backbone if they are several, and edges of them; hubs have the first numbers, then edges."""

    def __init__(
        self, world: World, loads: Counter[int], edges: int, hubs: int, heartbeat: float | None, account: str | None
    ) -> None:
        super().__init__(world, loads, hubs)
        self._next, self._is_backbone = hubs, hubs > 1
        self._timing, self._account = Timing(heartbeat=heartbeat), account
        self._above: dict[int, int] = {}
        self._arrivals: Counter[str] = Counter()
        world.on_arrival = self._count
        for node in range(hubs):
            self._begin_hub(node)
        for number in range(edges):
            self.join_edge(at=number % hubs)

    def _count(self, name: str) -> None:
        self._loads[int(name.rpartition("-")[2])] += 1

    def _begin_hub(self, node: int) -> None:
        name = self._name(node)

        def made(state: NodeState) -> Participant:
            assert isinstance(state, StationState), "it is the state of a station"
            return HubStation(state, self._timing, is_member=self._is_backbone)

        self._world.add(StationState(name, f"{name}-1"), made)
        for other in self._others(node):
            self._world.join(name, self._name(other))

    def _name(self, node: int) -> str:
        return f"edge-{node}" if node in self._above else f"hub-{node}"

    @property
    def hubs(self) -> tuple[int, ...]:
        """The numbers of the hubs."""
        return tuple(node for node in self._members if node not in self._above)

    @property
    def edges(self) -> tuple[int, ...]:
        """The numbers of the edges."""
        return tuple(self._above)

    def above(self, edge: int) -> int:
        """The hub that an edge follows."""
        return self._above[edge]

    # -- what is done at them

    def station(self, node: int) -> Station:
        """A hub or an edge as a node of the world. NetworkError while it is down."""
        self._refuse_unknown(node)
        found = self._world.nodes.get(self._name(node))
        if found is None:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        assert isinstance(found, Station), "all of them are stations"
        return found

    @contextmanager
    def at(self, node: int) -> Iterator[Any]:
        """The `Hub`, `BackboneHub` or `Edge` of a node, to do something at; what that leads to is sent afterwards."""
        station = self.station(node)
        assert isinstance(station, HubStation | EdgeStation), "a station is one of these"
        now = self.moment(station.name)
        try:
            yield station.hub
        finally:
            self._world.carry(station.name, station.look(now))

    def lag(self, edge: int) -> LinkLag:
        """How far an edge is behind its hub, as its link knows; with heartbeats, a silent hub makes that unknown."""
        station = self.station(edge)
        return station.lag(self._name(self._above[edge]), self._world.clock(station.name))

    def hub(self, node: int) -> StationClient:
        """See `SimulatedNetwork.hub`."""
        return StationClient(self, node)

    def _places(self, node: int) -> list[str]:
        self._refuse_unknown(node)
        return [self._name(node)]

    # -- members

    def join(self) -> int:
        """A hub joins the backbone; gives its number."""
        if not self._is_backbone:
            raise NetworkError("a hub alone is no backbone; begin with sim.edges(..., hubs=2)")
        node = self._number()
        self._begin_hub(node)
        return node

    def join_edge(self, at: int) -> int:
        """An edge of a hub begins; gives its number."""
        self._refuse_no_hub(at)
        node = self._number()
        self._above[node] = at

        def made(state: NodeState) -> Participant:
            assert isinstance(state, StationState), "it is the state of a station"
            return EdgeStation(state, self._timing, self._account)

        name = self._name(node)
        self._world.add(StationState(name, f"{name}-1"), made)
        self._world.join(name, self._name(at))
        return node

    def _number(self) -> int:
        node, self._next = self._next, self._next + 1
        self._members[node] = None
        return node

    def _refuse_no_hub(self, node: int) -> None:
        self._refuse_unknown(node)
        if node in self._above:
            raise NetworkError(f"node {node} is an edge; choose one of the hubs {self.hubs}")

    def move(self, edge: int, to: int) -> None:
        """An edge goes to another hub of the backbone."""
        self._refuse_no_hub(to)
        station, before = self.station(edge), self._above[edge]
        if before == to:
            return
        self._above[edge] = to
        self._arrivals[station.name] += 1
        station.state.epoch = f"{station.name}-{self._arrivals[station.name] + 1}"
        self._let_go(before)
        self._world.join(station.name, self._name(to))

    def restart(self, node: int) -> None:
        """See `SimulatedNetwork.restart`."""
        super().restart(node)
        self._let_go(node)
        station = self.station(node)
        for gone in {*station.neighbours}.difference(map(self._name, self._members)):
            station.forget(gone)  # it has left while this one was down
        for other in self._nearby(node):
            if other not in self._down and self._name(other) not in {*station.neighbours}:
                self._world.join(station.name, self._name(other))

    def _nearby(self, node: int) -> list[int]:
        """Those that a node has a link to, or will have when it hears of them."""
        if node in self._above:
            return [self._above[node]]
        return [*self._others(node), *(edge for edge, above in self._above.items() if above == node)]

    def _others(self, node: int) -> list[int]:
        """The other hubs of the backbone."""
        return [hub for hub in self.hubs if hub != node] if self._is_backbone else []

    def _let_go(self, node: int) -> None:
        """A hub does not wait for edges that have gone to another one; one that is down learns it later."""
        hub = self._world.nodes.get(self._name(node))
        if isinstance(hub, HubStation):
            for edge, above in self._above.items():
                if above != node and self._name(edge) in {*hub.neighbours}:
                    hub.let_go(self._name(edge))

    def leave(self, node: int) -> None:
        """An edge ends; or a hub goes: it hands over what others lack, another one adopts its documents and edges."""
        self._refuse_to_leave(node)
        if node not in self._above:
            self._hand_over(node)
        name = self._name(node)
        for other in list(self._world.nodes.values()):
            if isinstance(other, Station) and other.name != name:
                other.forget(name)
        self._world.remove(name)
        del self._members[node]
        self._above.pop(node, None)

    def _hand_over(self, node: int) -> None:
        heirs = [hub for hub in self.hubs if hub != node and hub not in self._down]
        if not heirs:
            raise NetworkError(f"node {node} is the last hub that is up; it can leave when another one is")
        down = [edge for edge in self._down if self._above.get(edge) == node]
        if down:
            raise NetworkError(f"the edges {down} of node {node} are down; it can leave when they are up")
        heir = heirs[0]
        with self.at(node) as leaving, self.at(heir) as hub:
            assert isinstance(leaving, BackboneHub), "hubs that leave are of a backbone"
            hub.take(leaving.serve_member(hub.member_question()))
            hub.adopt(leaving.name)
        self._world.messages["hand over"] += 1
        for edge, above in self._above.items():
            if above == node:
                self.move(edge, heir)


class StationClient:
    """What clients of a node see of it: what they publish at an edge is private."""

    def __init__(self, network: EdgeNetwork, node: int) -> None:
        self._network, self._node = network, node

    @property
    def name(self) -> str:
        """The name of the node in the world."""
        return self._network.station(self._node).name

    @contextmanager
    def _here(self) -> Iterator[Hub]:
        with self._network.at(self._node) as hub:
            yield hub

    def subscribe(
        self, id: str, client: str, text: str, language: str, since: float, *, reach: int = NETWORK
    ) -> Frames:
        """A query begins."""
        with self._here() as hub:
            hub.subscribe(text, language=language, id=id, scope="graph", owner=client)
        return ()

    def unsubscribe(self, id: str, now: float) -> Frames:
        """A query ends."""
        with self._here() as hub:
            hub.unsubscribe(id)
        return ()

    def subscription(self, id: str) -> StationLog:
        """The subscription of an id."""
        with self._here() as hub:
            return StationLog(list(hub.events(id)))

    def advertise(self, id: str, advertisement: Advertisement, now: float) -> Frames:
        """An edge says by its rules what it wants, so nobody need say what there will be."""
        return ()

    def withdraw(self, id: str, now: float) -> Frames:
        """See `advertise`."""
        return ()

    def publish(self, document: Document, now: float, *, reach: int = NETWORK) -> Frames:
        """A document is registered, or a new version of it."""
        with self._here() as hub:
            hub.publish(document)
        return ()

    def retract(self, uri: str, now: float) -> Frames:
        """A document is taken back."""
        with self._here() as hub:
            hub.retract(uri)
        return ()


class StationLog:
    """What a subscription was told so far."""

    def __init__(self, log: list[Event]) -> None:
        self.log = log
