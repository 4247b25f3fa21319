"""Interests: which subscriptions a neighbour is told of (P5).

Of a subscription other hubs need to know only which documents match it: its answer columns and optional parts are left
out, so many subscriptions are one *interest*. An interest has the time since when it counts, that of its oldest
subscription.

A neighbour is told of an interest if one of its advertisements could match it, and of no wider one that counts at least
as long and goes at least as far: that would bring the same documents. One that was told stays told when a wider one
comes. When a wider one goes, those that it kept back are told in the same message, so that there is no gap. When the
oldest source of an interest goes, it counts for less long from then on, also if nothing is said of that: what comes for
the sake of the older one is not kept, and so another one that is as old is told again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from pyoxigraph import NamedNode

from triplewire.algebra.covering import covers
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.network.routing.advertisements import XML, Advertised
from triplewire.network.routing.items import ItemIndex
from triplewire.network.routing.reaches import NETWORK


class Interest(NamedTuple):
    """What decides which documents match, and how far it is asked."""

    pattern: Pattern
    reach: int = NETWORK


@lru_cache(maxsize=100_000)
def interest_of(pattern: Pattern, reach: int = NETWORK) -> Interest:
    """The interest of a subscription: its pattern without columns."""
    if pattern.asks_xml:
        return Interest(pattern, reach)
    branches = tuple(replace(branch, optionals=()) for branch in pattern.branches)
    return Interest(normalize(Pattern((), branches)), reach)


def _is_wider(a: Interest, b: Interest) -> bool:
    return a.reach >= b.reach and _is_wider_pattern(a.pattern, b.pattern)


@lru_cache(maxsize=1_000_000)
def _is_wider_pattern(a: Pattern, b: Pattern) -> bool:
    return covers(a, b)


@lru_cache(maxsize=100_000)
def _signs(pattern: Pattern) -> frozenset[str]:
    """A property of each alternative; a pattern can only cover another that has all properties of one of its own."""
    return frozenset(min(_properties(branch), default="") for branch in pattern.branches)


@lru_cache(maxsize=100_000)
def _met(pattern: Pattern) -> frozenset[str]:
    """The signs that a pattern which covers this one must have some of."""
    return frozenset(("", *(name for branch in pattern.branches[:1] for name in _properties(branch))))


def _properties(branch: Conjunction) -> set[str]:
    return {triple.predicate.value for triple in branch.triples if isinstance(triple.predicate, NamedNode)}


@dataclass(slots=True)
class InterestStep:
    """The difference that a step makes to what a neighbour is told: interests with their times, and those that go."""

    added: dict[Interest, float] = field(default_factory=dict)
    removed: dict[Interest, None] = field(default_factory=dict)

    def add(self, interest: Interest, since: float) -> None:
        """It is told of this."""
        self.removed.pop(interest, None)
        self.added[interest] = since

    def remove(self, interest: Interest) -> None:
        """It is told of this no longer."""
        if self.added.pop(interest, None) is None:
            self.removed[interest] = None

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class PropertyIndex:
    """Interests by the properties that they ask for, so that what concerns some is found without a look at all.

    Those that ask for XML are under no property, and neither are those that ask for any.
    """

    def __init__(self) -> None:
        self._asking: dict[str, dict[Interest, None]] = {}
        self._names: list[str] = []

    def add(self, interest: Interest) -> None:
        """An interest comes."""
        for name in _asked_for(interest.pattern):
            if name not in self._asking:
                self._asking[name] = {}
                insort(self._names, name)
            self._asking[name][interest] = None

    def remove(self, interest: Interest) -> None:
        """An interest goes."""
        for name in _asked_for(interest.pattern):
            del self._asking[name][interest]
            if not self._asking[name]:
                del self._asking[name]
                del self._names[bisect_left(self._names, name)]

    def asking(self, name: str) -> Collection[Interest]:
        """The interests that ask for a property."""
        return self._asking.get(name, {}).keys()

    def concerned(self, item: Advertised) -> Iterator[Interest]:
        """The interests that could be matched, or not, because of an item."""
        if item.kind != "schema":
            yield from self.asking(item.name)
            return
        for place in range(bisect_left(self._names, item.name), len(self._names)):
            if not self._names[place].startswith(item.name):
                return
            yield from self.asking(self._names[place])


@lru_cache(maxsize=100_000)
def _asked_for(pattern: Pattern) -> tuple[str, ...]:
    return tuple(sorted(set[str]().union(*map(_properties, pattern.branches))))


@dataclass(slots=True)
class NeighbourInterests:
    """What concerns one neighbour: `wanted`, all interests that could go there; `told`, those that it was told of.

    `wanted` counts the times of each interest's sources: the oldest one counts. `advertised` is what the neighbour
    advertises, which the hub changes; without, the neighbour is told of all of them.
    """

    advertised: ItemIndex | None
    wanted: dict[Interest, Counter[float]] = field(default_factory=dict)
    told: dict[Interest, float] = field(default_factory=dict)
    noted: set[Interest] | None = field(default=None, repr=False, compare=False)
    """Those of which it may have been told something else since that was written down; None while nobody does."""
    _signed: dict[str, dict[Interest, None]] = field(default_factory=dict)
    _by_property: PropertyIndex = field(default_factory=PropertyIndex, compare=False)

    def want(self, interest: Interest, since: float, step: InterestStep) -> None:
        """A source of an interest comes."""
        self.count(interest, since)
        self._settle(interest, step)

    def count(self, interest: Interest, since: float) -> None:
        """A source of an interest comes, of which the neighbour may have been told before."""
        if interest not in self.wanted:
            self.wanted[interest] = Counter()
            self._by_property.add(interest)
        self.wanted[interest][since] += 1

    def drop(self, interest: Interest, since: float, step: InterestStep) -> None:
        """A source of an interest goes."""
        times = self.wanted[interest]
        times[since] -= 1
        if not times[since]:
            del times[since]
        if not times:
            del self.wanted[interest]
            self._by_property.remove(interest)
        self._settle(interest, step)

    def restore(self, told: dict[Interest, float]) -> None:
        """Go on with what the neighbour was told of before, as a store has kept it."""
        for interest, since in told.items():
            self._note(interest, since)

    def advertise(self, changed: Collection[Advertised], step: InterestStep) -> None:
        """The neighbour advertises these now, or no longer: interests that waited go, others are called back."""
        for interest in dict.fromkeys(self._concerned(changed)):
            self._settle(interest, step)

    def _concerned(self, changed: Collection[Advertised]) -> Iterator[Interest]:
        """The first item and the last one concern all interests, as XML does."""
        if self.advertised is None or not self.wanted:
            return
        is_first_or_last = len(self.advertised) <= len(changed)
        if is_first_or_last or any(item.kind == XML.kind for item in changed):
            yield from self.wanted
            return
        for item in changed:
            yield from self._by_property.concerned(item)

    def _settle(self, interest: Interest, step: InterestStep) -> None:
        """Tell of an interest, or take it back, as it should be now; and of what it kept back."""
        times = self.wanted.get(interest)
        since = min(times) if times and self._could_match(interest) else None
        before = self.told.get(interest)
        if since == before:
            return
        if since is not None and before is not None and since > before:
            self._note(interest, since)  # that needs no word, but what comes for the sake of more is not kept any more
            self._settle_kept_back(interest, step)
        elif since is None:
            self._forget(interest)
            step.remove(interest)
            self._settle_kept_back(interest, step)
        elif before is None and self._is_covered(interest, since):
            return
        else:
            self._forget(interest)
            self._note(interest, since)
            step.add(interest, since)

    def _settle_kept_back(self, wider: Interest, step: InterestStep) -> None:
        for kept_back in self._kept_back(wider):
            self._settle(kept_back, step)

    def _note(self, interest: Interest, since: float) -> None:
        self.told[interest] = since
        if self.noted is not None:
            self.noted.add(interest)
        for sign in _signs(interest.pattern):
            self._signed.setdefault(sign, {})[interest] = None

    def _could_match(self, interest: Interest) -> bool:
        return self.advertised is None or self.advertised.could_match(interest.pattern)

    def _forget(self, interest: Interest) -> None:
        if self.told.pop(interest, None) is not None:
            if self.noted is not None:
                self.noted.add(interest)
            for sign in _signs(interest.pattern):
                del self._signed[sign][interest]

    def _is_covered(self, interest: Interest, since: float) -> bool:
        return any(self.told[wider] <= since and _is_wider(wider, interest) for wider in self._candidates(interest))

    def _candidates(self, interest: Interest) -> Iterator[Interest]:
        """Interests that it was told of, and that may be wider."""
        for sign in _met(interest.pattern):
            for told in self._signed.get(sign, ()):
                if told != interest:
                    yield told

    def _kept_back(self, wider: Interest) -> list[Interest]:
        signs = _signs(wider.pattern)
        some = (
            self.wanted if "" in signs else dict.fromkeys(i for sign in signs for i in self._by_property.asking(sign))
        )
        return [each for each in some if each not in self.told and self._may_cover(signs, each, wider)]

    def _may_cover(self, signs: frozenset[str], interest: Interest, wider: Interest) -> bool:
        return not signs.isdisjoint(_met(interest.pattern)) and _is_wider(wider, interest)
