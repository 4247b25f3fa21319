"""Advertisements of the three kinds, and which subscriptions they could match (P2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from effort import examples
from triplewire.algebra.taxonomy import EMPTY
from triplewire.languages import compile as compile_query
from triplewire.model import Document
from triplewire.network import Simulation
from triplewire.network.routing import Advertisement
from triplewire.network.routing.items import ItemIndex

DC = "http://purl.org/dc/elements/1.1/"
ARTICLE = """PREFIX dc: <http://purl.org/dc/elements/1.1/> SELECT ?r {
    ?r a dc:article ; dc:creator ?c ; dc:date ?d
    FILTER((CONTAINS(?c, "Nejdl") || CONTAINS(?c, "Koubarakis")) && ?d >= 2003) }"""


def could_match(items, pattern):
    return ItemIndex(items).could_match(pattern)


def asked(text: str, language: str = "sparql"):
    return compile_query(text, language=language)


@pytest.mark.parametrize(
    ("advertised", "expected"),
    [
        ({"schemas": [DC, "http://ltsc.ieee.org/lom/"]}, True),
        ({"schemas": ["http://ltsc.ieee.org/lom/"]}, False),
        ({"properties": [DC + "creator", DC + "date", DC + "subject"]}, True),
        ({"properties": [DC + "creator"]}, False),
        ({"values": {DC + "creator": ["W. Nejdl"], DC + "date": [2003, 2004]}}, True),
        ({"values": {DC + "creator": ["W. Nejdl"], DC + "date": [2001]}}, False),
        ({"values": {DC + "creator": ["Tolkien"], DC + "date": [2004]}}, False),
        ({"values": {DC + "creator": ["W. Nejdl"]}, "properties": [DC + "date"]}, True),
        ({}, False),
    ],
)
def test_paper_example_is_covered_by_what_could_match_it(advertised, expected):
    """The subscription of the paper: articles by Nejdl or Koubarakis, from 2003 on."""
    assert could_match(Advertisement(**advertised).items, asked(ARTICLE)) is expected


def test_built_in_vocabulary_excludes_nothing():
    items = Advertisement(properties=["urn:p"]).items
    assert could_match(items, asked("SELECT ?s { ?s a <urn:C> }"))
    assert could_match(items, asked("SELECT ?s { ?s a <urn:C> ; <urn:p> ?x }"))
    assert not could_match(items, asked("SELECT ?s { ?s a <urn:C> ; <urn:q> ?x }"))


def test_property_that_is_a_variable_is_advertised_by_anybody():
    assert could_match(Advertisement(properties=["urn:p"]).items, asked("SELECT ?p { <urn:s> ?p 1 }"))


def test_xpath_goes_where_there_is_xml_and_only_there():
    query = asked("/menu/item", "xpath")
    assert not could_match(Advertisement(properties=["urn:p"]).items, query)
    assert could_match(ItemIndex().lacking(Document("urn:d", b"", b"<menu/>")), query)


PROPERTIES = ["urn:v/a", "urn:v/b", "urn:w/c", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]
VALUES = [Literal(1), Literal(2), Literal("x"), NamedNode("urn:x")]
QUERIES = [
    "SELECT ?s { ?s <urn:v/a> ?x }",
    "SELECT ?s { ?s <urn:v/a> 1 }",
    "SELECT ?s { ?s <urn:v/a> ?x FILTER(?x > 1) }",
    'SELECT ?s { ?s <urn:v/b> "x" ; <urn:w/c> ?y }',
    "SELECT ?s { ?s a <urn:x> }",
    "SELECT ?s { ?s ?p <urn:x> }",
    "SELECT ?s { { ?s <urn:v/b> 1 } UNION { ?s <urn:w/c> 2 } }",
]


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.sampled_from(PROPERTIES), st.sampled_from(VALUES)), min_size=1, max_size=5),
    st.lists(st.sampled_from(["urn:v/", "urn:w/"]), max_size=1),
    st.lists(st.sampled_from(PROPERTIES[:3]), max_size=2),
    st.dictionaries(st.sampled_from(PROPERTIES[:3]), st.lists(st.sampled_from(VALUES), max_size=3), max_size=3),
)
def test_no_document_that_conforms_matches_a_query_that_could_not_be_matched(said, schemas, properties, values):
    """Invariant of `network.routing.advertisements`: what conforms to it matches nothing that could not be matched."""
    document = Document.from_triples("urn:d", [Triple(NamedNode("urn:s"), NamedNode(p), v) for p, v in said])
    items = Advertisement(schemas=schemas, properties=properties, values=values).items
    items |= ItemIndex(items).lacking(document)
    assert not ItemIndex(items).lacking(document)
    for text in QUERIES:
        query = asked(text)
        assert could_match(items, query) or not query.rows_in(document, EMPTY)


def test_document_that_says_something_else_now_is_found_by_who_waits_for_that():
    """What was advertised for the sake of its last version is not what the new one needs."""
    sim = Simulation(seed=1)
    net = sim.hypercube(2)
    reader, writer = net.client(at=0), net.client(at=1)
    sid = reader.subscribe("SELECT ?d { ?d <urn:b> ?x }")
    for said in ("<urn:a> 1", "<urn:b> 1"):
        sim.run()
        writer.publish(f"<urn:d> {said} .", uri="urn:doc")
    sim.run()
    assert [event.kind for event in reader.events(sid)] == ["matched"]
