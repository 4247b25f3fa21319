"""Lines: the channels of a peer to others, which it dials when there is something for them.

Any peer of a ring may have to speak to any other. A channel is there for both directions; where two peers dial each
other at once, the one that the peer with the smaller name dialled stays. What is sent while there is none waits, within
bounds, and what is lost the post sends again.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels.channels import HubChannel, Wire, answer, dial
from triplewire.network.channels.dialling import UNREACHED, brief, dialled
from triplewire.network.channels.handshake import ChannelGuest
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.live.ring.addresses import AddressBook
from triplewire.wire.backoff import BackOff

log = logging.getLogger("triplewire.network")

RING_LINK = "/v1/ring/link"
"""Where peers of a ring are dialled."""
RING_CHANNEL = "triplewire ring channel"
_BACK_OFF = 0.1, 2.0
_HELD = 1_000
"""So many messages wait for a peer that is dialled; the post sends again what falls off."""
_DRAINED = 2.0
"""Seconds that the last words to other peers may take."""

Message = dict[str, Any]


class LineUser(Protocol):
    """The peer whose channels these are."""

    @property
    def is_busy(self) -> bool:
        """Whether nothing more can be taken in for the moment."""

    def greet(self, peer: str) -> Message:
        """What is said first to a peer that there is a channel to now."""

    def hear(self, channel: HubChannel, message: Message) -> None:
        """A message came; ChannelRefused, which ends the channel, if it is none of a peer of this ring."""

    def needs(self, peer: str) -> bool:
        """Whether a peer is to be dialled again and again."""


class PeerLines:
    """The channels of one peer."""

    def __init__(
        self,
        identity: HubIdentity,
        addresses: AddressBook,
        user: LineUser,
        *,
        patience: float,
        certificate: str = "",
    ) -> None:
        self._identity, self._addresses, self._user = identity, addresses, user
        self._beat = min(20.0, max(1.0, patience / 3))
        self._certificate = certificate
        self._channels: dict[str, HubChannel] = {}
        self._dialling: dict[str, asyncio.Task[None]] = {}
        self._held: dict[str, deque[Message]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_stopping = False

    @property
    def open(self) -> list[str]:
        """The peers that there are channels to."""
        return sorted(self._channels)

    def silence(self, peer: str) -> float | None:
        """Seconds since anything was heard of a peer; None if there is no channel to it."""
        channel = self._channels.get(peer)
        return None if channel is None else time.monotonic() - channel.heard

    # -- messages

    def send(self, to: str, message: Message) -> None:
        """Let a message go, or wait until its peer is reached; after the last word, nothing is said."""
        channel = self._channels.get(to)
        if self._is_stopping:
            return
        if channel is not None:
            channel.send(message)
        elif to:
            self._held.setdefault(to, deque(maxlen=_HELD)).append(message)
            self.want(to)

    def tell_all(self, message: Message, *, but: HubChannel | None = None) -> None:
        """Let a message go to all that there are channels to, except one."""
        for channel in self._channels.values():
            if channel is not but:
                channel.send(message)

    def drop(self, peer: str) -> None:
        """What waits for a peer waits no more."""
        self._held.pop(peer, None)

    # -- beginning and end

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on until the end."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self, last_word: Message | None = None) -> None:
        """End all channels, with a last word to each."""
        self._is_stopping = True
        if last_word is not None:
            self.tell_all(last_word)
            await self._drained()
        for channel in self._channels.values():
            channel.close("this peer stops")
        tasks = [*self._tasks, *self._dialling.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drained(self) -> None:
        until = time.monotonic() + _DRAINED
        while time.monotonic() < until and not all(each.is_idle for each in self._channels.values()):
            await asyncio.sleep(0.01)

    # -- channels

    async def serve(self, wire: Wire, admits: Callable[[ChannelGuest], None]) -> None:
        """Serve a peer that dials, if it is admitted, until the channel ends."""
        channel = await answer(wire, self._identity, certificate=self._certificate, admits=admits, purpose=RING_CHANNEL)
        if channel is not None and not self._is_stopping:
            await self._run(channel)

    async def _run(self, channel: HubChannel) -> None:
        peer, before = channel.peer, self._channels.get(channel.peer)
        if before is not None and not before.is_over:
            if before.dialled_by == min(peer, self._identity.name) != channel.dialled_by:
                channel.close("there is a channel between these peers already")
                await channel.run(lambda message: None, lambda: False)
                return
            before.close("there is a newer channel between these peers")
        self._channels[peer] = channel
        channel.send(self._user.greet(peer))
        for message in self._held.pop(peer, ()):
            channel.send(message)
        try:
            reason = await channel.run(lambda message: self._user.hear(channel, message), lambda: self._user.is_busy)
            log.info("the channel to %s has ended: %s", peer, reason)
        finally:
            if self._channels.get(peer) is channel:
                del self._channels[peer]

    def is_current(self, channel: HubChannel) -> bool:
        """Whether a channel is the one to its peer."""
        return self._channels.get(channel.peer) is channel

    def want(self, peer: str) -> None:
        """Dial a peer, if it is not dialled already."""
        is_known = self._addresses.url_of(peer) is not None and peer != self._identity.name
        if is_known and peer not in self._dialling and peer not in self._channels and not self._is_stopping:
            task = self._dialling[peer] = asyncio.create_task(self._keep_dialling(peer))
            task.add_done_callback(lambda _: self._dialling.pop(peer, None))

    async def _keep_dialling(self, peer: str) -> None:
        """Dial a peer until there is a channel, or nobody wants one any more."""
        pause = BackOff(*_BACK_OFF)
        while peer not in self._channels:
            url = self._addresses.url_of(peer)
            if url is None:
                return
            await self.dial(url, peer)
            pause = pause.failed()
            await asyncio.sleep(pause.pause(random.random()))
            if peer not in self._held and not self._user.needs(peer):
                return

    async def come_to(self, url: str, is_there: Callable[[], bool], met: Callable[[str], None]) -> None:
        """Dial the peer at an address until this one has found its place; `met` hears who it is."""
        pause = BackOff(*_BACK_OFF)
        while not is_there():
            await self.dial(url, None, met)
            pause = pause.failed()
            await asyncio.sleep(pause.pause(random.random()))

    async def dial(self, url: str, peer: str | None, met: Callable[[str], None] = lambda peer: None) -> None:
        """Dial a peer, and serve the channel until it ends; without a name, whichever peer is there."""
        try:
            async with dialled(url, RING_LINK, self._beat) as (wire, seen):
                channel = await dial(wire, self._identity, expected=peer, certificate=seen, purpose=RING_CHANNEL)
                met(channel.peer)
                await self._run(channel)
        except ChannelRefused as error:
            log.warning("%s at %s is not taken for one of the ring: %s", peer or "the peer", url, error)
        except (*UNREACHED, NetworkError) as error:
            log.info("%s at %s cannot be reached: %s", peer or "the peer", url, brief(error))

    def need(self, peers: Iterable[str]) -> list[str]:
        """Dial peers that there is no channel to; gives them."""
        missing = [peer for peer in peers if peer and peer not in self._channels]
        for peer in missing:
            self.want(peer)
        return missing
