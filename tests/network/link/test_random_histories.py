"""Random histories of a link: whatever happens, each side ends with what the other's incarnation has said, in order."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.link.ends import Node, Wire

from effort import examples

ACTIONS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from("ab"), st.integers(1, 80)),
    st.tuples(st.just("crash"), st.sampled_from("ab"), st.just(0)),
    st.tuples(st.just("lose"), st.sampled_from("ab"), st.just(0)),
    st.tuples(st.sampled_from(["cut", "join"]), st.just(""), st.just(0)),
    st.tuples(st.just("wait"), st.just(""), st.integers(1, 300)),
)


@settings(max_examples=examples(300))
@given(
    st.lists(ACTIONS, max_size=25),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1, 3, 64]),
)
def test_each_side_ends_with_what_the_other_has_said(actions, seed, loss, duplication, window):
    a, b = Node("a", "b", window=window), Node("b", "a", window=window)
    wire = Wire(a, b, Random(seed), loss=loss, duplication=duplication)
    said = 0
    for what, who, amount in actions:
        match what:
            case "say":
                for _ in range(amount):
                    said += 1
                    wire.say(wire.nodes[who], said)
            case "crash" | "lose":
                wire.restart(wire.nodes[who], lose=what == "lose")
            case "cut":
                wire.cut()
            case "join" if not wire.is_whole:
                wire.join()
            case "wait":
                wire.run(until=wire.now + amount / 1000)
    if not wire.is_whole:
        wire.join()
    wire.run()
    assert b.disk.heard == a.disk.said
    assert a.disk.heard == b.disk.said
    assert not a.disk.link.waiting
    assert not b.disk.link.waiting
