"""The situations of the brokering paper, in its figure 1: nodes 1 to 21 in three super-clusters (N2 to N4).

SC-1 has nodes 1 to 9, SC-2 has 10 to 15, SC-3 has cluster m (16, 17, 18) and cluster n (19, 20, 21). Where the paper
says that a node is a controller, this is one of the unit's brokers, and another one stands by.
"""

from __future__ import annotations

import pytest
from tests.network.pairs import ASKED, THEME

from triplewire.errors import UnitFull
from triplewire.network import Simulation
from triplewire.network.hierarchy import MOST_LEVELS, MOST_SUB_UNITS, standby_of, unit_name, vectors

NODES = {**{node: node - 1 for node in range(1, 16)}, **{node: node + 2 for node in range(16, 22)}}
"""The paper's numbers, and those of the brokers in a network of (3, 3, 3)."""
SC_3, CLUSTER_N = (2,), (2, 1)


class Figure:
    """The network of figure 1, at rest."""

    def __init__(self) -> None:
        self.sim = Simulation(seed=1)
        self.net = self.sim.hierarchy(clusters=(3, 3, 3))
        self.sim.run()

    def client(self, node: int):
        return self.net.client(at=NODES[node])

    def path(self, node: int) -> tuple[int, ...]:
        return self.net.path(NODES[node])

    def subscribed(self, *nodes: int, theme: int = 1, **options):
        found = [(client := self.client(node), client.subscribe(ASKED % theme, **options)) for node in nodes]
        self.sim.run()
        return found

    def published(self, node: int, theme: int = 1, **options) -> None:
        uri = f"urn:doc/{node}/{theme}"
        self.client(node).publish(f"<{uri}#it> <{THEME}> <urn:theme/{theme}> .", uri=uri, **options)
        self.sim.run()

    def profiles_at(self, *unit: int) -> dict[tuple[int, ...], int]:
        """How many profiles a controller has of each sub-unit."""
        heard = self.hub(*unit).state.heard_interests
        counted = {sub: len(heard[unit_name((*unit, sub))]) for sub in range(3)}
        return {(*unit, sub): count for sub, count in counted.items() if count}

    def hub(self, *unit: int):
        return self.net._world.nodes[unit_name(unit)]


@pytest.fixture
def figure() -> Figure:
    return Figure()


def told(found) -> list[int]:
    return [len(client.events(sid)) for client, sid in found]


# -- section 5.1: organizing profiles


def test_cluster_controller_has_a_profile_of_node_21_as_coming_from_node_21(figure):
    figure.subscribed(21)
    assert figure.profiles_at(*CLUSTER_N) == {figure.path(21): 1}


def test_super_cluster_controller_has_it_as_coming_from_cluster_n(figure):
    figure.subscribed(21)
    assert figure.profiles_at(*SC_3) == {CLUSTER_N: 1}


def test_super_super_cluster_controller_has_it_as_coming_from_sc_3(figure):
    figure.subscribed(21)
    assert figure.profiles_at() == {SC_3: 1}


def test_cluster_controller_keeps_track_of_the_profiles_of_its_nodes_alone(figure):
    for theme, node in enumerate((19, 20, 21, 16, 1)):
        figure.subscribed(node, theme=theme)
    assert figure.profiles_at(*CLUSTER_N) == {figure.path(node): 1 for node in (19, 20, 21)}


def test_super_super_cluster_controller_keeps_track_of_the_profiles_of_all_nodes(figure):
    for node in NODES:
        figure.subscribed(node, theme=node)
    assert figure.profiles_at() == {(0,): 9, (1,): 6, (2,): 6}


def test_both_controllers_of_the_super_super_cluster_have_aggregated_the_same(figure):
    """The paper's nodes 1 and 10."""
    for node in (3, 12, 21):
        figure.subscribed(node, theme=node)
    standby = figure.net._world.state_of(standby_of(unit_name(())))
    assert standby.copy.heard_interests == figure.hub().state.heard_interests
    assert figure.net.standby() != figure.net.controller()


def test_profile_that_a_wider_one_of_its_cluster_covers_does_not_climb(figure):
    client = figure.client(19)
    client.subscribe(f"SELECT ?d {{ ?d <{THEME}> ?x }}")
    figure.sim.run()
    figure.subscribed(21)
    assert figure.profiles_at(*CLUSTER_N) == {figure.path(19): 1, figure.path(21): 1}
    assert figure.profiles_at(*SC_3) == {CLUSTER_N: 1}


def test_profile_is_withdrawn_at_all_levels_when_the_last_that_needs_it_goes(figure):
    found = figure.subscribed(19, 21)
    for (client, sid), left in zip(found, (1, 0), strict=True):
        client.unsubscribe(sid)
        figure.sim.run()
        assert len(figure.profiles_at(*SC_3)) == len(figure.profiles_at()) == left


# -- section 5.2: matching profiles


def test_nodes_19_and_20_share_no_bit_and_both_are_in_the_vector_of_both(figure):
    """The paper's codes 0011 and 0101 share one."""
    codes = [vectors(figure.path(node))[-1] for node in (19, 20, 21)]
    assert codes == [0b001, 0b010, 0b100]
    assert codes[0] & codes[1] == 0
    assert codes[0] | codes[1] == 0b011


