"""Quotas: how much a tenant may have, cause and ask for, so that no tenant takes the service from the others (X9).

What is over a quota is refused before anything is done, with the reason; nothing that was taken in is ever dropped for
one. So the quota of events closes the door to new documents: what was acknowledged is applied, and all of its events
are told, also those that go over.

Invariant: what is refused because a quota is used up is served when the quota has room again. Only what a query costs
is measured by itself, and does not pass with time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from triplewire.algebra.pattern import Pattern
from triplewire.engine.inspect.costs import cost_of
from triplewire.engine.subscriptions.registrations import compiled
from triplewire.errors import QueryError, QueryTooCostly, QuotaExceeded, QuotaSpent
from triplewire.hub.settings import TenantSettings
from triplewire.store import Store

DAY = timedelta(days=1)
_MINUTE = 60.0


QuotaName = Literal["documents", "subscriptions", "events", "query_cost", "sparql_seconds"]


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """A quota of the tenant, with how often it refused since the service began.

    Of `events` the last day is used, of `sparql_seconds` the last minute; `query_cost` measures each query by itself,
    so there is nothing used.
    """

    name: QuotaName
    used: float | None
    most: float
    refused: int


class EventQuota:
    """Events of the last day, counted in the store: whichever process applied what caused them.

    The day moves on by minutes. An event that several subscriptions with one query hear counts once, as in the log.
    """

    def __init__(self, store: Store, most: int, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.most = most
        self._store, self._now = store, now
        self._lock = threading.Lock()
        self._last: int | None = None
        self._minutes: deque[tuple[str, int]] = deque()

    def used(self) -> int:
        """How many there were in the last day."""
        with self._lock:
            self._catch_up()
            return sum(events for _, events in self._minutes)

    def wait(self) -> float:
        """Seconds until there is room again: until as many are a day old as are too many."""
        with self._lock:
            self._catch_up()
            over = sum(events for _, events in self._minutes) - self.most
            for minute, events in self._minutes:
                over -= events
                if over < 0:
                    begun = datetime.fromisoformat(f"{minute}:00+00:00")
                    return max(1.0, (begun + DAY - self._now()).total_seconds() + _MINUTE)
            return _MINUTE

    def _catch_up(self) -> None:
        begin = (self._now() - DAY).isoformat(timespec="minutes")[:16]
        with self._store.reading() as reader:
            if self._last is None:
                self._last = reader.batches.since(begin)
            for minute, events, last in reader.batches.events_by_minute(self._last):
                self._last = max(self._last, last)
                if self._minutes and self._minutes[-1][0] == minute:
                    events += self._minutes.pop()[1]
                self._minutes.append((minute, events))
        while self._minutes and self._minutes[0][0] < begin:
            self._minutes.popleft()


class SecondsQuota:
    """Seconds that may be used in each minute: a minute's worth at once, filled again with time.

    How long something takes is known only afterwards, so what begins while there is some left may go over; the next one
    waits until that is paid back.

    >>> now = 0.0
    >>> quota = SecondsQuota(6, clock=lambda: now)
    >>> quota.spend(8); quota.wait()
    20.0
    >>> now = 30.0; quota.wait(), quota.used()
    (0.0, 5.0)
    """

    def __init__(self, most: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock, self._left, self._at = clock, most, clock()
        self._lock = threading.Lock()

    def spend(self, seconds: float) -> None:
        """So many were used."""
        with self._lock:
            self._fill()
            self._left -= seconds

    def wait(self) -> float:
        """Seconds until there is some left; 0 when there is."""
        with self._lock:
            self._fill()
            if self._left > 0:
                return 0.0
            return -self._left * _MINUTE / self.most if self._left and self.most else _MINUTE

    def used(self) -> float:
        """How much of a minute's worth is gone."""
        with self._lock:
            self._fill()
            return self.most - self._left

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self.most, self._left + (now - self._at) * self.most / _MINUTE)
        self._at = now


class Quotas:
    """The quotas of a tenant. Each check raises, and counts what it refused."""

    def __init__(self, store: Store, own: TenantSettings) -> None:
        self._store, self._own = store, own
        self.events = None if own.events is None else EventQuota(store, own.events)
        self.sparql = None if own.sparql_seconds is None else SecondsQuota(own.sparql_seconds)
        self.refused: Counter[str] = Counter()

    @property
    def documents(self) -> int | None:
        """How many documents there may be."""
        return self._own.documents

    def over_documents(self) -> QuotaExceeded:
        """The error for a publisher of one document too many."""
        self.refused["documents"] += 1
        return QuotaExceeded("documents", self._own.documents or 0)

    def over_events(self, asked: int = 1) -> QuotaSpent | None:
        """The error for so many changes that would cause events, if no more may be caused today."""
        if self.events is None or self.events.used() < self.events.most:
            return None
        self.refused["events"] += asked
        meanwhile = "documents can be read and retracted, and everything that was told is there"
        return QuotaSpent("events", self.events.most, "a day", self.events.wait(), meanwhile=meanwhile)

    def check_events(self) -> None:
        """QuotaSpent if no more events may be caused today."""
        if error := self.over_events():
            raise error

    def check_subscriptions(self, coming: int = 1) -> None:
        """QuotaExceeded if there must not be one more, or so many; asked while nobody else subscribes."""
        most = self._own.subscriptions
        if most is not None:
            with self._store.reading() as reader:
                count = reader.subscriptions.count()
            if count + coming > most:
                self.refused["subscriptions"] += 1
                raise QuotaExceeded("subscriptions", most)

    def check_cost(
        self, text: str | Pattern, language: str, prefixes: Mapping[str, str], viewer: str | None = None
    ) -> None:
        """QueryTooCostly for a query over the bound; what is no query is left for others to refuse.

        It is told of what its viewer may read, so that the reason gives away nothing else.
        """
        most = self._own.query_cost
        if most is None:
            return
        with suppress(QueryError), self._store.reading() as reader:
            cost = cost_of(compiled(reader, text, language, prefixes), reader.seen_by(viewer))
            if cost.total > most:
                self.refused["query_cost"] += 1
                raise QueryTooCostly(cost.total, most, dearest=cost.dearest, triples=cost.triples)

    def check_sparql(self) -> None:
        """QuotaSpent if no seconds are left for queries."""
        if self.sparql is not None and (seconds := self.sparql.wait()):
            self.refused["sparql_seconds"] += 1
            meanwhile = "everything but SPARQL is served"
            raise QuotaSpent("seconds of SPARQL", self.sparql.most, "a minute", seconds, meanwhile=meanwhile)

    def spend_sparql(self, seconds: float) -> None:
        """A query took so long."""
        if self.sparql is not None:
            self.sparql.spend(seconds)

    def told(self) -> list[QuotaUse]:
        """The quotas that are set."""
        own = self._own
        with self._store.reading() as reader:
            counts: dict[QuotaName, tuple[float | None, float | None]] = {
                "documents": (None if own.documents is None else reader.documents.count(), own.documents),
                "subscriptions": (
                    None if own.subscriptions is None else reader.subscriptions.count(),
                    own.subscriptions,
                ),
            }
        counts["events"] = (None if self.events is None else self.events.used(), own.events)
        counts["query_cost"] = (None, own.query_cost)
        counts["sparql_seconds"] = (None if self.sparql is None else self.sparql.used(), own.sparql_seconds)
        return [
            QuotaUse(name, used, most, self.refused[name]) for name, (used, most) in counts.items() if most is not None
        ]
