"""Uplinks: the way of an edge to its hub, over one channel that is dialled when the edge asks (M1, M8).

`channel_to` opens one for an edge's store. A question goes over the link of `network.exchange` and waits at the hub
until there is news. When the channel ends, so does the question, and the edge asks again, later each time
(`wire.backoff`): an answer depends on the question and on the hub alone, so nothing but time is lost. That is why the
log of the link lives as long as the process here, and as long as the channel at the hub, and in no store: after a cut
the ends meet as other incarnations, and the edge's question is told anew.

The hub that answers first at an address is the one that counts from then on: its key is kept in the edge's store, and a
hub with another key is refused, before it is told who asks.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from websockets.exceptions import InvalidHandshake

from triplewire.errors import ChannelRefused, NotAuthenticated, ServiceUnavailable, TriplewireError
from triplewire.network.channels.channels import HubChannel, dial
from triplewire.network.channels.dialling import UNREACHED, brief, dialled
from triplewire.network.channels.exchanges import EDGE_LINK, HEARTBEAT, NEVER, edge_bodies
from triplewire.network.channels.handshake import EDGE_CHANNEL
from triplewire.network.channels.identities import HubIdentity, kept_identity
from triplewire.network.channels.spelling import read_frame, spelled_frame
from triplewire.network.channels.status import UplinkStatus
from triplewire.network.exchange import Answer, Asked, Declined, ExchangeNode, ExchangeState
from triplewire.network.link import Timing
from triplewire.network.node.node import Outbox
from triplewire.store import Store
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion
from triplewire.wire.problems import error_of

log = logging.getLogger("triplewire.network")

_Found = TypeVar("_Found")

MOST_ANSWER = 1 << 30
"""The length of an answer that is read."""
_PINS = "edge.pins"
_PING = 20.0
_GOODBYE = 2.0
"""Seconds that a channel may take to end."""
_TICK = 0.5
_SILENCE = 600.0
"""Seconds after which a hub that keeps the connection, and says nothing on it, is dialled again."""
_BODIES = edge_bodies()


def channel_to(
    url: str,
    store: Store,
    *,
    account: str | None = None,
    token: str | None = None,
    key: str | Path | None = None,
    hub_key: str | None = None,
) -> ChannelUplink:
    """The uplink of the edge on a store to the hub at an address; it is dialled when the edge asks.

    The edge proves to be who it is with the `key` of its account, or else with one of its own; a `token` goes with the
    proof. `hub_key` is the public key that the hub must have; without, the first one that it has.
    """
    if hub_key is not None:
        _pin(store, url, hub_key.lower())
    beside = {name: value for name, value in (("account", account), ("token", token)) if value}
    return ChannelUplink(url.rstrip("/"), store, None if key is None else Path(key), beside)


def _pinned(store: Store, url: str) -> str:
    with store.reading() as reader:
        return str(reader.settings.get(_PINS, {}).get(url.rstrip("/"), ""))


def _pin(store: Store, url: str, key: str) -> None:
    with store.writing() as writer:
        writer.settings.set(_PINS, writer.settings.get(_PINS, {}) | {url.rstrip("/"): key})


class ChannelUplink:
    """See `channel_to`; one thread of its own carries what is said, from the first question to `close`."""

    def __init__(self, url: str, store: Store, key: Path | None, beside: dict[str, str]) -> None:
        self.url = url
        self._store, self._key, self._beside = store, key, beside
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._line: _Line | None = None
        self._is_closed = False

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """See `Uplink`; ServiceUnavailable if the hub cannot be reached, ChannelRefused if one of both refuses."""
        return self._do(self._begun().ask(question))

    def hurry(self) -> None:
        """Let a question that waits be answered now; from any thread."""
        self._tell(lambda line: line.hurry())

    def release(self) -> None:
        """Let a question that waits end without an answer; from any thread."""
        self._tell(lambda line: line.end("this edge stops"))

    def status(self, number: int) -> UplinkStatus:
        """What the link does, for an edge that has a batch of the hub."""
        return UplinkStatus() if self._line is None else self._line.status(number)

    def close(self) -> None:
        """End the channel, and the thread."""
        with self._lock:
            self._is_closed, loop, thread = True, self._loop, self._thread
        if loop is None or thread is None:
            return
        self.release()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _tell(self, what: Any) -> None:
        line, loop = self._line, self._loop
        if line is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(what, line)

    def _begun(self) -> _Line:
        with self._lock:
            if self._is_closed:
                raise ServiceUnavailable("this edge is closed")
            if self._line is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="triplewire uplink", daemon=True)
                self._thread.start()
                self._line = _Line(self.url, self._identity(), self._store, self._beside)
            return self._line

    def _identity(self) -> HubIdentity:
        if self._key is None:
            return kept_identity(self._store, "edge")
        try:
            return HubIdentity.of_key(self._key.read_bytes(), "edge")
        except (OSError, ValueError) as error:
            raise NotAuthenticated(f"{self._key}: this private key cannot be used: {error}") from None

    def _do(self, work: Coroutine[Any, Any, _Found]) -> _Found:
        assert self._loop is not None, "the thread has begun"
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except CancelledError:
            raise ServiceUnavailable("this edge is closed") from None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Carry what is said until the loop is stopped, then end what is under way."""
    try:
        loop.run_forever()
        loop.run_until_complete(_ended())
    finally:
        loop.close()


