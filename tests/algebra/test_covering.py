"""`covers` is always right when it says yes, and says yes whenever it should (P1, P5)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from effort import examples
from strategies import atoms, call, graphs, integer, iri, narrower, patterns, taxonomies, typed
from triplewire.algebra.covering import contradiction, covers, satisfiable
from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Call, Conjunction, Expression, Optional, Pattern, TriplePattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy

S, X, Y, Z = (Variable(name) for name in "sxyz")
P, Q, R = iri("p"), iri("q"), iri("r")
STAR = (TriplePattern(S, P, X), TriplePattern(S, Q, Y), TriplePattern(S, R, Z))
QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def star(*conditions: Expression) -> Pattern:
    """One resource with three properties, and conditions on them (the language of P1)."""
    return Pattern(("s",), (Conjunction(STAR, conditions),))


def rows(pattern: Pattern, triples: list[Triple], taxonomy: Taxonomy = EMPTY) -> set[tuple[object, ...]]:
    """The answers, column by column in the pattern's order, a missing one as None."""
    return {tuple(row.get(name) for name in pattern.answer) for row in evaluate(pattern, triples, taxonomy)}


COVERED = {
    "a lower bound covers a higher one": (call(">", X, integer(3)), call(">", X, integer(5))),
    "at least covers more than": (call(">=", X, integer(5)), call(">", X, integer(5))),
    "a value is in its range": (call("<=", X, integer(5)), call("=", X, typed("5.0", "decimal"))),
    "a bound rules a value out": (call("!=", X, integer(3)), call(">", X, integer(5))),
    "what compares with a number is one": (call("isnumeric", X), call(">", X, integer(5))),
    "a number is a literal": (call("isliteral", X), call("<", X, integer(5))),
    "a longer part contains a shorter one": (
        call("contains", X, Literal("li")),
        call("contains", X, Literal("climate")),
    ),
    "a beginning is contained": (call("contains", X, Literal("clim")), call("starts", X, Literal("climate"))),
    "a longer end ends so too": (call("ends", X, Literal("ate")), call("ends", X, Literal("climate"))),
    "a text has its parts": (call("contains", X, Literal("li")), call("=", X, Literal("climate"))),
    "the text of a string is its text": (
        call("contains", call("str", X), Literal("li")),
        call("contains", X, Literal("climate")),
    ),
    "texts in a range start alike": (
        call("starts", X, Literal("b")),
        call("and", call(">=", X, Literal("b")), call("<", X, Literal("c"))),
    ),
    "loose bounds": (call("~>", X, integer(3)), call("~>", X, Literal("5"))),
    "a strict decimal is a loose number": (
        call("~>", X, integer(3)),
        call("and", call(">", X, integer(5)), call("same", X, typed("7", "integer"))),
    ),
    "one of several values": (
        call("or", call("=", X, integer(1)), call(">", X, integer(4))),
        call("or", call("=", X, integer(1)), call(">", X, integer(5))),
    ),
    "bounds through another variable": (
        call("<", X, integer(5)),
        call("and", call("<", X, Y), call("<", Y, integer(5))),
    ),
    "loose order is transitive": (call("~<=", X, Z), call("and", call("~<=", X, Y), call("~<=", Y, Z))),
    "less is at most": (call("<=", X, Y), call("<", X, Y)),
    "less is not equal": (call("!=", X, Y), call("<", X, Y)),
    "the same term is the same text": (
        call("~=", call("str", X), Y),
        call("and", call("same", X, Y), call("isiri", X)),
    ),
    "a known term passes any test": (call("regex", X, Literal("^c.*e$")), call("=", X, Literal("climate"))),
}

NOT_COVERED = {
    "a higher bound": (call(">", X, integer(5)), call(">", X, integer(3))),
    "a double rounds, a decimal does not": (call(">", X, typed("5", "double")), call(">", X, integer(5))),
    "not a number may look like none": (call("~>", X, integer(3)), call(">", X, integer(5))),
    "an error is not a difference": (call("!=", X, integer(3)), call("isliteral", X)),
    "text with a language does not compare": (call(">", X, Literal("")), call("contains", X, Literal("a"))),
    "rounding breaks chains": (call("<=", X, Z), call("and", call("<=", X, Y), call("<=", Y, Z))),
    "other text may contain it too": (call("=", X, Literal("a")), call("contains", X, Literal("a"))),
    "equal numbers are not the same term": (call("same", X, Y), call("=", X, Y)),
}


