"""GQL, the language of G-ToPSS (G1, G3, G7)."""

from __future__ import annotations

import pytest
from pyoxigraph import RdfFormat, Triple, parse

from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile

NS = "urn:v:"
TAXONOMY = """
:Dog rdfs:subClassOf :Mammal . :Mammal rdfs:subClassOf :Animal .
:rex a :Dog .
"""


def triples(turtle: str) -> list[Triple]:
    text = f"@prefix : <{NS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {turtle}"
    return [quad.triple for quad in parse(text.encode(), format=RdfFormat.TURTLE)]


def found(text: str, turtle: str, taxonomy: str = "") -> set[tuple[str, ...]]:
    pattern = compile(text, language="gql", prefixes={"": NS})
    rows = evaluate(pattern, triples(turtle), Taxonomy.from_triples(triples(taxonomy)))
    return {tuple(row[name].value.removeprefix(NS) for name in pattern.answer) for row in rows}


def test_several_bare_words_are_a_text_and_one_is_a_name() -> None:
    """G1: figure 12 writes `Arno Jacobsen` and `G-ToPSS` without quotes."""
    turtle = ':a :p "Arno Jacobsen", :G-ToPSS, "G-ToPSS" .'
    assert found("SELECT ?x WHERE (?x, p, Arno\n  Jacobsen)", turtle) == {("a",)}
    assert found("SELECT ?x WHERE (?x, p, G-ToPSS), (?x, p, 'G-ToPSS')", turtle) == {("a",)}


def test_number_in_an_objects_place_is_compared_as_a_number() -> None:
    assert found("SELECT ?x WHERE (?x, year, 2005)", ':a :year "2005" . :b :year 2005.0 . :c :year 2006 .') == {
        ("a",),
        ("b",),
    }


@pytest.mark.parametrize("head", ["SELECT *", "SELECT", "SELECT ?a, ?b", "select ?a ?b"])
def test_nothing_or_a_star_selects_all_variables(head: str) -> None:
    assert found(f"{head} WHERE (?a, p, ?b)", ":x :p :y .") == {("x", "y")}


def test_conditions_are_joined_with_commas_and_or_and_not() -> None:
    turtle = ":a :p 1 . :b :p 5 . :c :p 9 ."
    assert found("SELECT ?x WHERE (?x, p, ?n) SUCHTHAT (?n > 1), (?n <= 5)", turtle) == {("b",)}
    assert found("SELECT ?x WHERE (?x, p, ?n) SUCHTHAT (?n = 1 or ?n >= 9)", turtle) == {("a",), ("c",)}
    assert found("SELECT ?x WHERE (?x, p, ?n) SUCH THAT not (?n < 5) and ?n != 9", turtle) == {("b",)}


def test_two_variables_can_be_compared() -> None:
    turtle = ":a :low 1 ; :high 5 . :b :low 7 ; :high 10 . :c :low 7 ; :high 5 ."
    assert found("SELECT ?x WHERE (?x, low, ?l), (?x, high, ?h) SUCHTHAT (?l < ?h)", turtle) == {("a",), ("b",)}


def test_predicates_can_be_variables() -> None:
    """G7."""
    assert found("SELECT ?p WHERE (a, ?p, ?x) SUCHTHAT (?x contains 'y')", ':a :p "xyz" ; :q "abc" .') == {("p",)}


@pytest.mark.parametrize("predicate", ["member", "rdf:_*"])
def test_member_is_every_container_membership_property(predicate: str) -> None:
    """G7."""
    turtle = (
        "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . :s a rdf:Seq ; rdf:_1 :x ; rdf:_12 :y ; :p :z ."
    )
    assert found(f"SELECT ?m WHERE (?s, {predicate}, ?m)", turtle) == {("x",), ("y",)}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("isa Animal", True),
        ("<= Animal", True),
        ("descendantOf Dog", True),
        ("isa Cat", False),
        ("instanceOf Dog", True),
        ("= Dog", True),
        ("instanceOf Mammal", False),
        ("ancestorOf Dog", False),
    ],
)
@pytest.mark.parametrize("typed_in", ["taxonomy", "document"])
def test_is_a_holds_whether_the_taxonomy_or_the_document_gives_the_type(
    condition: str, holds: bool, typed_in: str
) -> None:
    """G3, section 3.4."""
    typing, taxonomy = ":rex a :Dog .", TAXONOMY.replace(":rex a :Dog .", "")
    document = ":rex :age 3 . " + (typing if typed_in == "document" else "")
    taxonomy += typing if typed_in == "taxonomy" else ""
    answer = found(f"SELECT ?x WHERE (?x, age, ?n) SUCHTHAT (?x {condition})", document, taxonomy)
    assert answer == ({("rex",)} if holds else set())


