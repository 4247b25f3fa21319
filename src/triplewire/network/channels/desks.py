"""Desks: where a hub answers those that have a channel to it, edges and hubs of its backbone (M1, M8, M10).

A question waits at its desk until there is news, and the desk is woken by the store: so a change is on its way to the
one that asks when it is committed, and nobody asks twice for it. One look at a store is for all desks of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from triplewire.engine.edges.states import stamp_of
from triplewire.errors import StoreError
from triplewire.network.channels.exchanges import HEARTBEAT
from triplewire.network.exchange import Answer, Question
from triplewire.store import Reader, Store

log = logging.getLogger("triplewire.network")

_LOOK_EVERY = 0.1


class DeskAnswers(Protocol):
    """What is told at a desk."""

    async def answer(self, question: Question) -> Answer:
        """The answer as things are; NotAuthenticated if the one that asks may not any more."""

    async def require_known(self) -> None:
        """NotAuthenticated if the one that asks may not any more."""


class StoreWatch:
    """Looks at a store while a desk is open, once for all of them.

    `newest` is the number of the last batch that those who ask have to hear of, which `newest_in` finds.
    """

    def __init__(self, store: Store, newest_in: Callable[[Reader], int] = lambda reader: reader.batches.last()) -> None:
        self._store, self._newest_in = store, newest_in
        self._listeners: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self._edition: int | None = None
        self._stamp: tuple[object, ...] = ()
        self.newest = self.looks = 0

    @contextmanager
    def listening(self, rung: asyncio.Event) -> Iterator[None]:
        """An event that is set whenever there may be something to tell."""
        self._listeners.add(rung)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look_out(), name="triplewire desks")
        try:
            yield
        finally:
            self._listeners.discard(rung)

    async def _look_out(self) -> None:
        while self._listeners:
            try:
                is_other = await asyncio.to_thread(self._look)
            except StoreError as error:  # it may be back the next time; nobody is told meanwhile that all is well
                log.warning("the store cannot be looked at for those who ask: %s", error)
                await asyncio.sleep(HEARTBEAT)
                continue
            self.looks += 1
            for each in self._listeners if is_other else ():
                each.set()
            await asyncio.sleep(_LOOK_EVERY)

    def _look(self) -> bool:
        edition = self._store.edition()
        if edition is not None and edition == self._edition:
            return False
        with self._store.reading() as reader:
            stamp, newest = stamp_of(reader), self._newest_in(reader)
        is_other, self._stamp, self.newest, self._edition = stamp != self._stamp, stamp, newest, edition
        return is_other


@dataclass(frozen=True)
class Desk:
    """What an end of an exchange needs to answer the other one; `longest_wait` bounds what that asks for."""

    watch: StoreWatch
    answers: DeskAnswers
    longest_wait: float
