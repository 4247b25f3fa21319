"""Networks whose places have hosts: a node stands at several places of the world, or at those of another one."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence

from triplewire.errors import NetworkError
from triplewire.model import Access, Document, Event, MissedEvents, Row
from triplewire.model.access import EVERYBODY
from triplewire.network.link import Timing
from triplewire.network.node import Node, NodeState
from triplewire.network.routing import MovingHub, MovingState, Topology
from triplewire.network.simulation.networks import Frames, SimulatedClient, SimulatedNetwork, read_document
from triplewire.network.simulation.wirings import Wire, Wiring
from triplewire.network.simulation.world import World

TIMING = Timing(heartbeat=None)
"""The world tells of silence by itself."""


class HostedNetwork(SimulatedNetwork):
    """Hubs at the places of a topology, and by its name the node that each of them is at.

    With `links`, only nodes that are linked can speak to each other; to others, routers find the way (N7).
    """

    def __init__(self, world: World, loads: Counter[int], nodes: int, links: Sequence[Wire] | None = None) -> None:
        super().__init__(world, loads, nodes)
        self._hosts: dict[str, int] = {}
        self._epochs: Counter[str] = Counter()
        self._wiring = Wiring(world, self._area) if links is not None else None
        world.wiring = self._wiring
        world.on_silence = self._notice_any
        world.place = self._place
        world.on_arrival = self._count_any
        if self._wiring is not None:
            world.on_doubt = self._wiring.doubt
            self._wire(links or ())

    def _wire(self, links: Sequence[Wire]) -> None:
        wiring = self._wired()
        for node in self._members:
            wiring.add_node(node)
        for a, b, *cost in links:
            self._refuse_unknown(a)
            self._refuse_unknown(b)
            wiring.link(a, b, *cost)
        if not wiring.is_whole():
            raise ValueError("the links leave some nodes apart from the others")

    def _area(self, node: int) -> tuple[int, ...]:
        """The place of a node in units."""
        return (node,)

    def _wired(self) -> Wiring:
        if self._wiring is None:
            raise NetworkError("every two nodes of this network can speak to each other; begin it with links=[…]")
        return self._wiring

    @abstractmethod
    def _topology(self, name: str) -> Topology:
        """Which way messages go on at a place."""

    @abstractmethod
    def _home(self, node: int) -> str:
        """The place whose clients are those of a node."""

    @abstractmethod
    def _notice(self, name: str, silent: str) -> None:
        """A place has not heard from a neighbour for long."""

    def _notice_any(self, name: str, silent: str) -> None:
        if self._wiring is not None and self._wiring.is_router(name):
            self._wiring.notice(name, silent)
        else:
            self._notice(name, silent)

    def _count_any(self, name: str) -> None:
        if self._wiring is None or not self._wiring.is_router(name):
            self._count(name)

    def _place(self, name: str) -> str:
        """The node that a place is at, so that what it tells itself is no message."""
        if self._wiring is not None and self._wiring.is_router(name):
            return self._wiring.place(name)
        return str(self._hosts[name])

    def _count(self, name: str) -> None:
        self._loads[self._hosts[name]] += 1

    def _begin(self, name: str, host: int, *, stands_in: bool = False) -> None:
        """A place begins with nothing."""
        self._hosts[name] = host
        self._epochs[name] += 1
        self._world.add(self._empty(name, f"{name}-{self._epochs[name]}", stands_in), self._made)

    def _empty(self, name: str, epoch: str, stands_in: bool) -> MovingState:
        return MovingState(name, epoch, stands_in=stands_in)

    def _made(self, state: NodeState) -> Node:
        assert isinstance(state, MovingState), "it is the state of a hub"
        return MovingHub(state, self._topology(state.name), timing=TIMING)

    def client(self, at: int, *, account: str = EVERYBODY) -> MovingClient:
        """A new client of a node; of an account, if one is named, which access lists may name."""
        self._refuse_unknown(at)
        return MovingClient(self, f"client-{next(self._clients)}", at, account)

    def hub(self, node: int) -> MovingHub:
        """The hub of a node, for its clients; those of a node that has left are served by another one.

        NetworkError while it is down.
        """
        name = self._home(node)
        if name not in self._hosts or self._hosts[name] in self._down:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        found = self._world.nodes[name]
        assert isinstance(found, MovingHub), "places are hubs"
        return found

    def move(self, client: str, generation: int, old: int, new: int) -> None:
        """A client goes from one node to another, which asks the old one over a link between them."""
        self._refuse_unknown(new)
        hub, (here, there) = self.hub(new), (self._home(new), self._home(old))
        for one, other in ((here, there), (there, here)):
            state = self._world.state_of(one)
            assert isinstance(state, MovingState), "places are hubs"
            if other not in state.links:  # those that are neighbours anyway have a link
                state.companions.add(other)
                if self._world.is_down(one):
                    state.links[other] = state.new_link()
        if there not in hub.neighbours:
            self._world.join(here, there)
        self.act(new, hub.welcome(client, generation, there, self.moment(here)))

    def _places(self, node: int) -> list[str]:
        self._refuse_unknown(node)
        return [name for name, host in self._hosts.items() if host == node]

    def partition(self, some: Iterable[int], others: Iterable[int], *, one_way: bool = False) -> None:
        """See `SimulatedNetwork.partition`; it is between nodes, whatever places they are at, and may get to."""
        sides = [list(some), list(others)]
        for node in (*sides[0], *sides[1]):
            self._refuse_unknown(node)
        self._world.partition(*(map(str, side) for side in sides), one_way=one_way)
        self._look_again()

    def crash(self, node: int) -> None:
        """See `SimulatedNetwork.crash`."""
        was_up = node not in self._down
        super().crash(node)
        if self._wiring is not None and was_up:
            self._world.crash(self._wiring.router_at(str(node)))
            self._world.look_again()

    def restart(self, node: int) -> None:
        """See `SimulatedNetwork.restart`."""
        if self._wiring is not None and node in self._down:
            self._world.restart(self._wiring.router_at(str(node)))
        super().restart(node)
        self._look_again()

    def heal(self) -> None:
        """All partitions end."""
        super().heal()
        self._look_again()

    def slow(self, node: int, factor: float) -> None:
        """See `SimulatedNetwork.slow`."""
        super().slow(node, factor)
        if self._wiring is not None:
            self._world.slow(self._wiring.router_at(str(node)), factor)

    def _look_again(self) -> None:
        if self._wiring is not None:
            self._world.look_again()

    # -- links

    def link(self, a: int, b: int, cost: float | None = None) -> None:
        """Link two nodes; without a cost, in milliseconds, it is measured."""
        for node in (a, b):
            self._refuse_unknown(node)
            if node in self._down:
                raise NetworkError(f"node {node} is down; it can be linked when it is up")
        self._wired().link(a, b, cost)
        self._look_again()

    def unlink(self, a: int, b: int) -> None:
        """End the link of two nodes."""
        wiring = self._wired()
        if b not in wiring.wired_to(a):
            raise NetworkError(f"nodes {a} and {b} are not linked")
        wiring.unlink(a, b)
        self._look_again()

    def mend(self, a: int, b: int) -> None:
        """What a partition has cut between two nodes ends."""
        self._wired()
        self._world.mend(str(a), str(b))
        self._look_again()

    def measure(self) -> None:
        """Measure anew what links cost, where that was not given."""
        self._wired().measure()

    def route(self, a: int, b: int) -> list[int] | None:
        """The nodes on the way from one to another, as the map of the first one says; None if it knows no way."""
        for node in (a, b):
            self._refuse_unknown(node)
        return self._wired().route(a, b)

    def _welcome_node(self, node: int, nearest: Sequence[int]) -> None:
        """A node joins: it is linked to the nearest two that are up; `link` makes more."""
        if self._wiring is not None:
            self._wiring.add_node(node)
            for other in [each for each in nearest if each != node and each not in self._down][:2]:
                self._wiring.link(node, other)

    def _refuse_to_split(self, nodes: Sequence[int]) -> None:
        if self._wiring is not None and not self._wiring.is_whole(nodes):
            raise NetworkError(f"without {', '.join(map(str, nodes))} the others lose their way; link them before")

    def _dismiss(self, nodes: Sequence[int]) -> None:
        """Nodes have left, and their links with them."""
        for node in nodes if self._wiring is not None else ():
            self._wired().remove_node(node)
        self._look_again()

    def _hand_over(self, name: str, to: int, neighbours: list[str]) -> None:
        """A place is at another node from now on: that is sent its state, and the neighbours are told."""
        self._hosts[name] = to
        self._world.messages["hand over"] += 1
        self._world.messages["moved"] += len({self._hosts[other] for other in neighbours} - {to})
        self._world.moved(name)


class MovingClient(SimulatedClient):
    """A client of a hub, which also moves to another one."""

    _network: HostedNetwork

    def __init__(self, network: HostedNetwork, name: str, at: int, account: str = EVERYBODY) -> None:
        super().__init__(network, name, at)
        self.account = account
        self._generation = 0
        self._is_offline = False

    def _begun(self, id: str, text: str, language: str, now: float, reach: int) -> Frames:
        hub = self._network.hub(self.at)
        return hub.subscribe(id, self.name, text, language, now, reach=reach, account=self.account)

    def publish(
        self,
        data: Document | bytes | str,
        *,
        uri: str,
        media_type: str | None = None,
        reach: str = "network",
        access: Access | None = None,
    ) -> None:
        """See `SimulatedClient.publish`; with a list, only accounts that it names are told of it, at any node (N4)."""
        height, document = self._height(reach), read_document(data, uri, media_type)
        at = self._homes.setdefault(uri, self.at)
        now = self._moment(at)
        self._network.act(at, self._network.hub(at).publish(document, now, reach=height, access=access))

    def move(self, to: int) -> None:
        """Go to another node: subscriptions follow, with all that they were told and have missed (N8, P7).

        What the client has published stays where it is, and is changed there.
        """
        if to != self.at:
            self._network.move(self.name, self._generation + 1, self.at, to)
            self._generation += 1
            self.at = to

    def go_offline(self, *, limit: int = 1_000, seconds: float = 3_600.0) -> None:
        """Be away: so many events of each subscription wait at the hub, for so long (P7).

        The hub knows of it, and goes on to be asked for the client's interests.
        """
        if limit < 0 or seconds < 0:
            raise ValueError(f"a queue has a length and a time, and not {limit} and {seconds}")
        hub = self._arrived()
        hub.go_offline(self.name, limit, self._moment(self.at) + seconds)
        self._is_offline = True

    def come_back(self) -> None:
        """Be there again, at the hub where it was or, after `move`, at another one; `missed` says what fell off."""
        hub = self._arrived()
        hub.come_back(self.name, self._moment(self.at))
        self._is_offline = False

    def _arrived(self) -> MovingHub:
        hub = self._network.hub(self.at)
        if hub.awaits(self.name):
            raise NetworkError(f"what {self.name} has is on its way to node {self.at}; let time pass with run()")
        return hub

    def _refuse_offline(self) -> None:
        if self._is_offline:
            raise NetworkError(f"{self.name} is offline; it is told when it is back: come_back()")

    def missed(self, id: str) -> list[MissedEvents]:
        """The stretches of events that a subscription was not told, by their cursors, and why."""
        self._refuse_offline()
        return list(self._arrived().subscription(id).missed)

    def rows(self, id: str) -> list[Row]:
        """The rows of a subscription as they are now, whatever was missed."""
        self._refuse_offline()
        return list(self._arrived().subscription(id).sources)

    def fetch(self, uri: str) -> Document:
        """A document that one of the client's subscriptions was told of, from the hub, whoever is offline (P7).

        UnknownDocument for others, and for one that was taken back.
        """
        self._refuse_offline()
        return self._arrived().fetch(self.name, uri)

    def unsubscribe(self, id: str) -> None:
        """Let a query end; NetworkError while it is on its way to where the client is."""
        hub = self._network.hub(self.at)
        if hub.awaits(self.name) and id not in hub.state.subscriptions:
            raise NetworkError(f"{id} is on its way to node {self.at}; it can end when it has arrived")
        super().unsubscribe(id)

    def events(self, id: str) -> list[Event]:
        """What a subscription was told so far; nothing while it is on its way to where the client is."""
        self._refuse_offline()
        return [] if self._network.hub(self.at).awaits(self.name) else super().events(id)
