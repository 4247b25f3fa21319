"""Desks: where a hub serves edges that have dialled it, each over a channel of its own (M1, M8).

A question waits at its desk until there is news, and the desk is woken by the store: so a change is on its way to an
edge when it is committed, and no edge asks twice for it. One look at a store is for all desks of it.

What a desk says besides its answers:

    {"about": "newest", "number": 42}      the hub's last batch, as of a look that was made since this was last said

So an edge knows that it lacks nothing, or how much; a hub that does not look, or cannot, does not say it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol
from uuid import uuid4

from triplewire.engine.edges.steps import stamp_of
from triplewire.errors import ChannelRefused, NotAuthenticated, StoreError, TriplewireError
from triplewire.network.channels.channels import HubChannel
from triplewire.network.channels.exchanges import HEARTBEAT, NEVER, hub_bodies
from triplewire.network.channels.spelling import read_frame, spelled_frame
from triplewire.network.exchange import Answer, Asked, Declined, ExchangeNode, ExchangeState
from triplewire.network.link import Timing
from triplewire.network.node.node import Outbox
from triplewire.store import Store
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion
from triplewire.wire.problems import problem_of

log = logging.getLogger("triplewire.network")

_LOOK_EVERY = 0.1
_TICK = 0.5
_MOST_UNHEARD = 8
"""So many answers are kept for an edge that acknowledges none; one that works has one or two under way."""


class DeskAnswers(Protocol):
    """What a desk tells the edge of an account."""

    async def answer(self, question: EdgeQuestion) -> EdgeAnswer:
        """The answer as things are; NotAuthenticated if the account is none any more."""

    async def require_known(self) -> None:
        """NotAuthenticated if the account is none any more, or another one."""


class StoreWatch:
    """Looks at a store while a desk is open, once for all of them; `newest` is the number of its last batch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self._edition: int | None = None
        self._stamp: tuple[object, ...] = ()
        self.newest = self.looks = 0

    @contextmanager
    def listening(self, rung: asyncio.Event) -> Iterator[None]:
        """An event that is set whenever edges may have to be told something."""
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
            except StoreError as error:  # it may be back the next time; edges are not told meanwhile that all is well
                log.warning("the store cannot be looked at for edges: %s", error)
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
            stamp, newest = stamp_of(reader), reader.batches.last()
        is_other, self._stamp, self.newest, self._edition = stamp != self._stamp, stamp, newest, edition
        return is_other


class EdgeDesk:
    """One edge at its hub, which is called `name`.

    `read_question` refuses what is no question; `longest_wait` bounds what an edge asks for.
    """

    def __init__(
        self,
        channel: HubChannel,
        watch: StoreWatch,
        answers: DeskAnswers,
        read_question: Callable[[Mapping[str, Any]], EdgeQuestion],
        *,
        name: str,
        longest_wait: float,
    ) -> None:
        self._channel, self._watch, self._answers, self._longest = channel, watch, answers, longest_wait
        self._bodies = hub_bodies(read_question)
        self._rung = asyncio.Event()
        self._node = _DeskNode(ExchangeState(name, uuid4().hex), self._rung)
        self._looks, self._newest, self._beaten = 0, -1, 0.0

    async def run(self) -> str:
        """Serve the edge until the channel ends; gives the reason."""
        peer, channel = self._channel.peer, self._channel
        with self._watch.listening(self._rung):
            self._send(self._node.connect(peer, time.monotonic()))
            serving = [asyncio.create_task(each) for each in (self._reply(), self._tick())]
            try:
                return await channel.run(self._received, lambda: False)
            finally:
                for task in serving:
                    task.cancel()
                await asyncio.gather(*serving, return_exceptions=True)

    def _send(self, frames: Outbox) -> None:
        for _, frame in frames:
            self._channel.send({"about": "frame", "frame": spelled_frame(frame, self._bodies)})

    def _received(self, message: dict[str, Any]) -> None:
        if message.get("about") != "frame":
            raise ChannelRefused("it sent what is no message of an edge")
        frame = read_frame(message.get("frame"), self._bodies)
        self._send(self._node.receive(self._channel.peer, frame, time.monotonic()))
        if self._node.refused:
            raise ChannelRefused(self._node.refused[-1])
        if self._node.unheard > _MOST_UNHEARD:
            raise ChannelRefused(f"it asks and asks, and has not taken the last {self._node.unheard} answers")

    async def _reply(self) -> None:
        """Answer the question that waits, whenever something may have changed."""
        peer = self._channel.peer
        while True:
            await self._rung.wait()
            self._rung.clear()
            asked = self._node.state.asked.get(peer)
            if asked is not None:
                answer = await self._found(asked)
                late = self._node.since + min(asked.question.wait, self._longest) <= time.monotonic()
                self._send(self._node.answer(peer, asked, answer, time.monotonic(), late=late))

    async def _found(self, asked: Asked) -> Answer | Declined:
        assert isinstance(asked.question, EdgeQuestion), "nothing else is read"
        try:
            return await self._answers.answer(asked.question)
        except TriplewireError as error:
            if isinstance(error, NotAuthenticated):
                self._channel.close(str(error))
            return Declined(asked.number, problem_of(error))
        except Exception as error:  # a hub goes on, whatever an edge asks
            log.exception("a question of %s could not be answered: %s", self._channel.peer, error)
            self._channel.close("a question could not be answered; the log of the hub says why")
            return Declined(asked.number, {"detail": "the hub could not answer; its log says why"})

    async def _tick(self) -> None:
        """Beat, end the wait of a question, and let go of an account that was revoked."""
        peer = self._channel.peer
        while True:
            self._send(self._node.tick(peer, time.monotonic()))
            self._tell_newest()
            asked = self._node.state.asked.get(peer)
            if asked and self._node.since + min(asked.question.wait, self._longest) <= time.monotonic():
                self._rung.set()
            try:
                await self._answers.require_known()
            except TriplewireError as error:
                log.warning("the channel to %s is closed: %s", peer, error)
                self._channel.close(str(error))
            await asyncio.sleep(_TICK)

    def _tell_newest(self) -> None:
        now, newest, looks = time.monotonic(), self._watch.newest, self._watch.looks
        if looks != self._looks and (newest != self._newest or now >= self._beaten + HEARTBEAT):
            self._looks, self._newest, self._beaten = looks, newest, now
            self._channel.send({"about": "newest", "number": newest})


class _DeskNode(ExchangeNode):
    """The hub's end of the link to one edge; it is as old as the channel, so an edge asks anew after a cut."""

    def __init__(self, state: ExchangeState, rung: asyncio.Event) -> None:
        super().__init__(state, timing=Timing(retry=NEVER, longest_retry=NEVER, heartbeat=HEARTBEAT))
        self._rung = rung
        self.since = 0.0
        """When the question came."""

    @property
    def unheard(self) -> int:
        """How much the other side has not acknowledged."""
        return sum(len(link.waiting) for link in self.state.links.values())

    def questioned(self, peer: str, now: float) -> None:
        self.since = now
        self._rung.set()

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        if body is None:
            self.state.asked.pop(peer, None)
        else:
            self.hear(peer, body, now)

    def all_for(self, peer: str) -> Any:
        return None
