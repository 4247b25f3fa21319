"""The subset of QEL that the peer-to-peer paper subscribes with (P1)."""

from __future__ import annotations

import pytest
from pyoxigraph import RdfFormat, parse

from triplewire.algebra.evaluate import evaluate
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile

DOCUMENT = """@prefix dc: <http://purl.org/dc/elements/1.1/> . @prefix : <urn:v:> .
:one dc:creator "W. Nejdl" ; dc:date 2003 ; :kind :Article .
:two dc:creator "M. Koubarakis" ; dc:date "2001" ; :kind :Book .
"""


def found(text: str) -> set[tuple[str, ...]]:
    pattern = compile(text, language="qel", prefixes={"": "urn:v:"})
    graph = [quad.triple for quad in parse(DOCUMENT.encode(), format=RdfFormat.TURTLE)]
    return {
        tuple(row[name].value.removeprefix("urn:v:") for name in pattern.answer) for row in evaluate(pattern, graph)
    }


@pytest.mark.parametrize("conjunction", [",", " and ", " ^ ", " ∧ ", " & ", " && "])
@pytest.mark.parametrize("disjunction", ["or", "\u2228", "|", "||"])
def test_connectives_are_written_as_words_or_signs(conjunction: str, disjunction: str) -> None:
    constraint = f"(Y contains 'Nejdl' {disjunction} Y contains 'Koubarakis')"
    parts = ["(X, dc:creator, Y)", "(X, dc:date, Z)", constraint, "Z > 2002"]
    assert found("ans(X) :- " + conjunction.join(parts)) == {("one",)}


def test_constraint_in_disjunctive_normal_form_is_any_of_its_conjunctions() -> None:
    """P1."""
    constraint = "(Z > 2002 and Y contains 'Nejdl' or Z <= 2001 and Y \u2292 'Kouba')"
    assert found(f"ans(X) :- (X, dc:creator, Y), (X, dc:date, Z), {constraint}") == {("one",), ("two",)}


def test_without_a_head_all_variables_are_the_answer() -> None:
    assert found("(X, dc:date, Y), Y = 2003") == {("one", "2003")}


def test_capitals_are_variables_and_a_colon_makes_a_name() -> None:
    assert found("ans(X) :- (X, kind, Article)") == {("one",), ("two",)}
    assert found("ans(X) :- (X, kind, :Article)") == {("one",)}
    assert found("ans(?x) :- (?x, kind, K), K = :Book") == {("two",)}


def test_constant_in_an_objects_place_is_short_for_an_equality() -> None:
    """The paper's abuse of notation after definition 3."""
    short = compile("ans(X) :- (X, dc:creator, 'W. Nejdl')", language="qel")
    assert short == compile("ans(X) :- (X, dc:creator, Y), Y = 'W. Nejdl'", language="qel")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("ans(X) :- (X, p, Y), (Y, q, Z)", 23, "one resource"),
        ("ans(X) :- (X, p, Y), (X, q, Y)", 29, "variable of its own"),
        ("ans(X) :- (X, p, X)", 18, "variable of its own"),
        ("ans(X) :- (X, P, Y)", 15, "predicates are names"),
        ("ans(Y) :- (a, p, Y)", 12, "one resource"),
        ("ans(X) :- (X, p, Y), (X, q, Z), Y < Z", 33, "with a constant"),
        ("ans(X) :- (X, p, Y), Y = 1 or Y = 2", 12, "under `or`"),
        ("ans(X) :- (X, p, Y) and not (X, q, Z)", 30, "absent"),
    ],
)
def test_query_outside_the_class_is_refused_with_the_place(text: str, column: int, words: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        compile(text, language="qel")
    assert words in caught.value.reason
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ans(x) :- (X, p, Y)", "a head lists variables"),
        ("ans(X) :- (X, p, G-ToPSS)", "write :G-ToPSS"),
        ("ans(X) : (X, p, Y)", "expected :-"),
        ("ans(X) :- (X, p, Y), Q > 5", "nothing binds the variable Q"),
    ],
)
def test_wrong_query_is_told_what_to_do(text: str, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        compile(text, language="qel")
    assert words in str(caught.value)
