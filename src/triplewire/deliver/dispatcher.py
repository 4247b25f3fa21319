"""The dispatcher: what one store has to deliver, whose turn it is, and what was achieved.

Rounds, a few in a second: what was achieved is written, all of it in one transaction; the lease is renewed; what people
changed and which subscriptions have news is looked up; and deliveries that have something to say and may say it get a
task each. A task sends one message after the other, so the events of a delivery arrive in order.

Invariant: what is written of a delivery never runs ahead of what has arrived: a process that is killed leaves messages
to be sent again, with the same ids, and none to be missed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from triplewire.deliver.lanes import Lanes
from triplewire.deliver.pages import Pages
from triplewire.deliver.permits import Permits
from triplewire.deliver.retrying import RetryPace
from triplewire.deliver.vault import Vault
from triplewire.errors import StoreError
from triplewire.outbound import Connections
from triplewire.store import DeadLetter, DeliveryRecord, Store

log = logging.getLogger("triplewire.deliver")

_MANY = 10_000
_LAST = 3.0

Work = Callable[["Dispatcher", "Destination"], Awaitable[None]]
"""Does what is to be done for a destination now."""


@dataclass(frozen=True, slots=True)
class DeliveryManners:
    """How a deliverer works, in seconds and numbers: an answer's time, requests at once, and how often it looks."""

    seconds: float = 10.0
    overall: int = 256
    per_host: int = 16
    look_every: float = 0.25
    lease: float = 25.0
    pace: RetryPace = field(default_factory=RetryPace)


@dataclass(slots=True, eq=False)
class Destination:
    """A delivery that this process holds, as far as it has come; in the store it may be a moment behind."""

    record: DeliveryRecord
    queries: tuple[int, ...]
    account: str | None = None
    has_news: bool = True
    replays: bool = False
    is_held: bool = True
    inbox: str | None = None
    withheld: frozenset[tuple[int, ...]] = frozenset()
    task: asyncio.Task[None] | None = None

    @property
    def host(self) -> str:
        """Whose machine is asked."""
        return urlsplit(self.record.settings["url"]).hostname or ""

    @property
    def is_pending(self) -> bool:
        """Whether a subscriber waits for an answer to its request of WebSub."""
        return "pending" in self.record.settings and self.record.state != "paused"

    def wants_to(self, now: float) -> bool:
        """Whether there is something to do now."""
        record = self.record
        is_digest = record.kind == "digest"
        if record.due > now * 1000:  # what shall be replayed does not wait for the next digest
            return is_digest and self.replays and record.state == "active" and not record.failures
        if self.is_pending or self._is_over(now):
            return True
        return record.state == "active" and (self.has_news or self.replays or is_digest)

    def _is_over(self, now: float) -> bool:
        expires = self.record.settings.get("expires")
        return bool(expires is not None and expires <= now * 1000)


@dataclass(slots=True)
class DeliveryTally:
    """Messages since the start, by kind; `lag_seconds` are from commit to arrival. Other threads read it."""

    delivered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    lag_seconds: dict[str, float] = field(default_factory=dict)

    def arrive(self, kind: str, seconds: float) -> None:
        """A message arrived, so long after it happened."""
        self.delivered[kind] += 1
        self.lag_seconds[kind] = self.lag_seconds.get(kind, 0.0) + seconds


