"""The rows on record: what every query's answer is now.

A row of scope "graph" is recorded once; a row of scope "document" once for each document that gives it. Rows are
found by what they hold, by document, and by the resources that they bind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from triplewire.store import schema
from triplewire.store.packing import Made, digest, pack, unpack
from triplewire.store.sql import Sql

_COLUMNS = "r.id, r.query, r.document, r.terms"
_CLEARED_AT_ONCE = 10_000


class NewRow(NamedTuple):
    """A row to record: `bound` are those of its terms that are resources; term 0 is a variable without value."""

    query: int
    document: int
    terms: tuple[int, ...]
    bound: tuple[int, ...]


class RowRecord(NamedTuple):
    """A row on record; document 0 is the graph."""

    id: int
    query: int
    document: int
    terms: tuple[int, ...]

    @property
    def key(self) -> bytes:
        """What stands for the terms: rows of a query are paged by it."""
        return _key(self.terms)


class RowReader:
    """Rows by query, by terms, by document, by what they bind."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def find(self, keys: Sequence[tuple[int, tuple[int, ...]]]) -> list[list[RowRecord]]:
        """The records of each (query, terms), by document."""
        made = Made(_key)
        wanted = [(query, made[terms]) for query, terms in keys]
        found: dict[tuple[int, bytes], list[RowRecord]] = {}
        text = (
            f"WITH k(a, b) AS ({{keys}}) SELECT {_COLUMNS}, r.key"
            " FROM k CROSS JOIN rows r WHERE r.query = k.a AND r.key = k.b"
        )
        for *row, key in self._sql.keyed(text, list(dict.fromkeys(wanted))):
            found.setdefault((row[1], key), []).append(_row(row))
        return [sorted(found[key], key=lambda row: row.document) if key in found else [] for key in wanted]

    def of_query(self, query: int, after: bytes = b"", limit: int = 1_000) -> list[RowRecord]:
        """Distinct rows of a query, by key, from the one that follows `after`."""
        found = self._sql.rows(
            f"SELECT {_COLUMNS} FROM rows r WHERE r.query = ? AND r.key > ? AND NOT EXISTS"
            " (SELECT 1 FROM rows e WHERE e.query = r.query AND e.key = r.key AND e.document < r.document)"
            " ORDER BY r.key LIMIT ?",
            query,
            after,
            limit,
        )
        return [_row(row) for row in found]

    def every(self, query: int) -> list[RowRecord]:
        """All rows of a query, of every document."""
        found: list[RowRecord] = []
        page = self.of_query(query)
        while page:
            found += [record for records in self.find([(query, row.terms) for row in page]) for record in records]
            page = self.of_query(query, page[-1].key)
        return found

    def of_documents(self, documents: Sequence[int]) -> list[list[RowRecord]]:
        """The rows that each document gives alone, by number."""
        text = (
            f"WITH k(a) AS ({{keys}}) SELECT {_COLUMNS}"
            " FROM k CROSS JOIN rows r WHERE r.document = k.a AND r.document <> 0"
        )
        found: dict[int, list[RowRecord]] = {}
        for row in self._sql.keyed(text, [(document,) for document in dict.fromkeys(documents)]):
            found.setdefault(row[2], []).append(_row(row))
        return [sorted(found.get(document, ()), key=lambda row: row.id) for document in documents]

    def binding(self, terms: Sequence[int]) -> list[RowRecord]:
        """The rows that bind any of these resources, each once, by number."""
        text = (
            f"WITH k(a) AS ({{keys}}) SELECT {_COLUMNS}"
            " FROM k CROSS JOIN bindings b CROSS JOIN rows r WHERE b.term = k.a AND r.id = b.row"
        )
        found = {row[0]: row for row in self._sql.keyed(text, [(term,) for term in dict.fromkeys(terms)])}
        return [_row(found[number]) for number in sorted(found)]

    def count(self, query: int) -> int:
        """How many distinct rows a query has."""
        return self._sql.number("SELECT count(DISTINCT key) FROM rows WHERE query = ?", query)


class RowWriter(RowReader):
    """Rows, and changes of them."""

    def __init__(self, sql: Sql, last_term: int) -> None:
        """`last_term` is the last one that may be in a row; those that this transaction makes come after it."""
        super().__init__(sql)
        self._last_term = last_term

    def find(self, keys: Sequence[tuple[int, tuple[int, ...]]]) -> list[list[RowRecord]]:
        """See `RowReader.find`; a row that has a new term is not on record, and is not looked for."""
        last = self._last_term
        known = [key for key in keys if max(key[1], default=0) <= last]
        if len(known) == len(keys):
            return super().find(keys)
        found = dict(zip(known, super().find(known), strict=True))
        return [found.get(key, []) for key in keys]

    def insert(self, rows: Sequence[NewRow]) -> list[int]:
        """Record rows that are not on record; their numbers."""
        if not rows:
            return []
        numbers = self._sql.take("rows", len(rows))
        self._last_term = max(self._last_term, *(max(row.terms, default=0) for row in rows))
        packed, made = Made(pack), Made(_key)
        self._sql.insert(
            schema.rows,
            [
                (number, query, document, made[terms], packed[terms])
                for number, (query, document, terms, _) in zip(numbers, rows, strict=True)
            ],
        )
        bindings = {(term, number) for number, row in zip(numbers, rows, strict=True) for term in row.bound}
        self._sql.insert(schema.bindings, sorted(bindings))
        return list(numbers)

    def delete(self, ids: Sequence[int]) -> None:
        """Away with these rows."""
        numbers = [(number,) for number in dict.fromkeys(ids)]
        text = "WITH k(a) AS ({keys}) SELECT r.id, r.terms FROM k CROSS JOIN rows r WHERE r.id = k.a"
        bindings = {(term, number) for number, terms in self._sql.keyed(text, numbers) for term in unpack(terms)}
        self._sql.delete(schema.bindings, ("term", "row"), sorted(bindings))
        self._sql.delete(schema.rows, ("id",), numbers)

    def clear(self, query: int) -> None:
        """Away with all rows of a query."""
        while found := self._sql.rows("SELECT id FROM rows WHERE query = ? LIMIT ?", query, _CLEARED_AT_ONCE):
            self.delete([number for (number,) in found])


def _key(terms: tuple[int, ...]) -> bytes:
    return digest(pack(terms))


def _row(row: Sequence[Any]) -> RowRecord:
    number, query, document, terms = row
    return RowRecord(number, query, document, unpack(terms))
