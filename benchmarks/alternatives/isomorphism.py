"""General subgraph isomorphism (VF2, of networkx): one subscription after the other, each a graph of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import networkx
from networkx.algorithms.isomorphism import DiGraphMatcher
from pyoxigraph import Triple, Variable

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.workloads import Workload
from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Pattern, TriplePattern
from triplewire.model import Document


class Isomorphism(Alternative):
    """VF2 looks for each subscription's graph in the document's; conditions are looked at when it has found one.

    Different nodes are different here: a subscription that matches only if two of its nodes are one is not found.
    """

    name = "isomorphism"

    def __init__(self, workload: Workload, sample: Sequence[int]) -> None:
        self._workload = workload
        self._asked = [_Asked(workload.pattern(i)) for i in sample]
        self.sampled, self.share = len(sample), len(sample) / workload.subscriptions

    def takes(self, batch: int) -> bool:
        return batch == 1

    def ready(self, batch: Sequence[Document]) -> Timed:
        graph = _graph(batch[0].triples)
        return lambda: sum(1 for each in self._asked if each.is_in(graph))

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        graph = _graph(document.triples)
        return {i for i in asked if _Asked(self._workload.pattern(i)).is_in(graph)}


class _Asked:
    """A subscription as a graph."""

    def __init__(self, pattern: Pattern) -> None:
        (branch,) = pattern.branches
        self._graph, self._conditions = _graph(branch.triples), branch.conditions

    def is_in(self, document: networkx.DiGraph[Any]) -> bool:
        matcher = DiGraphMatcher(document, self._graph, node_match=_is_node, edge_match=_has_labels)
        for found in matcher.subgraph_monomorphisms_iter():
            row = {node.value: term for term, node in found.items() if isinstance(node, Variable)}
            if all(holds(condition, row) for condition in self._conditions):
                return True
        return False


def _graph(triples: Sequence[Triple] | Sequence[TriplePattern]) -> networkx.DiGraph[Any]:
    """Terms are nodes, and an edge has the predicates of all triples between two of them."""
    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    for subject, predicate, object in triples:
        for node in (subject, object):
            graph.add_node(node, term=node)
        if not graph.has_edge(subject, object):
            graph.add_edge(subject, object, labels=set())
        graph.edges[subject, object]["labels"].add(predicate)
    return graph


def _is_node(there: dict[str, Any], asked: dict[str, Any]) -> bool:
    return isinstance(asked["term"], Variable) or bool(there["term"] == asked["term"])


def _has_labels(there: dict[str, Any], asked: dict[str, Any]) -> bool:
    return bool(asked["labels"] <= there["labels"])
