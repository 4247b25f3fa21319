"""Whatever the text, only the project's own errors come out of the SPARQL compiler."""

from __future__ import annotations

import contextlib

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.errors import QueryError
from triplewire.languages import sparql
from triplewire.languages.context import Context

CONTEXT = Context(prefixes={"": "http://example.org/", "bad": "no iri"})
SEEDS = [
    "PREFIX ex: <http://e/> SELECT * WHERE { ?s ex:p ?o , 01 ; a ex:C . FILTER(?o > 1 && !(?s = :a) || ?o IN (1)) }",
    "SELECT ?x { { ?x :p ?y } UNION { ?y :q/^:r|(:s) ?x } OPTIONAL { ?x :t [ :u ( 1 ?z ) ] } } VALUES ?x { 1 }",
    "BASE <http://e/> ASK { <a> :p _:b . _:b ?p true FILTER REGEX(?p, '^a.*', 'i') FILTER(-?x -2.5 * 3e1 / +4 = 5) }",
    "SELECT (COUNT(*) AS ?n) { ?x a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* :C BIND(1 AS ?z) } LIMIT 1",
    '''SELECT * { ?s ?p """long "text" \\u0041""", '\\n'^^<http://t>, bad:x , :a\\-b%20 } # the end''',
]
PIECES = [
    *("SELECT", "ASK", "*", "?x", "?y", "{", "}", "(", ")", "[", "]", ".", ";", ",", "FILTER", "OPTIONAL", "UNION"),
    *("VALUES", "UNDEF", "a", ":p", "<http://e/>", "<x", "_:b", "'", '"""', "\\", "@en", "^^", "1", "-1", "1e999", "."),
    *(
        "/",
        "|",
        "^",
        "+",
        "?",
        "!",
        "=",
        "<",
        "&&",
        "||",
        "IN",
        "NOT",
        "STR",
        "REGEX",
        "BOUND",
        "EXISTS",
        "#",
        "\n",
        "é",
    ),
    *("\ud800", "\x00", "\\uD800", "PREFIX", "BASE", "BIND", "AS", "MINUS", "GRAPH", "true", "99999999999999999999.9"),
]


def _only_our_errors(text: str) -> None:
    with contextlib.suppress(QueryError):
        pattern = sparql.compile(text, CONTEXT)
        sparql.render(pattern, CONTEXT.prefixes)


@given(st.text(alphabet=st.characters()))
@settings(deadline=None)
def test_any_text(text: str) -> None:
    _only_our_errors(text)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
@settings(deadline=None, max_examples=examples(300))
@example("SELECT * { ?s ?p '\ud800' }")
@example("SELECT * { ?s <http://e/\ud800> ?o }")
@example("SELECT * { ?s ?p '\x00' }")
@example("SELECT * { ?s bad:x ?o }")
def test_pieces_of_sparql_in_any_order(text: str) -> None:
    _only_our_errors(text)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=3), st.just(text[start:end] * 2)))
        text = text[:start] + piece + text[end:]
    return text


@given(mutated())
@settings(deadline=None, max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow])
def test_damaged_queries(text: str) -> None:
    _only_our_errors(text)
