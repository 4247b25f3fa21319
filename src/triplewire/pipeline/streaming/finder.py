"""Finding on Spark: the seeds and documents of a large batch, shared between its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from triplewire.engine.finding import Around, SharedFinder
from triplewire.engine.overlays import Changes
from triplewire.matching.findings import Found
from triplewire.matching.incremental import MOST_TRIPLES, Seed
from triplewire.model import Document
from triplewire.pipeline.streaming.stores import seeker

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

_Share = TypeVar("_Share")
_Result = TypeVar("_Result")

SMALL = 50_000
"""Seeds, or documents, up to which the driver finds by itself. Why so many: at 16,000 seeds, two workers on two busy
cores took 1.2 to 2.2 times as long as the driver alone (`./run bench spark --part streaming`)."""


class SparkFinder(SharedFinder):
    """Hands shares to the workers of a Spark; each of them opens the store, and finds in what is committed."""

    def __init__(
        self, context: SparkContext, url: str, *, small: int = SMALL, most_triples: int = MOST_TRIPLES
    ) -> None:
        super().__init__(small)
        self._context, self._url, self._most = context, url, most_triples
        self._shares = 2 * context.defaultParallelism

    def around(self, seeds: Sequence[Seed], changes: Changes) -> list[Around]:
        """See `SharedFinder.around`; what is seeded at one resource stays together, because it is gathered together."""
        shares: list[list[Seed]] = [[] for _ in range(self._shares)]
        for seed in seeds:
            shares[seed.triple[0] % self._shares].append(seed)
        sent = self._context.broadcast(changes)
        try:
            return self._given([share for share in shares if share], _AroundSeeds(self._url, self._most, sent))
        finally:
            sent.destroy()

    def find(self, documents: Sequence[Document]) -> list[Found]:
        """See `SharedFinder.find`."""
        size = -(-len(documents) // self._shares)
        shares = [documents[first : first + size] for first in range(0, len(documents), size)]
        return list(chain.from_iterable(self._given(shares, _InDocuments(self._url, self._most))))

    def _given(self, shares: list[_Share], work: Callable[[_Share], _Result]) -> list[_Result]:
        return self._context.parallelize(shares, len(shares)).mapPartitions(_Each(work)).collect()


class _Each(Generic[_Share, _Result]):
    def __init__(self, work: Callable[[_Share], _Result]) -> None:
        self._work = work

    def __call__(self, shares: Iterable[_Share]) -> Iterator[_Result]:
        return map(self._work, shares)


class _AroundSeeds:
    def __init__(self, url: str, most_triples: int, changes: Broadcast[Changes]) -> None:
        self._url, self._most, self._changes = url, most_triples, changes

    def __call__(self, seeds: Sequence[Seed]) -> Around:
        return seeker(self._url, self._most).around(seeds, self._changes.value)


class _InDocuments:
    def __init__(self, url: str, most_triples: int) -> None:
        self._url, self._most = url, most_triples

    def __call__(self, documents: Sequence[Document]) -> list[Found]:
        return seeker(self._url, self._most).find(documents)
