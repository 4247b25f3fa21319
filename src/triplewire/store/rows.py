"""The rows on record: what every query's answer is now.

A row of scope "graph" is recorded once; a row of scope "document" once for each document that gives it. Queries that
got it together share the record (see `crowds`). Rows are found by what they hold, by document, and by the resources
that they bind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from triplewire.store import crowds, schema
from triplewire.store.crowds import CrowdReader, CrowdWriter, Queries
from triplewire.store.packing import Made, digest, pack, unpack
from triplewire.store.sql import Sql, Values

_COLUMNS = "r.id, r.query, r.crowd, r.document, r.terms"
_CLEARED_AT_ONCE = 10_000
_SORTED = 20_000
"""Rows of crowds that are sorted for each page; of a query with more, they are looked for among those of all crowds.

In the order of keys, of which an index has all queries' and all crowds', but not those of several crowds together."""

_OWN_PAGE = "SELECT r.key, r.terms FROM rows r WHERE r.query = ? AND r.key > ? ORDER BY r.key LIMIT ?"
_OF_CROWDS = "FROM crowd_members m CROSS JOIN rows r WHERE m.query = ? AND r.crowd = m.crowd AND r.crowd <> 0"
_SORTED_PAGE = f"SELECT r.key, r.terms {_OF_CROWDS} AND r.key > ? ORDER BY r.key LIMIT ?"
_SEARCHED_PAGE = (
    "SELECT r.key, r.terms FROM rows r WHERE r.query = 0"
    " AND EXISTS (SELECT 1 FROM crowd_members m WHERE m.query = ? AND m.crowd = r.crowd)"
    " AND r.key > ? ORDER BY r.key LIMIT ?"
)

Terms = tuple[int, ...]


class NewRow(NamedTuple):
    """A row to record: `bound` are those of its terms that are resources; term 0 is a variable without value.

    It is the row of every one of these queries, which are in their order.
    """

    queries: Queries
    document: int
    terms: Terms
    bound: tuple[int, ...]


class RowRecord(NamedTuple):
    """A row of a query on record; document 0 is the graph. Rows of several queries may be in one record."""

    id: int
    query: int
    document: int
    terms: Terms


class RowReader:
    """Rows by query, by terms, by document, by what they bind."""

    def __init__(self, sql: Sql, crowds: CrowdReader) -> None:
        self._sql, self._crowds = sql, crowds

    def find(self, keys: Sequence[tuple[int, Terms]]) -> list[list[RowRecord]]:
        """The records of each (query, terms), by document."""
        asking: dict[Terms, set[int]] = {}
        for query, terms in keys:
            asking.setdefault(terms, set()).add(query)
        made = Made(_key)
        wanted = [(query, made[terms]) for terms, queries in asking.items() for query in (0, *queries)]
        text = (
            f"WITH k(a, b) AS ({{keys}}) SELECT {_COLUMNS} FROM k CROSS JOIN rows r WHERE r.query = k.a AND r.key = k.b"
        )
        records = self._sql.keyed(text, wanted)
        members = self._crowds.members({crowd for _, _, crowd, _, _ in records if crowd})
        found: dict[tuple[int, Terms], list[RowRecord]] = {}
        for id, query, crowd, document, packed in records:
            terms = unpack(packed)
            for owner in asking[terms].intersection(members[crowd]) if crowd else (query,):
                found.setdefault((owner, terms), []).append(RowRecord(id, owner, document, terms))
        return [sorted(found[key], key=lambda row: row.document) if key in found else [] for key in keys]

    def of_query(self, query: int) -> list[RowRecord]:
        """Everything on record of a query: a row once for each document that gives it."""
        own = self._sql.rows(f"SELECT {_COLUMNS} FROM rows r WHERE r.query = ?", query)
        shared = self._sql.rows(f"SELECT {_COLUMNS} {_OF_CROWDS}", query)
        return [RowRecord(id, query, document, unpack(terms)) for id, _, _, document, terms in sorted([*own, *shared])]

    def of_documents(self, documents: Sequence[int]) -> list[list[RowRecord]]:
        """The rows that each document gives alone, by number."""
        text = f"WITH k(a) AS ({{keys}}) SELECT {_COLUMNS} FROM k CROSS JOIN rows r"
        text += " WHERE r.document = k.a AND r.document <> 0"
        found: dict[int, list[RowRecord]] = {}
        for record in self._spread(sorted(self._sql.keyed(text, [(number,) for number in dict.fromkeys(documents)]))):
            found.setdefault(record.document, []).append(record)
        return [found.get(document, []) for document in documents]

    def binding(self, terms: Sequence[int]) -> list[RowRecord]:
        """The rows that bind any of these resources, each once, by number."""
        text = (
            f"WITH k(a) AS ({{keys}}) SELECT {_COLUMNS}"
            " FROM k CROSS JOIN bindings b CROSS JOIN rows r WHERE b.term = k.a AND r.id = b.row"
        )
        found = set(self._sql.keyed(text, [(term,) for term in dict.fromkeys(terms)]))
        return list(self._spread(sorted(found)))

    def _spread(self, records: Sequence[Values]) -> Iterator[RowRecord]:
        """The rows of some records: that of a crowd once for each of its queries."""
        members = self._crowds.members({record[2] for record in records if record[2]})
        for id, query, crowd, document, packed in records:
            terms = unpack(packed)
            if crowd:
                yield from [RowRecord(id, member, document, terms) for member in members[crowd]]
            else:
                yield RowRecord(id, query, document, terms)

    def counts(self, queries: Sequence[int], most: int) -> dict[int, int]:
        """How many rows each query has; counted up to `most`, among the first rows that it shares."""
        text = (
            "WITH k(a) AS ({keys}) SELECT k.a,"
            f" (SELECT count(*) FROM (SELECT DISTINCT r.key FROM rows r WHERE r.query = k.a LIMIT {int(most)}) AS own),"
            " (SELECT count(*) FROM (SELECT DISTINCT s.key FROM (SELECT r.key FROM crowd_members m CROSS JOIN rows r"
            f" WHERE m.query = k.a AND r.crowd = m.crowd AND r.crowd <> 0 LIMIT {_SORTED}) AS s"
            f" LIMIT {int(most)}) AS shared) FROM k WHERE k.a IS NOT NULL"
        )
        found = self._sql.keyed(text, [(query,) for query in dict.fromkeys(queries)])
        return {
            query: own + shared if not (own and shared) else self._distinct(query, most) for query, own, shared in found
        }

    def _distinct(self, query: int, most: int) -> int:
        """How many rows a query has, of which some may be both its own and a crowd's: those of several documents."""
        own = "SELECT DISTINCT r.key FROM rows r WHERE r.query = ? LIMIT ?"
        shared = f"SELECT DISTINCT s.key FROM (SELECT r.key {_OF_CROWDS} LIMIT {_SORTED}) AS s LIMIT ?"
        return min(most, len({*self._sql.rows(own, query, most), *self._sql.rows(shared, query, most)}))

    def page(self, query: int, after: bytes, limit: int) -> list[tuple[bytes, Terms]]:
        """The rows of a query with a greater key, each once, by key; not more than `limit`.

        The key of a row is made of its terms alone. So a row has its place before it is on record and after, whatever
        query shares it: a page after the last key misses no row that was there all the time, and repeats none.
        """
        found: dict[bytes, Terms] = {}
        shared = self._sql.number(f"SELECT count(*) FROM (SELECT 1 {_OF_CROWDS} LIMIT ?) counted", query, _SORTED)
        texts = [_OWN_PAGE, _SEARCHED_PAGE if shared >= _SORTED else _SORTED_PAGE][: 1 + bool(shared)]
        while len(found) < limit:
            parts = [self._sql.rows(text, query, after, limit) for text in texts]
            ends = [part[-1][0] for part in parts if len(part) == limit]
            until = min(ends) if ends else None  # beyond, one of them may have more that was not read
            for key, terms in sorted(record for part in parts for record in part):
                if until is None or key <= until:
                    found.setdefault(key, unpack(terms))
            if until is None:
                break
            after = until
        return list(found.items())[:limit]