def test_ancestor_of_holds_for_classes_above_and_for_their_instances() -> None:
    """G3."""
    text = "SELECT ?x WHERE (?x, p, ?y) SUCHTHAT (?x >= Dog)"
    assert found(text, ":Animal :p 1 . :Dog :p 1 . :rex :p 1 . :tom :p 1 ; a :Mammal .", TAXONOMY) == {
        ("Animal",),
        ("tom",),
    }


def test_class_may_stand_on_the_left() -> None:
    assert found("SELECT ?x WHERE (?x, p, 1) SUCHTHAT (Animal >= ?x)", ":rex :p 1 .", TAXONOMY) == {("rex",)}


def test_taxonomy_alone_is_asked_with_its_own_words() -> None:
    document = ":tom :p 1 ; a :Mammal . :rex :p 1 . :Dog :p 1 . :Animal :p 1 ."
    text = "SELECT ?x WHERE (?x, p, 1) SUCHTHAT (?x {} {})"
    assert found(text.format("below", "Animal"), document, TAXONOMY) == {("rex",), ("Dog",)}
    assert found(text.format("atOrBelow", "Animal"), document, TAXONOMY) == {("rex",), ("Dog",), ("Animal",)}
    assert found(text.format("above", "Dog"), document, TAXONOMY) == {("Animal",)}
    assert found(text.format("directlyBelow", "Dog"), document, TAXONOMY) == {("rex",)}


def test_is_names_one_resource() -> None:
    assert found("SELECT ?x WHERE (?x, p, 1) SUCHTHAT (?x is b)", ":a :p 1 . :b :p 1 .") == {("b",)}
    assert found("SELECT ?x WHERE (?x, p, 1) SUCHTHAT (not ?x is b)", ":a :p 1 . :b :p 1 .") == {("a",)}


def test_union_adds_another_way_to_match() -> None:
    text = "SELECT ?x WHERE (?x, p, ?n) SUCHTHAT (?n > 5) UNION WHERE (?x, q, z)"
    assert found(text, ":a :p 9 . :b :p 1 . :c :q :z .") == {("a",), ("c",)}


@pytest.mark.parametrize("word", ["member", "isa", "Select", "where"])
def test_word_of_the_language_is_a_name_where_a_name_is_due(word: str) -> None:
    assert found(f"SELECT ?x WHERE (?x, p, {word})", f":a :p :{word} .") == {("a",)}


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("SELECT ?x", 10, "expected a comma, a variable such as ?x, where"),
        ("SELECT ?x WHERE (?x, p)", 23, "expected a comma"),
        ("SELECT ?x WHERE (?x, p, ?y) SUCHTHAT (?z > 5)", 39, "nothing binds the variable z"),
        ("SELECT ?z WHERE (?x, p, ?y)", 8, "nothing binds the variable z"),
        ("SELECT ?x WHERE (?x, p, ?y) SUCHTHAT (?y != Dog)", 39, "not ?x is <iri>"),
        ("SELECT ?x WHERE ('x', p, ?x)", 18, "not a value"),
        ("SELECT ?x WHERE {?x, p, ?y}", 17, "(subject, predicate, object)"),
        ("SELECT ? WHERE (?x, p, ?y)", 8, "question mark and a word"),
        ("SELECT ?x WHERE (?x, y:p, ?y)", 22, "`y:` is not known"),
        ("SELECT ?x WHERE (?x, p, <a>)", 25, "not an IRI"),
    ],
)
def test_wrong_query_is_told_where_and_what_to_do(text: str, column: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        compile(text, language="gql")
    assert (caught.value.line, caught.value.column) == (1, column)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT ?x WHERE (?x, p, ?y) SUCHTHAT not ?x isa Dog", "is-a"),
        ("SELECT ?x WHERE " + ", ".join(f"(?x, p{i}, ?y)" for i in range(257)), "256 triples"),
        ("SELECT ?x WHERE (?x, p, ?y) SUCHTHAT " + ", ".join(f"(?x isa C{i})" for i in range(9)), "256 alternatives"),
        ("SELECT * WHERE " + ", ".join(f"(?a{i}, p, ?b{i})" for i in range(200)), "256 variables"),
    ],
)
def test_query_that_is_not_served_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        compile(text, language="gql")
    assert words in caught.value.reason
    assert caught.value.line == 1
