"""A live node, run step by step without threads or sockets: what is durable, and when messages leave (X8)."""

from __future__ import annotations

import pytest
from tests.network.live.exchanges import Exchange

from triplewire import parse
from triplewire.errors import StoreError
from triplewire.network.live import NetworkHub
from triplewire.network.routing import NETWORK, DocumentSent


@pytest.fixture
def pair(tmp_path):
    """Two nodes that are members of one network."""
    exchange = Exchange()
    with NetworkHub(tmp_path / "harbour.db", label="harbour") as harbour, NetworkHub(tmp_path / "hill.db") as hill:
        first = exchange.add(harbour, founds=True)
        second = exchange.add(hill, founds=False)
        second.council.joins_by = first.name
        exchange.connect(first, second)
        exchange.run()
        assert second.council.is_member
        yield exchange, first, second


def kinds(hub: NetworkHub) -> list[str]:
    return [event.kind for event in hub.events("water")]


QUERY = "SELECT ?d { ?d <urn:theme> <urn:water> }"
TEXT = "<urn:d1> <urn:theme> <urn:water> ."


def test_no_message_of_a_step_leaves_before_the_step_is_durable(pair):
    """Invariant of `network.live.node`: no message of a step leaves before the step is durable."""
    exchange, first, second = pair
    second._hub.subscribe(QUERY, id="water", reach="network")
    exchange.run()
    first._hub.publish(TEXT, uri="urn:doc")
    exchange.happened.clear()
    exchange.step(first)
    assert exchange.happened[0] == f"durable {first.name}"
    assert f"sent {first.name}" in exchange.happened
    exchange.run()
    assert kinds(second._hub) == ["matched"]


def test_step_that_cannot_be_written_sends_nothing_and_is_done_again(pair):
    exchange, first, second = pair
    second._hub.subscribe(QUERY, id="water", reach="network")
    exchange.run()
    first._hub.publish(TEXT, uri="urn:doc")
    write = first._hub.take_step

    def fail(*about) -> None:
        raise StoreError("the disk is full")

    first._hub.take_step = fail
    exchange.happened.clear()
    with pytest.raises(StoreError, match="the disk is full"):
        exchange.step(first)
    first._taken_back([], exchange.now)
    assert exchange.happened == []
    first._hub.take_step = write
    first._load()
    exchange.run()
    assert kinds(second._hub) == ["matched"]
    assert first._hub.outgoing() == []


def test_node_that_begins_again_goes_on_with_what_was_written(pair, tmp_path):
    exchange, first, second = pair
    second._hub.subscribe(QUERY, id="water", reach="network")
    exchange.run()
    first._hub.publish(TEXT, uri="urn:doc")
    exchange.step(first)  # what it sends is lost with it
    again = exchange.add(first._hub, founds=True)
    exchange.connect(again, second)
    exchange.run()
    first._hub.retract("urn:doc")
    exchange.run()
    assert kinds(second._hub) == ["matched", "unmatched"]
    assert again.council.table == first.council.table


def test_documents_that_were_there_before_the_network_are_told_in_it(tmp_path):
    exchange = Exchange()
    with NetworkHub(tmp_path / "old.db") as old, NetworkHub(tmp_path / "new.db") as new:
        new.publish(TEXT, uri="urn:doc")
        first, second = exchange.add(old, founds=True), exchange.add(new, founds=False)
        old.subscribe(QUERY, id="water", reach="network", start="ever")
        second.council.joins_by = first.name
        exchange.connect(first, second)
        exchange.run()
        assert kinds(old) == ["matched"]


def test_edit_and_pause_of_a_subscription_that_reaches_into_the_network(pair):
    exchange, first, second = pair
    second._hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:land> }", id="water", reach="network")
    first._hub.publish(TEXT, uri="urn:doc")
    exchange.run()
    assert kinds(second._hub) == []
    second._hub.edit("water", text=QUERY, start="ever")
    exchange.run()
    assert kinds(second._hub) == ["matched"]
    assert second._hub.subscription("water").reach == "network"


def test_message_of_a_hub_that_is_no_member_closes_its_channel(pair, caplog):
    exchange, first, _ = pair
    first.opened("eve-0123", "00" * 32)
    first.received("eve-0123", {"about": "handed", "corner": 0, "asked": []})
    exchange.step(first)
    assert "may only ask to join" in exchange.closed[-1]
    assert "the channel to eve-0123 is closed" in caplog.text


@pytest.mark.parametrize("scope", ["document", "graph"])
def test_documents_that_arrive_in_one_step_are_told_as_if_each_had_come_alone(tmp_path, scope):
    """X8: what the first of them names for the first time is not new to the next one."""
    told = []
    for number, together in enumerate((True, False)):
        with NetworkHub(tmp_path / f"{number}.db") as hub:
            hub.subscribe("SELECT ?d ?t { ?d <urn:theme> ?t }", id="water", scope=scope, reach="network")
            texts = [
                ("urn:a", 1, TEXT),
                ("urn:a", 2, TEXT + "<urn:d1> <urn:note> 1 ."),
                ("urn:b", 1, TEXT),
                ("urn:a", 3, ""),
                ("urn:b", 2, "<urn:d1> <urn:theme> <urn:sea> ."),
            ]
            sent = [DocumentSent("corner-1", uri, version, 1.0, parse(text, uri=uri)) for uri, version, text in texts]
            for step in [sent] if together else [[each] for each in sent]:
                hub.take_step([(each, NETWORK) for each in step], {}, [])
            rows = [(row["d"].value, row["t"].value) for row in hub.rows("water")]
            told.append((rows, [(event.kind, event.row) for event in hub.events("water")]))
            assert list(hub.store.problems()) == []
    assert told[0] == told[1]
    assert told[0][0] == [("urn:d1", "urn:sea")]
