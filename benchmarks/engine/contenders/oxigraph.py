"""pyoxigraph-all: the current metadata in a pyoxigraph store, and every subscription asked again after each batch."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from pyoxigraph import NamedNode, Quad, QuerySolutions, Store, Triple

from benchmarks.engine.contenders.contender import Contender, Rows, Step
from benchmarks.engine.workload import Change, Workload
from triplewire.model import RDFS, Document

SAMPLE = 100
"""How many subscriptions are asked; the time is scaled to all of them, because it is linear in their number."""


class OxigraphAll(Contender):
    """The store is in memory, which is kinder than a file. What it holds of each document is remembered beside it.

    Timed: changing the store, and asking. Not timed: comparing the answers with those before.
    """

    name = "pyoxigraph-all"
    events = None

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._workload = workload
        size = min(SAMPLE, workload.subscriptions)
        chosen = random.Random(f"sample {workload.name}").sample(range(workload.subscriptions), size)
        self.sampled = size if size < workload.subscriptions else None
        self._share = size / workload.subscriptions
        self._texts = [workload.query(i) for i in sorted(chosen)]
        self._held: dict[str, bytes] = {}
        self._store = Store()
        below = NamedNode(RDFS + "subClassOf")
        self._store.extend(Quad(lower, below, upper) for lower, upper in workload.taxonomy.below())  # type: ignore[arg-type]

    def ready(self, changes: Sequence[Change]) -> list[Step]:
        ask = Step(lambda: [self._resources(text) for text in self._texts], 1 / self._share)
        return [Step(self._writing(changes)), ask]

    def follow(self, changes: Sequence[Change]) -> None:
        self._writing(changes)()

    def load(self, documents: Iterable[Document], progress: Callable[[int], None] = lambda done: None) -> None:
        for done, document in enumerate(documents):
            self._held[document.uri] = document.ntriples
            self._store.bulk_extend(map(_quad, document.triples))
            if not done % 1000:
                progress(done)

    def rows(self, asked: Collection[int]) -> Rows:
        return {i: frozenset(self._resources(self._workload.query(i))) for i in asked}

    def _writing(self, changes: Sequence[Change]) -> Callable[[], None]:
        """No two documents of these workloads state the same triple, so what one no longer states is gone."""
        gone = [Document(uri, self._held.pop(uri)) for uri, _ in changes if uri in self._held]
        come = [document for _, document in changes if document is not None]
        self._held |= {document.uri: document.ntriples for document in come}
        removed = [_quad(triple) for document in gone for triple in document.triples]
        added = [_quad(triple) for document in come for triple in document.triples]

        def write() -> None:
            for quad in removed:
                self._store.remove(quad)
            self._store.extend(added)

        return write

    def _resources(self, text: str) -> list[str]:
        found = self._store.query(text)
        assert isinstance(found, QuerySolutions)
        return [row[0].value for row in found]


def _quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)
