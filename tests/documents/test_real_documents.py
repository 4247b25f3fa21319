"""What documents in the wild and the W3C's suites have, and short examples do not."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal

from triplewire.documents import parse
from triplewire.errors import DocumentError
from triplewire.model import RDF

URI = "http://example.org/a"
HEAD = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:eg="http://example.org/"><rdf:Description rdf:about="urn:a">'
TAIL = "</rdf:Description></rdf:RDF>"


def rdf_xml(text: str):
    return parse(text, uri=URI, media_type="application/rdf+xml")


def test_rdf_xml_needs_no_word_of_the_rdf_namespace_where_the_media_type_says_what_it_is() -> None:
    """The W3C's rdf-element-not-mandatory."""
    text = '<Book xmlns="http://example.org/terms#"><title>Dogs in Hats</title></Book>'
    assert {str(triple.predicate) for triple in rdf_xml(text).triples} == {
        "<http://example.org/terms#title>",
        f"<{RDF}type>",
    }
    assert parse(text, uri=URI, media_type="application/xml").xml, "that alone does not make XML RDF"


def test_owl_in_xml_is_xml_and_owl_in_rdf_is_rdf() -> None:
    ontology = '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>'
    assert parse(ontology, uri=URI, media_type="application/owl+xml").xml
    assert len(parse(f"{HEAD}<eg:p>1</eg:p>{TAIL}", uri="http://example.org/a.owl")) == 1


@pytest.mark.parametrize(
    ("inside", "meant"),
    [
        ("<br />", "<br></br>"),
        ("a <eg:b/> c", 'a <eg:b xmlns:eg="http://example.org/"></eg:b> c'),
        ("<c xmlns='urn:q' z='1' a='2'/>", '<c xmlns="urn:q" a="2" z="1"></c>'),
        ("x &amp; &lt;y&gt; <!--c--><?pi d?>", "x &amp; &lt;y&gt; <!--c--><?pi d?>"),
        ("<i rdf:parseType='Literal'><b/></i>", f'<i xmlns:rdf="{RDF}" rdf:parseType="Literal"><b></b></i>'),
        ("", ""),
    ],
)
def test_an_xml_literal_is_exclusive_canonical_xml(inside: str, meant: str) -> None:
    """The W3C's xml-canon, and what it leaves out."""
    (triple,) = rdf_xml(f'{HEAD}<eg:p rdf:parseType="Literal">{inside}</eg:p>{TAIL}').triples
    assert isinstance(triple.object, Literal)
    assert (triple.object.value, triple.object.datatype.value) == (meant, f"{RDF}XMLLiteral")


def test_a_mistake_beside_an_xml_literal_is_told_with_its_place() -> None:
    with pytest.raises(DocumentError) as told:
        rdf_xml(f'{HEAD}\n<eg:p rdf:parseType="Literal"\n\n\n><br/></eg:p>\n<eg:q><x></eg:q>{TAIL}')
    assert told.value.line == 6


@pytest.mark.parametrize(
    ("before", "line", "reason"),
    [
        ("b:x b:p 1 .\n\n\n", 1, "The prefix b: has not been declared"),
        ("legend:x legend:p 1 .\n", 1, "The prefix legend: has not been declared"),
        ("<urn:x> <urn:z> ;\n", 1, "is not a valid RDF object"),
        ("<urn:x> <urn:z> 1 ;\n <urn:q>\n", 3, "triple terms"),
        ("<urn:x> <urn:z> '''a\n", 2, "not Turtle|triple terms"),
        ("", 1, "triple terms"),
    ],
)
def test_of_several_mistakes_the_first_is_told(before: str, line: int, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason) as told:
        parse(f"{before}<urn:x> <urn:y> 'a'^^<<http://x> .\n", uri=URI, media_type="text/turtle")
    if before.count("'''") == 0:
        assert told.value.line == line
