"""The world of a simulation: one seed is one run, and every fault is one that real networks have (X13)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.network.simulation.gossips import heard, ring, say

from triplewire.network.simulation import World

ROOT = Path(__file__).resolve().parents[3]
BAD = {"loss": 0.2, "duplication": 0.2}


def story(seed: int, **faults):
    """A ring of six in which words are said, a node crashes, and a partition comes and goes."""
    world = World(seed, **faults)
    names = ring(world, 6)
    silences = []
    world.on_silence = lambda node, peer: silences.append((round(world.now, 9), node, peer))
    for number in range(20):
        name = names[number % 6]
        if name in world.nodes:
            say(world, name, f"w{number}")
        if number == 5:
            world.crash("n3")
        if number == 8:
            world.partition(["n0"], ["n1", "n5"])
        world.run(seconds=0.03)
    world.run()
    world.restart("n3")
    world.heal()
    world.run()
    return world, silences


def test_one_seed_is_one_run_message_for_message():
    runs = [story(7, **BAD) for _ in range(2)]
    assert runs[0][0].messages == runs[1][0].messages
    assert runs[0][0].now == runs[1][0].now
    assert runs[0][1] == runs[1][1]
    assert story(8, **BAD)[0].now != runs[0][0].now


def test_one_seed_is_one_run_whatever_order_a_process_gives_its_sets():
    """A partition concerns many pairs of nodes at one time."""
    code = (
        "from tests.network.simulation.test_world import BAD, story; world, silences = story(7, **BAD);"
        "print(world.now, sorted(world.messages.items()), silences)"
    )
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": hashes}
        )
        for hashes in ("1", "2")
    ]
    assert len({run.stdout for run in runs}) == 1


def test_everybody_hears_everything_after_all_faults_are_over():
    world, silences = story(3, **BAD)
    words = {f"w{number}" for number in range(20)}
    said = set(heard(world)["n0"])
    assert said <= words
    assert all(set(found) == said for found in heard(world).values())
    assert {(node, peer) for _, node, peer in silences} >= {("n2", "n3"), ("n4", "n3"), ("n1", "n0")}


def test_world_comes_to_rest_while_a_node_is_down_and_another_is_cut_off():
    world = World(1, **BAD)
    ring(world, 5)
    world.run()
    world.crash("n1")
    world.partition(["n3"], ["n2"], one_way=True)
    say(world, "n2", "word")
    say(world, "n4", "other")
    world.run()
    assert "other" in heard(world)["n0"]


def test_crash_loses_nothing_that_is_in_the_state():
    """Invariant of `network.node.node`: each input is one step, whole with its frames, or not at all."""
    world = World(4)
    ring(world, 4)
    for number in range(30):
        name = f"n{number % 4}"
        say(world, name, f"w{number}")
        world.crash(name)
        world.run(seconds=0.01)
        world.restart(name)
    world.run()
    assert {tuple(found) for found in heard(world).values()} == {tuple(sorted(f"w{n}" for n in range(30)))}


def test_slow_node_delays_and_changes_nothing_else():
    times = []
    for factor in (1, 20):
        world = World(5)
        ring(world, 4)
        world.run()
        before = world.now
        world.slow("n0", factor)
        say(world, "n0", "word")
        world.run()
        assert all("word" in found for found in heard(world).values())
        times.append(world.now - before)
    assert times[1] > 5 * times[0]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [({"loss": 1.0}, "loss"), ({"duplication": -0.1}, "duplication"), ({"delay": (5, 1)}, "delay")],
)
def test_faults_that_make_no_sense_are_refused(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        World(0, **wrong)


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32),
    st.lists(
        st.tuples(st.sampled_from(["say", "crash", "restart", "cut", "heal", "wait"]), st.integers(0, 4)), max_size=30
    ),
)
def test_random_histories_end_with_everybody_knowing_everything(seed, actions):
    world = World(seed, **BAD)
    names = ring(world, 5)
    said = set()
    for number, (what, which) in enumerate(actions):
        name = names[which]
        match what:
            case "say" if name in world.nodes:
                say(world, name, f"w{number}")
                said.add(f"w{number}")
            case "crash" if name in world.nodes:
                world.crash(name)
            case "restart" if name not in world.nodes:
                world.restart(name)
            case "cut":
                world.partition([name], [other for other in names if other != name], one_way=number % 2 == 0)
            case "heal":
                world.heal()
            case "wait":
                world.run(seconds=0.02 * (which + 1))
    world.heal()
    for name in names:
        if name not in world.nodes:
            world.restart(name)
    world.run()
    assert all(set(found) == said for found in heard(world).values())


def test_clocks_of_places_differ_by_at_most_the_skew_and_one_seed_has_one_of_each():
    worlds = [World(3, skew=100), World(3, skew=100)]
    offsets = [[world.clock(name) - world.now for name in ("a", "b", "c", "d")] for world in worlds]
    assert offsets[0] == offsets[1]
    assert len(set(offsets[0])) == 4
    assert max(offsets[0]) - min(offsets[0]) <= 0.1


def test_timer_goes_off_when_the_clock_of_its_node_is_there_however_numbers_are_rounded(monkeypatch):
    """X13: one that goes off a moment too early is set again for the same moment, and no time passes any more."""
    for seed in range(20):
        world = World(seed, skew=200)
        ring(world, 3)
        node = world.nodes["n1"]
        for number in range(1, 100):
            due = world.clock("n1") + number / 7
            monkeypatch.setattr(node, "due", lambda peer, due=due: due)
            world.now = world._due("n1", "n2")
            assert due <= world.clock("n1") < due + 1e-9


def test_skew_below_nothing_is_refused():
    with pytest.raises(ValueError, match="how many milliseconds"):
        World(skew=-1)
