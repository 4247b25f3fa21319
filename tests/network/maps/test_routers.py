"""Routers know the shortest paths, whatever happens to links and to each other (N7)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import MANY, examples
from triplewire.network.maps import EndReport, LinkEnd, MapRouter, RoutedFrame, RouterState, path_tree, router_name
from triplewire.network.simulation.wirings import Wiring
from triplewire.network.simulation.world import World

COSTS = [1.0, 2.0, 3.0, 10.0]


class Ground:
    """Routers alone, three in each unit, with wires between them."""

    def __init__(self, seed: int, nodes: int, **faults) -> None:
        self.world = World(seed, **faults)
        self.wiring = Wiring(self.world, lambda node: (node // 3, node % 3))
        self.world.wiring, self.world.place = self.wiring, self.wiring.place
        self.world.on_silence, self.world.on_doubt = self.wiring.notice, self.wiring.doubt
        self.nodes = range(nodes)
        self.costs: dict[tuple[int, int], float] = {}
        self.cut: set[tuple[int, int]] = set()
        self.down: set[int] = set()
        for node in self.nodes:
            self.wiring.add_node(node)

    def link(self, a: int, b: int, cost: float) -> None:
        self.wiring.link(a, b, cost)
        self.costs[a, b] = self.costs[b, a] = cost
        self.world.look_again()

    def unlink(self, a: int, b: int) -> None:
        self.wiring.unlink(a, b)
        del self.costs[a, b], self.costs[b, a]
        self.world.look_again()

    def act(self, what: str, a: int, b: int, cost: float, one_way: bool) -> None:
        a, b = a % len(self.nodes), b % len(self.nodes)
        match what:
            case "link" if a != b and (a, b) not in self.costs and not self.down & {a, b}:
                self.link(a, b, cost)
            case "unlink" if (a, b) in self.costs and not self.down & {a, b}:
                self.unlink(a, b)
            case "cut" if a != b:
                self.world.partition([str(a)], [str(b)], one_way=one_way)
                self.cut |= {(a, b)} if one_way else {(a, b), (b, a)}
                self.world.look_again()
            case "mend":
                self.world.mend(str(a), str(b))
                self.cut -= {(a, b), (b, a)}
                self.world.look_again()
            case "crash" if a not in self.down:
                self.world.crash(router_name((a // 3, a % 3)))
                self.down.add(a)
                self.world.look_again()
            case "restart" if self.down:
                back = sorted(self.down)[a % len(self.down)]
                self.world.restart(router_name((back // 3, back % 3)))
                self.down.discard(back)
                self.world.look_again()
            case "wait":
                self.world.run(seconds=a * 0.4)
            case "rest":
                self.world.run()

    def truth(self, inside) -> dict[tuple[int, int], float]:
        """What it costs to get from each node to each other, by the definition (Floyd and Warshall)."""
        far = {
            (a, b): cost
            for (a, b), cost in self.costs.items()
            if not self.down & {a, b} and not self.cut & {(a, b), (b, a)} and inside(a) and inside(b)
        }
        for via in self.nodes:
            for a in self.nodes:
                for b in self.nodes:
                    if a != b and (a, via) in far and (via, b) in far:
                        far[a, b] = min(far.get((a, b), float("inf")), far[a, via] + far[via, b])
        return far

    def known(self, a: int, b: int) -> float | None:
        path = self.wiring.route(a, b)
        return None if path is None else sum(self.costs[pair] for pair in pairwise(path))


ACTS = st.tuples(
    st.sampled_from(["link", "link", "unlink", "cut", "cut", "mend", "crash", "restart", "wait", "rest"]),
    st.integers(0, 8),
    st.integers(0, 8),
    st.sampled_from(COSTS),
    st.booleans(),
)
LINKS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from(COSTS)), max_size=20)


def routers_know_the_shortest_paths(seed, nodes, links, acts) -> None:
    ground = Ground(seed, nodes, loss=0.1, duplication=0.1)
    for a, b, cost in links:
        ground.act("link", a, b, cost, False)
    for act in acts:
        ground.act(*act)
    ground.world.run()
    everywhere = ground.truth(lambda node: True)
    units = {unit: ground.truth(lambda node, unit=unit: node // 3 == unit) for unit in range(3)}
    for a in ground.nodes:
        for b in ground.nodes:
            if a != b and not ground.down & {a, b}:
                in_unit = units[a // 3].get((a, b)) if a // 3 == b // 3 else None
                expected = in_unit if in_unit is not None else everywhere.get((a, b))
                assert ground.known(a, b) == expected


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32), st.integers(2, 9), LINKS, st.lists(ACTS, max_size=20))
def test_routers_know_a_shortest_path_to_all_that_can_be_reached_and_to_no_other(seed, nodes, links, acts):
    """Invariant of `network.maps.routers`: a shortest path to all that can be reached, and to no other."""
    routers_know_the_shortest_paths(seed, nodes, links, acts)


def routers_that_rest(*links: tuple[int, int]) -> Ground:
    ground = Ground(0, 4, loss=0.1, duplication=0.1)
    for a, b in links:
        ground.link(a, b, 1.0)
    ground.world.run()
    return ground


def test_link_that_ends_when_its_router_changes_all_its_neighbours_is_a_ghost_for_nobody():
    """N7: 2 and 3 knew it from each other, and those at its ends had nobody left whom they had told of it."""
    ground = routers_that_rest((0, 1), (0, 2), (2, 3))
    ground.link(1, 2, 1.0)
    ground.unlink(0, 1)
    ground.unlink(0, 2)
    ground.link(0, 2, 2.0)
    ground.world.run()
    assert [ground.known(a, 0) for a in (1, 2, 3)] == [3.0, 2.0, 3.0]


def test_router_that_lost_all_its_links_is_reached_by_nobody():
    """N7: 1 and 3 believed each other that 0 still had a link to 2."""
    ground = routers_that_rest((0, 1), (0, 2), (1, 3))
    ground.link(0, 3, 1.0)
    ground.unlink(0, 1)
    ground.unlink(0, 2)
    ground.act("crash", 3, 0, 0.0, False)
    ground.act("restart", 0, 0, 0.0, False)
    ground.world.run()
    assert [ground.wiring.route(a, 2) for a in (0, 1, 3)] == [None, None, None]


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.integers(2, 9), LINKS, st.lists(ACTS, max_size=40))
def test_routers_know_the_shortest_paths_after_many_histories(seed, nodes, links, acts):
    routers_know_the_shortest_paths(seed, nodes, links, acts)


def ring_of(ground: Ground, cost: float = 1.0) -> None:
    for node in ground.nodes:
        ground.link(node, (node + 1) % len(ground.nodes), cost)
    ground.world.run()


def told_during(ground: Ground, do) -> set[str]:
    """The routers that are told of a change of the map."""
    told: set[str] = set()

    def see(sender, receiver, frame, arrives) -> None:
        if getattr(getattr(frame, "body", None), "kind", "") == "map":
            told.add(receiver)

    ground.world.witnesses.append(see)
    do()
    ground.world.run()
    ground.world.witnesses.remove(see)
    return told


def test_link_that_is_on_no_path_is_told_to_its_ends_alone():
    ground = Ground(1, 9)
    ring_of(ground)
    told = told_during(ground, lambda: ground.link(0, 2, 50.0))
    assert told == {router_name((0, 0)), router_name((0, 2))}
    assert ground.wiring.route(0, 2) == [0, 1, 2]


def test_link_inside_a_unit_that_shortens_no_way_of_others_is_told_inside_alone():
    """From outside, unit 0 is entered at node 2 whichever way is taken inside."""
    ground = Ground(1, 9)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)):
        ground.link(a, b, 1.0)
    ground.world.run()
    told = told_during(ground, lambda: ground.link(0, 2, 2.0))
    assert told <= {router_name((0, node)) for node in range(3)}


def test_suspected_link_is_avoided_before_it_has_failed_and_used_again_when_it_answers():
    ground = Ground(3, 6)
    ring_of(ground)
    assert ground.wiring.route(0, 2) == [0, 1, 2]
    ground.act("cut", 0, 1, 1.0, False)
    ground.world.run(seconds=2.0)
    own = ground.wiring.router(0).state.own[LinkEnd(router_name((0, 0)), router_name((0, 1)))]
    assert own.is_suspected
    assert own.cost == 1.0
    assert ground.wiring.route(0, 2) == [0, 5, 4, 3, 2]
    ground.world.run()
    assert ground.wiring.router(0).state.own[LinkEnd(router_name((0, 0)), router_name((0, 1)))].cost is None
    ground.act("mend", 0, 1, 1.0, False)
    ground.world.run()
    assert ground.wiring.route(0, 2) == [0, 1, 2]


def test_link_that_carries_one_way_only_is_not_used_in_either():
    ground = Ground(3, 3)
    for a, b, cost in ((0, 1, 1.0), (1, 2, 5.0), (2, 0, 5.0)):
        ground.link(a, b, cost)
    ground.act("cut", 0, 1, 1.0, True)
    ground.world.run()
    assert ground.wiring.route(0, 1) == [0, 2, 1]
    assert ground.wiring.route(1, 0) == [1, 2, 0]


def test_cost_that_is_not_given_is_measured_and_follows_a_node_that_becomes_slow():
    ground = Ground(5, 3, delay=(10, 11))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ground.wiring.link(a, b)
    ground.world.run()
    costs = [cost for router in ground.wiring.routers() for _, cost, _ in router.state.own.values()]
    assert len(costs) == 6
    assert all(10 <= cost <= 11 for cost in costs)
    assert ground.wiring.route(0, 2) == [0, 2]
    ground.world.slow(router_name((0, 2)), 10)
    before = ground.world.messages["map"]
    ground.wiring.measure()
    ground.world.run()
    assert ground.world.messages["map"] > before
    slow = ground.wiring.router(0).state.measured
    assert slow[router_name((0, 2))] > 4 * slow[router_name((0, 1))]


def test_measure_that_trembles_is_no_news():
    ground = Ground(5, 3, delay=(10, 11))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ground.wiring.link(a, b)
    ground.world.run()
    before = ground.world.messages["map"]
    ground.wiring.measure()
    ground.world.run()
    assert ground.world.messages["map"] == before


def test_frame_that_comes_round_again_is_let_go_of():
    router = MapRouter(RouterState("router-0", "1"))
    assert router.send(RoutedFrame("a", "b", "router-9", "it", ("router-0", "router-1")), 0.0) == []
    assert router.dropped == Counter(echo=1)


def test_cost_that_is_no_cost_is_refused():
    router = MapRouter(RouterState("router-0", "1"))
    with pytest.raises(ValueError, match="must be above 0"):
        router.begin_link("router-1", 0.0, 0.0)


def test_link_is_used_only_while_both_ends_say_that_it_is_well():
    well = EndReport(1, 1.0)
    ends = {LinkEnd("a", "b"): well, LinkEnd("b", "a"): well}
    assert path_tree("a", ends).path("b") == ["a", "b"]
    for other in (EndReport(2, None), EndReport(2, 1.0, True)):
        assert path_tree("a", {**ends, LinkEnd("b", "a"): other}).path("b") is None
    assert path_tree("a", {LinkEnd("a", "b"): well}).path("b") is None
