"""W1: graph patterns over graphs (G-ToPSS, its section 5 and table 1).

A publication has 35 nodes and 90 edges: a simple path through all nodes, then edges between random pairs. A
subscription has 5 nodes and about 8 edges. One in a thousand is a subgraph of a publication, and so matches it; half of
the others are subgraphs of one big graph, and so overlap; the rest are random. In nine of ten, two nodes become
variables; a fifth of these has a constraint on a variable.

The paper matches one publication again and again. Here documents differ, so that nothing is measured that was cached
for the one before, and each has its own thousandth of subscriptions: that touches more of the index than if
all publications had a part in common that the matching subscriptions come from.

A `Shape` has other sizes and another overlap, for the figures of the paper. W1-ISA is the same with an is-a constraint
on a variable in half of the subscriptions with variables.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Variable

from benchmarks.workloads.taxonomies import CLASSES, class_node, taxonomy
from benchmarks.workloads.workload import Query, Workload
from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, Pattern, TriplePattern, variable
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.model import RDF, RDFS, Document

PUBLICATION = (35, 90)
MATCHING = 0.001
DOCUMENTS = 50
LABELS = 50
NODES = 1000
BIG_GRAPH_EDGES = 8 * NODES
_REACH = 4
_NUMBERS = 1000

Edge = tuple[int, int, int]
"""Subject, label, object; a node at or above NODES is a number (a literal), which is never a subject."""


class Shape(NamedTuple):
    """What subscriptions look like, beyond their number: the parameters of the paper's experiments."""

    nodes: int = 5
    edges: int = 8
    overlap: float = 0.5
    """The part of those that do not match that are subgraphs of one big graph."""
    is_strict: bool = False
    """Whether those that match have no more edges than the others, too."""


SHAPE = Shape()


class Drawn(NamedTuple):
    """A subscription before it is a pattern: where it comes from, its edges, and which nodes become variables."""

    source: str
    edges: Sequence[Edge]
    variables: Sequence[int]


def generate(name: str, subscriptions: int, seed: int, matching: int | None = None, shape: Shape = SHAPE) -> Workload:
    """The workload W1 or W1-ISA; `matching` subscriptions match each document (a thousandth if not given)."""
    sources = Sources(subscriptions, seed, matching, shape)
    hierarchy = taxonomy((_node(i) for i in range(NODES)), seed) if name == "W1-ISA" else EMPTY  # type: ignore[misc]
    pattern = _patterns(sources, hierarchy, seed)
    return Workload(
        name=name,
        subscriptions=subscriptions,
        documents=[_document(i, edges) for i, edges in enumerate(sources.publications)],
        pattern=pattern,
        query=lambda i: _query(pattern(i)),
        taxonomy=hierarchy,
    )


class Sources:
    """What subscriptions are drawn from: the publications, the big graph, and chance."""

    def __init__(self, subscriptions: int, seed: int, matching: int | None, shape: Shape = SHAPE) -> None:
        chance = random.Random(f"graphs {seed}")
        share = max(1, round(subscriptions * MATCHING)) if matching is None else matching
        self.subscriptions, self.seed, self.shape = subscriptions, seed, shape
        self.matching = min(share * DOCUMENTS, subscriptions)
        self.publications = [random_graph(chance, *PUBLICATION) for _ in range(DOCUMENTS)]
        self.windows = _windows(_big_graph(chance), shape.nodes)

    def draw(self, i: int) -> Drawn:
        """The subscription of a number; the matching ones are spread evenly among the others."""
        chance = random.Random(f"subscription {self.seed} {i}")
        before, after = i * self.matching // self.subscriptions, (i + 1) * self.matching // self.subscriptions
        if before != after:
            source, edges = "publication", self._matching(chance, self.publications[before % DOCUMENTS])
        elif int((i + 1) * self.shape.overlap) != int(i * self.shape.overlap):
            source, edges = "big graph", self._overlapping(chance)
        else:
            source, edges = "chance", random_graph(chance, self.shape.nodes, self.shape.edges)
        nodes = sorted({node for s, _, o in edges for node in (s, o)})
        return Drawn(source, edges, chance.sample(nodes, 2) if chance.random() < 0.9 else ())

    def _matching(self, chance: random.Random, publication: Sequence[Edge]) -> list[Edge]:
        edges = dense_subgraph(chance, publication, self.shape.nodes)
        return edges[: self.shape.edges] if self.shape.is_strict else edges

    def _overlapping(self, chance: random.Random) -> list[Edge]:
        path, others = chance.choice(self.windows)
        return path + chance.sample(others, min(len(others), max(0, self.shape.edges - len(path))))


def random_graph(chance: random.Random, nodes: int, edges: int) -> list[Edge]:
    """A simple path through random nodes, the last one perhaps a number, then edges between random pairs of them."""
    chosen = chance.sample(range(NODES), nodes)
    if nodes > 5 or chance.random() < 0.15:
        chosen[-1] = NODES + chance.randrange(_NUMBERS)
    found = {(s, chance.randrange(LABELS), o): None for s, o in pairwise(chosen)}
    while len(found) < edges:
        s, o = chance.sample(chosen, 2)
        if s < NODES:
            found[s, chance.randrange(LABELS), o] = None
    return list(found)


