"""The inbox: the events of all subscriptions of an account together, the newest first, and how many are new.

Of few subscriptions each log is read from its end; of many, the log of all is, and what is not its own is left out. How
far one page looks is bounded, and a page that was cut says so: a client that asks on from `next` misses nothing.

Several subscriptions may hear one event of a query, under one cursor. So the place where a page ends is a cursor, and
how many of those that hear it were told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import merge
from itertools import islice
from typing import NamedTuple

from triplewire.engine.inspect.events import Some, count_after, hearers, newest
from triplewire.engine.inspect.summaries import Sees, has_words
from triplewire.engine.telling import Teller
from triplewire.errors import UnknownSubscription
from triplewire.model import InboxItem, InboxNews, InboxPage, Time
from triplewire.store import CHANGED, MATCHED, UNMATCHED, EventRecord, Hearer, Reader, SubscriptionRecord

_KINDS = {"matched": MATCHED, "changed": CHANGED, "unmatched": UNMATCHED}
FEW = 64
"""Subscriptions whose logs are read one by one."""
LOOKED_AT = 5_000
"""Events that a page reads, or lines of the log of all; it ends with the round that reaches it."""
COUNTED_TO = 1_000
"""New events that are counted for one subscription."""
_LINES = 500
_FEWEST_READ = 8
"""Events of one log that are read together, if there are many logs."""
_BEYOND = 1 << 60


class InboxPlace(NamedTuple):
    """Up to which cursor, and how many of the events with this cursor were told.

    >>> str(InboxPlace.of("17.2")), InboxPlace.of("17")
    ('17.2', InboxPlace(cursor=17, told=0))
    """

    cursor: int = _BEYOND
    told: int = 0

    @classmethod
    def of(cls, text: str) -> InboxPlace:
        """A place as it was told; ValueError if it is none."""
        cursor, _, told = text.partition(".")
        return cls(min(int(cursor), _BEYOND), max(0, int(told or 0)))

    def __str__(self) -> str:
        return f"{self.cursor}.{self.told}"


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which events: of subscriptions of one owner or of all, of some of these, of some kinds, by time, with words."""

    owner: str | None = None
    subscriptions: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: Time | None = None
    until: Time | None = None
    words: str = ""
    before: InboxPlace = field(default_factory=InboxPlace)
    limit: int = 50

    def some(self, before: int) -> Some:
        """The same of one subscription, before a cursor."""
        return Some(0, before, self.since, self.until, tuple(_KINDS[kind] for kind in self.kinds))


class _Pair(NamedTuple):
    event: EventRecord
    hearer: Hearer
    record: SubscriptionRecord


class _Part(NamedTuple):
    """What was found next, how many were read for it, and where to look on; None at the end."""

    pairs: list[_Pair]
    looked: int
    rest: InboxPlace | None


