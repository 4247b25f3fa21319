"""What is no SPARQL, or SPARQL that no standing query serves: where, why, and what to do."""

from __future__ import annotations

import pickle
import time

import pytest
from pyoxigraph import BlankNode, NamedNode, Variable

from triplewire.algebra.pattern import Call, Conjunction, Pattern, TriplePattern
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile, render, sparql
from triplewire.languages.context import Context

PREFIXES = {"ex": "http://example.org/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("SELECT * {\n  ?s odd:name ?o }", 2, 6, "PREFIX odd: <...>"),
        ("SELECT * { ?s ?p ?o", 1, 10, "this { is never closed"),
        ("SELECT * { ?s ?p ?o }}", 1, 22, "closes nothing"),
        ("SELECT * { ?s ?p (1 2 }", 1, 23, "The ( at line 1, column 18 is still open"),
        ("SELECT * { ?s ?p ?o ?a ?b ?c }", 1, 21, "Statements are divided by '.'"),
        ("SELECT * { ?s ?p name }", 1, 18, "Write ?name for a variable"),
        ("SELECT * { ?s ?p 'text }", 1, 18, "Close it with '"),
        ("SELECT * { ?s ?p 'a\\qb' }", 1, 18, "\\q is not an escape"),
        ("SELECT * { ?s ?p '\\uD800' }", 1, 18, "is not an escape"),
        ("SELECT * { ?s ?p 'a'@en-toolongsubtag }", 1, 21, "not a language tag"),
        ("SELECT * { <a> ?p ?o }", 1, 12, "Write BASE"),
        ("SELECT * { <http://a/%zz> ?p ?o }", 1, 12, "is not an IRI"),
        ("SELECT * { ? ?p ?o }", 1, 12, "expected"),
        ("SELECT * { ?s ?p § }", 1, 18, "means nothing here"),
        ("SELECT", 1, 7, "expected '(', '*', a variable"),
        ("", 1, 1, "expected ASK"),
        ("SELECT * { ?s ?p ?o FILTER(?o >) }", 1, 32, "expected"),
        ("SELECT * { ?s ?p ?o FILTER(CONTAINS(?o)) }", 1, 28, "CONTAINS takes 2 arguments, not 1"),
        ("SELECT * { ?s ?p ?o FILTER(REGEX(?o)) }", 1, 28, "REGEX takes 2 to 3 arguments"),
        ("SELECT * { ?s ?p ?o FILTER(BOUND(1)) }", 1, 28, "expected a variable"),
        ("SELECT * { VALUES (?x ?y) { (1 2)\n(1) } }", 2, 1, "1 values for 2 variables"),
        ("SELECT * { VALUES (?x ?x) { (1 2) } }", 1, 12, "twice"),
        ("SELECT * { _:a ?p 1 { _:a ?q 2 } }", 1, 23, "_:a is used in two groups"),
        ("SELECT * { ?s ?p ?o } PREFIX a: <b:>", 1, 23, "stands before the query"),
    ],
)
def test_a_syntax_error_names_the_place_and_what_to_do(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        compile(text, language="sparql")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("SELECT * { ?s ?p ?o FILTER EXISTS { ?s ?q 1 } }", 28, "EXISTS"),
        ("SELECT * { ?s ?p ?o FILTER(1 = 1 && NOT EXISTS { ?s ?q 1 }) }", 37, "cannot wait for what is not"),
        ("SELECT * { ?s ?p ?o MINUS { ?s ?q 1 } }", 21, "MINUS"),
        ("SELECT * { ?s ?p ?o BIND(?o + 1 AS ?v) }", 21, "BIND"),
        ("SELECT (?o + 1 AS ?v) { ?s ?p ?o }", 8, "an expression in SELECT"),
        ("SELECT * { { SELECT ?s { ?s ?p ?o } } }", 14, "a nested SELECT"),
        ("SELECT * { GRAPH ?g { ?s ?p ?o } }", 12, "one graph"),
        ("SELECT * { SERVICE SILENT ex:s { ?s ?p ?o } }", 12, "other server"),
        ("SELECT * FROM ex:g { ?s ?p ?o }", 10, "FROM"),
        ("SELECT * FROM NAMED ex:g { ?s ?p ?o }", 10, "FROM"),
        ("SELECT * { ?s ?p ?o } ORDER BY DESC(?s)", 23, "no list to sort"),
        ("SELECT * { ?s ?p ?o } LIMIT 10", 23, "LIMIT"),
        ("SELECT * { ?s ?p ?o } OFFSET 5", 23, "OFFSET"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?s", 24, "GROUP BY"),
        ("SELECT ?s { ?s ?p ?o } HAVING(?s > 1)", 24, "HAVING"),
        ("SELECT ?s { ?s ?p ?o FILTER(COUNT(*) > 1) }", 29, "an aggregate"),
        ("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", 1, "CONSTRUCT"),
        ("DESCRIBE ex:a", 1, "DESCRIBE"),
        ("INSERT DATA { ex:a ex:b ex:c }", 1, "an update"),
        ("PREFIX a: <b:> DELETE WHERE { ?s ?p ?o }", 16, "an update"),
        ("SELECT * { ?s ?p ?o FILTER(NOW() > ?o) }", 28, "the function NOW"),
        ("SELECT * { ?s ?p ?o FILTER(COALESCE(?o, 1)) }", 28, "the function COALESCE"),
        ("SELECT * { ?s ?p ?o FILTER(ex:f(?o, 1)) }", 28, "the function ex:f"),
        ("SELECT * { ?s ex:p* ?o }", 19, "step by step"),
        ("SELECT * { ?s (ex:p/ex:q)+ ?o }", 26, "step by step"),
        ("SELECT * { ?s ex:p? ?o }", 19, "no step"),
        ("SELECT * { ?s !ex:p ?o }", 15, "negated property set"),
        ("SELECT * { ?s !(ex:p|^a) ?o }", 15, "negated property set"),
        ("SELECT * { ?c rdfs:subClassOf* ex:C }", 30, "nothing else in this group binds ?c"),
        ("SELECT * { ex:D rdfs:subClassOf* ?c }", 32, "write the class itself"),
        ("SELECT * { ?x a ?c . ?c rdfs:subClassOf* ?d }", 40, "write the class itself"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v } FILTER(?v > 1) }", 45, "decide the match"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v } FILTER(!BOUND(?v)) }", 53, "decide the match"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v } ?v ex:r 1 }", 21, "Write OPTIONAL last"),
        ("SELECT * { OPTIONAL { ?s ex:q ?v } ?s ?p ?o }", 12, "Write OPTIONAL last"),
        ("SELECT * { { ?s ?p ?o OPTIONAL { ?s ex:q ?v } } ?v ?p 1 }", 23, "Write OPTIONAL last"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v } } VALUES ?v { 1 }", 21, "Write OPTIONAL last"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v OPTIONAL { ?v ex:r ?w } } }", 21, "another OPTIONAL"),
        ("SELECT * { ?s ?p ?o OPTIONAL { { ?s ex:q ?v } UNION { ?s ex:r ?v } } }", 21, "a UNION"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q|ex:r ?v } }", 21, "a UNION"),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s ex:q ?v VALUES ?v { 1 } } }", 21, "VALUES"),
        ("ASK {}", 1, "every document would match"),
        ("ASK { FILTER(1 < 2) }", 1, "every document would match"),
        ("SELECT * { VALUES ?x { 1 2 } }", 1, "every document would match"),
        ("SELECT * { OPTIONAL { ?s ?p ?o } }", 1, "every document would match"),
        ("SELECT * { { ?s ?p ?o } UNION { VALUES ?s { ex:a } } }", 1, "a branch has no triple pattern"),
        ("ASK { ex:D rdfs:subClassOf* ex:C }", 1, "no triple pattern"),
        ("SELECT * { ?s ?p ?o FILTER(REGEX(?o, '(a')) }", 28, "cannot be read"),
        ("SELECT * { ?s ?p ?o FILTER(REGEX(?o, '(a)\\\\1')) }", 28, "back-references"),
    ],
)
def test_what_is_not_served_is_refused_with_its_place_and_the_reason(text: str, column: int, words: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        compile(text, language="sparql", prefixes=PREFIXES)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert words.lower() in str(caught.value).lower()
    assert caught.value.hint


def test_a_keyword_inside_a_text_a_comment_or_a_name_is_none() -> None:
    text = '# ORDER BY ?x\nSELECT ?x { ?x <http://e/MINUS> \'LIMIT 10 { BIND\' ; ex:GRAPH """SERVICE""" } # LIMIT 1'
    assert compile(text, language="sparql", prefixes=PREFIXES).answer == ("x",)


def test_a_syntax_error_is_told_before_a_refusal() -> None:
    with pytest.raises(QuerySyntaxError):
        compile("SELECT * { ?s ?p ?o MINUS { ?s ?q } } ORDER BY", language="sparql")


def test_alternatives_are_bounded() -> None:
    alternatives = " ".join("{ ?s ?p 1 } UNION { ?s ?p 2 }" for _ in range(9))
    with pytest.raises(UnsupportedQuery, match="512 alternatives"):
        compile(f"SELECT * {{ {alternatives} }}", language="sparql")
    rows = " ".join(str(number) for number in range(257))
    with pytest.raises(UnsupportedQuery, match="257 alternatives"):
        compile(f"SELECT * {{ VALUES ?x {{ {rows} }} ?s ?p ?x }}", language="sparql")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { FILTER(" + "(" * 40_000 + "1" + ")" * 40_000 + ") }",
        "SELECT * " + "{" * 45_000 + "}" * 45_000,
        "SELECT * { FILTER(1" + "+1" * 40_000 + " = ?x) }",
        "SELECT * { FILTER(" + "!" * 90_000 + "?x) }",
        "SELECT * { ?s " + "a." * 45_000,
        "SELECT * { ?s " + "<a" * 45_000,
        "SELECT * { ?s ?p '" + "a" * 90_000,
        "SELECT * {" + "?s ?p ?o ." * 9_000 + "}",
        "SELECT * { ?s " + "/".join(["(<a:>|<b:>)"] * 4_000) + " ?o }",
        "SELECT * { ?s ?p ?o " + "OPTIONAL { ?s ?p ?q }" * 4_000 + "}",
        "SELECT * { ?s ?p ?o FILTER(REGEX(?o, '" + "(a*)*" * 10_000 + "')) }",
        "SELECT * {" + "UNION".join(f"{{ ?s ?p {n} }}" for n in range(256)) + "FILTER(?s != 1)" * 5_000 + "}",
    ],
    ids=lambda text: text[:24] + "…" + text[40:48],
)
def test_hostile_texts_are_refused_in_bounded_time(text: str) -> None:
    """Bounded by the text's length: the bound here is generous, what it guards against takes hours."""
    start = time.process_time()
    with pytest.raises((QuerySyntaxError, UnsupportedQuery)):
        sparql.compile(text, Context())
    assert time.process_time() - start < 20


