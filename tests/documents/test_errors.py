"""Every bad document is refused with its uri, its place where that can be known, and what to do."""

from __future__ import annotations

import pickle

import pytest

from triplewire.documents import parse
from triplewire.errors import DocumentError, DocumentTooLarge

URI = "http://example.org/a"
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:">'
    '<rdf:Description rdf:about="a:s"><a:p>{}</a:p></rdf:Description></rdf:RDF>'
)


@pytest.mark.parametrize(
    ("media_type", "text", "place", "reason"),
    [
        ("text/turtle", "<a:s> <a:p> 'é' .\n<a:s> bb .", (2, 7), "not Turtle: bb is not a valid predicate"),
        ("application/trig", "<a:g> {\n<a:s> <a:p> }", (2, 13), "not TriG"),
        ("application/n-triples", "<a:s> <a:p> <a:o> .\n<s> <a:p> <a:o> .", (2, 1), "not N-Triples: No scheme found"),
        ("application/n-quads", "\n<a:s> <a:p> .", (2, 13), "not N-Quads"),
        ("application/rdf+xml", "<a>\n  <b></a>", (2, 8), "not well-formed XML: mismatched tag"),
        ("application/rdf+xml", "", (1, 1), "not well-formed XML: no element found"),
        ("application/ld+json", '{"a":\n 1 2}', (2, 4), "not JSON-LD: Object values must be followed"),
        ("application/ld+json", '{"@context":\n {} 2}', (2, 5), "not JSON: Expecting ',' delimiter"),
        ("application/ld+json", "", (1, 1), "not JSON"),
    ],
)
def test_a_syntax_error_says_where(media_type: str, text: str, place: tuple[int, int], reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(text, uri=URI, media_type=media_type)
    assert caught.value.uri == URI
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize("uri", ["", "a.ttl", "/a", "//example.org/a", "http://exa mple.org", "http://["])
@pytest.mark.parametrize("media_type", ["text/turtle", "application/n-triples"])
def test_a_uri_that_is_no_absolute_iri_is_refused(uri: str, media_type: str) -> None:
    with pytest.raises(DocumentError, match="must be an absolute IRI") as caught:
        parse("<a:s> <a:p> <a:o> .", uri=uri, media_type=media_type)
    assert caught.value.uri == uri


@pytest.mark.parametrize(
    "context",
    ['"https://schema.org/"', '["https://schema.org/", {}]', '{"@import": "https://schema.org/"}', '"context.jsonld"'],
)
def test_a_remote_context_is_refused_and_not_fetched(context: str) -> None:
    with pytest.raises(DocumentError, match="remote JSON-LD context is never fetched; write the context into"):
        parse(f'{{"@context": {context}, "@id": "a:a", "name": "x"}}', uri=URI)


def test_json_that_is_no_number_of_json_is_refused() -> None:
    for context in ("", '"@context": {}, '):
        with pytest.raises(DocumentError, match="not JSON"):
            parse(f'{{{context}"@id": "a:s", "a:p": NaN}}', uri=URI)


def test_a_json_number_of_any_length_is_read() -> None:
    assert len(parse('{"@context": {}, "@id": "a:s", "a:p": ' + "9" * 5000 + "}", uri=URI)) == 1


def test_xml_that_is_called_rdf_and_is_not_is_refused_as_such() -> None:
    with pytest.raises(DocumentError, match="not RDF/XML: XML namespaces are required"):
        parse('<?xml version="1.0"?><menu/>', uri=URI, media_type="application/rdf+xml")


def test_rdf_xml_that_means_nothing_is_refused() -> None:
    with pytest.raises(DocumentError, match="not RDF/XML"):
        parse(RDF_XML.format('<a:x rdf:ID="1 2"/>'), uri=URI)


@pytest.mark.parametrize(
    "text",
    [
        "<a:s> <a:p>\n <<( <a:s> <a:p> <a:o> )>> .",
        '<a:s> <a:p> \'x#\', """a " \' b""" .\n << <a:s> <a:p> <a:o> >> <a:p> <a:o> .',
    ],
)
def test_triple_terms_are_refused_with_their_place(text: str) -> None:
    with pytest.raises(DocumentError, match=r"triple terms and annotations \(RDF 1.2\) are not served") as caught:
        parse(text, uri=URI)
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_triple_terms_in_xml_are_refused_with_their_place() -> None:
    with pytest.raises(DocumentError, match="triple terms and annotations") as caught:
        parse(RDF_XML.format("x</a:p>\n<a:p rdf:parseType='Triple'>"), uri=URI)
    assert (caught.value.line, caught.value.column) == (2, 1)


def test_annotations_are_refused() -> None:
    with pytest.raises(DocumentError, match="triple terms and annotations"):
        parse("<a:s> <a:p> <a:o> {| <a:p> <a:o> |} .", uri=URI)


@pytest.mark.parametrize("text", ["<a:s> <a:p> '<<( a )>> .' .", "<a:s> <a:p> 1 . # <<", "<a:s> <a:p> '''<<\n''' ."])
def test_what_only_looks_like_a_triple_term_is_read(text: str) -> None:
    assert len(parse(text, uri=URI)) == 1


def test_errors_survive_pickling() -> None:
    with pytest.raises(DocumentError) as caught:
        parse("<a:s> x", uri=URI)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line, copy.column) == (str(caught.value), 1, 7)


def test_the_parser_of_an_external_entity_is_never_asked() -> None:
    text = '<!DOCTYPE rdf:RDF [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + RDF_XML.format("&x;")
    with pytest.raises(DocumentError, match="external entity 'x' is never fetched") as caught:
        parse(text, uri=URI)
    assert not isinstance(caught.value, DocumentTooLarge)
    assert caught.value.line == 1


def test_an_external_dtd_is_not_fetched_and_not_needed() -> None:
    text = '<!DOCTYPE rdf:RDF SYSTEM "http://127.0.0.1:9/none.dtd">' + RDF_XML.format("x")
    assert len(parse(text, uri=URI)) == 1


def test_internal_entities_as_ontology_editors_write_them_are_read() -> None:
    text = '<!DOCTYPE rdf:RDF [<!ENTITY a "http://example.org/"><!ENTITY b "&a;b#">]>' + RDF_XML.format("&b;x")
    assert parse(text, uri=URI).ntriples == b'<a:s> <a:p> "http://example.org/b#x" .\n'


def test_a_name_for_a_blank_node_that_no_line_can_hold_is_refused():
    """pyoxigraph takes it from JSON-LD, writes it, and cannot read it again."""
    with pytest.raises(DocumentError, match="_:_:b is not a name"):
        parse('{"@id": "urn:a", "urn:p": {"@id": "_:_:b"}}', uri="urn:d", media_type="application/ld+json")
