"""Subscriptions: who asked what, in their own words; and the numbered changes of them.

Every addition, alteration and removal takes the next number, so that a process that knows all changes up to a number
can ask for those that others made since.

A subscription that was edited asks another query than before. What it asked then is a span: the query, its columns, and
the cursors between which it heard it. So its log is the union of its spans and of what it asks now, and an event keeps
the columns that it had.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from triplewire.errors import DuplicateSubscription, UnknownSubscription
from triplewire.store import schema
from triplewire.store.backfills import UNHEARD
from triplewire.store.sql import StorePart, Values, is_storable

HEARD_ON = UNHEARD
"""The cursor up to which a subscription hears its query, while it is not paused."""


@dataclass(frozen=True, slots=True)
class SubscriptionRecord:
    """A subscription: it hears its query's events with a cursor over `first_cursor`; `created` is a batch.

    While that is `UNHEARD`, it hears nothing: its backfill is not done. While it is paused, it hears nothing with a
    cursor over `last_cursor`, which is `HEARD_ON` otherwise. `revision` grows with every change.
    Events that are for it alone (what answered already when it came) are in the log under minus its `number`.
    """

    id: str
    query: int
    text: str
    language: str
    owner: str | None
    columns: tuple[str, ...]
    first_cursor: int
    created: int
    number: int
    start: str
    title: str | None = None
    description: str | None = None
    last_cursor: int = HEARD_ON
    paused_since: str | None = None
    revision: int = 1

    @property
    def tag(self) -> str:
        """What is another one after every change, and for every subscription that had this id."""
        return f"{self.number}-{self.revision}"


class Stretch(NamedTuple):
    """What a subscription asked: it heard a query, of these columns, after one cursor and up to another."""

    query: int
    columns: tuple[str, ...]
    first_cursor: int
    last_cursor: int


class Hearer(NamedTuple):
    """What telling an event needs of a subscription: its columns, and between which cursors it hears a query."""

    first_cursor: int
    id: str
    columns: tuple[str, ...]
    last_cursor: int = HEARD_ON


_fields = attrgetter(*(field.name for field in fields(SubscriptionRecord)))


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """A subscription came, went, or was altered; `added` if it came."""

    number: int
    subscription: str
    query: int
    added: bool


class SubscriptionReader(StorePart):
    """Subscriptions by id, by query, by owner; and what changed."""

    def find(self, ids: Sequence[str]) -> list[SubscriptionRecord | None]:
        """The subscription of each id, or None."""
        names = filter(is_storable, ids)
        found = {row[0]: _subscription(row) for row in self._sql.where(schema.subscriptions, "id", names)}
        return [found.get(name) for name in ids]

    def of_queries(self, queries: Sequence[int]) -> list[list[SubscriptionRecord]]:
        """The subscriptions that ask each query, in the order in which they came."""
        found: dict[int, list[SubscriptionRecord]] = {}
        for row in self._sql.where(schema.subscriptions, "query", queries):
            found.setdefault(row[1], []).append(_subscription(row))
        return [sorted(found.get(query, ()), key=lambda record: record.number) for query in queries]

    def counts(self, queries: Sequence[int]) -> dict[int, tuple[int, int]]:
        """How many subscriptions ask each query, and how many of them hear nothing now: not yet, or paused."""
        text = (
            "WITH k(a) AS ({keys}) SELECT k.a, (SELECT count(*) FROM subscriptions t WHERE t.query = k.a),"
            " (SELECT count(*) FROM subscriptions t WHERE t.query = k.a"
            " AND (t.first_cursor = ? OR t.last_cursor <> ?)) FROM k"
            " WHERE k.a IS NOT NULL"
        )
        found = self._sql.keyed(text, [(query,) for query in dict.fromkeys(queries)], UNHEARD, HEARD_ON)
        return {query: (asking, waiting) for query, asking, waiting in found}

    def hearing(self, queries: Sequence[int]) -> dict[int, list[Hearer]]:
        """For each query who hears its events, or did, in the order in which they came; one without any is left out."""
        now = (
            "WITH k(a) AS ({keys}) SELECT t.number, t.query, t.first_cursor, t.id, t.columns, t.last_cursor,"
            " t.last_cursor FROM k CROSS JOIN subscriptions t WHERE t.query = k.a"
        )
        then = (
            "WITH k(a) AS ({keys}) SELECT t.number, s.query, s.first_cursor, t.id, s.columns, s.last_cursor,"
            " t.last_cursor FROM k CROSS JOIN spans s CROSS JOIN subscriptions t"
            " WHERE s.query = k.a AND t.number = s.number"
        )
        keys = [(query,) for query in dict.fromkeys(queries)]
        found: dict[int, list[Hearer]] = {}
        for _, query, first, id, columns, last, heard in sorted(
            [*self._sql.keyed(now, keys), *self._sql.keyed(then, keys)]
        ):
            found.setdefault(query, []).append(Hearer(first, id, _names(columns), min(last, heard)))
        return found

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, SubscriptionRecord]:
        """Subscriptions by their numbers."""
        found = map(_subscription, self._sql.where(schema.subscriptions, "number", numbers))
        return {record.number: record for record in found}

    def spans(self, record: SubscriptionRecord) -> list[Stretch]:
        """What a subscription asked from when it was made until now, the last one without an end."""
        past: list[Values] = []
        if record.revision > 1:
            text = "SELECT query, columns, first_cursor, last_cursor FROM spans WHERE number = ? ORDER BY last_cursor"
            past = self._sql.rows(text, record.number)
        now = Stretch(record.query, record.columns, record.first_cursor, HEARD_ON)
        return [*(Stretch(query, _names(columns), *cursors) for query, columns, *cursors in past), now]

    def listing(self, after: str = "", limit: int = 100, *, owner: str | None = None) -> list[SubscriptionRecord]:
        """Subscriptions by id, from the one that follows `after`; of all owners or of one."""
        only, values = ("", ()) if owner is None else ("AND owner = ?", (owner,))
        which = f"WHERE id > ? {only} ORDER BY id LIMIT ?"
        return [_subscription(row) for row in self._sql.select(schema.subscriptions, which, after, *values, limit)]

    def beginning_with(self, prefix: str) -> list[SubscriptionRecord]:
        """The subscriptions whose ids begin with a prefix, by id."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = self._sql.select(schema.subscriptions, "WHERE id >= ? AND id < ? ORDER BY id", prefix, end)
        return [_subscription(row) for row in found]

    def paused(self, limit: int) -> dict[str, str]:
        """Since when subscriptions are paused, by id; those that are longest."""
        text = "SELECT id, paused_since FROM subscriptions WHERE paused_since IS NOT NULL ORDER BY paused_since LIMIT ?"
        return dict(self._sql.rows(text, limit))

    def count(self) -> int:
        """How many subscriptions there are."""
        return self._sql.number("SELECT count(*) FROM subscriptions")

    def last_change(self) -> int:
        """The number of the last change."""
        return self._sql.counter("registry")

    def changes_after(self, number: int) -> list[RegistryChange]:
        """The changes since, in order; of a subscription that came and went, only that it went."""
        added = self._sql.rows("SELECT number, id, query FROM subscriptions WHERE number > ?", number)
        others = [
            self._sql.select(table, "WHERE number > ?", number) for table in (schema.removals, schema.alterations)
        ]
        changes = [(*row, True) for row in added] + [(*row, False) for row in chain(*others)]
        return [RegistryChange(*change) for change in sorted(changes)]

    def altered_after(self, number: int) -> set[int]:
        """The queries that some subscription began or ceased to ask or to hear since, without coming or going."""
        return {query for (query,) in self._sql.rows("SELECT query FROM alterations WHERE number > ?", number)}


