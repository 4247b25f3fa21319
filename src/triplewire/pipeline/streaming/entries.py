"""Entries as tables: what a stream reads, and what is left of it when it has been parsed.

One shape for both, so that a document that cannot be read goes on as it came, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

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
_MOST_BYTES = 8 << 20


def table_of(waiting: Iterable[WaitingEntry]) -> Iterator[pa.RecordBatch]:
    """Entries as record batches, each of some megabytes at most, or of one entry."""
    some: list[WaitingEntry] = []
    size = 0
    for one in waiting:
        size += len(one.entry.content or b"")
        if some and size > _MOST_BYTES:
            yield _batch(some)
            some, size = [], len(one.entry.content or b"")
        some.append(one)
    if some:
        yield _batch(some)


def _batch(waiting: list[WaitingEntry]) -> pa.RecordBatch:
    columns = zip(*map(_row, waiting), strict=True)
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


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
