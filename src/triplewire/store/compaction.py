"""Compaction: what nothing refers to any more goes, and the room is given back.

It works on a live store: readers go on, writers wait. Terms that go make the numbers that others keep in mind void,
so a new generation begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from triplewire.store import schema
from triplewire.store.log import FORGOTTEN
from triplewire.store.packing import unpack
from triplewire.store.sql import Sql
from triplewire.store.transactions import GENERATION


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many terms, versions and events a compaction dropped."""

    terms: int
    versions: int
    events: int


def compact(sql: Sql, keep_versions: int | None, keep_events_after: int | None) -> Compacted:
    """Drop old versions and events as asked, events that nobody can ask for any more, and terms without use.

    Events that a delivery has still to tell stay, however old they are, unless it was disabled; so do those that came
    while some subscription is paused. A line of the log that several queries share
    goes when the last of them may lose it.
    """
    versions = 0 if keep_versions is None else _drop_versions(sql, keep_versions)
    sql.run("DELETE FROM past_members WHERE query NOT IN (SELECT query FROM spans)")
    asked = "SELECT id FROM queries UNION SELECT query FROM spans"
    events = sql.run(f"DELETE FROM events WHERE query > 0 AND query NOT IN ({asked})")
    events += sql.run("DELETE FROM events WHERE query < 0 AND -query NOT IN (SELECT number FROM subscriptions)")
    events += _drop_shared_events(
        sql, "c.members = 0 AND NOT EXISTS (SELECT 1 FROM past_members p WHERE p.crowd = c.id)"
    )
    if keep_events_after is not None:
        slowest = sql.first("SELECT min(cursor) FROM deliveries WHERE state <> 'disabled'")
        paused = sql.first("SELECT min(last_cursor) FROM subscriptions")
        waiting = [found[0] for found in (slowest, paused) if found is not None and found[0] is not None]
        told = min([keep_events_after, *waiting])
        _note_forgotten(sql, told)
        events += sql.run("DELETE FROM events WHERE crowd = 0 AND cursor <= ?", told)
        last = "e.cursor + length(c.queries) / 8 - 1"  # eight bytes for each in the list
        events += _drop_shared_events(sql, f"{last} <= ?", told)
    _drop_crowds(sql)
    return Compacted(_drop_terms(sql), versions, events)


def _note_forgotten(sql: Sql, cursor: int) -> None:
    """Let edges know that what they would be told of earlier batches is not all there any more."""
    last = sql.number("SELECT max(batch) FROM events WHERE cursor <= ?", cursor)
    known = sql.counter(FORGOTTEN)
    if last > known:
        sql.take(FORGOTTEN, last - known)


def _drop_shared_events(sql: Sql, which: str, *values: int) -> int:
    """The lines of events that crowds were told; how many events they were."""
    found = sql.rows(
        "SELECT e.cursor, length(c.queries) / 8 FROM events e JOIN crowds c ON c.id = e.crowd"
        f" WHERE e.crowd <> 0 AND {which}",
        *values,
    )
    sql.delete(schema.events, ("cursor",), [(cursor,) for cursor, _ in found])
    return sum(count for _, count in found)


def _drop_crowds(sql: Sql) -> None:
    """Drop the crowds that have no row and no event."""
    used = "SELECT crowd FROM rows WHERE crowd <> 0 UNION SELECT crowd FROM events WHERE crowd <> 0"
    sql.run(f"DELETE FROM crowds WHERE id NOT IN ({used})")
    for members in ("crowd_members", "past_members"):
        sql.run(f"DELETE FROM {members} WHERE crowd NOT IN (SELECT id FROM crowds)")


def _drop_versions(sql: Sql, keep: int) -> int:
    """The current version of a document always stays."""
    if keep < 1:
        raise ValueError("keep_versions is at least 1: the current version of a document stays")
    dropped = sql.run(
        "DELETE FROM versions WHERE version <= (SELECT d.version FROM documents d WHERE d.id = versions.document) - ?",
        keep,
    )
    sql.run(
        "DELETE FROM replications WHERE version > 0 AND NOT EXISTS (SELECT 1 FROM versions v"
        " WHERE v.document = replications.document AND v.version = replications.version)"
    )
    return dropped


def _drop_terms(sql: Sql) -> int:
    used = _used_terms(sql)
    unused = [(number,) for (number,) in sql.stream("SELECT id FROM terms") if not used[number]]
    if unused:
        sql.delete(schema.terms, ("id",), unused)
        sql.take(GENERATION, 1)
    return len(unused)


def _used_terms(sql: Sql) -> bytearray:
    """For each number of a term whether anything refers to it."""
    used = bytearray(sql.counter("terms") + 1)
    for text in ("SELECT DISTINCT s FROM statements", "SELECT DISTINCT p, o FROM statements"):
        for numbers in sql.stream(text):
            for number in numbers:
                used[number] = 1
    for column, table in (("terms", "queries"), ("terms", "rows"), ("terms", "events"), ("triples", "events")):
        for (packed,) in sql.stream(f"SELECT {column} FROM {table}"):
            for number in unpack(packed):
                used[number] = 1
    return used
