"""Random histories of a ring end as one hub would have them (S1 to S5, X13): told, told once, in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import Both, ends_as_in_one_hub, is_told_as_by_one_hub

from effort import MANY, examples
from triplewire.network.ring import RingSettings

QUERIES = [
    "SELECT ?s { ?s <urn:a> ?x }",
    "SELECT ?s ?x ?y { ?s <urn:a> ?x ; <urn:b> ?y }",
    "SELECT ?s { ?s <urn:a> 1 ; <urn:b> 2 ; <urn:c> ?z }",
    "SELECT ?s ?x { ?s <urn:a> ?x . ?s <urn:b> ?y FILTER(?x < ?y) }",
    "SELECT ?s ?x { ?s <urn:a> ?x FILTER(?x > 1) }",
    "SELECT ?s ?t { ?s <urn:r> ?t . ?t <urn:a> ?x }",
    "SELECT ?s ?u { ?s <urn:r> ?t . ?t <urn:r> ?u }",
    "SELECT ?s { ?s <urn:r> ?s }",
    "SELECT ?s ?p { ?s ?p 1 }",
    "SELECT ?p ?o { <urn:s/0> ?p ?o }",
    "SELECT ?s ?p { ?s <urn:r> ?t . ?t ?p ?o }",
    "SELECT ?s { { ?s <urn:a> 2 } UNION { ?s <urn:b> 2 } }",
    "SELECT ?s ?x ?y { ?s <urn:a> ?x OPTIONAL { ?s <urn:b> ?y } }",
    "SELECT ?s ?y ?z { ?s <urn:a> 1 OPTIONAL { ?s <urn:b> ?y } OPTIONAL { ?s <urn:c> ?z } }",
    "ASK { ?s <urn:a> 1 }",
    "SELECT ?s ?o { ?s <urn:same> <urn:same> ; <urn:a> ?o }",
]
STATEMENTS = [
    "<urn:a> 1",
    "<urn:a> 2",
    "<urn:b> 2",
    "<urn:b> 1, 2",
    "<urn:c> 3",
    "<urn:a> 1 ; <urn:b> 2 ; <urn:c> 3",
    "<urn:r> <urn:s/0>",
    "<urn:r> <urn:s/1> ; <urn:a> 2",
    "<urn:same> <urn:same>",
]

ACTIONS = st.one_of(
    st.tuples(st.just("subscribe"), st.integers(0, 10), st.integers(0, len(QUERIES) - 1)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 10), st.just(0)),
    st.tuples(st.just("publish"), st.integers(0, 10), st.integers(0, 9 * len(STATEMENTS) - 1)),
    st.tuples(st.just("publish"), st.integers(0, 10), st.integers(0, 9 * len(STATEMENTS) - 1)),
    st.tuples(st.just("retract"), st.integers(0, 10), st.integers(0, 2)),
    st.tuples(
        st.sampled_from(["crash", "restart", "cut", "heal", "join", "leave", "wait", "rest"]),
        st.integers(0, 10),
        st.just(0),
    ),
)
HOW = st.tuples(st.sampled_from(["sqc", "mqc"]), st.sampled_from(["graph", "document"]), st.sampled_from([None, 0.01]))
"""The algorithm, the scope, and when keys are hot: never, or from the second thing on that comes to them."""


class RingAndHub(Both):
    """A ring and one hub, to which the same happens; three subjects, which documents of all peers speak of."""

    QUERIES = QUERIES

    def __init__(self, how, seed: int, size: int, **faults) -> None:
        self.algorithm, self.SCOPE, self.hot = how
        super().__init__(seed, size, **faults)

    def network(self, size: int):
        return self.sim.ring(size, settings=RingSettings(self.algorithm, scope=self.SCOPE, hot=self.hot))

    def content(self, uri: str, which: int) -> str:
        return f"<urn:s/{which // 3 % 3}> {STATEMENTS[which // 9]} ."


def check_each_step(how, seed, size, actions):
    is_told_as_by_one_hub(RingAndHub(how, seed, size, loss=0.1, duplication=0.1), actions)


def check_end(how, seed, size, actions):
    ends_as_in_one_hub(RingAndHub(how, seed, size, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(15), deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([1, 3, 6]), st.lists(ACTIONS, max_size=20))
def test_each_event_is_told_as_by_one_hub_when_each_step_has_time(how, seed, size, actions):
    check_each_step(how, seed, size, actions)


@settings(max_examples=examples(25), deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([3, 6]), st.lists(ACTIONS, max_size=25))
def test_rows_end_as_those_of_one_hub_whatever_happens_meanwhile(how, seed, size, actions):
    """Each row begins, changes and ends in turn, and what is left is what one hub has."""
    check_end(how, seed, size, actions)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([1, 2, 3, 6, 12]), st.lists(ACTIONS, max_size=40))
def test_many_histories_end_as_those_of_one_hub(how, seed, size, actions):
    check_end(how, seed, size, actions)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([1, 2, 3, 6, 12]), st.lists(ACTIONS, max_size=30))
def test_many_histories_are_told_as_by_one_hub(how, seed, size, actions):
    check_each_step(how, seed, size, actions)
