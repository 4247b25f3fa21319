"""Networks whose hubs are not all linked: on any graph clients are told what one hub would tell them (N7)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, Both, ends_as_in_one_hub, is_told_as_by_one_hub
from tests.network.pairs import ASKED, THEME

from effort import MANY, examples
from triplewire.errors import NetworkError
from triplewire.network import Simulation
from triplewire.network.maps import RoutedFrame
from triplewire.network.simulation.wirings import drawn_links


class Linked(Both):
    """A network on a random graph: what is cut is a link, or all links of a node."""

    def network(self, size):
        chance = Random(str(size) + str(self.seed))
        nodes = size if isinstance(size, int) else len(Simulation().hierarchy(clusters=size).nodes)
        links = drawn_links(nodes, nodes - 1 + chance.randrange(5), chance)
        self.links = links
        return (
            self.sim.hypercube(size, links=links)
            if isinstance(size, int)
            else self.sim.hierarchy(clusters=size, links=links)
        )

    def __init__(self, seed, size, **faults) -> None:
        self.seed = seed
        super().__init__(seed, size, **faults)

    def act(self, what: str, who: int, which: int) -> None:
        try:
            super().act(what, who, which)
        except NetworkError as error:
            if "lose their way" not in str(error):
                raise


FAULTS = st.tuples(st.sampled_from(["link down", "link up"]), st.integers(0, 20), st.just(0))


class LinkFaults(Linked):
    """Single links fail, and return."""

    def act(self, what: str, who: int, which: int) -> None:
        if not what.startswith("link "):
            super().act(what, who, which)
        elif self.links:
            a, b, _ = self.links[who % len(self.links)]
            if a in self.net.nodes and b in self.net.nodes:
                self.net.partition([a], [b]) if what == "link down" else self.net.mend(a, b)


SIZES = [3, 4, 6, (3,), (2, 2), (2, 1, 2), (3, 2)]


@example(1, (2, 1, 2), [("subscribe", 0, 0), ("leave", 1, 0)])  # a path goes by a router that is not there any more
@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(st.one_of(ACTIONS, FAULTS), max_size=20))
def test_each_event_is_told_as_by_one_hub_on_any_graph(seed, size, actions):
    is_told_as_by_one_hub(LinkFaults(seed, size, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(st.one_of(ACTIONS, FAULTS), max_size=25))
def test_rows_end_as_those_of_one_hub_on_any_graph_whatever_happens_meanwhile(seed, size, actions):
    ends_as_in_one_hub(LinkFaults(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(st.one_of(ACTIONS, FAULTS), max_size=40))
def test_many_histories_on_any_graph_end_as_in_one_hub(seed, size, actions):
    ends_as_in_one_hub(LinkFaults(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(st.one_of(ACTIONS, FAULTS), max_size=25))
def test_many_histories_on_any_graph_are_told_as_by_one_hub(seed, size, actions):
    is_told_as_by_one_hub(LinkFaults(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.parametrize(("nodes", "links", "expected"), [(1, 5, 0), (6, 0, 5), (6, 9, 9), (4, 99, 6)])
def test_links_that_are_drawn_connect_all_nodes(nodes, links, expected):
    drawn = drawn_links(nodes, links, Random(7))
    assert len({(a, b) for a, b, _ in drawn}) == len(drawn) == expected
    Simulation().hypercube(nodes, links=drawn)


def published(client, number: int, **options) -> None:
    client.publish(f"<urn:d{number}> <{THEME}> <urn:theme/1> .", uri=f"urn:doc{number}", **options)


class Seen:
    """The ways of frames between hubs."""

    def __init__(self, sim: Simulation) -> None:
        self.paths: list[tuple[str, ...]] = []
        sim._world.witnesses.append(self._see)

    def _see(self, sender, receiver, frame, arrives) -> None:
        if isinstance(frame, RoutedFrame):
            self.paths.append((*frame.path, receiver))


def test_no_frame_is_twice_at_one_node_on_a_cyclic_graph():
    sim = Simulation(seed=4, loss=0.05)
    net = sim.hierarchy(clusters=(3, 3), links=[(a, b, 1.0) for b in range(9) for a in range(b)])
    seen = Seen(sim)
    clients = [net.client(at=node) for node in net.nodes]
    sids = [client.subscribe(ASKED % 1) for client in clients]
    sim.run()
    assert all(len({*path}) == len(path) for path in seen.paths)
    seen.paths.clear()
    for number, client in enumerate(clients):
        published(client, number)
    sim.run()
    assert seen.paths
    assert all(len(path) == 2 for path in seen.paths), "all are linked, and the map says so: one step is enough"
    for client, sid in zip(clients, sids, strict=True):
        assert sorted(event.row["d"].value for event in client.events(sid)) == [f"urn:d{n}" for n in range(9)]


GATES = [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (3, 4, 1.0), (4, 5, 1.0), (5, 3, 1.0), (2, 3, 2.0), (0, 5, 8.0)]
"""Two units of three brokers, between which there are two gateways: a cheap one and a dear one."""


def test_another_gateway_is_taken_when_one_fails_and_the_first_again_when_it_is_back():
    sim = Simulation(seed=4)
    net = sim.hierarchy(clusters=(2, 3), links=GATES)
    reader, writer = net.client(at=1), net.client(at=4)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    assert net.route(1, 4) == [1, 2, 3, 4]
    net.partition([2], [3])
    published(writer, 1)
    sim.run()
    assert net.route(1, 4) == [1, 0, 5, 4]
    net.mend(2, 3)
    published(writer, 2)
    sim.run()
    assert net.route(1, 4) == [1, 2, 3, 4]
    net.crash(3)
    published(writer, 3)
    sim.run()
    assert net.route(1, 4) == [1, 0, 5, 4]
    net.restart(3)
    sim.run()
    assert net.route(1, 4) == [1, 2, 3, 4]
    assert [event.row["d"].value for event in reader.events(sid)] == [f"urn:d{n}" for n in (1, 2, 3)]


def test_what_is_of_a_unit_stays_on_its_links_while_these_lead_there():
    sim = Simulation(seed=4)
    links = [(0, 1, 9.0), (1, 2, 9.0), (3, 4, 1.0), (4, 5, 1.0), (0, 3, 1.0), (2, 5, 1.0)]
    net = sim.hierarchy(clusters=(2, 3), links=links)
    reader, writer = net.client(at=0), net.client(at=2)
    sid = reader.subscribe(ASKED % 1, reach="cluster")
    sim.run()
    assert net.route(0, 2) == [0, 1, 2], "the way through the other unit would cost 4"
    net.partition([0], [1])
    published(writer, 1, reach="cluster")
    sim.run()
    assert net.route(0, 2) == [0, 3, 4, 5, 2]
    assert len(reader.events(sid)) == 1


def test_trace_tells_the_steps_on_the_way():
    sim = Simulation(seed=4)
    net = sim.hierarchy(clusters=(2, 3), links=GATES)
    reader, writer = net.client(at=1), net.client(at=4)
    reader.subscribe(ASKED % 1)
    sim.run()
    trace, hops = sim.trace("urn:doc1"), sim.hops()
    published(writer, 1)
    sim.run()
    story = [sight.sentence for sight in trace.story([])]
    assert any("on its way to node" in sentence for sentence in story)
    assert max(hops.counts) >= 3


def test_links_that_leave_nodes_apart_are_refused():
    with pytest.raises(ValueError, match="apart"):
        Simulation().hierarchy(clusters=(2, 2), links=[(0, 1), (2, 3)])
    net = Simulation().hierarchy(clusters=(3,), links=[(0, 1), (1, 2)])
    with pytest.raises(NetworkError, match="lose their way"):
        net.leave(1)
    net.link(0, 2)
    net.leave(1)
    assert net.nodes == (0, 2)


def test_node_that_joins_is_linked_to_the_nearest_and_served():
    sim = Simulation(seed=4)
    net = sim.hierarchy(clusters=(2, 3), links=GATES)
    reader = net.client(at=1)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    node = net.join((1,))
    published(net.client(at=node), 1)
    sim.run()
    assert len(reader.events(sid)) == 1
    assert net.route(1, node) is not None


def test_node_that_takes_the_place_of_one_that_has_left_is_known_by_its_own_links():
    sim = Simulation(seed=4)
    net = sim.hypercube(4, links=[(0, 1, 1.0), (1, 3, 1.0), (3, 2, 1.0), (2, 0, 1.0), (0, 3, 1.0), (1, 2, 1.0)])
    sim.run()
    net.partition([3], [0, 1, 2])
    sim.run()
    net.heal()
    sim.run()
    net.leave(3)
    sim.run()
    assert net.join() == 3
    reader, writer = net.client(at=0), net.client(at=3)
    sid = reader.subscribe(ASKED % 1)
    sim.run()
    published(writer, 1)
    sim.run()
    assert len(reader.events(sid)) == 1
    assert net.route(0, 3) is not None


def test_node_that_is_down_is_not_linked():
    sim = Simulation(seed=4)
    net = sim.hierarchy(clusters=(2, 3), links=GATES)
    net.crash(1)
    with pytest.raises(NetworkError, match="linked when it is up"):
        net.link(1, 4)


def test_network_without_links_says_so():
    net = Simulation().hierarchy(clusters=(2,))
    for ask in (lambda: net.route(0, 1), lambda: net.link(0, 1), lambda: net.mend(0, 1), net.measure):
        with pytest.raises(NetworkError, match="links="):
            ask()


@pytest.mark.parametrize("network", ["cube", "cube with links", "hierarchy", "ring"])
def test_crash_of_a_node_that_is_down_changes_nothing(network):
    """X13: also when another node has taken its place meanwhile."""
    sim = Simulation(seed=1)
    makes = {
        "cube": lambda: sim.hypercube(3),
        "cube with links": lambda: sim.hypercube(3, links=[(0, 1), (1, 2), (0, 2)]),
        "hierarchy": lambda: sim.hierarchy(clusters=(2, 2)),
        "ring": lambda: sim.ring(4),
    }
    net = makes[network]()
    net.crash(0)
    sim.run()
    net.crash(0)
    net.restart(0)
    sim.run()
    client = net.client(at=0)
    sid = client.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> }")
    net.client(at=1).publish("<urn:d> <urn:theme> <urn:water> .", uri="urn:doc")
    sim.run()
    assert [event.kind for event in client.events(sid)] == ["matched"]
