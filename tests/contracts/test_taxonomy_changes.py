"""When the taxonomy changes, rows appear and disappear, with events (G3, X3)."""

from __future__ import annotations

import pytest

from triplewire import Publish, TaxonomyError, parse

PREFIXES = "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
PARKS = "PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
BELOW_TRANSPORT = PARKS + "SELECT ?d { ?d :theme ?t . ?t rdfs:subClassOf* :Transport }"
DATASET = ":parking :theme :Parking ."


def document(text, uri="urn:doc"):
    return parse(PREFIXES + text, uri=uri, media_type="text/turtle")


def kinds(events):
    return [(event.kind, *(term.value.rpartition("/")[2] for term in event.row.values())) for event in events]


@pytest.fixture(params=["graph", "document"])
def listening(request, hub):
    hub.subscribe(BELOW_TRANSPORT, language="sparql", id="transport", scope=request.param, start="ever")
    return hub


def test_a_class_that_moves_below_another_begins_rows(listening):
    assert kinds(listening.publish(document(DATASET))) == []
    told = listening.set_taxonomy(document(":Parking rdfs:subClassOf :Transport .").triples)
    assert kinds(told) == [("matched", "parking")]


def test_a_class_that_moves_away_ends_rows(listening):
    listening.set_taxonomy(document(":Parking rdfs:subClassOf :Street . :Street rdfs:subClassOf :Transport .").triples)
    assert kinds(listening.publish(document(DATASET))) == [("matched", "parking")]
    assert kinds(listening.set_taxonomy(document(":Street rdfs:subClassOf :City .").triples)) == [
        ("unmatched", "parking")
    ]


def test_documents_state_the_taxonomy_too(listening):
    listening.publish(document(DATASET))
    themes = document(":Parking rdfs:subClassOf :Transport .", "urn:themes")
    assert kinds(listening.publish(themes)) == [("matched", "parking")]
    assert kinds(listening.retract("urn:themes")) == [("unmatched", "parking")]


def test_a_triple_that_goes_with_the_class_that_it_names_ends_its_rows(hub):
    """The new taxonomy gives the triple another meaning, and the same batch takes it away."""
    hub.subscribe(
        PARKS + "SELECT ?x ?c { ?x a ?c . ?x :q ?y }", language="sparql", id="typed", scope="graph", start="ever"
    )
    hub.subscribe(
        PARKS + "SELECT ?x { ?x ?p ?c . ?c rdfs:subClassOf* :Z }",
        language="sparql",
        id="is-a",
        scope="graph",
        start="ever",
    )
    hub.publish(document(":n a :B ; :q 1 ."))
    told = hub.publish(document(":n :q 2 . :D rdfs:subClassOf :B ."))
    assert ("unmatched", "n", "B") in kinds(event for event in told if event.subscription == "typed")
    assert hub.rows("typed") == []


def test_a_cycle_is_refused_and_leaves_everything_as_it_was(listening):
    listening.publish(document(":Parking rdfs:subClassOf :Transport .", "urn:themes"))
    listening.publish(document(DATASET))
    with pytest.raises(TaxonomyError, match="Transport"):
        listening.apply([Publish(document(":Transport rdfs:subClassOf :Parking .", "urn:cycle"))])
    assert len(listening.rows("transport")) == 1
    assert kinds(listening.retract("urn:doc")) == [("unmatched", "parking")]


def test_a_row_that_moves_to_another_document_stays_and_has_changed(hub):
    hub.subscribe(PARKS + "SELECT ?x { ?x :p ?y }", language="sparql", id="p", scope="document", start="ever")
    hub.publish(document(":n :p :n .", "urn:2"))
    told = hub.apply([Publish(document(":n :p :m .", "urn:1")), Publish(document("", "urn:2"))])
    assert kinds(told) == [("changed", "n")]