class RowWriter(RowReader):
    """Rows, and changes of them."""

    _crowds: CrowdWriter

    def __init__(self, sql: Sql, crowds: CrowdWriter, last_term: int) -> None:
        """`last_term` is the last one that may be in a row; those that this batch makes come after it."""
        super().__init__(sql, crowds)
        self._last_term = last_term

    def settle(self, last_term: int) -> None:
        """A batch ends: terms up to this one may be in a row for the next one of the same transaction."""
        self._last_term = last_term

    def find(self, keys: Sequence[tuple[int, Terms]]) -> list[list[RowRecord]]:
        """See `RowReader.find`; a row that has a new term is not on record, and is not looked for."""
        last = self._last_term
        known = [key for key in keys if max(key[1], default=0) <= last]
        if len(known) == len(keys):
            return super().find(keys)
        found = dict(zip(known, super().find(known), strict=True))
        return [found.get(key, []) for key in keys]

    def binding(self, terms: Sequence[int]) -> list[RowRecord]:
        """See `RowReader.binding`; no row on record binds a new term."""
        return super().binding([term for term in terms if term <= self._last_term])

    def insert(self, rows: Sequence[NewRow]) -> list[int]:
        """Record rows that are not on record; the numbers of the records, one for a row unless few queries share it."""
        if not rows:
            return []
        self._last_term = max(self._last_term, *(max(row.terms, default=0) for row in rows))
        crowd_of = self._crowds.numbers([row.queries for row in rows if len(row.queries) >= crowds.FEWEST])
        packed, made = Made(pack), Made(_key)
        records: list[Values] = []
        bound: list[tuple[int, ...]] = []
        for queries, document, terms, resources in rows:
            crowd = crowd_of.get(queries, 0)
            for query in (0,) if crowd else queries:
                records.append((query, document, made[terms], packed[terms], crowd))
                bound.append(resources)
        numbers = self._sql.take("rows", len(records))
        self._sql.insert(schema.rows, [(number, *record) for number, record in zip(numbers, records, strict=True)])
        bindings = {(term, number) for number, terms in zip(numbers, bound, strict=True) for term in terms}
        self._sql.insert(schema.bindings, sorted(bindings))
        return list(numbers)

    def delete(self, gone: Iterable[tuple[int, int]]) -> None:
        """Away with rows of queries, each by the number of its record and the query's."""
        leaving: dict[int, set[int]] = {}
        for number, query in gone:
            leaving.setdefault(number, set()).add(query)
        found = self._sql.where(schema.rows, "id", leaving, "id, crowd, terms")
        members = self._crowds.members({crowd for _, crowd, _ in found if crowd})
        left = {
            number: tuple([q for q in members[crowd] if q not in leaving[number]])
            for number, crowd, _ in found
            if crowd
        }
        self._remove([(number, terms) for number, _, terms in found if not left.get(number)])
        self._move({number: queries for number, queries in left.items() if queries})

    def clear(self, query: int) -> None:
        """Away with all rows of a query; a crowd that has shrunk to a half is another one for its rows from then on."""
        while found := self._sql.rows("SELECT id, terms FROM rows WHERE query = ? LIMIT ?", query, _CLEARED_AT_ONCE):
            self._remove(found)
        for crowd in self._crowds.leave(query):
            queries = self._crowds.members([crowd])[crowd]
            while found := self._sql.rows(
                "SELECT id, terms FROM rows WHERE crowd = ? AND crowd <> 0 LIMIT ?", crowd, _CLEARED_AT_ONCE
            ):
                if queries:
                    self._move(dict.fromkeys((number for number, _ in found), queries))
                else:
                    self._remove(found)

    def _remove(self, records: Sequence[Values]) -> None:
        bindings = {(term, number) for number, terms in records for term in unpack(terms)}
        self._sql.delete(schema.bindings, ("term", "row"), sorted(bindings))
        self._sql.delete(schema.rows, ("id",), [(number,) for number, _ in records])

    def _move(self, records: dict[int, Queries]) -> None:
        crowd_of = self._crowds.numbers([queries for queries in records.values() if len(queries) > 1])
        owners = [
            (0, crowd_of[queries], number) if len(queries) > 1 else (queries[0], 0, number)
            for number, queries in records.items()
        ]
        self._sql.update(schema.rows, ("query", "crowd"), owners)


def _key(terms: Terms) -> bytes:
    return digest(pack(terms))
