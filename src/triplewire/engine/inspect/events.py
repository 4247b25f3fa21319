"""Events: those of one subscription, from the log, in their order or the newest first.

A subscription hears its query's events from the cursor at which it came, and those that are for it alone; one that was
edited heard another query before (see `store.subscriptions`), and one that is paused hears nothing new. `EventLog`
needs no matcher: it is for processes that tell events and never find any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from triplewire.engine.batch.policies import Book
from triplewire.engine.telling import Teller
from triplewire.matching.pages import Terms
from triplewire.model import Event, Time, bound
from triplewire.store import (
    ALL_EVENTS,
    MATCHED,
    UNMATCHED,
    EventRecord,
    Hearer,
    Only,
    Reader,
    Store,
    Stretch,
    SubscriptionRecord,
)

_BEYOND = 1 << 60
"""A cursor beyond all there can be, and within what every database can count."""


class EventFilter(NamedTuple):
    """Some events of a subscription: those that follow a cursor; rows that were `withheld` are not told to end."""

    subscription: str
    after: int
    limit: int
    withheld: frozenset[Terms] = frozenset()


class WaitingEvents(NamedTuple):
    """What follows a cursor: how many events (as far as was counted), and when the first of them was committed."""

    events: int
    since: str | None


class Some(NamedTuple):
    """Which events of a subscription: between two cursors, committed from one time to before another, of some kinds."""

    after: int = 0
    before: int = _BEYOND
    since: Time | None = None
    until: Time | None = None
    kinds: tuple[int, ...] = ()

    def within(self, reader: Reader) -> tuple[int, int, Only]:
        """The cursors between which they are, and what else is asked of them."""
        after, before = min(self.after, _BEYOND), min(self.before, _BEYOND)
        if self.since is None and self.until is None:
            return after, before, Only(self.kinds)
        since, until = ("" if time is None else bound(time) for time in (self.since, self.until))
        batches = reader.batches.within(since, until or "~")
        if batches is None:
            return before, before, ALL_EVENTS
        begin, end = reader.log.between_batches(*batches)
        return max(after, begin), min(before, end), Only(self.kinds, since, until)


class _Part(NamedTuple):
    """A part of a subscription's log: the number under which it is, and the cursors between which it is."""

    query: int
    after: int
    before: int


def _parts(record: SubscriptionRecord, stretches: Sequence[Stretch], after: int, before: int) -> list[_Part]:
    """Where the events of a subscription between two cursors are, oldest first; the last part is for it alone.

    While it is paused, what came since is not told.
    """
    before = min(before, record.last_cursor + 1)
    found = [_Part(s.query, max(after, s.first_cursor), min(before, s.last_cursor + 1)) for s in stretches]
    return [*(part for part in found if part.after + 1 < part.before), _Part(-record.number, after, before)]


def following(reader: Reader, record: SubscriptionRecord, some: Some, limit: int | None) -> list[EventRecord]:
    """Some events of a subscription, in order."""
    return _read(reader, record, some, _BEYOND if limit is None else limit, is_newest=False)


def newest(reader: Reader, record: SubscriptionRecord, some: Some, limit: int) -> list[EventRecord]:
    """The last of some events of a subscription, the newest first."""
    return _read(reader, record, some, limit, is_newest=True)


def _read(reader: Reader, record: SubscriptionRecord, some: Some, most: int, *, is_newest: bool) -> list[EventRecord]:
    after, before, only = some.within(reader)
    *shared, own = _parts(record, reader.subscriptions.spans(record), after, before)

    def read(part: _Part, most: int) -> list[EventRecord]:
        if is_newest:
            return reader.log.last_of_query(part.query, part.after, part.before, most, only=only)
        return reader.log.of_query(part.query, part.after, most, before=part.before, only=only)

    found: list[EventRecord] = []
    for part in reversed(shared) if is_newest else shared:
        if len(found) < most:
            found += read(part, most - len(found))
    return sorted([*found, *read(own, most)], key=lambda event: event.cursor, reverse=is_newest)[:most]


