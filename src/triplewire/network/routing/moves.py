"""Clients that move: a client comes to another hub, and what it has at the old one follows (N8, P7).

The new hub asks the old one over a link between the two, and gets the client's subscriptions with their logs and the
documents that they were told of; from then on it tells them what has changed since. A client that moves on before
that is asked for at the new hub by the next one, and sent on when it has arrived: each move has a number, its
*generation*, and what a client has takes them one by one, however often they lead through the same hub.

The old hub keeps what it has sent until the new one has confirmed it, and a question stays until it is answered: so
both are told anew after either hub was stood in for. A stand-in has no clients of its own: it keeps what it is asked
and sent for the hub that it stands in for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from triplewire.network.node import Node, Outbox
from triplewire.network.routing.advertisers import OWN
from triplewire.network.routing.hubs import RoutingHub, asked_by
from triplewire.network.routing.messages import Ask, DocumentSent, RoutesTold
from triplewire.network.routing.state import KeptDocument, RoutingState
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


@dataclass(frozen=True, slots=True)
class ClientSettled:
    """What a client had has arrived, and need not be kept any more where it came from."""

    kind: ClassVar[str] = "settled client"
    client: str
    generation: int


@dataclass(frozen=True, slots=True)
class MovesTold(RoutesTold):
    """Everything that a hub should know, and clients that it is asked for, or that are on their way to it."""

    clients: tuple[ClientAsked | ClientMoved, ...] = ()


@dataclass(slots=True)
class ClientMoves:
    """What a hub must not lose of moves: what it waits for, who waits for it in turn, and how far each client is.

    `awaited` has for each move to here the old hub, `wanted` for each move away the new one, if what the client has is
    not here yet; `departed` the new hub, and what was sent to it and not confirmed; `reached` the last move of each
    client that has ended here, or begun; `held` what companions have said to a hub that only stands in. A client that
    comes and goes quickly is in several moves of one hub at once, and what it has takes each of them in turn.

    Invariant: what a client has is at one hub, or on one way, at any time.
    """

    awaited: dict[ClientAsked, str] = field(default_factory=dict)
    wanted: dict[ClientAsked, str] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    departed: dict[ClientAsked, tuple[str, ClientMoved]] = field(default_factory=dict)
    held: list[tuple[str, ClientAsked | ClientMoved]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.awaited or self.wanted or self.reached or self.departed or self.held)

    def ask(self, client: str, generation: int, old: str) -> ClientAsked:
        """A client has come: what to ask its old hub."""
        asked = ClientAsked(client, generation)
        self.awaited[asked] = old
        return asked

    def is_awaited(self, client: str) -> bool:
        """Whether what a client has is still on its way here."""
        return any(asked.client == client for asked in self.awaited)

    def is_to_go(self, peer: str, asked: ClientAsked) -> bool:
        """Whether what is here of a client goes to a hub that asks for it now; else it goes later, or has gone."""
        left = asked.generation - 1 - self.reached.get(asked.client, 0)
        if left > 0:
            self.wanted[asked] = peer
        return left == 0

    def depart(self, peer: str, moved: ClientMoved) -> None:
        """What a client has goes to a hub."""
        self.departed[ClientAsked(moved.client, moved.generation)] = peer, moved
        self.reached[moved.client] = moved.generation

    def is_new(self, moved: ClientMoved) -> bool:
        """Whether what a client has has not been here since it went on this way."""
        return moved.generation > self.reached.get(moved.client, 0)

    def arrive(self, moved: ClientMoved) -> tuple[str, ClientAsked] | None:
        """What a client has is here; gives the hub that it goes on to."""
        self.awaited.pop(ClientAsked(moved.client, moved.generation), None)
        self.reached[moved.client] = moved.generation
        onward = ClientAsked(moved.client, moved.generation + 1)
        return (self.wanted.pop(onward), onward) if onward in self.wanted else None

    def confirm(self, settled: ClientSettled) -> None:
        """What was sent has arrived."""
        self.departed.pop(ClientAsked(settled.client, settled.generation), None)

    def concerning(self, peer: str) -> tuple[ClientAsked | ClientMoved, ...]:
        """All that a hub should know of clients: a companion, or a neighbour that is asked over the same link."""
        asked = [question for question, old in self.awaited.items() if old == peer]
        return (*asked, *(moved for new, moved in self.departed.values() if new == peer))

    def adopt(self, lost: ClientMoves) -> list[tuple[str, ClientAsked | ClientMoved]]:
        """Go on with the moves of the hub that this one stood in for; gives what was held for it."""
        self.awaited |= lost.awaited
        self.wanted |= lost.wanted
        self.departed |= lost.departed
        self.reached = {c: max(lost.reached.get(c, 0), self.reached.get(c, 0)) for c in lost.reached | self.reached}
        held, self.held = [*lost.held, *self.held], []
        return held


@dataclass(slots=True)
class MovingState(RoutingState):
    """What a hub must not lose whose clients may move."""

    companions: set[str] = field(default_factory=set)
    """Hubs with which there is a link for the sake of clients that move, and no routing."""
    moves: ClientMoves = field(default_factory=ClientMoves)

    @property
    def has_clients(self) -> bool:
        """Whether clients have registered anything here, ever, or are on their way."""
        return bool(self.subscriptions or self.advertisements or self.versions or self.moves)


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
            case ClientAsked() | ClientMoved():
                self._hear_client(peer, body, now)
            case ClientSettled():
                self.state.moves.confirm(body)
            case DocumentSent() if self._is_doubtful(body):
                self._ask(Ask(body.origin, body.uri, body.version, ()), now)
            case _:
                super().hear(peer, body, now)

    def _is_doubtful(self, told: DocumentSent) -> bool:
        """Whether a neighbour that says a version is of no concern here may not know yet who has come here with it.

        What is gone, or matches no more, has another version than the one that clients here have.
        """
        key = told.origin, told.uri
        kept = self.state.documents.get(key)
        is_same = kept is not None and kept.told.version == told.version and told.document is None
        return is_same and bool(self._watches.holders(key))

    def hear_all(self, peer: str, body: RoutesTold, now: float) -> None:
        """See `RoutingHub.hear_all`; what a companion says anew may have been heard already."""
        if peer not in self.state.companions:
            super().hear_all(peer, body, now)
        for told in body.clients if isinstance(body, MovesTold) else ():
            self._hear_client(peer, told, now)

    def all_for(self, peer: str) -> RoutesTold:
        """See `RoutingHub.all_for`."""
        told = RoutesTold(frozenset(), (), ()) if peer in self.state.companions else super().all_for(peer)
        return MovesTold(told.advertised, told.interests, told.documents, self.state.moves.concerning(peer))

    def adopt(self, lost: RoutingState, now: float) -> Outbox:
        """See `RoutingHub.adopt`; moves go on where they were."""
        assert isinstance(lost, MovingState), "its clients may move as well"
        frames = super().adopt(lost, now)
        self.state.companions |= lost.companions
        for companion in sorted(lost.companions):
            frames += self.connect(companion, now)
        held = self.state.moves.adopt(lost.moves)
        for peer in self.neighbours:
            for told in self.state.moves.concerning(peer):
                self.tell(peer, told, now)
        for peer, told in held:
            self._hear_client(peer, told, now)
        return [*frames, *self._sent()]

    def _hear_client(self, peer: str, told: ClientAsked | ClientMoved, now: float) -> None:
        moves = self.state.moves
        if self.state.stands_in:
            moves.held.append((peer, told))
        elif isinstance(told, ClientMoved):
            if moves.is_new(told):
                self._arrive(told, now)
            self.tell(peer, ClientSettled(told.client, told.generation), now)
        elif moves.is_to_go(peer, told):
            self._send_client(peer, told, now)

    def _arrive(self, moved: ClientMoved, now: float) -> None:
        """What a client has is here: it goes on if the client has moved on, and what it has here with it.

        If the client has come back since then, that stays, and hubs hear nothing of what only passes.
        """
        moves = self.state.moves
        onward = moves.arrive(moved)
        if onward is None:
            self._settle(moved, now)
        elif moves.is_awaited(moved.client) or not self._subscriptions_of(moved.client):
            peer, asked = onward
            self._hand_to(peer, replace(moved, generation=asked.generation), now)
        else:
            self._settle(moved, now)
            self._send_client(*onward, now)

    def _send_client(self, peer: str, asked: ClientAsked, now: float) -> None:
        self._hand_to(peer, self._let_go(asked, now), now)

    def _hand_to(self, peer: str, moved: ClientMoved, now: float) -> None:
        self.state.moves.depart(peer, moved)
        self.tell(peer, moved, now)

    # -- clients

    def welcome(self, client: str, generation: int, old: str, now: float) -> Outbox:
        """A client has come from another hub, which must be a companion: ask for what it has there."""
        self.tell(old, self.state.moves.ask(client, generation, old), now)
        return self._sent()

    def awaits(self, client: str) -> bool:
        """Whether what a client has is still on its way."""
        return self.state.moves.is_awaited(client)

    def _let_go(self, asked: ClientAsked, now: float) -> ClientMoved:
        """Let go of all that is here of a client."""
        own = self._subscriptions_of(asked.client)
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
