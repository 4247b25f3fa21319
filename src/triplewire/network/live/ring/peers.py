"""A live peer: a `RingPeer` with a store, channels to others and the time of day, in one event loop.

    a channel opens     both say by which settings their ring works, and which addresses they know
    a frame comes       one step of the peer
    a client asks       one step of the peer, and an answer when that is durable
    steps were taken    what they changed is written; then what they lead to goes out. What happens meanwhile is
                        written next, all at once
    time passes         what is due is done, the successor is asked for news, and a peer that the ring needs and that
                        cannot be reached for `patience` is lost to it; when it can be again, both find their places
    it is stopped       it says goodbye, and others stand in for it at once; its clients wait for it
    it leaves           what its clients asked and published is taken back first, and it forgets the ring

Invariant: what a peer has sent or acknowledged, it knows after a crash.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from triplewire.errors import (
    BadRequest,
    ChannelRefused,
    NetworkError,
    ServiceUnavailable,
    StoreError,
    TriplewireError,
)
from triplewire.model import Document, Event
from triplewire.network.channels.channels import HubChannel, Wire
from triplewire.network.channels.handshake import ChannelGuest
from triplewire.network.live.ring.addresses import AddressBook, PeerAddress
from triplewire.network.live.ring.lines import Message, PeerLines
from triplewire.network.live.ring.memory import (
    PeerMemory,
    PeerSubscription,
    agreed,
    put_addresses,
    put_registration,
)
from triplewire.network.live.ring.seals import Sealer, read_sealed
from triplewire.network.live.ring.states import PeerChanges
from triplewire.network.live.ring.status import status_of
from triplewire.network.ring.post import RingFrame
from triplewire.wire.events import EventTold
from triplewire.wire.messages import read

log = logging.getLogger("triplewire.network")

_LOOK = 0.05
_STABILISE = 1.0
"""Seconds between two questions to the successor."""
_MEET = 5
"""After so many of them, a peer looks for its place from another one, and dials those that it has lost."""
_MOST_STEPS = 256
"""So many steps are taken at most before they are written: who sends more has to wait."""
_HAND_OVER = 10.0
"""Seconds that a peer which stops waits until others have what it hands over."""
_ASKED = 5.0
"""Seconds that another peer has to say how it is."""
_TRY_AGAIN = 1.0


class LivePeer:
    """The peer of a store, found at `url`; `start` lets it run, in the running loop, until `stop` or `leave`."""

    def __init__(
        self,
        url: str,
        memory: PeerMemory,
        *,
        patience: float = 10.0,
        certificate: str = "",
    ) -> None:
        self.memory, self.settings, self._patience = memory, memory.settings, patience
        self.peer, self._book = memory.peer()
        self.registrations = memory.registrations()
        own = PeerAddress.own(memory.identity, url, int(time.time() * 1000))
        self.addresses = AddressBook(own, memory.addresses())
        self.lines = PeerLines(memory.identity, self.addresses, self, patience=patience, certificate=certificate)
        self.problem = ""
        """Why nothing can be written; empty if all is well."""
        self._sealer = Sealer(memory.identity)
        self._met: set[HubChannel] = set()
        self._missing: dict[str, float] = {}
        self._outbox: list[tuple[str, RingFrame]] = []
        self._extra = PeerChanges()
        self._steps = 0
        self._written: list[asyncio.Future[None]] = []
        self._wake, self.news = asyncio.Event(), asyncio.Event()
        self._asked: dict[tuple[str, int], asyncio.Future[Message]] = {}
        self._numbers = count(1)
        self._is_leaving = self._is_over = self._has_joined = self._is_broken = False
        self._writer: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """What other peers call it."""
        return self.memory.identity.name

    @property
    def is_busy(self) -> bool:
        """Whether what was done must be written before more is taken in."""
        return self._steps >= _MOST_STEPS

    # -- beginning and end

    def start(self, join: str | None = None) -> None:
        """Begin a ring, come to that of the peer at an address, or come back to the one that it was of."""
        view = self.peer.view
        if view.successors or (view.start is not None and join is None):
            self._step(lambda now: self.peer.resume([self.name], now))
        elif join is None:
            self._step(lambda now: self.peer.join(view.contact, now))
        if join is not None:
            self.lines.keep(self.lines.come_to(join, self._has_come, self._join))
        self.lines.keep(self._watch_time())
        self._writer = asyncio.create_task(self._keep_writing())

    def _has_come(self) -> bool:
        return self._has_joined and bool(self.peer.view.successors)

    def _join(self, contact: str) -> None:
        self._has_joined = True
        if not self.peer.view.successors:
            self._step(lambda now: self.peer.join(contact, now))

    async def stop(self) -> None:
        """End in order: others have what is kept here, and stand in for this peer until it is back."""
        if self.settings.replicas == 1 and self.lines.open:
            self._step(self.peer.hand_over)
            await self._within(_HAND_OVER, lambda: not self.peer.is_handing_over)
        await self._end()

    async def _end(self) -> None:
        await self.lines.stop({"about": "goodbye"})
        self._is_over = True
        self._wake.set()
        if self._writer is not None:
            await self._writer
        self.memory.close()

    async def cut(self) -> None:
        """End as a process that is killed does: without a word, and what is not written is lost."""
        await self.lines.stop()
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        self.memory.close()

    async def leave(self, seconds: float = 60.0) -> None:
        """Take back what clients of this peer asked and published, hand over what it keeps, and be of the ring no more.

        NetworkError if others do not answer in time: then it stays.
        """
        home = self.peer.state.homes[self.name]
        self._is_leaving = True
        for id in [*home.subscriptions]:
            await self.unsubscribe(id)
        for uri in [uri for uri, known in home.documents.items() if known.document is not None]:
            await self.retract(uri)
        self._step(self.peer.hand_over)
        if not await self._within(seconds, lambda: not self.peer.state.post.kept and not self.peer.state.post.causes):
            self._is_leaving = False
            waiting = len(self.peer.state.post.kept)
            raise NetworkError(f"{waiting} messages are not answered by other peers; ask again when they are back")
        await self._end()
        await asyncio.to_thread(self.memory.forget_ring)

    async def _within(self, seconds: float, is_done: Callable[[], bool]) -> bool:
        until = time.monotonic() + seconds
        while not is_done() and time.monotonic() < until:
            await asyncio.sleep(0.02)
        return is_done()

    # -- clients

    async def subscribe(
        self,
        id: str,
        text: str,
        *,
        language: str = "sparql",
        prefixes: Mapping[str, str] | None = None,
        owner: str | None = None,
        title: str | None = None,
        description: str | None = None,
    ) -> PeerSubscription:
        """A client of this peer registers a query; it counts what is published from now on."""
        now = time.time()
        self._refuse_leaving()
        self._step(lambda _: self.peer.subscribe(self.name, id, "", text, language, now, prefixes), is_asked=True)
        made = self.registrations[id] = PeerSubscription(id, text, language, owner, title, description, now)
        put_registration(self._extra, id, made)
        await self.durable()
        return made

    async def unsubscribe(self, id: str) -> None:
        """A query ends; with it, its log."""
        self._step(lambda now: self.peer.unsubscribe(self.name, id, now), is_asked=True)
        self.registrations.pop(id, None)
        put_registration(self._extra, id, None)
        await self.durable()

    async def publish(self, document: Document) -> int:
        """A client of this peer registers a document, or a new version of it; gives the version."""
        self._refuse_leaving()
        if document.xml and not document.ntriples:
            raise BadRequest("a ring keeps triples, and there are none in this XML: publish it at a hub")
        known = Document(document.uri, document.ntriples)
        self._step(lambda now: self.peer.publish(self.name, known, now), is_asked=True)
        await self.durable()
        return self.peer.state.homes[self.name].documents[document.uri].version

    async def retract(self, uri: str) -> None:
        """A client of this peer takes a document back."""
        self._step(lambda now: self.peer.retract(self.name, uri, now), is_asked=True)
        await self.durable()

    def _refuse_leaving(self) -> None:
        if self._is_leaving:
            raise NetworkError("this peer leaves its ring; ask another one")

    def told(self, id: str, after: int = 0, limit: int = 1_000) -> list[dict[str, Any]]:
        """What a subscription was told after a cursor, ready for JSON; as it is written."""
        self.peer.subscription(self.name, id)
        return self.memory.events(id, after, limit)

    def events(self, id: str) -> Sequence[Event]:
        """What a subscription was told so far."""
        told = [read(EventTold, each) for each in self.told(id, limit=1_000_000)]
        return [each.event(lambda each=each: each) for each in told]  # type: ignore[misc]  # mypy knows no such default

    # -- writing

    def _step(self, take: Callable[[float], Sequence[tuple[str, RingFrame]]], *, is_asked: bool = False) -> None:
        """Take a step: when it is written, its frames go out.

        What a client asked for may be refused. A step that fails otherwise has perhaps changed half of what it should:
        then the peer goes on from what is written, as after a crash; what was not answered, others will send again.
        """
        if self._is_broken or self._is_over:
            if is_asked:
                raise ServiceUnavailable("this peer stops, or recovers from a fault; try again later")
            return
        try:
            self._outbox.extend(take(time.time()))
            self._steps += 1
        except Exception as error:
            if is_asked and isinstance(error, TriplewireError):
                raise
            log.exception("a step of this peer failed, and it goes on from what is written")
            self._is_broken = True
        self._wake.set()

    async def _recover(self) -> None:
        """Be the peer that is written."""
        self._wake.clear()
        waiting, self._written = self._written, []
        self._outbox, self._extra, self._steps = [], PeerChanges(), 0
        self.peer, self._book = await asyncio.to_thread(self.memory.peer)
        self.registrations = await asyncio.to_thread(self.memory.registrations)
        for done in waiting:
            if not done.done():
                done.set_exception(ServiceUnavailable("this peer had a fault, and did not do this; try again"))
        self._is_broken = False
        self._step(lambda now: self.peer.resume([self.name], now))

    async def durable(self) -> None:
        """Wait until what was done so far is written."""
        done = asyncio.get_running_loop().create_future()
        self._written.append(done)
        self._wake.set()
        await done

    async def _keep_writing(self) -> None:
        while not self._is_over or self._wake.is_set():
            await self._wake.wait()
            await (self._recover() if self._is_broken else self._flush())

    async def _flush(self) -> None:
        self._wake.clear()
        outbox, self._outbox = self._outbox, []
        waiting, self._written = self._written, []
        self._steps = 0
        changes, beside = self._book.difference(), self._extra
        changes.values |= beside.values
        self._extra = PeerChanges()
        if changes:
            await self._write(changes)
        for to, frame in outbox:
            self.lines.send(to, {"about": "frame", "frame": self._sealer.spelled(frame)})
        for done in waiting:
            if not done.done():
                done.set_result(None)
        if any(part == "event" for part, _ in changes.values):
            self.news.set()
            self.news = asyncio.Event()

    async def _write(self, changes: PeerChanges) -> None:
        """Write, again and again until it is done: nothing goes out that this peer could forget."""
        while True:
            try:
                await asyncio.to_thread(self.memory.write, changes)
            except StoreError as error:
                if not self.problem:
                    log.error("what this peer did cannot be written, and nothing goes out until it is: %s", error)
                self.problem = "the store cannot be used; the log says why"
                await asyncio.sleep(_TRY_AGAIN)
            else:
                self.problem = ""
                return

    # -- other peers

    def greet(self, peer: str) -> Message:
        """See `LineUser`."""
        if peer in self.peer.view.lost:
            self._step(lambda now: self.peer.resume([peer], now))
        plain = [each.plain() for each in self.addresses.all()]
        return {"about": "hello", "settings": agreed(self.settings), "addresses": plain}

    def needs(self, peer: str) -> bool:
        """See `LineUser`."""
        return peer in self.peer.neighbours

    def hear(self, channel: HubChannel, message: Message) -> None:
        """See `LineUser`. What comes over a channel that another one has replaced is not heard: it is sent again."""
        if not self.lines.is_current(channel):
            return
        match message.get("about"):
            case "hello":
                self._refuse_other_ring(message.get("settings"))
                self._met = {each for each in self._met if self.lines.is_current(each)} | {channel}
                self._learn(channel, message.get("addresses"))
            case "addresses":
                self._learn(channel, message.get("addresses"))
            case "frame" if channel in self._met:
                frame = read_sealed(message.get("frame"), channel.peer, self.name, self.addresses.key_of)
                if frame is not None:
                    self._step(lambda now: self.peer.receive(channel.peer, frame, now))
            case "goodbye" if channel in self._met:
                log.info("%s says goodbye", channel.peer)
                self.lines.drop(channel.peer)
                channel.close("it has said goodbye")
                self._step(lambda now: self.peer.lose(channel.peer, now))
            case "how are you" if channel in self._met:
                channel.send({"about": "status", "number": message.get("number"), "status": self.status()})
            case "status":
                self._hear_status(channel.peer, message)
            case _:
                raise ChannelRefused("it sent what is no message of a peer")

    def _refuse_other_ring(self, told: Any) -> None:
        if told != agreed(self.settings):
            raise ChannelRefused(f"its ring works by {str(told)[:100]}, and this one by {agreed(self.settings)}")

    def _learn(self, channel: HubChannel, told: Any) -> None:
        news = self.addresses.learn(told)
        if news:
            put_addresses(self._extra, news)
            self._wake.set()
            self.lines.tell_all({"about": "addresses", "addresses": [each.plain() for each in news]}, but=channel)

    async def serve(self, wire: Wire, admits: Callable[[ChannelGuest], None] = lambda guest: None) -> None:
        """Serve a peer that dials, if it is admitted, until the channel ends."""
        await self.lines.serve(wire, admits)

    # -- how peers are

    def status(self) -> Message:
        """What this peer says of itself, of the ring, and of how far it is."""
        return status_of(self)

    async def ask_status(self, peer: str) -> Message:
        """What another peer says of itself; NetworkError if it does not."""
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._asked[peer, number] = answer
        self.lines.send(peer, {"about": "how are you", "number": number})
        try:
            async with asyncio.timeout(_ASKED):
                found: Message = await answer
                return found
        except TimeoutError:
            raise NetworkError("it did not answer") from None
        finally:
            del self._asked[peer, number]

    def _hear_status(self, peer: str, message: Message) -> None:
        number, status = message.get("number"), message.get("status")
        answer = self._asked.get((peer, number)) if isinstance(number, int) else None
        if answer is not None and isinstance(status, dict) and not answer.done():
            answer.set_result(status)

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
            contact = random.choice(self.lines.open) if is_meeting and self.lines.open else None
            self._step(partial(self.peer.stabilise, contact=contact))
            for peer in self.peer.view.lost if is_meeting else ():
                self.lines.want(peer)

    def _do_what_is_due(self) -> None:
        for name in (self.name, *self.lines.open):
            due = self.peer.due(name)
            if due is not None and due <= time.time():
                self._step(partial(self.peer.tick, name))

    def _look_around(self) -> None:
        """Dial the peers that the ring needs; those that are silent for too long are lost to it."""
        now = time.monotonic()
        needed = self.lines.need(self.peer.neighbours)
        self._missing = {name: self._missing.get(name, now) for name in needed}
        for name, since in self._missing.items():
            if now - since > self._patience:
                self.lines.drop(name)
                self._step(partial(self.peer.lose, name))
