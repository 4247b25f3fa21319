"""Arrow: tables with typed columns, and Parquet files of them.

A column is typed where all its values are of one kind: whole numbers (of 64 bits), decimals, floating point, truths,
days, times with a zone (as UTC) or times without one. Any other column is text, as in CSV.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from triplewire.model import Native
from triplewire.tables.layouts import Cell, Layout, plain, value
from triplewire.tables.writers import FileWriter, read_in_chunks

_TEXT = "text"
_WIDEST = 76
"""So many digits has Arrow's widest decimal."""

_TYPES = {
    "whole": pa.int64(),
    "floating": pa.float64(),
    "truth": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us", tz="UTC"),
    "local moment": pa.timestamp("us"),
    _TEXT: pa.string(),
}


class Column:
    """What has been seen of a column: the kinds of its values, and how wide its decimals are."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._before = self._behind = 0

    def see(self, cell: Cell) -> None:
        """Take one more value into account."""
        found = value(cell)
        if found is None:
            return
        self._kinds.add(_kind(found))
        if isinstance(found, Decimal):
            _, digits, exponent = found.as_tuple()
            assert isinstance(exponent, int), "a literal is never infinite"
            self._behind = max(self._behind, -exponent)
            self._before = max(self._before, len(digits) + exponent)

    @property
    def type(self) -> pa.DataType:
        """The type that holds all that was seen."""
        kind = next(iter(self._kinds)) if len(self._kinds) == 1 else _TEXT
        if kind != "decimal":
            return _TYPES[kind]
        width = max(1, self._before + self._behind)
        if width > _WIDEST:
            return _TYPES[_TEXT]
        return (pa.decimal128 if width <= 38 else pa.decimal256)(width, self._behind)


def _kind(found: Native) -> str:
    if isinstance(found, bool):
        return "truth"
    if isinstance(found, int):
        return "whole" if -(2**63) <= found < 2**63 else _TEXT
    if isinstance(found, datetime):
        return "local moment" if found.tzinfo is None else "moment" if _is_in_utc(found) else _TEXT
    kinds = {float: "floating", Decimal: "decimal", date: "day"}
    return kinds.get(type(found), _TEXT)


def _is_in_utc(found: datetime) -> bool:
    """Whether a time has a year from 1 to 9999 in UTC, too; what has not could be written, and not be read."""
    try:
        found.astimezone(UTC)
    except OverflowError:
        return False
    return True


def table_of(layout: Layout[Any], items: Iterable[Any]) -> pa.Table:
    """The items as a table in memory."""
    lines = [layout.cells(item) for item in items]
    columns = [Column() for _ in layout.columns]
    _look(columns, lines)
    return _typed(lines, _schema(layout, columns))


def _look(columns: Sequence[Column], lines: Iterable[Sequence[Cell]]) -> None:
    for line in lines:
        for column, cell in zip(columns, line, strict=True):
            column.see(cell)


def _schema(layout: Layout[Any], columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([(name, column.type) for name, column in zip(layout.columns, columns, strict=True)])


def _typed(lines: Sequence[Sequence[Cell]], schema: pa.Schema) -> pa.Table:
    arrays = []
    for place, field in enumerate(schema):
        read = plain if pa.types.is_string(field.type) else value
        cells = (line[place] for line in lines)
        arrays.append(pa.array([None if cell is None else read(cell) for cell in cells], type=field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


class Parquet(FileWriter):
    """A Parquet file. What types its columns have is known at the end, so its lines wait on disk until then."""

    def __init__(self, layout: Layout[Any]) -> None:
        super().__init__(layout)
        self._columns = [Column() for _ in layout.columns]
        self._waiting, self._file = TemporaryFile(), TemporaryFile()  # noqa: SIM115  # closed by `close`

    def add(self, items: Iterable[Any]) -> bytes:
        """See `FileWriter.add`; nothing is ready before the end."""
        lines = [self._layout.cells(item) for item in items]
        _look(self._columns, lines)
        if lines:
            pickle.dump(lines, self._waiting)
        return b""

    def end(self) -> Iterator[bytes]:
        """The whole file, with a group of rows for each page that was added."""
        schema = _schema(self._layout, self._columns)
        with pq.ParquetWriter(self._file, schema) as writer:
            for lines in self._pages():
                writer.write_table(_typed(lines, schema))
        yield from read_in_chunks(self._file)

    def _pages(self) -> Iterator[list[tuple[Cell, ...]]]:
        self._waiting.seek(0)
        while True:
            try:
                yield pickle.load(self._waiting)  # which is this process's own, in a file that has no name
            except EOFError:
                return

    def close(self) -> None:
        self._waiting.close()
        self._file.close()
