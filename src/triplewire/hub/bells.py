"""Bells: a client that waits for events is woken when there are some, and no other is.

Every batch that this process applies rings the bell; because other processes may write to the same store, it is also
looked at twice a second while a client waits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from triplewire.errors import StoreError
from triplewire.hub.changes.group_commit import ended
from triplewire.store import Store

_LOOK_EVERY = 0.5
_AT_ONCE = 10_000


_Answer = TypeVar("_Answer")


class Together:
    """What many ask at the same moment is asked once.

    Invariant: a caller gets an answer that was begun after the bell's last ring before the question.
    """

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._asked: dict[tuple[int, Hashable], asyncio.Future[Any]] = {}

    async def ask(self, key: Hashable, question: Callable[[], _Answer]) -> _Answer:
        """The answer, from a thread; `key` says what is asked."""
        place = (self._bell.rings, key)
        task = self._asked.get(place)
        if task is None:
            task = self._asked[place] = asyncio.ensure_future(run_in_threadpool(question))
            task.add_done_callback(lambda done: self._forget(place, done))
        answer: _Answer = await asyncio.shield(task)
        return answer

    def _forget(self, place: tuple[int, Hashable], done: asyncio.Future[Any]) -> None:
        del self._asked[place]
        if not done.cancelled():
            done.exception()  # the callers have it; if all have gone, none wants it


class Bell:
    """Wakes listeners by the numbers of the queries that they listen to, as the log has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._rung = asyncio.Event()
        self._cursor = self._change = 0
        self._has_lists = False
        self._task: asyncio.Task[None] | None = None
        self.count = 0
        self.rings = 0

    def start(self) -> None:
        """Begin to look; what happened before is nobody's news."""
        with self._store.reading() as reader:
            self._cursor, self._has_lists = reader.log.last_cursor(), reader.access.number() > 0
            self._change = reader.subscriptions.last_change()
        self._task = asyncio.create_task(self._look_out(), name="triplewire bell")

    async def close(self) -> None:
        """Wake everybody for the last time."""
        if self._task is not None:
            await ended(self._task)
        self.ring_all()

    def ring(self) -> None:
        """There may be something new in the log."""
        if self.count:
            self._rung.set()

    def ring_all(self) -> None:
        """Wake everybody, whatever they listen to."""
        self.rings += 1
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.set()

    def wake(self, queries: Iterable[int]) -> None:
        """Wake the clients that listen to one of these."""
        self.rings += 1
        for query in queries:
            for listener in self._listeners.get(query, ()):
                listener.set()

    @contextmanager
    def listening(self, queries: Collection[int]) -> Iterator[asyncio.Event]:
        """An event that is set whenever one of these queries has something new."""
        rung = asyncio.Event()
        for query in queries:
            self._listeners[query].add(rung)
        self.count += 1
        self._rung.set()
        try:
            yield rung
        finally:
            self.count -= 1
            for query in queries:
                self._listeners[query].discard(rung)
                if not self._listeners[query]:
                    del self._listeners[query]

    async def _look_out(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY if self.count else None):
                    await self._rung.wait()
            self._rung.clear()
            try:
                concerned = await asyncio.to_thread(self._look)
            except StoreError:  # it may be back the next time; clients ask again meanwhile
                concerned = None
            if concerned is None:
                self.ring_all()
                continue
            self.wake(concerned)

    def _look(self) -> set[int] | None:
        """The queries that have something new; None when there is too much to tell.

        So have those that a subscription began or ceased to hear, because it was edited, paused or resumed.
        The first access list concerns all clients: one that may not hear another's subscription any more must learn
        that from the list, and not from an event that the list hides.
        """
        with self._store.reading() as reader:
            last, has_lists = reader.log.last_cursor(), reader.access.number() > 0
            is_news = has_lists != self._has_lists
            self._has_lists = has_lists
            found = [] if last == self._cursor else reader.log.after(self._cursor, _AT_ONCE)
            change = reader.subscriptions.last_change()
            altered = set() if change == self._change else reader.subscriptions.altered_after(self._change)
        self._cursor, self._change = last, change
        if is_news:
            return None
        return altered | {record.query for record in found} if len(found) < _AT_ONCE else None
