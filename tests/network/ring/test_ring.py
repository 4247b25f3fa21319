"""From whatever happens to it a ring becomes right, once nothing happens any more (S1)."""

from __future__ import annotations

from math import log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import MANY, examples
from triplewire.network import Simulation
from triplewire.network.ring import ideal
from triplewire.network.ring.identifiers import SIZE, distance, identify, is_between

ACTIONS = st.lists(
    st.tuples(st.sampled_from(["crash", "restart", "leave", "join", "cut", "heal", "wait"]), st.integers(0, 20)),
    max_size=30,
)


def is_right(net) -> bool:
    """Each peer knows the next and the one before it, and each place has one peer that is responsible."""
    peers = [net.peer(node) for node in net.nodes]
    wanted = ideal(peer.name for peer in peers)
    return all(
        (peer.view.successors[:1], peer.view.predecessor, peer.view.start)
        == (wanted[peer.name].successors[:1], wanted[peer.name].predecessor, wanted[peer.name].start)
        for peer in peers
    )


def churn(seed, size, actions):
    sim = Simulation(seed, loss=0.1, duplication=0.1)
    net, down = sim.ring(size), set()
    for what, who in actions:
        up = [node for node in net.nodes if node not in down]
        node = up[who % len(up)]
        match what:
            case "crash" if len(up) > 1:
                net.crash(node)
                down.add(node)
            case "restart" if down:
                node = sorted(down)[who % len(down)]
                net.restart(node)
                down.discard(node)
            case "leave" if len(up) > 1:
                net.leave(node)
            case "join":
                net.join()
            case "cut":
                net.partition([node], [other for other in net.nodes if other != node], one_way=who % 2 == 0)
            case "heal":
                net.heal()
            case "wait":
                sim.run(seconds=who)
    net.heal()
    for node in sorted(down):
        net.restart(node)
    sim.run()
    return net


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 8, 16]), ACTIONS)
def test_ring_becomes_right_when_churn_stops(seed, size, actions):
    assert is_right(churn(seed, size, actions))


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 8, 16, 40]), ACTIONS)
def test_many_rings_become_right_when_churn_stops(seed, size, actions):
    assert is_right(churn(seed, size, actions))


def mean_hops(size: int, successors: int) -> float:
    views, chance = ideal((f"peer-{number}" for number in range(size)), length=successors), Random(1)
    names, hops, count = [*views], 0, 1000
    for _ in range(count):
        at, place = chance.choice(names), chance.randrange(SIZE)
        while not views[at].owns(place):
            at = views[at].hop(place)[0]
            hops += 1
    return hops / count


@pytest.mark.parametrize("size", [1000, 10_000])
def test_lookup_takes_about_half_the_logarithm_of_the_number_of_peers(size):
    """S1: by fingers alone, as Chord has it, ½·log2 N hops and the one to the successor; less with our successors."""
    by_fingers = mean_hops(size, 1)
    assert 0.9 < by_fingers / (log2(size) / 2 + 1) < 1.1
    assert mean_hops(size, 8) < by_fingers


@given(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_place_is_on_one_of_the_two_ways_between_two_others(place, start, end):
    if start != end:
        assert is_between(place, start, end) != is_between(place, end, start)
    assert is_between(end, start, end)
    assert distance(start, end) + distance(end, start) in (0, SIZE)


def test_each_place_has_one_peer():
    views = ideal(f"peer-{number}" for number in range(100))
    for number in range(200):
        assert len([view for view in views.values() if view.owns(identify(f"key {number}"))]) == 1
