"""The normal form: one for all that say the same (N6). That it means the same is tested against `evaluate`."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Variable

from effort import examples
from strategies import NODES, call, integer, iri, patterns, renamed, typed
from triplewire import compile
from triplewire.algebra import core, labels
from triplewire.algebra import normalize as stages
from triplewire.algebra.conditions import SYMMETRIC
from triplewire.algebra.normalize import equivalent, normalize
from triplewire.algebra.pattern import Call, Conjunction, Expression, Optional, Pattern, TriplePattern, variable

P, Q = iri("p"), iri("q")
X, Y, Z = (variable(name) for name in "xyz")


def pattern_of(*parts: TriplePattern | Call, answer: str = "x") -> Pattern:
    """A pattern of one branch: triple patterns and conditions."""
    triples = tuple(part for part in parts if isinstance(part, TriplePattern))
    return Pattern(tuple(answer.split()), (Conjunction(triples, tuple(p for p in parts if isinstance(p, Call))),))


def triple(subject, predicate, object) -> TriplePattern:
    return TriplePattern(subject, predicate, object)


def contains(text: str, of: Expression = Y) -> Call:
    return call("contains", of, Literal(text))


XPY = triple(X, P, Y)


@st.composite
def rewritten(draw: st.DrawFn, pattern: Pattern) -> Pattern:
    """The pattern in other words: other names, another order of all that has none, comparisons turned round."""
    named = renamed(pattern, draw(st.permutations(["x", "y", "z", "w"])))

    def turned(condition: Expression) -> Expression:
        if not isinstance(condition, Call):
            return condition
        arguments = tuple(map(turned, condition.arguments))
        if condition.function in (*SYMMETRIC, "and", "or"):
            arguments = tuple(draw(st.permutations(arguments)))
        return Call(condition.function, arguments)

    def shuffled(branch: Conjunction) -> Conjunction:
        conditions = tuple(map(turned, draw(st.permutations(branch.conditions))))
        return Conjunction(tuple(draw(st.permutations(branch.triples))), conditions, branch.bindings, branch.optionals)

    return Pattern(named.answer, tuple(map(shuffled, draw(st.permutations(named.branches)))))


@settings(deadline=None, max_examples=examples(300))
@given(st.data(), patterns(most_branches=3, most_triples=5, most_conditions=3))
def test_names_and_order_do_not_count(data, pattern):
    """N6"""
    assert normalize(data.draw(rewritten(pattern))) == normalize(pattern)


@st.composite
def alike(draw: st.DrawFn) -> Pattern:
    """A graph of one predicate without constants, where only the search tells variables apart.

    It is small enough for the steps that folding may take: beyond them, equal forms are not promised.
    """
    nodes = [variable(name) for name in "abcdef"]
    edges = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))
    found = draw(st.lists(edges, min_size=1, max_size=8, unique=True))
    different = draw(
        st.lists(st.tuples(*[st.sampled_from(sorted({n.value for e in found for n in e}))] * 2), max_size=3)
    )
    conditions = tuple(call("!=", variable(a), variable(b)) for a, b in different)
    return Pattern((), (Conjunction(tuple(TriplePattern(a, P, b) for a, b in found), conditions),))


@settings(deadline=None, max_examples=examples(300))
@given(st.data(), alike())
def test_variables_that_look_alike_are_told_apart_by_structure_only(data, pattern):
    """N6"""
    (branch,) = pattern.branches
    order = data.draw(st.permutations("abcdefgh"))
    new = {old: variable("v" + name) for old, name in zip("abcdefgh", order, strict=True)}
    triples = [TriplePattern(*(new.get(n.value, n) for n in t)) for t in data.draw(st.permutations(branch.triples))]
    conditions = []
    for condition in data.draw(st.permutations(branch.conditions)):
        sides = data.draw(st.permutations([new[side.value] for side in condition.arguments]))
        conditions.append(call(condition.function, *sides))
    assert normalize(Pattern((), (Conjunction(tuple(triples), tuple(conditions)),))) == normalize(pattern)


@pytest.mark.parametrize("sides", [(3, 3), (6,)])
def test_two_triangles_and_a_hexagon_have_one_form_each(sides):
    """Refinement alone cannot tell their variables apart; conditions keep them from folding."""

    def polygons(names: str) -> Pattern:
        triples, conditions, start = [], [], 0
        for size in sides:
            ring = [variable(name) for name in names[start : start + size]]
            triples += [TriplePattern(ring[i], P, ring[(i + 1) % size]) for i in range(size)]
            start += size
        every = [variable(name) for name in names]
        conditions += [call("!=", a, b) for a in every for b in every if a.value < b.value]
        return Pattern((), (Conjunction(tuple(triples), tuple(conditions)),))

    first = normalize(polygons("abcdef"))
    assert len(first.branches[0].triples) == 6
    assert normalize(polygons("fbdaec")) == first


@settings(deadline=None, max_examples=examples(200))
@given(patterns(most_branches=3, most_triples=5, most_conditions=3))
def test_what_is_normal_stays_as_it_is(pattern):
    """N6"""
    once = normalize(pattern)
    assert once.is_normal
    assert normalize(once) is once
    assert normalize(Pattern(once.answer, once.branches)) == once


EQUAL = {
    "64 and 64.0": (
        pattern_of(XPY, call(">", Y, integer(64))),
        pattern_of(XPY, call("<", typed("64.0", "decimal"), Y)),
    ),
    "the tighter bound": (
        pattern_of(XPY, call(">", Y, integer(3)), call(">", Y, integer(5))),
        pattern_of(XPY, call(">", Y, integer(5))),
    ),
    "the open bound of two at one place": (
        pattern_of(XPY, call("<", Y, integer(5)), call("<=", Y, integer(5))),
        pattern_of(XPY, call("<", Y, integer(5))),
    ),
    "a redundant triple": (pattern_of(XPY, triple(X, P, Z)), pattern_of(XPY)),
    "a redundant path": (
        pattern_of(XPY, triple(Y, Q, NODES[0]), triple(X, P, Z), triple(Z, Q, variable("w"))),
        pattern_of(XPY, triple(Y, Q, NODES[0])),
    ),
    "an equal IRI": (pattern_of(XPY, call("=", Y, NODES[0])), pattern_of(triple(X, P, NODES[0]))),
    "an IRI by way of another variable": (
        pattern_of(XPY, triple(X, Q, Z), call("=", Y, Z), call("=", NODES[0], Z)),
        pattern_of(triple(X, P, NODES[0]), triple(X, Q, NODES[0])),
    ),
    "equal text": (pattern_of(XPY, call("=", Literal("a"), Y)), pattern_of(triple(X, P, Literal("a")))),
    "the same variable": (
        pattern_of(XPY, triple(Z, Q, X), call("same", Y, Z)),
        pattern_of(XPY, triple(Y, Q, X)),
    ),
    "three answers that are the same": (
        pattern_of(triple(X, P, Y), triple(Z, P, Y), call("same", X, Y), call("same", Y, Z), answer="x y z"),
        pattern_of(triple(X, P, Y), triple(Z, P, Y), call("same", Z, X), call("same", Y, X), answer="x y z"),
    ),
    "a plain regular expression": (pattern_of(XPY, call("regex", Y, Literal("cat"))), pattern_of(XPY, contains("cat"))),
    "a regular expression for the start": (
        pattern_of(XPY, call("regex", Y, Literal("^cat"))),
        pattern_of(XPY, call("starts", Y, Literal("cat"))),
    ),
    "a negated equality": (
        pattern_of(XPY, call("not", call("=", Y, NODES[0]))),
        pattern_of(XPY, call("!=", NODES[0], Y)),
    ),
    "De Morgan": (
        pattern_of(XPY, call("not", call("or", contains("a"), contains("b")))),
        pattern_of(XPY, call("not", contains("b")), call("not", contains("a"))),
    ),
    "a computed constant": (
        pattern_of(XPY, call(">", Y, call("+", integer(2), integer(3)))),
        pattern_of(XPY, call(">", Y, integer(5))),
    ),
    "or and union": (
        pattern_of(XPY, call("or", contains("a"), contains("b"))),
        Pattern(("x",), tuple(Conjunction((XPY,), (contains(text),)) for text in "ba")),
    ),
    "or inside and inside or": (
        pattern_of(
            XPY, call("or", contains("a"), call("and", contains("b"), call("or", contains("c"), contains("d"))))
        ),
        Pattern(
            ("x",),
            (
                Conjunction((XPY,), (contains("a"),)),
                Conjunction((XPY,), (contains("c"), contains("b"))),
                Conjunction((XPY,), (contains("b"), contains("d"))),
            ),
        ),
    ),
    "a branch that can never hold": (
        Pattern(("x",), (Conjunction((XPY,)), Conjunction((XPY,), (call("=", integer(1), integer(2)),)))),
        pattern_of(XPY),
    ),
    "equal branches": (Pattern(("x",), (Conjunction((XPY,)), Conjunction((triple(X, P, Z),)))), pattern_of(XPY)),
    "a condition that always holds": (pattern_of(XPY, call("<", integer(1), integer(2))), pattern_of(XPY)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equivalent_patterns_have_one_form(name):
    """N6"""
    first, second = EQUAL[name]
    assert normalize(first) == normalize(second)


DIFFERENT = {
    "numbers of one value are not one term": (
        pattern_of(triple(X, P, integer(64))),
        pattern_of(triple(X, P, typed("64.0", "decimal"))),
    ),
    "a bound and no bound": (pattern_of(XPY, call(">", Y, integer(3))), pattern_of(XPY)),
    "an answer is not redundant": (
        pattern_of(XPY, triple(X, P, Z), answer="x y z"),
        pattern_of(XPY, triple(X, Q, Z), answer="x y z"),
    ),
    "a path and a triple": (pattern_of(XPY, triple(Y, P, Z)), pattern_of(XPY)),
    "a special regular expression": (
        pattern_of(XPY, call("regex", Y, Literal("c.t"))),
        pattern_of(XPY, contains("c.t")),
    ),
    "a condition keeps its triple": (pattern_of(XPY, triple(X, P, Z), contains("a", Z)), pattern_of(XPY)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_patterns_that_differ_keep_forms_that_differ(name):
    first, second = DIFFERENT[name]
    assert normalize(first) != normalize(second)


def test_the_truth_of_a_value_is_not_the_value():
    """`(?y || ?y) = true` asks for the truth of ?y; `?y = true` does not."""
    true = typed("true", "boolean")
    assert normalize(pattern_of(XPY, call("=", call("or", Y, Y), true))) != normalize(
        pattern_of(XPY, call("=", Y, true))
    )


def test_a_pattern_that_can_never_hold_has_no_branch_and_no_answer():
    assert normalize(pattern_of(XPY, call("=", Y, NODES[0]), call("=", Y, NODES[1]))) == Pattern((), ())


def test_an_optional_part_that_adds_no_answer_goes():
    optional = Optional((triple(X, Q, Z),))
    assert normalize(Pattern(("x",), (Conjunction((XPY,), optionals=(optional,)),))) == normalize(pattern_of(XPY))
    kept = normalize(Pattern(("x", "z"), (Conjunction((XPY,), optionals=(optional,)),)))
    assert len(kept.branches[0].optionals) == 1


def test_hidden_names_step_aside_for_answers_of_that_name():
    normal = normalize(Pattern(("_0",), (Conjunction((triple(variable("_0"), P, Y), triple(Y, Q, Z))),)))
    (branch,) = normal.branches
    assert branch.variables == {"_0", "__0", "__1"}


def test_patterns_are_equivalent_with_answers_matched_by_position():
    first = pattern_of(XPY, answer="x y")
    assert equivalent(first, pattern_of(triple(Y, P, X), answer="y x"))
    assert not equivalent(first, pattern_of(triple(Y, P, X), answer="x y"))
    assert not equivalent(first, pattern_of(XPY))


def test_a_pattern_keeps_its_place_in_a_set_after_pickling():
    """They cross Spark; a hash that was made in one process is of no use in another."""
    pattern = normalize(pattern_of(XPY, contains("a")))
    copy = pickle.loads(pickle.dumps(pattern))
    assert copy.is_normal
    assert copy in {pattern}
    assert b"_hash" not in pickle.dumps(pattern)


PREFIXES = {"": "http://example.org/"}

TITLES = {
    "sparql": "PREFIX : <http://example.org/> SELECT ?x { ?x a :D ; :title ?t FILTER REGEX(STR(?t), 'cat') }",
    "rules": "search D x register x where x.title contains 'cat'",
    "gql": "SELECT ?x WHERE (?x, title, ?words), (?x, rdf:type, D) SUCHTHAT (?words contains 'cat')",
    "qel": "ans(?x) :- (?x, rdf:type, K), (?x, title, T), K = :D, T contains 'cat'",
    "conjunctive": "?x : (?x, title, ?t) ^ (?x, rdf:type, D) ^ (?x, ?p, ?t) ^ ?t contains 'cat'",
}
SIZES = {
    "rules": "search D x register x where x.size > 3 and x.size > 5",
    "gql": "SELECT ?x WHERE (?x, size, ?s), (?x, rdf:type, D) SUCHTHAT (?s > 5)",
    "qel": "ans(?x) :- (?x, rdf:type, :D), (?x, size, S), 5.0 < S",
    "conjunctive": "?x : (?x, size, ?s) ^ (?x, rdf:type, ?c) ^ (?x, rdf:type, ?any) ^ ?c = D ^ ?s > 5",
}


@pytest.mark.parametrize("queries", [TITLES, SIZES], ids=["titles", "sizes"])
def test_equivalent_queries_of_all_languages_are_one_pattern(queries):
    """N6; sizes without SPARQL, which compares with its own typing."""
    found = {compile(text, language=language, prefixes=PREFIXES) for language, text in queries.items()}
    assert len(found) == 1


def chain(length: int, predicate: str = "", answer: str = "") -> Pattern:
    """?v0 ?p0 ?v1 . ?v1 ?p1 ?v2 …, or with one predicate throughout."""
    triples = tuple(
        triple(variable(f"v{i}"), iri(predicate) if predicate else variable(f"p{i}"), variable(f"v{i + 1}"))
        for i in range(length)
    )
    return Pattern(tuple(answer.split()), (Conjunction(triples),))


def choices(count: int) -> list[Call]:
    return [call("or", contains(f"a{i}"), contains(f"b{i}")) for i in range(count)]


def ring(size: int, predicate: str) -> Conjunction:
    names = [variable(f"v{i}") for i in range(size)]
    return Conjunction(tuple(triple(names[i], iri(predicate), names[(i + 1) % size]) for i in range(size)))


def clique(size: int) -> Conjunction:
    names = [variable(f"v{i}") for i in range(size)]
    return Conjunction(tuple(triple(a, P, b) for a in names for b in names if a != b))


def star(size: int, *conditions: Call) -> Pattern:
    return pattern_of(*(triple(X, P, variable(f"v{i}")) for i in range(size)), *conditions)


def unlike_neighbours(size: int) -> list[Call]:
    return [call("!=", variable(f"v{i}"), variable(f"v{i + 1}")) for i in range(size - 1)]


HOSTILE = {
    "a chain of variables": lambda: chain(256),
    "a chain of one predicate": lambda: chain(256, "p", "v0 v256"),
    "a ring": lambda: Pattern((), (ring(255, "p"),)),
    "a clique": lambda: Pattern((), (clique(16),)),
    "a star": lambda: star(256),
    "a star of neighbours that differ": lambda: star(256, *unlike_neighbours(256)),
    "many choices in one condition": lambda: pattern_of(XPY, call("and", *choices(200))),
    "many choices in many conditions": lambda: pattern_of(XPY, *choices(200)),
    "many choices in many branches": lambda: Pattern(("x",), (Conjunction((XPY,), tuple(choices(7))),) * 200),
    "choices among many triples": lambda: pattern_of(
        *chain(250).branches[0].triples, triple(variable("v0"), P, X), XPY, *choices(8)
    ),
    "rings in branches": lambda: Pattern((), tuple(ring(15, f"p{i}") for i in range(256))),
    "a chain of equalities": lambda: Pattern(
        (), (Conjunction(star(255).branches[0].triples, (*equal_neighbours(255), call("=", variable("v9"), P))),)
    ),
}


def equal_neighbours(size: int) -> list[Call]:
    return [call("=", variable(f"v{i}"), variable(f"v{i + 1}")) for i in range(size - 1)]


MOST_CALLS = 6_000_000
"""About a second's worth; without limits on the work, most of the patterns would take thousands of times as many."""


