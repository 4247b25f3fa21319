"""Pages: the next events of many deliveries, read together.

Each delivery reads on by itself, and a store answers a hundred questions in one transaction almost as fast as one. So
a delivery that asks while others are being answered waits, and is answered with all that asked meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from triplewire.engine.inspect.events import EventFilter, EventLog, LogPage
from triplewire.store import Store

T = TypeVar("T")
_AT_ONCE = 200


@dataclass(slots=True)
class _Question:
    wanted: EventFilter
    make: Callable[[LogPage], Any]
    answer: asyncio.Future[Any]


class Pages:
    """Reads events of a store; for one event loop."""

    def __init__(self, store: Store) -> None:
        self._log = EventLog(store)
        self._asked: list[_Question] = []
        self._reading: asyncio.Task[None] | None = None

    async def is_still_seen(self, subscription: str, first: int, last: int) -> bool:
        """See `EventLog.is_still_seen`."""
        return await asyncio.to_thread(self._log.is_still_seen, subscription, first, last)

    async def get(self, wanted: EventFilter, make: Callable[[LogPage], T]) -> T:
        """What `make` makes of some events; it is called where it holds up nobody."""
        question = _Question(wanted, make, asyncio.get_running_loop().create_future())
        self._asked.append(question)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read(), name="triplewire pages")
        found: T = await question.answer
        return found

    async def _read(self) -> None:
        while self._asked:
            some, self._asked = self._asked[:_AT_ONCE], self._asked[_AT_ONCE:]
            try:
                answers = await asyncio.to_thread(self._answered, some)
            except Exception as error:
                answers = [error] * len(some)
            for question, answer in zip(some, answers, strict=True):
                if question.answer.cancelled():
                    continue
                if isinstance(answer, Exception):
                    question.answer.set_exception(answer)
                else:
                    question.answer.set_result(answer)

    def _answered(self, some: list[_Question]) -> list[Any]:
        pages = self._log.pages([question.wanted for question in some])
        return [question.make(page) for question, page in zip(some, pages, strict=True)]
