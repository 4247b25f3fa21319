"""Entries as tables: what a stream reads, and what is left of it when it has been parsed.

One shape for both, so that a document that cannot be read goes on as it came, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from triplewire.pipeline.portions import portions
from triplewire.store import NewEntry, WaitingEntry

SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("item", pa.int64()),
        ("kind", pa.int32()),
        ("uri", pa.string()),
        ("media_type", pa.string()),
        ("content", pa.binary()),
        ("received", pa.string()),
        ("reason", pa.string()),
        ("log", pa.int32()),
    ]
)
DDL = (
    "position bigint, item bigint, kind int, uri string, media_type string, content binary, received string,"
    " reason string, log int"
)
_MOST, _MOST_BYTES = 1 << 60, 8 << 20


def table_of(waiting: Iterable[WaitingEntry]) -> Iterator[pa.RecordBatch]:
    """Entries as record batches, each of some megabytes at most, or of one entry."""
    for some in portions(waiting, lambda one: len(one.entry.content or b""), most=_MOST, most_weight=_MOST_BYTES):
        columns = zip(zip(*map(_row, some), strict=True), SCHEMA, strict=True)
        yield pa.record_batch([pa.array(values, field.type) for values, field in columns], schema=SCHEMA)


def _row(one: WaitingEntry) -> tuple[object, ...]:
    position, entry, item, *rest = one
    return position, item, entry.kind, entry.uri, entry.media_type, entry.content, *rest


def entries_in(table: pa.Table | pa.RecordBatch) -> list[WaitingEntry]:
    """The entries of a table."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [
        WaitingEntry(position, NewEntry(kind, uri, media_type, content), item, *rest)
        for position, item, kind, uri, media_type, content, *rest in rows
    ]
