"""Mappings: the ways in which one pattern's triples can be found among another's (homomorphisms).

A strict mapping sends each triple pattern onto one of the target's, node by node. A wide mapping may also need
two nodes of the target to be the same term; it says so in `needs`, and applies in the cases in which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import Variable

from triplewire.algebra.pattern import Call, Expression, Node, TriplePattern


@dataclass(frozen=True, slots=True)
class Homomorphism:
    """Where each variable goes, and what must be the same for it."""

    images: Mapping[str, Node]
    needs: tuple[Expression, ...] = ()


Fits = Callable[[Homomorphism, Homomorphism], bool]
Goal = tuple[TriplePattern, list[TriplePattern]]
"""A triple pattern, and those that it can be sent onto."""


def mappings(
    source: tuple[TriplePattern, ...],
    target: tuple[TriplePattern, ...],
    fixed: Homomorphism,
    *,
    wide: bool,
    spend: Callable[[int], None],
    fits: Fits = lambda before, after: True,
) -> Iterator[Homomorphism]:
    """The ways to extend `fixed`.

    `spend` hears of each attempt; `fits` is asked at each step, with the mapping before and after, whether to go on.
    """

    def ways(goal: Goal, known: Homomorphism) -> Iterator[tuple[TriplePattern, Homomorphism]]:
        spend(len(goal[1]))
        for candidate in goal[1]:
            way = _sent(goal[0], candidate, known, wide)
            if way is not None and fits(known, way):
                yield candidate, way

    def search(goals: list[Goal], known: Homomorphism) -> Iterator[Homomorphism]:
        if not goals:
            yield known
            return
        chosen = max(goals, key=lambda goal: (_settled(goal[0], known), -len(goal[1])))
        rest = [goal for goal in goals if goal is not chosen]
        for way in _distinct(chosen[0], (way for _, way in ways(chosen, known))):
            yield from search(rest, way)

    goals: list[Goal] = []
    for triple in source:
        goals.append((triple, [there for there, _ in ways((triple, [*target]), fixed)]))
        if not goals[-1][1]:
            return
    yield from search(goals, fixed)


def _settled(triple: TriplePattern, known: Homomorphism) -> int:
    """How many of its places can no longer be chosen; a subject or object counts for more than a predicate."""
    weights = zip(triple, (2, 1, 2), strict=True)
    return sum(weight for node, weight in weights if not isinstance(node, Variable) or node.value in known.images)


def _distinct(triple: TriplePattern, ways: Iterator[Homomorphism]) -> Iterator[Homomorphism]:
    """The ways, each once: several candidates may come to the same."""
    seen = set()
    for way in ways:
        key = (tuple(way.images.get(name) for name in triple.variables), way.needs)
        if key not in seen:
            seen.add(key)
            yield way


def _sent(triple: TriplePattern, candidate: TriplePattern, fixed: Homomorphism, wide: bool) -> Homomorphism | None:
    """The mapping that also sends the triple onto the candidate; None if there is none."""
    images, needs = dict(fixed.images), dict.fromkeys(fixed.needs)
    for node, there in zip(triple, candidate, strict=True):
        here = images.setdefault(node.value, there) if isinstance(node, Variable) else node
        if here != there:
            need = same(here, there) if wide else None
            if need is None:
                return None
            needs[need] = None
    return Homomorphism(images, tuple(needs))


def same(one: Node, two: Node) -> Expression | None:
    """The condition that both are one term; None if they cannot be."""
    if not isinstance(one, Variable) and not isinstance(two, Variable):
        return None
    first, second = sorted((one, two), key=str)
    return Call("same", (first, second))  # type: ignore[arg-type]  # a blank node is an expression as far as this goes
