"""Live rings for tests: peers of this process that speak to each other over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from websockets.asyncio.server import serve

from triplewire.network.channels.dialling import DialledWire
from triplewire.network.live.ring import LivePeer, PeerMemory
from triplewire.network.ring import RingSettings
from triplewire.network.ring.messages import MAINTENANCE, FindSuccessor
from triplewire.store import Store


async def wait_until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def live_peer(
    settings: RingSettings, join: str | None = None, store: str = ":memory:"
) -> AsyncIterator[tuple[LivePeer, str]]:
    """A peer on a free port, and its address; at the end it is gone without a word."""
    found: list[LivePeer] = []

    async def answered(connection) -> None:
        await found[0].serve(DialledWire(connection))

    async with serve(answered, "127.0.0.1", 0, max_size=None) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        memory = PeerMemory(Store.open(store), settings)
        found.append(LivePeer(url, memory, patience=2.0))
        found[0].start(join)
        try:
            yield found[0], url
        finally:
            await found[0].cut()
            memory.store.close()


def is_quiet(peers: list[LivePeer]) -> bool:
    """Whether everything that was asked of peers has led to all that it leads to, and everybody was told."""
    states = [each.peer.state for each in peers]
    kept = [each.parcel.body for state in states for each in state.post.kept.values()]
    waits = [each.due for state in states for home in state.homes.values() for each in home.subscriptions.values()]
    is_sent = all(isinstance(body, (*MAINTENANCE, FindSuccessor)) for body in kept)
    return is_sent and not any(state.post.causes for state in states) and not any(waits)


def is_ring(peers: list[LivePeer]) -> bool:
    """Whether each peer knows the next one, and the one before."""
    order = sorted(peers, key=lambda each: each.peer.view.place)
    return all(
        one.peer.view.successors[:1] == (after.name,) and after.peer.view.predecessor == one.name
        for one, after in zip(order, [*order[1:], order[0]], strict=True)
    )


@asynccontextmanager
async def live_ring(size: int, settings: RingSettings) -> AsyncIterator[tuple[list[LivePeer], list[AsyncExitStack]]]:
    """Peers that have become a ring, each with what ends it."""
    async with AsyncExitStack() as whole:
        peers, ends, first = [], [], None
        for _ in range(size):
            end = await whole.enter_async_context(AsyncExitStack())
            peer, url = await end.enter_async_context(live_peer(settings, first))
            first = first or url
            peers.append(peer)
            ends.append(end)
        if size > 1:
            await wait_until(lambda: is_ring(peers))
        yield peers, ends
