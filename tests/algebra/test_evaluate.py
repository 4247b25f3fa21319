"""What a pattern means: `evaluate` against pyoxigraph where SPARQL can say the same, and the rest by example."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, Quad, Store, Triple, Variable

from effort import examples
from strategies import (
    LITERALS,
    NODES,
    PREDICATES,
    VARIABLES,
    call,
    graphs,
    integer,
    iri,
    patterns,
    subjects,
    taxonomies,
)
from triplewire.algebra.evaluate import Graph, evaluate, solutions
from triplewire.algebra.pattern import Conjunction, Optional, Pattern, TriplePattern, render_conjunction
from triplewire.algebra.taxonomy import EMPTY, Taxonomy

S, X, Y = (Variable(name) for name in "sxy")
P, Q = iri("p"), iri("q")
TRIPLES = [
    Triple(iri("a"), P, integer(1)),
    Triple(iri("a"), P, integer(2)),
    Triple(iri("a"), Q, iri("b")),
    Triple(iri("b"), P, integer(2)),
]
QUICK = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rows(pattern, triples, taxonomy=EMPTY):
    return {frozenset(row.items()) for row in evaluate(pattern, triples, taxonomy)}


def test_rows_are_distinct_bindings_of_the_answer():
    pattern = Pattern(("s",), (Conjunction((TriplePattern(S, P, X),)),))
    assert sorted(row["s"].value for row in evaluate(pattern, TRIPLES)) == [iri("a").value, iri("b").value]


def test_a_shared_variable_joins():
    pattern = Pattern(("x", "y"), (Conjunction((TriplePattern(S, Q, X), TriplePattern(X, P, Y))),))
    assert evaluate(pattern, TRIPLES) == [{"x": iri("b"), "y": integer(2)}]


def test_a_variable_twice_in_a_triple_asks_for_the_same_term():
    pattern = Pattern(("s",), (Conjunction((TriplePattern(S, P, S),)),))
    assert evaluate(pattern, [Triple(iri("a"), P, iri("b")), Triple(iri("b"), P, iri("b"))]) == [{"s": iri("b")}]


def test_a_variable_may_be_a_predicate():
    """G7"""
    pattern = Pattern(("k",), (Conjunction((TriplePattern(iri("a"), Variable("k"), X),)),))
    assert {row["k"] for row in evaluate(pattern, TRIPLES)} == {P, Q}


def test_ask_gives_one_empty_row_or_none():
    pattern = Pattern((), (Conjunction((TriplePattern(S, Q, X),)),))
    assert evaluate(pattern, TRIPLES) == [{}]
    assert evaluate(pattern, TRIPLES[:1]) == []


def test_alternatives_leave_columns_out_that_they_do_not_bind():
    pattern = Pattern(
        ("x", "y"), (Conjunction((TriplePattern(S, Q, X),)), Conjunction((TriplePattern(iri("b"), P, Y),)))
    )
    assert rows(pattern, TRIPLES) == {frozenset([("x", iri("b"))]), frozenset([("y", integer(2))])}


def test_fixed_bindings_are_columns_and_conditions_see_them():
    branch = Conjunction((TriplePattern(S, P, X),), (call(">=", X, Variable("k")),), (("k", integer(2)),))
    assert rows(Pattern(("s", "k"), (branch,)), TRIPLES) == {
        frozenset([("s", iri(name)), ("k", integer(2))]) for name in "ab"
    }


def test_optional_parts_add_columns_and_decide_nothing():
    optional = Optional((TriplePattern(S, Q, Y),), (call("isiri", Y),))
    pattern = Pattern(("s", "y"), (Conjunction((TriplePattern(S, P, integer(2)),), optionals=(optional,)),))
    assert rows(pattern, TRIPLES) == {frozenset([("s", iri("a")), ("y", iri("b"))]), frozenset([("s", iri("b"))])}


def test_a_literal_as_a_subject_matches_nothing():
    assert evaluate(Pattern((), (Conjunction((TriplePattern(Literal("a"), P, X),)),)), TRIPLES) == []


def test_a_pattern_without_branches_matches_nothing():
    assert evaluate(Pattern((), ()), TRIPLES) == []


def test_is_a_conditions_look_at_the_taxonomy():
    """G3"""
    pattern = Pattern(("x",), (Conjunction((TriplePattern(S, Q, X),), (call("descendant", X, iri("top")),)),))
    assert evaluate(pattern, TRIPLES) == []
    assert evaluate(pattern, TRIPLES, Taxonomy([(iri("b"), iri("top"))])) == [{"x": iri("b")}]


def test_a_triple_that_is_stated_twice_counts_once():
    conjunction = Conjunction((TriplePattern(S, Q, X),))
    assert len([*solutions(conjunction, Graph(TRIPLES * 2))]) == 1


def _is_kept(term):
    """False for a literal such as 02, which pyoxigraph's store gives back as 2: there, the two are one term."""
    store = Store()
    store.add(Quad(iri("s"), P, term))
    return [quad.object for quad in store] == [term]


_kept = [literal for literal in LITERALS if _is_kept(literal)]
_stored_graphs = graphs.map(
    lambda triples: [triple for triple in triples if triple.object in _kept or not isinstance(triple.object, Literal)]
)
_nodes = st.sampled_from([*VARIABLES[:3], *NODES[:2]])
_joins = st.lists(
    st.builds(
        TriplePattern, _nodes, st.sampled_from([*PREDICATES, VARIABLES[3]]), st.one_of(_nodes, st.sampled_from(_kept))
    ),
    min_size=1,
    max_size=3,
)


@QUICK
@given(_joins, _stored_graphs)
def test_joins_are_those_of_pyoxigraph(triple_patterns, triples):
    """The basic graph pattern, without conditions, in both."""
    conjunction = Conjunction(tuple(triple_patterns))
    names = sorted(conjunction.variables)
    store = Store()
    store.extend([Quad(*triple) for triple in triples])
    text = " . ".join(str(triple) for triple in triple_patterns)
    query = f"SELECT {' '.join('?' + name for name in names) or '*'} {{ {text} }}"
    expected = {tuple(row[name] for name in names) for row in store.query(query)}
    found = {tuple(row[name] for name in names) for row in evaluate(Pattern(tuple(names), (conjunction,)), triples)}
    event(f"matched: {bool(found)}")
    assert found == expected


@QUICK
@given(patterns(), graphs, taxonomies(), subjects)
def test_more_triples_never_take_a_row_away_unless_a_column_is_optional(pattern, triples, taxonomy, subject):
    """Patterns are monotone: this is what makes incremental matching and covering possible."""
    if not any(branch.optionals for branch in pattern.branches):
        more = [*triples, Triple(subject, PREDICATES[0], integer(1))]
        assert rows(pattern, triples, taxonomy) <= rows(pattern, more, taxonomy)


def test_a_conjunction_prints_all_of_its_parts():
    optional = Optional((TriplePattern(S, Q, Y),))
    text = render_conjunction(
        Conjunction((TriplePattern(S, P, X),), (call(">", X, integer(1)),), (("k", BlankNode("b")),), (optional,))
    )
    assert text.startswith("?s <http://example.org/p> ?x . (?x > ")
    assert text.endswith("?k is _:b . optional { ?s <http://example.org/q> ?y }")
