"""Group commit: changes from many clients, each answered when what it asked for is durable.

`GroupCommit` applies changes to the hub before it answers: while a batch is being written, the changes that arrive
wait, and become the next batch together, so that many clients share one commit. `acceptance` answers when a change is
on a durable log, to be applied later.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from triplewire.documents import Limits, parse
from triplewire.engine import Hub, Outcome
from triplewire.errors import DocumentError, ServiceUnavailable, UnknownDocument
from triplewire.hub.changes import repeats
from triplewire.hub.changes.bundles import Bundle, BundleReceipt
from triplewire.hub.changes.orders import (
    Order,
    Parse,
    Receipt,
    change_of,
    current_digest,
    permit,
    told_errors,
    told_events,
)
from triplewire.hub.tenancy.quotas import Quotas
from triplewire.intake.settlement import Coming, Parts, Settled, changes_in, is_refused, settle
from triplewire.isolation.parsing import Parsers
from triplewire.model import Change, Publish
from triplewire.store import DocumentRecord

_Answers = dict[int, Receipt | BundleReceipt | BaseException]
"""What became of what was asked for, by the id of the object that it is."""
WRITERS = "writers"
"""The lease of processes that apply batches, by turns: SQLite lets a writer that waits sleep, and others go first."""


@dataclass(slots=True)
class _Asked:
    """What a client has asked for, and waits for."""

    what: Order | Bundle
    answer: asyncio.Future[Any]


@dataclass(slots=True)
class _Read:
    """An order whose document was read; `digest` is of the document that was there before."""

    order: Order
    change: Change
    digest: str | None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class IntakeRoom:
    """How much may wait, how much of it is one batch, and what the tenant may have."""

    waiting: int = 10_000
    waiting_bytes: int = 256 * 1024 * 1024
    batch: int = 512
    batch_bytes: int = 32 * 1024 * 1024
    quotas: Quotas | None = None


@dataclass(slots=True)
class IntakeCounts:
    """What an intake did so far."""

    batches: int = 0
    documents: int = 0
    refused: int = 0
    events: int = 0


class GroupCommit:
    """Applies changes as they come, all that wait in one batch; one thread writes.

    Invariant: a batch has one change of a document, so that each client is told of the version that it made. A bad
    document is refused alone: the others of its batch are applied.
    """

    def __init__(
        self, hub: Hub, limits: Limits, room: IntakeRoom, applied: Callable[[], None], *, parsers: Parsers | None = None
    ) -> None:
        self._hub, self._room, self._applied = hub, room, applied
        self._parse: Parse = partial(parse if parsers is None else parsers.parse, limits=limits)
        self._door = hub.store.lease(WRITERS)
        self._queue: list[_Asked] = []
        self._bytes = 0
        self._work = asyncio.Event()
        self._is_closing = False
        self._began: float | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triplewire-intake")
        self._task = asyncio.create_task(self._serve(), name="triplewire intake")
        self.counts = IntakeCounts()

    @property
    def waiting(self) -> int:
        """How many orders wait."""
        return len(self._queue)

    @property
    def writing(self) -> float:
        """For how many seconds the present batch has been under way; 0, if there is none."""
        return 0.0 if self._began is None else monotonic() - self._began

    async def submit(self, what: Order | Bundle) -> Any:
        """The receipt of an order or a bundle, once it is durable and applied; TriplewireError if it was refused."""
        if self._is_closing:
            raise ServiceUnavailable("the service is stopping; try again when it is back")
        if len(self._queue) >= self._room.waiting or self._bytes + what.size > self._room.waiting_bytes:
            raise ServiceUnavailable("more documents wait than the service takes; try again in a few seconds")
        asked = _Asked(what, asyncio.get_running_loop().create_future())
        self._queue.append(asked)
        self._bytes += what.size
        self._work.set()
        return await asked.answer

    async def close(self) -> None:
        """Finish what was taken in, and stop."""
        self._is_closing = True
        self._work.set()
        await self._task
        self._thread.shutdown()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._work.wait()
            if not self._queue:
                if self._is_closing:
                    return
                self._work.clear()
                continue
            group = self._next_group()
            self._began = monotonic()
            answers = await loop.run_in_executor(self._thread, self._apply, [asked.what for asked in group])
            self._began = None
            self._applied()
            for asked, told in zip(group, answers, strict=True):
                _tell(asked.answer, told)

    def _next_group(self) -> list[_Asked]:
        """What is applied together: in order of arrival, each uri once; what must be alone is."""
        group: list[_Asked] = []
        left: list[_Asked] = []
        seen: set[str] = set()
        size = 0
        for number, asked in enumerate(self._queue):
            what = asked.what
            is_full = len(group) >= self._room.batch or (group and size + what.size > self._room.batch_bytes)
            if is_full or (group and group[0].what.is_alone):
                left += self._queue[number:]
                break
            if seen.intersection(what.uris) or (group and what.is_alone):
                left.append(asked)
            else:
                group.append(asked)
                size += what.size
            seen.update(what.uris)
        self._queue = left
        self._bytes -= size
        return group

    # -- in the thread that writes

    def _apply(self, group: Sequence[Order | Bundle]) -> list[Receipt | BundleReceipt | BaseException]:
        answers: _Answers = {}
        orders = [what for what in group if isinstance(what, Order)]
        try:
            if isinstance(group[0], Bundle):
                answers[id(group[0])] = group[0].apply(self._hub, self._door, self._parse, self._room.quotas)
                self.counts.documents += len(group[0].uris)
            elif (again := self._told_again(group[0])) is not None:
                return [again]
            else:
                self._commit(self._within_quotas(list(self._readable(orders, answers)), answers), answers)
        except Exception as error:
            answers = {id(what): error for what in group} | answers
        self.counts.batches += 1
        self.counts.refused += sum(len(what.uris) for what in group if isinstance(answers[id(what)], BaseException))
        return [answers[id(what)] for what in group]

    def _readable(self, orders: Sequence[Order], answers: _Answers) -> Iterator[_Read]:
        records = self._records([order.uri for order in orders])
        for order, record in zip(orders, records, strict=True):
            digest, is_hidden = current_digest(record), False
            try:
                try:
                    permit(self._hub, order)
                except UnknownDocument:  # as of one that never was: its conditions come first
                    digest, is_hidden = None, True
                order.expected.check(order.uri, digest)
                if order.data is None and digest is None and (order.id is None or order.restricts):
                    raise UnknownDocument(order.uri)
                yield _Read(order, change_of(order, self._parse), digest, is_hidden)
            except Exception as error:
                answers[id(order)] = error

    def _within_quotas(self, ready: Sequence[_Read], answers: _Answers) -> list[_Read]:
        """Without what is over one; to retract is never too much."""
        quotas = self._room.quotas
        if quotas is None or not ready:
            return list(ready)
        publishing = [read for read in ready if isinstance(read.change, Publish)]
        if publishing and (spent := quotas.over_events(len(publishing))):
            answers.update({id(read.order): spent for read in publishing})
            return [read for read in ready if not isinstance(read.change, Publish)]
        if quotas.documents is None:
            return list(ready)
        with self._hub.store.reading() as reader:
            free = quotas.documents - reader.documents.count()
        kept = []
        for read in ready:
            is_new = isinstance(read.change, Publish) and read.digest is None
            if is_new and free <= 0:
                answers[id(read.order)] = quotas.over_documents()
            else:
                kept.append(read)
                free -= is_new
        return kept

    def _commit(self, ready: Sequence[_Read], answers: _Answers) -> None:
        """Apply what can be applied; what is wrong with one is no reason to refuse another."""
        for settled in settle([Coming(read, read.change) for read in ready], self._written):
            answers.update({id(one.origin.order): one.error for one in settled.refused})
            if settled.outcome is not None:
                self._receive(settled, settled.outcome, answers)

    def _written(self, parts: Parts[_Read]) -> Outcome | None:
        """A batch of what is to be applied; with an order that has an id it notes that this was applied."""
        good = [one for one in parts if isinstance(one, Coming)]
        if not good:
            return None
        read = good[0].origin
        first = read.order
        with self._door.turn():
            batch = repeats.batch_of(first.id)
            known = {} if read.is_hidden else {first.uri: read.digest}
            kept = repeats.keeping(first.account, first.id, batch, [first], known)
            changes = changes_in([one for one in good if not one.origin.is_hidden])
            return self._hub.apply(changes, batch=batch, handled=kept)

    def _receive(self, settled: Settled[_Read], outcome: Outcome, answers: _Answers) -> None:
        self.counts.documents += len(settled.applied)
        self.counts.events += len(outcome)
        done = [one.origin for one in settled.applied]
        for read, record in zip(done, self._records([read.change.uri for read in done]), strict=True):
            order = read.order
            lost = [one.error for one in settled.refused if one.origin is read]
            answers[id(order)] = replace(
                Receipt.of(order.uri, outcome.batch, None if read.is_hidden else record, read.digest),
                events=told_events(self._hub, outcome, order.by) if order.tell else None,
                warnings=[warning for warning in outcome.warnings if is_refused(read.change, warning)],
                refused=[error for error in lost if isinstance(error, DocumentError)],
                errors=told_errors(self._hub, outcome.errors, order.by) if order.is_alone else (),
            )

    def _told_again(self, order: Order) -> Receipt | None:
        """The answer to an order that was applied before, for an account that may still ask for it."""
        known = repeats.found(self._hub, order.account, order.id, [order])
        if known is None:
            return None
        with contextlib.suppress(*(() if order.data is not None or order.restricts else (UnknownDocument,))):
            permit(self._hub, order)
        (receipt,) = repeats.receipts_of(known)
        if not order.tell:
            return receipt
        return replace(receipt, events=told_events(self._hub, repeats.events_of(self._hub, known), order.by))

    def _records(self, uris: Sequence[str]) -> list[DocumentRecord | None]:
        with self._hub.store.reading() as reader:
            return reader.documents.current(uris)


def _tell(answer: asyncio.Future[Any], told: object) -> None:
    if answer.done():
        return
    if isinstance(told, BaseException):
        answer.set_exception(told)
    else:
        answer.set_result(told)


async def ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
