"""What a peer knows of the ring, and the rules by which that becomes right (S1; Chord, with Zave's corrections).

A peer knows the next peers clockwise (`successors`), the one before it (`predecessor`), and fingers: the successors of
places 1, 2, 4, … after its own. The published rules of Chord can break a ring for good; these are the ones that Pamela
Zave has proved ("Reasoning about identifier spaces", 2017), made to act on news instead of by the clock:

    join        a peer asks for the successor of its own place, and takes its list of successors over
    stabilise   a peer that hears from its successor takes over that one's list behind it; if the successor has a nearer
                predecessor, that one is asked, and becomes the successor only when it answers: so it is alive
    rectify     a peer takes another as its predecessor if that is nearer, or if the one it had does not answer any more
    lose        a peer that does not answer is struck from everything; the next successor takes its place

What a peer knows changes only by these. News travel backwards: a peer whose successors or predecessor change tells the
one before it. A peer is responsible for the places after `start`, up to its own; while its predecessor is unknown,
nothing is added to that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triplewire.network.ring.identifiers import BITS, SIZE, distance, identify, is_between

LENGTH = 8
"""How many successors a peer knows: so many may fail at once."""


@dataclass(slots=True)
class RingView:
    """What a peer knows of the ring; `lost` are those that do not answer."""

    name: str
    successors: tuple[str, ...] = ()
    predecessor: str | None = None
    start: int | None = None
    fingers: dict[int, str] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)
    contact: str | None = None
    """A peer of the ring that this one comes to, until it has a successor."""
    _ways: list[tuple[int, str]] = field(default_factory=list)

    @property
    def place(self) -> int:
        """Where the peer is."""
        return identify(self.name)

    @property
    def known(self) -> set[str]:
        """All peers that this one knows."""
        found = {*self.successors, *self.fingers.values()}
        return found if self.predecessor is None else {*found, self.predecessor}

    # -- ways

    def owns(self, target: int) -> bool:
        """Whether this peer is responsible for a place."""
        return self.start is not None and is_between(target, self.start, self.place)

    def hop(self, target: int) -> tuple[str, bool]:
        """The peer that is next on the way to a place; and whether that should be the one that is responsible."""
        if not self.successors and self.contact is not None:
            return self.contact, False
        if is_between(target, self.place, identify(self.successors[0])):
            return self.successors[0], True
        way = bisect_left(self._ways, (distance(self.place, target) or SIZE, "")) - 1
        return self._ways[way][1], False

    def _changed(self) -> None:
        ways = {name: distance(self.place, identify(name)) for name in (*self.successors, *self.fingers.values())}
        self._ways = sorted((far, name) for name, far in ways.items())

    def finger_start(self, number: int) -> int:
        """The place that a finger is the successor of."""
        return (self.place + (1 << number)) % SIZE

    def far_fingers(self) -> list[int]:
        """The fingers that are not the successor itself."""
        near = distance(self.place, identify(self.successors[0])) if self.successors else SIZE
        return [number for number in range(BITS) if 1 << number > near]

    def point(self, numbers: Iterable[int], name: str) -> None:
        """A finger has been found."""
        self.fingers.update((number, name) for number in numbers if name != self.name)
        self._changed()

    # -- rules

    def is_nearer(self, name: str) -> bool:
        """Whether a peer is the successor, or should be."""
        far = distance(self.place, identify(name))
        return not self.successors or far <= distance(self.place, identify(self.successors[0]))

    def stabilise(self, name: str, successors: Sequence[str]) -> bool:
        """A successor has told of its own; whether anything changes."""
        if name == self.name or not self.is_nearer(name):
            return False
        return self._succeed((name, *successors))

    def _succeed(self, names: Iterable[str]) -> bool:
        """Take over a list of successors, up to where it comes around to this peer."""
        found: list[str] = []
        farthest = 0
        for name in names:
            far = distance(self.place, identify(name))
            if name not in self.lost and far > farthest:
                found.append(name)
                farthest = far
        before, self.successors = self.successors, tuple(found[:LENGTH])
        if before == self.successors:
            return False
        self.contact = None
        self._changed()
        return True

    def should_precede(self, name: str, predecessor: str | None) -> bool:
        """Whether this peer should be the predecessor of another one, rather than the one it has."""
        return predecessor != self.name and (
            predecessor is None or is_between(self.place, identify(predecessor), identify(name))
        )

    def is_before(self, name: str, other: str) -> bool:
        """Whether a peer is strictly between this one and another."""
        return name not in (self.name, other) and is_between(identify(name), self.place, identify(other))

    def rectify(self, name: str) -> bool:
        """A peer says that it is just before this one; whether it becomes the predecessor."""
        if name in (self.name, self.predecessor):
            return False
        if self.predecessor is not None and not is_between(identify(name), identify(self.predecessor), self.place):
            return False
        self.predecessor, self.start = name, identify(name)
        if not self.successors:  # of two, each is before the other, and after it
            self._succeed((name,))
        return True

    def lose(self, name: str) -> list[int]:
        """A peer does not answer any more; gives the fingers that are missing now."""
        self.lost[name] = None
        others = self.known - {name}
        missing = [number for number, finger in self.fingers.items() if finger == name]
        for number in missing:
            del self.fingers[number]
        if self.predecessor == name:
            self.predecessor = None
        left = [other for other in self.successors if other != name]
        if not left and others:
            left = [min(others, key=lambda other: distance(self.place, identify(other)))]
        self.successors = tuple(left)
        if not left and self.contact is None:
            self.start, self.predecessor = self.place, None
        self._changed()
        return missing

    def meet(self, contact: str | None) -> None:
        """Come to the ring of another peer; without one, be a ring alone."""
        self.contact = contact
        if contact is None:
            self.start = self.place

    def find(self, name: str) -> None:
        """A peer answers."""
        self.lost.pop(name, None)


def ideal(names: Iterable[str], *, length: int = LENGTH) -> dict[str, RingView]:
    """What each peer of a ring knows when everything has become right, with so many successors."""
    order = sorted(names, key=identify)
    places = [identify(name) for name in order]
    views: dict[str, RingView] = {}
    for at, name in enumerate(order):
        view = views[name] = RingView(name)
        if len(order) == 1:
            view.meet(None)
            break
        view.successors = tuple(order[(at + 1 + i) % len(order)] for i in range(min(length, len(order) - 1)))
        view.predecessor = order[at - 1]
        view.start = identify(view.predecessor)
        for number in view.far_fingers():
            finger = order[bisect_left(places, view.finger_start(number)) % len(order)]
            if finger != name:
                view.fingers[number] = finger
        view._changed()
    return views
