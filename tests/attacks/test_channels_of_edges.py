"""Who lies on the channel between an edge and its hub fails, with a word why; and both go on (P8, X8)."""

from __future__ import annotations

import json

import pytest
from tests.network.channels.wires import EdgeLiar, FalseHub, listening
from tests.network.live.federations import wait_for
from websockets.exceptions import InvalidStatus

from edge.worlds import held_by
from hub.serving import serving
from triplewire import Edge
from triplewire.errors import ChannelRefused, NetworkError, ServiceUnavailable, TooManyRequests
from triplewire.hub.identity.accounts import Accounts
from triplewire.network.channels import uplinks
from triplewire.network.channels.dialling import LINK
from triplewire.network.channels.handshake import DIALS, EDGE_CHANNEL, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.exchange import Asked
from triplewire.network.link import LogEntry
from triplewire.store import Store
from triplewire.wire.edges import EdgeQuestion

HARBOUR, EVE = HubIdentity.new("edge"), HubIdentity.new("edge")
RULE = "SELECT ?d { ?d <urn:theme> ?t }"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub that asks who its callers are; whatever was tried, an honest edge is served at the end."""
    folder = tmp_path_factory.mktemp("hub")
    url, key = f"sqlite:///{folder}/hub.db", folder / "harbour.pem"
    key.write_text(HARBOUR.pem)
    with Store.open(url) as store:
        Accounts(store).add_key("harbour", HARBOUR.public_key, role="reader")
    with serving(url, identity=True, request_bytes=100_000) as served:
        served.hub.publish("<urn:1> <urn:theme> <urn:water> .", uri="urn:a")
        yield served
        with Edge(":memory:", hub=served.url, key=key) as edge:
            edge.follow(RULE, language="sparql", id="rule")
            assert edge.sync().described == 1


# -- edges that are none


def test_edge_with_the_key_of_no_account(hub):
    with EdgeLiar(hub.url) as liar, pytest.raises(AssertionError, match="its key is that of no account here"):
        liar.enter(EVE)


def test_edge_that_takes_the_public_key_of_an_account(hub):
    with EdgeLiar(hub.url) as liar:
        hello = HandshakeEnd(HARBOUR, "a" * 64, DIALS, purpose=EDGE_CHANNEL).hello
        end = HandshakeEnd(EVE, "a" * 64, DIALS, purpose=EDGE_CHANNEL)
        liar.say(hello)
        end.meet(liar.hear())
        liar.say({"proof": end.proof()})
        assert "does not prove it" in liar.hear()["refused"]


def test_edge_with_a_false_token(hub):
    with EdgeLiar(hub.url) as liar, pytest.raises(AssertionError, match="this token is not valid"):
        liar.enter(EVE, token="tw_x_y")
    with EdgeLiar(hub.url) as liar, pytest.raises(AssertionError, match="is no text"):
        liar.enter(HARBOUR, token=["tw_x_y"])


def test_handshake_that_was_captured_is_of_no_use_again(hub):
    captured = HandshakeEnd(HARBOUR, "a" * 64, DIALS, purpose=EDGE_CHANNEL)
    with EdgeLiar(hub.url) as honest:
        honest.say(captured.hello)
        captured.meet(honest.hear())
        proof = {"proof": captured.proof()}
        honest.say(proof)
        assert honest.hear() == {"welcome": True}
    with EdgeLiar(hub.url) as liar:
        liar.say(captured.hello)
        liar.hear()
        liar.say(proof)
        assert "does not prove it" in liar.hear()["refused"]


def test_proof_for_a_channel_of_a_network_is_none_for_one_of_an_edge(hub):
    with EdgeLiar(hub.url) as liar:
        end = HandshakeEnd(HARBOUR, "a" * 64, DIALS)
        liar.say(end.hello)
        end.meet(liar.hear())
        liar.say({"proof": end.proof()})
        assert "does not prove it" in liar.hear()["refused"]


def test_edge_that_speaks_another_version_is_told_which(hub):
    with EdgeLiar(hub.url) as liar:
        hello = HandshakeEnd(HARBOUR, "a" * 64, DIALS, purpose=EDGE_CHANNEL).hello
        hello["hello"]["version"] = 99
        liar.say(hello)
        assert "it speaks version 99 of the protocol, and this hub version 1" in liar.hear()["refused"]


def test_page_of_a_browser_opens_no_channel(hub):
    with pytest.raises(InvalidStatus, match="403"), EdgeLiar(hub.url, origin="https://evil.example"):
        pass


def test_channel_of_a_network_is_none_where_there_is_no_network(hub):
    with pytest.raises(InvalidStatus, match="403"), EdgeLiar(hub.url, path=LINK):
        pass


# -- edges that send what no edge sends


FRAME = {"about": "frame"}
GARBAGE = {
    "nothing": "",
    "half": "{",
    "a list": "[]",
    "deep": "[" * 50_000,
    "no frame": {"about": "frame"},
    "another message": {"about": "join", "url": "http://127.0.0.1:1"},
    "a frame of nothing": FRAME | {"frame": {"nonsense": []}},
    "a body of a hub": FRAME | {"frame": {"entry": ["e", 1, {"told": [1, {"position": "", "number": 1}]}, False]}},
    "a body of a network": FRAME | {"frame": {"entry": ["e", 1, {"subscribe": []}, False]}},
    "a number below": FRAME | {"frame": {"entry": ["e", 1, {"asked": [-1, {"edge": "x"}]}, False]}},
    "a question of lists": FRAME | {"frame": {"entry": ["e", 1, {"asked": [1, {"edge": []}]}, False]}},
    "a question of nothing": FRAME | {"frame": {"entry": ["e", 1, {"asked": [1, None]}, False]}},
    "a wait of words": FRAME | {"frame": {"entry": ["e", 1, {"asked": [1, {"edge": "x", "wait": "ever"}]}, False]}},
    "a part that is none": {"part": 3, "left": 1},
    "parts of garbage": {"part": "[", "left": 0},
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_edge_that_sends_garbage_is_cut_off_and_told_why(hub, garbage):
    with EdgeLiar(hub.url) as liar:
        liar.enter(HARBOUR)
        liar.say(garbage)
        assert liar.reason().startswith("it sent")


@pytest.mark.parametrize("in_parts", [False, True], ids=["at once", "in parts"])
def test_message_beyond_the_limit_is_not_read_to_its_end(hub, in_parts):
    with EdgeLiar(hub.url) as liar:
        liar.enter(HARBOUR)
        if in_parts:
            for _ in range(3):
                liar.say({"part": "x" * 50_000, "left": 9})
        else:
            liar.say({"about": "x" * 200_000})
        assert liar.reason() == "it sent a message of more than 100,000 bytes"


def test_parts_without_anything_in_them_are_not_free(hub):
    with EdgeLiar(hub.url) as liar:
        liar.enter(HARBOUR)
        for _ in range(1_001):
            liar.say({"part": "", "left": 1})
        assert "more than 100,000 bytes" in liar.reason()


def test_edge_that_asks_and_takes_no_answer_is_cut_off(hub):
    with EdgeLiar(hub.url) as liar:
        liar.enter(HARBOUR)
        liar.greet(HARBOUR)
        for number in range(1, 10):
            liar.say_frame(LogEntry("liar-1", number, Asked(number, EdgeQuestion("edge-liar"))))
            assert liar.body()["told"][0] == number
        liar.say_frame(LogEntry("liar-1", 10, Asked(10, EdgeQuestion("edge-liar"))))
        assert "has not taken the last" in liar.reason()


def test_edge_that_asks_faster_than_its_account_may_is_told_to_wait(tmp_path):
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        _, token = Accounts(store).create_token("harbour", role="reader")
    with serving(url, identity=True, requests=0.2) as served, Edge(":memory:", hub=served.url, token=token) as edge:
        served.stop_refilling()
        edge.sync()
        edge.sync()
        with pytest.raises(TooManyRequests):
            edge.sync()


def test_edge_of_another_account_is_declined_and_told_nothing(hub):
    with Edge(":memory:", hub=hub.hub, account="somebody") as edge:
        edge.sync()
        name = edge.status().name
    with EdgeLiar(hub.url) as liar:
        liar.enter(HARBOUR)
        liar.greet(HARBOUR)
        liar.say_frame(LogEntry("liar-1", 1, Asked(1, EdgeQuestion(name))))
        assert liar.body()["declined"][1]["type"].endswith("not-allowed")


def test_account_that_is_revoked_while_its_edge_is_connected(tmp_path):
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        account, token = Accounts(store).create_token("harbour", role="reader")
    with serving(url, identity=True) as served, Edge(":memory:", hub=served.url, token=token) as edge:
        edge.follow(RULE, language="sparql", id="rule")
        edge.start()
        wait_for(lambda: edge.status().link.lag == 0)
        Accounts(served.hub.store).revoke(account.id)
        wait_for(lambda: edge.status().link.state == "away" and "this token is not valid" in edge.status().problem)
        served.hub.publish("<urn:1> <urn:theme> <urn:water> .", uri="urn:a")
        with pytest.raises(ChannelRefused, match="this token is not valid"):
            edge.sync()
        assert held_by(edge) == (set(), {})


# -- hubs that are others


def test_hub_with_another_key_than_the_one_that_was_seen_first_is_not_told_who_asks(tmp_path):
    """It is refused before the token goes to it, and what the edge keeps stays."""
    with Edge(tmp_path / "edge.db", hub="http://127.0.0.1:9", hub_key=EVE.public_key):
        pass
    false = FalseHub(HARBOUR)
    about = {"hub_key": EVE.public_key, "token": "tw_secret_token"}
    with listening(false.serve) as url, Edge(tmp_path / "edge.db", hub=url, **about) as edge:
        with pytest.raises(ChannelRefused, match=f"has the key {HARBOUR.public_key}, and had {EVE.public_key}"):
            edge.sync()
        assert "triplewire edge trust" in edge.status().problem
    assert false.heard
    assert "token" not in "".join(false.heard)


def test_first_key_of_a_hub_is_remembered(tmp_path):
    first = FalseHub(HARBOUR, lies=lambda edge: edge.close())
    with listening(lambda socket: first.serve(socket)) as url:
        with Edge(tmp_path / "edge.db", hub=url) as edge, pytest.raises(ServiceUnavailable, match="has ended"):
            edge.sync()
        first.identity = EVE
        with Edge(tmp_path / "edge.db") as edge, pytest.raises(ChannelRefused, match="something may be in its place"):
            edge.sync()
        with Edge(tmp_path / "edge.db", hub_key=EVE.public_key) as edge, pytest.raises(ServiceUnavailable):
            edge.sync()


def test_hub_that_speaks_another_version_is_refused_in_words(tmp_path):
    false = FalseHub(HARBOUR)
    false.version = 2
    with (
        listening(false.serve) as url,
        Edge(":memory:", hub=url) as edge,
        pytest.raises(ChannelRefused, match=r"it speaks version 2 of the protocol, and this hub version 1: update"),
    ):
        edge.sync()


LIES = {
    "garbage": "{",
    "another message": json.dumps({"about": "offer"}),
    "a newest that is none": json.dumps({"about": "newest", "number": "many"}),
    "no frame": json.dumps({"about": "frame", "frame": 3}),
    "a question": json.dumps(FRAME | {"frame": {"entry": ["e", 1, {"asked": [1, {"edge": "x"}]}, False]}}),
    "half an answer": json.dumps(FRAME | {"frame": {"entry": ["e", 1, {"told": [1, {"number": 1}]}, False]}}),
    "a problem that is none": json.dumps(FRAME | {"frame": {"entry": ["e", 1, {"declined": [1, []]}, False]}}),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_hub_that_says_what_no_hub_says_is_let_go_of(lie):
    with listening(FalseHub(EVE, lambda edge: edge.send(lie)).serve) as url, Edge(":memory:", hub=url) as edge:
        with pytest.raises((ServiceUnavailable, NetworkError), match="it sent"):
            edge.sync()
        assert edge.status().link.state == "away"


def test_answer_without_end_is_not_taken(monkeypatch):
    monkeypatch.setattr(uplinks, "MOST_ANSWER", 100_000)

    def flood(edge) -> None:
        while True:
            edge.send(json.dumps({"part": "x" * 10_000, "left": 1}))

    with (
        listening(FalseHub(EVE, flood).serve) as url,
        Edge(":memory:", hub=url) as edge,
        pytest.raises(ServiceUnavailable, match="a message of more than 100,000 bytes"),
    ):
        edge.sync()
