"""Listening: who waits for events is woken when there are some, and nobody else is.

Every batch that this process applies rings the bell; because other processes may write to the same store, it is also
looked at twice a second while somebody waits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress

from triplewire.errors import StoreError
from triplewire.hub.intake import ended
from triplewire.store import Store

_LOOK_EVERY = 0.5
_AT_ONCE = 10_000


class Bell:
    """Wakes listeners by the numbers of the queries that they listen to, as the log has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._rung = asyncio.Event()
        self._cursor = 0
        self._task: asyncio.Task[None] | None = None
        self.count = 0

    def start(self) -> None:
        """Begin to look; what happened before is nobody's news."""
        with self._store.reading() as reader:
            self._cursor = reader.log.last_cursor()
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
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.set()

    def wake(self, queries: Iterable[int]) -> None:
        """Wake those who listen to one of these."""
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
            except StoreError:  # it may be back the next time; who waits asks again meanwhile
                concerned = None
            if concerned is None:
                self.ring_all()
                continue
            self.wake(concerned)

    def _look(self) -> set[int] | None:
        """The queries that have something new; None when there is too much to tell."""
        with self._store.reading() as reader:
            last = reader.log.last_cursor()
            if last == self._cursor:
                return set()
            found = reader.log.after(self._cursor, _AT_ONCE)
        self._cursor = last
        return {record.query for record in found} if len(found) < _AT_ONCE else None