@pytest.mark.parametrize(("wide", "narrow"), COVERED.values(), ids=COVERED)
def test_conditions_that_follow_are_covered(wide, narrow):
    """P1"""
    assert covers(star(wide), star(narrow))


@pytest.mark.parametrize(("wide", "narrow"), NOT_COVERED.values(), ids=NOT_COVERED)
def test_conditions_that_do_not_follow_are_not_covered(wide, narrow):
    """P1"""
    assert not covers(star(wide), star(narrow))


def test_fewer_triples_cover_more():
    """P5: a subscription that asks for less subsumes one that asks for more."""
    less, more = Pattern(("s",), (Conjunction(STAR[:1]),)), star()
    assert covers(less, more)
    assert not covers(more, less)


def test_a_variable_covers_a_constant_and_not_the_other_way_round():
    general = Pattern(("s",), (Conjunction((TriplePattern(S, P, X),)),))
    special = Pattern(("s",), (Conjunction((TriplePattern(S, P, iri("n1")),)),))
    assert covers(general, special)
    assert not covers(special, general)


def test_a_condition_that_fixes_a_term_is_as_good_as_the_term():
    written = Pattern(("s",), (Conjunction((TriplePattern(S, P, iri("n1")),)),))
    filtered = Pattern(("s",), (Conjunction((TriplePattern(S, P, X),), (call("=", X, iri("n1")),)),))
    assert covers(written, filtered)
    assert covers(filtered, written)


def test_columns_correspond_by_name_or_else_by_position():
    edge = Conjunction((TriplePattern(X, P, Y),))
    other = Conjunction((TriplePattern(S, P, Z),))
    assert covers(Pattern(("x", "y"), (edge,)), Pattern(("y", "x"), (edge,)))
    assert covers(Pattern(("x", "y"), (edge,)), Pattern(("s", "z"), (other,)))
    assert not covers(Pattern(("x", "y"), (edge,)), Pattern(("z", "s"), (other,)))
    assert not covers(Pattern(("x",), (edge,)), Pattern(("x", "y"), (edge,)))


def test_fixed_bindings_are_values_of_their_columns():
    bound = Pattern(("s", "k"), (Conjunction(STAR[:1], bindings=(("k", iri("n1")),)),))
    other = Pattern(("s", "k"), (Conjunction(STAR[:1], bindings=(("k", iri("n2")),)),))
    written = Pattern(
        ("s", "k"), (Conjunction((TriplePattern(S, P, Variable("k")),), (call("=", Variable("k"), iri("n1")),)),)
    )
    assert covers(bound, bound)
    assert not covers(bound, other)
    assert covers(bound, written)
    assert not covers(written, bound)


def test_what_can_never_match_is_covered_by_everything():
    nothing = star(call(">", X, integer(5)), call("<", X, integer(3)))
    assert covers(Pattern(("s",), (Conjunction((TriplePattern(S, R, iri("n4")),)),)), nothing)


def test_a_union_is_covered_branch_by_branch():
    low, high = Conjunction(STAR, (call("<", X, integer(1)),)), Conjunction(STAR, (call(">", X, integer(9)),))
    both = Pattern(("s",), (low, high))
    assert covers(both, Pattern(("s",), (high,)))
    assert not covers(Pattern(("s",), (high,)), both)


def test_branches_cover_together_what_none_covers_alone():
    low, high = Conjunction(STAR, (call("<", X, integer(5)),)), Conjunction(STAR, (call(">=", X, integer(5)),))
    assert covers(Pattern(("s",), (low, high)), star(call("<", X, integer(100))))
    assert not covers(Pattern(("s",), (low, high)), star())


