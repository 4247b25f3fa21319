"""Lines: what follows from `<`, `<=` and `=` between places, and whether it can be.

Each line is a total order, taken as dense, so a set of comparisons can be met if and only if no chain of them leads
from a place back to itself through a `<` and none makes two places equal that must differ. Number lines are tied by
rounding, which keeps order but not strictness: `x <= y` exactly implies it as doubles, and `x < y` as doubles
implies it exactly. On the line of times distances count too, because times with and without a zone compare only
when they are far enough apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

from pyoxigraph import Variable

from triplewire.algebra.covering.facts import AS_DOUBLES, AS_SINGLES, EXACTLY, TEXT, Ordering, Place, Point, position
from triplewire.algebra.covering.sorts import NUMBERS, Sort, TermKind, kind_of
from triplewire.algebra.pattern import Call

Strength = tuple[Fraction, bool]
"""How far one place is before another at least, and whether it is more than that."""

_AT_MOST: Strength = (Fraction(0), False)
_LESS: Strength = (Fraction(0), True)
_NUMBER_LINES = (EXACTLY, AS_DOUBLES, AS_SINGLES)
_ROUNDING = ((EXACTLY, AS_DOUBLES), (EXACTLY, AS_SINGLES), (AS_DOUBLES, AS_SINGLES), (AS_SINGLES, AS_DOUBLES))


class Line:
    """A total order on places, of which some facts are known."""

    def __init__(self) -> None:
        self.places: dict[Place, Any] = {}
        self._known: dict[tuple[Place, Place], Strength] = {}
        self._apart: list[tuple[Place, Place]] = []

    def put(self, place: Place, value: Any = None) -> None:
        """Give a place a seat; those whose value is known stand where they belong among each other."""
        if place in self.places:
            return
        if value is not None:
            for other, there in self.places.items():
                if there is not None:
                    self._arrange(place, value, other, there)
        self.places[place] = value

    def _arrange(self, place: Place, value: Any, other: Place, there: Any) -> None:
        if value == there:
            self.equate(place, other)
        elif isinstance(value, Fraction):
            self.learn(place, other, (there - value, False))
            self.learn(other, place, (value - there, False))
        elif value < there:
            self.learn(place, other, _LESS)
        else:
            self.learn(other, place, _LESS)

    def learn(self, low: Place, high: Place, strength: Strength) -> bool:
        """Note that low is before high by so much, and all that follows; True if that is news."""
        if self.knows(low, high, strength):
            return False
        below = [(low, _AT_MOST), *((place, s) for (place, to), s in self._known.items() if to == low)]
        above = [(high, _AT_MOST), *((to, s) for (place, to), s in self._known.items() if place == high)]
        for first, one in below:
            for last, two in above:
                total = _added(_added(one, strength), two)
                self._known[first, last] = max(total, self._known.get((first, last), total))
        return True

    def equate(self, a: Place, b: Place) -> None:
        """Note that two places are one."""
        self.learn(a, b, _AT_MOST)
        self.learn(b, a, _AT_MOST)

    def part(self, a: Place, b: Place) -> None:
        """Note that two places are not one."""
        self._apart.append((a, b))

    def knows(self, low: Place, high: Place, strength: Strength) -> bool:
        """True if low is known to be before high by so much."""
        known = self._known.get((low, high))
        return (low == high and strength <= _AT_MOST) or (known is not None and known >= strength)

    def equal(self, a: Place, b: Place) -> bool:
        """True if both are known to be one place."""
        return self.knows(a, b, _AT_MOST) and self.knows(b, a, _AT_MOST)

    @property
    def broken(self) -> bool:
        """True if what is known cannot be."""
        round_trip = any(strength > _AT_MOST for (low, high), strength in self._known.items() if low == high)
        return round_trip or any(self.equal(a, b) for a, b in self._apart)

    def value_at(self, place: Place) -> Any:
        """The value that a place is known to have; None if it is open."""
        if place not in self.places:
            return None
        return next((v for other, v in self.places.items() if v is not None and self.equal(other, place)), None)


def _added(one: Strength, two: Strength) -> Strength:
    return one[0] + two[0], one[1] or two[1]


class Lines:
    """All lines of one case, in which the kinds of the variables are given."""

    def __init__(self, kinds: Mapping[str, TermKind]) -> None:
        self._kinds = kinds
        self._lines: defaultdict[str, Line] = defaultdict(Line)

    def add(self, order: Ordering, positive: bool) -> None:
        """Note a comparison, or that it is not so."""
        line, left, right = self._lines[order.line], order.left, order.right
        self._seat(order.line, left)
        self._seat(order.line, right)
        if order.operator == "=":
            (line.equate if positive else line.part)(left, right)
        elif positive:
            line.learn(left, right, (order.gap, order.operator == "<"))
        else:
            line.learn(right, left, (-order.gap, order.operator != "<"))

    def _seat(self, line: str, place: Place) -> bool:
        """Put the place on the line, if it has a value there."""
        if isinstance(place, Variable | Call):
            self._lines[line].put(place)
            return True
        value = place.value if isinstance(place, Point) else position(line, place)
        if value is not None:
            self._lines[line].put(place, value)
        return value is not None

    def texts(self) -> Line:
        """The line of texts; none is before the empty one."""
        line, nothing = self._lines[TEXT], Point("")
        line.put(nothing, "")
        for place in line.places:
            line.learn(nothing, place, _AT_MOST)
        return line

    def between(self, text: Place, low: str, high: str) -> bool:
        """True if the text is known to be at least low, and less than high."""
        line = self._lines[TEXT]
        for bound in (low, high):
            line.put(Point(bound), bound)
        return line.knows(Point(low), text, _AT_MOST) and line.knows(text, Point(high), _LESS)

    def within(self, text: Place, low: str, high: str) -> None:
        """Note that a text is at least low, and less than high."""
        line = self._lines[TEXT]
        line.put(text)
        for bound in (low, high):
            line.put(Point(bound), bound)
        line.learn(Point(low), text, _AT_MOST)
        line.learn(text, Point(high), _LESS)

    def tie_numbers(self) -> None:
        """Carry what is known on one number line to the others, until nothing is new."""
        used = [line for line in _NUMBER_LINES if line in self._lines]
        if len(used) < 2:
            return
        for place in dict.fromkeys(place for line in used for place in self._lines[line].places):
            for line in used:
                if self._has_value(place, line):
                    self._seat(line, place)
        ties = [*self._ties(used)]
        while sum(self._carry(*tie) for tie in ties):
            pass

    def _ties(self, used: list[str]) -> Iterator[tuple[Line, Line, Place, Place]]:
        for fine, coarse in _ROUNDING:
            if fine in used and coarse in used:
                tied = [p for p in self._lines[fine].places if self._is_rounded(p, fine, coarse)]
                for a, b in permutations(tied, 2):
                    yield self._lines[fine], self._lines[coarse], a, b

    def _carry(self, fine: Line, coarse: Line, a: Place, b: Place) -> bool:
        news = fine.knows(a, b, _AT_MOST) and coarse.learn(a, b, _AT_MOST)
        return (coarse.knows(a, b, _LESS) and fine.learn(a, b, _LESS)) or news

    def _kind(self, place: Place) -> TermKind | None:
        if isinstance(place, Variable):
            return self._kinds[place.value]
        return None if isinstance(place, Point | Call) else kind_of(place)

    def _has_value(self, place: Place, line: str) -> bool:
        kind = self._kind(place)
        if kind is None:
            return False
        if kind.sort is Sort.EXACT or (kind.numeric is True and not isinstance(place, Variable)):
            return True
        return kind.numeric is True if line == EXACTLY else kind.sort in NUMBERS

    def _is_rounded(self, place: Place, fine: str, coarse: str) -> bool:
        """True if the place's value on the coarse line is that on the fine one, rounded."""
        kind = self._kind(place)
        if kind is None or place not in self._lines[coarse].places:
            return False
        if fine == AS_SINGLES:
            there = self._lines[coarse].places[place]
            return kind.sort is Sort.SINGLE or (there is not None and there == self._lines[fine].places[place])
        return (fine, coarse, kind.sort) != (EXACTLY, AS_DOUBLES, Sort.SINGLE)

    def broken(self) -> bool:
        """True if some line cannot be."""
        return any(line.broken for line in self._lines.values())
