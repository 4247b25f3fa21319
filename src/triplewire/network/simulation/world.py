"""The world of a simulation: virtual time, nodes, and wires between them that are as bad as one likes.

A wire loses, doubles, delays and so reorders frames. A node that crashes loses what is not in its state, and frames of
its last step may be lost with it. Nodes on two sides of a partition do not reach each other, perhaps one way only. A
neighbour that cannot be reached for `patience` is reported as silent, as its missing heartbeats would be. The clocks of
two places differ by at most `skew`.

With a `Wiring`, not every two places can reach each other: what is for another place goes by the routers between them.

Nothing is sent again to a node that cannot be reached before it can be, so a world comes to rest: at rest, every frame
that could be carried has been, and every timer that could change anything has gone off.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import inf, nextafter
from random import Random
from typing import Any, Protocol

from triplewire.network.link import LogEntry
from triplewire.network.maps import RoutedFrame
from triplewire.network.node import NodeState, Participant

Pair = tuple[str, str]
Witness = Callable[[str, str, Any, float | None], None]

_DOUBT = 0.25
"""The share of patience after which a link between routers is suspected."""


class Wires(Protocol):
    """Which places can speak to each other, and the routers there."""

    def is_router(self, name: str) -> bool:
        """Whether a node is one."""

    def router_at(self, place: str) -> str:
        """The router of a place."""

    def is_wired(self, a: str, b: str) -> bool:
        """Whether two places can speak to each other at once, if nothing is cut."""

    def is_connected(self, a: str, b: str) -> bool:
        """Whether there is a way between two places now."""

    def changed(self) -> None:
        """A place, or a wire, has come or gone."""


class World:
    """Nodes by name, and the time in seconds. `delay` and `skew` are in milliseconds, `delay` from least to most."""

    def __init__(
        self,
        seed: int = 0,
        *,
        delay: tuple[float, float] = (1, 50),
        loss: float = 0.0,
        duplication: float = 0.0,
        patience: float = 5.0,
        skew: float = 0.0,
    ) -> None:
        if not 0 <= loss < 1:
            raise ValueError(f"loss is a share from 0 to less than 1, and is {loss}")
        if not 0 <= duplication <= 1:
            raise ValueError(f"duplication is a share from 0 to 1, and is {duplication}")
        if not 0 <= delay[0] <= delay[1]:
            raise ValueError(f"delay is from the least to the most milliseconds, and is {delay}")
        if skew < 0:
            raise ValueError(f"skew is how many milliseconds clocks differ, and is {skew}")
        self.now = 0.0
        self.chance = Random(seed)
        self.messages: Counter[str] = Counter()
        """How many frames were sent between nodes, by kind: what a body is called, or the kind of the frame."""
        self.nodes: dict[str, Participant] = {}
        """The nodes that are up."""
        self.patience = patience
        self._delay, self._loss, self._duplication = (delay[0] / 1000, delay[1] / 1000), loss, duplication
        self._queue: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = count()
        self._ticks: dict[Pair, float] = {}
        self._seed, self._skew = seed, skew / 1000
        self._offsets: dict[str, float] = {}
        self._down: dict[str, tuple[NodeState, Callable[[NodeState], Participant]]] = {}
        self._makers: dict[str, Callable[[NodeState], Participant]] = {}
        self._cut: set[Pair] = set()
        self._slow: dict[str, float] = {}
        self.place: Callable[[str], str] = lambda name: name
        """Where a node stands: what nodes at one place tell each other is no message, and meets no fault."""
        self.on_arrival: Callable[[str], None] = lambda name: None
        """What to do when a node has taken a message in."""
        self.on_silence: Callable[[str, str], None] = lambda node, peer: None
        """What to do when a node has not heard from a neighbour for `patience`."""
        self.on_failure: Callable[[str, str], None] = lambda node, peer: None
        """What to do when a node has sent to one that cannot be reached."""
        self.on_doubt: Callable[[str, str], None] = lambda router, peer: None
        """What to do when a router has not been answered by a neighbour for a while."""
        self.wiring: Wires | None = None
        self.witnesses: list[Witness] = []
        """Who sees each frame that is sent: sender, receiver, the frame, and when it arrives; None if it is lost."""

    # -- clocks

    def clock(self, name: str) -> float:
        """What the clock at the place of a node says now."""
        return self.now + self._offset(name)

    def _offset(self, name: str) -> float:
        if not self._skew:
            return 0.0
        place = self.place(name)
        if place not in self._offsets:
            self._offsets[place] = Random(f"{self._seed} {place}").uniform(0, self._skew)
        return self._offsets[place]

    # -- nodes

    def add(self, state: NodeState, make: Callable[[NodeState], Participant]) -> Participant:
        """A node comes up; `make` makes it of its state, also after a crash."""
        self._makers[state.name] = make
        self.nodes[state.name] = node = make(state)
        self._rewired(state.name)
        return node

    def remove(self, name: str) -> None:
        """A node goes, and with it what it has written."""
        self.nodes.pop(name, None)
        self._down.pop(name, None)
        self._rewired(name)

    def join(self, a: str, b: str) -> None:
        """Two nodes become neighbours."""
        for one, other in ((a, b), (b, a)):
            if one in self.nodes:
                self.carry(one, self.nodes[one].connect(other, self.clock(one)))
                self.miss(one, other)

    def crash(self, name: str) -> None:
        """A node loses everything but its state; what it was just sending may be lost as well."""
        node = self.nodes.pop(name, None)
        if node is None:
            raise ValueError(f"{name} is not up")
        self._down[name] = node.state, self._makers[name]
        self._rewired(name)
        is_lost = self.chance.random() < 0.5
        if is_lost:
            self._queue = [each for each in self._queue if each[2] != self._arrive or each[3][0] != name]
            heapq.heapify(self._queue)
        self._watch([(peer, name) for peer in node.neighbours])

    def restart(self, name: str) -> Participant:
        """A node that has crashed comes up again, with the state that it had."""
        if name not in self._down:
            raise ValueError(f"{name} has not crashed")
        state, make = self._down.pop(name)
        node = self.nodes[name] = make(state)
        self._rewired(name)
        for peer in list(node.neighbours):
            self.carry(name, node.connect(peer, self.clock(name)))
            self._wake(peer, name)
            self.miss(name, peer)
        return node

    def state_of(self, name: str) -> NodeState:
        """What a node has written durably, whether it is up or has crashed."""
        return self.nodes[name].state if name in self.nodes else self._down[name][0]

    def is_down(self, name: str) -> bool:
        """Whether a node has crashed."""
        return name in self._down

    # -- faults

    def partition(self, some: Iterable[str], others: Iterable[str], *, one_way: bool = False) -> None:
        """Nothing gets from the one side's places to the other's any more; with `one_way`, it still does back."""
        some, others = list(some), list(others)
        pairs = {(a, b) for a in some for b in others} | (set() if one_way else {(b, a) for a in some for b in others})
        self._cut |= pairs
        self._rewired()
        self._watch([(name, peer) for name, peer in self._ends() if self._places_of(peer, name) in pairs])

    def heal(self) -> None:
        """All partitions end."""
        cut, self._cut = self._cut, set()
        self._rewired()
        for name, peer in self._ends():
            if self._places_of(name, peer) in cut or self._places_of(peer, name) in cut:
                self._wake(name, peer)

    def mend(self, a: str, b: str) -> None:
        """Two places are not cut off from each other any more."""
        self._cut -= {(a, b), (b, a)}
        self._rewired()

    def _rewired(self, name: str | None = None) -> None:
        if self.wiring is not None and (name is None or self.wiring.is_router(name)):
            self.wiring.changed()

    def look_again(self) -> None:
        """Something has changed between places that are wired: those who lose their way to a neighbour find out."""
        ends = self._ends()
        self._watch(end for end in ends if self._is_silent(*end))
        for end in ends:
            self._wake(*end)

    def moved(self, name: str) -> None:
        """A node stands at another place now, from where it reaches others than before."""
        for end in [(name, peer) for peer in self.nodes[name].neighbours]:
            for one, other in (end, end[::-1]):
                self._wake(one, other)
                if one in self.nodes and not self.reaches(other, one):
                    self._watch([(one, other)])

    def _ends(self) -> list[Pair]:
        """The ends of all links that are up."""
        return [(name, peer) for name, node in self.nodes.items() for peer in node.neighbours]

    def _places_of(self, a: str, b: str) -> Pair:
        return self.place(a), self.place(b)

    def slow(self, name: str, factor: float) -> None:
        """Everything that a node sends takes so many times as long."""
        self._slow[name] = factor

    def is_cut(self, a: str, b: str) -> bool:
        """Whether a partition keeps what one node sends from another one."""
        return self._places_of(a, b) in self._cut

    def reaches(self, a: str, b: str) -> bool:
        """Whether a frame from one node gets to another."""
        if a not in self.nodes or b not in self.nodes:
            return False
        if self.wiring is None:
            return not (self._cut and self.is_cut(a, b))
        here, there = self._places_of(a, b)
        if a == b or not self._are_routers(a, b):
            return self.wiring.is_connected(here, there)
        return self.wiring.is_wired(here, there) and (here, there) not in self._cut

    def miss(self, node: str, peer: str) -> None:
        """A node that waits for one that it cannot hear of has to find out, too."""
        if not self.reaches(peer, node):
            self._watch([(node, peer)])

    def _watch(self, pairs: Iterable[Pair]) -> None:
        for node, peer in pairs:
            self.at(self.now + self.patience, self._notice, node, peer, self.on_silence)
            if self._are_routers(node, peer):
                self.at(self.now + _DOUBT * self.patience, self._notice, node, peer, self.on_doubt)

    def _notice(self, node: str, peer: str, do: Callable[[str, str], None]) -> None:
        if self._is_silent(node, peer) and peer in self.nodes[node].neighbours:
            do(node, peer)

    def _is_silent(self, node: str, peer: str) -> bool:
        """Whether a node does not hear from a neighbour; a router, whether it is not answered."""
        is_answered = not self._are_routers(node, peer) or self.reaches(node, peer)
        return node in self.nodes and not (is_answered and self.reaches(peer, node))

    def _are_routers(self, a: str, b: str) -> bool:
        return self.wiring is not None and self.wiring.is_router(a) and self.wiring.is_router(b)

    # -- frames

    def carry(self, sender: str, frames: Sequence[tuple[str, Any]]) -> None:
        """Send what a step of a node has led to."""
        touched = dict.fromkeys(peer for peer, _ in frames)
        here = self.place(sender)
        for peer, frame in frames:
            if self.place(peer) == here:
                self.at(self.now, self._arrive, sender, peer, frame)
                continue
            if self.wiring is not None and not self._are_routers(sender, peer):
                self._hand_on(sender, peer, frame)
                continue
            self.messages[_kind(frame)] += 1
            copies = 1 + (self._duplication > 0 and self.chance.random() < self._duplication)
            for _ in range(copies):
                arrives = self._arrival(sender, peer)
                if arrives is not None:
                    self.at(arrives, self._arrive, sender, peer, frame)
                for see in self.witnesses:
                    see(sender, peer, frame, arrives)
            if not self.reaches(sender, peer):
                self.on_failure(sender, peer)
        for peer in (*touched, sender):
            self._wake(sender, peer)

    def _hand_on(self, sender: str, peer: str, frame: Any) -> None:
        """Hand the router of a place what is for another one."""
        assert self.wiring is not None, "there are routers"
        if not isinstance(frame, RoutedFrame):  # else it came where its receiver was before, and is sent again
            here, there = map(self.wiring.router_at, self._places_of(sender, peer))
            self.at(self.now, self._arrive, sender, here, RoutedFrame(sender, peer, there, frame))

    def _arrival(self, sender: str, receiver: str) -> float | None:
        """When a frame that is sent now arrives; None if it is lost."""
        if not self.reaches(sender, receiver) or (self._loss and self.chance.random() < self._loss):
            return None
        return self.now + self.chance.uniform(*self._delay) * self._slow.get(sender, 1)

    def _arrive(self, sender: str, receiver: str, frame: Any) -> None:
        if self.reaches(sender, receiver):
            if isinstance(frame, RoutedFrame) and frame.receiver == receiver:
                sender, frame = frame.sender, frame.frame
            self.carry(receiver, self.nodes[receiver].receive(sender, frame, self.clock(receiver)))
            self._wake(receiver, sender)
            if isinstance(frame, LogEntry):
                self.on_arrival(receiver)

    # -- time

    def at(self, time: float, action: Callable[..., None], *about: Any) -> None:
        """Let something happen at a time."""
        heapq.heappush(self._queue, (time, next(self._order), action, about))

    def _wake(self, name: str, peer: str) -> None:
        """See to it that the next timer of an end of a link goes off, if that can change anything."""
        if not (self.reaches(name, peer) and self.reaches(peer, name)):
            return
        due = self._due(name, peer)
        if due is not None and due < self._ticks.get((name, peer), inf):
            self._ticks[name, peer] = due
            self.at(max(due, self.now), self._tick, name, peer, due)

    def _due(self, name: str, peer: str) -> float | None:
        """When the next timer of a node that is up goes off, by the time of the world; its own clock is there then."""
        due = self.nodes[name].due(peer)
        if due is None:
            return None
        offset = self._offset(name)
        time = due - offset
        while time + offset < due:  # numbers are rounded, and a timer that goes off too early would never end
            time = nextafter(time, inf)
        return time

    def _is_idle(self, name: str, peer: str, due: float) -> bool:
        """Whether a timer that was set has nothing to do any more; if that is later, it is set again."""
        if self._ticks.get((name, peer)) != due:
            return True
        left = self._due(name, peer) if name in self.nodes else None
        if left is not None and left <= due and self.reaches(name, peer):
            return False
        del self._ticks[name, peer]
        self._wake(name, peer)
        return True

    def _tick(self, name: str, peer: str, due: float) -> None:
        del self._ticks[name, peer]
        self.carry(name, self.nodes[name].tick(peer, self.clock(name)))
        self._wake(name, peer)

    def run(self, seconds: float | None = None) -> None:
        """Go on until nothing moves, or for so many seconds."""
        until = inf if seconds is None else self.now + seconds
        while self._queue and self._queue[0][0] <= until:
            time, _, action, about = heapq.heappop(self._queue)
            if action == self._tick and self._is_idle(*about):
                continue
            self.now = max(self.now, time)
            action(*about)
        if seconds is not None:
            self.now = until


def _kind(frame: Any) -> str:
    if isinstance(frame, RoutedFrame):
        return _kind(frame.frame)
    if isinstance(frame, LogEntry):
        return str(getattr(frame.body, "kind", "message"))
    return str(getattr(frame, "kind", type(frame).__name__.lower()))
