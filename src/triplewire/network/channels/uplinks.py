"""Uplinks: the way to a hub at an address, over one channel that is dialled when there is a question (M1, M8, M10).

`channel_to` opens one for an edge's store, `backbone.links` those of a hub to the others of its backbone. A question
goes over the link of `network.exchange` and waits at the hub until there is news. When the channel ends, so does the
question, and the one that asks does so again, later each time (`wire.backoff`).

The hub that answers first at an address is the one that counts from then on: its key is kept in the store of the one
that dials, and a hub with another key is refused, before it is told who asks.

Where the other hub dials as well (in a backbone), one channel is for both: a hub that was dialled by the one that it
wants to ask uses that channel. If both dialled at once, the one whose name comes later hangs up.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from websockets.exceptions import InvalidHandshake

from triplewire.errors import ChannelRefused, NotAuthenticated, ServiceUnavailable, TriplewireError
from triplewire.network.channels.channels import HubChannel, dial
from triplewire.network.channels.desks import Desk
from triplewire.network.channels.dialling import UNREACHED, brief, dialled
from triplewire.network.channels.ends import ExchangeEnd
from triplewire.network.channels.exchanges import EDGE_LINK, edge_bodies
from triplewire.network.channels.handshake import EDGE_CHANNEL
from triplewire.network.channels.identities import HubIdentity, kept_identity
from triplewire.network.channels.spelling import BodySpelling
from triplewire.network.channels.status import UplinkStatus
from triplewire.network.exchange import Answer, Question
from triplewire.store import Store
from triplewire.wire.backbones import PassedChanges
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion

log = logging.getLogger("triplewire.network")

_Found = TypeVar("_Found")

MOST_ANSWER = 1 << 30
"""The length of an answer that is read."""
_PING = 20.0
_GOODBYE = 2.0
"""Seconds that a channel may take to end."""
_LOOK_EVERY = 1.0


@dataclass(frozen=True)
class Dialler:
    """Who dials, and how: what the address ends with, what the channel is for, and what is said on it.

    `pins` is the setting of its store with the keys of hubs by address, `label` what a key that it has to make is
    called, `own` and `kind` what people call it, and `trust` how they say that another key is right.
    """

    path: str
    purpose: str
    bodies: BodySpelling
    pins: str
    label: str
    own: str
    kind: str
    trust: str

    def pinned(self, store: Store, url: str) -> str:
        """The key that the hub at an address must have; nothing before it was dialled."""
        with store.reading() as reader:
            return str(reader.settings.get(self.pins, {}).get(url.rstrip("/"), ""))

    def pin(self, store: Store, url: str, key: str) -> None:
        """From now on the hub at an address must have this key."""
        with store.writing() as writer:
            writer.settings.set(self.pins, writer.settings.get(self.pins, {}) | {url.rstrip("/"): key.lower()})


EDGE = Dialler(
    EDGE_LINK,
    EDGE_CHANNEL,
    edge_bodies(),
    pins="edge.pins",
    label="edge",
    own="this edge",
    kind="an edge",
    trust="triplewire edge trust STORE {key}",
)


def channel_to(
    url: str,
    store: Store,
    *,
    account: str | None = None,
    token: str | None = None,
    key: str | Path | None = None,
    hub_key: str | None = None,
) -> EdgeUplink:
    """The uplink of the edge on a store to the hub at an address; it is dialled when the edge asks.

    The edge proves to be who it is with the `key` of its account, or else with one of its own; a `token` goes with the
    proof. `hub_key` is the public key that the hub must have; without, the first one that it has.
    """
    if hub_key is not None:
        EDGE.pin(store, url, hub_key)
    beside = {name: value for name, value in (("account", account), ("token", token)) if value}
    return EdgeUplink(url, store, EDGE, beside=beside, key=None if key is None else Path(key))


class ChannelUplink:
    """The way to the hub at an address; one thread of its own carries what is said, from the first question to `close`.

    With a `desk`, what the hub asks over the channel is answered there. `calls_of` gives the end of a channel that the
    hub with a key has dialled itself, if there is one.
    """

    def __init__(
        self,
        url: str,
        store: Store,
        dialler: Dialler,
        *,
        beside: dict[str, str],
        key: Path | None = None,
        desk: Desk | None = None,
        calls_of: Callable[[str], ExchangeEnd | None] = lambda key: None,
    ) -> None:
        self.url = url.rstrip("/")
        self._store, self._dialler, self._key, self._beside = store, dialler, key, beside
        self._desk, self._calls_of = desk, calls_of
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._line: _Line | None = None
        self._is_closed = False

    def ask(self, question: Question) -> Answer:
        """The hub's answer; ServiceUnavailable if it cannot be reached, ChannelRefused if one of both refuses."""
        return self._do(self._begun().ask(question))

    def hurry(self) -> None:
        """Let a question that waits be answered now; from any thread."""
        self._tell(lambda line: line.hurry())

    def release(self) -> None:
        """Let a question that waits end without an answer; from any thread."""
        self._tell(lambda line: line.end(f"{self._dialler.own} stops"))

    def status(self, number: int) -> UplinkStatus:
        """What the link does, for one that has a batch of the hub."""
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

    def _tell(self, what: Callable[[_Line], None]) -> None:
        line, loop = self._line, self._loop
        if line is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(what, line)

    def _begun(self) -> _Line:
        with self._lock:
            if self._is_closed:
                raise ServiceUnavailable(f"{self._dialler.own} is closed")
            if self._line is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="triplewire uplink", daemon=True)
                self._thread.start()
                self._line = _Line(
                    self.url, self._identity(), self._store, self._dialler, self._beside, self._desk, self._calls_of
                )
            return self._line

    def _identity(self) -> HubIdentity:
        if self._key is None:
            return kept_identity(self._store, self._dialler.label)
        try:
            return HubIdentity.of_key(self._key.read_bytes(), self._dialler.label)
        except (OSError, ValueError) as error:
            raise NotAuthenticated(f"{self._key}: this private key cannot be used: {error}") from None

    def _do(self, work: Coroutine[Any, Any, _Found]) -> _Found:
        assert self._loop is not None, "the thread has begun"
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except CancelledError:
            raise ServiceUnavailable(f"{self._dialler.own} is closed") from None


