"""Controllers and their standbys: two hubs with equal state, of which one speaks.

A controller tells its standby each step that it takes: what it has heard, and how far it is with each neighbour. The
standby takes the same steps and says nothing. What the controller says to others waits until the standby has the steps
behind it; so what a neighbour was ever told, the standby knows of, and it can go on at any time where the controller
has stopped: under the same name, with the same logs, and with nothing to be told anew.

Invariant: when all steps have arrived, the state of the standby equals that of the controller.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from triplewire.network.hierarchy.queries import BrokerHub, BrokerState
from triplewire.network.link import Frame, Position, Timing
from triplewire.network.node import Node, NodeState, Outbox
from triplewire.network.routing import Topology


@dataclass(frozen=True, slots=True)
class Heard:
    """A neighbour has said something, perhaps everything anew."""

    peer: str
    body: Any
    replaces: bool
    now: float


@dataclass(frozen=True, slots=True)
class ToldAnew:
    """A neighbour was told everything anew."""

    peer: str


@dataclass(frozen=True, slots=True)
class NeighbourCame:
    """A neighbour is there for the first time."""

    peer: str
    now: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A neighbour has been silent for long."""

    peer: str
    now: float


@dataclass(frozen=True, slots=True)
class Heeded:
    """A neighbour has taken in what was advertised to it."""

    peer: str
    now: float


Act = Heard | ToldAnew | NeighbourCame | Missed | Heeded


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """How far a controller is with a neighbour: which incarnation it has met, what that has, and what it has of it."""

    peer: str
    epoch: str | None
    done: int
    has: Position | None


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step of a controller."""

    kind: ClassVar[str] = "step"
    acts: tuple[Act, ...]
    places: tuple[LinkPlace, ...]


@dataclass(frozen=True, slots=True)
class StateCopied:
    """All that a controller knows: a standby begins with this."""

    kind: ClassVar[str] = "state"
    state: BrokerState


def standby_of(controller: str) -> str:
    """The name of a controller's standby."""
    return f"standby-{controller}"


def controller_of(standby: str) -> str:
    """The name of a standby's controller."""
    return standby.removeprefix(standby_of(""))


