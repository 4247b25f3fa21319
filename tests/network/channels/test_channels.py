"""Channels: bounded, and ended with a line in the log (X8)."""

from __future__ import annotations

import asyncio
import json

import pytest

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels import channels
from triplewire.network.channels.channels import HubChannel, WireClosed, answer, dial
from triplewire.network.channels.dialling import address_of
from triplewire.network.channels.identities import HubIdentity

HARBOUR, HILL = HubIdentity.new("harbour"), HubIdentity.new("hill")


class Pipe:
    """One end of a connection in memory."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[str | None] = asyncio.Queue()
        self.other: Pipe | None = None
        self.is_stuck = False

    async def send(self, text: str) -> None:
        while self.is_stuck:
            await asyncio.sleep(3600)
        self.other.inbox.put_nowait(text)

    async def receive(self) -> str:
        found = await self.inbox.get()
        if found is None:
            raise WireClosed
        return found

    async def close(self, reason: str) -> None:
        for end in (self, self.other):
            end.inbox.put_nowait(None)


def pipes() -> tuple[Pipe, Pipe]:
    one, other = Pipe(), Pipe()
    one.other, other.other = other, one
    return one, other


async def connected(one: Pipe, other: Pipe, admits=lambda guest: None) -> tuple[HubChannel, HubChannel | None]:
    dialling = asyncio.create_task(dial(one, HARBOUR, expected=HILL.name, certificate=""))
    answering = asyncio.create_task(answer(other, HILL, certificate="", admits=admits))
    return await dialling, await answering


def test_messages_go_both_ways_until_one_side_ends_it():
    async def run() -> tuple[list, list, str]:
        first, second = await connected(*pipes())
        heard: tuple[list, list] = ([], [])
        tasks = [
            asyncio.create_task(each.run(mine.append, lambda: False))
            for each, mine in zip((first, second), heard, strict=True)
        ]
        first.send({"about": "a"})
        second.send({"about": "b"})
        while not (heard[0] and heard[1]):
            await asyncio.sleep(0)
        first.close("it was enough")
        reasons = await asyncio.gather(*tasks)
        return *heard, reasons[0]

    assert asyncio.run(run()) == ([{"about": "b"}], [{"about": "a"}], "it was enough")


def test_hub_that_is_not_let_in_is_told_why(caplog):
    def nobody(guest) -> None:
        raise ChannelRefused("its key is that of no account here")

    with pytest.raises(ChannelRefused, match="it refuses this hub: its key is that of no account here"):
        asyncio.run(connected(*pipes(), admits=nobody))
    assert "a hub that dialled is refused: its key is that of no account here" in caplog.text


def test_hub_that_sends_faster_than_it_is_listened_to_has_to_wait(caplog):
    async def run() -> tuple[int, int]:
        one, other = pipes()
        first, second = await connected(one, other)
        heard: list = []
        is_busy = True
        task = asyncio.create_task(second.run(heard.append, lambda: is_busy))
        for _ in range(100):
            await one.send(json.dumps({"about": "flood"}))
        await asyncio.sleep(0.1)
        while_busy, is_busy = len(heard), False
        while len(heard) < 100:
            await asyncio.sleep(0.01)
        second.close("")
        await task
        assert first.peer == HILL.name
        return while_busy, len(heard)

    assert asyncio.run(run()) == (0, 100)
    assert f"{HARBOUR.name} sends faster than this hub takes it in, and has to wait" in caplog.text


def test_hub_that_takes_nothing_is_given_up(caplog, monkeypatch):
    monkeypatch.setattr(channels, "_MOST_QUEUED", 10)

    async def run() -> str:
        one, other = pipes()
        first, _ = await connected(one, other)
        one.is_stuck = True
        task = asyncio.create_task(first.run(lambda message: None, lambda: False))
        for _ in range(20):
            first.send({"about": "news"})
            await asyncio.sleep(0)
        return await task

    assert asyncio.run(run()) == "too many messages wait"
    assert f"the channel to {HILL.name} is closed: 10 messages wait for it" in caplog.text


@pytest.mark.parametrize("garbage", ["", "[]", "nonsense", "[" * 100_000])
def test_garbage_ends_a_channel_with_a_line_in_the_log(garbage, caplog):
    async def run() -> str:
        one, other = pipes()
        _, second = await connected(one, other)
        await one.send(garbage)
        return await second.run(lambda message: None, lambda: False)

    assert asyncio.run(run()) == "it sent what is no message in JSON"
    assert f"the channel to {HARBOUR.name} is closed: it sent what is no message in JSON" in caplog.text


def test_message_that_is_too_long_is_not_sent(caplog, monkeypatch):
    monkeypatch.setattr(HubChannel, "most_sent", 100)

    async def run() -> int:
        first, _ = await connected(*pipes())
        first.send({"about": "x" * 200})
        return first._queue.qsize()

    assert asyncio.run(run()) == 0
    assert "longer than a channel carries" in caplog.text


def test_address_of_a_hub_on_another_machine_is_encrypted():
    assert address_of("https://hub.example/sub/") == ("wss://hub.example/sub/v1/network/link", True)
    assert address_of("http://127.0.0.1:8080") == ("ws://127.0.0.1:8080/v1/network/link", False)
    with pytest.raises(NetworkError, match="nothing on the way there would be encrypted"):
        address_of("http://hub.example")
    with pytest.raises(NetworkError, match="no address of a hub"):
        address_of("hub.example")


class DrawnOut(Pipe):
    """An end of a connection whose other side does not say goodbye."""

    def __init__(self) -> None:
        super().__init__()
        self.is_aborted = False

    async def close(self, reason: str) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.is_aborted = True
            raise


def test_reason_is_told_before_a_goodbye_that_the_other_side_draws_out(monkeypatch):
    monkeypatch.setattr(channels, "_GOODBYE", 0.2)

    async def run() -> tuple[list[tuple[str, bool]], str, bool]:
        wire, told = DrawnOut(), []
        channel = HubChannel(wire, HILL.name, HILL.public_key, dialled_by=HARBOUR.name)
        wire.inbox.put_nowait("[]")
        ended = await channel.run(print, lambda: False, lambda reason: told.append((reason, wire.is_aborted)))
        return told, ended, wire.is_aborted

    reason = "it sent what is no message in JSON"
    assert asyncio.run(run()) == ([(reason, False)], reason, True)
