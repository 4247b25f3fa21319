"""A loop over the subscriptions in Python, each evaluated from scratch."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.workloads import Workload
from triplewire.algebra.evaluate import Graph, evaluate
from triplewire.model import Document


class Naive(Alternative):
    """`evaluate` for one subscription after the other; the document is indexed once, before."""

    name = "naive"

    def __init__(self, workload: Workload, sample: Sequence[int]) -> None:
        self._workload = workload
        self._patterns = [workload.pattern(i) for i in sample]
        self.sampled, self.share = len(sample), len(sample) / workload.subscriptions

    def takes(self, batch: int) -> bool:
        return batch == 1

    def ready(self, batch: Sequence[Document]) -> Timed:
        graph, taxonomy = Graph(batch[0].triples), self._workload.taxonomy
        return lambda: sum(1 for pattern in self._patterns if evaluate(pattern, graph, taxonomy))

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        graph, workload = Graph(document.triples), self._workload
        return {i for i in asked if evaluate(workload.pattern(i), graph, workload.taxonomy)}
