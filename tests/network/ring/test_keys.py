"""What is kept under a key does not depend on the order in which it was told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from triplewire import compile
from triplewire.algebra.pattern import TriplePattern, variable
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.members import key_of_member
from triplewire.network.ring.messages import Extension
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.statements import NEVER, KeyStatement, Said

P = NamedNode("urn:p")
SUBJECTS = [NamedNode(f"urn:s/{number}") for number in range(3)]
PATTERN = TriplePattern(variable("s"), P, variable("o"))
QUERIES = [RingQuery(f"q{n}", "sid", "home", 0, (), (PATTERN, PATTERN), (), n / 10, "mqc", ("p",)) for n in range(3)]


TESTS = [*(f"?o > {n}" for n in range(6)), *(f"?o + ?x < {n}" for n in range(6)), "?o = ?x", "?o != ?x", "?x > 3"]
CONDITIONS = [
    compile(f"SELECT * {{ ?s <urn:p> ?o . ?s <urn:q> ?x FILTER({text}) }}", language="sparql").branches[0].conditions
    for text in TESTS
]


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
    return documents, {
        key: ({key_of_member(each) for each in group.members}, group.support) for key, group in state.groups.items()
    }


@given(st.data(), st.lists(WAITS, max_size=8))
def test_what_waits_is_the_same_in_every_order_and_however_often_it_is_told(data, told):
    """Invariant of `network.ring.keys`: what is kept is the same in whatever order, and however often, it is told."""
    again = data.draw(st.permutations([*told, *told]))
    assert kept(told) == kept(again)


@given(st.data(), st.lists(STATED, max_size=8, unique_by=lambda each: each[1][:2]))
def test_what_is_stated_is_the_same_in_every_order_and_however_often_it_is_told(data, told):
    again = data.draw(st.permutations([*told, *told]))
    assert kept(told) == kept(again)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_queries_with_conditions_are_found_by_the_index_as_by_looking_at_each(values):
    """A condition may speak of what the queries wait with, of what the triple brings, or of both."""
    bound = TriplePattern(SUBJECTS[0], P, variable("o"))
    queries = [
        RingQuery(f"q{n}", "sid", "home", 0, (), (PATTERN, PATTERN), each, 0.0, "mqc", ("p",))
        for n, each in enumerate(CONDITIONS * 2)
    ]
    state = KeyState()
    for x in range(6):
        stated = {triple(1): {("peer", "urn:other"): Said(1, 1.0, True)}}
        binding = ("s", SUBJECTS[0]), ("x", Literal(x))
        state.wait(Extension(bound, binding, stated, tuple((query, (0, 1)) for query in queries)))
    for number, o in enumerate(values):
        stated_now = Triple(SUBJECTS[0], P, Literal(o))
        found = {
            (group.binding, query.key)
            for group, members, _, _ in state.met_by(stated_now, NEVER, float(number + 1))
            for query, _ in members
        }
        wanted = {
            (group.binding, query.key)
            for group in state.groups.values()
            for query in queries
            if query.passes(dict(group.binding), {**dict(group.binding), "o": Literal(o)})
        }
        assert found == wanted