class ControllerHub(BrokerHub):
    """A hub that says nothing of which its standby does not know, while it has one."""

    def __init__(
        self, state: BrokerState, topology: Topology, *, timing: Timing | None = None, short_cut: bool = True
    ) -> None:
        super().__init__(state, topology, timing=timing, short_cut=short_cut)
        self._standby = standby_of(state.name)
        self._acts: list[Act] = []
        self._now = 0.0
        self._told_places: dict[str, LinkPlace] = {}
        self._held: deque[tuple[int, str, Frame]] = deque()

    # -- the standby

    @property
    def has_standby(self) -> bool:
        """Whether there is one."""
        return self._standby in self.state.links

    def begin_standby(self) -> None:
        """There is a standby from now on, which begins with all that is known here; one that was before is none."""
        self.forget(self._standby)
        self._told_places.clear()
        self.state.forgotten += 1  # also the link that another controller had, from which this one took over
        link = self.state.new_link()
        link.append(self.all_for(self._standby), replaces=True)
        self.state.links[self._standby] = link
        self._links[self._standby] = self._link(self._standby)
        self._held = deque((link.newest, peer, frame) for _, peer, frame in self._held)

    def end_standby(self) -> Outbox:
        """There is none any more: what waited for it is said."""
        self.forget(self._standby)
        return self._released()

    # -- steps

    def receive(self, peer: str, frame: Frame, now: float) -> Outbox:
        """See `Node.receive`."""
        self._now = now
        return super().receive(peer, frame, now)

    def connect(self, peer: str, now: float) -> Outbox:
        """See `RoutingHub.connect`."""
        self._now = now
        if peer == self._standby:
            return Node.connect(self, peer, now)
        if peer not in self.state.links:
            self._acts.append(NeighbourCame(peer, now))
        return super().connect(peer, now)

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `RoutingHub.hear`."""
        self._acts.append(Heard(peer, body, False, now))
        super().hear(peer, body, now)

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """See `RoutingHub.hear_all`."""
        self._acts.append(Heard(peer, body, True, now))
        super().hear_all(peer, body, now)

    def heeded(self, peer: str, now: float) -> None:
        """See `AdvertisingHub.heeded`."""
        self._acts.append(Heeded(peer, now))
        super().heeded(peer, now)

    def miss(self, peer: str, now: float) -> Outbox:
        """See `BrokerHub.miss`."""
        self._now = now
        if peer in self.awaited():
            self._acts.append(Missed(peer, now))
        return super().miss(peer, now)

    def all_for(self, peer: str) -> Any:
        """See `RoutingHub.all_for`."""
        if peer == self._standby:
            return StateCopied(deepcopy(shared_state(self.state)))
        self._acts.append(ToldAnew(peer))
        return super().all_for(peer)

    def _sent(self) -> Outbox:
        """What may be said now: to the standby at once, to others what it knows all of."""
        frames = super()._sent()
        acts, self._acts = tuple(self._acts), []
        if acts and self.has_standby:
            self.tell(self._standby, StepTaken(acts, self._places()), self._now)
            frames += super()._sent()
        at_once = [(peer, frame) for peer, frame in frames if peer == self._standby]
        needed = self.state.links[self._standby].newest if self.has_standby else 0
        self._held.extend((needed, peer, frame) for peer, frame in frames if peer != self._standby)
        return at_once + self._released()

    def _released(self) -> Outbox:
        known = self.state.links[self._standby].done if self.has_standby else None
        found: Outbox = []
        while self._held and (known is None or self._held[0][0] <= known):
            _, peer, frame = self._held.popleft()
            found.append((peer, frame))
        return found

    def _places(self) -> tuple[LinkPlace, ...]:
        """How far this is with each neighbour, where that is not known to the standby."""
        now = {
            peer: LinkPlace(peer, link.peer, link.done, link.has)
            for peer, link in self.state.links.items()
            if peer != self._standby
        }
        changed = tuple(place for peer, place in now.items() if self._told_places.get(peer) != place)
        self._told_places = now
        return changed


def shared_state(state: BrokerState) -> BrokerState:
    """What a controller has in common with its standby: all but their own link."""
    return replace(state, links={peer: link for peer, link in state.links.items() if peer != standby_of(state.name)})


class RepeatedHub(BrokerHub):
    """A hub that takes the steps of another one, and says nothing."""

    def repeat(self, step: StepTaken) -> None:
        """Take a step."""
        for act in step.acts:
            match act:
                case Heard(peer, body, replaces, now):
                    (self.hear_all if replaces else self.hear)(peer, body, now)
                case ToldAnew(peer):
                    self.state.links[peer].append(self.all_for(peer), replaces=True)
                    for body in self.besides(peer):
                        self.state.links[peer].append(body)
                case NeighbourCame(peer, now):
                    self.connect(peer, now)
                    self.disconnect(peer)
                case Missed(peer, now):
                    self.miss(peer, now)
                case Heeded(peer, now):
                    self.heeded(peer, now)
        for place in step.places:
            link = self.state.links[place.peer]
            link.peer, link.has = place.epoch, place.has
            link.acknowledge(place.done)
        self._sent()


@dataclass(slots=True)
class StandbyState(NodeState):
    """What a standby must not lose: the state of its controller; None before it has it."""

    copy: BrokerState | None = None


class StandbyNode(Node):
    """The standby of a controller."""

    state: StandbyState

    def __init__(self, state: StandbyState, topology: Topology, *, timing: Timing | None = None) -> None:
        super().__init__(state, timing=timing)
        self._topology = topology
        self._hub: RepeatedHub | None = None

    def hear(self, peer: str, body: StepTaken, now: float) -> None:
        """See `Node.hear`."""
        if self._hub is None:
            assert self.state.copy is not None, "the first word of a controller is all that it knows"
            self._hub = RepeatedHub(self.state.copy, self._topology)
        self._hub.repeat(body)

    def hear_all(self, peer: str, body: StateCopied, now: float) -> None:
        """See `Node.hear_all`."""
        self.state.copy = deepcopy(body.state)
        self._hub = None

    def all_for(self, peer: str) -> None:
        """See `Node.all_for`; it has nothing to say."""
