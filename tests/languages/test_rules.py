"""MDV's rule language (M3)."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.pattern import Pattern
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile
from triplewire.languages.context import Context
from triplewire.languages.rules import compile_rules

NS = "urn:v:"


def rule(text: str, **named: Pattern) -> Pattern:
    return compile(text, language="rules", prefixes={"": NS}, named=named)


def graph(turtle: str) -> list[Triple]:
    text = f"@prefix : <{NS}> . {turtle}"
    return [quad.triple for quad in parse(text.encode(), format=RdfFormat.TURTLE)]


def registered(text: str, turtle: str, **named: Pattern) -> set[str]:
    rows = evaluate(rule(text, **named), graph(turtle))
    return {term.value.removeprefix(NS) for row in rows for term in row.values()}


def test_class_alone_registers_its_instances() -> None:
    assert registered("search A c register c", ":x a :A . :y a :B .") == {"x"}


def test_keywords_are_read_in_any_case_and_names_are_not() -> None:
    assert registered("SEARCH A c Register c WHERE c.p Contains 'b' AND c.p != 'abd'", ':x a :A ; :p "abc" .') == {"x"}
    assert registered("search a c register c", ":x a :A .") == set()


@pytest.mark.parametrize(
    ("predicate", "value", "holds"),
    [
        ("c.p = 64", '"64"', True),
        ("c.p = 64", "64.0", True),
        ("c.p = '64'", '"64"', True),
        ("c.p = '64'", "64", False),
        ("c.p > 9", '"64"', True),
        ("c.p > 9", '"many"', False),
        ("9 < c.p", "64", True),
        ("c.p < 9", "64", False),
        ("c.p <= 64", "64", True),
        ("c.p >= -1e3", "64", True),
        ("c.p != 64", '"64"', False),
        ("c.p != 'a'", '"b"', True),
        ("c.p < 'b'", '"a"', True),
        ("c.p contains 'ass'", '"Passau"@de', True),
        ("c.p contains 'ass'", "<http://passau>", True),
        ("c.p contains 'ASS'", '"Passau"', False),
        ("c.p = 'chat'@fr", '"chat"@fr', True),
        ("c.p = 'chat'@fr", '"chat"', False),
        ("c.p = '2024-01-01'^^xsd:date", '"2024-01-01"^^<http://www.w3.org/2001/XMLSchema#date>', True),
        ("c.p = :b", ":b", True),
        ("c.p = <urn:v:b>", ":b", True),
        ("c.p != :b", ":b", False),
        ("c.p != :b", "[]", True),
        ("c.p", "[]", True),
        ("not c.p > 64", "64", True),
        ("not (c.p > 64 or c.p < 10)", "64", True),
        ("not c.p contains 'x'", '"abc"', True),
        ("c.p = 'say \"hi\"\\n'", r'"say \"hi\"\n"', True),
    ],
)
def test_predicate_compares_as_the_paper_does(predicate: str, value: str, holds: bool) -> None:
    text = f"search A c register c where {predicate}"
    assert registered(text, f":x a :A ; :p {value} .") == ({"x"} if holds else set())


def test_plain_path_means_one_value_and_the_any_operator_means_any() -> None:
    """M3: the `?` of set-valued properties gives each use its own element."""
    turtle = ':x a :A ; :keyword "rdf", "xml" .'
    assert registered("search A c register c where c.keyword = 'rdf' and c.keyword = 'xml'", turtle) == set()
    assert registered("search A c register c where c.keyword? = 'rdf' and c.keyword? = 'xml'", turtle) == {"x"}


def test_any_operator_in_the_middle_of_a_path_takes_its_own_element_too() -> None:
    turtle = ":x a :A ; :part [ :size 1 ; :weight 2 ], [ :size 3 ; :weight 4 ] ."
    assert registered("search A c register c where c.part.size = 1 and c.part.weight = 4", turtle) == set()
    assert registered("search A c register c where c.part?.size = 1 and c.part?.weight = 4", turtle) == {"x"}


def test_variables_are_joined_through_paths() -> None:
    turtle = ":x a :A ; :owner :o . :y a :B ; :owner :o . :z a :B ; :owner :q ."
    assert registered("search A c, B d register c, d where c.owner = d.owner", turtle) == {"x", "y"}


def test_or_does_not_ask_for_the_properties_of_both_sides() -> None:
    turtle = ":x a :A ; :p 1 . :y a :A ; :q 2 . :z a :A ; :p 2 ."
    assert registered("search A c register c where c.p = 1 or c.q = 2", turtle) == {"x", "y"}


def test_rule_as_extension_keeps_its_own_variables_apart() -> None:
    """M3: another rule as extension, its alternatives distributed."""
    inner = rule("search A c register c where c.p = 1 or c.q = 2")
    turtle = ":x a :A ; :p 1 ; :r 9 . :y a :A ; :q 2 . :z a :A ; :q 3 ; :r 9 ."
    assert registered("search Inner d register d where d.r = 9", turtle, Inner=inner) == {"x"}
    assert registered("search Inner c, Inner d register c where d.r = 9 and c.q = 2", turtle, Inner=inner) == {"y"}


def test_rule_about_one_resource_can_be_an_extension() -> None:
    inner = rule("search A c register c where c = 'urn:v:x'")
    assert registered("search Inner d register d where d.p = 1", ":x a :A ; :p 1 . :y a :A ; :p 1 .", Inner=inner) == {
        "x"
    }


def test_rule_that_can_never_match_makes_its_users_never_match() -> None:
    never = rule("search A c register c where c.p = 'a' and c.p = 'b'")
    assert rule("search Never c register c", Never=never).branches == ()


def test_search_variable_is_compared_with_a_quoted_text_as_a_resource() -> None:
    """M11: OID rules."""
    assert registered("search A c register c where c = 'urn:v:x'", ":x a :A . :y a :A .") == {"x"}
    assert registered("search A c register c where c != 'urn:v:x'", ":x a :A . :y a :A .") == {"y"}


def test_rulebook_names_its_rules_and_later_ones_use_earlier_ones() -> None:
    rules = compile_rules("One: search A c register c; Two: search One d register d where d.p > 1;", Context())
    assert list(rules) == ["One", "Two"]
    assert len(rules["Two"].branches[0].triples) == 2


def test_bare_names_live_in_the_empty_prefix() -> None:
    (branch,) = rule("search A c register c").branches
    assert branch.triples[0].object == NamedNode(NS + "A")


def test_known_prefixes_can_be_used_and_overridden() -> None:
    text = "search A c register c where c.dc:title = 'x'"
    known = compile(text, language="rules").branches[0].triples
    own = compile(text, language="rules", prefixes={"dc": "urn:mine:"}).branches[0].triples
    assert NamedNode("http://purl.org/dc/elements/1.1/title") in {triple.predicate for triple in known}
    assert NamedNode("urn:mine:title") in {triple.predicate for triple in own}
    assert Literal("x") in {triple.object for triple in own}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "expected search"),
        ("search A c", 1, 11, "expected a comma, register"),
        ("search A c\nregister c where", 2, 17, "ends too early"),
        ("search A c register c where c.p == 5", 1, 34, "written with one sign"),
        ("search A c register c where c.p <> 5", 1, 34, "written !="),
        ("search A c register c where c.p = 'open", 1, 35, "no closing quote"),
        ("search A c register c where\n  d.p = 5", 2, 3, "`d` is not searched"),
        ("search A c register d", 1, 21, "`d` is not searched"),
        ("search A c register c where c", 1, 29, "alone says nothing"),
        ("search x:A c register c", 1, 8, "`x:` is not known"),
        ("search A c, B c register c", 1, 10, "searched twice"),
        ("search A c register c where c = 'doc.rdf'", 1, 33, "whole IRI"),
        ("search A c-1 register c-1", 1, 10, "cannot be the name of a variable"),
        ("search A c register c where c.p = '\\uD800'", 1, 35, "an escape or a character"),
    ],
)
def test_wrong_rule_is_told_where_and_what_to_do(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        rule(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("search A c register c where not c.k? = 5", "all elements"),
        ("search A c register c where not c.k", "absent"),
        ("search Pair c register c", "several variables"),
        (
            "search A c register c where " + " and ".join(f"(c.p{i} = 1 or c.q{i} = 1)" for i in range(9)),
            "256 alternatives",
        ),
        ("search A c register c where " + " or ".join(f"c.p = {i}" for i in range(257)), "256 alternatives"),
        ("search A c register c where c" + ".p" * 300 + " = 1", "256 triples"),
        ("search A c register c where " + "not " * 101 + "c.p = 1", "nested"),
        ("search A c register c where " + " and ".join(f"c.p != {i}" for i in range(257)), "256 conditions"),
        (
            "search A c register c where " + " and ".join(f"c.p != {i}" for i in range(600)),
            "512 triples and conditions",
        ),
    ],
)
def test_rule_that_is_not_served_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        rule(text, Pair=rule("search A c, B d register c, d where c.p = d"))
    assert words in caught.value.reason
    assert caught.value.line == 1


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="two rules named One"):
        compile_rules("One: search A c register c; One: search B c register c", Context())