@dataclass(slots=True)
class _Achieved:
    """What destinations have achieved since it was written to the store last."""

    dirty: dict[str, Destination] = field(default_factory=dict)
    buried: list[DeadLetter] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    refused_again: list[DeadLetter] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at the store gave; `concerned` are queries that have news, None if they are too many to tell."""

    revision: int
    cursor: int
    concerned: frozenset[int] | None


class Dispatcher:
    """Delivers what one store has, by `work`; for one event loop. `name` is for logs and numbers."""

    def __init__(
        self,
        name: str,
        store: Store,
        vault: Vault,
        deliverer: str,
        work: Work,
        connections: Connections,
        lanes: Lanes,
        manners: DeliveryManners,
        permits: Permits,
    ) -> None:
        self.name, self.store, self.vault, self.manners = name, store, vault, manners
        self.connections, self.lanes = connections, lanes
        self._work = work
        self.pages = Pages(store)
        self.permits = permits
        self.tally = DeliveryTally()
        self.achieved = _Achieved()
        self.destinations: dict[str, Destination] = {}
        self._deliverer = deliverer
        self._writing = asyncio.Lock()
        self._rung = asyncio.Event()
        self._is_stopping = False
        self._revision, self._cursor = -1, 0
        self._leased_until, self._renew_at = 0.0, 0.0

    # -- for the deliverer that runs it

    def ring(self) -> None:
        """There may be something new in the store."""
        self._rung.set()

    def stop(self) -> None:
        """Begin nothing new, and end."""
        self._is_stopping = True
        self._rung.set()

    def states(self) -> Counter[tuple[str, str]]:
        """How many deliveries it holds, by kind and state; one that waits to try again counts as `waiting`."""
        records = [each.record for each in list(self.destinations.values())]
        return Counter((r.kind, "waiting" if r.state == "active" and r.failures else r.state) for r in records)

    async def run(self) -> None:
        """Deliver until it is stopped; what is on its way then is waited for, for a moment."""
        while not self._is_stopping:
            try:
                await self._round()
            except StoreError as error:
                log.warning("%s: the store cannot be used just now: %s", self.name, error)
                self._revision = -1
            except Exception:  # a fault of ours: deliveries go on as far as they can
                log.exception("%s: a round failed", self.name)
                self._revision = -1
            with suppress(TimeoutError):
                async with asyncio.timeout(self.manners.look_every):
                    await self._rung.wait()
            await asyncio.sleep(self.manners.look_every / 10)  # so that many that ring share a round
            self._rung.clear()
        await self._finish()
        with suppress(StoreError):
            await self.write()
            await asyncio.to_thread(self._let_go)

    async def _finish(self) -> None:
        """Wait a moment for what is on its way. A receiver that hangs gets its message from the next deliverer."""
        tasks = [each.task for each in self.destinations.values() if each.task is not None]
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=min(self.manners.seconds, _LAST))
            for task in left:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- for the tasks of its destinations

    def may_send(self, destination: Destination) -> bool:
        """Whether this process is still the one that sends this: until the time of a request before its lease ends."""
        is_ours = destination.is_held and time.monotonic() < self._leased_until - self.manners.seconds
        return is_ours and not self._is_stopping

    def turn(self, destination: Destination) -> AbstractAsyncContextManager[None]:
        """Wait until a request to it may be sent."""
        is_suspect = destination.record.failures > 0
        return self.lanes.turn(destination.host, account=destination.account, is_suspect=is_suspect)

    def note(self, destination: Destination, **changed: Any) -> None:
        """Change this destination's record, and write it soon."""
        destination.record = replace(destination.record, **changed)
        self.achieved.dirty[destination.record.id] = destination

    async def write(self) -> None:
        """Write what was achieved so far."""
        async with self._writing:
            found, self.achieved = self.achieved, _Achieved()
            if found != _Achieved():
                try:
                    await asyncio.to_thread(self._write, found)
                except StoreError:
                    self._keep(found)
                    raise

    def _keep(self, found: _Achieved) -> None:
        """Write it the next time, before what was achieved meanwhile."""
        newer = self.achieved
        self.achieved = _Achieved(
            found.dirty | newer.dirty,
            found.buried + newer.buried,
            found.arrived + newer.arrived,
            found.refused_again + newer.refused_again,
        )

    def _write(self, found: _Achieved) -> None:
        with self.store.writing() as writer:
            writer.deliveries.note(self._deliverer, [each.record for each in found.dirty.values()])
            writer.deliveries.bury(found.buried)
            writer.deliveries.arrived(found.arrived)
            writer.deliveries.refused_again(found.refused_again)

    # -- rounds

    async def _round(self) -> None:
        await self.write()
        seen = await asyncio.to_thread(self._look)
        if seen.revision != self._revision or time.monotonic() >= self._renew_at:
            await self._renew()
            self._revision = seen.revision
        self._cursor = seen.cursor
        now = time.time()
        for destination in self.destinations.values():
            if seen.concerned is None or not seen.concerned.isdisjoint(destination.queries):
                destination.has_news = True
            if destination.task is None and destination.wants_to(now) and self.may_send(destination):
                self._begin(destination)

    def _look(self) -> _Seen:
        with self.store.reading() as reader:
            revision, last = reader.deliveries.revision(), reader.log.last_cursor()
            if last == self._cursor:
                return _Seen(revision, last, frozenset())
            found = reader.log.after(self._cursor, _MANY)
        concerned = frozenset(record.query for record in found) if len(found) < _MANY else None
        return _Seen(revision, last, concerned)

    def _begin(self, destination: Destination) -> None:
        async def worked() -> None:
            try:
                await self._work(self, destination)
            except StoreError as error:
                destination.has_news = True
                log.warning("%s: %s waits for the store: %s", self.name, destination.record.id, error)
            except Exception:  # a fault of ours: this one is tried again in a minute, the others go on
                log.exception("%s: %s failed", self.name, destination.record.id)
                destination.record = replace(destination.record, due=int(1000 * (time.time() + 60)))
            finally:
                destination.task = None
                self._rung.set()

        destination.task = asyncio.create_task(worked(), name=f"triplewire delivery {destination.record.id}")

    # -- what this process holds

    async def _renew(self) -> None:
        began = time.monotonic()
        busy = {id for id, each in self.destinations.items() if each.task is not None}
        records, queries, owners, replaying = await asyncio.to_thread(self._held, busy)
        self._leased_until, self._renew_at = began + self.manners.lease, began + self.manners.lease / 4
        held = {record.id: record for record in records}
        for id in self.destinations.keys() - held.keys():
            self.destinations.pop(id).is_held = False
        for record, own, owner in zip(records, queries, owners, strict=True):
            known = self.destinations.get(record.id)
            if known is None:
                self.destinations[record.id] = Destination(
                    record, own, account=owner and f"{self.name} {owner}", replays=record.id in replaying
                )
                continue
            known.replays, known.queries = record.id in replaying, own
            if known.record.revision != record.revision:
                known.record, known.inbox, known.has_news = _merged(known.record, record), None, True

    def _held(self, busy: set[str]) -> tuple[list[DeliveryRecord], list[tuple[int, ...]], list[str | None], set[str]]:
        now = time.time()
        until = int(1000 * (now + self.manners.lease))
        with self.store.writing() as writer:
            writer.deliveries.hold(self._deliverer, int(1000 * now), until, busy)
        with self.store.reading() as reader:
            records = reader.deliveries.held_by(self._deliverer)
            found = reader.subscriptions.find([record.subscription for record in records])
            queries: list[tuple[int, ...]] = [() if one is None else (one.query, -one.number) for one in found]
            owners = [None if one is None else one.owner for one in found]
            return records, queries, owners, reader.deliveries.replaying()

    def _let_go(self) -> None:
        with self.store.writing() as writer:
            writer.deliveries.let_go(self._deliverer)


def _merged(known: DeliveryRecord, stored: DeliveryRecord) -> DeliveryRecord:
    """The delivery as it is stored, with how far this process has come meanwhile."""
    if stored.cursor > known.cursor:
        return stored
    reached = replace(stored, cursor=known.cursor, until=known.until, succeeded=known.succeeded)
    return replace(reached, delivered=known.delivered, failed=known.failed)
