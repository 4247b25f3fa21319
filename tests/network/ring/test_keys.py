"""What is kept under a key does not depend on the order in which it was told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from triplewire.algebra.pattern import TriplePattern, variable
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.messages import Extension
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.statements import KeyStatement, Said

P = NamedNode("urn:p")
SUBJECTS = [NamedNode(f"urn:s/{number}") for number in range(3)]
PATTERN = TriplePattern(variable("s"), P, variable("o"))
QUERIES = [RingQuery(f"q{n}", "sid", "home", 0, (), (PATTERN, PATTERN), (), n / 10, "mqc", ("p",)) for n in range(3)]


def triple(number: int) -> Triple:
    return Triple(SUBJECTS[number], P, Literal("x"))


STATED = st.builds(
    lambda origin, version, numbers: ("state", (("peer", f"urn:{origin}"), version, frozenset(map(triple, numbers)))),
    st.integers(0, 1),
    st.integers(1, 3),
    st.sets(st.integers(0, 2)),
)
WAITS = st.builds(
    lambda subject, query, version: ("wait", (subject, query, version)),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(1, 3),
)


def kept(told) -> tuple:
    state, versions = KeyState(), {}
    for what, about in told:
        if what == "state":
            origin, version, triples = about
            triples = versions.setdefault((origin, version), triples)  # a version says one thing
            state.state(origin, KeyStatement(version, version / 10, triples))
        else:
            subject, query, version = about
            bound = TriplePattern(SUBJECTS[subject], P, variable("o"))
            stated = {("peer", "urn:other"): Said(version, version / 10, version != 2)}
            support = {triple(subject): stated}
            member = QUERIES[query], (0, 1)
            state.wait(Extension(bound, (("s", SUBJECTS[subject]),), support, (member,)))
    documents = {origin: (each.version, each.triples) for origin, each in state.documents.items()}
    return documents, {key: ({*group.members}, group.support) for key, group in state.groups.items()}


@given(st.data(), st.lists(WAITS, max_size=8))
def test_what_waits_is_the_same_in_every_order_and_however_often_it_is_told(data, told):
    """Invariant of `network.ring.keys`: what is kept is the same in whatever order, and however often, it is told."""
    again = data.draw(st.permutations([*told, *told]))
    assert kept(told) == kept(again)


@given(st.data(), st.lists(STATED, max_size=8, unique_by=lambda each: each[1][:2]))
def test_what_is_stated_is_the_same_in_every_order_and_however_often_it_is_told(data, told):
    again = data.draw(st.permutations([*told, *told]))
    assert kept(told) == kept(again)
