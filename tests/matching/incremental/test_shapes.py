"""Shapes: equal for conjunctions that differ in constants, names and order."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Variable
from tests.matching.incremental.worlds import shifted, wild_conjunctions

from effort import examples
from strategies import NODES, VARIABLES, iri
from triplewire.algebra.pattern import Conjunction, Optional, TriplePattern, variable
from triplewire.algebra.substitution import renamed
from triplewire.matching.incremental import Shape, shape_of, unanchored

relaxed = settings(deadline=None, max_examples=examples(200))
X, Y, Z, W = VARIABLES
P, Q, R = iri("p"), iri("q"), iri("r")


@relaxed
@given(wild_conjunctions())
def test_shape_comes_back_from_its_text(conjunction):
    shape = shape_of(conjunction).shape
    assert Shape.decode(shape.encode()) == shape
    assert Shape.decode(shape.encode()).encode() == shape.encode()


@relaxed
@given(wild_conjunctions())
def test_shape_and_constants_are_the_conjunction_s_triples(conjunction):
    """Positions, numbers of variables and constants fit together: put in again, they give the triple patterns."""
    shaped = shape_of(conjunction)
    nodes = {number: variable(name) for name, number in shaped.slots.items()}
    nodes |= dict(zip(shaped.shape.constants, shaped.constants, strict=True))
    assert len(shaped.triples) == len(shaped.shape.triples)
    for (s, p, o), triple in zip(shaped.shape.triples, shaped.triples, strict=True):
        predicate = nodes[p] if isinstance(p, int) else triple.predicate
        assert (nodes[s], predicate, nodes[o]) == tuple(triple)
        assert isinstance(triple.predicate, Variable) or str(triple.predicate) == p
    assert set(shaped.triples[: len(shaped.shape.required)]) == set(conjunction.triples)


@relaxed
@given(wild_conjunctions(), st.integers(1, 3))
def test_other_constants_and_names_are_the_same_shape(conjunction, by):
    """M5: rules that differ in constants are one group."""
    other = renamed(shifted(conjunction, by), {"x": "one", "y": "two", "extra": "three"})
    assert shape_of(other).shape == shape_of(conjunction).shape


def test_other_order_is_the_same_shape_where_predicates_or_neighbours_tell_triples_apart():
    triples = [
        TriplePattern(X, P, Y),
        TriplePattern(Y, P, Z),
        TriplePattern(Z, P, Literal("a")),
        TriplePattern(X, Q, NODES[0]),
        TriplePattern(X, Q, NODES[1]),
        TriplePattern(Y, W, NODES[1]),
    ]
    expected = shape_of(Conjunction(tuple(triples))).shape
    for number in range(20):
        random.Random(number).shuffle(triples)
        assert shape_of(Conjunction(tuple(triples))).shape == expected


def test_places_that_share_a_constant_share_a_variable():
    one = shape_of(Conjunction((TriplePattern(X, P, NODES[0]), TriplePattern(X, Q, NODES[0]))))
    two = shape_of(Conjunction((TriplePattern(X, P, NODES[0]), TriplePattern(X, Q, NODES[1]))))
    assert len(one.constants) == 1
    assert len(two.constants) == 2
    assert one.shape != two.shape


def test_fixed_bindings_are_constants_in_optional_parts():
    part = Optional((TriplePattern(X, Q, variable("fixed")),))
    shaped = shape_of(Conjunction((TriplePattern(X, P, Y),), (), (("fixed", NODES[2]),), (part,)))
    assert shaped.constants == (NODES[2],)
    assert shaped.shape.optionals == (((0, str(Q), 2),),)


def test_optional_parts_that_hang_from_other_optional_parts_are_unanchored():
    required = (TriplePattern(X, P, Y),)
    near = Optional((TriplePattern(X, Q, Z), TriplePattern(Z, R, W)))
    far = Optional((TriplePattern(Z, Q, W),))
    split = Optional((TriplePattern(X, Q, Z), TriplePattern(W, R, W)))
    assert unanchored(Conjunction(required, (), (), (near, far, split))) == (far, split)
