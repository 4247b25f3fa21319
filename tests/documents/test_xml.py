"""XML of any vocabulary: read safely, kept as XPath sees it, refused with the place where it is broken (N1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from triplewire import Document, DocumentError, DocumentTooLarge, Limits, parse

URI = "https://data.example/menu.xml"


def test_xml_becomes_a_document_without_triples_in_canonical_form() -> None:
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><!DOCTYPE menu><menu b='2'  a='1'><x/><![CDATA[<]]>\xe9</menu>"
    document = parse(text.encode("latin-1"), uri=URI)
    assert document == Document(URI, b"", '<menu a="1" b="2"><x></x>&lt;é</menu>'.encode())


def test_comments_instructions_and_namespaces_are_kept() -> None:
    xml = '<!--a-->\n<m:menu xmlns:m="urn:m"><?pi x?><!--b--></m:menu>'
    assert parse(xml, uri=URI).xml == xml.encode()


def test_spellings_that_xpath_cannot_tell_apart_are_equal_documents() -> None:
    assert parse("<a x='1' y='2'/>", uri=URI) == parse('<a  y="&#50;" x="1"></a>', uri=URI)


@pytest.mark.parametrize("media_type", ["application/xml", "text/xml", "application/svg+xml", "application/atom+xml"])
def test_xml_is_known_by_its_media_type(media_type: str) -> None:
    assert parse("<a/>", uri="https://data.example/a", media_type=media_type).xml == b"<a></a>"


def test_rdf_xml_is_read_for_its_triples_alone() -> None:
    text = (
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/terms/">'
        '<r:Description r:about=""><d:title>Rain</d:title></r:Description></r:RDF>'
    )
    document = parse(text, uri=URI)
    assert (len(document), document.xml) == (1, b"")


def test_xml_that_only_mentions_rdf_is_xml() -> None:
    text = '<svg xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><metadata/></svg>'
    assert parse(text, uri=URI).xml


@pytest.mark.parametrize(
    "text",
    ["<html><p/></html>", '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"/>'],
)
def test_web_pages_are_refused_as_such(text: str) -> None:
    with pytest.raises(DocumentError, match="HTML page"):
        parse(text, uri=URI)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("<a>\n<b></a>", 2, 6), ("<a>\n  &nothing;</a>", 2, 3), ("<a>", 1, 4), ("<a x='1' x='2'/>", 1, 10)],
)
def test_text_that_is_not_well_formed_is_refused_with_the_place(text: str, line: int, column: int) -> None:
    with pytest.raises(DocumentError, match="not well-formed") as caught:
        parse(text, uri=URI)
    assert (caught.value.line, caught.value.column) == (line, column)


BOMB = "<!DOCTYPE a [<!ENTITY l0 'lol'>{}]><a>&l9;</a>".format(
    "".join(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 10))
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://localhost/x.dtd'> %x;]><a/>",
        "<a>" * 300 + "</a>" * 300,
        f"<a x='{'y' * 1_100_000}'/>",
        "<a xmlns='relative'/>",
        "<p:a/>",
        "<a>\x00</a>",
        "",
    ],
    ids=["bomb", "entity", "file", "parameter", "deep", "attribute", "relative", "prefix", "null", "empty"],
)
def test_hostile_xml_ends_in_a_document_error(text: str) -> None:
    with pytest.raises(DocumentError):
        parse(text, uri=URI, media_type="application/xml")


def test_too_many_elements_are_refused_with_the_limit_to_raise() -> None:
    with pytest.raises(DocumentTooLarge, match=r"Limits\(elements="):
        parse("<a>" + "<b c='1'/>" * 10 + "</a>", uri=URI, limits=Limits(elements=20))


def test_mixed_encodings_are_refused_or_read_as_they_say() -> None:
    assert parse("<a>é</a>".encode("utf-16"), uri=URI).xml == "<a>é</a>".encode()
    with pytest.raises(DocumentError, match="utf-8"):
        parse("<a>é</a>".encode("latin-1"), uri=URI)


@given(st.binary(max_size=60) | st.text(alphabet="<>/ab!-[]?&;'\"= xmlns:#", max_size=60).map(str.encode))
def test_whatever_the_bytes_are_nothing_but_a_document_error_comes_out(data: bytes) -> None:
    try:
        document = parse(b"<a>" + data, uri=URI, media_type="application/xml")
    except DocumentError:
        return
    assert parse(document.xml, uri=URI, media_type="application/xml") == document


def test_a_namespace_with_an_ampersand_is_written_so_that_it_can_be_read_again() -> None:
    """libxml2 writes it as it is. What only looks like a declaration stays: in a comment, a text, an attribute."""
    looks = 'xmlns:p="urn:p?a&b"'
    escaped = looks.replace("&", "&amp;")
    text = f"<p:a {escaped} x=' {escaped}'><!-- {looks} --> {escaped}<b xmlns='urn:p?a&amp;lt;b'/></p:a>"
    document = parse(text, uri=URI, media_type="application/xml")
    assert parse(document.xml, uri=URI, media_type="application/xml") == document
    root = etree.fromstring(document.xml)
    assert root.tag == "{urn:p?a&b}a"
    assert root.get("x") == f" {looks}"
    assert (root[0].text, root[0].tail) == (f" {looks} ", f" {looks}")
    assert root[1].tag == "{urn:p?a&lt;b}b"