class SubscriptionWriter(SubscriptionReader):
    """Subscriptions, and changes of them."""

    def add(
        self,
        id: str,
        *,
        query: int,
        text: str,
        language: str,
        owner: str | None,
        columns: Sequence[str],
        first_cursor: int,
        created: int,
        start: str = "ever",
    ) -> SubscriptionRecord:
        """A new subscription; DuplicateSubscription when the id is taken."""
        asked = id, query, text, language, owner, tuple(columns)
        return self.add_many([SubscriptionRecord(*asked, first_cursor, created, 0, start)])[0]

    def add_many(self, new: Sequence[SubscriptionRecord]) -> list[SubscriptionRecord]:
        """New subscriptions, which get their numbers here; DuplicateSubscription for an id that is taken."""
        self._refuse_taken([record.id for record in new])
        if not new:
            return []
        numbers = self._sql.take("registry", len(new))
        records = [replace(record, number=number) for record, number in zip(new, numbers, strict=True)]
        self._sql.insert(schema.subscriptions, [_values(record) for record in records])
        return records

    def _refuse_taken(self, ids: Sequence[str]) -> None:
        """DuplicateSubscription for the first id that the store has, or that is there twice."""
        taken = {id for (id,) in self._sql.where(schema.subscriptions, "id", ids, "id")}
        for id in ids:
            if id in taken:
                raise DuplicateSubscription(id)
            taken.add(id)

    def alter(self, before: SubscriptionRecord, after: SubscriptionRecord) -> SubscriptionRecord:
        """Let a subscription be another one with the same id and number; processes that know it take note."""
        made = replace(after, revision=before.revision + 1)
        columns = [field.name for field in fields(SubscriptionRecord) if field.name != "id"]
        self._sql.update(schema.subscriptions, tuple(columns), [(*_values(made)[1:], made.id)])
        queries = list(dict.fromkeys([made.query, before.query]))  # the last change lets go of the old one
        numbers = self._sql.take("registry", len(queries))
        lines = [(number, made.id, query) for number, query in zip(numbers, queries, strict=True)]
        self._sql.insert(schema.alterations, lines)
        return made

    def close_span(self, record: SubscriptionRecord, last_cursor: int) -> None:
        """What a subscription asks it has heard up to here; if it heard nothing since the last span, that is it."""
        *past, _ = self.spans(record)
        if past and past[-1].last_cursor == last_cursor:
            return
        span = record.number, last_cursor, record.first_cursor, record.query, json.dumps(record.columns)
        self._sql.insert(schema.spans, [span])

    def hear_from(self, ids: Sequence[str], cursor: int) -> None:
        """Let subscriptions hear their queries' events with a greater cursor."""
        self._sql.update(schema.subscriptions, ("first_cursor",), [(cursor, id) for id in ids])

    def remove(self, id: str) -> SubscriptionRecord:
        """Away with a subscription, which is returned; UnknownSubscription when there is none."""
        record = self.find([id])[0]
        if record is None:
            raise UnknownSubscription(id)
        self._sql.delete(schema.subscriptions, ("id",), [(id,)])
        self._sql.delete(schema.spans, ("number",), [(record.number,)])
        self._sql.insert(schema.removals, [(self._sql.take("registry", 1)[0], id, record.query)])
        return record


def _values(record: SubscriptionRecord) -> Values:
    name, query, text, language, owner, columns, *rest = _fields(record)
    return name, query, text, language, owner, json.dumps(columns), *rest


def _subscription(row: Values) -> SubscriptionRecord:
    name, query, text, language, owner, columns, *rest = row
    return SubscriptionRecord(name, query, text, language, owner, _names(columns), *rest)


@lru_cache(maxsize=4096)
def _names(columns: str) -> tuple[str, ...]:
    """The names of columns as they are stored; subscriptions have them in common."""
    return tuple(json.loads(columns))
