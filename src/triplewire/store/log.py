"""The log: every event that a query gave, in one order for all.

The cursor of an event is its place in that order. Events name terms, triples and documents by their numbers; the
texts of before and after are in the versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triplewire.store import schema
from triplewire.store.packing import Made, Triple, pack, pack_triples, unpack, unpack_triples
from triplewire.store.sql import Sql, Values

MATCHED, CHANGED, UNMATCHED = 1, 2, 3

_COLUMNS = "cursor, batch, query, kind, terms, triples, documents"


class NewEvent(NamedTuple):
    """An event to write: `documents` are (document, version before, version after), with 0 for no version."""

    query: int
    kind: int
    terms: tuple[int, ...]
    triples: tuple[Triple, ...] = ()
    documents: tuple[Triple, ...] = ()


class EventRecord(NamedTuple):
    """An event of the log."""

    cursor: int
    batch: int
    query: int
    kind: int
    terms: tuple[int, ...]
    triples: tuple[Triple, ...]
    documents: tuple[Triple, ...]


class LogReader:
    """Events in their order."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def of_query(self, query: int, after: int = 0, limit: int = 1_000) -> list[EventRecord]:
        """The events of a query with a greater cursor."""
        text = f"SELECT {_COLUMNS} FROM events WHERE query = ? AND cursor > ? ORDER BY cursor LIMIT ?"
        return [_event(row) for row in self._sql.rows(text, query, after, limit)]

    def last_of_query(self, query: int, after: int, before: int, limit: int) -> list[EventRecord]:
        """The last events of a query between two cursors, the newest first."""
        text = (
            f"SELECT {_COLUMNS} FROM events WHERE query = ? AND cursor > ? AND cursor < ? ORDER BY cursor DESC LIMIT ?"
        )
        return [_event(row) for row in self._sql.rows(text, query, after, before, limit)]

    def count_of_query(self, query: int, after: int, most: int) -> int:
        """How many events of a query have a greater cursor; counted up to `most`."""
        text = "SELECT count(*) FROM (SELECT 1 FROM events WHERE query = ? AND cursor > ? LIMIT ?) AS found"
        return self._sql.number(text, query, after, most)

    def of_batch(self, batch: int) -> list[EventRecord]:
        """All events of a batch."""
        text = f"SELECT {_COLUMNS} FROM events WHERE batch = ? ORDER BY cursor"
        return [_event(row) for row in self._sql.rows(text, batch)]

    def after(self, cursor: int, limit: int = 1_000) -> list[EventRecord]:
        """The events of all queries with a greater cursor."""
        text = f"SELECT {_COLUMNS} FROM events WHERE cursor > ? ORDER BY cursor LIMIT ?"
        return [_event(row) for row in self._sql.rows(text, cursor, limit)]

    def last_cursor(self) -> int:
        """The cursor of the last event that was ever written."""
        return self._sql.counter("events")


class LogWriter(LogReader):
    """Events in their order, and new ones."""

    def append(self, batch: int, events: Sequence[NewEvent]) -> range:
        """Write the events of a batch; their cursors."""
        if not events:
            return range(0)
        cursors = self._sql.take("events", len(events))
        rows, reasons = Made(pack), Made(pack_triples)  # many events are of one row, or have one reason
        self._sql.insert(
            schema.events,
            [
                (cursor, batch, query, kind, rows[terms], reasons[triples], reasons[documents])
                for cursor, (query, kind, terms, triples, documents) in zip(cursors, events, strict=True)
            ],
        )
        return cursors


def _event(row: Values) -> EventRecord:
    cursor, batch, query, kind, terms, triples, documents = row
    return EventRecord(cursor, batch, query, kind, unpack(terms), unpack_triples(triples), unpack_triples(documents))
