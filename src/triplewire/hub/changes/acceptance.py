"""Acceptance: a change is answered when it is durable, and applied soon after, in large batches.

A plain publication is read (what cannot be read is refused), put on a log (`intake.logs`), and acknowledged. Another
process may apply the log. What needs to know more before it can be answered is applied first, by this process
(`GroupCommit`): with conditions, with a batch's id, for a client that waits for events; retractions; and everything,
where a schema is set or a quota counts documents, and what speaks of classes, because it may close a cycle of them;
what brings an access list; and, where there are lists, what comes from an account that may not change every document;
and in a backbone everything, because the home of a document may be away.

Invariant: changes of one document that follow each other take effect in that order, whichever way each of them goes;
and between the check of a condition and its change, no other client of this service comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

from triplewire.backbone import BackboneHub
from triplewire.documents import Limits, parse
from triplewire.engine import Hub
from triplewire.engine.batch import policies
from triplewire.engine.names import refuse_unstorable_changes
from triplewire.engine.taxonomies import states_taxonomy
from triplewire.errors import ServiceUnavailable
from triplewire.hub.changes.bundles import Bundle, BundleReceipt
from triplewire.hub.changes.group_commit import GroupCommit, IntakeCounts, IntakeRoom, ended
from triplewire.hub.changes.orders import ANYTHING, Acknowledged, Order, Receipt
from triplewire.intake.entries import entry_of
from triplewire.intake.logs import Log
from triplewire.isolation.parsing import Parsers
from triplewire.model import Document, Publish
from triplewire.store import NewEntry

log = logging.getLogger("triplewire.hub")

_LOOK, _LOOK_SELDOM = 0.02, 1.0
"""Seconds between two looks at how far the log is applied, while a client waits for that; and else.

