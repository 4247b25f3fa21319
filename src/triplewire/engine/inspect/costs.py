"""Costs: what a standing query will ask of the engine, estimated before it stands, from what is in the store now.

A conjunction waits under its most selective triple pattern. Each triple that has the constants of that one wakes it,
and then all of its triple patterns are looked up. So it costs its triple patterns, once for itself and once for each of
the triples that would wake it if they came again; alternatives are added up. Conditions on values are not counted: how
many values a range or a text leaves is known to nobody before they come.

Why estimated and not measured: queries are matched together, in one pass over the atoms that they share, and what one
of them took of that pass nobody can say. To time each alone would measure something that never happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

from pyoxigraph import Variable

from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern
from triplewire.algebra.wording import readable, word_triple
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import Expression, Path, parts_of
from triplewire.engine.lookups import StoreLookups
from triplewire.store import Reader

MOST_COUNTED = 100_000
"""Triples of an atom are counted up to here."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How many lookups a query is estimated to take, if all that is there came again.

    `dearest` is the triple pattern under which its dearest alternative waits, and `triples` how many wake that (counted
    up to MOST_COUNTED); there is none for XPath, which costs its steps.
    """

    total: int
    dearest: str
    triples: int


@singledispatch
def cost_of(pattern: Pattern, reader: Reader, *, most: int = MOST_COUNTED) -> Cost:
    """What a pattern costs; triples of each of its triple patterns are counted up to `most`."""
    lookups = StoreLookups(reader)
    branches = [_of_branch(reader, lookups, branch, most) for branch in readable(pattern).branches if branch.triples]
    if not branches:
        return Cost(0, "", 0)
    dearest = max(branches, key=lambda cost: cost.total)
    return Cost(sum(cost.total for cost in branches), dearest.dearest, dearest.triples)


@cost_of.register(PathQuery)
def _of_path(query: PathQuery, reader: Reader, *, most: int = MOST_COUNTED) -> Cost:
    return Cost(_size(query.expression), "", 0)


def _of_branch(reader: Reader, lookups: StoreLookups, branch: Conjunction, most: int) -> Cost:
    wakes = [(selected(reader, lookups, triple, most), word_triple(triple)) for triple in branch.triples]
    triples, text = min(wakes)
    return Cost(len(wakes) * (1 + triples), text, triples)


def selected(reader: Reader, lookups: StoreLookups, triple: TriplePattern, most: int = MOST_COUNTED) -> int:
    """How many triples have the constants of a triple pattern, counted up to `most`."""
    known = [None if isinstance(node, Variable) else lookups.terms([str(node)])[0] for node in triple]
    subject, predicate, value = known
    if 0 in known:
        return 0
    if subject is not None and value is not None:
        return int(lookups.present([(subject, predicate or 0, value)])[0])
    if subject is not None:
        return lookups.fanouts([(subject, predicate or 0)], most)[0]
    if value is None:
        return reader.triples.amount(predicate or 0, most)
    return lookups.degrees([(predicate or 0, value)], most)[0]


def _size(expression: Expression) -> int:
    steps: Sequence[object] = expression.steps if isinstance(expression, Path) else ()
    return max(1, len(steps)) + sum(_size(part) for part in parts_of(expression))
