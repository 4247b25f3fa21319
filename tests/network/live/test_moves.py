"""Subscribers that move between hubs of a live network (P7), and those that may not (P8)."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise

import pytest
from tests.network.live.exchanges import Exchange
from tests.network.live.federations import WATER, about, federation, kinds, wait_for
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.client import Client
from triplewire.errors import BadRequest, DuplicateSubscription
from triplewire.network.live import NetworkHub


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
    """Invariant of `network.live.moves`: what an account has is at one hub, or kept for one other hub, at any time.

    So the log at the last hub is what one hub would have told (P7).
    """
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


def test_hub_that_has_no_room_refuses_before_anything_moves(cube):
    """An id is taken, and what is at the old hub stays there."""
    old, new, writer = cube
    old.subscribe("both", "SELECT ?x { ?x <urn:both> ?y }", reach="network")
    new.subscribe("both", "SELECT ?x { ?x <urn:other> ?y }")
    with pytest.raises(DuplicateSubscription):
        move(old, new, subscriptions=["both"])
    writer.publish("urn:both", "<urn:b> <urn:both> 1 .")
    wait_for(lambda: len(old.events("both")["events"]) == 1)


def test_subscription_that_cannot_move_says_why(cube):
    old, new, _ = cube
    old.subscribe("stays", WATER, reach="hub")
    with pytest.raises(BadRequest, match='its reach is "hub"'):
        move(old, new, subscriptions=["stays"])
    assert old.delete("/v1/subscriptions/stays").status_code == 204


def test_paused_subscription_moves_with_what_waits_and_what_it_has_missed(cube):
    """P7: what was told before the pause is there to be read; of the rest, two wait, and the others are missed."""
    old, new, writer = cube
    old.subscribe("away", "SELECT ?x { ?x <urn:away> ?y }", reach="network")
    writer.publish("urn:away0", "<urn:a0> <urn:away> 1 .")
    wait_for(lambda: len(old.events("away")["events"]) == 1)
    old.patch("/v1/subscriptions/away", json={"paused": True, "keep_events": 2})
    for number in range(1, 5):
        writer.publish(f"urn:away{number}", f"<urn:a{number}> <urn:away> 1 .")
    wait_for(lambda: len(old.get("/v1/subscriptions/away/rows").json()["rows"]) == 5)
    move(old, new, subscriptions=["away"])
    assert [each["row"]["x"] for each in new.events("away")["events"]] == ["<urn:a0>"]
    assert new.get("/v1/subscriptions/away").json()["paused_since"] is not None
    writer.publish("urn:away5", "<urn:a5> <urn:away> 1 .")
    wait_for(lambda: len(new.get("/v1/subscriptions/away/rows").json()["rows"]) == 6)
    with Client(new.url) as client:
        client.resume("away")
        assert [event.row["x"].value for event in client.events("away")] == ["urn:a0", "urn:a4", "urn:a5"]
        before, here = client.missed("away")
    assert before.reason.startswith(f"more than 2 events waited (at {name(old)}, after cursor ")
    assert before.after == before.until, "cursors of the old hub mean nothing here"
    assert here.until == here.after + 1


def test_subscriber_cannot_move_to_where_it_is(cube):
    with pytest.raises(BadRequest, match="you are at this hub already"):
        move(cube[0], cube[0])


def test_command_moves_and_says_from_which_cursor_on(cube):
    old, new, writer = cube
    old.subscribe("told", "SELECT ?x { ?x <urn:told> ?y }", reach="network")
    found = CliRunner().invoke(app, ["network", "move", new.url, name(old), "told", "--after", "told=0"])
    assert found.exit_code == 0, found.output
    assert "told: goes on here, with events after cursor" in found.output
    writer.publish("urn:told", "<urn:t> <urn:told> 1 .")
    wait_for(lambda: len(new.events("told")["events"]) == 1)
    wrong = CliRunner().invoke(app, ["network", "move", new.url, name(old), "--after", "told"])
    assert wrong.exit_code == 2


def test_document_that_came_by_is_told_to_who_subscribes_on_its_way(tmp_path):
    """At a hub through which it has gone to another one, without anybody there who wanted it."""
    exchange = Exchange()
    with ExitStack() as stack:
        hubs = [stack.enter_context(NetworkHub(tmp_path / f"{number}.db")) for number in range(3)]
        exchange.form(hubs)
        hubs[2].subscribe(WATER, id="water", reach="network", start="ever")
        exchange.run()
        hubs[1].publish(about(1), uri="urn:doc")
        exchange.run()
        hubs[0].subscribe(WATER, id="late", reach="network", start="ever")
        exchange.run()
        assert [event.kind for event in hubs[0].events("late")] == ["matched"]
        hubs[2].unsubscribe("water")
        hubs[1].retract("urn:doc")
        exchange.run()
        assert [event.kind for event in hubs[0].events("late")] == ["matched", "unmatched"]


# -- channels


def test_hub_that_is_no_member_or_speaks_for_another_is_not_heard(cube, caplog):
    """P8: a move is asked for by the new hub itself, over its own channel."""
    old, new, other = cube
    questions = old.server.config.app.state.service.federation._questions
    wanted = {"about": "question", "kind": "move", "to": name(old), "id": 1, "hops": 0, "key": ""}
    questions.hear("stranger-000000000000000000000000", wanted | {"from": name(new)})
    assert "stranger-000000000000000000000000 asks for is refused: it is no member" in caplog.text
    questions.hear(name(other), wanted | {"from": name(new)})
    assert f"passes on for {name(new)} is refused" in caplog.text