An applier in this process says so; another process does not."""


class _Adding(NamedTuple):
    entry: NewEntry
    answer: asyncio.Future[int]


class _Pending(NamedTuple):
    position: int
    uri: str
    size: int


class Acceptance:
    """An intake with a log.

    `applied` is called when more of it has been applied, by any process; `is_heard` says whether a client waits.
    """

    def __init__(
        self,
        hub: Hub,
        limits: Limits,
        room: IntakeRoom,
        log: Log,
        applied: Callable[[], None],
        *,
        is_heard: Callable[[], bool] = lambda: True,
        patience: float = 60.0,
        parsers: Parsers | None = None,
    ) -> None:
        self._parsers = parsers
        self._hub, self._limits, self._room, self._log = hub, limits, room, log
        self._tell_applied, self._is_heard, self._patience = applied, is_heard, patience
        self._waiters = 0
        self._direct = GroupCommit(hub, limits, room, applied, parsers=parsers)
        self._adding: list[_Adding] = []
        self._pending: deque[_Pending] = deque()
        self._arriving: dict[str, asyncio.Future[int]] = {}
        self._positions: dict[str, int] = {}
        self._held: Counter[str] = Counter()
        self._bytes = 0
        self._before, self._done = log.last, log.applied()
        self._is_closing = self._is_hurried = False
        self._progressed = monotonic()
        self._has_schema, self._has_lists = self._set_up()
        self._has_homes = isinstance(hub, BackboneHub)
        self._work, self._nudged, self._moved = asyncio.Event(), asyncio.Event(), asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triplewire-log")
        self._adder = asyncio.create_task(self._add(), name="triplewire log")
        self._watcher = asyncio.create_task(self._watch(), name="triplewire log, applied")
        self.counts: IntakeCounts = self._direct.counts

    @property
    def waiting(self) -> int:
        """How many changes wait to be applied."""
        return len(self._pending) + len(self._adding) + self._direct.waiting + max(0, self._before - self._done)

    @property
    def failure(self) -> str | None:
        """Why nothing can be acknowledged now, as far as that is known."""
        return self._log.failure

    @property
    def stalled(self) -> float:
        """For how many seconds changes have waited without any of them being applied; 0, if none waits."""
        is_all_applied = not self._pending and self._done >= self._before
        return 0.0 if is_all_applied else monotonic() - self._progressed

    @property
    def writing(self) -> float:
        """For how many seconds the batch has been under way that clients wait for; 0, if there is none."""
        return self._direct.writing

    # -- changes

    async def accept(self, order: Order) -> Receipt | Acknowledged:
        """What became of an order, as `submit` says it; a plain publication is answered once it is durable."""
        if self._is_plain(order):
            document = await self._read(order)
            order = replace(order, document=document)
            if not states_taxonomy(document) and order.uri not in self._held:
                return await self._acknowledged(document, order.by)
        return await self.submit(order)

    async def submit(self, order: Order) -> Receipt:
        """What became of an order, once it is durable and applied; TriplewireError if it was refused."""
        self._has_lists = self._has_lists or order.access is not None
        with self._holding(order.uri):
            await self.settled(order.uri)
            receipt: Receipt = await self._direct.submit(order)
            return receipt

    async def submit_bundle(self, bundle: Bundle) -> BundleReceipt:
        """Changes of several documents, applied together or not at all: what became of them."""
        self._has_lists = self._has_lists or any(order.access is not None for order in bundle.orders)
        with ExitStack() as held:
            for uri in set(bundle.uris):
                held.enter_context(self._holding(uri))
            for uri in set(bundle.uris):
                await self.settled(uri)
            receipt: BundleReceipt = await self._direct.submit(bundle)
            return receipt

    def _is_plain(self, order: Order) -> bool:
        return (
            order.data is not None
            and not order.is_alone
            and order.access is None
            and order.reach is None
            and not (order.by is not None and self._has_lists)
            and order.expected is ANYTHING
            and order.uri not in self._held
            and (self._room.quotas is None or self._room.quotas.documents is None)
            and not self._has_schema
            and not self._has_homes
        )

    @contextmanager
    def _holding(self, uri: str) -> Iterator[None]:
        """While a change of a document is applied directly, others of it wait behind it."""
        self._held[uri] += 1
        try:
            yield
        finally:
            self._held[uri] -= 1
            if not self._held[uri]:
                del self._held[uri]

    async def settled(self, uri: str) -> None:
        """Wait until everything that was acknowledged of a document is applied; ServiceUnavailable if nobody does."""
        if uri in self._arriving:
            await asyncio.wait([self._arriving[uri]])
        position = max(self._positions.get(uri, 0), self._before)
        if position <= self._done:
            return
        self._nudged.set()
        self._waiters += 1
        try:
            async with asyncio.timeout(self._patience), self._moved:
                await self._moved.wait_for(lambda: self._done >= position or self._is_hurried)
        except TimeoutError:
            raise ServiceUnavailable(
                f"{self.waiting} changes wait, and nobody applies them: is `triplewire serve --role pipeline` running?"
            ) from None
        finally:
            self._waiters -= 1
        if self._done < position:
            raise ServiceUnavailable(
                "the service is stopping, and what is asked for is not applied yet; try again later"
            )

    async def hurry(self) -> None:
        """The end is near: clients that wait for something to be applied get an error."""
        self._is_hurried = True
        async with self._moved:
            self._moved.notify_all()

    async def _acknowledged(self, document: Document, by: str | None) -> Acknowledged:
        if self._is_closing:
            raise ServiceUnavailable("the service is stopping; try again when it is back")
        size = len(document.ntriples) + len(document.xml)
        if self.waiting >= self._room.waiting or self._bytes + size > self._room.waiting_bytes:
            raise ServiceUnavailable("more documents wait than the service takes; try again in a few seconds")
        change = Publish(document, by=by)
        refuse_unstorable_changes([change], "")
        if self._room.quotas is not None and self._room.quotas.events is not None:
            await asyncio.to_thread(self._room.quotas.check_events)
        adding = _Adding(entry_of(change), asyncio.get_running_loop().create_future())
        self._adding.append(adding)
        self._bytes += len(adding.entry.content or b"")
        self._arriving[document.uri] = adding.answer
        self._work.set()
        position = await asyncio.shield(adding.answer)  # it arrives, even if its client goes away meanwhile
        return Acknowledged(document.uri, f'"{document.digest}"', position)

    async def _read(self, order: Order) -> Document:
        data, own = order.data or b"", self._limits
        if self._parsers is None:
            return await asyncio.to_thread(parse, data, uri=order.uri, media_type=order.media_type, limits=own)
        return await self._parsers.read(data, uri=order.uri, media_type=order.media_type, limits=own)

    # -- the log

    async def _add(self) -> None:
        """Put on the log what has come, all of it at once."""
        loop = asyncio.get_running_loop()
        while True:
            await self._work.wait()
            self._work.clear()
            if not self._adding:
                if self._is_closing:
                    return
                continue
            some, self._adding = self._adding, []
            try:
                last = await loop.run_in_executor(self._thread, self._log.append, [one.entry for one in some])
            except Exception as error:
                self._refuse(some, error)
            else:
                self._added(some, last)
            if self._adding or self._is_closing:
                self._work.set()

    def _added(self, some: list[_Adding], last: int) -> None:
        if not self._pending:
            self._progressed = monotonic()
            if self._is_heard():
                self._nudged.set()
        for position, one in enumerate(some, last - len(some) + 1):
            self._pending.append(_Pending(position, one.entry.uri, len(one.entry.content or b"")))
            self._positions[one.entry.uri] = position
            self._arrived(one)
            one.answer.set_result(position)
        self._drop_applied()

    def _refuse(self, some: list[_Adding], error: Exception) -> None:
        self.counts.refused += len(some)
        for one in some:
            self._bytes -= len(one.entry.content or b"")
            self._arrived(one)
            one.answer.set_exception(error)
            one.answer.exception()  # known, also if its client has gone away

    def _arrived(self, one: _Adding) -> None:
        if self._arriving.get(one.entry.uri) is one.answer:
            del self._arriving[one.entry.uri]

    # -- how far it is applied

    def nudge(self) -> None:
        """Something may have been applied."""
        self._nudged.set()

    async def refresh(self) -> None:
        """Look whether there is a schema now, and whether there are access lists."""
        self._has_schema, has_lists = await asyncio.to_thread(self._set_up)
        self._has_lists = self._has_lists or has_lists

    def _set_up(self) -> tuple[bool, bool]:
        with self._hub.store.reading() as reader:
            return policies.is_set(reader), reader.access.number() > 0

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        refreshed = loop.time()
        while True:
            try:
                await self._look()
                if self._log.failure is not None:
                    await loop.run_in_executor(self._thread, self._log.probe)
                if loop.time() - refreshed > _LOOK_SELDOM:
                    await self.refresh()
                    refreshed = loop.time()
            except Exception as error:  # whatever it is, only this tells the clients that wait
                log.warning("how far changes are applied cannot be seen: %s", error)
                await asyncio.sleep(_LOOK_SELDOM)
            is_all_applied = not self._pending and self._done >= self._before
            is_waited_for = not is_all_applied and (self._waiters > 0 or self._is_heard())
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK if is_waited_for else _LOOK_SELDOM):
                    await self._nudged.wait()
            self._nudged.clear()

    async def _look(self) -> None:
        done = await asyncio.to_thread(self._log.applied)
        if done == self._done:
            return
        self._done, self._progressed = done, monotonic()
        self._drop_applied()
        self._tell_applied()
        async with self._moved:
            self._moved.notify_all()

    def _drop_applied(self) -> None:
        """What is applied waits no longer; an applier may be done with it before it is noted here that it waits."""
        while self._pending and self._pending[0].position <= self._done:
            gone = self._pending.popleft()
            self._bytes -= gone.size
            self.counts.documents += 1
            if self._positions.get(gone.uri) == gone.position:
                del self._positions[gone.uri]

    async def close(self) -> None:
        """Finish what was taken in, and stop; what is on the log is applied by this process or another one."""
        self._is_closing = True
        self._work.set()
        await self._adder
        await self._direct.close()
        await ended(self._watcher)
        self._thread.shutdown()
        await asyncio.to_thread(self._log.close)
