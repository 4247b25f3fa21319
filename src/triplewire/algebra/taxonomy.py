"""A taxonomy: classes and properties below each other, and the instances that it lists (G-ToPSS section 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import BlankNode, Quad, Triple

from triplewire.errors import TaxonomyError
from triplewire.model import RDF, RDFS, Term

_BELOW = frozenset([RDFS + "subClassOf", RDFS + "subPropertyOf"])
_TYPE = RDF + "type"
_METACLASSES = frozenset(
    [RDFS + "Class", RDFS + "Datatype", RDF + "Property"]
    + [f"http://www.w3.org/2002/07/owl#{kind}" for kind in ("Class", "ObjectProperty", "DatatypeProperty")]
)

Edges = Mapping[Term, tuple[Term, ...]]


class Taxonomy:
    """Which node is below which. Nodes are classes and properties (a DAG), and instances that hang from classes.

    Several parents are fine; a cycle is refused and named. That a node is below itself says nothing and is passed
    over; so is that a class is an `rdfs:Class`. An instance is one step below its classes and has nothing below it.
    Blank nodes (OWL's restrictions, say) are passed over: no subscription can name them, and those of a document are
    other nodes.
    """

    __slots__ = ("_below", "_instances", "_narrower", "_types")

    def __init__(self, below: Iterable[tuple[Term, Term]] = (), types: Iterable[tuple[Term, Term]] = ()) -> None:
        """`below` has pairs (narrower, broader), `types` has pairs (instance, class)."""
        self._below = _grouped(below)
        self._types = _grouped(types)
        self._narrower = _turned(self._below)
        self._instances = _turned(self._types)
        _refuse_cycles(self._below, self._narrower)

    @classmethod
    def from_triples(cls, triples: Iterable[Triple | Quad]) -> Taxonomy:
        """The taxonomy that RDFS triples (a document's `triples`, say) state; other triples are passed over."""
        below, types = [], []
        for triple in triples:
            predicate = triple.predicate.value
            if predicate in _BELOW:
                below.append((triple.subject, triple.object))
            elif predicate == _TYPE and getattr(triple.object, "value", None) not in _METACLASSES:
                types.append((triple.subject, triple.object))
        return cls(below, types)  # type: ignore[arg-type]  # pyoxigraph's triples may hold triple terms, ours do not

    def parents(self, node: Term) -> tuple[Term, ...]:
        """The nodes one step above."""
        return self._types.get(node, ()) + self._below.get(node, ())

    def children(self, node: Term) -> tuple[Term, ...]:
        """The nodes one step below, instances last."""
        return tuple(dict.fromkeys(self._narrower.get(node, ()) + self._instances.get(node, ())))

    def ancestors(self, node: Term) -> Iterator[Term]:
        """The nodes above, each once, nearest first; not the node itself."""
        return self._climb(node, self.parents(node))

    def broader(self, node: Term) -> Iterator[Term]:
        """The nodes above by subclass alone: all that is below the node is below these too."""
        return self._climb(node, self._below.get(node, ()))

    def _climb(self, node: Term, level: tuple[Term, ...]) -> Iterator[Term]:
        seen = {node}
        while level:
            fresh = [found for found in dict.fromkeys(level) if found not in seen]
            yield from fresh
            seen.update(fresh)
            level = tuple(above for found in fresh for above in self._below.get(found, ()))

    def descendants(self, node: Term) -> Iterator[Term]:
        """The nodes below, instances included, each once, nearest first; not the node itself.

        Invariant: x is among the descendants of y if and only if y is among the ancestors of x.
        """
        told, opened = {node}, {node}
        level = [node]
        while level:
            below = [narrower for broader in level for narrower in self._narrower.get(broader, ())]
            instances = [instance for broader in level for instance in self._instances.get(broader, ())]
            fresh = [found for found in dict.fromkeys(below + instances) if found not in told]
            yield from fresh
            told.update(fresh)
            level = [found for found in dict.fromkeys(below) if found not in opened]
            opened.update(level)

    def relates(self, relation: str, node: Term, other: Term) -> bool:
        """True if node is a `descendant`, `descendant-or-self`, `ancestor` or `child` of other."""
        if relation == "child":
            return other in self.parents(node)
        if relation == "ancestor":
            return any(found == node for found in self.ancestors(other))
        if relation == "descendant-or-self" and node == other:
            return True
        return any(found == other for found in self.ancestors(node))

    def below(self) -> Iterator[tuple[Term, Term]]:
        """The pairs (narrower, broader) that it was made of."""
        return ((child, parent) for child, parents in self._below.items() for parent in parents)

    def types(self) -> Iterator[tuple[Term, Term]]:
        """The pairs (instance, class) that it was made of."""
        return ((child, parent) for child, parents in self._types.items() for parent in parents)

    def nodes(self) -> Iterator[Term]:
        """Every node that is below or above another one, each once."""
        yield from dict.fromkeys([*self._below, *self._types, *self._narrower, *self._instances])

    def __len__(self) -> int:
        return sum(1 for _ in self.nodes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return _as_sets(self._below) == _as_sets(other._below) and _as_sets(self._types) == _as_sets(other._types)

    def __hash__(self) -> int:
        return hash((len(self._below), len(self._types)))


def _grouped(pairs: Iterable[tuple[Term, Term]]) -> dict[Term, tuple[Term, ...]]:
    groups: dict[Term, dict[Term, None]] = {}
    for key, value in pairs:
        if key != value and not isinstance(key, BlankNode) and not isinstance(value, BlankNode):
            groups.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in groups.items()}


def _as_sets(edges: Edges) -> dict[Term, frozenset[Term]]:
    return {node: frozenset(parents) for node, parents in edges.items()}


def _turned(edges: Edges) -> Edges:
    return _grouped((parent, child) for child, parents in edges.items() for parent in parents)


def _refuse_cycles(below: Edges, narrower: Edges) -> None:
    """Take away node after node that has nothing above it; what cannot be taken away hangs below a cycle."""
    left = {node: len(parents) for node, parents in below.items()}
    free = [node for node in narrower if node not in left]
    while free:
        for child in narrower.get(free.pop(), ()):
            left[child] -= 1
            if not left[child]:
                del left[child]
                free.append(child)
    if left:
        raise _cycle(_some_cycle(below, left))


def _some_cycle(below: Edges, left: Mapping[Term, int]) -> list[Term]:
    """Climb among the nodes that are left until one comes again: each of them has another one above it."""
    path: dict[Term, None] = {}
    node = next(iter(left))
    while node not in path:
        path[node] = None
        node = next(parent for parent in below[node] if parent in left)
    climbed = [*path]
    return [*climbed[climbed.index(node) :], node]


def _cycle(nodes: list[Term]) -> TaxonomyError:
    names = tuple(getattr(node, "value", str(node)) for node in nodes)
    return TaxonomyError(
        f"the taxonomy has a cycle: {' is below '.join(names)}; take one of these statements out", cycle=names
    )


EMPTY = Taxonomy()
"""The taxonomy that knows nothing."""
