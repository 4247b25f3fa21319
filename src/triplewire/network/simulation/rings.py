"""Peers on a ring, in a simulation: who is part of it, and who finds out when one is gone (S1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from triplewire.errors import NetworkError
from triplewire.model import Document
from triplewire.network.node import NodeState, Participant
from triplewire.network.ring import (
    HomeState,
    Limited,
    PeerState,
    RingPeer,
    RingSettings,
    RingSubscription,
    RingView,
    ideal,
)
from triplewire.network.ring.identifiers import distance, identify
from triplewire.network.routing import NETWORK, Advertisement
from triplewire.network.simulation.networks import Frames, SimulatedClient, SimulatedNetwork
from triplewire.network.simulation.world import World

ROUNDS = (1.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds after a change of the ring at which peers ask their successors for news.

Real peers ask again and again; here they cease when the ring has had time to become right, so that a world can come to
rest.
"""

MEETINGS = (8.0, 32.0)
"""Those of the rounds in which a peer also looks for its own place, from one that everybody knows."""


def peer_name(node: int) -> str:
    """The name of the peer with a number."""
    return f"peer-{node}"


class RingNetwork(SimulatedNetwork):
    """Peers on a ring, by their numbers."""

    def __init__(self, world: World, loads: Counter[int], nodes: int, settings: RingSettings) -> None:
        super().__init__(world, loads, nodes)
        self.settings = settings
        self._next = nodes
        self._watched: set[tuple[str, str]] = set()
        self._changes = 0
        world.on_failure = self._watch
        for name, view in ideal(map(peer_name, range(nodes))).items():
            self._begin(int(name.removeprefix("peer-")), view)

    def _begin(self, node: int, view: RingView) -> RingPeer:
        name = peer_name(node)
        state = PeerState(name, f"{name}-1", view=view, homes={name: HomeState(name)})
        peer = self._world.add(state, self._maker(node))
        assert isinstance(peer, RingPeer), "members are peers"
        return peer

    def _maker(self, node: int) -> Callable[[NodeState], Participant]:
        def work(amount: int) -> None:
            self._loads[node] += amount

        def made(state: NodeState) -> RingPeer:
            assert isinstance(state, PeerState), "it is the state of a peer"
            return RingPeer(state, self.settings, work)

        return made

    def peer(self, node: int) -> RingPeer:
        """The peer of a node. NetworkError while it is down."""
        found = self._world.nodes.get(peer_name(node))
        if found is None:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        assert isinstance(found, RingPeer), "members are peers"
        return found

    # -- clients

    def client(self, at: int) -> RingClient:
        """A new client of a peer."""
        self._refuse_unknown(at)
        return RingClient(self, f"client-{next(self._clients)}", at)

    def hub(self, node: int) -> RingHome:
        """What clients of a node see of the ring; those of a node that has left are served by another one."""
        return RingHome(self._host(node), peer_name(node))

    def _host(self, node: int) -> RingPeer:
        """The peer that has a node's clients: what is handed over may be on the way from one to the next."""
        home = peer_name(node)
        if node in self._members:
            return self.peer(node)
        for other in self._peers():
            if home in other.state.homes:
                return other
        raise NetworkError(f"the clients of node {node} are on the way from one node to another; try again later")

    def _peers(self) -> list[RingPeer]:
        return [peer for node in self._members if node not in self._down and (peer := self.peer(node))]

    # -- faults

    def _places(self, node: int) -> list[str]:
        self._refuse_unknown(node)
        return [peer_name(node)]

    def crash(self, node: int) -> None:
        """A peer is down; if it stays so for longer than the others' patience, the next ones stand in for it."""
        super().crash(node)
        self._stir()
        self._world.at(self._world.now + self._world.patience, self._look_around)

    def restart(self, node: int) -> None:
        """A peer that has crashed is up again, and comes back to its place."""
        super().restart(node)
        self._stir()
        self._introduce_again(self.peer(node))
        self._resume([peer_name(node)])

    def partition(self, some: Iterable[int], others: Iterable[int], *, one_way: bool = False) -> None:
        """Nothing gets from the one side to the other any more; each side becomes a ring of its own."""
        super().partition(some, others, one_way=one_way)
        self._stir()
        self._world.at(self._world.now + self._world.patience, self._look_around)

    def heal(self) -> None:
        """All partitions end, and the rings become one."""
        super().heal()
        self._stir()
        self._resume([peer.name for peer in self._peers()])

    def _stir(self) -> None:
        """The ring has changed: peers ask for news for a while, after the last of several changes."""
        self._changes += 1
        for wait in ROUNDS:
            self._world.at(self._world.now + wait, self._stabilise, self._changes, wait in MEETINGS)

    def _stabilise(self, changes: int, is_meeting: bool) -> None:
        up = self._peers() if changes == self._changes else []
        known = [peer.name for peer in up if peer.view.contact is None] if is_meeting else []
        for peer in up:
            contact = next((name for name in known if not self._is_silent(peer.name, name)), None)
            self._world.carry(peer.name, peer.stabilise(self._world.clock(peer.name), contact))

    def _resume(self, back: list[str]) -> None:
        for peer in self._peers():
            self._world.carry(peer.name, peer.resume(back, self._world.clock(peer.name)))

    def _is_silent(self, name: str, peer: str) -> bool:
        return not (self._world.reaches(name, peer) and self._world.reaches(peer, name))

    def _look_around(self) -> None:
        """Peers find out which of those that they know are silent."""
        for peer in self._peers():
            for name in [*peer.neighbours]:
                self._notice(peer.name, name)

    def _watch(self, name: str, peer: str) -> None:
        if (name, peer) not in self._watched:
            self._watched.add((name, peer))
            self._world.at(self._world.now + self._world.patience, self._notice, name, peer)

    def _notice(self, name: str, other: str) -> None:
        self._watched.discard((name, other))
        peer = self._world.nodes.get(name)
        if isinstance(peer, RingPeer) and self._is_silent(name, other):
            self._world.carry(name, peer.lose(other, self._world.clock(name)))
            self._introduce_again(peer)

    # -- members

    def join(self) -> int:
        """A peer joins; gives its number."""
        if not self._peers():
            raise NetworkError("all nodes are down: there is no ring to join")
        self._stir()
        node, self._next = self._next, self._next + 1
        self._members[node] = None
        self._introduce(self._begin(node, RingView(peer_name(node))))
        return node

    def _introduce(self, peer: RingPeer) -> None:
        """A peer is told of one of the ring, if possible one that it reaches; if there is none, it is the ring."""
        others = [other for other in self._peers() if other is not peer and other.view.contact is None]
        others.sort(key=lambda other: self._is_silent(peer.name, other.name))
        contact = others[0].name if others else None
        self._world.carry(peer.name, peer.join(contact, self.moment(peer.name)))

    def _introduce_again(self, peer: RingPeer) -> None:
        """A peer that has not come to the ring yet is told of another one if the first has left, or is silent."""
        contact = peer.view.contact
        if contact is None:
            return
        is_gone = int(contact.removeprefix("peer-")) not in self._members
        others = [other for other in self._peers() if other is not peer and other.view.contact is None]
        is_reached = any(not self._is_silent(peer.name, other.name) for other in others)
        if is_gone or (is_reached and self._is_silent(peer.name, contact)):
            self._introduce(peer)

    def leave(self, node: int) -> None:
        """A peer leaves: what it has, its clients too, goes to the next one that it reaches."""
        self._refuse_to_leave(node)
        left = self.peer(node)
        others = [peer for peer in self._peers() if peer is not left]
        if not others:
            raise NetworkError(f"all nodes but node {node} are down; it can leave when another one is up")
        near = [peer for peer in others if not self._is_silent(left.name, peer.name)]
        heir = min(near or others, key=lambda peer: distance(left.view.place, identify(peer.name)))
        self._stir()
        del self._members[node]
        self._world.remove(left.name)
        self._world.messages["hand over"] += 1
        for peer in self._peers():
            if left.name in {*peer.neighbours}:
                self._world.messages["leave"] += 1
                self._world.carry(peer.name, peer.lose(left.name, self._world.clock(peer.name)))
        for peer in self._peers():
            self._introduce_again(peer)
        self._world.carry(heir.name, heir.adopt(left.state, self.moment(heir.name)))


