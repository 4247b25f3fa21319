"""Ends: one end of an exchange over a channel. It asks, one question at a time, and with a `Desk` it answers.

An edge only asks, and the hub at the other end only answers; hubs of a backbone do both, over one channel. What an end
with a desk says besides its answers:

    {"about": "newest", "number": 42}      its last batch, as of a look that was made since this was last said

So the one that asks knows that it lacks nothing, or how much; an end that does not look, or cannot, does not say it.

An end lives as long as its channel, and so does the log of its link: after a cut the ends meet as others, and what was
not answered is asked anew. An answer depends on the question and on the other hub alone, so nothing but time is lost.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from triplewire.errors import ChannelRefused, NotAuthenticated, ServiceUnavailable, TriplewireError
from triplewire.network.channels.channels import HubChannel
from triplewire.network.channels.desks import Desk
from triplewire.network.channels.exchanges import HEARTBEAT, NEVER
from triplewire.network.channels.spelling import BodySpelling, read_frame, spelled_frame
from triplewire.network.channels.status import UplinkStatus
from triplewire.network.exchange import Answer, Asked, Declined, ExchangeNode, ExchangeState, Question
from triplewire.network.link import Timing
from triplewire.network.node.node import Outbox
from triplewire.wire.backbones import PassedChanges
from triplewire.wire.problems import error_of, problem_of

log = logging.getLogger("triplewire.network")

_TICK = 0.5
_SILENCE = 600.0
"""Seconds after which a hub that keeps the connection, and says nothing on it, is let go of."""
_MOST_UNHEARD = 8
"""So many answers are kept for one that acknowledges none; one that works has one or two under way."""


class ExchangeEnd:
    """One end of an exchange, in the loop that it is made in; `name` is its own, `called` what people call the other.

    `may_ask` says whether the other end answers.
    """

    def __init__(
        self,
        channel: HubChannel,
        bodies: BodySpelling,
        *,
        name: str,
        called: str = "",
        desk: Desk | None = None,
        may_ask: bool = False,
    ) -> None:
        self.channel, self._bodies, self._desk, self._may_ask = channel, bodies, desk, may_ask
        self._called = called or channel.peer
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()
        self._node = _EndNode(ExchangeState(name, uuid4().hex), self._rung)
        self._answer: Future[Answer] | None = None
        self._ended = ""
        """Why nothing is carried any more."""
        self._since = datetime.now(UTC)
        self._newest, self._confirmed = -1, 0.0
        self._looks, self._said, self._beaten = 0, -1, 0.0

    async def run(self) -> str:
        """Carry questions and answers until the channel ends; gives the reason."""
        peer, channel, desk = self.channel.peer, self.channel, self._desk
        with ExitStack() as opened:
            serving = [asyncio.create_task(self._tick())]
            if desk is not None:
                opened.enter_context(desk.watch.listening(self._rung))
                serving.append(asyncio.create_task(self._reply(desk)))
            self._send(self._node.connect(peer, time.monotonic()))
            try:
                return await channel.run(self._received, lambda: False, self._end)
            finally:
                for task in serving:
                    task.cancel()
                await asyncio.gather(*serving, return_exceptions=True)

    def _end(self, reason: str) -> None:
        """Carry nothing any more, and answer the question that is under way with the reason."""
        self._ended = f"the channel to {self._called} has ended: {reason}"
        self.give_up(self._ended)

    def _send(self, frames: Outbox) -> None:
        for _, frame in frames:
            self.channel.send({"about": "frame", "frame": spelled_frame(frame, self._bodies)})

    def _received(self, message: dict[str, Any]) -> None:
        match message:
            case {"about": "frame", "frame": told}:
                frame = read_frame(told, self._bodies)
                self._send(self._node.receive(self.channel.peer, frame, time.monotonic()))
            case {"about": "newest", "number": int(number)} if self._may_ask:
                self._newest, self._confirmed = number, time.monotonic()
            case _:
                raise ChannelRefused("it sent what is no message of this exchange")
        if self._node.refused:
            raise ChannelRefused(self._node.refused[-1])
        if self._desk is not None and self._node.unheard > _MOST_UNHEARD:
            raise ChannelRefused(f"it asks and asks, and has not taken the last {self._node.unheard} answers")
        self._take(self._node.told)

    async def _tick(self) -> None:
        """Beat, let go of an end that is silent; at a desk, end the wait of a question, and look who still may ask."""
        while True:
            now = time.monotonic()
            self._send(self._node.tick(self.channel.peer, now))
            if now - self.channel.heard > _SILENCE:
                self.channel.close(f"the other side has said nothing for {_SILENCE:.0f} seconds")
            if self._desk is not None:
                await self._attend(self._desk)
            await asyncio.sleep(_TICK)

    # -- asking

    def ask(self, question: Question) -> Future[Answer]:
        """The answer, however long that takes while the channel lasts; from any thread."""
        answer: Future[Answer] = Future()
        self._tell(lambda: self._begin(question, answer), answer)
        return answer

    def hurry(self) -> None:
        """Let a question that waits be answered now; from any thread."""
        self._tell(self._press)

    def release(self, reason: str) -> None:
        """Let a question end without an answer; from any thread."""
        self._tell(lambda: self.give_up(reason))

    @property
    def is_lost(self) -> bool:
        """Whether nothing can be asked here any more; from any thread."""
        return self._loop.is_closed() or self.channel.is_over

    def _tell(self, what: Any, answer: Future[Answer] | None = None) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # the loop has ended, and with it the channel
            if answer is not None:
                answer.set_exception(ServiceUnavailable(f"the channel to {self._called} has ended"))

    def _begin(self, question: Question, answer: Future[Answer]) -> None:
        self.give_up("another question has taken the place of this one")
        self._answer = answer
        if self._ended:
            self.give_up(self._ended)
            return
        self._node.question = question
        self._send(self._node.ask(self.channel.peer, question, time.monotonic()))

    def _press(self) -> None:
        question = self._node.question
        if question is None or isinstance(question, PassedChanges) or not question.wait:
            return
        self._node.question = replace(question, wait=0.0)
        self._send(self._node.ask(self.channel.peer, self._node.question, time.monotonic()))

    def give_up(self, reason: str) -> None:
        """End the question that is under way, if there is one; in the loop of this end."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ServiceUnavailable(reason))
        self._answer = self._node.question = None

    def _take(self, told: Answer | Declined | None) -> None:
        """Hand an answer to the one that waits for it."""
        self._node.told = None
        if told is None or self._answer is None:
            return
        answer, self._answer, self._node.question = self._answer, None, None
        if answer.done():
            return
        if isinstance(told, Declined):
            answer.set_exception(error_of(told.problem))
        else:
            answer.set_result(told)

    # -- answering

    async def _reply(self, desk: Desk) -> None:
        """Answer the question that waits, whenever something may have changed."""
        peer = self.channel.peer
        while True:
            await self._rung.wait()
            self._rung.clear()
            asked = self._node.state.asked.get(peer)
            if asked is not None:
                answer = await self._found(desk, asked)
                late = self._is_late(desk, asked)
                self._send(self._node.answer(peer, asked, answer, time.monotonic(), late=late))

    def _is_late(self, desk: Desk, asked: Asked) -> bool:
        return self._node.since + min(asked.question.wait, desk.longest_wait) <= time.monotonic()

    async def _found(self, desk: Desk, asked: Asked) -> Answer | Declined:
        try:
            return await desk.answers.answer(asked.question)
        except TriplewireError as error:
            if isinstance(error, NotAuthenticated):
                self.channel.close(str(error))
            return Declined(asked.number, problem_of(error))
        except Exception as error:  # a hub goes on, whatever it is asked
            log.exception("a question of %s could not be answered: %s", self.channel.peer, error)
            self.channel.close("a question could not be answered; the log of the hub says why")
            return Declined(asked.number, {"detail": "the hub could not answer; its log says why"})

    async def _attend(self, desk: Desk) -> None:
        self._tell_newest(desk)
        asked = self._node.state.asked.get(self.channel.peer)
        if asked and self._is_late(desk, asked):
            self._rung.set()
        try:
            await desk.answers.require_known()
        except TriplewireError as error:
            log.warning("the channel to %s is closed: %s", self.channel.peer, error)
            self.channel.close(str(error))

    def _tell_newest(self, desk: Desk) -> None:
        now, newest, looks = time.monotonic(), desk.watch.newest, desk.watch.looks
        if looks != self._looks and (newest != self._said or now >= self._beaten + HEARTBEAT):
            self._looks, self._said, self._beaten = looks, newest, now
            self.channel.send({"about": "newest", "number": newest})

    # -- what it says of itself

    def status(self, number: int) -> UplinkStatus:
        """What the channel does, for a hub or an edge that has a batch of the other end; from any thread."""
        now, newest = time.monotonic(), self._newest
        heard = datetime.now(UTC) - timedelta(seconds=now - self.channel.heard)
        is_known = newest >= 0 and now - self._confirmed <= 3 * HEARTBEAT
        lag = max(0, newest - number) if is_known else None
        confirmed = datetime.now(UTC) - timedelta(seconds=now - self._confirmed) if newest == number else None
        return UplinkStatus("connected", self._since, self.channel.peer, heard, lag, confirmed)


