"""Documents in other encodings than UTF-8, and bytes that are no text."""

from __future__ import annotations

import pytest

from triplewire.documents import parse
from triplewire.errors import DocumentError

URI = "http://example.org/a"
XML = (
    '<?xml version="1.0" encoding="{}"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:a="a:"><rdf:Description rdf:about="a:s"><a:p>café</a:p></rdf:Description></rdf:RDF>'
)
EXPECTED = '<a:s> <a:p> "café" .\n'.encode()


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("media_type", [None, "application/rdf+xml"])
def test_xml_may_declare_its_encoding(declared: str, codec: str, media_type: str | None) -> None:
    uri = URI if media_type else "http://example.org/a.rdf"
    assert parse(XML.format(declared).encode(codec), uri=uri, media_type=media_type).ntriples == EXPECTED


def test_the_declared_encoding_of_xml_that_is_text_already_does_not_matter() -> None:
    assert parse(XML.format("UTF-16"), uri=URI).ntriples == EXPECTED


def test_the_charset_of_the_media_type_counts_for_xml() -> None:
    text = XML.replace(' encoding="{}"', "").encode("latin-1")
    assert parse(text, uri=URI, media_type="text/xml; charset=iso-8859-1").ntriples == EXPECTED


@pytest.mark.parametrize("name", ["klingon", "unicode_escape", "rot13", "idna"])
def test_an_unknown_encoding_is_refused_by_name(name: str) -> None:
    with pytest.raises(DocumentError, match=f"encoding '{name}' is not served; save the document as UTF-8"):
        parse(XML.format(name).encode(), uri=URI)


@pytest.mark.parametrize("media_type", ["text/turtle", "application/ld+json", "application/n-triples"])
def test_bytes_that_are_not_utf_8_are_refused_with_their_place(media_type: str) -> None:
    with pytest.raises(DocumentError, match="byte 9 is not utf-8") as caught:
        parse(b"# \xc3\xa9 a\n# \xff", uri=URI, media_type=media_type)
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_xml_that_is_not_in_the_encoding_it_declares_is_refused_with_its_place() -> None:
    with pytest.raises(DocumentError, match="is not utf-8") as caught:
        parse(XML.format("UTF-8").encode("latin-1"), uri=URI)
    assert caught.value.line == 1


def test_utf_16_is_refused_where_the_syntax_does_not_allow_it() -> None:
    with pytest.raises(DocumentError, match="save the document as UTF-8"):
        parse("<a:s> <a:p> 1 .".encode("utf-16"), uri=URI)


def test_text_with_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(DocumentError, match="surrogate"):
        parse("<a:s> <a:p> '\ud800' .", uri=URI)
