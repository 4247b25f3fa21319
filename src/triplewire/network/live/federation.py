"""The federation, as one hub sees it: its node, the channels to other hubs, and dialling them.

Of two members the one whose name comes first dials; if it does not, the other one does after a while. What fails is
tried again, later each time, and not by all at the same moment.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from triplewire.algebra.pattern import Pattern
from triplewire.errors import BadRequest, ChannelRefused, NetworkError
from triplewire.network.channels.channels import HubChannel, Wire, answer, dial
from triplewire.network.channels.dialling import LINK, UNREACHED, brief, dialled
from triplewire.network.channels.handshake import ChannelGuest
from triplewire.network.hierarchy import AnswerCount
from triplewire.network.live.council import Message
from triplewire.network.live.departures import OldHub, Owners
from triplewire.network.live.hub import NetworkHub
from triplewire.network.live.moves import Proof
from triplewire.network.live.node import LiveNode
from triplewire.network.live.questions import Questions
from triplewire.network.live.searches import FoundElsewhere, search
from triplewire.network.live.settlements import Newcomer, NewHub, absent
from triplewire.wire.backoff import BackOff

log = logging.getLogger("triplewire.network")

_BACK_OFF = 0.2, 10.0
_OTHER_DIALS = 2.0
"""Seconds that the one whose name comes later waits to be dialled."""
_VISIT = 8.0
"""Seconds until a member that there is no channel to must be there."""
_BUSY = 5_000
"""While so many messages wait for the node, no more are read."""


class Federation:
    """A hub among others. `url` is where they find it, `join` one of them; without, and new, it is the first.

    In a hierarchy `cluster` names the units around it.
    """

    def __init__(
        self,
        hub: NetworkHub,
        url: str,
        *,
        join: str | None,
        patience: float,
        network: str = "hypercube",
        cluster: str = "",
        certificate: str = "",
        owners: Owners = lambda key: None,
    ) -> None:
        self._hub, self._join, self._certificate = hub, join, certificate
        about = {"network": network, "cluster": cluster}
        self.node = LiveNode(hub, url, self, patience=patience, founds=join is None, **about)
        self._patience = patience
        self._channels: dict[str, HubChannel] = {}
        self._dialling: dict[str, asyncio.Task[None]] = {}
        self._needed: dict[str, str] = {}
        self._wanted: dict[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refused: dict[str, str] = {}
        self._is_stopping = False
        self._visits = Counter[str]()
        self._old = OldHub(self.node, hub, owners)
        self._questions = Questions(self.node, self._send, self._old)
        self._new = NewHub(self.node, hub, self.ask)

    async def ask(self, member: str, question: Message) -> Message:
        """What a member answers; NetworkError if it does not."""
        return await self._questions.ask(member, question)

    async def find(self, pattern: Pattern, reach: int, limit: int, seconds: float) -> FoundElsewhere:
        """See `search`."""
        return await search(self.node, pattern, reach, limit, seconds)

    @property
    def answers(self) -> AnswerCount:
        """How often queries were answered with what was kept here; of about now, from any thread."""
        return AnswerCount.of(place.book.cache for place in [*self.node.places.values()])

    # -- subscribers that move

    async def challenge(self, old: str, key: str) -> Message:
        """See `NewHub.challenge`."""
        async with self._visit(old):
            return await self._new.challenge(old, key)

    async def move(self, old: str, proof: Proof, newcomer: Newcomer) -> list[tuple[str, int]]:
        """See `NewHub.move`."""
        async with self._visit(old):
            return await self._new.move(old, proof, newcomer)

    async def leave(self, *, anyway: bool = False) -> None:
        """Leave the network; unless it is to be done anyway, not while something of a subscriber who moved is here."""
        if not anyway:
            await self._old.refuse_to_strand(self._asked)
        await asyncio.to_thread(self.node.leave)

    async def ask_directly(self, member: str, question: Message) -> Message:
        """The same over a channel between the two, which is made if there is none."""
        return await (self.ask if member == self.identity_name else self._asked)(member, question)

    async def _asked(self, member: str, question: Message) -> Message:
        async with self._visit(member):
            return await self.ask(member, question)

    @asynccontextmanager
    async def _visit(self, old: str) -> AsyncIterator[None]:
        """Have a channel to a member, if there is none: what it hands over goes by nobody else."""
        table = self.node.council.table
        member = None if table is None else table.member(old)
        if member is None:
            raise BadRequest(f"{old!r} is no hub of this network; `triplewire network status` tells their names")
        self._visits[old] += 1
        self._want(self._needed)
        try:
            until = asyncio.get_running_loop().time() + _VISIT
            while not self._is_reached(old):
                if asyncio.get_running_loop().time() > until:
                    raise absent(old)
                await asyncio.sleep(0.05)
            yield
        finally:
            self._visits[old] -= 1
            self._want(self._needed)

    def _is_reached(self, member: str) -> bool:
        return member == self.identity_name or (member in self._channels and member in self.node.channels)

    @property
    def identity_name(self) -> str:
        """What other hubs call this one."""
        return self._hub.identity.name

    # -- beginning and end

    async def start(self) -> None:
        """Let the node run, and dial those that it needs."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self.node.start)
        if self._join is not None:
            self._keep(asyncio.create_task(self._dial_first(self._join)))

    async def stop(self) -> None:
        """End the channels, then the node."""
        self._is_stopping = True
        for channel in [*self._channels.values()]:
            channel.close("this hub stops")
        tasks = [*self._tasks, *self._dialling.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self.node.stop)

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- for the node, from its thread

    def send(self, member: str, message: Message) -> None:
        """See `MemberPost.send`."""
        self._in_loop(self._send, member, message)

    def want(self, members: dict[str, str]) -> None:
        """See `MemberPost.want`."""
        self._in_loop(self._want, members)

    def close(self, member: str, reason: str) -> None:
        """See `MemberPost.close`."""
        self._in_loop(self._close, member, reason)

    def _in_loop(self, do: Callable[..., None], *about: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed meanwhile
                self._loop.call_soon_threadsafe(do, *about)

    def _send(self, member: str, message: Message) -> None:
        if member in self._channels:
            self._channels[member].send(message)

    def _close(self, member: str, reason: str) -> None:
        if member in self._channels:
            self._channels[member].close(reason)

    def _want(self, needed: dict[str, str]) -> None:
        table = self.node.council.table
        self._needed, self._visits = needed, +self._visits
        visited = {each.name: each.url for each in (table.hubs if table else ()) if each.name in self._visits}
        self._wanted = members = needed | {name: url for name, url in visited.items() if name != self.identity_name}
        for member in [*self._dialling]:
            if member not in members:
                self._dialling.pop(member).cancel()
        for member in members:
            if member not in self._dialling and not self._is_stopping:
                self._dialling[member] = asyncio.create_task(self._keep_dialling(member))

    # -- channels

    async def serve(self, wire: Wire, admits: Callable[[ChannelGuest], None]) -> None:
        """Serve a hub that dials, until the channel ends."""

        def may(guest: ChannelGuest) -> None:
            if self.node.council.key_of(guest.name) is None:
                admits(guest)

        channel = await answer(wire, self._hub.identity, certificate=self._certificate, admits=may)
        if channel is not None:
            await self._run(channel)

    async def _run(self, channel: HubChannel) -> None:
        peer = channel.peer
        before = self._channels.get(peer)
        if before is not None and not before.is_over:
            first = min(peer, self.identity_name)
            if before.dialled_by == first != channel.dialled_by:
                channel.close("there is a channel between these hubs already")
                await channel.run(lambda message: None, lambda: False)
                return
            before.close("there is a newer channel between these hubs")
        self._channels[peer] = channel
        self.node.opened(peer, channel.key)
        try:
            reason = await channel.run(lambda message: self._received(peer, message), lambda: self.node.waiting > _BUSY)
            log.info("the channel to %s has ended: %s", peer, reason)
        finally:
            if self._channels.get(peer) is channel:
                del self._channels[peer]
                self.node.closed(peer)

    def _received(self, peer: str, message: Message) -> None:
        if message.get("about") in ("question", "answer"):
            self._questions.hear(peer, message)
        else:
            self.node.received(peer, message)

    async def _keep_dialling(self, member: str) -> None:
        pause = BackOff(*_BACK_OFF)
        if self.identity_name > member:
            await asyncio.sleep(_OTHER_DIALS)
        while True:
            channel = self._channels.get(member)
            if channel is None or channel.is_over:
                began = asyncio.get_running_loop().time()
                await self._dial(self._wanted[member], member)
                lasted = asyncio.get_running_loop().time() - began
                pause = pause.succeeded() if lasted > _OTHER_DIALS else pause.failed()
            wait = pause.pause(random.random())
            await asyncio.sleep(wait + (_OTHER_DIALS if self.identity_name > member else 0.0))

    async def _dial_first(self, url: str) -> None:
        """Ask the hub at an address to take this one in, until it is a member; not again when it has left."""
        pause = BackOff(_BACK_OFF[0], _OTHER_DIALS)
        while not self.node.has_left:
            if not self.node.council.is_member or self._is_alone:
                await self._dial(url, None)
            pause = pause.failed()
            await asyncio.sleep(pause.pause(random.random()))

    @property
    def _is_alone(self) -> bool:
        return not self._channels

    async def _dial(self, url: str, member: str | None) -> None:
        """Dial a hub, and serve the channel until it ends."""
        try:
            beat = min(20.0, max(1.0, self._patience / 3))
            async with dialled(url, LINK, beat) as (wire, seen):
                channel = await dial(wire, self._hub.identity, expected=member, certificate=seen)
                if member is None:
                    self.node.council.joins_by = channel.peer
                self._refused.pop(url, None)
                await self._run(channel)
        except ChannelRefused as error:
            self._tell_once(url, f"{member or 'the hub'} at {url} is not taken for one of the network: {error}")
        except UNREACHED as error:
            reason = f"{member or 'the hub'} at {url} cannot be reached: {brief(error)}"
            self._tell_once(url, reason) if member is None else log.info("%s", reason)
        except NetworkError as error:
            self._tell_once(url, str(error))
        except Exception:  # to dial is tried again, whatever went wrong
            log.exception("%s at %s could not be dialled", member or "the hub", url)

    def _tell_once(self, url: str, reason: str) -> None:
        """A reason that stays the same is told once."""
        if self._refused.get(url) != reason:
            self._refused[url] = reason
            log.warning("%s", reason)
