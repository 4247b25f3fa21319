"""Atoms: for each triple pattern of a conjunction, the pattern of one triple that seeds it.

A triple that takes part in a solution always fits the atom of its position. The atom may let through more, because
the matcher looks at the whole conjunction again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pyoxigraph import Variable

from triplewire.algebra.canonical import simple_test
from triplewire.algebra.conditions import arranged
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import (
    Conjunction,
    Expression,
    Node,
    Pattern,
    TriplePattern,
    render,
    variable,
    variables_of,
)
from triplewire.algebra.substitution import replace_nodes, replace_variables
from triplewire.matching.incremental.patterns import dump_pattern
from triplewire.matching.incremental.shapes import shape_of

_KEPT = 16_384
"""How many atoms are kept in mind."""


@dataclass(frozen=True, slots=True)
class Atom:
    """What seeds a position of a conjunction's shape: `pattern` has one triple pattern and no answer.

    `is_optional`: the position is in an optional part, so that its triples change columns and decide no match.
    `definition` is the pattern as text.
    """

    position: int
    pattern: Pattern
    is_optional: bool
    definition: str


def atoms_of(conjunction: Conjunction, *, is_normal: bool = False) -> list[Atom]:
    """The atoms, one for each position of the shape, in order; equal ones have equal patterns.

    A pattern without branches says that the position never matches. `is_normal`: the conjunction is one of a pattern
    in normal form; then its required atoms are in normal form too, as they are.
    """
    shaped = shape_of(conjunction)
    swap: dict[str, Node] = dict(conjunction.bindings)
    outer = [replace_variables(condition, swap) for condition in conjunction.conditions]
    found: list[Atom] = []
    for number, size in enumerate(map(len, (shaped.shape.required, *shaped.shape.optionals))):
        inner = conjunction.optionals[number - 1].conditions if number else ()
        conditions = _Conditions([*outer, *(replace_variables(condition, swap) for condition in inner)])
        for triple in shaped.triples[len(found) : len(found) + size]:
            pattern, definition = _seeding(triple, conditions.about(triple), is_normal and not number)
            found.append(Atom(len(found), pattern, number > 0, definition))
    return found


def enumerating(atom: Pattern) -> Pattern:
    """The pattern of an atom, with every variable an answer: each triple that fits is told, not only the first."""
    names = sorted({name for branch in atom.branches for name in branch.variables})
    return Pattern(tuple(names), atom.branches, is_normal=True)


class _Conditions:
    """Conditions by what they speak of: most have one variable."""

    def __init__(self, conditions: Iterable[Expression]) -> None:
        self._alone: defaultdict[str, list[Expression]] = defaultdict(list)
        self._joint: list[Expression] = []
        for condition in conditions:
            names = variables_of(condition)
            if len(names) == 1:
                self._alone[min(names)].append(condition)
            elif names:
                self._joint.append(condition)

    def about(self, triple: TriplePattern) -> tuple[Expression, ...]:
        """Those that speak of nothing but this triple's variables."""
        names = triple.variables
        found = [condition for name in names if name in self._alone for condition in self._alone[name]]
        found += [condition for condition in self._joint if variables_of(condition).issubset(names)]
        return tuple(found)


@lru_cache(maxsize=_KEPT)
def _seeding(triple: TriplePattern, conditions: tuple[Expression, ...], is_normal: bool) -> tuple[Pattern, str]:
    """The triple pattern with its conditions, the variables named by their first place; kept, as most are shared."""
    names = {node.value: place for node, place in zip(reversed(triple), "ops", strict=True) if type(node) is Variable}
    swap: dict[str, Node] = {old: variable(new) for old, new in names.items()}
    renamed = replace_nodes(triple, swap)
    kept = {arranged(replace_variables(condition, swap)) for condition in _cheap(conditions)}
    atom = Conjunction((renamed,), tuple(sorted(kept, key=render) if len(kept) > 1 else kept))
    pattern = Pattern((), (atom,), is_normal)
    return (pattern, dump_pattern(pattern)) if is_normal else _normal(pattern)


@lru_cache(maxsize=_KEPT)
def _normal(pattern: Pattern) -> tuple[Pattern, str]:
    normal = normalize(pattern)
    return normal, dump_pattern(normal)


def _cheap(conditions: Iterable[Expression]) -> Iterator[Expression]:
    """Those of the conditions that the index tests itself; no inequalities.

    Why not: thousands of thresholds would be thousands of atoms that all fire for one large number. As it is they are
    one atom, and the index with the whole patterns finds the thresholds by a slice.
    """
    for condition in conditions:
        test = simple_test(condition)
        if test is not None and not test.is_inequality:
            yield condition