def test_order_types_decide_which_of_several_mappings_serves():
    """Klug's example: the value in the middle is on one side or the other, and either way an edge crosses 5."""
    value = iri("value")
    crossing = (
        TriplePattern(X, P, Y),
        TriplePattern(X, value, Variable("vx")),
        TriplePattern(Y, value, Variable("vy")),
    )
    a = Pattern(
        (), (Conjunction(crossing, (call("~<=", Variable("vx"), integer(5)), call("~>", Variable("vy"), integer(5)))),)
    )
    path = (
        TriplePattern(X, P, Y),
        TriplePattern(Y, P, Z),
        *(TriplePattern(v, value, Variable(f"v{v.value}")) for v in (X, Y, Z)),
    )
    ends = (call("~<=", Variable("vx"), integer(5)), call("~>", Variable("vz"), integer(5)))
    middle = call("~>", Variable("vy"), integer(0))
    assert covers(a, Pattern((), (Conjunction(path, (*ends, middle)),)))
    assert not covers(a, Pattern((), (Conjunction(path, ends),))), (
        "a value in the middle that is no number crosses nothing"
    )


def test_optional_columns_are_covered_only_by_the_same_optional_parts():
    optional = Optional((TriplePattern(S, Q, Y),))
    with_column = Pattern(("s", "y"), (Conjunction(STAR[:1], optionals=(optional,)),))
    renamed = Pattern(("s", "y"), (Conjunction((TriplePattern(S, P, Z),), optionals=(optional,)),))
    required = Pattern(("s", "y"), (Conjunction(STAR[:2]),))
    assert covers(with_column, renamed)
    assert not covers(with_column, required)
    assert not covers(required, with_column)


def test_optional_parts_without_an_answer_column_do_not_matter():
    plain = Pattern(("s",), (Conjunction(STAR[:1]),))
    adorned = Pattern(("s",), (Conjunction(STAR[:1], optionals=(Optional((TriplePattern(S, Q, Y),)),)),))
    assert covers(plain, adorned)
    assert covers(adorned, plain)


ANIMALS = Taxonomy(
    [(iri("cat"), iri("mammal")), (iri("bat"), iri("mammal")), (iri("bat"), iri("flier")), (iri("bird"), iri("flier"))],
    [(iri("tom"), iri("cat"))],
)


def test_a_broader_class_covers_a_narrower_one():
    """G3, P5"""
    mammals, cats = star(call("descendant", X, iri("mammal"))), star(call("descendant-or-self", X, iri("cat")))
    assert covers(mammals, cats, ANIMALS)
    assert not covers(cats, mammals, ANIMALS)
    assert not covers(mammals, cats), "without the taxonomy a cat is nothing but itself"


def test_two_classes_cover_what_is_below_both():
    flying = star(call("descendant", X, iri("mammal")), call("descendant", X, iri("flier")))
    assert covers(star(call("=", X, iri("bat"))), flying, ANIMALS)
    assert covers(star(call("contains", call("str", X), Literal("bat"))), flying, ANIMALS)


def test_a_search_that_takes_too_long_is_not_known_to_be_covered():
    """A clique of seven is not in a graph of six parts without inner edges, and to be sure of it takes long."""
    names = [Variable(f"v{i}") for i in range(7)]
    clique = tuple(TriplePattern(a, P, b) for a, b in product(names, names) if a != b)
    parts = [Variable(f"c{i}") for i in range(12)]
    dense = tuple(TriplePattern(a, P, b) for (i, a), (j, b) in product(enumerate(parts), repeat=2) if i % 6 != j % 6)
    begun = time.perf_counter()
    assert not covers(Pattern((), (Conjunction(clique),)), Pattern((), (Conjunction(dense),)))
    assert time.perf_counter() - begun < 10


