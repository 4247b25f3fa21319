"""What is kept under a key does not depend on the order in which it was told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from triplewire import compile
from triplewire.algebra.pattern import TriplePattern, variable
from triplewire.network.ring.keys import HomeWatch, KeyState
from triplewire.network.ring.members import key_of_member
from triplewire.network.ring.messages import Extension
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.statements import NEVER, KeyStatement, Said, latest, stands_for
from triplewire.network.ring.unions import KeyUnion

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


ORIGIN = ("peer", "urn:d")
VERSIONS = [frozenset(map(triple, numbers)) for numbers in ((0, 1), (1,), (2,), (0,))]


def said_by(number: int) -> tuple[KeyStatement, frozenset]:
    """A version of one document, and what the one before it stated and it does not."""
    before = VERSIONS[number - 1] if number else frozenset()
    return KeyStatement(number + 1, (number + 1) / 10, VERSIONS[number]), before - VERSIONS[number]


@given(st.sets(st.integers(0, 3)), st.data())
def test_what_the_newest_version_does_not_state_is_not_stated_in_whatever_order_versions_come(known, data):
    """What a version ended is not said by the next one, which may come first."""
    state = KeyState()
    for number in data.draw(st.permutations([*known, *known])):
        state.state(ORIGIN, *said_by(number))
    stated = {each for each, sources in state.said.items() if latest(sources) > NEVER}
    assert stated == (VERSIONS[max(known)] if known else frozenset())


def waits(subject: int, *, version: int, is_stated: bool = True) -> Extension:
    """A query waits with a value that a version of another document states, or does not any more."""
    support = {triple(subject): {("peer", "urn:other"): Said(version, version / 10, is_stated)}}
    bound = TriplePattern(SUBJECTS[subject], P, variable("o"))
    return Extension(bound, (("s", SUBJECTS[subject]),), support, ((QUERIES[0], (0, 1)),))


def passed_on(found) -> list[bool]:
    """Of each result that is passed on: whether it stands."""
    return [stands_for(group.support) > NEVER for group, _, _, _ in found]


def test_what_another_peer_has_passed_on_is_ended_by_the_one_that_was_told_first_that_it_has_ended():
    """S1: a peer was away, and another responsible; the next version of a document came to it before the key did."""
    here, there = KeyState(), KeyState()
    for state in (here, there):
        assert state.wait(waits(0, version=1)) is not None
    assert [*there.met_by(*there.state(ORIGIN, *said_by(0))[0])], "the other one has passed this on"
    here.state(ORIGIN, *said_by(1))
    ended = [at for _, _, at, _ in KeyUnion(here, there).found()]
    assert triple(0) in ended
    assert latest(here.sources(triple(0))) == NEVER


def test_intermediate_result_that_another_peer_has_extended_is_ended_by_the_one_that_was_told_first_that_it_has_ended():
    """S1: as above, of what a result stands on that came from another key."""
    here, there = KeyState(), KeyState()
    for state in (here, there):
        state.state(ORIGIN, *said_by(0))
    assert passed_on(there.met_with(*there.wait(waits(0, version=1)))) == [True]
    here.wait(waits(0, version=2, is_stated=False))
    assert passed_on(KeyUnion(here, there).found()) == [False]


def test_what_stood_for_another_peer_already_is_passed_on_by_the_one_for_which_it_has_ended():
    """Invariant of `network.ring.unions`: what both have passed on adds up to no less than what is known of it here.

    S1: the other one had a second document that states it, and passed nothing on; this one has passed on the end.
    """
    here, there, other = KeyState(), KeyState(), ("peer", "urn:other")
    for state in (here, there):
        state.wait(waits(0, version=1))
        state.state(ORIGIN, *said_by(0))
    assert [*there.met_by(*there.state(other, *said_by(3))[0])] == [], "it stands already"
    for state in (here, there):
        state.state(ORIGIN, *said_by(1))
    assert [at for _, _, at, _ in KeyUnion(here, there).found()] == [triple(0)]
    assert latest(here.sources(triple(0))) > NEVER


def test_what_another_peer_has_kept_and_is_known_here_as_well_is_not_passed_on_again():
    here, there = KeyState(), KeyState()
    for state in (here, there):
        state.state(ORIGIN, *said_by(0))
        state.wait(waits(0, version=1))
    assert KeyUnion(here, there).found() == []


def test_version_that_comes_late_ends_what_no_newer_one_speaks_of():
    """Another peer may have passed on what it states: queries from before it are told."""
    state = KeyState()
    state.wait(waits(0, version=1))
    state.state(ORIGIN, *said_by(2))
    (change,) = [each for each in state.state(ORIGIN, *said_by(0)) if each[0] == triple(0)]
    assert [at for _, _, at, _ in state.met_by(*change)] == [triple(0)]
    assert latest(state.sources(triple(0))) == NEVER


@given(st.permutations([HomeWatch(1, P, True), HomeWatch(2, P, False), HomeWatch(3, P, True)]), st.integers(1, 3))
def test_what_a_home_has_said_last_of_what_it_wants_to_hear_of_counts_in_whatever_order_it_comes(told, last):
    state = KeyState()
    for watch in told:
        if watch.number <= last:
            state.watch("home", watch)
    assert state.watchers == ({} if last == 2 else {"home": P})


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
