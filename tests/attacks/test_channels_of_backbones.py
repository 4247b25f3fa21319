"""Who lies on the channel between two hubs of a backbone fails, with a word why; and both go on (M10, P8)."""

from __future__ import annotations

import json

import pytest
from tests.network.channels.wires import EdgeLiar, FalseHub, listening

from backbone.hubs import held
from hub.serving import serving
from triplewire import BackboneHub
from triplewire.hub.identity.accounts import Accounts
from triplewire.network.channels.exchanges import BACKBONE_LINK
from triplewire.network.channels.handshake import BACKBONE_CHANNEL, DIALS, EDGE_CHANNEL, HandshakeEnd
from triplewire.network.channels.identities import HubIdentity
from triplewire.store import Store

TOWN, READER, EVE = (HubIdentity.new("hub") for _ in range(3))
ENTRY = {"about": "frame"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub that asks who its callers are; whatever was tried, an honest one is served at the end."""
    url = f"sqlite:///{tmp_path_factory.mktemp('hub')}/hub.db"
    with Store.open(url) as store:
        Accounts(store).add_key("town", TOWN.public_key, role="admin")
        Accounts(store).add_key("reader", READER.public_key, role="publisher")
        _, token = Accounts(store).create_token("hill", role="admin")
    with serving(url, identity=True, backbone="", backbone_name="harbour") as served:
        served.hub.publish("<urn:1> <urn:theme> <urn:water> .", uri="urn:a")
        yield served
        with BackboneHub(":memory:", name="hill", others=[served.url], token=token) as honest:
            assert honest.sync().away == {}
            assert held(honest) == held(served.hub)


def liar(hub, purpose: str = BACKBONE_CHANNEL) -> EdgeLiar:
    return EdgeLiar(hub.url, BACKBONE_LINK, purpose=purpose)


def entry(body: object) -> dict:
    return ENTRY | {"frame": {"entry": ["e", 1, body, False]}}


# -- hubs that are no members


def test_hub_with_the_key_of_no_account_and_one_that_is_no_admin_are_refused(hub):
    with liar(hub) as eve, pytest.raises(AssertionError, match="--role admin --public-key"):
        eve.enter(EVE)
    with liar(hub) as eve, pytest.raises(AssertionError, match="needs the role admin"):
        eve.enter(READER)


def test_hub_that_takes_the_public_key_of_a_member_does_not_prove_it(hub):
    with liar(hub) as eve:
        end = HandshakeEnd(EVE, "a" * 64, DIALS, purpose=BACKBONE_CHANNEL)
        eve.say(HandshakeEnd(TOWN, "a" * 64, DIALS, purpose=BACKBONE_CHANNEL).hello)
        end.meet(eve.hear())
        eve.say({"proof": end.proof()})
        assert "does not prove it" in eve.hear()["refused"]


def test_handshake_of_a_hub_that_was_captured_is_of_no_use_again(hub):
    captured = HandshakeEnd(TOWN, "a" * 64, DIALS, purpose=BACKBONE_CHANNEL)
    with liar(hub) as honest:
        honest.say(captured.hello)
        captured.meet(honest.hear())
        proof = {"proof": captured.proof()}
        honest.say(proof)
        assert honest.hear() == {"welcome": True}
    with liar(hub) as eve:
        eve.say(captured.hello)
        eve.hear()
        eve.say(proof)
        assert "does not prove it" in eve.hear()["refused"]


def test_proof_for_a_channel_of_an_edge_is_none_for_one_of_a_backbone(hub):
    with liar(hub, EDGE_CHANNEL) as eve, pytest.raises(AssertionError, match="does not prove it"):
        eve.enter(TOWN)


def test_hub_that_speaks_another_version_is_told_which(hub):
    with liar(hub) as eve:
        hello = HandshakeEnd(TOWN, "a" * 64, DIALS, purpose=BACKBONE_CHANNEL).hello
        hello["hello"]["version"] = 99
        eve.say(hello)
        assert "it speaks version 99 of the protocol, and this hub version 1" in eve.hear()["refused"]


# -- hubs that send what none sends

GARBAGE = {
    "half": "{",
    "another message": {"about": "join", "url": "http://127.0.0.1:1"},
    "a newest that is none": {"about": "newest", "number": "many"},
    "a question of lists": entry({"asked": [1, {"member": []}]}),
    "a stamp of one part": entry({"asked": [1, {"member": "x", "schema": [1]}]}),
    "a position that no store can hold": entry({"asked": [1, {"member": "x", "positions": {"y": 1 << 70}}]}),
    "changes that are none": entry({"pass": [1, {"changes": [3]}]}),
    "a NUL": entry({"asked": [1, {"member": "a\0b"}]}),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_hub_that_sends_garbage_is_cut_off_and_told_why(hub, garbage):
    with liar(hub) as eve:
        eve.enter(TOWN)
        eve.say(garbage)
        assert eve.reason().startswith("it sent")


def test_hub_that_nobody_named_is_asked_nothing(hub):
    """It may ask, as the admin that it is; what it would tell does not count here."""
    with liar(hub) as eve:
        eve.enter(TOWN)
        eve.greet(TOWN)
        assert hub.hub.sync().batches == 0
        assert hub.hub.backbone().members == ()


# -- hubs that are others than they were


def test_hub_with_another_key_than_the_one_that_was_given_is_told_no_token():
    false = FalseHub(EVE, purpose=BACKBONE_CHANNEL)
    with (
        listening(false.serve) as url,
        BackboneHub(":memory:", others=[f"{url}#{TOWN.public_key}"], token="tw_secret_token") as honest,
    ):
        (reason,) = honest.sync().away.values()
        assert f"has the key {EVE.public_key}, and had {TOWN.public_key}" in reason
        assert f"{url}#{EVE.public_key}" in reason
    assert false.heard
    assert "token" not in "".join(false.heard)


def test_first_key_of_a_hub_counts_and_another_version_is_refused_in_words(tmp_path):
    false = FalseHub(TOWN, lambda socket: socket.close(), purpose=BACKBONE_CHANNEL)
    with listening(false.serve) as url, BackboneHub(tmp_path / "h.db", others=[url]) as honest:
        honest.sync()
        false.identity = EVE
        assert "something may be in its place" in honest.sync().away[url]
        false.identity, false.version = TOWN, 2
        assert "it speaks version 2 of the protocol, and this hub version 1" in honest.sync().away[url]


LIES = {
    "half an answer": entry({"told": [1, {"batches": []}]}),
    "an answer of an edge's hub": entry({"told": [1, {"position": "", "number": 1, "time": ""}]}),
    "a batch of nothing": entry({"told": [1, {"member": "x", "batches": [None]}]}),
    "a problem that is none": entry({"declined": [1, []]}),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_member_that_says_what_none_says_is_let_go_of(lie):
    false = FalseHub(EVE, lambda socket: socket.send(json.dumps(lie)), purpose=BACKBONE_CHANNEL)
    with listening(false.serve) as url, BackboneHub(":memory:", others=[url]) as honest:
        assert "it sent" in honest.sync().away[url]
        (member,) = honest.backbone().members
        assert member.link.state == "away"
