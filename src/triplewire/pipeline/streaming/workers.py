"""Finding on Spark: the seeds and documents of a large batch, shared between its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from triplewire.engine.finders import Around, SharedFinder
from triplewire.engine.overlays import Changes
from triplewire.matching.findings import Found
from triplewire.matching.incremental import MOST_TRIPLES, Seed
from triplewire.matching.incremental.fans import Piece
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
        super().__init__(small, shares=2 * context.defaultParallelism)
        self._context, self._url, self._most = context, url, most_triples

    def around(self, seeds: Sequence[Seed], changes: Changes) -> list[Around]:
        """See `SharedFinder.around`; what is seeded at one resource stays together, because it is gathered together."""
        shares: list[list[Seed]] = [[] for _ in range(self.shares)]
        for seed in seeds:
            shares[seed.triple[0] % self.shares].append(seed)
        with self._sent(changes) as sent:
            work = _AroundSeeds(self._url, self._most, sent, self.popular)
            return self._given([share for share in shares if share], work)

    def around_pieces(self, shares: Sequence[Sequence[Piece]], changes: Changes, popular: int | None) -> list[Around]:
        """See `SharedFinder.around_pieces`."""
        with self._sent(changes) as sent:
            return self._given(list(shares), _AroundPieces(self._url, self._most, sent, popular))

    @contextmanager
    def _sent(self, changes: Changes) -> Iterator[Broadcast[Changes]]:
        sent = self._context.broadcast(changes)
        try:
            yield sent
        finally:
            sent.destroy()

    def find(self, documents: Sequence[Document]) -> list[Found]:
        """See `SharedFinder.find`."""
        size = -(-len(documents) // self.shares)
        shares = [documents[first : first + size] for first in range(0, len(documents), size)]
        return list(chain.from_iterable(self._given(shares, _InDocuments(self._url, self._most))))

    def _given(self, shares: list[_Share], work: Callable[[_Share], _Result]) -> list[_Result]:
        return self._context.parallelize(shares, len(shares)).mapPartitions(_Each(work)).collect()


class _Each(Generic[_Share, _Result]):
    def __init__(self, work: Callable[[_Share], _Result]) -> None:
        self._work = work

    def __call__(self, shares: Iterable[_Share]) -> Iterator[_Result]:
        return map(self._work, shares)


@dataclass(frozen=True)
class _AroundSeeds:
    url: str
    most_triples: int
    changes: Broadcast[Changes]
    popular: int | None

    def __call__(self, seeds: Sequence[Seed]) -> Around:
        return seeker(self.url, self.most_triples).around(seeds, self.changes.value, self.popular)


@dataclass(frozen=True)
class _AroundPieces:
    url: str
    most_triples: int
    changes: Broadcast[Changes]
    popular: int | None

    def __call__(self, pieces: Sequence[Piece]) -> Around:
        return seeker(self.url, self.most_triples).around_pieces(pieces, self.changes.value, self.popular)


class _InDocuments:
    def __init__(self, url: str, most_triples: int) -> None:
        self._url, self._most = url, most_triples

    def __call__(self, documents: Sequence[Document]) -> list[Found]:
        return seeker(self._url, self._most).find(documents)
