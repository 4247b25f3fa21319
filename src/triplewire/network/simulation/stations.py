"""Stations: hubs and edges as nodes of a world, each with a store of its own; what they ask and tell goes over links.

They are the hubs and edges of every day. Here a question is a message and so is its answer, and a hub keeps a question
that has no news yet until it has some: so a change is on its way to an edge when it is committed. What a station has
written is its store and its `StationState`; all else is gone when it crashes, the conversation of an edge above all.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

from triplewire.backbone import BackboneHub
from triplewire.backbone.hub import WaitingChange
from triplewire.edge import Edge
from triplewire.engine import Hub
from triplewire.errors import NetworkError, TriplewireError
from triplewire.model import Change
from triplewire.network.exchange import Answer, Asked, ExchangeNode, ExchangeState
from triplewire.network.link import Timing
from triplewire.network.node.node import Outbox
from triplewire.store import Store
from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChanges
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion

_ALWAYS = 1.0
"""Seconds for which a question may wait: any number but 0, as a hub here keeps it until there is news."""


@dataclass(frozen=True, slots=True)
class PassedToHome:
    """A change on its way to the home of its document, which applies it once, by the name of the batch."""

    kind = "change"
    batch: str
    change: Change


@dataclass(frozen=True, slots=True)
class SettledByHome:
    """What became of a change that was passed on: applied, refused, or sent to a hub that is not its home any more."""

    kind = "settled"
    batch: str
    refusal: str = ""
    is_home: bool = True


@dataclass(slots=True)
class StationState(ExchangeState):
    """What a station has written besides its store: what it asked last, what others ask it, what it passed on."""

    store: Store = field(default_factory=lambda: Store.open(":memory:"))
    homes: dict[str, str] = field(default_factory=dict)
    """The neighbour that is the home of a name."""
    passed: dict[str, str] = field(default_factory=dict)
    """Changes that are on their way to a neighbour, by batch."""


class Station(ExchangeNode):
    """A hub or an edge that asks others and is asked."""

    state: StationState

    def look(self, now: float) -> Outbox:
        """Something was done at it: what has to be told of that, and asked."""
        self._look(now)
        return self._sent()

    @abstractmethod
    def _look(self, now: float) -> None:
        """Tell and ask what follows from what was done at it."""


class HubStation(Station):
    """A hub, alone or of a backbone."""

    def __init__(self, state: StationState, timing: Timing, *, is_member: bool) -> None:
        super().__init__(state, timing=timing)
        self.hub = BackboneHub(state.store, name=state.name, when_away="queue") if is_member else Hub(state.store)

    def connect(self, peer: str, now: float) -> Outbox:
        """See `Node.connect`; another hub is asked what it has."""
        frames = super().connect(peer, now)
        self._ask_member(peer, now)
        return [*frames, *self._sent()]

    def forget(self, peer: str) -> None:
        """See `Node.forget`."""
        super().forget(peer)
        self._send_elsewhere(peer)

    def let_go(self, edge: str) -> None:
        """An edge follows another hub from now on; should it come back, the link goes on."""
        self.state.asked.pop(edge, None)
        self.disconnect(edge)

    def _send_elsewhere(self, peer: str) -> None:
        """What was passed on to a neighbour may not have come to it: it is passed on again."""
        self.state.passed = {batch: each for batch, each in self.state.passed.items() if each != peer}

    def _ask_member(self, peer: str, now: float) -> None:
        if isinstance(self.hub, BackboneHub) and is_hub(peer):
            self.tell(peer, self._member_asked(self.hub, peer), now)

    def _member_asked(self, hub: BackboneHub, peer: str) -> Asked:
        """What a member is asked; one that has never answered does so at once, so that it is known by its name."""
        return self._asked(peer, hub.member_question(wait=_ALWAYS if peer in self.state.homes.values() else 0.0))

    # -- what comes

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear`."""
        match body:
            case PassedToHome():
                self.tell(peer, self._taken(body), now)
                self._look(now)
            case SettledByHome():
                self._settle(body)
                self._look(now)
            case _:
                super().hear(peer, body, now)

    def questioned(self, peer: str, now: float) -> None:
        """See `ExchangeNode.questioned`."""
        asked = self.state.asked[peer]
        self._reply(peer, asked, self._found(asked), now)

    def answered(self, peer: str, answer: Answer, now: float) -> None:
        """See `ExchangeNode.answered`."""
        assert isinstance(answer, MemberAnswer), "hubs ask other hubs of the backbone, and nobody else"
        self._take(peer, answer, now)

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear_all`: what was asked and not answered is asked again."""
        if body is not None:
            self.hear(peer, body, now)
        self._send_elsewhere(peer)
        self._ask_member(peer, now)

    def all_for(self, peer: str) -> Any:
        """See `Node.all_for`; an edge asks again by itself."""
        self._send_elsewhere(peer)
        if isinstance(self.hub, BackboneHub) and is_hub(peer):
            return self._member_asked(self.hub, peer)
        return None

    # -- what it does

    def _look(self, now: float) -> None:
        self._pass_on(now)
        for peer in list(self.state.asked):
            self.questioned(peer, now)

    def _found(self, asked: Asked) -> Answer:
        """The answer to a question as things are."""
        assert not isinstance(asked.question, PassedChanges), "here they are messages of their own"
        question, account = replace(asked.question, wait=0.0), asked.account
        if isinstance(question, MemberQuestion):
            assert isinstance(self.hub, BackboneHub), "only members of a backbone ask so"
            return self.hub.serve_member(question)
        return self.hub.serve_edge(question, owner=account, viewer=account)

    def _take(self, peer: str, told: MemberAnswer, now: float) -> None:
        assert isinstance(self.hub, BackboneHub), "only members of a backbone are told so"
        self.hub.take(told)
        self.state.homes[told.member] = peer
        self._ask_member(peer, now)
        self._look(now)

    def _pass_on(self, now: float) -> None:
        """Send changes that wait to their homes."""
        if not isinstance(self.hub, BackboneHub):
            return
        for waiting in self.hub.waiting_changes():
            peer = self.state.homes.get(waiting.home)
            if waiting.home == self.hub.name:
                self._settle_own(self.hub, waiting)
            elif waiting.batch not in self.state.passed and peer in self._links:
                self.state.passed[waiting.batch] = peer
                self.tell(peer, PassedToHome(waiting.batch, waiting.change), now)

    def _settle_own(self, hub: BackboneHub, waiting: WaitingChange) -> None:
        """This hub has become the home of what waits."""
        told = self._taken(PassedToHome(waiting.batch, waiting.change))
        hub.settle(waiting, told.refusal)

    def _taken(self, passed: PassedToHome) -> SettledByHome:
        assert isinstance(self.hub, BackboneHub), "only members of a backbone pass changes on"
        try:
            self.hub.take_passed([passed.change], batch=passed.batch)
        except NetworkError:
            return SettledByHome(passed.batch, is_home=False)
        except TriplewireError as error:
            return SettledByHome(passed.batch, str(error))
        return SettledByHome(passed.batch)

    def _settle(self, told: SettledByHome) -> None:
        assert isinstance(self.hub, BackboneHub), "only members of a backbone pass changes on"
        self.state.passed.pop(told.batch, None)
        for waiting in self.hub.waiting_changes() if told.is_home else ():
            if waiting.batch == told.batch:
                self.hub.settle(waiting, told.refusal)


class EdgeStation(Station):
    """An edge, which follows the hub that it is connected to."""

    def __init__(self, state: StationState, timing: Timing, account: str | None) -> None:
        super().__init__(state, timing=timing)
        self._account = account
        self.edge = Edge(state.store, hub=_Nowhere())
        self._talk = self.edge.conversation(wait=_ALWAYS)
        self._rules = self._followed()

    @property
    def hub(self) -> Edge:
        """The hub that it is."""
        return self.edge

    def connect(self, peer: str, now: float) -> Outbox:
        """See `Node.connect`; from now on this is the hub that it asks."""
        for other in [each for each in self.neighbours if each != peer]:
            self.forget(other)
        frames = super().connect(peer, now)
        self._begin(peer, now)
        return [*frames, *self._sent()]

    def _followed(self) -> tuple[object, ...]:
        return tuple((rule.id, rule.text) for rule in self.edge.follows())

    def _look(self, now: float) -> None:
        """Rules that have changed are told at once."""
        if self._followed() != self._rules:
            for peer in list(self.neighbours):
                self._begin(peer, now)

    def _begin(self, peer: str, now: float) -> None:
        self.tell(peer, self._first_question(peer), now)

    def _first_question(self, peer: str) -> Asked:
        """A conversation begins; what is told of the one before is passed over."""
        self._rules = self._followed()
        self._talk = self.edge.conversation(wait=_ALWAYS)
        return self._asked(peer, next(self._talk), self._account)

    def answered(self, peer: str, answer: Answer, now: float) -> None:
        """See `ExchangeNode.answered`."""
        assert isinstance(answer, EdgeAnswer), "edges are told nothing else"
        try:
            self.tell(peer, self._asked(peer, self._talk.send(answer), self._account), now)
        except (StopIteration, NetworkError):
            self._begin(peer, now)

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear_all`."""
        self._begin(peer, now)

    def all_for(self, peer: str) -> Any:
        """See `Node.all_for`."""
        return self._first_question(peer)


class _Nowhere:
    """The uplink of an edge whose questions are messages."""

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        raise NetworkError("an edge of a simulation is told by messages; let time pass with run()")


def is_hub(name: str) -> bool:
    """Whether a station of this name is a hub, and no edge."""
    return name.startswith("hub-")
