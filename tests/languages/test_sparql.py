"""SPARQL texts and the rows that they mean (X1)."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.languages import compile, render

PREFIXES = {
    "": "http://example.org/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEAD = "\n".join(f"@prefix {prefix}: <{space}> ." for prefix, space in PREFIXES.items())

CATALOGUE = """
:air a :Dataset ; :title "Air quality"@en , "Luftqualität"@de ; :size 01 ; :by :city ; :about ( :air :city ) .
:bus a :Table ; :title "Bus stops" ; :size 20.50 ; :by [ :name "Operator" ] ; :draft true .
:map :title "Map" ; :size "large" ; :replaces :bus .
:city :name "City of X" ; :mail <mailto:x@example.org> .
"""


def _triples(turtle: str) -> list[Triple]:
    return [quad.triple for quad in parse(f"{HEAD}\n{turtle}", format=RdfFormat.TURTLE)]


GRAPH = _triples(CATALOGUE)
TAXONOMY = Taxonomy.from_triples(_triples(":Dataset rdfs:subClassOf :Resource . :Table rdfs:subClassOf :Dataset ."))


def rows(text: str, turtle: str | None = None) -> set[tuple[tuple[str, str], ...]]:
    """The rows as sorted pairs; names are shortened to what follows the last slash."""
    graph = GRAPH if turtle is None else _triples(turtle)
    found = evaluate(compile(text, language="sparql", prefixes=PREFIXES), graph, TAXONOMY)
    return {tuple(sorted((name, _short(term)) for name, term in row.items())) for row in found}


def _short(term: object) -> str:
    return term.value.rpartition("/")[2] if isinstance(term, NamedNode) else str(getattr(term, "value", term))


def column(text: str, turtle: str | None = None) -> list[str]:
    """The values of ?x, sorted."""
    return sorted(dict(row)["x"] for row in rows(f"SELECT ?x {{ {text} }}", turtle))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("?x a :Dataset", ["air"]),
        ("?x :title 'Map' ; :size ?size ; .", ["map"]),
        ("?y :title 'Map' , ?x", ["Map"]),
        ("?s :by [ :name ?x ]", ["City of X", "Operator"]),
        ("?x :by _:b . _:b :name 'Operator'", ["bus"]),
        (":air :about ( :air ?x )", ["city"]),
        (":air :about ( ?x ?x )", []),
        ("?x $p true", ["bus"]),
        ("$x :draft true", ["bus"]),
        ("?x :by/:name 'Operator'", ["bus"]),
        ("'Operator' ^:name/^:by ?x", ["bus"]),
        ("?x (:replaces|:by)/:name ?n", ["air", "bus"]),
        ("?x ^(:by/^:replaces) ?y", []),
        (":map :replaces/(:by/:name) ?x", ["Operator"]),
    ],
)
def test_triple_patterns_and_paths_find_what_they_say(body: str, expected: list[str]) -> None:
    assert column(body) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("?v = 1", ["air"]),
        ("sameTerm(?v, 1)", []),
        ("sameTerm(?v, 01)", ["air"]),
        ("?v > 1 && ?v <= 20.5", ["bus"]),
        ("?v * 2 + 1 -1 = 41", ["bus"]),
        ("-?v < -2", ["bus"]),
        ("+?v < 2", ["air"]),
        ("?v = 1 && (+1 + -1 + +2.0 + -2.0 + +3e0 + -3e0) = 0", ["air"]),
        ("?v IN (1, 'large')", ["air", "map"]),
        ("?v NOT IN (1, 2)", ["bus", "map"]),
        ("?v IN ()", []),
        ("!isNumeric(?v)", ["map"]),
        ("STRSTARTS(STR(?x), 'http:') && isLiteral(?v) && isURI(?x)", ["air", "bus", "map"]),
        ("CONTAINS(STR(?x), '/a')", ["air"]),
        ("STRENDS(?v, 'ge') || DATATYPE(?v) = xsd:integer", ["air", "map"]),
        ("REGEX(?v, '^L', 'i')", ["map"]),
        ("STRLEN(LCASE(STR(?v))) = STRLEN('large')", ["bus", "map"]),
        ("?v < 'm'", ["map"]),
        ("BOUND(?v) && !BOUND(?nothing)", ["air", "bus", "map"]),
        ("?nothing = 1", []),
        ("!(?nothing = 1)", []),
        ("?nothing = 1 || ?v = 1", ["air"]),
        ("!(?nothing = 1 && ?v = 1)", ["bus", "map"]),
        ("?v", ["air", "bus", "map"]),
        ("?v - ?v", []),
    ],
)
def test_filters_follow_sparqls_typing_and_error_rules(condition: str, expected: list[str]) -> None:
    assert column(f"?x :size ?v FILTER({condition})") == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("LANG(?x) = 'de'", ["Luftqualität"]),
        ("LANGMATCHES(LANG(?x), '*')", ["Air quality", "Luftqualität"]),
        ("?x = 'Map'@EN", []),
        ("UCASE(?x) = 'MAP'", ["Map"]),
        ("?x = 'Air quality'@EN", ["Air quality"]),
    ],
)
def test_language_tags_compare_without_case(condition: str, expected: list[str]) -> None:
    assert column(f"?s :title ?x FILTER({condition})") == expected


@pytest.mark.parametrize(
    ("data", "condition", "holds"),
    [
        ('"abc"^^xsd:integer', "!?v", True),
        ('"abc"^^xsd:integer', "?v = 1", False),
        ('"abc"^^xsd:integer', "?v != 1", False),
        ('"x"^^:type', "?v = 'x'^^:type", True),
        ('"x"^^:type', "?v != 'y'^^:type", False),
        ('"NaN"^^xsd:double', "?v = ?v", False),
        ('"NaN"^^xsd:double', "!(?v < 1)", True),
        ("true", "?v > false", True),
        ('"2024-01-31T12:00:00"^^xsd:dateTime', "?v < '2024-01-31T13:00:00Z'^^xsd:dateTime", False),
        ('"2024-01-31T12:00:00"^^xsd:dateTime', "!(?v < '2024-01-31T13:00:00Z'^^xsd:dateTime)", False),
        ('"2024-01-31T12:00:00"^^xsd:dateTime', "?v < '2024-03-01T00:00:00Z'^^xsd:dateTime", True),
        ("1", "?v / 0 = 1", False),
        ("1e0", "?v / 0 > 1e300", True),
        (":a", "?v <= ?v", False),
        ("'a b'", "REGEX(?v, ' ^ a [ ] b $ ', 'x')", True),
        ("'ab'", "REGEX(?v, 'a', ?p)", False),
    ],
)
def test_values_compare_as_the_recommendation_says(data: str, condition: str, holds: bool) -> None:
    """Where other implementations differ from sections 17.2 and 17.3, the recommendation wins."""
    assert rows(f"ASK {{ ?s ?p ?v FILTER({condition}) }}", f":s :p {data} .") == ({()} if holds else set())


def test_a_union_has_the_rows_of_both_and_joins_with_what_is_beside_it() -> None:
    text = "SELECT ?x ?n { ?x :title ?t . { ?x :by/:name ?n } UNION { ?x :replaces ?r } FILTER(LANG(?t) != 'de') }"
    expected = {(("n", "City of X"), ("x", "air")), (("n", "Operator"), ("x", "bus")), (("x", "map"),)}
    assert rows(text) == expected


def test_a_filter_sees_only_the_group_that_it_stands_in() -> None:
    assert column("?x :size ?v { ?x :title ?t FILTER(?v = 1) }") == []
    assert column("?x :size ?v { ?x :title ?t } FILTER(?v = 1)") == ["air"]
    assert column("FILTER(?v = 1) ?x :size ?v") == ["air"]


def test_bound_is_decided_for_each_branch() -> None:
    union = "{ ?x :by ?b } UNION { ?x :replaces ?r }"
    assert column(f"{union} FILTER(BOUND(?r))") == ["map"]
    assert column(f"{union} FILTER(!BOUND(?r))") == ["air", "bus"]


def test_values_are_bindings_wherever_they_stand() -> None:
    assert rows("SELECT * { VALUES ?x { :air :map } ?x :size ?v }") == rows(
        "SELECT * { ?x :size ?v } VALUES ?x { :air :map }"
    )
    assert rows("SELECT ?y { ?x :size ?v VALUES (?x ?y) { (:air 'here') (UNDEF 'any') (:no 'none') } }") == {
        (("y", "here"),),
        (("y", "any"),),
    }
    assert rows("SELECT ?x { VALUES ?x { 1 2 } VALUES ?x { 2 3 } :map :title ?t }") == {(("x", "2"),)}
    assert rows("SELECT * { ?x :size ?v VALUES ?x { } }") == set()


def test_an_optional_adds_columns_and_does_not_decide_the_match() -> None:
    text = "SELECT * { ?x :size ?v OPTIONAL { ?x :replaces ?r } OPTIONAL { ?x :by ?b . ?b :mail ?m FILTER(?v < 5) } }"
    assert {dict(row)["x"]: len(row) for row in rows(text)} == {"air": 4, "bus": 2, "map": 3}


def test_optionals_that_share_a_variable_are_asked_in_order() -> None:
    """LeftJoin is not associative: the first one that binds ?v has it."""
    data = ":s :p 1 ; :q 2 . :t :p 3 ; :r 4 ."
    text = "SELECT * { ?x :p ?y OPTIONAL { ?x :q ?v } OPTIONAL { ?x :r ?v } }"
    assert rows(text, data) == {(("v", "2"), ("x", "s"), ("y", "1")), (("v", "4"), ("x", "t"), ("y", "3"))}


def test_columns_that_nothing_binds_are_left_out() -> None:
    assert compile("SELECT ?x ?no { ?x ?p ?o }", language="sparql").answer == ("x",)


def test_select_all_has_the_variables_in_order_and_no_blank_nodes() -> None:
    pattern = compile("SELECT * { ?b ?a [] . _:x ?a ?c FILTER(?d) }", language="sparql")
    assert pattern.branches == ()
    assert compile("SELECT * { ?b ?a [] . _:x ?a ?c }", language="sparql").answer == ("b", "a", "c")


def test_a_query_that_can_never_match_has_no_branch() -> None:
    for body in ("?s ?p ?o FILTER(1 > 2)", "1 ?p ?o", "?s ?p ?o FILTER(?unknown)", "VALUES ?p { 'text' } ?s ?p ?o"):
        assert compile(f"ASK {{ {body} }}", language="sparql").branches == ()


def test_distinct_and_reduced_change_nothing() -> None:
    """Rows are distinct always."""
    plain, *others = (
        compile(f"SELECT {how} ?p {{ ?s ?p ?o }}", language="sparql") for how in ("", "DISTINCT", "REDUCED")
    )
    assert all(other == plain for other in others)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("?x a/rdfs:subClassOf* :Dataset", ["air", "bus"]),
        ("?x a/rdfs:subClassOf+ :Dataset", ["bus"]),
        ("?x a ?c . ?c rdfs:subClassOf* :Resource", ["air", "bus"]),
        ("?x a ?c . :Resource ^rdfs:subClassOf* ?c", ["air", "bus"]),
        ("?x a ?c . :Dataset (^rdfs:subClassOf)+ ?c", ["bus"]),
        ("VALUES ?top { :Table } ?x a/rdfs:subClassOf* ?top", ["bus"]),
        ("?x a ?c { ?y a/rdfs:subClassOf* :Table } FILTER(?x = ?y)", ["bus"]),
    ],
)
def test_repeated_subclass_paths_ask_the_taxonomy(body: str, expected: list[str]) -> None:
    """G3: is-a, as SPARQL writes it."""
    assert column(body) == expected


def test_a_texts_own_prefixes_come_before_the_callers() -> None:
    text = "PREFIX : <http://other.example/> BASE <http://example.org/a/> SELECT * { <../air> ?p :x ; <b> : }"
    subjects = {
        str(node)
        for branch in compile(text, language="sparql", prefixes=PREFIXES).branches
        for t in branch.triples
        for node in t
    }
    assert "<http://example.org/air>" in subjects
    assert "<http://example.org/a/b>" in subjects
    assert "<http://other.example/x>" in subjects
    assert "<http://other.example/>" in subjects


def test_lexical_forms_are_kept() -> None:
    """Terms match as terms: 01 is not 1, though they are equal."""
    assert column("?x :size 1") == []
    assert column("?x :size 01") == ["air"]
    assert column("?x :size 20.50") == ["bus"]
    assert column(
        "?x :p -0 , +1.50 , 1E3 , '''a\n\"b\"''' , \"\\u0041\\n\"", ":s :p -0, +1.50, 1E3, 'a\\n\"b\"', 'A\\n' ."
    ) == ["s"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT ?x { ?x a :C ; :p ?v . FILTER(?v > 5) }", "SELECT ?x { ?x :p ?w . ?x a :C . FILTER(5 < ?w) }"),
        ("SELECT ?x { ?x :p/:q 1 }", "SELECT ?x { ?x :p [ :q 1 ] }"),
        ("SELECT ?x { ?x :p|:q 1 }", "SELECT ?x { { ?x :q 1 } UNION { ?x :p 1 } }"),
        ("SELECT ?x { ?x :p ?v FILTER(?v IN (:a, :b)) }", "SELECT ?x { ?x :p ?v VALUES ?v { :b :a } }"),
    ],
)
def test_equivalent_texts_become_one_pattern(one: str, other: str) -> None:
    """N6."""
    assert compile(one, language="sparql", prefixes=PREFIXES) == compile(other, language="sparql", prefixes=PREFIXES)


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ?p ?o }",
        "SELECT ?x { ?x a/rdfs:subClassOf* :C ; :p ?v FILTER(?v > 1.5 && !CONTAINS(STR(?v), 'a\"b')) }",
        "SELECT * { VALUES (?x ?y) { (:a 'b'@en) (:c UNDEF) } ?x :p ?z OPTIONAL { ?x :q ?w FILTER(?w != ?z) } }",
        "SELECT ?x { { ?x :p 1e3 } UNION { ?x :q '2024-01-31'^^xsd:date } UNION { ?x <urn:odd/name> true } }",
        "SELECT ?x { ?x :p ?v FILTER(-?v * 2 = 4 || REGEX(?v, '^a', 'i') || LANGMATCHES(LANG(?v), '*')) }",
        "SELECT ?x { ?x :p ?v FILTER(false) }",
    ],
)
def test_a_printed_pattern_is_read_as_itself(text: str) -> None:
    pattern = compile(text, language="sparql", prefixes=PREFIXES)
    assert compile(render(pattern, language="sparql", prefixes=PREFIXES), language="sparql") == pattern


def test_printed_text_is_short_and_readable() -> None:
    pattern = compile("SELECT ?x { ?x a :C ; :size ?v FILTER(?v > 5) }", language="sparql", prefixes=PREFIXES)
    text = render(pattern, language="sparql", prefixes=PREFIXES)
    assert text.startswith("PREFIX : <http://example.org/>\nSELECT ?x WHERE {\n")
    assert "?x a :C ." in text
    assert "rdfs" not in text