def test_event_that_nodes_19_and_20_want_reaches_both(figure):
    """With the paper's codes the one would have been passed over after the other."""
    found = figure.subscribed(19, 20)
    figure.published(1)
    assert told(found) == [1, 1]


def test_each_of_1048576_nodes_is_four_integers_of_32_bits():
    assert MOST_SUB_UNITS**MOST_LEVELS == 1_048_576
    assert all(0 < vector < 1 << 32 for vector in vectors((31, 31, 31, 31)))
    assert len({vectors((a, b)) for a in range(32) for b in range(32)}) == 1024


def test_33rd_node_of_a_cluster_is_refused():
    net = Simulation().hierarchy(clusters=(32,))
    with pytest.raises(UnitFull, match="at most 32"):
        net.join()


def test_destination_that_is_reached_is_sent_the_event_once(figure):
    """Two profiles of cluster n match, and one message goes there."""
    figure.subscribed(19, 21)
    figure.subscribed(20, theme=2)
    figure.sim.messages.clear()
    uri = "urn:doc"
    figure.client(1).publish(f"<{uri}#it> <{THEME}> <urn:theme/1>, <urn:theme/2> .", uri=uri)
    figure.sim.run()
    sent = figure.hub().state.documents[unit_name(figure.path(1)), uri].sent
    assert set(sent) == {unit_name(SC_3)}
    assert set(figure.hub(*SC_3).state.documents[unit_name(figure.path(1)), uri].sent) == {unit_name(CLUSTER_N)}


def test_all_clients_of_a_broker_are_told_however_many_they_are(figure):
    found = figure.subscribed(*[21] * 40)
    figure.published(10)
    assert told(found) == [1] * 40


def test_event_that_nobody_wants_stays_where_it_was_published(figure):
    figure.subscribed(21, theme=2)
    figure.sim.messages.clear()
    figure.published(1)
    assert figure.sim.messages["event"] == 0


def test_event_does_not_come_back_to_the_unit_that_it_came_from(figure):
    """No echo."""
    figure.subscribed(19, 20, 1)
    figure.published(21)
    key = unit_name(figure.path(21)), "urn:doc/21/1"
    assert set(figure.hub(*CLUSTER_N).state.documents[key].sent) == {
        *(unit_name(figure.path(node)) for node in (19, 20)),
        unit_name(SC_3),
    }
    assert set(figure.hub().state.documents[key].sent) == {unit_name((0,))}


# -- section 5.3: queries


def test_query_of_node_21_climbs_from_its_cluster_to_sc_3_and_to_the_super_super_cluster(figure):
    figure.published(1)
    query = figure.client(21).find(ASKED % 1)
    figure.sim.run()
    assert [document.uri for document in query.found.documents] == ["urn:doc/1/1"]


def test_query_is_not_asked_again_in_the_unit_that_it_came_from(figure):
    """Node 20 does not look for what node 21 has, nor node 16 for what cluster n has."""
    figure.published(21)
    figure.published(19)
    figure.sim.messages.clear()
    query = figure.client(21).find(ASKED % 1)
    figure.sim.run()
    assert {document.uri for document in query.found.documents} == {"urn:doc/21/1", "urn:doc/19/1"}
    assert figure.sim.messages["query"] <= 4, "to the controllers of three levels, and to node 19"


def test_query_is_propagated_for_the_number_that_is_not_found_yet(figure):
    for node in (21, 19, 16, 1):
        figure.published(node)
    for limit in (1, 2, 3, 4):
        query = figure.client(21).find(ASKED % 1, limit=limit)
        figure.sim.run()
        nearest = [f"urn:doc/{node}/1" for node in (21, 19, 16, 1)]
        assert [document.uri for document in query.found.documents] == nearest[:limit]


# -- section 5.4: restricting the scope


@pytest.mark.parametrize(("reach", "expected"), [("cluster", [1, 0, 0]), ("super-cluster", [1, 1, 0])])
def test_what_is_kept_inside_a_cluster_or_super_cluster_is_not_seen_beyond(figure, reach, expected):
    found = figure.subscribed(19, 16, 1)
    figure.published(21, reach=reach)
    assert told(found) == expected


@pytest.mark.parametrize(("reach", "count"), [("cluster", 1), ("super-cluster", 2), ("network", 3)])
def test_query_does_not_go_beyond_its_horizon(figure, reach, count):
    for node in (19, 16, 1):
        figure.published(node)
    query = figure.client(21).find(ASKED % 1, reach=reach)
    figure.sim.run()
    assert len(query.found.documents) == count


# -- section 3: failures


def test_events_go_on_while_controllers_of_all_levels_are_down(figure):
    found = figure.subscribed(21)
    for unit in (CLUSTER_N, SC_3, ()):
        controller = figure.net.controller(*unit)
        if controller not in (NODES[21], NODES[3]):
            figure.net.crash(controller)
            figure.sim.run()
    figure.published(3)
    assert told(found) == [1]