async def _ended() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait(tasks, timeout=_GOODBYE) if tasks else None
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Line:
    """The channel to the hub, dialled whenever there is none and something is to be asked; all of it in one loop."""

    def __init__(self, url: str, identity: HubIdentity, store: Store, beside: dict[str, str]) -> None:
        self._url, self._identity, self._store, self._beside = url, identity, store, beside
        self._node = _UplinkNode(ExchangeState(identity.name, uuid4().hex))
        self._channel: HubChannel | None = None
        self._serving: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[EdgeAnswer] | None = None
        self._since: datetime | None = None
        self._newest, self._confirmed = -1, 0.0

    # -- asking

    async def ask(self, question: EdgeQuestion) -> EdgeAnswer:
        """The hub's answer, however long that takes while the channel lasts."""
        channel = await self._connected()
        loop = asyncio.get_running_loop()
        self._node.question, self._answer = question, loop.create_future()
        self._send(self._node.ask(channel.peer, question, time.monotonic()))
        try:
            return await self._answer
        finally:
            self._node.question = self._answer = None

    def hurry(self) -> None:
        """Ask the same again, with no time to wait."""
        question, channel = self._node.question, self._channel
        if question is not None and question.wait and channel is not None:
            self._node.question = replace(question, wait=0.0)
            self._send(self._node.ask(channel.peer, self._node.question, time.monotonic()))

    def end(self, reason: str) -> None:
        """End the channel, and with it the question."""
        if self._channel is not None:
            self._channel.close(reason)
        elif self._serving is not None:
            self._serving.cancel()
        self._fail(ServiceUnavailable(reason))

    # -- the channel

    async def _connected(self) -> HubChannel:
        channel = self._channel
        if channel is not None and not channel.is_over:
            return channel
        if self._serving is not None:
            await asyncio.gather(self._serving, return_exceptions=True)
        ready: asyncio.Future[HubChannel] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.create_task(self._serve(ready), name="triplewire uplink")
        try:
            return await ready
        except asyncio.CancelledError:
            raise ServiceUnavailable("this edge stops") from None

    async def _serve(self, ready: asyncio.Future[HubChannel]) -> None:
        """Dial, and carry what is said until the channel ends."""
        try:
            async with dialled(self._url, EDGE_LINK, _PING) as (wire, seen):
                channel = await dial(
                    wire,
                    self._identity,
                    expected=None,
                    certificate=seen,
                    purpose=EDGE_CHANNEL,
                    beside=self._beside,
                    meets=self._meet,
                )
                channel.most_taken = MOST_ANSWER
                self._opened(channel)
                ready.set_result(channel)
                self._closed(await self._carried(channel))
        except BaseException as error:
            problem = self._problem(error)
            if not ready.done():
                ready.set_exception(problem) if problem is not None else ready.cancel()
            self._closed(str(problem or "this edge stops"))
            if problem is None:
                raise

    def _problem(self, error: BaseException) -> TriplewireError | None:
        """What to tell people; None for what is no failure of the other side."""
        if isinstance(error, ChannelRefused):
            return ChannelRefused(f"no channel to {self._url}: {error}")
        if isinstance(error, TriplewireError):
            return error
        if isinstance(error, InvalidHandshake):
            return ServiceUnavailable(
                f"{self._url} takes no channel of an edge ({error}); is it a hub of this version, and does what stands "
                "before it pass WebSockets on?"
            )
        if isinstance(error, UNREACHED):
            return ServiceUnavailable(f"{self._url} cannot be reached ({brief(error)}); is the hub running?")
        return None

    def _meet(self, key: str) -> None:
        """ChannelRefused for another key than the one that the hub had; the first one is kept."""
        known = _pinned(self._store, self._url)
        if not known:
            _pin(self._store, self._url, key)
        elif known != key:
            raise ChannelRefused(
                f"the hub there has the key {key}, and had {known}: something may be in its place. If it was set up "
                f"anew, say so: triplewire edge trust STORE {key}"
            )

    def _opened(self, channel: HubChannel) -> None:
        self._channel, self._since, self._newest = channel, datetime.now(UTC), -1
        log.info("there is a channel to %s at %s", channel.peer, self._url)
        self._send(self._node.connect(channel.peer, time.monotonic()))

    def _closed(self, reason: str) -> None:
        if self._channel is not None:
            log.info("the channel to %s has ended: %s", self._channel.peer, reason)
            self._node.disconnect(self._channel.peer)
            self._channel, self._since = None, datetime.now(UTC)
        self._fail(ServiceUnavailable(f"the channel to {self._url} has ended: {reason}"))

    def _fail(self, problem: TriplewireError) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(problem)

    async def _carried(self, channel: HubChannel) -> str:
        ticking = asyncio.create_task(self._tick(channel))
        try:
            return await channel.run(self._received, lambda: False)
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    async def _tick(self, channel: HubChannel) -> None:
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            self._send(self._node.tick(channel.peer, now))
            if now - channel.heard > _SILENCE:
                channel.close(f"the hub has said nothing for {_SILENCE:.0f} seconds")

    def _send(self, frames: Outbox) -> None:
        channel = self._channel
        for _, frame in frames if channel is not None else ():
            assert channel is not None, "it is there"
            channel.send({"about": "frame", "frame": spelled_frame(frame, _BODIES)})

    def _received(self, message: dict[str, Any]) -> None:
        channel, now = self._channel, time.monotonic()
        assert channel is not None, "it brought this"
        match message:
            case {"about": "frame", "frame": frame}:
                self._send(self._node.receive(channel.peer, read_frame(frame, _BODIES), now))
            case {"about": "newest", "number": int(number)}:
                self._newest, self._confirmed = number, now
            case _:
                raise ChannelRefused("it sent what is no message of a hub to its edge")
        if self._node.refused:
            raise ChannelRefused(self._node.refused[-1])
        self._take(self._node.told)

    def _take(self, told: EdgeAnswer | Declined | None) -> None:
        """Hand an answer to the one that waits for it."""
        self._node.told = None
        if told is None or self._answer is None or self._answer.done():
            return
        if isinstance(told, Declined):
            self._answer.set_exception(error_of(told.problem))
        else:
            self._answer.set_result(told)

    # -- what it says of itself

    def status(self, number: int) -> UplinkStatus:
        """See `ChannelUplink.status`; from any thread, so of about now."""
        channel, now, newest = self._channel, time.monotonic(), self._newest
        if channel is None or channel.is_over:
            return UplinkStatus("away", self._since)
        heard = datetime.now(UTC) - timedelta(seconds=now - channel.heard)
        is_known = newest >= 0 and now - self._confirmed <= 3 * HEARTBEAT
        lag = max(0, newest - number) if is_known else None
        confirmed = datetime.now(UTC) - timedelta(seconds=now - self._confirmed) if newest == number else None
        return UplinkStatus("connected", self._since, channel.peer, heard, lag, confirmed)


class _UplinkNode(ExchangeNode):
    """The edge's end of the link to its hub: one question at a time."""

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state, timing=Timing(retry=NEVER, longest_retry=NEVER, heartbeat=HEARTBEAT))
        self.question: EdgeQuestion | None = None
        """What is asked, until it is answered."""
        self.told: EdgeAnswer | Declined | None = None

    def connect(self, peer: str, now: float) -> Outbox:
        for other in [each for each in self.neighbours if each != peer]:
            self.forget(other)
        return super().connect(peer, now)

    def answered(self, peer: str, answer: Answer, now: float) -> None:
        assert isinstance(answer, EdgeAnswer), "nothing else is read"
        self.told = answer

    def declined(self, peer: str, refusal: Declined, now: float) -> None:
        self.told = refusal

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """The hub has forgotten what it was asked: it is asked again."""
        if body is not None:
            self.hear(peer, body, now)
        elif self.question is not None:
            self.tell(peer, self._asked(peer, self.question), now)

    def all_for(self, peer: str) -> Asked | None:
        return None if self.question is None else self._asked(peer, self.question)
