"""A literal may have characters that XML cannot write: the answer is well-formed XML, or is offered otherwise."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hub.serving import problem

SELECT = "SELECT ?o { <urn:a> <urn:x:p> ?o }"
CONSTRUCT = "CONSTRUCT WHERE { <urn:a> <urn:x:p> ?o }"
RESULTS, GRAPH = "application/sparql-results+xml", "application/rdf+xml"


def asked(served, query: str, accept: str):
    return served.get("/v1/sparql", params={"query": query}, headers={"Accept": accept})


def document(served, accept: str):
    return served.get("/v1/document", params={"uri": "urn:a"}, headers={"Accept": accept})


@pytest.mark.parametrize("character", ["\x01", "\x0b", "\x1f", "\ufffe", "\uffff"])
def test_what_xml_cannot_write_is_not_acceptable_and_others_are_offered(served, character):
    served.publish("urn:a", f'<urn:a> <urn:x:p> "a\\u{ord(character):04X}b" .').raise_for_status()
    for answer in (asked(served, SELECT, RESULTS), asked(served, CONSTRUCT, GRAPH), document(served, GRAPH)):
        assert "json" in problem(answer, 406, "not-acceptable")["detail"]
    told = asked(served, SELECT, "application/sparql-results+json").json()
    assert told["results"]["bindings"][0]["o"]["value"] == f"a{character}b"


def test_ends_of_lines_stay_what_they_are(served):
    served.publish("urn:a", r'<urn:a> <urn:x:p> "a\rb\r\nc\td" .').raise_for_status()
    told = ElementTree.fromstring(asked(served, SELECT, RESULTS).content)
    assert [node.text for node in told.iter() if node.tag.endswith("literal")] == ["a\rb\r\nc\td"]
    for answer in (asked(served, CONSTRUCT, GRAPH), document(served, GRAPH)):
        texts = [node.text for node in ElementTree.fromstring(answer.content).iter() if node.tag.endswith("p")]
        assert texts == ["a\rb\r\nc\td"]
