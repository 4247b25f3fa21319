"""Askers: SPARQL queries of strangers, answered within a time and a size.

SPARQL can ask for more than any machine can do, and a query that runs cannot be stopped from outside. So processes of
their own answer (`process`), each with its own copy of the current metadata, and each query in a child that has no
network and may die: of its time, of its memory, of what the engine cannot follow. The copy outlives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from triplewire.errors import QueryLimitExceeded, ServiceUnavailable
from triplewire.isolation import Ended, Process, TooLate

if TYPE_CHECKING:  # the processes that answer read this module as well, and need nothing of tenants
    from triplewire.hub.tenancy.quotas import Quotas

_LOADING = 600.0
"""How long a new process may take to read all documents, before its first query counts."""
_GRACE = 5.0
"""Seconds beyond those of a query, until the process that answers it is taken for stuck."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the formats that its client takes, and the graphs that it is about; none named means all.

    A `viewer` asks of the documents that it may read.
    """

    text: str
    accept: str | None = None
    default_graphs: Sequence[str] = ()
    named_graphs: Sequence[str] = ()
    viewer: str | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where the documents are, and what an answer may be and cost: bytes, seconds, and bytes of memory."""

    url: str
    most_bytes: int
    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Know what a viewer may read now."""

    viewer: str | None


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query as bytes, and their media type."""

    media_type: str
    content: bytes


class Asker:
    """Some processes that answer; clients take turns.

    They wait for their turn without a thread: the threads of the service are for requests that are short.
    """

    def __init__(
        self,
        url: str,
        *,
        seconds: float,
        most_bytes: int,
        memory: int = 1 << 30,
        processes: int = 1,
        quotas: Quotas | None = None,
    ) -> None:
        self._beginning, self._quotas = Beginning(url, most_bytes, seconds, memory), quotas
        self._idle: SimpleQueue[_Answerer | None] = SimpleQueue()
        for _ in range(processes):
            self._idle.put(None)
        self._processes = processes
        self._turns = asyncio.Semaphore(processes)
        self._threads = CapacityLimiter(processes)
        self._asked: set[_Answerer] = set()
        self._is_closed = False

    async def ask(self, question: Question) -> QueryAnswer:
        """The answer; QueryLimitExceeded if it takes too long or is too large, QueryError if it is no query.

        QuotaSpent if others of the tenant have used up its seconds, also while this one waited for its turn.
        """
        try:
            async with asyncio.timeout(2 * self._beginning.seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise ServiceUnavailable("others ask too much just now; try again in a few seconds") from None
        try:
            return await to_thread.run_sync(self._ask, question, limiter=self._threads)
        finally:
            self._turns.release()

    def _ask(self, question: Question) -> QueryAnswer:
        process = self._idle.get()
        try:
            if process is None or not process.is_alive:
                process = _Answerer()
            self._asked.add(process)
            if self._is_closed:
                raise ServiceUnavailable("the service is stopping; try again when it is back")
            if self._quotas is not None:
                self._quotas.check_sparql()
            process.catch_up(self._beginning, question.viewer)
            began = monotonic()  # to load the copy is not the fault of this query
            try:
                return process.answer(question, self._beginning.seconds)
            finally:
                if self._quotas is not None:
                    self._quotas.spend_sparql(monotonic() - began)
        finally:
            if process is not None:
                self._asked.discard(process)
            self._idle.put(process if process is not None and process.is_alive else None)

    def hurry(self) -> None:
        """The end is near: requests that wait for an answer get an error."""
        self._is_closed = True
        for asked in list(self._asked):
            asked.kill()

    def close(self) -> None:
        """End the processes, also those that are asked just now."""
        self.hurry()
        for _ in range(self._processes):
            process = self._idle.get()
            if process is not None:
                process.end()


class _Answerer(Process):
    """A process that answers; it is told once where the documents are."""

    def __init__(self) -> None:
        super().__init__("triplewire.hub.sparql.process")
        self._has_begun = False

    def catch_up(self, beginning: Beginning, viewer: str | None) -> None:
        """Have it know what a viewer may read now; and first of all where the documents are."""
        late = QueryLimitExceeded("the documents could not be read in time")
        if not self._has_begun:
            self._told(beginning, _LOADING, late)
            self._has_begun = True
        self._told(CatchUp(viewer), _LOADING, late)

    def answer(self, question: Question, seconds: float) -> QueryAnswer:
        """The answer; it ends a question that takes too long by itself, and is ended if it does not."""
        answer = self._told(question, seconds + _GRACE, too_long(seconds))
        assert isinstance(answer, QueryAnswer)
        return answer

    def _told(self, message: object, seconds: float, late: QueryLimitExceeded) -> object:
        try:
            return self.ask(message, seconds)
        except TooLate:
            raise late from None
        except Ended:
            raise ServiceUnavailable("the process that answers queries ended; try again") from None


def too_long(seconds: float) -> QueryLimitExceeded:
    """The error for a query that does not end in time."""
    return QueryLimitExceeded(f"the query took longer than {seconds:g} seconds; ask for less")