@QUICK
@given(st.data(), patterns(), taxonomies(), st.lists(graphs, min_size=3, max_size=3))
def test_every_answer_of_a_covered_pattern_is_an_answer_of_the_covering_one(data, a, taxonomy, worlds):
    """P1, P5: soundness, on related pairs, so that most of them are covered."""
    b = data.draw(st.one_of(narrower(a), patterns()))
    covered = covers(a, b, taxonomy)
    event(f"covered: {covered}")
    if covered:
        order = a.answer if set(a.answer) == set(b.answer) else b.answer
        for triples in worlds:
            answers = {tuple(row.get(name) for name in order) for row in evaluate(b, triples, taxonomy)}
            assert answers <= rows(a, triples, taxonomy)


@QUICK
@given(st.data(), patterns(most_branches=1), taxonomies())
def test_a_pattern_with_more_triples_and_conditions_is_always_covered(data, a, taxonomy):
    """Completeness on pairs that are covered by construction: nothing is taken away, only renamed and added."""
    assert covers(a, data.draw(narrower(a, faithful=True)), taxonomy)


def conjunction_strategy(atom: st.SearchStrategy[Expression], most: int) -> st.SearchStrategy[tuple[Expression, ...]]:
    return st.lists(atom, min_size=1, max_size=most).map(tuple)


def counterexample(wide, narrow, worlds: Iterator[dict[str, object]], taxonomy: Taxonomy = EMPTY):
    """Values that meet the narrow conditions and not the wide ones."""
    for row in worlds:
        if all(holds(c, row, taxonomy) for c in narrow) and not all(holds(c, row, taxonomy) for c in wide):
            return row
    return None


ODD = [
    iri("n1"),
    BlankNode("b"),
    Literal("a"),
    Literal("a", language="en"),
    typed("1", "boolean"),
    typed("x", "integer"),
]
ODD += [typed("2020-01-01T00:00:00Z", "dateTime"), typed("NaN", "double"), Literal("2", datatype=iri("type"))]
CRITICAL_NUMBERS = [
    *(typed(text, "decimal") for c in "123" for text in (f"{c}.{'0' * 30}1", f"{int(c) - 1}.{'9' * 30}")),
    *(typed(c, kind) for c in "0123456" for kind in ("integer", "double", "float")),
    *(typed(repr(float(c) + step), "double") for c in "123" for step in (1e-15, -1e-15)),
    *(typed(repr(float(c) + step), "float") for c in "123" for step in (1e-6, -1e-6)),
    typed("INF", "double"),
    typed("-INF", "float"),
    *ODD,
]
number_atoms = st.builds(
    lambda operator, value, turned: Call(operator, (integer(value), X) if turned else (X, integer(value))),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.integers(1, 3),
    st.booleans(),
)


@QUICK
@given(conjunction_strategy(number_atoms, 2), conjunction_strategy(number_atoms, 3))
def test_covering_of_strict_comparisons_is_exact(wide, narrow):
    """P1: the critical values are the constants and their neighbours in each numeric type."""
    found = counterexample(wide, narrow, ({"x": value} for value in CRITICAL_NUMBERS))
    assert covers(star(*wide), star(*narrow)) is (found is None), found


PIECES = ("", "a", "b", "ab")
CRITICAL_TEXTS = [Literal("~".join(pieces)) for count in (1, 2, 3, 4) for pieces in product(PIECES, repeat=count)]
CRITICAL_TEXTS += [Literal(text.value, datatype=iri("type")) for text in CRITICAL_TEXTS]
CRITICAL_TEXTS += [BlankNode("b"), iri("ab"), integer(1)]
text_atoms = st.builds(
    lambda test, text, part, denied: (
        call("not", call(test, text, Literal(part))) if denied else call(test, text, Literal(part))
    ),
    st.sampled_from(["contains", "starts", "ends"]),
    st.sampled_from([X, call("str", X)]),
    st.sampled_from(PIECES[1:]),
    st.integers(0, 3).map(lambda n: n == 0),
)


@QUICK
@given(conjunction_strategy(text_atoms, 2), conjunction_strategy(text_atoms, 3))
def test_covering_of_text_tests_is_exact(wide, narrow):
    """P1: the critical texts are the constants with a character between that occurs in none of them."""
    found = counterexample(wide, narrow, ({"x": value} for value in CRITICAL_TEXTS))
    assert covers(star(*wide), star(*narrow)) is (found is None), found