def test_a_long_but_honest_query_is_served() -> None:
    body = " ".join(f"?s{n} ex:p{n} ?s{n + 1} ." for n in range(200))
    (branch,) = sparql.compile(f"SELECT ?s0 {{ {body} }}", Context(prefixes=PREFIXES)).branches
    assert len(branch.triples) == 200


@pytest.mark.parametrize(
    "condition",
    [
        Call("~<", (Variable("x"), Variable("x"))),
        Call("child", (Variable("x"), NamedNode("http://e/C"))),
        Call("ancestor", (Variable("x"), NamedNode("http://e/C"))),
        Call("descendant", (Variable("x"), Variable("x"))),
        Call("not", (Call("descendant", (Variable("x"), NamedNode("http://e/C"))),)),
    ],
)
def test_what_sparql_cannot_say_is_not_printed(condition: Call) -> None:
    triple = TriplePattern(Variable("x"), NamedNode("http://e/p"), Variable("y"))
    pattern = Pattern(("x",), (Conjunction((triple,), (condition,)),))
    with pytest.raises(UnsupportedQuery):
        render(pattern, language="sparql")


def test_one_particular_blank_node_cannot_be_printed() -> None:
    pattern = Pattern(("x",), (Conjunction((), (), (("x", BlankNode("b")),)),))
    with pytest.raises(UnsupportedQuery):
        render(pattern, language="sparql")


def test_errors_survive_pickling() -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        compile("SELECT * { ?s ?p ?o } LIMIT 10", language="sparql")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line, copy.column) == (str(caught.value), 1, 23)
