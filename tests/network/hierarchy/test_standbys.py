"""Controllers have standbys with equal state, which take over without loss (N2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, Both
from tests.network.pairs import ASKED, THEME

from effort import examples
from triplewire.network import Simulation
from triplewire.network.hierarchy import shared_state, standby_of, unit_name

SHAPES = [(3,), (2, 2), (3, 2), (2, 1, 2)]


def published(client, number: int) -> None:
    client.publish(f"<urn:d{number}> <{THEME}> <urn:theme/1> .", uri=f"urn:doc{number}")


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.lists(ACTIONS, max_size=20))
def test_state_of_a_standby_equals_that_of_its_controller_at_rest(seed, clusters, actions):
    """Invariant of `network.hierarchy.standbys`: when all steps have arrived, both states are equal."""
    both = Both(seed, clusters, loss=0.1, duplication=0.1)
    for what, who, which in actions:
        both.act(what, who, which)
    both.settle()
    published(both.clients[0], 1)
    both.sim.run()
    compared = 0
    for unit in both.net._units:
        controller = both.net._world.nodes[unit_name(unit)]
        if both.net.standby(*unit) is not None:
            copy = both.net._world.state_of(standby_of(controller.name)).copy
            expected = shared_state(controller.state)
            for peer, link in expected.links.items():
                assert copy.links[peer].newest == link.newest, "what is said next has the same number"
                assert [*link.waiting] == []
            for state in (copy, expected):
                state.links = {}
            assert copy == expected
            compared += 1
    assert compared or len(both.net.nodes) == 1


@pytest.mark.parametrize("unit", [(), (1,), (0, 0)])
def test_standby_that_leaves_while_its_controller_is_down_hands_on_what_that_knew(unit):
    """N2: what the standby knows is all that is left, until the controller's broker is back."""
    sim = Simulation(seed=3, loss=0.1)
    net = sim.hierarchy(clusters=(2, 2, 4))
    writer, reader = net.client(at=3), net.client(at=15)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    controller, standby = net.controller(*unit), net.standby(*unit)
    published(writer, 2)
    net.crash(controller)
    net.leave(standby)
    published(writer, 3)
    sim.run()
    assert net.controller(*unit) not in (controller, standby)
    told = sorted(event.row["d"].value for event in reader.events(sid))
    assert told == ["urn:d1", "urn:d2", "urn:d3"]
    assert sim.messages["resync"] == 0, "nobody has to be told anew"
    net.restart(controller)
    published(writer, 4)
    sim.run()
    assert len(reader.events(sid)) == 4


def test_new_standby_takes_nothing_of_what_is_still_on_its_way_to_the_one_before():
    """N2: both have one name, and what a controller says to them has numbers from 1 on."""
    for seed in range(60):
        sim = Simulation(seed=seed, delay=(1, 500))
        net = sim.hierarchy(clusters=(4,))
        writer, reader = net.client(at=3), net.client(at=2)
        sid = reader.subscribe(ASKED % 1)
        sim.run(seconds=2)
        published(writer, 1)
        published(writer, 2)
        sim.run(seconds=seed % 10 / 10)
        net.leave(net.standby())
        sim.run(seconds=60)
        sent = sum(sim.messages.values())
        sim.run(seconds=60)
        assert sum(sim.messages.values()) == sent, f"all is said and heard, with seed {seed}"
        net.crash(net.controller())
        sim.run(seconds=60)
        published(writer, 3)
        sim.run(seconds=60)
        assert len(reader.events(sid)) == 3, f"seed {seed}"


@pytest.mark.parametrize("unit", [(), (0,), (1,), (1, 1)])
def test_standby_takes_over_and_nobody_has_to_be_told_anew(unit):
    sim = Simulation(seed=3, loss=0.1)
    net = sim.hierarchy(clusters=(2, 2, 4))
    writer, reader = net.client(at=3), net.client(at=15)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    controller, standby = net.controller(*unit), net.standby(*unit)
    assert controller not in (3, 15)
    assert standby not in (None, 3, 15)
    published(writer, 2)
    net.crash(controller)
    published(writer, 3)
    sim.run()
    assert net.controller(*unit) == standby
    assert net.standby(*unit) not in (None, standby, controller)
    published(writer, 4)
    sim.run()
    assert sorted(event.row["d"].value for event in reader.events(sid)) == [f"urn:d{n}" for n in range(1, 5)]
    assert sim.messages["resync"] == 0


def test_controllers_may_go_down_one_after_the_other_until_one_broker_is_left():
    sim = Simulation(seed=5, loss=0.1)
    net = sim.hierarchy(clusters=(6,))
    client = net.client(at=5)
    sid = client.subscribe(ASKED % 1)
    for number in range(1, 6):
        published(net.client(at=4 if net.controller() != 4 else 5), number)
        sim.run()
        if net.controller() != 5:
            net.crash(net.controller())
        sim.run()
    assert [event.row["d"].value for event in client.events(sid)] == [f"urn:d{n}" for n in range(1, 6)]
    assert sim.messages["resync"] == 0


def test_controller_that_loses_its_standby_goes_on_and_finds_another_one():
    sim = Simulation(seed=5)
    net = sim.hierarchy(clusters=(2, 3))
    writer, reader = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    first = net.standby(0)
    net.partition([first], [node for node in net.nodes if node != first])
    published(writer, 1)
    sim.run()
    assert net.standby(0) not in (None, first)
    assert len(reader.events(sid)) == 1


def test_without_standbys_a_new_controller_is_told_anew():
    sim = Simulation(seed=3)
    net = sim.hierarchy(clusters=(2, 3), standbys=False)
    writer, reader = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    assert net.standby(0) is None
    net.crash(net.controller(0))
    published(writer, 2)
    sim.run()
    assert len(reader.events(sid)) == 2
    assert sim.messages["resync"] > 0
    assert sim.messages["step"] == 0
