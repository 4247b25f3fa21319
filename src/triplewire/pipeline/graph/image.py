"""The image of a graph: sorted arrays in files, written in parts by many tasks, mapped by many workers.

A table is a few columns, each a file of one kind of numbers. Tasks write parts of it, in the order of the table's keys;
`join` puts the parts one after the other. A part is written under a name of its own and renamed when it is complete,
so that a task which is tried again, or runs twice, does no harm.
"""

from __future__ import annotations

import mmap
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
import pyarrow
import pyarrow.compute

from triplewire.matching.incremental.flat import Columns, FlatTriples, Numbering, NumberLists, Texts
from triplewire.matching.kernel.compiled import Array

BY_SUBJECT, BY_PREDICATE, TERMS = "by_subject", "by_predicate", "terms"
TABLES = {
    BY_SUBJECT: ("first", "second", "third", "sizes", "documents"),
    BY_PREDICATE: ("first", "second", "third"),
    TERMS: ("numbers", "sizes", "text"),
}
_SIZES, _STARTS = "sizes", "starts"
"""Parts have sizes, from which the joined table gets starts."""
WRITTEN = "part int, rows long"
"""The schema of what a task tells: the number of its part, and how many rows it has."""
_LOOKED_AT = 1_000_000
"""How many rows of a mapped column are compared at once."""


class ImagePart:
    """A part of a table in the making."""

    def __init__(self, folder: Path, table: str, number: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._names = {column: folder / f"{table}.{column}.{number}" for column in TABLES[table]}
        self._suffix = f".{uuid.uuid4().hex}"
        self._files: dict[str, BinaryIO] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        for column, path in self._names.items():
            self._files[column] = self._open.enter_context(open(f"{path}{self._suffix}", "wb"))
        return self

    def write(self, column: str, values: Array | bytes) -> None:
        """More values of a column."""
        self._files[column].write(values if isinstance(values, bytes) else np.ascontiguousarray(values).data)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.close()
        for path in self._names.values():
            if kind is None:
                os.replace(f"{path}{self._suffix}", path)
            else:
                os.unlink(f"{path}{self._suffix}")


def join(folder: Path, table: str, parts: Iterable[int]) -> None:
    """Make one file of the parts of each column; the parts are gone then."""
    numbers = sorted(parts)
    folder.mkdir(parents=True, exist_ok=True)  # where there was nothing to write, nobody has made it
    for column in TABLES[table]:
        paths = [folder / f"{table}.{column}.{number}" for number in numbers]
        if column == _SIZES:
            _join_sizes(paths, folder / f"{table}.{_STARTS}")
        else:
            with (folder / f"{table}.{column}").open("wb") as whole:
                for path in paths:
                    with path.open("rb") as part:
                        shutil.copyfileobj(part, whole, 1 << 22)
                    path.unlink()


def _join_sizes(paths: Sequence[Path], whole: Path) -> None:
    end = np.zeros(1, dtype=np.int64)
    with whole.open("wb") as file:
        file.write(end.data)
        for path in paths:
            starts = end + np.cumsum(np.fromfile(path, dtype=np.int64))
            file.write(starts.data)
            end = starts[-1:] if len(starts) else end
            path.unlink()


def has_collision(folder: Path) -> bool:
    """True if two terms have one number."""
    numbers = _mapped(folder, TERMS, "numbers", np.int64)
    for first in range(0, len(numbers), _LOOKED_AT):
        some = numbers[first : first + _LOOKED_AT + 1]
        if np.any(some[1:] == some[:-1]):
            return True
    return False


def open_image(folder: Path, numbering: Numbering) -> FlatTriples:
    """The graph whose tables were joined in a folder, mapped into memory."""

    def columns(table: str) -> Columns:
        return Columns(*(_mapped(folder, table, column, np.int64) for column in ("first", "second", "third")))

    return FlatTriples(
        columns(BY_SUBJECT),
        columns(BY_PREDICATE),
        Texts(
            _mapped(folder, TERMS, "numbers", np.int64),
            _mapped(folder, TERMS, _STARTS, np.int64),
            _mapped(folder, TERMS, "text", np.uint8),
            numbering,
        ),
        NumberLists(_mapped(folder, BY_SUBJECT, _STARTS, np.int64), _mapped(folder, BY_SUBJECT, "documents", np.int64)),
    )


def _mapped(folder: Path, table: str, column: str, kind: type) -> Array:
    """A column; private, because the compiled search was made for arrays that can be written."""
    path = folder / f"{table}.{column}"
    if not path.stat().st_size:
        return np.zeros(0, dtype=kind)
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype=kind)


# -- what runs in workers: sorted rows in, with repetitions; parts of tables out, each row once


@dataclass(frozen=True)
class WritingTask:
    """The function that Spark maps over batches of a table's rows, which come sorted; tells the part and its size."""

    folder: str
    table: str

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        with ImagePart(Path(self.folder), self.table, number) as part:
            rows = self._terms(part, batches) if self.table == TERMS else self._triples(part, batches)
        values = [pyarrow.array([number], pyarrow.int32()), pyarrow.array([rows], pyarrow.int64())]
        yield pyarrow.RecordBatch.from_arrays(values, ["part", "rows"])

    def _triples(self, part: ImagePart, batches: Iterable[pyarrow.RecordBatch]) -> int:
        triples = TriplePartWriter(part, states=self.table == BY_SUBJECT)
        for batch in batches:
            triples.add([column.to_numpy() for column in batch.columns])
        triples.end()
        return triples.rows

    def _terms(self, part: ImagePart, batches: Iterable[pyarrow.RecordBatch]) -> int:
        terms = TermPartWriter(part)
        for batch in batches:
            terms.add(batch.column(0).to_numpy(), batch.column(1).cast(pyarrow.binary()))
        return terms.rows


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


class TermPartWriter:
    """Writes each pair of a number and a text once; two texts of one number are two rows."""

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