GAPS = ("0.2", "0.5", "1", "1.2", "1.5", "2", "3", "4", "!", "#", "a", "aa", "ab", "b", "c", "d")
LOOSE_VALUES = [*map(Literal, GAPS), BlankNode("b")]
loose_atoms = st.builds(
    lambda operator, left, right: call(operator, left, right),
    st.sampled_from(["~=", "~!=", "~<", "~<=", "~>", "~>="]),
    st.sampled_from([X, Y]),
    st.sampled_from([X, Y, integer(1), integer(2), Literal("a"), Literal("b")]),
)


@QUICK
@given(conjunction_strategy(loose_atoms, 2), conjunction_strategy(loose_atoms, 3))
def test_covering_of_loose_comparisons_between_variables_is_exact(wide, narrow):
    """P1: each gap between the constants has two values, one for each variable."""
    worlds = ({"x": x, "y": y} for x, y in product(LOOSE_VALUES, LOOSE_VALUES))
    found = counterexample(wide, narrow, worlds)
    assert covers(star(*wide), star(*narrow)) is (found is None), found


@QUICK
@given(conjunction_strategy(atoms((X,), "is-a"), 2), conjunction_strategy(atoms((X,), "is-a same"), 3), taxonomies())
def test_covering_of_is_a_is_exact(wide, narrow, taxonomy):
    """G3: the critical values are the nodes of the taxonomy, the constants, and something else."""
    values = [
        *taxonomy.nodes(),
        *(c for atom in (*wide, *narrow) for c in atom.arguments if not isinstance(c, Variable)),
    ]
    found = counterexample(wide, narrow, ({"x": value} for value in [*values, iri("elsewhere"), *ODD]), taxonomy)
    assert covers(star(*wide), star(*narrow), taxonomy) is (found is None), found


@QUICK
@given(conjunction_strategy(atoms((X, Y)), 2), conjunction_strategy(atoms((X, Y)), 3), taxonomies())
def test_covering_of_mixed_conditions_is_never_wrong(wide, narrow, taxonomy):
    values = [*CRITICAL_NUMBERS[::3], *CRITICAL_TEXTS[:12], *LOOSE_VALUES[::2], *ODD, iri("A"), iri("B")]
    if covers(star(*wide), star(*narrow), taxonomy):
        worlds = ({"x": x, "y": y} for x, y in product(values, values))
        assert counterexample(wide, narrow, worlds, taxonomy) is None


IMPOSSIBLE = {
    "an empty range": (call(">", X, integer(5)), call("<", X, integer(3))),
    "two values": (call("=", X, integer(1)), call("=", X, integer(2))),
    "a text without its part": (call("=", X, Literal("a")), call("contains", X, Literal("b"))),
    "two beginnings": (call("starts", X, Literal("a")), call("starts", X, Literal("b"))),
    "two kinds": (call("isiri", X), call("isliteral", X)),
    "a literal subject": (call("isliteral", S),),
    "capitals in lower case": (call("contains", call("lcase", X), Literal("Climate")),),
    "letters in a number": (call(">", X, integer(5)), call("contains", call("str", X), Literal("abc"))),
    "two languages": (call("=", call("lang", X), Literal("en")), call("=", call("lang", X), Literal("de"))),
    "a number in a language": (call("=", call("lang", X), Literal("en")), call(">", X, integer(3))),
    "the language of a subject": (call("langmatches", call("lang", S), Literal("*")),),
    "two types": tuple(call("=", call("datatype", X), iri(name)) for name in ("one", "two")),
    "a part of what is no text": (
        call("=", call("datatype", X), iri("number")),
        call("contains", X, Literal("a")),
    ),
    "a negative length": (call("<", call("strlen", X), integer(0)),),
    "a sum that is a text": (call("=", call("+", X, integer(1)), Literal("a")),),
    "a circle": (call("<", X, Y), call("<", Y, Z), call("<", Z, X)),
    "a number and a text": (call(">", X, integer(5)), call(">", X, Literal("a"))),
    "disjoint classes": (call("descendant", X, iri("cat")), call("descendant", X, iri("bird"))),
    "a class that the taxonomy does not know": (call("descendant", X, iri("stone")),),
}


