"""Lanes: so many requests at a time, so many to one host, and those to receivers that failed on a lane of their own.

A receiver that hangs holds its place until the time is over. It does that once among those that work; from then on it
is a suspect, and waits with others of its kind: however many hang, the rest goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Lanes:
    """Who may send now."""

    def __init__(self, *, overall: int, per_host: int) -> None:
        self._trusted = _Lane(overall, per_host)
        self._suspects = _Lane(max(1, overall // 4), max(1, per_host // 4))

    @asynccontextmanager
    async def turn(self, host: str, *, is_suspect: bool) -> AsyncIterator[None]:
        """Wait until this host may be asked."""
        async with (self._suspects if is_suspect else self._trusted).turn(host):
            yield


class _Lane:
    def __init__(self, overall: int, per_host: int) -> None:
        self._overall, self._per_host = asyncio.Semaphore(overall), per_host
        self._hosts: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        own = self._hosts.setdefault(host, asyncio.Semaphore(self._per_host))
        self._users[host] = self._users.get(host, 0) + 1
        try:
            async with own, self._overall:
                yield
        finally:
            self._users[host] -= 1
            if not self._users[host]:
                del self._users[host], self._hosts[host]
