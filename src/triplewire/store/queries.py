"""Queries: what subscriptions ask, each kept once however many subscriptions ask it.

A query is a pattern in its normal form, its scope, the batch after which documents count for it, and the viewer who may
read those that do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triplewire.store import schema
from triplewire.store.atoms import AtomWriter
from triplewire.store.packing import digest_of, pack, unpack
from triplewire.store.rows import RowWriter
from triplewire.store.sql import Sql, StorePart, Values, columns_of


@dataclass(frozen=True, slots=True)
class NewQuery:
    """A query to write; `digest` tells it from all others.

    `terms` are the numbers that are kept in mind for it, which no compaction drops. It sees the documents that its
    `viewer` may read; None sees all.
    """

    scope: str
    start: int
    pattern: str
    terms: tuple[int, ...] = ()
    viewer: str | None = None

    @property
    def digest(self) -> bytes:
        """Equal for queries that ask the same, and see the same."""
        return digest_of(self.scope, self.start, self.pattern, *(() if self.viewer is None else (self.viewer,)))


@dataclass(frozen=True, slots=True)
class QueryRecord(NewQuery):
    """A query that is written."""

    id: int = field(kw_only=True)


class QueryReader(StorePart):
    """Queries by number and by what they ask."""

    def find(self, scope: str, start: int, pattern: str) -> QueryRecord | None:
        """The query that asks exactly this."""
        (number,) = self.find_many([NewQuery(scope, start, pattern)])
        return self.by_ids([number])[0] if number else None

    def find_many(self, asked: Sequence[NewQuery]) -> list[int]:
        """The number of the query that asks each of these; 0 where there is none."""
        keys = [query.digest for query in asked]
        found: dict[bytes, int] = dict(self._sql.where(schema.queries, "digest", keys, "digest, id"))
        return [found.get(key, 0) for key in keys]

    def by_ids(self, ids: Sequence[int]) -> list[QueryRecord | None]:
        """The query of each number; None for one that is not there (any more)."""
        records = {row[0]: _query(row) for row in self._sql.where(schema.queries, "id", ids)}
        return [records.get(number) for number in ids]

    def everything(self) -> Iterator[QueryRecord]:
        """All queries, by number."""
        return map(_query, self._sql.stream(f"SELECT {columns_of(schema.queries)} FROM queries ORDER BY id"))

    def count(self) -> int:
        """How many queries there are."""
        return self._sql.number("SELECT count(*) FROM queries")


class QueryWriter(QueryReader):
    """Queries, and changes of them."""

    def __init__(self, sql: Sql, atoms: AtomWriter, rows: RowWriter) -> None:
        super().__init__(sql)
        self._atoms = atoms
        self._rows = rows

    def add(self, scope: str, start: int, pattern: str, terms: Sequence[int]) -> QueryRecord:
        """A new query; the caller has looked that it is not there."""
        (number,) = self.add_many([NewQuery(scope, start, pattern, tuple(terms))])
        return QueryRecord(scope, start, pattern, tuple(terms), id=number)

    def add_many(self, new: Sequence[NewQuery]) -> list[int]:
        """New queries, of which no two are equal; their numbers."""
        if not new:
            return []
        numbers = list(self._sql.take("queries", len(new)))
        self._sql.insert(
            schema.queries,
            [
                (number, query.digest, query.scope, query.start, query.pattern, pack(query.terms), query.viewer)
                for number, query in zip(numbers, new, strict=True)
            ],
        )
        return numbers

    def remove(self, query: int) -> None:
        """Away with a query, its rows and its uses of atoms; its events go with the next compaction."""
        self._atoms.detach(query)
        self._rows.clear(query)
        self._sql.delete(schema.queries, ("id",), [(query,)])


def _query(row: Values) -> QueryRecord:
    number, _, scope, start, pattern, terms, viewer = row
    return QueryRecord(scope, start, pattern, unpack(terms), viewer, id=number)
