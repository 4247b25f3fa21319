"""What runs in workers to find: seeds in, rows out, by the gathering and the index that serve the hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow

from triplewire.matching.finder.finder import RowFinder
from triplewire.matching.finder.plan import SeedPlan, load_plans
from triplewire.matching.finder.spelling import spelled_rows
from triplewire.matching.incremental.fans import Fan, Piece, united
from triplewire.matching.incremental.flat import FlatTriples, Numbering
from triplewire.matching.incremental.lookups import Triple
from triplewire.pipeline.graph.image import open_image
from triplewire.pipeline.tally import Tally
from triplewire.pipeline.worker import batch_with

if TYPE_CHECKING:
    from pyspark import Accumulator

FOUND = "query int, row array<string>, documents array<string>, reason string, fan array<long>, round int"
"""The schema of what is found, in which round: a row of a query; or, with a reason, that the query went over a limit;
or a fan, which was put off."""

_TYPES = {
    "query": pyarrow.int32(),
    "row": pyarrow.list_(pyarrow.string()),
    "documents": pyarrow.list_(pyarrow.string()),
    "reason": pyarrow.string(),
    "fan": pyarrow.list_(pyarrow.int64()),
    "round": pyarrow.int32(),
}
_SHARE = 5_000
"""How many seeds are gathered at once: enough to share lookups, few enough for their triples to fit in memory."""
_ROWS = 10_000
"""How many rows are told at once."""


@dataclass(frozen=True)
class FindingTask:
    """The function that Spark maps over batches of seeds: kind, subject, predicate and object of each.

    In a later round, over the numbers of shares of what was put off in the one before.
    """

    plans: str
    image: str
    numbering: Numbering
    most_triples: int
    tally: Accumulator[Tally]
    popular: int | None
    round: int = 0
    shares: tuple[tuple[tuple[int, Piece], ...], ...] = ()
    """Pieces of fans, each with the kind of its triples, by share."""

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        plans, triples = _opened(self.plans, self.image, self.numbering)
        finders = [RowFinder(plan, triples, most_triples=self.most_triples, popular=self.popular) for plan in plans]
        seeds = self._put_off(triples, batches) if self.round else _seeds(batches)
        while share := list(islice(seeds, _SHARE)):
            answers = (
                row
                for plan, finder in zip(plans, finders, strict=True)
                for found in finder.around(plan.seeds_of(share))
                for row in spelled_rows(found, triples)
            )
            while some := list(islice(answers, _ROWS)):
                self.tally.add(Tally(rows=len(some)))
                queries, rows, documents = zip(*some, strict=True)
                yield self._batch(query=queries, row=rows, documents=documents)
        for finder in finders:
            yield self._batch(query=list(finder.errors), reason=[error.reason for error in finder.errors.values()])
            fans = [fan._replace(size=triples.size(fan)) for fan in united(finder.fans)]
            yield self._batch(fan=[spelled(fan) for fan in fans])

    def _put_off(self, triples: FlatTriples, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[int, Triple]]:
        for batch in batches:
            for share in batch.column(0).to_pylist():
                for kind, piece in self.shares[share]:
                    yield from ((kind, triple) for triple in triples.piece(piece))

    def _batch(self, **columns: Sequence[object]) -> pyarrow.RecordBatch:
        size = len(next(iter(columns.values())))
        return batch_with(_TYPES, size, {"round": [self.round] * size, **columns})


def spelled(fan: Fan) -> list[int]:
    """A fan as numbers; whose atoms led there does not matter here, because plans of fans have all of a shape."""
    return [fan.shape, fan.position, fan.kind, *fan.key, fan.size]


def fan_of(numbers: Sequence[int]) -> Fan:
    """The fan that was spelled so."""
    shape, position, kind, first, second, size = numbers
    return Fan(shape, position, kind, (first, second), (), size)


@lru_cache(maxsize=1)
def _opened(plans: str, image: str, numbering: Numbering) -> tuple[list[SeedPlan], FlatTriples]:
    return load_plans(Path(plans)), open_image(Path(image), numbering)


def _seeds(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[int, Triple]]:
    for batch in batches:
        kinds, *triples = (column.to_pylist() for column in batch.columns)
        yield from zip(kinds, zip(*triples, strict=True), strict=True)
