"""Peers of a ring over real sockets: they find each other, answer as one hub, and bear some that go, or lie."""

from __future__ import annotations

import asyncio
import json
import logging
import random

import pytest
from tests.network.live.ring.rings import is_quiet, is_ring, live_peer, live_ring, wait_until
from websockets.asyncio.client import connect

from triplewire import Hub
from triplewire.documents import parse
from triplewire.errors import ChannelRefused
from triplewire.network import Simulation
from triplewire.network.channels.handshake import DIALS, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.live.ring import RING_LINK, AddressBook, PeerAddress
from triplewire.network.live.ring.lines import RING_CHANNEL
from triplewire.network.ring import RingSettings

JOIN = "SELECT ?s ?t { ?s <urn:r> ?t . ?t <urn:a> ?x }"
STEPS = [
    (0, "urn:one", "<urn:s> <urn:r> <urn:t> ."),
    (1, "urn:two", "<urn:t> <urn:a> 1 ."),
    (2, "urn:three", "<urn:u> <urn:r> <urn:t> ."),
    (0, "urn:one", None),
    (1, "urn:two", '<urn:t> <urn:a> 2 ; <urn:note> "new" .'),
]


def document(uri: str, text: str):
    return parse(text.encode(), uri=uri, media_type="text/turtle")


def told(events) -> list[tuple[str, str]]:
    return [(event.kind, str(event.row)) for event in events]


def expected() -> list[tuple[str, str]]:
    with Hub(":memory:") as hub:
        hub.subscribe(JOIN, id="q", scope="graph")
        for _, uri, text in STEPS:
            hub.retract(uri) if text is None else hub.publish(text, uri=uri)
        return told(hub.events("q"))


def simulated(algorithm: str) -> list[tuple[str, str]]:
    sim = Simulation(seed=1)
    net = sim.ring(4, algorithm=algorithm)
    clients = [net.client(at=number) for number in range(4)]
    id = clients[3].subscribe(JOIN)
    sim.run()
    for at, uri, text in STEPS:
        clients[at].retract(uri) if text is None else clients[at].publish(text, uri=uri)
        sim.run()
    return told(clients[3].events(id))


async def played(algorithm: str, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    async with live_ring(4, RingSettings(algorithm)) as (peers, _):
        await peers[3].subscribe("q", JOIN)
        await wait_until(lambda: is_quiet(peers))
        for at, uri, text in STEPS:
            await (peers[at].retract(uri) if text is None else peers[at].publish(document(uri, text)))
            await wait_until(lambda: is_quiet(peers))
        await wait_until(lambda: len(peers[3].events("q")) >= len(wanted))
        return told(peers[3].events("q"))


@pytest.mark.parametrize("algorithm", ["sqc", "mqc"])
def test_one_scenario_live_in_simulation_and_in_one_hub_is_told_alike(algorithm):
    wanted = expected()
    assert wanted
    assert simulated(algorithm) == wanted
    assert asyncio.run(played(algorithm, wanted)) == wanted


def test_peer_that_is_gone_loses_nothing_that_others_were_told():
    async def scenario() -> None:
        async with live_ring(5, RingSettings("mqc")) as (peers, ends):
            await peers[0].subscribe("q", JOIN)
            for number in range(10):
                await peers[1].publish(document(f"urn:r{number}", f"<urn:s{number}> <urn:r> <urn:t{number}> ."))
            await wait_until(lambda: is_quiet(peers))
            await ends[3].aclose()
            left = [each for each in peers if each is not peers[3]]
            for number in range(10):
                await peers[2].publish(document(f"urn:a{number}", f"<urn:t{number}> <urn:a> 1 ."))
            await wait_until(lambda: len(peers[0].events("q")) >= 10, 60)
            await wait_until(lambda: is_ring(left), 60)
            assert {kind for kind, _ in told(peers[0].events("q"))} == {"matched"}
            assert len({row for _, row in told(peers[0].events("q"))}) == 10

    asyncio.run(scenario())


async def loaded(size: int, algorithm: str) -> tuple[set[str], set[str]]:
    """Publish, change and retract at the first peers while some of the others go; gives the rows, and one hub's."""
    chance = random.Random(size)
    with Hub(":memory:") as hub:
        hub.subscribe(JOIN, id="q", scope="graph")
        async with live_ring(size, RingSettings(algorithm)) as (peers, ends):
            await peers[0].subscribe("q", JOIN)
            await wait_until(lambda: is_quiet(peers), 60)
            for number in range(60):
                at, which = chance.randrange(4), chance.randrange(5)
                uri, subject = f"urn:doc{at}-{which}", chance.randrange(4)
                text = f"<urn:s{subject}> <urn:r> <urn:s{which}> ; <urn:a> {chance.randrange(3)} ."
                if hub.document(uri) is not None and chance.random() < 0.3:
                    await peers[at].retract(uri)
                    hub.retract(uri)
                else:
                    await peers[at].publish(document(uri, text))
                    hub.publish(text, uri=uri)
                await asyncio.sleep(0.02)
                if number in (20, 40):
                    await ends[4 + number // 20].aclose()
            left = [each for place, each in enumerate(peers) if place not in (5, 6)]
            await wait_until(lambda: is_ring(left), 60)
            await wait_until(lambda: is_quiet(left), 120)
            await asyncio.sleep(1.0)
            return {*map(str, peers[0].peer.subscription(peers[0].name, "q").told)}, {*map(str, hub.rows("q"))}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "algorithm"), [(8, "mqc"), (8, "sqc"), (16, "mqc")])
