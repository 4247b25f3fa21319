"""Subscribers that move between hubs of a live network (P7), and those that may not (P8)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.network.live.federations import WATER, about, federation, kinds, wait_for

from hub.serving import problem
from triplewire.client import Client
from triplewire.errors import BadRequest
from triplewire.wire.keys import move_text, new_private_key, public_key_of, signature_of


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """Three hubs that do not ask who their callers are."""
    with federation(tmp_path_factory.mktemp("moves"), 3) as hubs:
        yield hubs


def name(served) -> str:
    return served.get("/v1/network").json()["name"]


def move(old, new, **more):
    with Client(new.url) as client:
        return client.move_from(name(old), **more)


def test_subscription_goes_on_at_another_hub_with_what_was_not_read(cube):
    """P7: its log is there, nothing of it is told again, and what comes later is."""
    old, new, writer = cube
    old.subscribe("water", WATER, reach="network", title="Water")
    for number in range(3):
        writer.publish(f"urn:doc{number}", about(number))
    wait_for(lambda: len(kinds(old)) == 3)
    told = move(old, new)
    assert [each.id for each in told.subscriptions] == ["water"]
    assert old.get("/v1/subscriptions/water").status_code == 404
    assert kinds(new) == [f"matched <urn:d{number}>" for number in range(3)]
    writer.publish("urn:doc0", about(0, " ; <urn:depth> 3"))
    writer.retract("urn:doc1")
    writer.publish("urn:doc3", about(3))
    wait_for(lambda: len(kinds(new)) == 6)
    assert sorted(kinds(new)[3:]) == ["changed <urn:d0>", "matched <urn:d3>", "unmatched <urn:d1>"]
    assert new.get("/v1/subscriptions/water").json()["title"] == "Water"


def test_events_that_were_read_do_not_come_along(cube):
    """P7: `after` says how far it was read."""
    old, new, writer = cube
    old.subscribe("read", "SELECT ?x { ?x <urn:read> ?y }", reach="network")
    for number in range(2):
        writer.publish(f"urn:read{number}", f"<urn:r{number}> <urn:read> 1 .")
    wait_for(lambda: len(old.events("read")["events"]) == 2)
    first = old.events("read")["events"][0]["cursor"]
    move(old, new, subscriptions=["read"], after={"read": first})
    (event,) = new.events("read")["events"]
    assert event["row"] == {"x": "<urn:r1>"}


def test_moving_to_and_fro_while_events_flow_tells_each_once(cube):
    """P7: the log at the last hub is what one hub would have told."""
    first, second, writer = cube
    first.subscribe("flow", "SELECT ?x { ?x <urn:flow> ?y }", reach="network")
    places = [first, second] * 3
    for number, (old, new) in enumerate(pairwise(places)):
        for more in range(3):
            writer.publish(f"urn:flow{number}-{more}", f"<urn:f{number}-{more}> <urn:flow> 1 .")
        move(old, new, subscriptions=["flow"])
    last = places[-1]
    wait_for(lambda: len(last.events("flow")["events"]) >= 15)
    told = [f"{each['kind']} {each['row']['x']}" for each in last.events("flow")["events"]]
    assert sorted(told) == sorted(f"matched <urn:f{number}-{more}>" for number in range(5) for more in range(3))


def test_hub_that_is_unknown_or_gone_is_named_with_what_to_do(cube):
    with Client(cube[0].url) as client, pytest.raises(BadRequest, match="is no hub of this network"):
        client.move_from("nowhere-000000000000000000000000")


# -- attacks


@pytest.fixture
def owned(cube, tmp_path):
    """A subscription of maja's at the first hub, which asks whose key it is; and her key in a file."""
    pem = new_private_key()
    (tmp_path / "maja.pem").write_bytes(pem)
    old = cube[0].server.config.app.state.service.federation._questions._old
    before, old._owners = old._owners, lambda key: ["maja"] if key == public_key_of(pem) else []
    cube[0].hub.subscribe(WATER, id="hers", owner="maja", reach="network")
    yield tmp_path / "maja.pem"
    old._owners = before
    for each in cube:
        each.delete("/v1/subscriptions/hers")


def asked(old, new, pem: bytes) -> dict:
    """A challenge of the old hub, and what its answer begins with."""
    key = {"hub": name(old), "key": public_key_of(pem)}
    told = new.post("/v1/network/moves/challenge", json=key)
    assert told.status_code == 200, told.text
    return key | {part: told.json()[part] for part in ("generation", "nonce")}


def signed(old: str, new: str, wanted: dict, pem: bytes) -> dict:
    text = move_text(old, new, wanted["key"], wanted["generation"], wanted["nonce"])
    return wanted | {"signature": signature_of(pem, text)}


def test_another_account_cannot_move_a_subscription(cube, owned, caplog):
    """P8: with a key of its own, or with the owner's public key and its own signature."""
    old, new, _ = cube
    thief, hers = new_private_key(), owned.read_bytes()
    own = signed(name(old), name(new), asked(old, new, thief), thief)
    assert "that of no account here" in problem(new.post("/v1/network/moves", json=own), 403)["detail"]
    forged = signed(name(old), name(new), asked(old, new, hers), thief)
    assert "is not that of the account's key" in problem(new.post("/v1/network/moves", json=forged), 403)["detail"]
    assert f"a move to {name(new)} is refused" in caplog.text
    assert old.get("/v1/subscriptions/hers").status_code == 200


def test_proof_for_one_hub_is_of_no_use_at_another_and_none_counts_twice(cube, owned, caplog):
    """P8: both names are signed, and the nonce is the old hub's, for the new one."""
    old, new, other = cube
    pem = owned.read_bytes()
    good = signed(name(old), name(new), asked(old, new, pem), pem)
    assert "is none of this hub for this move" in problem(other.post("/v1/network/moves", json=good), 403)["detail"]
    assert new.post("/v1/network/moves", json=good).status_code == 200
    assert "was used already" in problem(new.post("/v1/network/moves", json=good), 403)["detail"]
    assert "this proof was used already" in caplog.text


def test_hub_that_is_no_member_or_speaks_for_another_is_not_heard(cube, caplog):
    """P8: a move is asked for by the new hub itself, over its own channel."""
    old, new, other = cube
    questions = old.server.config.app.state.service.federation._questions
    wanted = {"about": "question", "kind": "move", "to": name(old), "id": 1, "hops": 0, "key": ""}
    questions.hear("stranger-000000000000000000000000", wanted | {"from": name(new)})
    assert "stranger-000000000000000000000000 asks for is refused: it is no member" in caplog.text
    questions.hear(name(other), wanted | {"from": name(new)})
    assert f"passes on for {name(new)} is refused" in caplog.text