class _Few:
    """Reads each log from its end, in chunks, as far as the events of all together are asked for."""

    def __init__(self, reader: Reader, wanted: InboxFilter, records: Sequence[SubscriptionRecord]) -> None:
        self._reader, self._wanted, self._records = reader, wanted, records
        self._read = 0

    def next(self, place: InboxPlace, count: int) -> _Part:
        # Each subscription hears one event of a cursor; the number in `place` is whatever a client has sent.
        most = count + min(place.told, len(self._records))
        chunk = max(_FEWEST_READ, most // max(1, len(self._records)))
        begun = self._read
        logs = [self._newest(record, place.cursor + 1, chunk) for record in self._records]
        pairs = list(islice(merge(*logs, key=_order), most))
        chosen = _beyond(pairs, place)
        is_end = len(pairs) < most
        return _Part(chosen, self._read - begun, None if is_end else reduce(_after, chosen, place))

    def _newest(self, record: SubscriptionRecord, before: int, chunk: int) -> Iterator[_Pair]:
        """The events of one subscription, the newest first; read when they are asked for."""
        while True:
            found = newest(self._reader, record, self._wanted.some(before), chunk)
            self._read += len(found)
            heard = hearers(self._reader, record, found)
            yield from (_Pair(event, hearer, record) for event, hearer in zip(found, heard, strict=True))
            if len(found) < chunk:
                return
            before = found[-1].cursor


class _All:
    """Reads the log of all, and leaves out what is not theirs."""

    def __init__(self, reader: Reader, wanted: InboxFilter, sees: Sees) -> None:
        self._reader, self._wanted, self._sees = reader, wanted, sees
        self._after, self._before, self._only = wanted.some(_BEYOND).within(reader)
        # For an owner, lines of every kind are counted: where a page is cut must not tell of which kind others' are.
        self._counted = self._only if wanted.owner is None else self._only._replace(kinds=())

    def next(self, place: InboxPlace, count: int) -> _Part:
        until = min(place.cursor + 1, self._before)
        lines = self._reader.log.before(until, self._after, _LINES, self._counted)
        kinds = self._only.kinds
        events = [event for event in lines.events if not kinds or event.kind in kinds]
        pairs = heard_of(self._reader, events, self._wanted.owner, self._sees)
        pairs.sort(key=_order)
        return _Part(_beyond(pairs, place), lines.looked, None if lines.rest is None else InboxPlace(lines.rest))


def page(reader: Reader, teller: Teller, wanted: InboxFilter, sees: Sees) -> InboxPage:
    """A page of the inbox; UnknownSubscription for one that is named and is not theirs."""
    source = _source(reader, wanted, sees)
    picked: list[_Pair] = []
    place: InboxPlace | None = wanted.before
    looked = 0
    while place is not None and len(picked) < wanted.limit and looked < LOOKED_AT:
        part = source.next(place, _LINES if wanted.words else wanted.limit - len(picked))
        looked += max(1, part.looked, len(part.pairs))
        begun, place = place, part.rest
        values = teller.values(number for pair in part.pairs for number in pair.event.terms) if wanted.words else {}
        for pair in part.pairs:
            begun = _after(begun, pair)
            if not wanted.words or has_words(wanted.words, [_title(pair), *(values[n] for n in pair.event.terms if n)]):
                picked.append(pair)
            if len(picked) == wanted.limit:
                return InboxPage(_items(teller, picked), str(begun), is_cut=False)
    return InboxPage(_items(teller, picked), None if place is None else str(place), is_cut=place is not None)


def _items(teller: Teller, picked: Sequence[_Pair]) -> list[InboxItem]:
    events = teller.events([(pair.event, pair.hearer) for pair in picked])
    return [InboxItem(event, _title(pair)) for event, pair in zip(events, picked, strict=True)]


def _title(pair: _Pair) -> str:
    return pair.record.title or pair.record.id


def _source(reader: Reader, wanted: InboxFilter, sees: Sees) -> _Few | _All:
    if wanted.subscriptions:
        return _Few(reader, wanted, _named(reader, wanted, sees))
    few = reader.subscriptions.listing("", FEW + 1, owner=wanted.owner)
    return _Few(reader, wanted, _seen(reader, few, sees)) if len(few) <= FEW else _All(reader, wanted, sees)


def _named(reader: Reader, wanted: InboxFilter, sees: Sees) -> list[SubscriptionRecord]:
    named = list(dict.fromkeys(wanted.subscriptions))
    found = [record for record in reader.subscriptions.find(named) if record is not None]
    theirs = [record for record in found if wanted.owner is None or record.owner == wanted.owner]
    seen = {record.id: record for record in _seen(reader, theirs, sees)}
    for id in named:
        if id not in seen:
            raise UnknownSubscription(id)
    return list(seen.values())


def _seen(reader: Reader, records: Sequence[SubscriptionRecord], sees: Sees) -> list[SubscriptionRecord]:
    queries = reader.queries.by_ids([record.query for record in records])
    found = zip(records, queries, strict=True)
    return [record for record, query in found if query is not None and sees(query.viewer)]


def heard_of(reader: Reader, events: Iterable[EventRecord], owner: str | None, sees: Sees) -> list[_Pair]:
    """Events of any queries, for each subscription of an owner that hears them."""
    events = list(events)
    hearing = reader.subscriptions.hearing([event.query for event in events if event.query > 0])
    own = reader.subscriptions.by_numbers([-event.query for event in events if event.query < 0])
    names = {hearer.id for heard in hearing.values() for hearer in heard} | {record.id for record in own.values()}
    found = [record for record in reader.subscriptions.find(sorted(names)) if record is not None]
    theirs = [record for record in found if owner is None or record.owner == owner]
    records = {record.id: record for record in _seen(reader, theirs, sees)}
    pairs: list[_Pair] = []
    for event in events:
        if event.query > 0:
            heard = [one for one in hearing.get(event.query, ()) if one.first_cursor < event.cursor <= one.last_cursor]
            pairs += [_Pair(event, hearer, records[hearer.id]) for hearer in heard if hearer.id in records]
            continue
        record = own.get(-event.query)
        if record is not None and record.id in records and event.cursor <= record.last_cursor:
            pairs.append(_Pair(event, hearers(reader, record, [event])[0], record))
    return pairs


def news(reader: Reader, account: str, owner: str | None, sees: Sees) -> InboxNews:
    """What is new since an account has looked."""
    mark, last = reader.marks.of(account), reader.log.last_cursor()
    few = reader.subscriptions.listing("", FEW + 1, owner=owner)
    counts: Counter[str] = Counter()
    if len(few) <= FEW:
        records = _seen(reader, few, sees)
        counts.update({record.id: count_after(reader, record, mark, COUNTED_TO) for record in records})
        is_cut = any(count == COUNTED_TO for count in counts.values())
    else:
        found = reader.log.after(mark, LOOKED_AT)
        pairs = heard_of(reader, found, owner, sees)
        records = list({pair.record.id: pair.record for pair in pairs}.values())
        counts.update(pair.record.id for pair in pairs)
        is_cut = len(found) == LOOKED_AT
    titles = {record.id: record.title or record.id for record in records}
    several = sorted(
        ((id, titles[id], count) for id, count in counts.items() if count), key=lambda one: (-one[2], one[0])
    )
    return InboxNews(mark, last, sum(counts.values()), is_cut, several)


def _order(pair: _Pair) -> tuple[int, str]:
    return -pair.event.cursor, pair.record.id


def _beyond(pairs: Sequence[_Pair], place: InboxPlace) -> list[_Pair]:
    """The pairs that no page before `place` has told."""
    told = sum(1 for pair in pairs if pair.event.cursor == place.cursor)
    return list(pairs[min(told, place.told) :])


def _after(place: InboxPlace, pair: _Pair) -> InboxPlace:
    cursor = pair.event.cursor
    return InboxPlace(cursor, place.told + 1 if cursor == place.cursor else 1)
