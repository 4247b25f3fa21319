"""Every broker hears every other one, and nobody hears what it does not want (N2)."""

from __future__ import annotations

import pytest
from tests.network.pairs import ASKED, THEME, all_pairs_are_told_once

from triplewire.network import Simulation

BAD = {"loss": 0.1, "duplication": 0.1}


@pytest.mark.parametrize(
    ("clusters", "faults"),
    [
        *((clusters, {}) for clusters in ((1,), (5,), (2, 3), (2, 2, 2), (2, 1, 2, 2))),
        ((2, 2, 2), BAD),
        ((3, 4), BAD),
        pytest.param((4, 4, 4), {}, marks=pytest.mark.slow),
    ],
)
def test_each_broker_is_told_once_of_what_each_other_one_publishes_changes_and_retracts(clusters, faults):
    sim = Simulation(seed=len(clusters), **faults)
    all_pairs_are_told_once(sim, sim.hierarchy(clusters=clusters))


def test_advertisement_climbs_and_a_profile_descends_to_it_alone():
    sim = Simulation()
    net = sim.hierarchy(clusters=(4, 4, 4))
    sim.run()
    net.client(at=63).advertise(properties=[THEME])
    sim.run()
    assert sim.messages["advertise"] == 3, "once to the controller of each level"
    net.client(at=1).subscribe(ASKED % 1)
    sim.run()
    assert sim.messages["subscribe"] == 6, "up to the controller of the network, and down to the publisher"


def test_brokers_that_want_nothing_take_nothing_in():
    """But for those who control a unit on the way."""
    sim = Simulation()
    net = sim.hierarchy(clusters=(4, 4, 4))
    writer, reader = net.client(at=63), net.client(at=1)
    sim.run()
    sid = reader.subscribe(ASKED % 1)
    writer.advertise(properties=[THEME])
    sim.run()
    before = sim.loads.copy()
    writer.publish("<urn:d> <urn:theme> <urn:theme/1> .", uri="urn:doc")
    writer.publish("<urn:e> <urn:theme> <urn:theme/2> .", uri="urn:other")
    sim.run()
    way = [net.controller(*unit) for unit in ((3, 3), (3,), (), (0,), (0, 0))]
    assert dict(sim.loads - before) == dict.fromkeys([*way, 1], 1)
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d"]
