"""Asking: SPARQL queries of strangers, answered within a time and a size.

SPARQL can ask for more than any machine can do, and a query that runs cannot be stopped from outside. So queries run in
processes of their own (`questions`), each with its own copy of the current metadata; one that takes too long is killed,
and the next query gets a new one.
"""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic

from anyio import CapacityLimiter, to_thread

from triplewire.errors import QueryLimitExceeded, ServiceUnavailable
from triplewire.hub.quotas import Quotas

_LOADING = 600.0
"""How long a new process may take to read all documents, before its first query counts."""


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
class CatchUp:
    """Know what a viewer may read now."""

    viewer: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    media_type: str
    content: bytes


class Asker:
    """Some processes that answer; clients take turns.

    They wait for their turn without a thread: the threads of the service are for requests that are short.
    """

    def __init__(
        self, url: str, *, seconds: float, most_bytes: int, processes: int = 1, quotas: Quotas | None = None
    ) -> None:
        self._url, self._seconds, self._most_bytes, self._quotas = url, seconds, most_bytes, quotas
        self._idle: SimpleQueue[_Process | None] = SimpleQueue()
        for _ in range(processes):
            self._idle.put(None)
        self._processes = processes
        self._turns = asyncio.Semaphore(processes)
        self._threads = CapacityLimiter(processes)
        self._asked: set[_Process] = set()
        self._is_closed = False

    async def ask(self, question: Question) -> Answer:
        """The answer; QueryLimitExceeded if it takes too long or is too large, QueryError if it is no query.

        QuotaSpent if others of the tenant have used up its seconds, also while this one waited for its turn.
        """
        try:
            async with asyncio.timeout(2 * self._seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise ServiceUnavailable("others ask too much just now; try again in a few seconds") from None
        try:
            return await to_thread.run_sync(self._ask, question, limiter=self._threads)
        finally:
            self._turns.release()

    def _ask(self, question: Question) -> Answer:
        process = self._idle.get()
        try:
            if process is None or not process.is_alive:
                process = _Process()
            self._asked.add(process)
            if self._is_closed:
                raise ServiceUnavailable("the service is stopping; try again when it is back")
            if self._quotas is not None:
                self._quotas.check_sparql()
            process.begin(self._url, self._most_bytes)
            process.catch_up(question.viewer)
            began = monotonic()  # to load the copy is not the fault of this query
            try:
                return process.ask(question, self._seconds)
            finally:
                if self._quotas is not None:
                    self._quotas.spend_sparql(monotonic() - began)
        finally:
            if process is not None:
                self._asked.discard(process)
            self._idle.put(process if process is not None and process.is_alive else None)

    def hurry(self) -> None:
        """The end is near: who waits for an answer is told that there will be none."""
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


class _Process:
    def __init__(self) -> None:
        self._has_begun = False
        command = [sys.executable, "-m", "triplewire.hub.questions"]
        # In a session of its own, so that Ctrl-C is a matter of the service alone.
        self._popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    def begin(self, url: str, most_bytes: int) -> None:
        """Tell it where the documents are, if it does not know yet."""
        if not self._has_begun:
            self._exchange((url, most_bytes), _LOADING, "the documents could not be read in time")
            self._has_begun = True

    def kill(self) -> None:
        """End it in the middle of whatever it does; who waits for it is told."""
        self._popen.kill()

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def catch_up(self, viewer: str | None) -> None:
        self._exchange(CatchUp(viewer), _LOADING, "the documents could not be read in time")

    def ask(self, question: Question, seconds: float) -> Answer:
        answer = self._exchange(question, seconds, f"the query took longer than {seconds:g} seconds; ask for less")
        assert isinstance(answer, Answer)
        return answer

    def _exchange(self, message: object, seconds: float, too_late: str) -> object:
        """Say something and wait for the answer; the process is killed when it does not come in time."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        late = threading.Event()

        def kill() -> None:
            late.set()
            self._popen.kill()

        timer = threading.Timer(seconds, kill)
        timer.start()
        try:
            pickle.dump(message, self._popen.stdin)
            self._popen.stdin.flush()
            answer = pickle.load(self._popen.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            timer.cancel()
            self.end()
            if late.is_set():
                raise QueryLimitExceeded(too_late) from None
            raise ServiceUnavailable("the process that answers queries ended; try again") from None
        finally:
            timer.cancel()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
