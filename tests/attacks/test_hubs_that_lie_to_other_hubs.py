"""A hub of a network that lies, replays, forges, floods or speaks another version: it fails, with a line in the log."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tests.network.live.federations import WATER, about, federation, kinds, wait_for
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import connect

from hub.serving import serving
from triplewire import compile, parse
from triplewire.hub.identity.accounts import Accounts
from triplewire.network.channels.dialling import LINK
from triplewire.network.channels.handshake import DIALS, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.channels.spelling import spelled_frame
from triplewire.network.hierarchy import QueryAsked
from triplewire.network.hypercube import CubeTopology
from triplewire.network.link import Hello, LogEntry
from triplewire.network.live.places import LivePlace, signed_text
from triplewire.network.live.spelling import ROUTED
from triplewire.network.routing import DocumentSent, RoutingState, Subscribe
from triplewire.network.routing.interests import interest_of
from triplewire.network.routing.messages import Ask
from triplewire.store import Store

ANYTHING = compile("ASK { ?s <urn:p> ?o }", language="sparql")
EVE, OTHER, STRANGER = (HubIdentity.new(name) for name in ("eve", "other", "stranger"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two hubs of a network, and Eve, who is a member as well; she is silent for long, and nobody stands in for her."""
    with federation(tmp_path_factory.mktemp("pair"), 2, network_patience=3_600) as hubs:
        with Liar(hubs[0].url) as eve:
            eve.enter(EVE)
            eve.say({"about": "join", "url": "http://127.0.0.1:1"})
            wait_for(lambda: len(hubs[1].get("/v1/network").json()["members"]) == 3)
        hubs[0].subscribe("water", WATER, reach="network")
        hubs[1].publish("urn:doc", about(1))
        wait_for(lambda: kinds(hubs[0]) == ["matched <urn:d1>"])
        yield hubs
        hubs[1].publish("urn:after", about(2))  # whatever was tried, they go on
        wait_for(lambda: kinds(hubs[0])[-1] == "matched <urn:d2>")


class Liar:
    """A program that talks to a hub as another hub does, as far as it wants to."""

    def __init__(self, url: str, **about) -> None:
        self._connecting = connect(url.replace("http", "ws") + LINK, proxy=None, **about)

    def say(self, message: object) -> None:
        self.socket.send(json.dumps(message))

    def hear(self) -> dict:
        return json.loads(self.socket.recv(timeout=30))

    def enter(self, identity: HubIdentity) -> None:
        """A handshake as it should be."""
        end = HandshakeEnd(identity, "a" * 64, DIALS)
        self.say(end.hello)
        end.meet(self.hear())
        self.say({"proof": end.proof()})
        assert self.hear() == {"welcome": True}

    def is_cut_off(self) -> bool:
        """Listen until the other side has ended it."""
        try:
            while True:
                self.socket.recv(timeout=30)
        except ConnectionClosed:
            return True

    def __enter__(self):
        self.socket = self._connecting.__enter__()
        return self

    def __exit__(self, *about):
        self._connecting.__exit__(*about)


def line_in(caplog, pattern: str) -> None:
    wait_for(lambda: re.search(pattern, caplog.text), 30, f"no line like {pattern!r} in:\n{caplog.text}")


def test_hub_that_lies_about_its_name(pair, caplog):
    with Liar(pair[0].url) as liar:
        hello = HandshakeEnd(EVE, "a" * 64, DIALS).hello
        hello["hello"]["name"] = pair[1].hub.identity.name
        liar.say(hello)
        assert "not the name of the key" in liar.hear()["refused"]
    line_in(caplog, "a hub that dialled is refused: it says that it is")


def test_hub_that_replays_a_captured_handshake(pair, caplog):
    captured = HandshakeEnd(EVE, "a" * 64, DIALS)
    with Liar(pair[0].url) as honest:
        honest.say(captured.hello)
        captured.meet(honest.hear())
        proof = {"proof": captured.proof()}
        honest.say(proof)
        assert honest.hear() == {"welcome": True}
    with Liar(pair[0].url) as liar:
        liar.say(captured.hello)
        liar.hear()
        liar.say(proof)
        assert "does not prove it" in liar.hear()["refused"]
    line_in(caplog, "does not prove it")


