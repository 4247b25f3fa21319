"""Clients that move: a client comes to another hub, and what it has at the old one follows (N8).

The new hub asks the old one over a link between the two, and gets the client's subscriptions with their logs and the
documents that they were told of; from then on it tells them what has changed since. A client that moves on before
that is asked for at the new hub by the next one, and sent on when it has arrived: each move has a number, its
*generation*, so that a hub knows which of them it has seen the end of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from triplewire.network.node import Node, Outbox
from triplewire.network.routing import RoutesTold, RoutingHub, RoutingState
from triplewire.network.routing.hubs import OWN, asked_by
from triplewire.network.routing.messages import Ask, DocumentSent
from triplewire.network.routing.state import KeptDocument
from triplewire.network.routing.subscriptions import ClientSubscription, Key


@dataclass(frozen=True, slots=True)
class ClientAsked:
    """A client has come to the hub that asks; `generation` counts its moves."""

    kind: ClassVar[str] = "move"
    client: str
    generation: int


@dataclass(frozen=True, slots=True)
class ClientMoved:
    """All that a hub has of a client: its subscriptions, and the documents that these were told of."""

    kind: ClassVar[str] = "moved client"
    client: str
    generation: int
    subscriptions: tuple[ClientSubscription, ...]
    documents: tuple[DocumentSent, ...]


@dataclass(slots=True)
class ClientMoves:
    """What a hub must not lose of moves: which clients it waits for, who waits for them in turn, and which have come.

    Invariant: what a client has is at one hub, or on one way, at any time.
    """

    awaited: dict[str, int] = field(default_factory=dict)
    wanted: dict[str, tuple[str, ClientAsked]] = field(default_factory=dict)
    settled: dict[str, int] = field(default_factory=dict)

    def ask(self, client: str, generation: int) -> ClientAsked:
        """A client has come: what to ask its old hub."""
        self.awaited[client] = generation
        return ClientAsked(client, generation)

    def is_to_go(self, peer: str, asked: ClientAsked) -> bool:
        """Whether what is here of a client goes to a hub that asks for it now; else it goes later, or has gone."""
        if asked.generation <= self.settled.get(asked.client, 0):
            return False
        if self.awaited.get(asked.client, asked.generation) < asked.generation:
            self.wanted[asked.client] = peer, asked
            return False
        return True

    def arrived(self, moved: ClientMoved) -> tuple[str, ClientAsked] | None:
        """What a client has is here; gives the hub that it goes on to."""
        if self.awaited.get(moved.client) == moved.generation:
            del self.awaited[moved.client]
        self.settled[moved.client] = moved.generation
        return self.wanted.pop(moved.client, None)


@dataclass(slots=True)
class MovingState(RoutingState):
    """What a hub must not lose whose clients may move."""

    companions: set[str] = field(default_factory=set)
    """Hubs with which there is a link for the sake of clients that move, and no routing."""
    moves: ClientMoves = field(default_factory=ClientMoves)


class MovingHub(RoutingHub):
    """A hub whose clients may move to others, and come from them."""

    state: MovingState

    # -- companions

    def connect(self, peer: str, now: float) -> Outbox:
        """See `RoutingHub.connect`."""
        if peer in self.state.companions:
            return Node.connect(self, peer, now)
        return super().connect(peer, now)

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `RoutingHub.hear`."""
        match body:
            case ClientAsked():
                if self.state.moves.is_to_go(peer, body):
                    self.tell(peer, self._let_go(body, now), now)
            case ClientMoved():
                self._settle(body, now)
            case _:
                super().hear(peer, body, now)

    def hear_all(self, peer: str, body: RoutesTold, now: float) -> None:
        """See `RoutingHub.hear_all`; a companion has nothing to say anew."""
        if peer not in self.state.companions:
            super().hear_all(peer, body, now)

    def all_for(self, peer: str) -> RoutesTold:
        """See `RoutingHub.all_for`."""
        return RoutesTold(frozenset(), (), ()) if peer in self.state.companions else super().all_for(peer)

    # -- clients

    def welcome(self, client: str, generation: int, old: str, now: float) -> Outbox:
        """A client has come from another hub, which must be a companion: ask for what it has there."""
        self.tell(old, self.state.moves.ask(client, generation), now)
        return self._sent()

    def awaits(self, client: str) -> bool:
        """Whether what a client has is still on its way."""
        return client in self.state.moves.awaited

    def _let_go(self, asked: ClientAsked, now: float) -> ClientMoved:
        """Let go of all that is here of a client."""
        own = [each for each in self.state.subscriptions.values() if each.client == asked.client]
        told = {key: self.state.documents[key].told for each in own for key in each.given}
        for subscription in own:
            self._end(subscription, now)
        return ClientMoved(asked.client, asked.generation, tuple(own), tuple(told.values()))

    def _settle(self, moved: ClientMoved, now: float) -> None:
        """Go on with a client's subscriptions: tell them what is new here, and ask what became of the rest."""
        before = {(told.origin, told.uri): told for told in moved.documents}
        others = [*self.state.subscriptions.values()]
        for subscription in moved.subscriptions:
            self.state.subscriptions[subscription.id] = subscription
            self._watches.watch_own(subscription)
        self._change_interests(OWN, [*map(asked_by, moved.subscriptions)], [], now)
        for key, kept in self.state.documents.items():
            self._bring_up(moved.subscriptions, key, before.pop(key, None), kept.told, now)
        for key, told in before.items():
            if told.origin == self.name:
                self._bring_up(moved.subscriptions, key, told, replace(told, document=None), now)
            else:
                self.state.documents[key] = KeptDocument(told, self._topology.next_hop(told.origin))
                self._bring_up(others, key, None, told, now)  # perhaps it is on its way to them
                self._ask(Ask(*key, told.version, ()), now)
        onward = self.state.moves.arrived(moved)
        if onward is not None:
            self.tell(onward[0], self._let_go(onward[1], now), now)

    def _bring_up(
        self,
        subscriptions: Iterable[ClientSubscription],
        key: Key,
        before: DocumentSent | None,
        told: DocumentSent,
        now: float,
    ) -> None:
        _, rows = self._found(told, OWN)
        self._tell(subscriptions, key, before, told, rows, now)
