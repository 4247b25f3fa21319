"""The log: every event that a query gave, in one order for all.

The cursor of an event is its place in that order. Events name terms, triples and documents by their numbers; the
texts of before and after are in the versions. What several queries are told alike is written once (see `crowds`): the
line has the cursor of the first of them, and those of the others follow. A mark is the cursor up to which an account
has looked at the events of its subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from triplewire.store import crowds, schema
from triplewire.store.crowds import CrowdReader, CrowdWriter, Queries
from triplewire.store.packing import Made, Triple, pack, pack_triples, unpack, unpack_triples
from triplewire.store.sql import Sql, StorePart, Values

MATCHED, CHANGED, UNMATCHED = 1, 2, 3

_COLUMNS = "e.cursor, e.batch, e.query, e.kind, e.terms, e.triples, e.documents"
_SHARED = (
    "e.cursor + m.place AS at, e.batch, m.query, e.kind, e.terms, e.triples, e.documents"
    " FROM {} m CROSS JOIN events e WHERE m.query = ? AND e.crowd = m.crowd AND e.crowd <> 0"
    " AND e.cursor > ? - m.place AND e.cursor < ? - m.place"
)
_OWN = "FROM events e WHERE e.query = ? AND e.cursor > ? AND e.cursor < ?"


FORGOTTEN = "forgotten"
"""The counter of batches whose events may be gone."""

_KINDS = 4
"""More than the greatest kind: by a cursor and a kind as one number, the first and the last event are found at once."""
_MOST_TOLD = 10_000
"""Events for which lines are read together: a line may be for thousands of queries."""
_BEYOND = 1 << 60
"""A cursor beyond all there can be, and within what every database can count."""


class Only(NamedTuple):
    """Some events alone: of these kinds (of all, if none is named), committed from one time to before another.

    The times are texts, as `batches` has them; an empty one is no bound.
    """

    kinds: tuple[int, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def text(self) -> str:
        """What is asked of an event `e`, besides."""
        kinds = f" AND e.kind IN ({', '.join('?' * len(self.kinds))})" if self.kinds else ""
        if not (self.since or self.until):
            return kinds
        until = " AND b.committed < ?" if self.until else ""
        return f"{kinds} AND EXISTS (SELECT 1 FROM batches b WHERE b.number = e.batch AND b.committed >= ?{until})"

    @property
    def values(self) -> tuple[int | str, ...]:
        """What the question marks stand for."""
        times = (self.since, *([self.until] if self.until else [])) if self.since or self.until else ()
        return *self.kinds, *times


ALL_EVENTS = Only()


class NewEvent(NamedTuple):
    """An event to write, for each of these queries: the first has the first cursor, and the others follow.

    `documents` are (document, version before, version after), with 0 for no version.
    """

    queries: Queries
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


class LogLines(NamedTuple):
    """Some lines of the log from its end: what they tell, how many they are, and where to go on; None at the end."""

    events: list[EventRecord]
    looked: int
    rest: int | None


class LogReader:
    """Events in their order."""

    def __init__(self, sql: Sql, crowds: CrowdReader) -> None:
        self._sql, self._crowds = sql, crowds

    def of_query(
        self, query: int, after: int = 0, limit: int = 1_000, *, before: int = _BEYOND, only: Only = ALL_EVENTS
    ) -> list[EventRecord]:
        """The events of a query between two cursors, in order."""
        return [_event(row) for row in sorted(self._between(query, after, before, limit, only, ""))[:limit]]

    def last_of_query(
        self, query: int, after: int, before: int, limit: int, *, only: Only = ALL_EVENTS
    ) -> list[EventRecord]:
        """The last events of a query between two cursors, the newest first."""
        found = sorted(self._between(query, after, before, limit, only, "DESC"), reverse=True)
        return [_event(row) for row in found[:limit]]

    def _between(self, query: int, after: int, before: int, limit: int, only: Only, order: str) -> list[Values]:
        """Lines of the log from one end of a stretch: those of the query alone, and as many that it shares."""
        values = query, after, before, *only.values, limit
        found = self._sql.rows(f"SELECT {_COLUMNS} {_OWN}{only.text} ORDER BY e.cursor {order} LIMIT ?", *values)
        for members in self._tables(query):
            text = f"SELECT {_SHARED.format(members)}{only.text} ORDER BY at {order} LIMIT ?"
            found += self._sql.rows(text, *values)
        return found

    def _tables(self, query: int) -> tuple[str, ...]:
        """Where it is written in which crowds a query is, or was; none, if it is that of one subscription alone."""
        return ("crowd_members", "past_members") if query > 0 else ()

    def between_batches(self, first: int, last: int) -> tuple[int, int]:
        """The cursors between which the events of some batches are: one before all of them, and one after."""
        text = "SELECT cursor FROM events WHERE batch >= ? ORDER BY batch, cursor LIMIT 1"
        begin, end = self._sql.first(text, first), self._sql.first(text, last + 1)
        return (begin[0] - 1 if begin else _BEYOND), (end[0] if end else _BEYOND)

    def count_of_query(self, query: int, after: int, most: int, *, before: int = _BEYOND) -> int:
        """How many events of a query there are between two cursors; counted up to `most`."""
        parts = [f"SELECT 1 {_OWN}", *(f"SELECT {_SHARED.format(members)}" for members in self._tables(query))]
        texts = [f"SELECT count(*) FROM ({part} LIMIT ?) AS found" for part in parts]
        return min(most, sum(self._sql.number(text, query, after, before, most) for text in texts))

    def last_of_queries(self, queries: Sequence[int]) -> dict[int, int]:
        """The greatest cursor of each query's events; those that have none are left out."""
        text = (
            "WITH k(a) AS ({keys}) SELECT k.a, (SELECT max(e.cursor) FROM events e WHERE e.query = k.a),"
            " (SELECT max(m.place + (SELECT max(e.cursor) FROM events e WHERE e.crowd = m.crowd AND e.crowd <> 0))"
            " FROM crowd_members m WHERE m.query = k.a) FROM k WHERE k.a IS NOT NULL"
        )
        found = self._sql.keyed(text, [(query,) for query in dict.fromkeys(queries)])
        return {query: max(own or 0, shared or 0) for query, own, shared in found if own or shared}

    def batches_of(self, cursors: Sequence[int]) -> dict[int, int]:
        """The batch of each event, by cursor."""
        text = (
            "WITH k(a) AS ({keys}) SELECT k.a, (SELECT e.batch FROM events e WHERE e.cursor <= k.a"
            " ORDER BY e.cursor DESC LIMIT 1) FROM k WHERE k.a IS NOT NULL"
        )
        return dict(self._sql.keyed(text, [(cursor,) for cursor in dict.fromkeys(cursors)]))

    def of_batch(self, batch: int) -> list[EventRecord]:
        """All events of a batch."""
        text = f"SELECT {_COLUMNS}, e.crowd FROM events e WHERE e.batch = ? ORDER BY e.cursor"
        return list(self._spread(self._sql.rows(text, batch)))

    def told_in(self, after: int, until: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """What the batches with after < number <= until told, in order: the query, the kind of event, and the row.

        Of what was told again and again of a row, it is the first and the last: what was between is over.
        """
        text = (
            f"SELECT min(cursor * {_KINDS} + kind), max(cursor * {_KINDS} + kind), query, crowd, terms FROM events"
            " WHERE batch > ? AND batch <= ? GROUP BY query, crowd, terms"
        )
        told = [(word, line) for line in self._sql.rows(text, after, until) for word in {*line[:2]}]
        for word, (_, _, query, crowd, terms) in sorted(told, key=itemgetter(0)):
            row, kind = unpack(terms), word % _KINDS
            for each in self._crowds.lists([crowd])[crowd] if crowd else (query,):
                yield each, kind, row

    def forgotten(self) -> int:
        """The last batch of which a compaction has dropped events; 0 if none has."""
        return self._sql.counter(FORGOTTEN)

    def after(self, cursor: int, limit: int = 1_000) -> list[EventRecord]:
        """The events of all queries with a greater cursor."""
        line = self._sql.number("SELECT max(cursor) FROM events WHERE cursor <= ?", cursor)  # it may go on beyond
        text = f"SELECT {_COLUMNS}, e.crowd FROM events e WHERE e.cursor >= ? ORDER BY e.cursor LIMIT ?"
        told = self._spread(self._sql.rows(text, line, limit + 1))
        return list(islice((event for event in told if event.cursor > cursor), limit))

    def before(self, cursor: int, after: int, limit: int, only: Only = ALL_EVENTS) -> LogLines:
        """The last lines of the log, for all queries, with what they tell between two cursors."""
        text = f"SELECT {_COLUMNS}, e.crowd FROM events e WHERE e.cursor < ?{only.text} ORDER BY e.cursor DESC LIMIT ?"
        told: list[EventRecord] = []
        lines = self._sql.rows(text, cursor, *only.values, limit)
        for looked, line in enumerate(lines, start=1):
            told += [event for event in self._spread([line]) if after < event.cursor < cursor]
            if line[0] <= after:
                return LogLines(told, looked, None)
            if len(told) >= _MOST_TOLD:
                return LogLines(told, looked, line[0] - 1)
        return LogLines(told, len(lines), lines[-1][0] - 1 if len(lines) == limit else None)

    def last_cursor(self) -> int:
        """The cursor of the last event that was ever written."""
        return self._sql.counter("events")

    def _spread(self, lines: Sequence[Values]) -> Iterator[EventRecord]:
        """The events of some lines: that of a crowd once for each of its queries."""
        for *line, crowd in lines:
            event = _event(line)
            if not crowd:
                yield event
                continue
            for place, query in enumerate(self._crowds.lists([crowd])[crowd]):
                yield event._replace(cursor=event.cursor + place, query=query)


class LogWriter(LogReader):
    """Events in their order, and new ones."""

    _crowds: CrowdWriter

    def append(self, batch: int, events: Sequence[NewEvent]) -> range:
        """Write the events of a batch; their cursors, those of each event's queries one after the other."""
        count = sum(len(event.queries) for event in events)
        if not count:
            return range(0)
        cursors = self._sql.take("events", count)
        cursor = cursors[0]
        crowd_of = self._crowds.numbers([e.queries for e in events if len(e.queries) >= crowds.FEWEST])
        rows, reasons = Made(pack), Made(pack_triples)  # many events are of one row, or have one reason
        lines: list[Values] = []
        for queries, kind, terms, triples, documents in events:
            content = kind, rows[terms], reasons[triples], reasons[documents]
            crowd = crowd_of.get(queries)
            if crowd:
                lines.append((cursor, batch, 0, *content, crowd))
            else:
                lines += [(cursor + place, batch, query, *content, 0) for place, query in enumerate(queries)]
            cursor += len(queries)
        self._sql.insert(schema.events, lines)
        return cursors

    def drop_own(self, number: int, after: int, until: int) -> None:
        """Forget events that are for one subscription alone, after one cursor up to another."""
        self._sql.run("DELETE FROM events WHERE query = ? AND cursor > ? AND cursor <= ?", -number, after, until)


class MarkReader(StorePart):
    """Marks by account; nobody has the empty name."""

    def of(self, account: str) -> int:
        """The cursor up to which an account has looked; 0 if it never did."""
        return self._sql.number("SELECT cursor FROM marks WHERE account = ?", account)


class MarkWriter(MarkReader):
    """Marks, and new ones."""

    def set(self, account: str, cursor: int) -> None:
        """An account has looked up to here."""
        self._sql.replace(schema.marks, [(account, cursor)])


def _event(row: Sequence[Any]) -> EventRecord:
    cursor, batch, query, kind, terms, triples, documents = row
    return EventRecord(cursor, batch, query, kind, unpack(terms), unpack_triples(triples), unpack_triples(documents))