def test_hub_that_speaks_another_version(pair, caplog):
    with Liar(pair[0].url) as liar:
        hello = HandshakeEnd(EVE, "a" * 64, DIALS).hello
        hello["hello"]["version"] = 99
        liar.say(hello)
        assert "version 99" in liar.hear()["refused"]
    line_in(caplog, "it speaks version 99 of the protocol, and this hub version 1: update the older one")


@pytest.mark.parametrize("garbage", ["", "{", "[]", "null", "[" * 100_000, "\x00", '{"hello": {"version": 1}}'])
def test_garbage_instead_of_a_handshake(pair, garbage, caplog):
    with Liar(pair[0].url) as liar:
        liar.socket.send(garbage)
        assert liar.is_cut_off()
    line_in(caplog, "a hub that dialled is refused")


def test_stranger_that_is_no_member_and_sends_frames(pair, caplog):
    with Liar(pair[0].url) as liar:
        liar.enter(STRANGER)
        liar.say({"about": "frame", "from": 2, "to": 0, "stamp": [1, 1], "frame": {}})
        assert liar.is_cut_off()
    line_in(caplog, "is no member of the network, and may only ask to join")


def spoken(pair, body) -> dict:
    """A frame from Eve's corner 2 to corner 0, as a member would send it."""
    table = pair[0].get("/v1/network").json()
    frame = spelled_frame(LogEntry("e", 1, body), ROUTED)
    return {"about": "frame", "from": 2, "to": 0, "stamp": [table["term"], table["number"]], "frame": frame}


def forgery(origin: str, identity: HubIdentity | None = None) -> DocumentSent:
    sent = DocumentSent(origin, "urn:forged", 9, 2e9, parse(about(666), uri="urn:forged"))
    if identity is None:
        return sent
    return replace(sent, signature=identity.sign(signed_text(sent)))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (forgery("corner-2"), "which has not signed it"),
        (forgery("corner-2", OTHER), "which has not signed it"),
        (forgery("corner-0", EVE), "is not on the way of a document"),
        (forgery("corner-1", EVE), "is not on the way of a document"),
        (forgery("corner-7", EVE), "is not on the way of a document"),
        (forgery("nowhere", EVE), "is no corner"),
        (Ask("corner-0", "urn:doc", 1, ("corner-3",)), "whose path does not end there"),
        (Ask("corner-0", "urn:doc", 1, ("corner-1", "corner-2")), "corners are no neighbours"),
        (Ask("corner-0", "urn:doc", 1, ("corner-2", "corner-0", "corner-2")), "goes round in a circle"),
        (QueryAsked("q", "corner-1", ANYTHING, 256, None), "those climb in a hierarchy only"),
        (Subscribe(((interest_of(ANYTHING), 1.0),), ()), None),
    ],
    ids=["unsigned", "signed by another", "of the reader", "of another", "of nowhere near", "of no corner", *"abcde"],
)
def test_member_that_forges_origins_and_paths(pair, body, line, caplog):
    """It is let in; what others publish it cannot make up."""
    with Liar(pair[0].url) as liar:
        liar.enter(EVE)
        liar.say(spoken(pair, body))
        if line is not None:
            assert liar.is_cut_off()
            line_in(caplog, line)
    assert kinds(pair[0])[:1] == ["matched <urn:d1>"]
    assert not any("666" in told for told in kinds(pair[0]))


def test_member_that_replays_a_document_which_was_taken_back():
    """The versions are signed by their publisher; the hub on the way, which had passed on that it is gone, is not."""
    place = LivePlace(RoutingState("corner-0", "epoch"), CubeTopology(0), lambda text: "")
    place.connect("corner-2", 0.0)
    place.watch("water", compile(WATER, language="sparql"), 0.0, 0.0)
    old, new = (DocumentSent("corner-3", "urn:doc", n, 10.0 * n, parse(about(n), uri="urn:doc")) for n in (1, 3))
    place.hear("corner-2", old, 0.0)
    place.hear("corner-2", DocumentSent("corner-3", "urn:doc", 2, 20.0, None), 0.0)
    assert [sent.document is None for sent in place.arrivals] == [False, True]
    assert not place.refused
    place.hear("corner-2", old, 0.0)
    assert len(place.arrivals) == 2
    assert place.refused == ["corner-2 tells again of version 1 of 'urn:doc', which it had taken back"]
    place.hear("corner-2", new, 0.0)
    assert place.arrivals[-1] == new
    assert len(place.refused) == 1


