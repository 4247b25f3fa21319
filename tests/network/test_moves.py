"""A client that reconnects at another hub gets what it missed, once (N8, P7)."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, Both, ends_as_in_one_hub, is_told_as_by_one_hub
from tests.network.pairs import ASKED, THEME

from effort import MANY, examples
from triplewire.errors import NetworkError
from triplewire.network import Simulation

SHAPES = [2, 5, 8, (3,), (2, 2), (2, 1, 2)]
"""Nodes of a hypercube, or sub-units at each level of a hierarchy."""
MOVES = st.one_of(ACTIONS, st.tuples(st.just("move"), st.integers(0, 10), st.integers(0, 10)))


def published(client, number: int) -> None:
    client.publish(f"<urn:d{number}> <{THEME}> <urn:theme/1> .", uri=f"urn:doc{number}")


class Moving(Both):
    """Clients move, and publish where they were first."""

    def act(self, what: str, who: int, which: int) -> None:
        if what == "move":
            if there := [node for node in self.net.nodes if self.welcomes(node)]:
                self.clients[who % len(self.clients)].move(to=there[which % len(there)])
        elif up := [number for number in self.clients if self.is_up(number)]:
            with suppress(NetworkError):  # it ends nothing that is on its way
                super().act(what, who % len(up), which)

    def welcomes(self, node: int) -> bool:
        return node not in self.down and super().is_up(node)

    def is_up(self, number: int) -> bool:
        return not {number, self.clients[number].at} & self.down and number in self.net.nodes

    def publish(self, at, uri, text):
        self.clients[at]._homes[uri] = at
        super().publish(at, uri, text)


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.lists(MOVES, max_size=20))
def test_client_that_moves_is_told_as_by_one_hub_when_each_step_has_time(seed, clusters, actions):
    """Invariant of `network.routing.moves`: what a client has is at one hub, or on one way."""
    is_told_as_by_one_hub(Moving(seed, clusters, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.lists(MOVES, max_size=25))
def test_rows_of_clients_that_move_end_as_those_of_one_hub(seed, clusters, actions):
    ends_as_in_one_hub(Moving(seed, clusters, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.lists(MOVES, max_size=40))
def test_many_histories_of_clients_that_move_end_as_in_one_hub(seed, size, actions):
    ends_as_in_one_hub(Moving(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.parametrize("nodes", [4, 8])
def test_client_whose_super_peer_is_stood_in_for_gets_what_it_missed_when_that_is_back(nodes):
    """P7: the stand-in has no clients of its own, and keeps the question for the one that has."""
    sim = Simulation(seed=3)
    net = sim.hypercube(nodes)
    writer, reader = net.client(at=3), net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    net.crash(1)
    sim.run(seconds=20)  # longer than the neighbours' patience
    reader.move(to=2)
    published(writer, 2)
    sim.run()
    assert reader.events(sid) == []
    net.restart(1)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1", "urn:d2"]


def test_stand_in_that_was_asked_for_a_client_goes_down_as_well_before_the_hub_is_back():
    """P7: what it has kept for the hub is asked anew."""
    sim = Simulation(seed=0)
    net = sim.hypercube(5)
    writer, reader = net.client(at=4), net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    net.crash(1)
    reader.move(to=2)
    published(writer, 1)
    sim.run()
    stand_in = net._hosts["corner-1"]
    assert net._world.state_of("corner-1").moves.held
    net.crash(stand_in)
    net.restart(1)
    net.restart(stand_in)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


def test_node_that_is_back_stands_at_its_corner_again_where_nobody_had_registered_anything():
    """P3: else its clients would miss it when the one that stood in for it goes down."""
    sim = Simulation(seed=0)
    net = sim.hypercube(2)
    reader = net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    net.crash(0)
    sim.run()
    net.restart(0)
    net.crash(1)
    reader.move(to=0)
    net.restart(1)
    published(net.client(at=0), 1)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


def test_node_that_is_back_while_the_one_that_stands_in_for_it_is_down_serves_clients_at_once():
    """P3: nobody has to lose patience with that one first."""
    sim = Simulation(seed=0)
    net = sim.hypercube(3)
    reader = net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    net.crash(0)
    sim.run()
    net.crash(net._hosts["corner-0"])
    net.restart(0)
    published(net.client(at=0), 1)
    for node in net._down.copy():
        net.restart(node)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


def test_client_gets_at_another_broker_what_it_missed_and_nothing_twice():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 4))
    writer, reader = net.client(at=7), net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    published(writer, 2)
    reader.move(to=2)
    published(writer, 3)
    assert reader.events(sid) == []
    with pytest.raises(NetworkError, match="can end when it has arrived"):
        reader.unsubscribe(sid)
    sim.run()
    assert sorted(event.row["d"].value for event in reader.events(sid)) == ["urn:d1", "urn:d2", "urn:d3"]
    reader.unsubscribe(sid)
    published(writer, 4)
    sim.run()


def test_client_that_moves_on_before_it_has_arrived_is_followed():
    sim = Simulation(seed=2)
    net = sim.hierarchy(clusters=(4,))
    writer, reader = net.client(at=3), net.client(at=0)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    for number, node in enumerate((1, 2, 0, 1), start=1):
        reader.move(to=node)
        published(writer, number)
    sim.run()
    assert sorted(event.row["d"].value for event in reader.events(sid)) == [f"urn:d{n}" for n in range(1, 5)]


WAYS = [
    ((3,), (1, 2, 1, 2, 0)),
    ((2, 2), (2, 0, 3, 2, 1, 2)),
    ((2, 1, 2), (1, 3, 2, 3, 1)),
    (8, (0, 6, 0, 5, 6, 0)),
]
"""A network, and where a client is, one after the other: at some nodes again before it has arrived there."""


@pytest.mark.parametrize(("size", "way"), WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_client_that_comes_and_goes_quickly_takes_along_what_it_began_at_each_stop(seed, size, way):
    """Invariant of `network.routing.moves`, P7: also where it is in several moves of one hub at once."""
    sim = Simulation(seed=seed, loss=0.1, duplication=0.1)
    net = sim.hypercube(size) if isinstance(size, int) else sim.hierarchy(clusters=size)
    writer, reader = net.client(at=1), net.client(at=way[0])
    sids = [reader.subscribe(ASKED % 1)]
    for node in way[1:]:
        reader.move(to=node)
        sids.append(reader.subscribe(ASKED % 1))
    sim.run()
    published(writer, 1)
    sim.run()
    for sid in sids:
        assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


@pytest.mark.parametrize("seed", range(5))
def test_client_whose_first_hub_is_down_comes_back_to_the_second_before_it_has_arrived_there(seed):
    """P7: what it has takes each of its moves when the first hub is back."""
    sim = Simulation(seed=seed)
    net = sim.hypercube(5)
    writer, reader = net.client(at=4), net.client(at=0)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    net.crash(0)
    for node in (2, 3, 2):
        reader.move(to=node)
    published(writer, 1)
    sim.run()
    net.restart(0)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


@pytest.mark.parametrize("size", [(4,), (2, 2), 4, 8])
def test_client_that_comes_back_before_the_hubs_know_that_it_went_is_told_of_no_end(size):
    """P7: that a document is of no concern to the hub any more has been overtaken by the client, who has it."""
    pauses = Random(0)
    for seed in range(40):
        sim = Simulation(seed=seed, loss=0.1, duplication=0.1)
        net = sim.hypercube(size) if isinstance(size, int) else sim.hierarchy(clusters=size)
        writer, reader = net.client(at=3), net.client(at=0)
        sid = reader.subscribe(ASKED % 1)
        for number, node in enumerate((1, 0, 1, 2, 1, 0), start=1):
            published(writer, number)
            sim.run(seconds=pauses.random() / 2)
            reader.move(to=node)
        sim.run()
        assert [event.kind for event in reader.events(sid)] == ["matched"] * 6, f"seed {seed}"


def test_hub_that_passed_over_a_document_while_a_client_was_gone_is_sent_it_again():
    """P7: another client there asks for the same, but since later."""
    for seed in range(40):
        sim = Simulation(seed=seed, loss=0.1, duplication=0.1)
        net = sim.hypercube(4)
        writer, reader, other = net.client(at=2), net.client(at=0), net.client(at=0)
        sid = reader.subscribe(ASKED % 1)
        published(writer, 1)
        other.subscribe(ASKED % 1)
        sim.run(seconds=seed % 4 / 100)
        for node in (3, 0):
            reader.move(to=node)
            sim.run(seconds=seed % 5 / 20)
        sim.run()
        assert [event.kind for event in reader.events(sid)] == ["matched"], f"seed {seed}"


def test_client_that_left_a_hub_goes_on_when_another_one_has_its_corner_and_clients():
    sim = Simulation(seed=1)
    net = sim.hypercube(8)
    writer, reader = net.client(at=3), net.client(at=0)
    sid = reader.subscribe(ASKED % 1)
    reader.move(to=6)
    net.leave(0)
    assert net.join() == 0
    another = net.client(at=0)
    other = another.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    for client, id in ((reader, sid), (another, other)):
        assert [event.row["d"].value for event in client.events(id)] == ["urn:d1"]


def test_hub_that_is_stood_in_for_still_knows_where_a_client_is_that_has_nothing_there():
    """P7: which move has ended at a hub is nothing that it may lose."""
    sim = Simulation(seed=1)
    net = sim.hypercube(4)
    writer, reader = net.client(at=3), net.client(at=0)
    reader.move(to=1)
    sim.run()
    net.crash(1)
    sim.run(seconds=20)  # longer than the neighbours' patience
    reader.move(to=2)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    net.restart(1)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1"]


def test_client_whose_broker_is_down_gets_what_it_missed_when_that_is_back():
    sim = Simulation(seed=3)
    net = sim.hierarchy(clusters=(4,))
    writer, reader = net.client(at=3), net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    net.crash(1)
    reader.move(to=2)
    other = reader.subscribe(ASKED % 1)
    published(writer, 2)
    sim.run()
    assert reader.events(sid) == []
    net.restart(1)
    sim.run()
    assert [event.row["d"].value for event in reader.events(sid)] == ["urn:d1", "urn:d2"]
    assert [event.row["d"].value for event in reader.events(other)] == ["urn:d2"]


def test_document_that_a_client_brings_along_is_told_to_others_there_once():
    """It may still be on its way to them."""
    sim = Simulation(seed=5)
    net = sim.hierarchy(clusters=(2, 2))
    here, comes = net.client(at=3), net.client(at=0)
    sids = [client.subscribe(ASKED % 1) for client in (here, comes)]
    sim.run()
    published(comes, 1)
    comes.move(to=3)
    sim.run()
    for client, sid in zip((here, comes), sids, strict=True):
        assert [event.kind for event in client.events(sid)] == ["matched"]


def test_what_a_client_has_published_stays_and_is_changed_there():
    sim = Simulation(seed=4)
    net = sim.hierarchy(clusters=(3,))
    writer, reader = net.client(at=0), net.client(at=2)
    sid = reader.subscribe(ASKED % 1)
    published(writer, 1)
    sim.run()
    writer.move(to=1)
    writer.retract("urn:doc1")
    sim.run()
    assert [event.kind for event in reader.events(sid)] == ["matched", "unmatched"]
