"""Intake: changes from many clients, each answered when what it asked for is durable.

`Intake` is what the rest of the service knows. `GroupCommit` is one that applies changes to the hub before it answers:
while a batch is being written, the changes that arrive wait, and become the next batch together, so that many clients
share one commit. The one that answers when a change is on a durable log, to be applied later, is in `accepting`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, Protocol

from triplewire.documents import Limits, parse
from triplewire.engine import Hub, Outcome
from triplewire.errors import DocumentError, ServiceUnavailable, UnknownDocument
from triplewire.hub import repeats
from triplewire.hub.orders import Acknowledged, Order, Parse, Receipt, change_of, permit, seen, told_errors
from triplewire.hub.quotas import Quotas
from triplewire.intake.settlement import Coming, Parts, Settled, changes_in, is_refused, settle
from triplewire.isolation.parsing import Parsers
from triplewire.model import Change, Publish
from triplewire.store import DocumentRecord, Lease

WRITERS = "writers"
"""The lease of those who apply batches, by turns: SQLite itself lets whoever waits sleep, and others go first."""


class Job(Protocol):
    """Something that is a batch by itself: it changes these documents, in its own way, in the thread that writes."""

    @property
    def uris(self) -> Sequence[str]: ...

    @property
    def size(self) -> int: ...

    def apply(self, hub: Hub, door: Lease, parse: Parse, quotas: Quotas | None) -> Any:
        """Do it, and tell what became of it; an error, if anything speaks against it."""


class Intake(Protocol):
    """Takes changes in."""

    async def submit(self, order: Order) -> Receipt:
        """What became of it, once it is durable and applied; TriplewireError if it was refused."""

    async def accept(self, order: Order) -> Receipt | Acknowledged:
        """The same, but a plain publication is answered once it is durable."""

    async def settled(self, uri: str) -> None:
        """Wait until everything that was acknowledged of a document is applied."""

    async def close(self) -> None:
        """Finish what was taken in, and stop."""


@dataclass(slots=True)
class _Waiting:
    order: Order
    answer: asyncio.Future[Receipt]

    @property
    def size(self) -> int:
        return len(self.order.data or b"")

    @property
    def uris(self) -> Sequence[str]:
        return (self.order.uri,)


@dataclass(slots=True)
class _Alone:
    """A job that waits: it is a group by itself."""

    job: Job
    answer: asyncio.Future[Any]

    @property
    def size(self) -> int:
        return self.job.size

    @property
    def uris(self) -> Sequence[str]:
        return self.job.uris


@dataclass(slots=True)
class _Read:
    """An order whose document was read; `digest` is of the document that was there before."""

    waiting: _Waiting
    change: Change
    digest: str | None
    is_there: bool
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """How much may wait, how much of it is one batch, and what the tenant may have."""

    waiting: int = 10_000
    waiting_bytes: int = 256 * 1024 * 1024
    batch: int = 512
    batch_bytes: int = 32 * 1024 * 1024
    quotas: Quotas | None = None


@dataclass(slots=True)
class Counts:
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
        self, hub: Hub, limits: Limits, room: Room, applied: Callable[[], None], *, parsers: Parsers | None = None
    ) -> None:
        self._hub, self._room, self._applied = hub, room, applied
        self._parse: Parse = partial(parse if parsers is None else parsers.parse, limits=limits)
        self._door = hub.store.lease(WRITERS)
        self._queue: list[_Waiting | _Alone] = []
        self._bytes = 0
        self._work = asyncio.Event()
        self._is_closing = False
        self._began: float | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triplewire-intake")
        self._task = asyncio.create_task(self._serve(), name="triplewire intake")
        self.counts = Counts()

    @property
    def waiting(self) -> int:
        """How many orders wait."""
        return len(self._queue)

    @property
    def writing(self) -> float:
        """For how many seconds the present batch has been under way; 0, if there is none."""
        return 0.0 if self._began is None else monotonic() - self._began

    async def submit(self, order: Order) -> Receipt:
        """See `Intake.submit`."""
        waiting = _Waiting(order, asyncio.get_running_loop().create_future())
        self._enqueue(waiting)
        return await waiting.answer

    async def do(self, job: Job) -> Any:
        """What a job tells, when it is its turn."""
        waiting = _Alone(job, asyncio.get_running_loop().create_future())
        self._enqueue(waiting)
        return await waiting.answer

    def _enqueue(self, waiting: _Waiting | _Alone) -> None:
        if self._is_closing:
            raise ServiceUnavailable("the service is stopping; try again when it is back")
        if len(self._queue) >= self._room.waiting or self._bytes + waiting.size > self._room.waiting_bytes:
            raise ServiceUnavailable("more documents wait than the service takes; try again in a few seconds")
        self._queue.append(waiting)
        self._bytes += waiting.size
        self._work.set()

    async def close(self) -> None:
        """See `Intake.close`."""
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
            if isinstance(group[0], _Alone):
                answer = await loop.run_in_executor(self._thread, self._do, group[0].job)
                self._began = None
                self._applied()
                _tell(group[0].answer, answer)
                continue
            some = [waiting for waiting in group if isinstance(waiting, _Waiting)]
            answers = await loop.run_in_executor(self._thread, self._apply, some)
            self._began = None
            self._applied()
            for waiting, told in zip(some, answers, strict=True):
                _tell(waiting.answer, told)

    def _next_group(self) -> list[_Waiting | _Alone]:
        """What is applied together: in order of arrival, each uri once; what must be alone is."""
        group: list[_Waiting | _Alone] = []
        left: list[_Waiting | _Alone] = []
        seen: set[str] = set()
        size = 0
        for number, waiting in enumerate(self._queue):
            is_full = len(group) >= self._room.batch or (group and size + waiting.size > self._room.batch_bytes)
            if is_full or (group and _is_alone(group[0])):
                left += self._queue[number:]
                break
            if seen.intersection(waiting.uris) or (group and _is_alone(waiting)):
                left.append(waiting)
            else:
                group.append(waiting)
                size += waiting.size
            seen.update(waiting.uris)
        self._queue = left
        self._bytes -= size
        return group

    # -- in the thread that writes

    def _do(self, job: Job) -> Any:
        self.counts.batches += 1
        try:
            told = job.apply(self._hub, self._door, self._parse, self._room.quotas)
        except Exception as error:
            self.counts.refused += len(job.uris)
            return error
        self.counts.documents += len(job.uris)
        return told

    def _apply(self, group: Sequence[_Waiting]) -> list[Receipt | BaseException]:
        answers: dict[int, Receipt | BaseException] = {}
        try:
            if (again := self._told_again(group[0].order)) is not None:
                return [again]
            ready = list(self._readable(group, answers))
            self._commit(self._within_quotas(ready, answers), answers)
        except Exception as error:
            answers = {id(waiting): error for waiting in group} | answers
        self.counts.batches += 1
        self.counts.refused += sum(isinstance(answer, BaseException) for answer in answers.values())
        return [answers[id(waiting)] for waiting in group]

    def _readable(self, group: Sequence[_Waiting], answers: dict[int, Receipt | BaseException]) -> Iterator[_Read]:
        records = self._records([waiting.order.uri for waiting in group])
        for waiting, record in zip(group, records, strict=True):
            order, is_there = waiting.order, record is not None and record.present
            digest = record.digest.hex() if record is not None and is_there else None
            try:
                is_hidden = False
                try:
                    permit(self._hub, order)
                except UnknownDocument:  # as of one that never was: its conditions come first
                    digest, is_there, is_hidden = None, False, True
                order.expected.check(order.uri, digest)
                if order.data is None and not is_there and (order.id is None or order.restricts):
                    raise UnknownDocument(order.uri)
                yield _Read(waiting, change_of(order, self._parse), digest, is_there, is_hidden)
            except Exception as error:
                answers[id(waiting)] = error

    def _within_quotas(self, ready: Sequence[_Read], answers: dict[int, Receipt | BaseException]) -> list[_Read]:
        """Without what is over one; to retract is never too much."""
        quotas = self._room.quotas
        if quotas is None or not quotas.bounds_documents or not ready:
            return list(ready)
        publishing = [read for read in ready if isinstance(read.change, Publish)]
        if publishing and (spent := quotas.over_events(len(publishing))):
            answers.update({id(read.waiting): spent for read in publishing})
            return [read for read in ready if not isinstance(read.change, Publish)]
        if quotas.documents is None:
            return list(ready)
        with self._hub.store.reading() as reader:
            free = quotas.documents - reader.documents.count()
        kept = []
        for read in ready:
            is_new = isinstance(read.change, Publish) and not read.is_there
            if is_new and free <= 0:
                answers[id(read.waiting)] = quotas.over_documents()
            else:
                kept.append(read)
                free -= is_new
        return kept

    def _commit(self, ready: Sequence[_Read], answers: dict[int, Receipt | BaseException]) -> None:
        """Apply what can be applied; what is wrong with one is no reason to refuse another."""
        for settled in settle([Coming(read, read.change) for read in ready], self._written):
            answers.update({id(one.origin.waiting): one.error for one in settled.refused})
            if settled.outcome is not None:
                self._receive(settled, settled.outcome, answers)

    def _written(self, parts: Parts[_Read]) -> Outcome | None:
        """A batch of what is to be applied; with an order that has an id it notes that this was applied."""
        good = [one for one in parts if isinstance(one, Coming)]
        if not good:
            return None
        read = good[0].origin
        first = read.waiting.order
        with self._door.turn():
            batch = repeats.batch_of(first.id)
            known = {} if read.is_hidden else {first.uri: read.digest}
            kept = repeats.keeping(first.account, first.id, batch, [first], known)
            changes = changes_in([one for one in good if not one.origin.is_hidden])
            return self._hub.apply(changes, batch=batch, handled=kept)

    def _receive(self, settled: Settled[_Read], outcome: Outcome, answers: dict[int, Receipt | BaseException]) -> None:
        self.counts.documents += len(settled.applied)
        self.counts.events += len(outcome)
        done = [one.origin for one in settled.applied]
        records = self._records([read.change.uri for read in done])
        for read, record in zip(done, records, strict=True):
            order, record = read.waiting.order, None if read.is_hidden else record
            digest = record.digest.hex() if record is not None and record.present else None
            answers[id(read.waiting)] = Receipt(
                order.uri,
                outcome.batch,
                0 if record is None else record.version,
                digest,
                created=digest is not None and not read.is_there,
                changed=digest != read.digest,
                events=[e.as_dict(contents=False) for e in seen(self._hub, outcome, order.by)] if order.tell else None,
                warnings=[warning for warning in outcome.warnings if is_refused(read.change, warning)],
                refused=[
                    one.error for one in settled.refused if one.origin is read and isinstance(one.error, DocumentError)
                ],
                errors=told_errors(self._hub, outcome.errors, order.by) if order.is_alone else (),
            )

    def _told_again(self, order: Order) -> Receipt | None:
        """The answer to an order that was applied before, for who may still ask for it."""
        known = repeats.found(self._hub, order.account, order.id, [order])
        if known is None:
            return None
        with contextlib.suppress(*(() if order.data is not None or order.restricts else (UnknownDocument,))):
            permit(self._hub, order)
        (receipt,) = repeats.receipts_of(known)
        events = seen(self._hub, repeats.events_of(self._hub, known), order.by) if order.tell else None
        return receipt if events is None else replace(receipt, events=[e.as_dict(contents=False) for e in events])

    def _records(self, uris: Sequence[str]) -> list[DocumentRecord | None]:
        with self._hub.store.reading() as reader:
            return reader.documents.current(uris)


def _is_alone(waiting: _Waiting | _Alone) -> bool:
    return isinstance(waiting, _Alone) or waiting.order.is_alone


def _tell(answer: asyncio.Future[Any], told: object) -> None:
    """Answer, unless the client went away."""
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
