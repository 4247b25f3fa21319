"""Lanes: so many requests at a time, so many to one host and for one account, and those to receivers that failed apart.

A receiver that hangs, or whose name takes long to look up, holds its place until the time is over. It does that once
among those that work; from then on it is a suspect, and waits with others of its kind. And the deliveries of one
account never take all places, however many of them hang: the rest goes on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Lanes:
    """Who may send now."""

    def __init__(self, *, overall: int, per_host: int) -> None:
        self._trusted = _Lane(overall, per_host)
        self._suspects = _Lane(max(1, overall // 4), max(1, per_host // 4))

    @asynccontextmanager
    async def turn(self, host: str, *, account: str | None = None, is_suspect: bool) -> AsyncIterator[None]:
        """Wait until this host may be asked, on behalf of this account; of nobody in particular, if there are none."""
        async with (self._suspects if is_suspect else self._trusted).turn(host, account or host):
            yield


class _Lane:
    def __init__(self, overall: int, per_host: int) -> None:
        self._overall = asyncio.Semaphore(overall)
        self._hosts, self._accounts = _Shares(per_host), _Shares(max(1, overall // 4))

    @asynccontextmanager
    async def turn(self, host: str, account: str) -> AsyncIterator[None]:
        async with self._hosts.turn(host), self._accounts.turn(account), self._overall:
            yield


class _Shares:
    """So many places for each name, while a delivery wants one."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._places: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        own = self._places.setdefault(name, asyncio.Semaphore(self._each))
        self._users[name] += 1
        try:
            async with own:
                yield
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self._places[name]
