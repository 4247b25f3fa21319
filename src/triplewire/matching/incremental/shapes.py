"""Shapes: conjunctions without their constants, so that thousands of subscriptions share one plan (MDV's rule groups).

Predicates stay: they say where to look. A constant subject or object becomes a variable of its own, one for each
distinct constant, so that what two triple patterns share stays shared. Conditions are no part of a shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pyoxigraph import Variable

from triplewire.algebra.pattern import Conjunction, Node, Optional, TriplePattern
from triplewire.algebra.substitution import replace_nodes
from triplewire.matching.encoding import dumps, loads
from triplewire.model import Term

Places = tuple[int, int | str, int]
"""A triple pattern of a shape: numbers of variables; a predicate that is no variable is its N-Triples text."""

_ROUNDS = 3
"""How far around it a variable is looked at to find its place in the order."""

_Label = tuple[str, int]
_Triple = tuple[Node, Node, Node]
_Colours = dict[Node, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """A conjunction without its constants; `constants` are the numbers of the variables that stand for them.

    Positions count the required triple patterns first, then those of the optional parts, part by part.
    """

    required: tuple[Places, ...]
    optionals: tuple[tuple[Places, ...], ...] = ()
    constants: tuple[int, ...] = ()

    @property
    def triples(self) -> tuple[Places, ...]:
        """The triple patterns by position."""
        return self.required + tuple(triple for part in self.optionals for triple in part)

    @property
    def size(self) -> int:
        """How many positions there are."""
        return len(self.triples)

    @property
    def predicates(self) -> tuple[str, ...]:
        """The texts of its predicates, each once."""
        return tuple(dict.fromkeys(p for _, p, _ in self.triples if isinstance(p, str)))

    def encode(self) -> str:
        """The shape as text; equal shapes have equal texts."""
        return dumps([self.required, self.optionals, self.constants]).decode()

    @classmethod
    def decode(cls, text: str) -> Shape:
        """The shape that was encoded."""
        required, optionals, constants = loads(text.encode())
        return cls(_places(required), tuple(map(_places, optionals)), tuple(constants))


def _places(plain: list[list[int | str]]) -> tuple[Places, ...]:
    return tuple((int(s), p, int(o)) for s, p, o in plain)


@dataclass(frozen=True, slots=True)
class Shaped:
    """A conjunction taken apart: its shape, its constants in the shape's order, its triple patterns by position.

    `slots` has the numbers of its variables in the shape.
    """

    shape: Shape
    constants: tuple[Term, ...]
    triples: tuple[TriplePattern, ...]
    slots: dict[str, int]


@lru_cache(maxsize=4096)
def shape_of(conjunction: Conjunction) -> Shaped:
    """The shape of a conjunction, and what makes it this one among those of the shape.

    Conjunctions that differ in constants, names of variables and order have one shape where a few rounds of
    refinement tell their triple patterns apart; where they do not, there are two shapes, which costs a little sharing.
    """
    parts = [conjunction.triples, *(part.triples for part in _fixed_optionals(conjunction))]
    colours = _refined(parts)
    ordered = [tuple(sorted(part, key=lambda t: _order(t, colours))) for part in parts]
    numbers: dict[Node, int] = {}
    required, *optionals = [tuple(_numbered(triple, numbers) for triple in part) for part in ordered]
    constants = [(number, node) for node, number in numbers.items() if not isinstance(node, Variable)]
    return Shaped(
        Shape(required, tuple(optionals), tuple(number for number, _ in constants)),
        tuple(node for _, node in constants),
        tuple(triple for part in ordered for triple in part),
        {node.value: number for node, number in numbers.items() if isinstance(node, Variable)},
    )


def _fixed_optionals(conjunction: Conjunction) -> Iterator[Optional]:
    """The optional parts with the constants that the conjunction's bindings put in place of variables."""
    swap: dict[str, Node] = dict(conjunction.bindings)
    for part in conjunction.optionals:
        yield Optional(tuple(replace_nodes(triple, swap) for triple in part.triples), part.conditions)


def _numbered(triple: TriplePattern, numbers: dict[Node, int]) -> Places:
    """The places of a triple pattern; what is new gets the next number."""
    subject, predicate, object = triple
    s = numbers.setdefault(subject, len(numbers))
    p: int | str = numbers.setdefault(predicate, len(numbers)) if isinstance(predicate, Variable) else str(predicate)
    return s, p, numbers.setdefault(object, len(numbers))


def _refined(parts: list[tuple[TriplePattern, ...]]) -> _Colours:
    """A number for each variable and constant, from what is around it: alike where nothing tells them apart."""
    nodes = {node for part in parts for triple in part for node in _joined(triple)}
    colours: _Colours = {node: int(not isinstance(node, Variable)) for node in nodes}
    for _ in range(_ROUNDS):
        around: defaultdict[Node, list[tuple[int, int, tuple[_Label, int, int]]]] = defaultdict(list)
        for number, part in enumerate(parts):
            for triple in part:
                order = _order(triple, colours)
                for place, node in enumerate(triple):
                    if place != 1 or isinstance(node, Variable):
                        around[node].append((number, place, order))
        seen = {node: (colours[node], sorted(around[node])) for node in nodes}
        ranks = {repr(sight): sight for sight in seen.values()}
        ordered = {text: rank for rank, text in enumerate(sorted(ranks, key=lambda text: ranks[text]))}
        colours = {node: ordered[repr(sight)] for node, sight in seen.items()}
    return colours


def _joined(triple: _Triple) -> Iterable[Node]:
    """The nodes that join a triple pattern to others: all but a constant predicate."""
    return triple if isinstance(triple[1], Variable) else (triple[0], triple[2])


def _order(triple: _Triple, colours: _Colours) -> tuple[_Label, int, int]:
    subject, predicate, object = triple
    label = ("", colours[predicate]) if isinstance(predicate, Variable) else (str(predicate), 0)
    return label, colours[subject], colours[object]


def unanchored(conjunction: Conjunction) -> tuple[Optional, ...]:
    """The optional parts with a triple pattern that no chain of variables inside the part ties to the required ones.

    Where what they hang from has no value they range over everything (not well-designed, in the words of Pérez,
    Arenas and Gutierrez 2009), so a change of one of their triples concerns every row.
    """
    return tuple(part for part in conjunction.optionals if not _is_anchored(part, conjunction.variables))


def _is_anchored(part: Optional, known: frozenset[str]) -> bool:
    waiting = [frozenset(triple.variables) for triple in part.triples]
    while waiting:
        reached = [names for names in waiting if names & known]
        if not reached:
            return False
        waiting = [names for names in waiting if not names & known]
        known = known.union(*reached)
    return True