def _big_graph(chance: random.Random) -> list[Edge]:
    """A ring through all nodes, then edges between nodes near each other on it: dense wherever it is cut."""
    ring = chance.sample(range(NODES), NODES)
    found = {(ring[i - 1], chance.randrange(LABELS), ring[i]): None for i in range(NODES)}
    while len(found) < BIG_GRAPH_EDGES:
        place, step = chance.randrange(NODES), chance.randint(1, _REACH)
        pair = [ring[place], ring[(place + step) % NODES]]
        chance.shuffle(pair)
        found[pair[0], chance.randrange(LABELS), pair[1]] = None
    return list(found)


def _windows(edges: list[Edge], size: int) -> list[tuple[list[Edge], list[Edge]]]:
    """For each place on the ring: the path of so many nodes from there, and the other edges between these nodes."""
    ring = [s for s, _, _ in edges[:NODES]]
    at: dict[int, list[Edge]] = {}
    for edge in edges[NODES:]:
        at.setdefault(edge[0], []).append(edge)
    found = []
    for i in range(NODES):
        nodes = [ring[(i + step) % NODES] for step in range(size)]
        path = [edges[(i + step) % NODES] for step in range(size - 1)]
        found.append((path, [edge for node in nodes for edge in at.get(node, ()) if edge[2] in nodes]))
    return found


def dense_subgraph(chance: random.Random, edges: Sequence[Edge], size: int = SHAPE.nodes) -> list[Edge]:
    """Some nodes of a graph that hang together, grown to where most edges are, and the edges between them."""
    nodes = {chance.choice(edges)[0]}
    while len(nodes) < size:
        gains: dict[int, int] = {}
        for s, _, o in edges:
            if (s in nodes) != (o in nodes):
                outer = o if s in nodes else s
                gains[outer] = gains.get(outer, 0) + 1
        nodes.add(max(sorted(gains), key=lambda node: gains[node] + chance.random() * 1.5))
    return [edge for edge in edges if edge[0] in nodes and edge[2] in nodes]


def _node(number: int) -> NamedNode | Literal:
    if number >= NODES:
        return Literal(number - NODES)
    return NamedNode(f"http://things.example/area{number % 20}/n{number}")


def _label(number: int) -> NamedNode:
    return NamedNode(f"http://labels.example/p{number}")


def _document(number: int, edges: Sequence[Edge]) -> Document:
    lines = "\n".join(f"{_node(s)} {_label(p)} {_node(o)} ." for s, p, o in edges)
    return Document.from_lines(f"http://publications.example/{number}", lines.encode())


def _patterns(sources: Sources, hierarchy: Taxonomy, seed: int) -> Callable[[int], Pattern]:
    def pattern(i: int) -> Pattern:
        drawn = sources.draw(i)
        chance = random.Random(f"constraint {seed} {i}")
        names = dict(zip(drawn.variables, ("x", "y"), strict=False))

        def node(number: int) -> Node:
            return variable(names[number]) if number in names else _node(number)

        triples = sorted((TriplePattern(node(s), _label(p), node(o)) for s, p, o in drawn.edges), key=str)
        conditions = _conditions(chance, drawn, hierarchy)
        # As simple as they come: every variable is an answer, no triple or condition follows from another one.
        return Pattern(tuple(names.values()), (Conjunction(tuple(triples), conditions),), is_normal=True)

    return pattern


def _conditions(chance: random.Random, drawn: Drawn, hierarchy: Taxonomy) -> tuple[Expression, ...]:
    if not drawn.variables:
        return ()
    node, subject = drawn.variables[0], variable("x")
    if hierarchy is not EMPTY:
        return _is_a(chance, drawn, hierarchy) if chance.random() < 0.5 else ()
    if chance.random() >= 0.2:
        return ()
    if node >= NODES:
        return (Call(">=", (subject, Literal(node - NODES - chance.randrange(10)))),)
    return (Call("starts", (Call("str", (subject,)), Literal(f"http://things.example/area{node % 20}/"))),)


def _is_a(chance: random.Random, drawn: Drawn, hierarchy: Taxonomy) -> tuple[Expression, ...]:
    """Below a class that the node is in (the nearest three) for those that match, below any class for the others."""
    node, name = min(zip(drawn.variables, "xy", strict=True))
    if drawn.source == "publication":
        above = list(hierarchy.ancestors(_node(node)))
        return (Call("descendant", (variable(name), chance.choice(above[:3]))),)  # type: ignore[arg-type]
    return (Call("descendant", (variable(name), class_node(chance.randrange(CLASSES)))),)


def _query(pattern: Pattern) -> Query:
    branch = pattern.branches[0]
    document, hierarchy = [f"{triple} ." for triple in branch.triples], []
    for condition in branch.conditions:
        assert isinstance(condition, Call)
        subject, constant = condition.arguments
        if condition.function == "descendant":
            hierarchy.append(f"{subject} <{RDF}type>/<{RDFS}subClassOf>* {constant} .")
        elif isinstance(subject, Variable):
            document.append(f"FILTER({subject} {condition.function} {constant})")
        else:
            document.append(f"FILTER(STRSTARTS(STR({subject.arguments[0]}), {constant}))")  # type: ignore[union-attr]
    return Query(" ".join(document), " ".join(hierarchy))