def hearers(reader: Reader, record: SubscriptionRecord, found: Sequence[EventRecord]) -> list[Hearer]:
    """For each of its events the subscription as it was then, with the columns that it had."""
    stretches = reader.subscriptions.spans(record)
    ends = [stretch.last_cursor for stretch in stretches]
    then = [Hearer(stretch.first_cursor, record.id, stretch.columns) for stretch in stretches]
    return [then[bisect_left(ends, event.cursor)] for event in found]


def told(reader: Reader, teller: Teller, record: SubscriptionRecord, found: Sequence[EventRecord]) -> list[Event]:
    """Records as the events of a subscription."""
    return teller.events(list(zip(found, hearers(reader, record, found), strict=True)))


class LogPage(NamedTuple):
    """Some events in order.

    `until` is the cursor up to which was looked, `lists` the number of the access lists then, `withheld` are rows that
    the viewer was not told of, and so is not told the end of.
    """

    events: list[Event]
    until: int = 0
    lists: int = 0
    withheld: frozenset[Terms] = frozenset()
    title: str = ""
    """What the subscription is called."""


class EventLog:
    """The events in a store, for processes that only read; for one thread at a time."""

    def __init__(self, store: Store) -> None:
        self._store, self._book = store, Book()

    def pages(self, wanted: Sequence[EventFilter]) -> list[LogPage]:
        """The events of each subscription, all from one state of the store; none of one that is no more.

        Without those whose documents its viewer may not read any more.
        """
        with self._store.reading() as reader:
            self._book.catch_up(reader)
            teller = Teller(reader, self._book.schema.strong, self._store)
            records = reader.subscriptions.find([each.subscription for each in wanted])
            return [
                LogPage([], each.after, reader.access.number())
                if record is None
                else self._page(reader, teller, record, each)
                for record, each in zip(records, wanted, strict=True)
            ]

    def _page(self, reader: Reader, teller: Teller, record: SubscriptionRecord, wanted: EventFilter) -> LogPage:
        found = following(reader, record, Some(wanted.after), wanted.limit)
        seen, withheld = _still_seen(reader, record, found, wanted.withheld)
        until = found[-1].cursor if found else wanted.after
        return LogPage(
            told(reader, teller, record, seen), until, reader.access.number(), withheld, record.title or record.id
        )

    def is_still_seen(self, subscription: str, first: int, last: int) -> bool:
        """Whether a subscription's viewer may read the documents behind its events from one cursor to another."""
        with self._store.reading() as reader:
            (record,) = reader.subscriptions.find([subscription])
            if record is None:
                return False
            found = following(reader, record, Some(first - 1, last + 1), None)
            return len(_still_seen(reader, record, found, frozenset())[0]) == len(found)


def _still_seen(
    reader: Reader, record: SubscriptionRecord, found: Sequence[EventRecord], withheld: frozenset[Terms]
) -> tuple[list[EventRecord], frozenset[Terms]]:
    """The events that the viewer may be told now, and the rows that it is not told of.

    An event is found for viewers who may read the documents behind it; a list may have changed since. The end of a row
    is told even so, because that is how a viewer learns that it cannot read a document any longer; unless its beginning
    was withheld.
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


def waiting(reader: Reader, record: SubscriptionRecord, after: int, most: int) -> WaitingEvents:
    """What a subscription has after a cursor, counted up to `most`."""
    found = following(reader, record, Some(after), 1)
    if not found:
        return WaitingEvents(0, None)
    (batch,) = reader.batches.listing(found[0].batch - 1, 1)
    return WaitingEvents(count_after(reader, record, after, most), batch.committed)


def count_after(reader: Reader, record: SubscriptionRecord, after: int, most: int) -> int:
    """How many events a subscription has after a cursor, counted up to `most`."""
    parts = _parts(record, reader.subscriptions.spans(record), after, _BEYOND)
    count = sum(reader.log.count_of_query(part.query, part.after, most, before=part.before) for part in parts)
    return min(count, most)
