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
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from triplewire.matching.incremental.flat import Columns, FlatTriples, Stating, Texts
from triplewire.matching.incremental.numbering import Numbering
from triplewire.matching.kernel.compiled import Array

BY_SUBJECT, BY_PREDICATE, TERMS = "by_subject", "by_predicate", "terms"
TABLES = {
    BY_SUBJECT: ("first", "second", "third", "sizes", "documents"),
    BY_PREDICATE: ("first", "second", "third"),
    TERMS: ("numbers", "sizes", "text"),
}
_SIZES, _STARTS = "sizes", "starts"
"""Parts have sizes, from which the joined table gets starts."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        Stating(_mapped(folder, BY_SUBJECT, _STARTS, np.int64), _mapped(folder, BY_SUBJECT, "documents", np.int64)),
    )


def _mapped(folder: Path, table: str, column: str, kind: type) -> Array:
    """A column; private, because the compiled search was made for arrays that can be written."""
    path = folder / f"{table}.{column}"
    if not path.stat().st_size:
        return np.zeros(0, dtype=kind)
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype=kind)
