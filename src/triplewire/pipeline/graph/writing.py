"""What runs in workers to write the image: sorted rows in, with repetitions; parts of tables out, each row once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.compute

from triplewire.matching.kernel.compiled import Array
from triplewire.pipeline.graph.image import BY_SUBJECT, TERMS, ImagePart

WRITTEN = "part int, rows long"
"""The schema of what a task tells: the number of its part, and how many rows it has."""


@dataclass(frozen=True)
class WritingTriples:
    """Writes triples that come sorted; where the table has documents, those that state each triple."""

    folder: str
    table: str

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        number = _part_number()
        with ImagePart(Path(self.folder), self.table, number) as part:
            triples = TriplePartWriter(part, states=self.table == BY_SUBJECT)
            for batch in batches:
                triples.add([column.to_numpy() for column in batch.columns])
            triples.end()
        yield _told(number, triples.rows)


class TriplePartWriter:
    """Writes each triple once, and with `states` how many documents state it, and which."""

    def __init__(self, part: ImagePart, *, states: bool) -> None:
        self.rows = 0
        self._part, self._states = part, states
        self._last = np.zeros(3, dtype=np.int64)
        self._waiting = 0
        """How many documents the last triple has so far: there may be more."""

    def add(self, columns: Sequence[Array]) -> None:
        """More rows: the triple's three numbers in the order of the table, and the document's."""
        triples = np.stack(columns[:3])
        if not triples.size:
            return
        before = np.column_stack([self._last, triples[:, :-1]])
        firsts = np.flatnonzero(np.any(triples != before, axis=0))  # no number is 0, so the very first row differs
        self._last = triples[:, -1].copy()
        for name, values in zip(("first", "second", "third"), triples, strict=True):
            self._part.write(name, values[firsts])
        if self._states:
            self._part.write("documents", columns[3])
            sizes = np.diff(firsts, prepend=0, append=triples.shape[1])  # the first is of the triple before
            sizes[0] += self._waiting
            self._waiting = int(sizes[-1])
            self._part.write("sizes", sizes[0 if self.rows else 1 : -1])
        self.rows += len(firsts)

    def end(self) -> None:
        """There are no more."""
        if self._states and self.rows:
            self._part.write("sizes", np.array([self._waiting], dtype=np.int64))


@dataclass(frozen=True)
class WritingTerms:
    """Writes numbers with their texts, which come sorted by both; two texts of one number are two rows."""

    folder: str

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        number = _part_number()
        with ImagePart(Path(self.folder), TERMS, number) as part:
            terms = TermPartWriter(part)
            for batch in batches:
                terms.add(batch.column(0).to_numpy(), batch.column(1).cast(pyarrow.binary()))
        yield _told(number, terms.rows)


class TermPartWriter:
    """Writes each pair of a number and a text once."""

    def __init__(self, part: ImagePart) -> None:
        self.rows = 0
        self._part = part
        self._last: tuple[int, bytes] | None = None

    def add(self, numbers: Array, texts: pyarrow.Array) -> None:
        """More terms, sorted: their numbers and their texts."""
        if not len(numbers):
            return
        differs = pyarrow.compute.not_equal(texts[1:], texts[:-1]).to_numpy(zero_copy_only=False)
        fresh = np.ones(len(numbers), dtype=bool)
        fresh[0] = self._last != (int(numbers[0]), texts[0].as_py())
        fresh[1:] = (numbers[1:] != numbers[:-1]) | differs
        self._last = (int(numbers[-1]), texts[-1].as_py())
        kept = texts.filter(pyarrow.array(fresh))
        self._part.write("numbers", numbers[fresh])
        self._part.write("sizes", pyarrow.compute.binary_length(kept).to_numpy(zero_copy_only=False).astype(np.int64))
        self._part.write("text", b"".join(kept.to_pylist()))
        self.rows += len(kept)


def _part_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _told(part: int, rows: int) -> pyarrow.RecordBatch:
    values = [pyarrow.array([part], pyarrow.int32()), pyarrow.array([rows], pyarrow.int64())]
    return pyarrow.RecordBatch.from_arrays(values, ["part", "rows"])