def test_ring_whose_peers_go_one_after_the_other_under_load_ends_as_one_hub(size, algorithm):
    rows, wanted = asyncio.run(loaded(size, algorithm))
    assert rows == wanted


async def entered(socket, identity: HubIdentity) -> None:
    """A handshake as it should be."""
    end = HandshakeEnd(identity, "a" * 64, DIALS, purpose=RING_CHANNEL)
    await socket.send(json.dumps(end.hello))
    end.meet(json.loads(await socket.recv()))
    await socket.send(json.dumps({"proof": end.proof()}))
    assert json.loads(await socket.recv()) == {"welcome": True}


@pytest.mark.parametrize(
    "lie",
    [
        "no JSON",
        json.dumps({"about": "frame", "frame": {"parcels": [[], 0]}}),
        json.dumps({"about": "hello", "settings": ["sqc", "graph", 3, True], "addresses": []}),
        json.dumps({"about": "addresses", "addresses": [["peer-0", "00", "http://127.0.0.1:1", 1, "00"]]}),
    ],
)
def test_peer_that_sends_garbage_is_cut_off_and_the_log_says_why(lie, caplog):
    async def scenario() -> None:
        async with live_peer(RingSettings("mqc")) as (peer, url):
            async with connect(url.replace("http", "ws") + RING_LINK, proxy=None) as socket:
                await entered(socket, HubIdentity.new("liar"))
                await socket.send(lie)
                async with asyncio.timeout(10):
                    await socket.wait_closed() if await drained(socket) else None
            await wait_until(lambda: not peer.lines.open)

    async def drained(socket) -> bool:
        async for _ in socket:
            pass
        return True

    with caplog.at_level(logging.WARNING, "triplewire.network"):
        asyncio.run(scenario())
    assert any("is closed" in line for line in caplog.messages)


def test_peer_with_the_name_of_another_is_refused():
    """It has a key of its own, and says that it is somebody whose key it has not."""

    async def scenario() -> dict:
        async with (
            live_peer(RingSettings("mqc")) as (_, url),
            connect(url.replace("http", "ws") + RING_LINK, proxy=None) as socket,
        ):
            end = HandshakeEnd(HubIdentity.new("liar"), "a" * 64, DIALS, purpose=RING_CHANNEL)
            hello = end.hello
            hello["hello"]["name"] = HubIdentity.new("honest").name
            await socket.send(json.dumps(hello))
            return json.loads(await socket.recv())

    assert "not the name of the key" in asyncio.run(scenario())["refused"]


def test_address_that_its_peer_has_not_signed_is_refused():
    honest, liar = HubIdentity.new("honest"), HubIdentity.new("liar")
    book = AddressBook(PeerAddress.own(honest, "http://127.0.0.1:1", 1))
    true = PeerAddress.own(liar, "http://127.0.0.1:2", 1).plain()
    assert [each.url for each in book.learn([true])] == ["http://127.0.0.1:2"]
    for false in ([*true[:2], "http://127.0.0.1:3", *true[3:]], [*true[:3], 2, true[4]], [honest.name, *true[1:]]):
        with pytest.raises(ChannelRefused):
            book.learn([false])
