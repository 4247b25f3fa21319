"""pyoxigraph with one query for each subscription.

It has no prepared queries: each text is parsed and planned whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from pyoxigraph import DefaultGraph, NamedNode, Quad, QuerySolutions, Store

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.workloads import Query, Workload
from benchmarks.workloads.rules import prologue
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import RDF, RDFS, Document

DOCUMENTS = 100
"""How many documents are asked about at once, as named graphs."""


class OxigraphEach(Alternative):
    """A store that holds one document, and an ASK for each subscription."""

    name = "pyoxigraph-each"

    def __init__(self, workload: Workload, sample: Sequence[int]) -> None:
        self._workload = workload
        self._texts = [_ask(workload.query(i)) for i in sample]
        self._store = _store(workload.taxonomy)
        self._held: list[Quad] = []
        self.sampled, self.share = len(sample), len(sample) / workload.subscriptions

    def takes(self, batch: int) -> bool:
        return batch == 1

    def ready(self, batch: Sequence[Document]) -> Timed:
        self._hold(batch[0])
        store = self._store
        return lambda: sum(1 for text in self._texts if store.query(text))

    def _hold(self, document: Document) -> None:
        for quad in self._held:
            self._store.remove(quad)
        self._held = [Quad(*triple) for triple in document.triples]
        self._store.extend(self._held)

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        self._hold(document)
        return {i for i in asked if self._store.query(_ask(self._workload.query(i)))}


class OxigraphBatch(Alternative):
    """A store that holds a hundred documents as named graphs, and a query for each subscription: which graphs match."""

    name = "pyoxigraph-batch"

    def __init__(self, workload: Workload, sample: Sequence[int]) -> None:
        self._workload = workload
        self._texts = [_select(workload.query(i)) for i in sample]
        self.sampled, self.share = len(sample), len(sample) / workload.subscriptions

    def takes(self, batch: int) -> bool:
        return batch == DOCUMENTS

    def ready(self, batch: Sequence[Document]) -> Timed:
        store = _store(self._workload.taxonomy)
        store.bulk_extend(quad for document in batch for quad in _named(document))
        return lambda: [_graphs(store, text) for text in self._texts]

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        store = _store(self._workload.taxonomy)
        store.extend(_named(document))
        return {i for i in asked if _graphs(store, _select(self._workload.query(i)))}


def _ask(query: Query) -> str:
    return f"{prologue()}ASK {{ {query.document} {query.taxonomy} }}"


def _select(query: Query) -> str:
    return f"{prologue()}SELECT DISTINCT ?g {{ GRAPH ?g {{ {query.document} }} {query.taxonomy} }}"


def _graphs(store: Store, text: str) -> list[object]:
    found = store.query(text)
    assert isinstance(found, QuerySolutions)
    return [row["g"] for row in found]


def _named(document: Document) -> Iterator[Quad]:
    graph = NamedNode(document.uri)
    return (Quad(triple.subject, triple.predicate, triple.object, graph) for triple in document.triples)


def _store(taxonomy: Taxonomy) -> Store:
    store = Store()
    store.bulk_extend(_statements(taxonomy))
    return store


def _statements(taxonomy: Taxonomy) -> Iterable[Quad]:
    below, kind = NamedNode(RDFS + "subClassOf"), NamedNode(RDF + "type")
    for narrower, broader in taxonomy.below():
        yield Quad(narrower, below, broader, DefaultGraph())  # type: ignore[arg-type]
    for instance, above in taxonomy.types():
        yield Quad(instance, kind, above, DefaultGraph())  # type: ignore[arg-type]
