"""Not too many at once: one connection to a host at a time, with a pause between two, and so many hosts together."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Who may ask now. One for each round; `ended` is kept between rounds and has when each host was last asked."""

    def __init__(self, ended: dict[str, float], *, pause: float, hosts: int) -> None:
        self._ended, self._pause = ended, pause
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._room = asyncio.Semaphore(hosts)

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until this host may be asked."""
        async with self._locks[host]:
            wait = self._ended.get(host, -self._pause) + self._pause - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            try:
                async with self._room:
                    yield
            finally:
                self._ended[host] = time.monotonic()
