"""A peer that lies to its ring, and a client that reads what is another's: refused, and the log says so.

Attempts: another's name; a parcel of another that this has not signed, or has for one peer alone; what another asks; an
old parcel once more; frames that are none; more than can be taken in; a key of no account; the subscription of another
account.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from network.live.ring.served import wait_for
from triplewire.client import Client
from triplewire.errors import NotAllowed, NotAuthenticated
from triplewire.hub import Settings, start
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.ring import create_peer_app
from triplewire.network.channels.handshake import DIALS, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.live.ring import RING_LINK, PeerAddress
from triplewire.network.live.ring.lines import RING_CHANNEL
from triplewire.network.live.ring.memory import agreed
from triplewire.network.live.ring.peers import _MOST_STEPS
from triplewire.network.live.ring.seals import Sealer
from triplewire.network.ring import RingSettings
from triplewire.network.ring.identifiers import identify, key_at
from triplewire.network.ring.messages import FindSuccessor, IndexTriple, Rectify
from triplewire.network.ring.post import Parcel, Parcels
from triplewire.network.ring.statements import KeyStatement
from triplewire.store import Store

LIAR, HONEST = HubIdentity.new("liar"), HubIdentity.new("honest")
TURTLE = "text/turtle"


@contextmanager
def peer_of(tmp_path, **settings):
    with Store.open(f"sqlite:///{tmp_path}/peer.db") as store:
        Accounts(store).create_token("operator", role="admin")
    wanted = Settings(store=f"sqlite:///{tmp_path}/peer.db", port=0, network_patience=5.0, deliver=False, **settings)
    with start(wanted, partial(create_peer_app, ring=RingSettings())) as started:
        yield started, started.server.config.app.state.service.peer


@pytest.fixture
def attacked(tmp_path, caplog):
    """A peer that is a ring alone, at its address."""
    caplog.set_level(logging.INFO, "triplewire.network")
    with peer_of(tmp_path) as (started, live):
        yield started.url, live


@contextmanager
def entered(url: str):
    """A channel to a peer after a handshake as it should be, and a hello."""
    with connect(url.replace("http", "ws") + RING_LINK, proxy=None, max_size=None) as socket:
        assert shaken(socket) == {"welcome": True}
        addresses = [PeerAddress.own(each, "http://127.0.0.1:9", 1).plain() for each in (LIAR, HONEST)]
        socket.send(json.dumps({"about": "hello", "settings": agreed(RingSettings()), "addresses": addresses}))
        yield socket


def shaken(socket) -> dict:
    """What a peer answers to a handshake as it should be."""
    end = HandshakeEnd(LIAR, "a" * 64, DIALS, purpose=RING_CHANNEL)
    socket.send(json.dumps(end.hello))
    end.meet(json.loads(socket.recv(30)))
    socket.send(json.dumps({"proof": end.proof()}))
    return json.loads(socket.recv(30))


def frame_of(parcel: Parcel, signer: HubIdentity) -> str:
    return json.dumps({"about": "frame", "frame": Sealer(signer).spelled(Parcels(parcel.body.kind, (parcel,)))})


def is_cut_off(socket) -> bool:
    """Whether the peer ends the channel; what it says before is passed over."""
    try:
        while True:
            socket.recv(30)
    except ConnectionClosed:
        return True
    except TimeoutError:
        return False


def stated(version: int, triples: list[Triple]) -> IndexTriple:
    return IndexTriple((HONEST.name, "urn:d"), KeyStatement(version, 1.0, frozenset(triples)))


TRIPLE = Triple(NamedNode("urn:s"), NamedNode("urn:p"), Literal("1"))
KEY = key_at("p", TRIPLE)


def of_honest(number: int, body, peer: str | None = None) -> Parcel:
    return Parcel(HONEST.name, number, identify(KEY), KEY, body, peer)


def test_peer_with_the_name_of_another_is_refused_and_the_log_says_so(attacked, caplog):
    url, _ = attacked
    with connect(url.replace("http", "ws") + RING_LINK, proxy=None) as socket:
        hello = HandshakeEnd(LIAR, "a" * 64, DIALS, purpose=RING_CHANNEL).hello
        hello["hello"]["name"] = HONEST.name
        socket.send(json.dumps(hello))
        assert "not the name of the key" in json.loads(socket.recv(30))["refused"]
    assert any("is refused" in line for line in caplog.messages)


@pytest.mark.parametrize(
    ("parcel", "signer", "words"),
    [
        (of_honest(1, stated(1, [TRIPLE])), LIAR, "has not signed"),
        (of_honest(1, Rectify(), peer="somebody else"), HONEST, "alone"),
        (of_honest(1, FindSuccessor("somebody-else")), HONEST, "asks for another"),
    ],
)
def test_parcel_that_is_not_what_it_says_ends_the_channel_and_the_log_says_why(attacked, caplog, parcel, signer, words):
    url, live = attacked
    with entered(url) as socket:
        socket.send(frame_of(parcel, signer))
        assert is_cut_off(socket)
    assert any(words in line and LIAR.name in line for line in caplog.messages)
    assert KEY not in live.peer.state.keys


@pytest.mark.parametrize(
    "lie",
    [
        "no JSON",
        json.dumps({"about": "frame"}),
        json.dumps({"about": "frame", "frame": {"parcels": [["x"], 0]}}),
        json.dumps({"about": "frame", "frame": {"parcels": [[["[" * 100_000, "00", False, 0]], 0]}}),
        json.dumps({"about": "addresses", "addresses": [["peer-0", "00", "http://127.0.0.1:1", 1, "00"]]}),
        json.dumps({"about": "nothing that there is"}),
    ],
)
def test_garbage_ends_the_channel_and_clients_are_served_on(attacked, caplog, lie):
    url, _ = attacked
    with entered(url) as socket:
        socket.send(lie)
        assert is_cut_off(socket)
    assert any("is closed" in line for line in caplog.messages)
    with Client(url) as client:
        client.publish("<urn:s> <urn:p> 1 .", uri="urn:d", media_type=TURTLE)


def test_old_parcel_once_more_changes_nothing(attacked):
    """Somebody who passed a parcel on keeps it, and sends it again when a newer version is there."""
    url, live = attacked
    old, new = of_honest(1, stated(1, [TRIPLE])), of_honest(2, stated(2, []))
    with entered(url) as socket:
        for parcel in (old, new, *[old] * 5):
            socket.send(frame_of(parcel, HONEST))
        wait_for(lambda: KEY in live.peer.state.keys)
        with Client(url) as client:
            client.publish("<urn:s> <urn:q> 1 .", uri="urn:after", media_type=TURTLE)
        wait_for(lambda: live.peer.state.keys[KEY].documents[HONEST.name, "urn:d"].version == 2)
        assert live.peer.state.keys[KEY].documents[HONEST.name, "urn:d"].triples == frozenset()


def take_receipts(socket, left: dict[int, str], seconds: float) -> None:
    """Strike what the peer has answered, as far as that comes in time."""
    with suppress(TimeoutError):
        while left:
            told = json.loads(socket.recv(seconds)).get("frame", {})
            for number, _ in told.get("receipts", [[]])[0]:
                left.pop(number, None)


def flood(socket, left: dict[int, str], after_each: Callable[[int], None]) -> None:
    """Send all that is left without waiting for answers; then wait for these."""
    for number, frame in [*left.items()]:
        socket.send(frame)
        take_receipts(socket, left, 0)
        after_each(number)
    take_receipts(socket, left, 30)


def test_flood_of_frames_has_to_wait_clients_are_served_and_all_of_it_arrives(attacked):
    """Who floods is not read faster than what it sends can be written.

    Where it is so far ahead that it cannot be heard for a beat, it is cut off as one that is silent. It may come again
    at once, and what it sends until it is answered, as peers do, is taken in, all of it.
    """
    url, live = attacked
    origin, most, published = (LIAR.name, "urn:d"), [], []
    left = {}
    for number in range(1, 1_001):
        body = IndexTriple(origin, KeyStatement(number, 1.0, frozenset([TRIPLE])))
        left[number] = frame_of(Parcel(LIAR.name, number, identify(KEY), KEY, body), LIAR)
    with Client(url) as client:

        def look(number: int) -> None:
            most.append(live._steps)
            if number % 300 == 0:
                client.publish(f"<urn:s> <urn:q> {number} .", uri="urn:mine", media_type=TURTLE)
                published.append(client.document("urn:mine").triples)

        while left:
            with suppress(ConnectionClosed), entered(url) as socket:
                flood(socket, left, look)
    assert max(most) <= 2 * _MOST_STEPS
    assert [triple.object.value for (triple,) in published[:3]] == ["300", "600", "900"]
    kept = [state.documents[origin] for state in [*live.peer.state.keys.values()] if origin in state.documents]
    assert [each.version for each in kept] == [1_000], "also if the key became hot, and was split"


def test_peer_whose_key_is_that_of_no_account_is_refused_where_identity_is_on(tmp_path, caplog):
    with peer_of(tmp_path, identity=True) as (started, _):
        with connect(started.url.replace("http", "ws") + RING_LINK, proxy=None) as socket:
            assert "token create" in shaken(socket)["refused"]
        assert any("no account here" in line for line in caplog.messages)


def test_client_does_not_get_the_events_of_another_account_and_the_log_says_who_asked(tmp_path, caplog):
    with Store.open(f"sqlite:///{tmp_path}/peer.db") as store:
        tokens = {
            name: Accounts(store).create_token(name, role=role)[1]
            for name, role in (("maja", "publisher"), ("eve", "publisher"), ("root", "admin"))
        }
    with peer_of(tmp_path, identity=True) as (started, _):
        clients = {name: Client(started.url, token=token) for name, token in tokens.items()}
        maja, eve, root = clients.values()
        maja.subscribe("SELECT ?s { ?s <urn:p> ?o }", id="water", scope="graph")
        eve.publish("<urn:s> <urn:p> 1 .", uri="urn:d", media_type=TURTLE)
        assert [each.kind for each in maja.events("water", wait=30)] == ["matched"]
        assert [each.kind for each in root.events("water")] == ["matched"]
        for ask in (eve.events, eve.subscription, eve.rows, eve.unsubscribe, lambda id: next(eve.follow(id))):
            with pytest.raises(NotAllowed, match="another account"):
                ask("water")
        assert [*eve.subscriptions()] == []
        with Client(started.url) as nobody, pytest.raises(NotAuthenticated):
            nobody.events("water")
        for each in clients.values():
            each.close()
    assert sum("eve" in line and "'water'" in line and "refused" in line for line in caplog.messages) == 5
