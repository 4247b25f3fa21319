"""Patterns as text: nothing of a pattern is lost, and equal patterns are equal texts."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal

from effort import examples
from strategies import NODES, VARIABLES, call, integer, iri, patterns
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import FUNCTIONS, Call, Conjunction, Optional, Pattern, TriplePattern, variable
from triplewire.matching.incremental import dump_pattern, load_pattern

relaxed = settings(deadline=None, max_examples=examples(200))
leaves = st.one_of(
    st.sampled_from(
        [*VARIABLES, *NODES, integer(1), Literal("?x"), Literal('a"\\\n\u2028é'), Literal("x", language="en")]
    )
)


def calls(inner):
    def of(name):
        count = FUNCTIONS[name][0]
        return st.tuples(*[inner] * count).map(lambda arguments: Call(name, arguments))

    return st.sampled_from(sorted(FUNCTIONS)).flatmap(of)


expressions = st.recursive(leaves, calls, max_leaves=8)


def same(first: Pattern, second: Pattern) -> bool:
    return first == second and first.is_normal == second.is_normal


@relaxed
@given(patterns(), st.booleans())
def test_pattern_comes_back_from_its_text(pattern, normal):
    """Invariant of `matching.incremental.patterns`: a pattern comes back from its text, and has one text."""
    pattern = normalize(pattern) if normal else pattern
    text = dump_pattern(pattern)
    assert same(load_pattern(text), pattern)
    assert dump_pattern(load_pattern(text)) == text


@relaxed
@given(st.lists(expressions, max_size=3), st.lists(expressions, max_size=2))
def test_every_call_comes_back_from_its_text(conditions, inner):
    x, y = VARIABLES[:2]
    triples = tuple(TriplePattern(name, iri("p"), y) for name in VARIABLES)
    part = Optional((TriplePattern(x, variable("extra"), Literal("é")),), tuple(inner))
    branch = Conjunction(
        triples, tuple(conditions), (("fixed", NODES[0]), ("text", Literal("a", language="fr"))), (part,)
    )
    pattern = Pattern(("fixed", "extra", "x"), (branch, Conjunction(triples)))
    assert same(load_pattern(dump_pattern(pattern)), pattern)


def test_text_is_json_in_one_spelling():
    """Why: a store tells equal queries by their texts."""
    x, y = VARIABLES[:2]
    pattern = Pattern(("x",), (Conjunction((TriplePattern(x, iri("p"), y),), (call("<", y, integer(3)),)),))
    assert json.loads(dump_pattern(pattern)) == [
        ["x"],
        [
            [
                [["?x", "<http://example.org/p>", "?y"]],
                [["<", "?y", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>']],
                [],
                [],
            ]
        ],
        False,
    ]
