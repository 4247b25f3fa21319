"""Channels: one WebSocket between two hubs that have proved who they are, for messages in JSON, both ways.

What is in a message is not a channel's business: `about` says what it is about, and the node does the rest. Messages
have a bounded length, and so have the queues on both sides: a hub that does not take what is sent is given up, and one
that sends faster than it is listened to has to wait. A long message goes in parts, so that short ones of the connection
itself (is the other side still there?) come between.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from triplewire.errors import ChannelRefused
from triplewire.network.channels.handshake import (
    DIALS,
    IS_DIALLED,
    NETWORK_CHANNEL,
    ChannelGuest,
    HandshakeEnd,
    welcomed,
)
from triplewire.network.channels.identities import HubIdentity

log = logging.getLogger("triplewire.network")

MOST_BYTES = 64 * 1024 * 1024
"""The length of a message between hubs."""
PART = 1024 * 1024
"""The length of what is sent in one go."""
_LEAST = 100
"""So long is the shortest part taken for: parts without anything in them are not free."""
_MOST_HELLO = 4_096
_MOST_QUEUED = 20_000
_GOODBYE = 2.0
_HANDSHAKE = 10.0
"""Seconds that a handshake may take."""


class WireClosed(Exception):
    """The connection is over."""


class Wire(Protocol):
    """A connection that carries texts."""

    async def send(self, text: str) -> None:
        """Send a text; WireClosed if that cannot be done."""

    async def receive(self) -> str:
        """The next text; WireClosed if there is none."""

    async def close(self, reason: str) -> None:
        """End it, with a word to the other side; if this is cancelled, without waiting for the other side."""


async def dial(
    wire: Wire,
    identity: HubIdentity,
    *,
    expected: str | None,
    certificate: str,
    purpose: str = NETWORK_CHANNEL,
    beside: Mapping[str, str] | None = None,
    meets: Callable[[str], None] = lambda key: None,
) -> HubChannel:
    """The channel to the hub that was dialled; ChannelRefused if that is not the one, or does not want this one.

    `meets` may refuse its key, once that is proved; then `beside` (an account, a token) is not told.
    """
    end = HandshakeEnd(identity, secrets.token_hex(32), DIALS, certificate=certificate, purpose=purpose)
    async with asyncio.timeout(_HANDSHAKE):
        await wire.send(json.dumps(end.hello))
        told = await _told(wire)
        if "refused" in told:
            welcomed(told)
        other = end.meet(told, expected=expected)
        end.check(told)
        meets(other.key)
        await wire.send(json.dumps({**(beside or {}), "proof": end.proof()}))
        welcomed(await _told(wire))
    return HubChannel(wire, other.name, other.key, dialled_by=identity.name)


async def answer(
    wire: Wire,
    identity: HubIdentity,
    *,
    certificate: str,
    admits: Callable[[ChannelGuest], None],
    purpose: str = NETWORK_CHANNEL,
) -> HubChannel | None:
    """The channel to a hub that dials; None, with a line in the log, if it is not let in. `admits` may refuse it."""
    end = HandshakeEnd(identity, secrets.token_hex(32), IS_DIALLED, certificate=certificate, purpose=purpose)
    try:
        async with asyncio.timeout(_HANDSHAKE):
            other = end.meet(await _told(wire))
            await wire.send(json.dumps(end.hello | {"proof": end.proof()}))
            proof = await _told(wire)
            end.check(proof)
            admits(ChannelGuest.of(other, proof))
            await wire.send(json.dumps({"welcome": True}))
    except ChannelRefused as error:
        log.warning("a hub that dialled is refused: %s", error)
        with suppress(WireClosed):
            await wire.send(json.dumps({"refused": str(error)}))
            await wire.close("refused")
        return None
    except TimeoutError:
        log.warning("a hub that dialled is refused: it did not finish its handshake in %s seconds", _HANDSHAKE)
        await wire.close("the handshake took too long")
        return None
    except WireClosed:
        return None
    return HubChannel(wire, other.name, other.key, dialled_by=other.name)


async def _told(wire: Wire) -> dict[str, Any]:
    text = await wire.receive()
    if len(text) > _MOST_HELLO:
        raise ChannelRefused("its handshake is too long")
    return _object(text)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ChannelRefused("it sent what is no message in JSON")
    return found


class HubChannel:
    """A channel to a hub that has proved its name; `run` carries messages until it ends.

    `most_sent` and `most_taken` are how long a message may be.
    """

    most_sent = most_taken = MOST_BYTES

    def __init__(self, wire: Wire, peer: str, key: str, *, dialled_by: str) -> None:
        self._wire, self.peer, self.key, self.dialled_by = wire, peer, key, dialled_by
        self._queue: asyncio.Queue[str] = asyncio.Queue(_MOST_QUEUED)
        self._reason = ""
        self._is_writing = False
        self._over = asyncio.Event()
        self.heard = time.monotonic()
        """When anything came."""

    def send(self, message: dict[str, Any]) -> None:
        """Let a message go; a hub that does not take what it is sent is given up."""
        text = json.dumps(message)
        if len(text) > self.most_sent:
            log.error(
                "a message for %s is longer than a channel carries (%s bytes), and is not sent", self.peer, len(text)
            )
            return
        try:
            for each in _parts(text):
                self._queue.put_nowait(each)
        except asyncio.QueueFull:
            if not self.is_over:
                log.warning(
                    "the channel to %s is closed: %s messages wait for it, and it takes none", self.peer, _MOST_QUEUED
                )
            self.close("too many messages wait")

    def close(self, reason: str) -> None:
        """Let it end."""
        self._reason = self._reason or reason
        self._over.set()

    async def run(
        self,
        received: Callable[[dict[str, Any]], None],
        is_busy: Callable[[], bool],
        ends: Callable[[str], None] = lambda reason: None,
    ) -> str:
        """Carry messages until one side ends it; gives the reason. While `is_busy`, nothing is read.

        `ends` hears the reason before this side says goodbye, which the other side may draw out.
        """
        tasks = [
            asyncio.create_task(self._write()),
            asyncio.create_task(self._read(received, is_busy)),
            asyncio.create_task(self._over.wait()),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.close("this side stops")
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._over.set()
            reason = self._reason or "the connection ended"
            ends(reason)
            with suppress(WireClosed, TimeoutError):  # a hub that is frozen would not say goodbye
                await asyncio.wait_for(self._wire.close(self._reason[:100]), _GOODBYE)
        return reason

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be sent."""
        return self._queue.empty() and not self._is_writing

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or is about to."""
        return self._over.is_set()

    async def _write(self) -> None:
        with suppress(WireClosed):
            while True:
                text = await self._queue.get()
                self._is_writing = True
                await self._wire.send(text)
                self._is_writing = False

    async def _whole(self) -> dict[str, Any]:
        """The next message; one that comes in parts, when all of them are there."""
        parts: list[str] = []
        length = 0
        while True:
            text = await self._wire.receive()
            self.heard, length = time.monotonic(), length + max(len(text), _LEAST)
            if length > self.most_taken:
                raise ChannelRefused(f"it sent a message of more than {self.most_taken:,} bytes")
            message = _object(text)
            if "part" not in message:
                return message
            part, left = message["part"], message.get("left")
            if not isinstance(part, str) or not isinstance(left, int):
                raise ChannelRefused("it sent a part of a message that is none")
            parts.append(part)
            if not left:
                return _object("".join(parts))

    async def _read(self, received: Callable[[dict[str, Any]], None], is_busy: Callable[[], bool]) -> None:
        has_told = False
        try:
            while True:
                message = await self._whole()
                while is_busy():
                    if not has_told:
                        log.warning("%s sends faster than this hub takes it in, and has to wait", self.peer)
                        has_told = True
                    await asyncio.sleep(0.02)
                received(message)
        except WireClosed:
            pass
        except ChannelRefused as error:
            log.warning("the channel to %s is closed: %s", self.peer, error)
            self.close(str(error))


def _parts(text: str) -> list[str]:
    """A text as it is sent: as it is, or in parts, each saying how many follow."""
    if len(text) <= PART:
        return [text]
    parts = [text[at : at + PART] for at in range(0, len(text), PART)]
    return [json.dumps({"part": part, "left": len(parts) - 1 - place}) for place, part in enumerate(parts)]