@pytest.mark.parametrize("name", HOSTILE)
def test_the_largest_patterns_are_normalized_in_bounded_work(name):
    """Subscribers are not trusted. Calls are counted, because time depends on the machine."""
    pattern = HOSTILE[name]()
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1
        if calls > MOST_CALLS:
            raise AssertionError("too much work")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        normal = normalize(pattern)
    finally:
        sys.setprofile(before)
    assert len(normal.branches) <= max(stages.MOST_BRANCHES, len(pattern.branches))


def test_choices_beyond_the_limit_stay_conditions_whatever_their_order():
    few, many = choices(3), call("or", *(contains(f"c{i}") for i in range(300)))
    normal = normalize(pattern_of(XPY, many, *few))
    assert len(normal.branches) == 8
    assert normal == normalize(pattern_of(XPY, *reversed(few), many))
    assert len(normalize(pattern_of(XPY, *choices(9))).branches) == 1


def test_the_wider_branches_stay_whole_when_not_all_can_be_split():
    wide = Conjunction((XPY,), (call("or", *(contains(f"c{i}") for i in range(256))),))
    narrow = Conjunction((triple(X, Q, Y),), (choices(1)[0],))
    normal = normalize(Pattern(("x",), (wide, narrow)))
    assert len(normal.branches) == 3
    assert normal == normalize(Pattern(("x",), (narrow, wide)))


def test_without_steps_to_spend_the_names_are_still_unique_and_nothing_is_lost():
    """The meaning stays; only that equal patterns are found out may suffer."""
    (branch,) = chain(40, "p").branches
    assert core.fold(branch, frozenset(), 0) == branch
    labelled = labels.label(branch, frozenset(), 0)
    assert len(labelled.variables) == len(branch.variables)
    assert len(set(labelled.triples)) == len(branch.triples)
    assert all(isinstance(t.subject, Variable) for t in labelled.triples)
