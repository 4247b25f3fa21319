"""What runs in workers to find: seeds in, rows out, by the gathering and the index that serve the hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow

from triplewire.matching.incremental.flat import FlatTriples
from triplewire.matching.incremental.lookups import Triple
from triplewire.matching.incremental.numbering import Numbering
from triplewire.matching.whole.finding import Answer, Finder
from triplewire.matching.whole.plan import Plan, load_plans
from triplewire.pipeline.graph.image import open_image
from triplewire.pipeline.tally import Tally

if TYPE_CHECKING:
    from pyspark import Accumulator

FOUND = "query int, row array<string>, documents array<string>, reason string"
"""The schema of what is found: a row of a query; or, with a reason, that the query went over a limit."""

_SHARE = 5_000
"""How many seeds are gathered at once: enough to share lookups, few enough for their triples to fit in memory."""
_ROWS = 10_000
"""How many rows are told at once."""


@dataclass(frozen=True)
class Finding:
    """The function that Spark maps over batches of seeds: kind, subject, predicate and object of each."""

    plans: str
    image: str
    numbering: Numbering
    most_triples: int
    tally: Accumulator[Tally]

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        plans, triples = _opened(self.plans, self.image, self.numbering)
        finders = [Finder(plan, triples, most_triples=self.most_triples) for plan in plans]
        seeds = _seeds(batches)
        while share := list(islice(seeds, _SHARE)):
            answers = (answer for finder in finders for answer in finder.find(share))
            while some := list(islice(answers, _ROWS)):
                self.tally.add(Tally(rows=len(some)))
                yield _told(some)
        for finder in finders:
            yield _failed(finder.errors)


@lru_cache(maxsize=1)
def _opened(plans: str, image: str, numbering: Numbering) -> tuple[list[Plan], FlatTriples]:
    """What a worker has open, for the tasks to come."""
    return load_plans(Path(plans)), open_image(Path(image), numbering)


def _seeds(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[int, Triple]]:
    for batch in batches:
        kinds, *triples = (column.to_pylist() for column in batch.columns)
        yield from zip(kinds, zip(*triples, strict=True), strict=True)


def _told(answers: list[Answer]) -> pyarrow.RecordBatch:
    queries, rows, documents = zip(*answers, strict=True)
    return _batch(queries, rows, documents, [None] * len(answers))


def _failed(errors: dict[int, str]) -> pyarrow.RecordBatch:
    nothing = [None] * len(errors)
    return _batch(list(errors), nothing, nothing, list(errors.values()))


def _batch(queries: object, rows: object, documents: object, reasons: object) -> pyarrow.RecordBatch:
    texts = pyarrow.list_(pyarrow.string())
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array(queries, pyarrow.int32()),
            pyarrow.array(rows, texts),
            pyarrow.array(documents, texts),
            pyarrow.array(reasons, pyarrow.string()),
        ],
        ["query", "row", "documents", "reason"],
    )
