"""Conjunctive queries over triples (S2)."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from triplewire.errors import QueryError, QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile
from triplewire.languages.context import DEFAULT_NAMESPACE, MOST_CHARACTERS


@pytest.mark.parametrize("sign", ["^", "∧", "and", ",", "AND", "&&"])
def test_every_sign_of_conjunction_says_the_same(sign: str) -> None:
    text = f'?x : (?x, author, "Smith") {sign} (?x, topic, "P2P")'
    assert compile(text, language="conjunctive") == compile(text.replace(f" {sign} ", " ^ "), language="conjunctive")


def test_triples_may_be_joined_on_any_variable() -> None:
    pattern = compile("?a : (?a, cites, ?b) ^ (?b, author, ?c) ^ (?c, ?p, ?a)", language="conjunctive")
    assert len(pattern.branches[0].triples) == 3


def test_conditions_are_conjuncts() -> None:
    (branch,) = compile("?x : (?x, year, ?y) ^ ?y > 2000 ^ not ?y = 2004", language="conjunctive").branches
    assert len(branch.conditions) == 2


def test_names_without_an_empty_prefix_live_in_the_default_namespace() -> None:
    (branch,) = compile("?x : (?x, p, q)", language="conjunctive").branches
    assert branch.triples[0].predicate == NamedNode(DEFAULT_NAMESPACE + "p")


def test_variable_that_only_equals_a_constant_is_a_column_of_it() -> None:
    (branch,) = compile('?x, ?source : (?x, p, ?y) ^ ?source = "here"', language="conjunctive").branches
    assert branch.bindings == (("source", Literal("here")),)


def test_answer_variables_keep_their_order_and_count_once() -> None:
    assert compile("?y, ?x, ?y : (?x, p, ?y)", language="conjunctive").answer == ("y", "x")


@pytest.mark.parametrize("text", ["?x : (?x, p, 1) or (?x, q, 1)", "?x : (?x, p, ?y) ^ (?y = 1 or ?y = 2)"])
def test_or_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery, match="has no `or`"):
        compile(text, language="conjunctive")


def test_query_without_a_triple_is_refused() -> None:
    with pytest.raises(UnsupportedQuery, match="no triple"):
        compile("?x : ?x = <urn:a>", language="conjunctive")


def test_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(QueryError, match="characters"):
        compile("(" * (MOST_CHARACTERS + 1), language="conjunctive")


def test_parentheses_may_be_as_deep_as_the_text_is_long() -> None:
    deep = "?x : " + "(" * 40_000 + "(?x, p, ?y)" + ")" * 40_000
    assert compile(deep, language="conjunctive") == compile("?x : (?x, p, ?y)", language="conjunctive")


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("(?x, p, ?y)", 1, 1, "expected a variable such as ?x"),
        ("?x : (?x, p,\n ?y", 2, 4, "expected a closing parenthesis"),
        ("?x : (?x, 'p', ?y)", 1, 11, "not a value"),
        ("?x : (?x, p, ?y) ?y > 5", 1, 18, "expected a comma, and, or, the end"),
        ("?x : (?x, p, 5 6)", 1, 16, "expected a closing parenthesis"),
        ("?x : (?x, p, 'a'@)", 1, 17, "expected"),
        ("?x : (?x, p, 'a'@toolongtag)", 1, 17, "is not a language"),
        ("?x, ?z : (?x, p, ?y)", 1, 5, "nothing binds the variable z"),
    ],
)
def test_wrong_query_is_told_where_and_what_to_do(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        compile(text, language="conjunctive")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert words in str(caught.value)
