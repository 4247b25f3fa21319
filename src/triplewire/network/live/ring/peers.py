"""A live peer: a `RingPeer` with channels to others and the time of day, in one event loop.

    a channel opens     both say by which settings their ring works, and which addresses they know
    a frame comes       one step of the peer; what it leads to goes out
    a frame goes        over the channel, or it waits while the peer is dialled; what is lost the post sends again
    time passes         what is due is done, the successor is asked for news, and a peer that the ring needs and that
                        cannot be reached for `patience` is lost to it; when it can be again, both find their places

A peer makes its own key when it begins, and keeps nothing: numbers of parcels count from 1 in each peer, so one that
came back under its old name without what it knew would be taken for one that repeats itself.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.model import Document, Event
from triplewire.network.channels.channels import HubChannel, Wire, answer, dial
from triplewire.network.channels.dialling import UNREACHED, brief, dialled
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.live.ring.addresses import AddressBook, PeerAddress
from triplewire.network.ring import HomeState, PeerState, RingPeer, RingSettings, RingView
from triplewire.network.ring.post import RingFrame
from triplewire.network.ring.spelling import read_ring_frame, spelled_ring_frame
from triplewire.wire.backoff import BackOff

log = logging.getLogger("triplewire.network")

RING_LINK = "/v1/ring/link"
"""Where peers of a ring are dialled."""
RING_CHANNEL = "triplewire ring channel"
_BACK_OFF = 0.1, 2.0
_LOOK = 0.05
_STABILISE = 1.0
"""Seconds between two questions to the successor."""
_MEET = 5
"""After so many of them, a peer looks for its place from another one, and dials those that it has lost."""
_HELD = 1_000
"""So many messages wait for a peer that is dialled; the post sends again what falls off."""

Message = dict[str, Any]


class LivePeer:
    """One peer of a ring, found at `url`; `start` lets it run, in the running loop, until `stop`."""

    def __init__(
        self, url: str, settings: RingSettings | None = None, *, label: str = "peer", patience: float = 10.0
    ) -> None:
        self._identity, self._patience = HubIdentity.new(label), patience
        self.settings = settings or RingSettings()
        name = self._identity.name
        state = PeerState(name, f"{name}-1", view=RingView(name), homes={name: HomeState(name)})
        self.peer = RingPeer(state, self.settings, lambda amount: None)
        self.addresses = AddressBook(PeerAddress.own(self._identity, url))
        self._channels: dict[str, HubChannel] = {}
        self._met: set[HubChannel] = set()
        self._dialling: dict[str, asyncio.Task[None]] = {}
        self._held: dict[str, deque[Message]] = {}
        self._missing: dict[str, float] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_stopping = False

    @property
    def name(self) -> str:
        """What other peers call it."""
        return self._identity.name

    @property
    def reached(self) -> Iterable[str]:
        """The peers that there are channels to."""
        return sorted(self._channels)

    # -- beginning and end

    def start(self, join: str | None = None) -> None:
        """Begin a ring, or come to that of the peer at an address."""
        if join is None:
            self._carry(self.peer.join(None, time.time()))
        else:
            self._keep(self._come_to(join))
        self._keep(self._watch_time())

    async def stop(self) -> None:
        """End; others notice."""
        self._is_stopping = True
        for channel in self._channels.values():
            channel.close("this peer stops")
        tasks = [*self._tasks, *self._dialling.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- clients

    def subscribe(self, id: str, text: str, *, language: str = "sparql") -> None:
        """A client of this peer registers a query; it counts what is published from now on."""
        self._carry(self.peer.subscribe(self.name, id, "", text, language, time.time()))

    def unsubscribe(self, id: str) -> None:
        """A query ends; with it, its log."""
        self._carry(self.peer.unsubscribe(self.name, id, time.time()))

    def publish(self, document: Document) -> None:
        """A client of this peer registers a document, or a new version of it."""
        self._carry(self.peer.publish(self.name, document, time.time()))

    def retract(self, uri: str) -> None:
        """A client of this peer takes a document back."""
        self._carry(self.peer.retract(self.name, uri, time.time()))

    def events(self, id: str) -> Sequence[Event]:
        """What a subscription was told so far."""
        return self.peer.subscription(self.name, id).log

    # -- frames

    def _carry(self, frames: Sequence[tuple[str, RingFrame]]) -> None:
        for to, frame in frames:
            self._send(to, {"about": "frame", "frame": spelled_ring_frame(frame)})

    def _send(self, to: str, message: Message) -> None:
        channel = self._channels.get(to)
        if channel is not None:
            channel.send(message)
        elif to:
            self._held.setdefault(to, deque(maxlen=_HELD)).append(message)
            self._want(to)

    def _hear(self, channel: HubChannel, message: Message) -> None:
        """A message came; ChannelRefused, which ends the channel, if it is none of a peer of this ring."""
        match message.get("about"):
            case "hello":
                self._refuse_other_ring(message.get("settings"))
                self._met.add(channel)
                self._learn(channel, message.get("addresses"))
            case "addresses":
                self._learn(channel, message.get("addresses"))
            case "frame" if channel in self._met:
                frame = read_ring_frame(message.get("frame"))
                self._carry(self.peer.receive(channel.peer, frame, time.time()))
            case _:
                raise ChannelRefused("it sent what is no message of a peer")

    def _refuse_other_ring(self, told: Any) -> None:
        if told != self._agreed():
            raise ChannelRefused(f"its ring works by {str(told)[:100]}, and this one by {self._agreed()}")

    def _agreed(self) -> list[Any]:
        """What all peers of a ring must have in common."""
        found = self.settings
        return [found.algorithm, found.scope, found.replicas, found.is_wide]

    def _learn(self, channel: HubChannel, told: Any) -> None:
        news = self.addresses.learn(told)
        for other in self._channels.values():
            if news and other is not channel:
                other.send({"about": "addresses", "addresses": [each.plain() for each in news]})

    # -- channels

    async def serve(self, wire: Wire) -> None:
        """Serve a peer that dials, until the channel ends."""
        channel = await answer(wire, self._identity, certificate="", admits=lambda _: None, purpose=RING_CHANNEL)
        if channel is not None and not self._is_stopping:
            await self._run(channel)

    async def _run(self, channel: HubChannel) -> None:
        peer, before = channel.peer, self._channels.get(channel.peer)
        if before is not None and not before.is_over:
            if before.dialled_by == min(peer, self.name) != channel.dialled_by:
                channel.close("there is a channel between these peers already")
                await channel.run(lambda message: None, lambda: False)
                return
            before.close("there is a newer channel between these peers")
        self._channels[peer] = channel
        plain = [each.plain() for each in self.addresses.all()]
        channel.send({"about": "hello", "settings": self._agreed(), "addresses": plain})
        for message in self._held.pop(peer, ()):
            channel.send(message)
        if peer in self.peer.view.lost:
            self._carry(self.peer.resume([peer], time.time()))
        try:
            reason = await channel.run(lambda message: self._hear(channel, message), lambda: False)
            log.info("the channel to %s has ended: %s", peer, reason)
        finally:
            self._met.discard(channel)
            if self._channels.get(peer) is channel:
                del self._channels[peer]

    def _want(self, peer: str) -> None:
        is_known = self.addresses.url_of(peer) is not None
        if is_known and peer not in self._dialling and peer not in self._channels and not self._is_stopping:
            task = self._dialling[peer] = asyncio.create_task(self._keep_dialling(peer))
            task.add_done_callback(lambda _: self._dialling.pop(peer, None))

    async def _keep_dialling(self, peer: str) -> None:
        """Dial a peer until there is a channel, or nobody wants one any more."""
        pause = BackOff(*_BACK_OFF)
        while peer not in self._channels:
            url = self.addresses.url_of(peer)
            assert url is not None, "it is known when it is wanted"
            await self._dial(url, peer)
            pause = pause.failed()
            await asyncio.sleep(pause.pause(random.random()))
            if peer not in self._held and peer not in self.peer.neighbours:
                return

    async def _come_to(self, url: str) -> None:
        """Dial the peer at an address until this one has found its place."""
        pause = BackOff(*_BACK_OFF)
        while not self.peer.view.successors:
            await self._dial(url, None)
            pause = pause.failed()
            await asyncio.sleep(pause.pause(random.random()))

    async def _dial(self, url: str, peer: str | None) -> None:
        """Dial a peer, and serve the channel until it ends; without a name, come to the ring that it is part of."""
        try:
            beat = min(20.0, max(1.0, self._patience / 3))
            async with dialled(url, RING_LINK, beat) as (wire, seen):
                channel = await dial(wire, self._identity, expected=peer, certificate=seen, purpose=RING_CHANNEL)
                if peer is None:
                    self._carry(self.peer.join(channel.peer, time.time()))
                await self._run(channel)
        except ChannelRefused as error:
            log.warning("%s at %s is not taken for one of the ring: %s", peer or "the peer", url, error)
        except (*UNREACHED, NetworkError) as error:
            log.info("%s at %s cannot be reached: %s", peer or "the peer", url, brief(error))

    # -- time

    async def _watch_time(self) -> None:
        asked = time.monotonic()
        for number in count():
            while time.monotonic() < asked + _STABILISE:
                self._do_what_is_due()
                self._look_around()
                await asyncio.sleep(_LOOK)
            asked = time.monotonic()
            is_meeting = number % _MEET == 0
            contact = random.choice([*self._channels]) if is_meeting and self._channels else None
            self._carry(self.peer.stabilise(time.time(), contact))
            for peer in self.peer.view.lost if is_meeting else ():
                self._want(peer)

    def _do_what_is_due(self) -> None:
        now = time.time()
        for name in (self.name, *self._channels):
            due = self.peer.due(name)
            if due is not None and due <= now:
                self._carry(self.peer.tick(name, now))

    def _look_around(self) -> None:
        """Dial the peers that the ring needs; those that are silent for too long are lost to it."""
        now = time.monotonic()
        needed = {name for name in self.peer.neighbours if name and name not in self._channels}
        self._missing = {name: self._missing.get(name, now) for name in needed}
        for name, since in self._missing.items():
            self._want(name)
            if now - since > self._patience:
                self._held.pop(name, None)
                self._carry(self.peer.lose(name, time.time()))