class EdgeUplink(ChannelUplink):
    """The way of an edge to its hub."""

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """What the edge lacks."""
        answer = self.ask(question)
        assert isinstance(answer, EdgeAnswer), "nothing else is read"
        return answer


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


class _Called(Exception):
    """The hub that is being dialled has dialled this one meanwhile."""


class _Line:
    """The channel to the hub, dialled whenever there is none and something is to be asked; all of it in one loop.

    Questions take turns: one that only waits for news is hurried when there is another.
    """

    def __init__(
        self,
        url: str,
        identity: HubIdentity,
        store: Store,
        dialler: Dialler,
        beside: dict[str, str],
        desk: Desk | None,
        calls_of: Callable[[str], ExchangeEnd | None],
    ) -> None:
        self._url, self._identity, self._store, self._dialler, self._beside = url, identity, store, dialler, beside
        self._desk, self._calls_of = desk, calls_of
        self._key = dialler.pinned(store, url)
        self._end: ExchangeEnd | None = None
        self._asked: ExchangeEnd | None = None
        """Where a question is under way."""
        self._serving: asyncio.Task[None] | None = None
        self._turn, self._queued = asyncio.Lock(), 0
        self._since: datetime | None = None

    # -- asking

    async def ask(self, question: Question) -> Answer:
        """The hub's answer, however long that takes while the channel lasts."""
        self._queued += 1
        self.hurry()
        try:
            async with self._turn:
                return await self._told(question)
        finally:
            self._queued -= 1

    async def _told(self, question: Question) -> Answer:
        end = await self._connected()
        try:
            return await self._told_at(end, question)
        except ServiceUnavailable:
            other = self._open_end()
            if other is None or other is end:
                raise
        return await self._told_at(other, question)  # this one has taken the place of the other channel

    async def _told_at(self, end: ExchangeEnd, question: Question) -> Answer:
        if self._queued > 1 and not isinstance(question, PassedChanges):
            question = replace(question, wait=0.0)
        self._asked = end
        answer = asyncio.wrap_future(end.ask(question))
        try:
            while not answer.done():
                await asyncio.wait([answer], timeout=_LOOK_EVERY)
                if end.is_lost and not answer.done():
                    await asyncio.wait([answer], timeout=_LOOK_EVERY)
                    end.release("the channel has ended")
                    answer.cancel() if not answer.done() else None
            return answer.result()
        except asyncio.CancelledError:
            raise ServiceUnavailable(f"the channel to {self._url} has ended") from None
        finally:
            self._asked = None

    def hurry(self) -> None:
        """Ask the same again, with no time to wait."""
        if self._asked is not None:
            self._asked.hurry()

    def end(self, reason: str) -> None:
        """End the channel that was dialled, and the question."""
        if self._end is not None:
            self._end.channel.close(reason)
        elif self._serving is not None:
            self._serving.cancel()
        if self._asked is not None:
            self._asked.release(reason)

    # -- the channel

    def _open_end(self) -> ExchangeEnd | None:
        """Where to ask: over the channel that was dialled here, or that which the hub has dialled itself."""
        own = self._end if self._end is not None and not self._end.channel.is_over else None
        call = self._calls_of(self._key) if self._key else None
        if call is None or call.is_lost or (own is not None and self._identity.name < call.channel.peer):
            return own
        if own is not None:
            own.channel.close("there is another channel between these hubs")
        return call

    async def _connected(self) -> ExchangeEnd:
        end = self._open_end()
        if end is not None:
            return end
        if self._serving is not None:
            await asyncio.gather(self._serving, return_exceptions=True)
        ready: asyncio.Future[ExchangeEnd] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.create_task(self._serve(ready), name="triplewire uplink")
        try:
            return await ready
        except asyncio.CancelledError:
            raise ServiceUnavailable(f"{self._dialler.own} stops") from None

    async def _serve(self, ready: asyncio.Future[ExchangeEnd]) -> None:
        """Dial, and carry what is said until the channel ends."""
        try:
            async with dialled(self._url, self._dialler.path, _PING) as (wire, seen):
                channel = await dial(
                    wire,
                    self._identity,
                    expected=None,
                    certificate=seen,
                    purpose=self._dialler.purpose,
                    beside=self._beside,
                    meets=self._meet,
                )
                channel.most_taken = channel.most_sent = MOST_ANSWER
                end = self._opened(channel)
                ready.set_result(end)
                self._closed(await end.run())
        except _Called:
            call = self._calls_of(self._key)
            ready.set_result(call) if call is not None else ready.cancel()
        except BaseException as error:
            problem = self._problem(error)
            if not ready.done():
                ready.set_exception(problem) if problem is not None else ready.cancel()
            self._closed(str(problem or f"{self._dialler.own} stops"))
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
                f"{self._url} takes no channel of {self._dialler.kind} ({error}); is it a hub of this version, and "
                "does what stands before it pass WebSockets on?"
            )
        if isinstance(error, UNREACHED):
            return ServiceUnavailable(f"{self._url} cannot be reached ({brief(error)}); is the hub running?")
        return None

    def _meet(self, key: str) -> None:
        """ChannelRefused for another key than the one that the hub had; the first one is kept."""
        known = self._dialler.pinned(self._store, self._url)
        if not known:
            self._dialler.pin(self._store, self._url, key)
        elif known != key:
            trust = self._dialler.trust.format(key=key, url=self._url)
            raise ChannelRefused(
                f"the hub there has the key {key}, and had {known}: something may be in its place. If it was set up "
                f"anew, say so: {trust}"
            )
        self._key = key
        call = self._calls_of(key)
        if call is not None and not call.is_lost:
            raise _Called

    def _opened(self, channel: HubChannel) -> ExchangeEnd:
        self._since = datetime.now(UTC)
        log.info("there is a channel to %s at %s", channel.peer, self._url)
        self._end = ExchangeEnd(
            channel,
            self._dialler.bodies,
            name=self._identity.name,
            called=self._url,
            desk=self._desk,
            may_ask=True,
        )
        return self._end

    def _closed(self, reason: str) -> None:
        if self._end is not None:
            log.info("the channel to %s has ended: %s", self._end.channel.peer, reason)
            self._end, self._since = None, datetime.now(UTC)

    # -- what it says of itself

    def status(self, number: int) -> UplinkStatus:
        """See `ChannelUplink.status`; from any thread, so of about now."""
        own, call = self._end, self._calls_of(self._key) if self._key else None
        end = call if own is None or own.channel.is_over else own
        if end is None or end.is_lost:
            return UplinkStatus("away", self._since)
        return end.status(number)