class _EndNode(ExchangeNode):
    """The node of one end: its own question, and that of the other."""

    def __init__(self, state: ExchangeState, rung: asyncio.Event) -> None:
        super().__init__(state, timing=Timing(retry=NEVER, longest_retry=NEVER, heartbeat=HEARTBEAT))
        self._rung = rung
        self.since = 0.0
        """When the question of the other end came."""
        self.question: Question | None = None
        """What is asked, until it is answered."""
        self.told: Answer | Declined | None = None

    @property
    def unheard(self) -> int:
        """How much the other side has not acknowledged."""
        return sum(len(link.waiting) for link in self.state.links.values())

    def questioned(self, peer: str, now: float) -> None:
        self.since = now
        self._rung.set()

    def answered(self, peer: str, answer: Answer, now: float) -> None:
        self.told = answer

    def declined(self, peer: str, refusal: Declined, now: float) -> None:
        self.told = refusal

    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """The other end has forgotten what it was asked: it is asked again."""
        if body is None:
            self.state.asked.pop(peer, None)
        else:
            self.hear(peer, body, now)
        if self.question is not None:
            self.tell(peer, self._asked(peer, self.question), now)

    def all_for(self, peer: str) -> Asked | None:
        return None if self.question is None else self._asked(peer, self.question)