@pytest.mark.parametrize("conditions", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_contradictions_are_found_and_told_with_the_conditions_that_make_them(conditions):
    """X6"""
    harmless = call("!=", Z, Literal("harmless"))
    found = contradiction(Conjunction(STAR, (harmless, *conditions)), ANIMALS)
    assert found is not None
    assert set(found.conditions) <= set(conditions)
    assert found.conditions
    assert not satisfiable(Conjunction(STAR, conditions), ANIMALS)


def test_a_literal_as_a_subject_is_a_contradiction():
    found = contradiction(Conjunction((TriplePattern(Literal("a"), P, X),)))
    assert found is not None
    assert "only objects are literals" in str(found)


def test_the_place_of_a_variable_is_named_when_it_is_the_reason():
    found = contradiction(Conjunction(STAR, (call("isliteral", S),)))
    assert str(found) == "`isliteral(?s)` can never hold, because ?s is a subject, never a literal"


@QUICK
@given(patterns(most_branches=1, most_conditions=3), taxonomies(), st.lists(graphs, min_size=3, max_size=3))
def test_a_conjunction_that_matches_something_is_satisfiable(pattern, taxonomy, worlds):
    matched = any(evaluate(pattern, triples, taxonomy) for triples in worlds)
    event(f"matched: {matched}")
    if matched:
        assert satisfiable(pattern.branches[0], taxonomy)


@QUICK
@given(conjunction_strategy(st.one_of(number_atoms, text_atoms), 3))
def test_a_conjunction_of_comparisons_and_text_tests_that_nothing_meets_is_found(conditions):
    met = any(all(holds(c, {"x": value}) for c in conditions) for value in [*CRITICAL_NUMBERS, *CRITICAL_TEXTS])
    if not met and not any("1" in str(c) and "str" in str(c) for c in conditions):
        assert not satisfiable(Conjunction(STAR, conditions))


DERIVED = [
    call("lang", X),
    call("datatype", X),
    call("strlen", X),
    call("+", X, integer(1)),
    call("negate", X),
    call("strlen", call("str", X)),
    X,
]
OF_DERIVED = [
    *(Literal(text) for text in ("", "a", "en", "de")),
    *(integer(number) for number in (-1, 0, 1, 2)),
    *(NamedNode(f"http://www.w3.org/2001/XMLSchema#{name}") for name in ("string", "integer")),
    NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"),
    Literal("a", language="en"),
]
WORLD_OF_DERIVED = [
    *OF_DERIVED,
    *(Literal(text, language=tag) for text in ("", "a", "de") for tag in ("en", "de")),
    Literal("x", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
    Literal("1.5", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#double")),
    BlankNode("b"),
    iri("a"),
]
_derived_atoms = st.builds(call, st.sampled_from(["=", "!=", "<", ">=", "same"]), *2 * [st.sampled_from(DERIVED)]) | (
    st.builds(
        call,
        st.sampled_from(["=", "!=", "<", ">", "contains", "langmatches"]),
        st.sampled_from(DERIVED),
        st.sampled_from(OF_DERIVED),
    )
)
derived_atoms = st.one_of(
    _derived_atoms,
    _derived_atoms.map(lambda atom: call("not", atom)),
    st.builds(lambda one, other: call("or", one, other), _derived_atoms, _derived_atoms),
)


@QUICK
@given(conjunction_strategy(derived_atoms, 3))
def test_conditions_on_what_functions_make_of_a_term_are_never_called_impossible_where_some_term_meets_them(conditions):
    """X6

    Invariant of `algebra.covering.contradictions`: what satisfies the conditions satisfies what they become.
    """
    met = [value for value in WORLD_OF_DERIVED if all(holds(c, {"x": value}) for c in conditions)]
    event(f"met: {bool(met)}")
    if met:
        assert satisfiable(Conjunction(STAR, conditions)), met
