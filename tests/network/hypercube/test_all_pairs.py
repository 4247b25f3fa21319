"""Every hub hears every other one: advertise, subscribe, publish, update, retract, each told once (P3 to P6)."""

from __future__ import annotations

import pytest
from tests.network.pairs import ASKED, THEME, all_pairs_are_told_once

from triplewire.errors import DuplicateSubscription
from triplewire.network import Simulation


@pytest.mark.parametrize(
    ("size", "faults"),
    [
        *((size, {}) for size in (1, 2, 3, 4, 5, 8, 11, 16)),
        (8, {"loss": 0.1, "duplication": 0.1}),
        (11, {"loss": 0.1, "duplication": 0.1}),
        pytest.param(64, {}, marks=pytest.mark.slow),
    ],
)
def test_each_hub_is_told_once_of_what_each_other_one_publishes_changes_and_retracts(size, faults):
    """Of 4,032 pairs in a cube of 64, 384 would be told if interests climbed dimensions as advertisements do."""
    sim = Simulation(seed=size, **faults)
    all_pairs_are_told_once(sim, sim.hypercube(size))


def test_broadcast_of_an_advertisement_takes_one_message_less_than_there_are_nodes():
    sim = Simulation()
    net = sim.hypercube(64)
    sim.run()
    net.client(at=23).advertise(properties=["urn:p"])
    sim.run()
    assert sim.messages["advertise"] == 63


def test_advertisement_that_changes_nothing_for_a_neighbour_stops_there():
    """P4: a second hub with the same advertisement reaches only those who did not know of it in that direction."""
    sim = Simulation()
    net = sim.hypercube(64)
    net.client(at=0).advertise(properties=["urn:p"])
    sim.run()
    net.client(at=0).advertise(properties=["urn:p"])
    sim.run()
    assert sim.messages["advertise"] == 63, "the hub has advertised it already"
    net.client(at=1).advertise(properties=["urn:p"])
    sim.run()
    assert sim.messages["advertise"] == 64, "but for hub 0, all know of it in its direction"


def test_document_costs_messages_only_on_the_way_to_those_who_want_it():
    sim = Simulation()
    net = sim.hypercube(64)
    writer, reader = net.client(at=0), net.client(at=0b101010)
    writer.advertise(properties=[THEME])
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    assert sim.messages["subscribe"] == 3, "one message for each bit in which they differ"
    writer.publish("<urn:d> <urn:theme> <urn:theme/1> .", uri="urn:doc")
    writer.publish("<urn:e> <urn:theme> <urn:theme/2> .", uri="urn:other")
    sim.run()
    assert sim.messages["event"] == 3
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d"]


@pytest.mark.parametrize("first", [0b0001, 0b1001])
def test_hubs_that_ask_the_same_at_about_the_same_time_are_told_of_once_on_the_way(first):
    """P5: whichever of them began first, and whichever arrives first."""
    sent = set()
    for seed in range(20):
        sim = Simulation(seed=seed)
        net = sim.hypercube(16)
        net.client(at=0).advertise(properties=[THEME])
        sim.run(seconds=2)
        for node in (first, 0b1000 ^ first, 0b0101):
            net.client(at=node).subscribe(ASKED % 1)
        sim.run()
        sent.add(sim.messages["subscribe"])
    assert sent == {3}, "9 and 5 ask by way of 1, and 1 asks for all three"


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.2, 0.4])
def test_document_that_a_hub_has_for_nobody_yet_is_told_to_those_who_asked_before(pause):
    """P5, P6: hub 1 asks since the beginning of the second, and hub 3 began to ask before it, and is heard later."""
    for seed in range(25):
        sim = Simulation(seed=seed, delay=(1, 300))
        net = sim.hypercube(4)
        writer, beside, reader = net.client(at=0), net.client(at=1), net.client(at=3)
        writer.advertise(properties=[THEME])
        sim.run(seconds=3)
        sid = reader.subscribe(ASKED % 1)
        writer.publish("<urn:d> <urn:theme> <urn:theme/1> .", uri="urn:doc")
        other = beside.subscribe(ASKED % 1)
        sim.run(seconds=pause)
        writer.publish("<urn:e> <urn:theme> <urn:theme/1> .", uri="urn:doc/2")
        sim.run()
        assert {event.row["d"].value for event in reader.events(sid)} == {"urn:d", "urn:e"}, f"seed {seed}"
        assert [event.row["d"].value for event in beside.events(other)] == ["urn:e"], f"seed {seed}"


def test_id_of_a_subscription_is_taken_once():
    net = Simulation().hypercube(2)
    net.client(at=0).subscribe(ASKED % 1, id="mine")
    with pytest.raises(DuplicateSubscription):
        net.client(at=0).subscribe(ASKED % 2, id="mine")


@pytest.mark.parametrize("how", ["retracted", "changed", "withdrawn", "said anew"])
def test_document_stays_advertised_when_what_was_advertised_for_others_goes(how):
    """P4: what one document, or a client, has advertised for the next one is inherited by it."""
    sim = Simulation(seed=1)
    net = sim.hypercube(4)
    writer, reader = net.client(at=0), net.client(at=3)
    said = writer.advertise(properties=["urn:p"]) if how in ("withdrawn", "said anew") else ""
    writer.publish("<urn:a> <urn:p> 1 .", uri="urn:first")
    writer.publish("<urn:b> <urn:p> 1 .", uri="urn:second")
    sim.run()
    match how:
        case "retracted":
            writer.retract("urn:first")
        case "changed":
            writer.publish("<urn:a> <urn:q> 1 .", uri="urn:first")
        case "withdrawn":
            writer.withdraw(said)
        case _:
            writer.advertise(properties=["urn:q"], id=said)
    sim.run()
    reader.subscribe("SELECT ?d { ?d <urn:p> ?x }")
    sim.run()
    assert net.hub(0).state.heard_interests["corner-1"], "the interest finds the document's hub"