def test_document_that_was_of_no_concern_for_a_while_is_told_again():
    """A hub that is honest does that, of the same version."""
    place = LivePlace(RoutingState("corner-0", "epoch"), CubeTopology(0), lambda text: "")
    place.connect("corner-2", 0.0)
    place.watch("water", compile(WATER, language="sparql"), 0.0, 0.0)
    sent = DocumentSent("corner-3", "urn:doc", 1, 10.0, parse(about(1), uri="urn:doc"))
    for told in (sent, replace(sent, document=None), sent):
        place.hear("corner-2", told, 0.0)
    assert [each.document is None for each in place.arrivals] == [False, True, False]
    assert not place.refused


@pytest.mark.parametrize(
    "message",
    [
        {"about": "frame"},
        {"about": "frame", "from": 2, "to": 0, "stamp": [1, 1], "frame": {}},
        {"about": "members", "table": {}, "signature": "", "votes": {}},
        {"about": "pulse", "stamp": "x"},
        {"about": "vote", "term": []},
        {"about": "nonsense"},
    ],
    ids=lambda message: message["about"],
)
def test_member_that_sends_garbage(pair, message, caplog):
    with Liar(pair[0].url) as liar:
        liar.enter(EVE)
        liar.say(message)
        liar.say({"about": "frame", "from": "corner", "to": None, "stamp": 1, "frame": None})
        assert liar.is_cut_off()
    line_in(caplog, "the channel to .* is closed: it sent")


def test_link_of_another_version_is_refused(pair, caplog):
    with Liar(pair[0].url) as liar:
        liar.enter(EVE)
        told = spoken(pair, Ask("corner-0", "urn:doc", 1, ("corner-2",)))
        liar.say(told | {"frame": spelled_frame(Hello("corner-2", "e", None, "s", version=2), ROUTED)})
        assert liar.is_cut_off()
    line_in(caplog, "speaks version 2 of the protocol")


def test_member_that_floods_does_not_keep_the_others_from_being_served(pair):
    """What a channel does with more than a hub can take, or with what nobody reads, is in `test_channels`."""
    with Liar(pair[0].url) as liar:
        liar.enter(EVE)
        for _ in range(500):
            liar.say({"about": "pulse", "time": 0, "stamp": [0, 0]})
        pair[1].publish("urn:flood", about(3))
        wait_for(lambda: "matched <urn:d3>" in kinds(pair[0]))


def test_page_of_another_site_cannot_open_a_channel(pair):
    """A browser sends the origin of the page, and no hub does."""
    with pytest.raises((InvalidHandshake, InvalidMessage)):
        Liar(pair[0].url, origin="http://evil.example").__enter__()


def test_hub_without_an_account_cannot_join_a_hub_that_asks_who(tmp_path, caplog):
    store = f"sqlite:///{tmp_path}/guarded.db"
    with Store.open(store) as opened:
        admin = Accounts(opened).create_token("me", role="admin")[1]
        Accounts(opened).add_key("known", EVE.public_key, role="publisher")
    with serving(store, network="hypercube", identity=True) as served:
        served.headers["Authorization"] = f"Bearer {admin}"
        with Liar(served.url) as liar:
            end = HandshakeEnd(HubIdentity.new("mallory"), "a" * 64, DIALS)
            liar.say(end.hello)
            end.meet(liar.hear())
            liar.say({"proof": end.proof()})
            assert "that of no account here" in liar.hear()["refused"]
        line_in(caplog, "its key is that of no account here")
        with Liar(served.url) as known:
            known.enter(EVE)
            known.say({"about": "join", "url": "http://127.0.0.1:1"})
            wait_for(lambda: len(served.get("/v1/network").json()["members"]) == 2)
