"""What counts as SPARQL: the grammar accepts and rejects the texts that two other parsers accept and reject."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyoxigraph import Store
from pyparsing import ParseException
from rdflib.plugins.sparql.parser import parseQuery

from effort import examples
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import sparql
from triplewire.languages.context import Context
from triplewire.languages.sparql.tokens import tokenize

PROLOGUE = "PREFIX : <http://e/> PREFIX ex: <http://x/>"
QUERIES = [
    "SELECT * WHERE { ?s :p ?o , 1 ; a ex:C ; . FILTER(?o > 1 && (?s = :a) || ?o IN (1, 'a'@en, \"b\"^^ex:t)) }",
    "SELECT DISTINCT ?x ?y { { ?x :p ?y } UNION { ?y :q/^:r|(:s) ?x } OPTIONAL { ?x :t [ :u ( 1 2 ?z ) ] } }",
    "ASK { [] :p _:b . _:b ?p true . FILTER REGEX(STR(?p), 'a', 'i') VALUES (?x ?y) { (1 UNDEF) (:a 'x') } }",
    "SELECT ?y (COUNT(DISTINCT ?x) AS ?n) FROM :g WHERE { GRAPH ?g { ?x :p ?y } } GROUP BY ?y HAVING(COUNT(*) > 1)",
    "SELECT * { ?s ?p ?o MINUS { ?x :q 2 } SERVICE SILENT :s { ?a ?b ?c } FILTER NOT EXISTS { ?x a :C } } LIMIT 5",
    "CONSTRUCT { ?x :p ?y } WHERE { ?x :q ?y . { SELECT ?x { ?x ?p ?o } } } ORDER BY DESC(?x) ?y LIMIT 10 OFFSET 5",
    "DESCRIBE ?x :y WHERE { ?x :p ?y } VALUES ?x { :a :b }",
    "ASK { ?x :p* ?y ; :s? ?w ; ^:t+ 1.5e3 . }",
    "SELECT * { ?x :p () , [] ; :q 2.0 . FILTER(CONTAINS('a', ?x) != '') FILTER(?x NOT IN ()) }",
]
"""No unary signs, because pyoxigraph takes several of them in a row; no BIND and no functions that are named by
an IRI, because its parser also checks what these mean."""

WORDS = sorted({str(token) for query in QUERIES for token in tokenize(query)} - {"+"})


def _is_sparql(text: str) -> bool:
    try:
        sparql.compile(text, Context())
    except UnsupportedQuery:
        return True
    except QuerySyntaxError:
        return False
    return True


def _is_sparql_to_pyoxigraph(text: str) -> bool:
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        try:
            Store().query(text)
        except SyntaxError:
            return False
    return True


def _is_sparql_to_rdflib(text: str) -> bool:
    try:
        return bool(parseQuery(text))
    except ParseException:
        return False


@pytest.mark.parametrize("query", QUERIES)
def test_whole_queries_are_sparql_to_all_parsers(query: str) -> None:
    text = f"{PROLOGUE} {query}"
    assert _is_sparql_to_rdflib(text)
    assert _is_sparql_to_pyoxigraph(text)
    assert _is_sparql(text)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A query with one or two tokens taken out, put in, or swapped."""
    tokens = [str(token) for token in tokenize(draw(st.sampled_from(QUERIES)))]
    for _ in range(draw(st.integers(1, 2))):
        at, other = draw(st.integers(0, len(tokens) - 1)), draw(st.integers(0, len(tokens) - 1))
        damage = draw(st.sampled_from(["out", "in", "swap"]))
        if damage == "out" and len(tokens) > 2:
            del tokens[at]
        elif damage == "in":
            tokens.insert(at, draw(st.sampled_from(WORDS)))
        else:
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return " ".join([PROLOGUE, *tokens])


@given(damaged())
@settings(deadline=None, max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
def test_damaged_queries_are_judged_as_other_parsers_judge_them(text: str) -> None:
    """pyoxigraph's parser also checks what a text means (is a selected variable grouped?); rdflib's does not."""
    ours, theirs = _is_sparql(text), _is_sparql_to_pyoxigraph(text)
    event("accepted" if theirs else "rejected")
    assert ours == theirs or (ours and _is_sparql_to_rdflib(text))
