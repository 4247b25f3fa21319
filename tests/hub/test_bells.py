"""Questions that many ask at the same moment: one answer for all, and none from before the last ring."""

from __future__ import annotations

import asyncio
import threading

from triplewire.hub.bells import Bell, Together
from triplewire.store import Store


def test_who_asks_after_a_ring_gets_an_answer_that_was_begun_after_it():
    """Invariant of `hub.bells`: an answer was begun after the last ring before its question."""
    begun, started, free = [], threading.Semaphore(0), threading.Event()

    async def asked(bell: Bell) -> list[int]:
        together = Together(bell)

        def question() -> int:
            rings = bell.rings
            begun.append(rings)
            started.release()
            assert free.wait(30)
            return rings

        before = [asyncio.create_task(together.ask("rows", question)) for _ in range(2)]
        assert await asyncio.to_thread(started.acquire, timeout=30)
        bell.ring_all()
        after = [asyncio.create_task(together.ask("rows", question)) for _ in range(2)]
        assert await asyncio.to_thread(started.acquire, timeout=30)
        free.set()
        return await asyncio.gather(*before, *after)

    with Store.open(":memory:") as store:
        assert asyncio.run(asked(Bell(store))) == [0, 0, 1, 1]
    assert begun == [0, 1]
