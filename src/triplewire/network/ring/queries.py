"""Queries on a ring: their subqueries, the keys that these wait under, and the order in which they are met.

SQC (section 4): a subquery waits under the key of its object if that is a constant, else of its predicate; the chain is
fixed when the query is indexed, clockwise from the peer of the subscriber.
MQC (section 5): the first subquery decides the rewriter; each other one is rewritten with the values that are known by
then, and waits under all its values, so that there is a chain for each.

The paper's queries join on the subject. Here any variables may join: from what is bound, the chain goes on to a
subquery that has a value in common with it, the nearest clockwise. Where a subquery has no constant, which the paper's
do not, it waits under a value that is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from pyoxigraph import NamedNode, Variable

from triplewire.algebra.evaluate import substitute
from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Expression, TriplePattern, variables_of
from triplewire.model import Term
from triplewire.network.ring.identifiers import distance, identify, key_at

Algorithm = Literal["sqc", "mqc"]
Binding = Mapping[str, Term]

PAPER_KEYS: Mapping[Algorithm, tuple[str, ...]] = {"sqc": ("p", "o"), "mqc": ("p", "po", "sp", "spo")}
"""The places of a triple by which it is indexed, as the paper has them."""

_LOOKED_UP: Mapping[str, str] = {"so": "s"}
"""Constants that no triple is indexed by together: where a subquery with these waits."""

_ANY = NamedNode("urn:any")

_SINGLE = ("o", "p", "s")
"""What a subquery of SQC waits under, the best first: there are more objects than predicates."""


def triple_keys(algorithm: Algorithm, *, is_wide: bool) -> tuple[str, ...]:
    """The places by which triples are indexed; `is_wide`: also for subqueries without a predicate."""
    paper = PAPER_KEYS[algorithm]
    return tuple(dict.fromkeys((*paper, "s", "o"))) if is_wide else paper


@dataclass(frozen=True, slots=True, eq=False)
class RingQuery:
    """One conjunction of a subscription, as peers know it: key(q), its subqueries, and who is told.

    `first` is the subquery that it is indexed by; `chain` the order of all of them in SQC, and empty in MQC.
    """

    key: str
    subscription: str
    home: str
    branch: int
    parts: tuple[int, ...]
    triples: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...]
    since: float
    algorithm: Algorithm
    keys: tuple[str, ...]
    chain: tuple[int, ...] = ()
    first: int = 0

    def rewritten(self, number: int, binding: Binding) -> TriplePattern:
        """A subquery with the values that are known."""
        return substitute(self.triples[number], dict(binding))

    def key_of(self, number: int, rewritten: TriplePattern) -> str | None:
        """The key that a rewritten subquery waits under; None: it has no value to wait under."""
        if self.algorithm == "sqc":
            own = constants(self.triples[number])
            places = next((place for place in _SINGLE if place in own), None)
            places = places or next((place for place in _SINGLE if place in constants(rewritten)), None)
        else:
            places = constants(rewritten)
            places = _LOOKED_UP.get(places, places)
        return key_at(places, rewritten) if places in self.keys else None  # type: ignore[arg-type]  # no variable there

    @property
    def rewriters(self) -> tuple[int, ...]:
        """The subqueries that it can be indexed by: those with a value to wait under."""
        return tuple(number for number, triple in enumerate(self.triples) if self.key_of(number, triple) is not None)

    def passes(self, before: Binding, after: Binding) -> bool:
        """Whether the conditions hold whose variables have just become known."""
        return all(
            holds(condition, dict(after))
            for condition in self.conditions
            if (needs := variables_of(condition)) <= after.keys() and not (needs <= before.keys() and before)
        )

    def conditions_on(self, number: int) -> tuple[Expression, ...]:
        """The conditions that one subquery decides alone."""
        names = {*self.triples[number].variables}
        return tuple(condition for condition in self.conditions if variables_of(condition) <= names)


class NextStep(NamedTuple):
    """A subquery that is met next: rewritten with what is known, its key, and how well it goes on from the last one.

    `order`: those that are tied to what is known come first, and of these the nearest clockwise.
    """

    order: tuple[bool, int]
    pattern: TriplePattern
    key: str


class NextSteps:
    """What queries meet next that have one partial result in common; the last key was `at`.

    Many queries go on with equal subqueries: each of these is rewritten once.
    """

    __slots__ = ("_binding", "_here", "_known")

    def __init__(self, binding: Binding, at: str) -> None:
        self._binding, self._here = binding, identify(at)
        self._known: dict[int, NextStep | None] = {}

    def after(self, query: RingQuery, done: tuple[int, ...]) -> tuple[int, NextStep]:
        """The number of the subquery that a query meets after these, and the step."""
        if query.chain:
            number = query.chain[len(done)]
            step = self._step(query, number)
            assert step is not None, "the plan was looked at when the query was indexed"
            return number, step
        best: tuple[int, NextStep] | None = None
        for number in range(len(query.triples)):
            if number not in done:
                step = self._step(query, number)
                if step is not None and (best is None or step.order < best[1].order):
                    best = number, step
        assert best is not None, "the plan was looked at when the query was indexed"
        return best

    def _step(self, query: RingQuery, number: int) -> NextStep | None:
        triple = query.triples[number]
        name = id(triple)  # queries share their subqueries, and are there while this is
        if name in self._known:
            return self._known[name]
        rewritten = query.rewritten(number, self._binding)
        key = query.key_of(number, rewritten)
        if key is None:
            found = None
        else:
            is_apart = rewritten == triple and bool(triple.variables)
            found = NextStep((is_apart, distance(self._here, identify(key))), rewritten, key)
        self._known[name] = found
        return found


@lru_cache(maxsize=100_000)
def shared_pattern(pattern: TriplePattern) -> TriplePattern:
    """The same value for equal subqueries of many queries."""
    return pattern


def constants(pattern: TriplePattern) -> str:
    """The places of a subquery that have a value, as letters."""
    return "".join(place for place, node in zip("spo", pattern, strict=True) if not isinstance(node, Variable))


def chain_of(query: RingQuery, start: int) -> tuple[int, ...] | None:
    """The order in which subqueries are met, clockwise from a place, each tied to those before it where there is one.

    None: some subquery never has a value to wait under. What becomes known is stood for by any value: which one it is
    decides the key, and not whether there is one.
    """
    known: dict[str, Term] = {}
    chain: list[int] = []
    while len(chain) < len(query.triples):
        found = []
        for number, triple in enumerate(query.triples):
            if number in chain:
                continue
            rewritten = query.rewritten(number, known)
            key = query.key_of(number, rewritten)
            if key is not None:
                is_apart = bool(chain) and rewritten == triple and bool(triple.variables)
                found.append(((is_apart, distance(start, identify(key)), number), number))
        if not found:
            return None
        number = min(found)[1]
        chain.append(number)
        known.update(dict.fromkeys(query.triples[number].variables, _ANY))
    return tuple(chain)
