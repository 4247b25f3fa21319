"""Reading events: those of one subscription, from the log, in their order or the newest first.

A subscription hears its query's events from the cursor at which it came, and those that are for it alone. Whoever only
reads needs no matcher: `EventLog` is for processes that tell events and never find any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from triplewire.engine.policies import Book
from triplewire.engine.telling import Past, Teller
from triplewire.model import Event
from triplewire.store import MATCHED, UNMATCHED, EventRecord, Hearer, Reader, Store, SubscriptionRecord

_BEYOND = 1 << 60
"""A cursor beyond all there can be, and within what every database can count."""

_REMEMBERED = 10_000


Terms = tuple[int, ...]


class Wanted(NamedTuple):
    """Some events of a subscription: those that follow a cursor; rows that were `withheld` are not told to end."""

    subscription: str
    after: int
    limit: int
    withheld: frozenset[Terms] = frozenset()


class Waiting(NamedTuple):
    """What follows a cursor: how many events (as far as was counted), and when the first of them was committed."""

    events: int
    since: str | None


def following(reader: Reader, record: SubscriptionRecord, after: int, limit: int | None) -> list[EventRecord]:
    """The events of a subscription with a cursor over `after`, in order."""
    most, after = limit if limit is not None else _BEYOND, min(after, _BEYOND)
    shared = reader.log.of_query(record.query, max(after, record.first_cursor), most)
    own = reader.log.of_query(-record.number, after, most)
    return sorted([*own, *shared], key=lambda event: event.cursor)[:limit]


def newest(reader: Reader, record: SubscriptionRecord, before: int | None, limit: int) -> list[EventRecord]:
    """The last events of a subscription with a cursor under `before`, the newest first."""
    before = _BEYOND if before is None else min(before, _BEYOND)
    shared = reader.log.last_of_query(record.query, record.first_cursor, before, limit)
    own = reader.log.last_of_query(-record.number, 0, before, limit)
    return sorted([*own, *shared], key=lambda event: -event.cursor)[:limit]


def told(teller: Teller, record: SubscriptionRecord, found: Sequence[EventRecord]) -> list[Event]:
    """Records as the events of a subscription."""
    hearer = Hearer(record.first_cursor, record.id, record.columns)
    return teller.events([(event, hearer) for event in found])


class Page(NamedTuple):
    """Some events in order, and when each of their batches was committed, by id.

    `until` is the cursor up to which was looked, `lists` the number of the access lists then, `withheld` are rows that
    the viewer was not told of, and so is not told the end of.
    """

    events: list[Event]
    times: Mapping[str, str]
    until: int = 0
    lists: int = 0
    withheld: frozenset[Terms] = frozenset()


class EventLog:
    """The events in a store, for whoever only reads; for one thread at a time."""

    def __init__(self, store: Store) -> None:
        self._store, self._book = store, Book()
        self._times: dict[str, str] = {}

    def pages(self, wanted: Sequence[Wanted]) -> list[Page]:
        """The events of each subscription, all from one state of the store; none of one that is no more.

        Without those whose documents its viewer may not read any more.
        """
        with self._store.reading() as reader:
            self._book.catch_up(reader)
            teller = Teller(reader, self._book.schema.strong, Past(self._store))
            records = reader.subscriptions.find([each.subscription for each in wanted])
            return [
                Page([], {}, each.after, reader.access.number())
                if record is None
                else self._page(reader, teller, record, each)
                for record, each in zip(records, wanted, strict=True)
            ]

    def _page(self, reader: Reader, teller: Teller, record: SubscriptionRecord, wanted: Wanted) -> Page:
        found = following(reader, record, wanted.after, wanted.limit)
        seen, withheld = _still_seen(reader, record, found, wanted.withheld)
        events = told(teller, record, seen)
        until = found[-1].cursor if found else wanted.after
        return Page(events, self._committed(reader, events), until, reader.access.number(), withheld)

    def is_still_seen(self, subscription: str, first: int, last: int) -> bool:
        """Whether a subscription's viewer may read the documents behind its events from one cursor to another."""
        with self._store.reading() as reader:
            (record,) = reader.subscriptions.find([subscription])
            if record is None:
                return False
            found = [event for event in following(reader, record, first - 1, last - first + 1) if event.cursor <= last]
            return len(_still_seen(reader, record, found, frozenset())[0]) == len(found)

    def _committed(self, reader: Reader, events: Sequence[Event]) -> dict[str, str]:
        if len(self._times) > _REMEMBERED:
            self._times.clear()
        for event in events:
            if event.batch not in self._times:
                batch = reader.batches.find(event.batch)
                assert batch is not None, "an event has its batch"
                self._times[event.batch] = batch.committed
        return {event.batch: self._times[event.batch] for event in events}


def _still_seen(
    reader: Reader, record: SubscriptionRecord, found: Sequence[EventRecord], withheld: frozenset[Terms]
) -> tuple[list[EventRecord], frozenset[Terms]]:
    """The events that the viewer may be told now, and the rows that it is not told of.

    An event is found for who may read the documents behind it; a list may have changed since. The end of a row is told
    even so, because that is how who can read a document no longer learns it; unless its beginning was withheld.
    """
    (query,) = reader.queries.by_ids([record.query]) if reader.access.has_lists else (None,)
    if query is None or query.viewer is None:
        return list(found), frozenset()
    lists = reader.access.of(document for event in found for document, _, _ in event.documents)
    hidden = {document for document, access in lists.items() if not access.may_read(query.viewer)}
    seen, hushed = [], set(withheld)
    for event in found:
        is_hidden = any(document in hidden for document, _, _ in event.documents)
        if event.kind == MATCHED:
            (hushed.add if is_hidden else hushed.discard)(event.terms)
        is_told = event.terms not in hushed if event.kind == UNMATCHED else not is_hidden
        if is_told:
            seen.append(event)
    return seen, frozenset(hushed)


def waiting(reader: Reader, record: SubscriptionRecord, after: int, most: int) -> Waiting:
    """What a subscription has after a cursor, counted up to `most`."""
    found = following(reader, record, after, 1)
    if not found:
        return Waiting(0, None)
    count = reader.log.count_of_query(record.query, max(after, record.first_cursor), most)
    count += reader.log.count_of_query(-record.number, after, most)
    (batch,) = reader.batches.listing(found[0].batch - 1, 1)
    return Waiting(min(count, most), batch.committed)
