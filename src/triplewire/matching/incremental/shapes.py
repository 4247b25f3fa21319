"""Shapes: conjunctions without their constants, so that thousands of subscriptions share one plan (MDV's rule groups).

Predicates stay: they say where to look. A constant subject or object becomes a variable of its own, one for each
distinct constant, so that what two triple patterns share stays shared. Conditions are no part of a shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pyoxigraph import Variable

from triplewire.algebra.encoding import dumps, loads
from triplewire.algebra.pattern import Conjunction, Node, Optional, TriplePattern
from triplewire.algebra.substitution import replace_nodes
from triplewire.model import Term

Places = tuple[int, int | str, int]
"""A triple pattern of a shape: numbers of variables; a predicate that is no variable is its N-Triples text."""

_ROUNDS = 3
"""How far around it a variable is looked at to find its place in the order."""

_Label = tuple[str, int]
_Parts = tuple[tuple[Places, ...], ...]


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
    numbers: dict[Node, int] = {}
    written = tuple(tuple([_numbered(triple, numbers) for triple in part]) for part in parts)
    nodes = list(numbers)
    frame = _frame(written, tuple([isinstance(node, Variable) for node in nodes]))
    triples = [triple for part in parts for triple in part]
    return Shaped(
        frame.shape,
        tuple([nodes[number] for number in frame.constants]),  # type: ignore[misc]  # variables are none of them
        tuple([triples[place] for place in frame.order]),
        {node.value: frame.slots[number] for number, node in enumerate(nodes) if isinstance(node, Variable)},
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


# -- from the order in which a conjunction is written to that of its shape


@dataclass(frozen=True, slots=True)
class _Frame:
    """A shape, and how conjunctions that are written alike come to it: by the numbers that they are written with.

    `order` has the places of their triple patterns by position, `constants` what the shape's constants were, and
    `slots` what each number has become.
    """

    shape: Shape
    order: tuple[int, ...]
    constants: tuple[int, ...]
    slots: tuple[int, ...]


@lru_cache(maxsize=4096)
def _frame(parts: _Parts, is_variable: tuple[bool, ...]) -> _Frame:
    """Kept, because thousands of subscriptions that one program writes are written alike."""
    colours = _refined(parts, is_variable)
    slots: dict[int, int] = {}
    order: list[int] = []
    ordered: list[tuple[Places, ...]] = []
    for part in parts:
        chosen = sorted(range(len(part)), key=lambda place: _order(part[place], colours))
        order += [sum(map(len, ordered)) + place for place in chosen]
        ordered.append(tuple([_renumbered(part[place], slots) for place in chosen]))
    constants = [number for number in slots if not is_variable[number]]
    return _Frame(
        Shape(ordered[0], tuple(ordered[1:]), tuple([slots[number] for number in constants])),
        tuple(order),
        tuple(constants),
        tuple([slots[number] for number in range(len(is_variable))]),
    )


def _renumbered(triple: Places, slots: dict[int, int]) -> Places:
    subject, predicate, object = triple
    s = slots.setdefault(subject, len(slots))
    p = slots.setdefault(predicate, len(slots)) if isinstance(predicate, int) else predicate
    return s, p, slots.setdefault(object, len(slots))


def _refined(parts: _Parts, is_variable: tuple[bool, ...]) -> list[int]:
    """A colour for each variable and constant, from what is around it: alike where nothing tells them apart."""
    colours = [int(not variable) for variable in is_variable]
    for _ in range(_ROUNDS):
        around: list[list[tuple[int, int, tuple[_Label, int, int]]]] = [[] for _ in colours]
        for number, part in enumerate(parts):
            for triple in part:
                order = _order(triple, colours)
                for place, node in enumerate(triple):
                    if isinstance(node, int):
                        around[node].append((number, place, order))
        seen = [(colour, sorted(sights)) for colour, sights in zip(colours, around, strict=True)]
        ranks = {repr(sight): sight for sight in seen}
        ordered = {text: rank for rank, text in enumerate(sorted(ranks, key=lambda text: ranks[text]))}
        colours = [ordered[repr(sight)] for sight in seen]
    return colours


def _order(triple: Places, colours: list[int]) -> tuple[_Label, int, int]:
    subject, predicate, object = triple
    label = ("", colours[predicate]) if isinstance(predicate, int) else (predicate, 0)
    return label, colours[subject], colours[object]


def unanchored(conjunction: Conjunction) -> tuple[Optional, ...]:
    """The optional parts with a triple pattern that no chain inside the part ties to the required ones.

    A chain is one of variables, and of constants that both have. Where what such a part hangs from has no value it
    ranges over everything (not well-designed, in the words of Pérez, Arenas and Gutierrez 2009), so a change of one of
    its triples concerns every row.
    """
    known = frozenset[Node]().union(*(triple.joints for triple in conjunction.triples))
    return tuple(part for part in _fixed_optionals(conjunction) if not _is_anchored(part, known))


def _is_anchored(part: Optional, known: frozenset[Node]) -> bool:
    waiting = [triple.joints for triple in part.triples]
    while waiting:
        reached = [joints for joints in waiting if joints & known]
        if not reached:
            return False
        waiting = [joints for joints in waiting if not joints & known]
        known = known.union(*reached)
    return True
