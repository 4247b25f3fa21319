"""Random histories of a hub: documents and queries over a vocabulary so small that they meet all the time.

Three nodes, two blank nodes, four classes and three predicates: documents share triples, join each other, type the
same nodes and say different things of the same classes. Queries come in shapes that people write, and wild.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.xml_worlds import PREFIXES as XML_PREFIXES
from tests.xml_worlds import random_expression, random_xml

from strategies import CLASSES, NODES, PREDICATES, iri, patterns, typed
from triplewire import compile, parse
from triplewire.algebra.xpath import PathQuery
from triplewire.algebra.xpath.cost import safe_size
from triplewire.matching.index import MAX_STEPS
from triplewire.model import RDF, RDFS, Document, Publish, Retract
from triplewire.schema import SCHEMA, Schema

EXAMPLE = "http://example.org/"
URIS = [f"urn:document:{n}" for n in range(1, 5)]
TYPE, BELOW = NamedNode(RDF + "type"), NamedNode(RDFS + "subClassOf")

_NODES = NODES[:3]
_CLASSES = CLASSES[:4]
_BLANKS = [BlankNode("b1"), BlankNode("b2")]
_LITERALS = [
    *(typed(text, "integer") for text in ("1", "2", "3")),
    typed("1.5", "decimal"),
    *(Literal(text) for text in ("a", "ab", "b")),
    Literal("a", language="en"),
]

_things = st.sampled_from([*_NODES, *_NODES, *_BLANKS])
_classes = st.sampled_from(_CLASSES)
_links = st.builds(Triple, _things, st.sampled_from(PREDICATES), _things)
_values = st.builds(Triple, _things, st.sampled_from(PREDICATES), st.sampled_from(_LITERALS))
_types = st.builds(Triple, _things, st.just(TYPE), _classes)
_orders = st.builds(Triple, _classes, st.just(BELOW), _classes)
_triples = st.one_of(_links, _links, _values, _values, _types, _types, _orders)

uris = st.sampled_from(URIS)
_xml = st.one_of(st.just(b""), st.just(b""), st.integers(0, 2**16).map(lambda seed: random_xml(Random(seed))))
"""None for most; a document may have both, as items of feeds do."""


def _document(uri: str, triples: list[Triple], xml: bytes) -> Document:
    found = Document.from_triples(uri, triples)
    return replace(found, xml=parse(xml, uri=uri, media_type="application/xml").xml) if xml else found


documents = st.builds(
    _document,
    uris,
    st.one_of(st.lists(_triples, max_size=4), st.lists(st.one_of(_links, _values, _types), max_size=9)),
    _xml,
)
publications = st.builds(Publish, documents)
changes = st.one_of(publications, publications, publications, st.builds(Retract, uris))
batches = st.lists(changes, max_size=5)
taxonomies = st.lists(
    st.one_of(
        st.sampled_from([Triple(_CLASSES[i], BELOW, _CLASSES[j]) for i in range(4) for j in range(i)]),
        _orders,
        st.builds(Triple, st.sampled_from(_NODES), st.just(TYPE), _classes),
    ),
    max_size=4,
    unique=True,
)


def _schema(strong: set[NamedNode]) -> Schema:
    return Schema.from_triples(Triple(p, TYPE, NamedNode(SCHEMA + "StrongReference")) for p in strong)


schemas = st.builds(_schema, st.sets(st.sampled_from(PREDICATES)))

_PREFIXES = f"PREFIX : <{EXAMPLE}> PREFIX rdfs: <{RDFS}>\n"
_nodes, _kinds, _edges = [":n1", ":n2", ":n3"], [":A", ":B", ":C", ":D"], [":p", ":q", ":r"]
WORDS: dict[str, list[str]] = {
    **dict.fromkeys("pqr", _edges),
    **dict.fromkeys("nm", _nodes),
    **dict.fromkeys("cd", _kinds),
    "operator": ["=", "!=", "<", ">", ">="],
    "number": ["1", "2", "1.5"],
    "text": ['"a"', '"b"', '"ab"'],
}
"""What may stand in the places of a shape."""

SHAPES = [
    "SELECT ?x {{ ?x {p} ?y }}",
    "SELECT ?x ?y {{ ?x {p} ?y . ?y {q} ?z }}",
    "SELECT ?x {{ ?x {p} ?y . ?y {q} ?z . ?z {r} ?v }}",
    "SELECT ?x ?z {{ ?x {p} ?y . ?z {q} ?y }}",
    "SELECT ?x {{ ?x {p} ?y . ?y {q} ?x }}",
    "SELECT ?x {{ ?x {p} ?x }}",
    "SELECT ?x ?v {{ ?x {p} ?v FILTER(?v {operator} {number}) }}",
    "SELECT ?x {{ ?x {p} ?y . ?y {q} ?v FILTER(?v {operator} {number}) }}",
    "SELECT ?x {{ ?x {p} ?v . ?x {q} ?w FILTER(?v {operator} ?w) }}",
    "SELECT ?x {{ ?x {p} ?v FILTER(CONTAINS(STR(?v), {text})) }}",
    "SELECT ?x {{ ?x a {c} . ?x {p} ?v FILTER(STRSTARTS(?v, {text})) }}",
    "SELECT ?x {{ ?x a/rdfs:subClassOf* {c} }}",
    "SELECT ?x ?y {{ ?x a/rdfs:subClassOf* {c} . ?x {p} ?y . ?y a/rdfs:subClassOf* {d} }}",
    "SELECT ?c {{ {n} a ?c }}",
    "SELECT ?w ?y {{ ?x a {c} . ?x ?w ?y }}",
    "SELECT ?w {{ {n} ?w ?y . ?y {p} ?z }}",
    "SELECT ?x {{ ?x ?w {m} }}",
    "SELECT ?x ?e {{ ?x {p} ?y OPTIONAL {{ ?x {q} ?e }} }}",
    "SELECT ?x ?e {{ ?x a {c} . ?x {p} ?y OPTIONAL {{ ?y {q} ?e . ?e {r} ?f }} }}",
    "SELECT ?e ?f {{ ?x {p} ?y OPTIONAL {{ ?x {q} ?e FILTER(?e {operator} {number}) }} OPTIONAL {{ ?y {r} ?f }} }}",
    "SELECT ?x {{ {{ ?x {p} {n} }} UNION {{ ?x {q} ?y . ?y {r} ?z }} }}",
    "SELECT ?x ?e {{ {{ ?x {p} ?e }} UNION {{ ?x a {c} OPTIONAL {{ ?x {q} ?e }} }} }}",
    "SELECT ?y {{ {n} {p} ?y . ?y {q} {m} }}",
    "SELECT ?x ?c {{ VALUES ?c {{ {c} {d} }} ?x a ?c . ?x {p} ?y }}",
    "SELECT ?x ?y {{ VALUES (?x ?y) {{ ({n} {m}) ({m} {n}) }} ?x {p} ?y }}",
    "SELECT ?v ?w {{ {n} {p} ?v . {n} {q} ?w }}",
    "SELECT ?v ?w ?x {{ {n} {p} ?v . {m} {q} ?w . ?w {r} ?x }}",
    "SELECT ?x ?y {{ ?x {p} {n} . {n} {q} ?y }}",
    "SELECT ?x ?y {{ ?x {p} {n} . ?y {q} {n} }}",
    "SELECT ?v ?e {{ {n} {p} ?v OPTIONAL {{ {n} {q} ?e . ?e {r} ?f }} }}",
    "SELECT ?x ?e {{ ?x {p} {n} OPTIONAL {{ ?e {q} {n} }} }}",
    "ASK {{ ?x {p} ?y . ?y {q} ?z }}",
    "ASK {{ {n} {p} {m} }}",
    "SELECT ?c ?d {{ ?c rdfs:subClassOf ?d }}",
]


@st.composite
def _texts(draw: st.DrawFn) -> str:
    shape = draw(st.sampled_from(SHAPES))
    return _PREFIXES + shape.format_map({name: draw(word) for name, word in _WORDS.items() if f"{{{name}}}" in shape})


def filled(shape: str, chance: Random) -> str:
    """A shape with words drawn by chance."""
    return _PREFIXES + shape.format_map({name: chance.choice(words) for name, words in WORDS.items()})


_WORDS = {name: st.sampled_from(words) for name, words in WORDS.items()}


def _path(seed: int) -> PathQuery:
    return compile(random_expression(Random(seed), 2), language="xpath", prefixes=XML_PREFIXES)


paths = st.integers(0, 2**16).map(_path).filter(lambda query: safe_size(query.expression, MAX_STEPS) > 4_000)
"""XPath that is served whatever the documents of a history are."""
queries = st.one_of(_texts(), _texts(), _texts(), patterns(), paths)
"""SPARQL, a pattern of any form (is-a in every direction, loose comparisons, conditions between variables), XPath."""

__all__ = [
    "SHAPES",
    "URIS",
    "batches",
    "documents",
    "filled",
    "iri",
    "queries",
    "schemas",
    "taxonomies",
    "uris",
]
