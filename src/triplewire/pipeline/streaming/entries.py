"""Entries as tables: what a stream reads, and what is left of it when it has been parsed.

One shape for both, so that a document that cannot be read goes on as it came, with the reason beside it. This module is
imported by processes that live for one question, so it imports little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

import pyarrow as pa

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
    ]
)
DDL = (
    "position bigint, item bigint, kind int, uri string, media_type string, content binary, received string,"
    " reason string"
)
_ROW = attrgetter(*SCHEMA.names)
_MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry on its way: position and item are its place in the order, `reason` says why it cannot be applied."""

    position: int
    item: int
    kind: int
    uri: str
    media_type: str | None
    content: bytes | None
    received: str
    reason: str | None = None

    def refused(self, reason: str) -> Waiting:
        """The same, with a reason."""
        return replace(self, reason=reason)


def table_of(waiting: Iterable[Waiting]) -> Iterator[pa.RecordBatch]:
    """Entries as record batches, each of some megabytes at most, or of one entry."""
    some: list[Waiting] = []
    size = 0
    for one in waiting:
        size += len(one.content or b"")
        if some and size > _MOST_BYTES:
            yield _batch(some)
            some, size = [], len(one.content or b"")
        some.append(one)
    if some:
        yield _batch(some)


def _batch(waiting: list[Waiting]) -> pa.RecordBatch:
    columns = zip(*map(_ROW, waiting), strict=True)
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def entries_in(table: pa.Table | pa.RecordBatch) -> list[Waiting]:
    """The entries of a table."""
    return [Waiting(*row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