class RingClient(SimulatedClient):
    """A client of a peer: what it publishes, and what it asks, may end by itself."""

    def __init__(self, network: RingNetwork, name: str, at: int) -> None:
        super().__init__(network, name, at)
        self._ring = network

    def subscribe(
        self,
        text: str,
        *,
        language: str = "sparql",
        id: str | None = None,
        reach: str = "network",
        seconds: float | None = None,
    ) -> str:
        """Register a query; after so many `seconds` it ends, as if it was unsubscribed then."""
        found = super().subscribe(text, language=language, id=id, reach=reach)
        self._limit(self.at, "subscription", found, seconds)
        return found

    def publish(
        self,
        data: Document | bytes | str,
        *,
        uri: str,
        media_type: str | None = None,
        reach: str = "network",
        seconds: float | None = None,
    ) -> None:
        """Register a document, or a new version of it; after so many `seconds` it is retracted."""
        super().publish(data, uri=uri, media_type=media_type, reach=reach)
        self._limit(self._homes[uri], "document", uri, seconds)

    def _limit(self, at: int, kind: Limited, name: str, seconds: float | None) -> None:
        if seconds is not None:
            home = self._ring.hub(at)
            self._ring.act(at, home.limit(kind, name, self._moment(at) + seconds))


class RingHome:
    """What clients of a node see of the ring."""

    def __init__(self, peer: RingPeer, home: str) -> None:
        self._peer, self._home = peer, home

    @property
    def name(self) -> str:
        """The name of the peer."""
        return self._peer.name

    def subscribe(
        self, id: str, client: str, text: str, language: str, since: float, *, reach: int = NETWORK
    ) -> Frames:
        """A query begins."""
        _refuse_reach(reach)
        return self._peer.subscribe(self._home, id, client, text, language, since)

    def unsubscribe(self, id: str, now: float) -> Frames:
        """A query ends."""
        return self._peer.unsubscribe(self._home, id, now)

    def subscription(self, id: str) -> RingSubscription:
        """The subscription of an id."""
        return self._peer.subscription(self._home, id)

    def advertise(self, id: str, advertisement: Advertisement, now: float) -> Frames:
        """A ring needs none: what is asked is where what is stated goes."""
        return ()

    def withdraw(self, id: str, now: float) -> Frames:
        """See `advertise`."""
        return ()

    def publish(self, document: Document, now: float, *, reach: int = NETWORK) -> Frames:
        """A document is registered, or a new version of it."""
        _refuse_reach(reach)
        return self._peer.publish(self._home, document, now)

    def retract(self, uri: str, now: float) -> Frames:
        """A document is taken back."""
        return self._peer.retract(self._home, uri, now)

    def limit(self, kind: Limited, name: str, until: float) -> Frames:
        """A document, or a query, ends at a time."""
        return self._peer.limit(self._home, kind, name, until)


def _refuse_reach(reach: int) -> None:
    if reach != NETWORK:
        raise NetworkError("what is on a ring is where its key is, near to nobody: its only reach is network")
