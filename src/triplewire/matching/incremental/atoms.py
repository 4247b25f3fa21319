"""Atoms: for each triple pattern of a conjunction, the pattern of one triple that seeds it.

A triple that takes part in a solution always fits the atom of its position. The atom may let through more, because
the matcher looks at the whole conjunction again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Variable

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Expression, Node, Pattern, TriplePattern, variable, variables_of
from triplewire.algebra.substitution import replace_nodes, replace_variables
from triplewire.matching.bodies import write_body
from triplewire.matching.incremental.shapes import shape_of
from triplewire.matching.kernel.planning import B_FLAGS
from triplewire.matching.layout import RESIDUAL


@dataclass(frozen=True, slots=True)
class Atom:
    """What seeds a position of a conjunction's shape: `pattern` has one triple pattern and no answer.

    `is_optional`: the position is in an optional part, so that its triples change columns and decide no match.
    """

    position: int
    pattern: Pattern
    is_optional: bool


def atoms_of(conjunction: Conjunction) -> list[Atom]:
    """The atoms, one for each position of the shape, in order; equal ones have equal patterns.

    A pattern without branches says that the position never matches.
    """
    shaped = shape_of(conjunction)
    swap: dict[str, Node] = dict(conjunction.bindings)
    outer = [replace_variables(condition, swap) for condition in conjunction.conditions]
    found: list[Atom] = []
    for number, size in enumerate(map(len, (shaped.shape.required, *shaped.shape.optionals))):
        inner = conjunction.optionals[number - 1].conditions if number else ()
        conditions = [*outer, *(replace_variables(condition, swap) for condition in inner)]
        for triple in shaped.triples[len(found) : len(found) + size]:
            found.append(Atom(len(found), _seeding(triple, conditions), number > 0))
    return found


def _seeding(triple: TriplePattern, conditions: Iterable[Expression]) -> Pattern:
    """The triple pattern with what the conditions say of it alone, its variables named by their first place."""
    names = {node.value: place for node, place in zip(reversed(triple), "ops", strict=True) if type(node) is Variable}
    swap: dict[str, Node] = {old: variable(new) for old, new in names.items()}
    renamed = replace_nodes(triple, swap)
    kept = [replace_variables(condition, swap) for condition in _cheap(triple, conditions)]
    return normalize(Pattern((), (Conjunction((renamed,), tuple(kept)),)))


def _cheap(triple: TriplePattern, conditions: Iterable[Expression]) -> Iterator[Expression]:
    """The conditions on this triple alone that the index tests itself; no inequalities.

    Why not: thousands of thresholds would be thousands of atoms that all fire for one large number. As it is they are
    one atom, and the index with the whole patterns finds the thresholds by a slice.
    """
    names = set(triple.variables)
    for condition in conditions:
        needs = variables_of(condition)
        if needs and needs <= names:
            body = write_body(Conjunction((triple,), (condition,)))
            if not body.thresholds and not body.code[B_FLAGS] & RESIDUAL:
                yield condition
