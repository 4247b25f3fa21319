"""Statistics: how much came and was told over time, what waits, and which subscriptions have the most to do.

From the store alone, so that it is the same whichever process asks; bounded like every survey.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from triplewire.engine.inspect.costs import cost_of
from triplewire.matching.incremental import load_pattern
from triplewire.store import Reader
from triplewire.store.queries import QueryRecord

MOST_BATCHES = 5_000
"""Rates are over so many batches at most, the last ones."""
MOST_EVENTS = 10_000
"""The busiest subscriptions are those of so many events, the last ones."""
MOST_COMPARED = 200
MOST_COUNTED = 10_000
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Interval:
    """What was committed from `start` on, until the next interval begins."""

    start: datetime
    batches: int
    documents: int
    events: int


@dataclass(frozen=True, slots=True)
class Load:
    """A subscription, with how many others ask the same; its events lately, its rows, and what it costs.

    Events and rows are counted. The cost is estimated, as `costs` says, and no measurement.
    """

    subscription: str
    others: int
    events: int
    rows: int
    estimated_cost: int


@dataclass(frozen=True, slots=True)
class IntakeBacklog:
    """What publishers sent to the intake log and no batch has applied: how much, since when, and what was set aside."""

    waiting: int
    since: str | None
    rejected: int


def intervals(reader: Reader, until: datetime, width: timedelta, count: int) -> tuple[list[Interval], bool]:
    """So many intervals up to a time, oldest first; and whether older batches were left out to keep it quick."""
    begin = until - width * count
    last = reader.batches.last()
    found = reader.batches.listing(max(0, last - MOST_BATCHES), MOST_BATCHES)
    sums = [[0, 0, 0] for _ in range(count)]
    for batch in found:
        place = int((datetime.fromisoformat(batch.committed) - begin) / width)
        if 0 <= place < count:
            sums[place][0] += 1
            sums[place][1] += batch.documents
            sums[place][2] += batch.events
    is_cut = len(found) == MOST_BATCHES and datetime.fromisoformat(found[0].committed) > begin
    return [Interval(begin + width * place, *counted) for place, counted in enumerate(sums)], is_cut


def backlog(reader: Reader) -> IntakeBacklog:
    """What waits on the intake log."""
    return IntakeBacklog(reader.intake.waiting(), reader.surveys.oldest_waiting(), reader.intake.count_rejected())


def loads(reader: Reader) -> tuple[list[Load], list[Load]]:
    """The subscriptions with the most events lately, and those that seem to cost most, of as many as were compared."""
    after = max(0, reader.log.last_cursor() - MOST_EVENTS)
    events = {query: count for query, count in reader.surveys.busiest(after, MOST_COMPARED) if query > 0}
    first = reader.subscriptions.listing("", MOST_COMPARED)
    queries = list(dict.fromkeys([*events, *(record.query for record in first)]))[:MOST_COMPARED]
    owners = dict(zip(queries, reader.subscriptions.of_queries(queries), strict=True))
    rows = reader.surveys.row_counts(queries, MOST_COUNTED)
    costs = {
        query: _cost(reader, record) for query, record in zip(queries, reader.queries.by_ids(queries), strict=True)
    }
    told = {
        query: Load(owners[query][0].id, len(owners[query]) - 1, events.get(query, 0), rows[query], costs[query])
        for query in queries
        if owners[query]
    }
    busiest = [told[query] for query in events if query in told][:_MOST_SHOWN]
    costliest = sorted(told.values(), key=lambda load: -load.estimated_cost)[:_MOST_SHOWN]
    return busiest, costliest


def _cost(reader: Reader, record: QueryRecord | None) -> int:
    if record is None:
        return 0
    return cost_of(load_pattern(record.pattern), reader.seen_by(record.viewer), most=MOST_COUNTED).total
