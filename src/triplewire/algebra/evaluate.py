"""What a pattern means: its rows over a set of triples, computed from scratch.

This is the definition. It is written to be read, not to be fast; every fast path is tested against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from pyoxigraph import Triple, Variable

from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Conjunction, Expression, Node, Optional, Pattern, TriplePattern, variables_of
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.model import Term

Binding = dict[str, Term]


class Graph:
    """Triples, found by any of their places."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples = list(dict.fromkeys(triples))
        self._by: defaultdict[tuple[int, object], list[Triple]] = defaultdict(list)
        for triple in self.triples:
            for place, term in enumerate(triple):
                self._by[place, term].append(triple)

    def candidates(self, pattern: tuple[Node, Node, Node]) -> Collection[Triple]:
        """Triples that hold every one with the pattern's constants: those of its rarest constant."""
        lists = [self._by.get((i, node), []) for i, node in enumerate(pattern) if not isinstance(node, Variable)]
        return min(lists, key=len) if lists else self.triples


def evaluate(pattern: Pattern, triples: Iterable[Triple] | Graph, taxonomy: Taxonomy = EMPTY) -> list[Binding]:
    """The distinct rows of the pattern over the triples, in no particular order.

    A row has a value for each answer variable that its branch binds.
    """
    graph = triples if isinstance(triples, Graph) else Graph(triples)
    rows: dict[frozenset[tuple[str, Term]], Binding] = {}
    for branch in pattern.branches:
        for solution in solutions(branch, graph, taxonomy):
            row = {name: solution[name] for name in pattern.answer if name in solution}
            rows.setdefault(frozenset(row.items()), row)
    return list(rows.values())


def solutions(conjunction: Conjunction, graph: Graph, taxonomy: Taxonomy = EMPTY) -> Iterator[Binding]:
    """Every binding of all of the conjunction's variables, optional ones included."""
    for found in _join(conjunction.triples, conjunction.conditions, dict(conjunction.bindings), graph, taxonomy):
        yield from optional_rows(conjunction.optionals, found, graph, taxonomy)


def optional_rows(optionals: tuple[Optional, ...], row: Binding, graph: Graph, taxonomy: Taxonomy) -> Iterator[Binding]:
    """The row, extended by each optional part in turn where that matches (SPARQL's LeftJoin); one by one, because there
    may be very many."""
    if not optionals:
        yield row
        return
    part, rest = optionals[0], optionals[1:]
    extended = False
    for wider in _join(part.triples, part.conditions, row, graph, taxonomy):
        extended = True
        yield from optional_rows(rest, wider, graph, taxonomy)
    if not extended:
        yield from optional_rows(rest, row, graph, taxonomy)


def _join(
    triples: tuple[TriplePattern, ...],
    conditions: tuple[Expression, ...],
    row: Binding,
    graph: Graph,
    taxonomy: Taxonomy,
) -> Iterator[Binding]:
    """Bind one triple pattern after the other, the one with the fewest candidates first; then the conditions."""
    if not triples:
        if all(holds(condition, row, taxonomy) for condition in conditions):
            yield row
        return
    places = [substitute(triple, row) for triple in triples]
    lists = [graph.candidates(place) for place in places]
    chosen = min(range(len(triples)), key=lambda i: len(lists[i]))
    rest = triples[:chosen] + triples[chosen + 1 :]
    for triple in lists[chosen]:
        wider = unify(places[chosen], triple, row)
        if wider is not None and _still_possible(conditions, wider, row, taxonomy):
            yield from _join(rest, conditions, wider, graph, taxonomy)


def _still_possible(conditions: tuple[Expression, ...], row: Binding, before: Binding, taxonomy: Taxonomy) -> bool:
    """False as soon as a condition whose variables have just become known does not hold."""
    return all(
        holds(condition, row, taxonomy)
        for condition in conditions
        if (needs := variables_of(condition)) <= row.keys() and not needs <= before.keys()
    )


def substitute(pattern: TriplePattern, row: Binding) -> TriplePattern:
    """The pattern with the row's values in place of its variables."""
    return TriplePattern(*(row.get(n.value, n) if isinstance(n, Variable) else n for n in pattern))


def unify(pattern: TriplePattern, triple: Triple, row: Binding) -> Binding | None:
    """The row, extended so that the pattern is the triple; None if it cannot be."""
    wider = dict(row)
    for node, term in zip(pattern, triple, strict=True):
        if not isinstance(node, Variable):
            if node != term:
                return None
        elif wider.setdefault(node.value, term) != term:
            return None
    return wider
