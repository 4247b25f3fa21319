"""Which syntax a document is in, and that every syntax gives the same document."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from triplewire.documents import parse
from triplewire.errors import DocumentError, DocumentTooLarge

URI = "http://example.org/catalogue"
TITLE = "http://purl.org/dc/terms/title"
EXPECTED = f'<{URI}> <{TITLE}> "Pluie é"@fr .\n'.encode()

TEXTS = {
    "text/turtle": '# a catalogue\n@prefix dct: <http://purl.org/dc/terms/> .\n<> dct:title "Pluie é"@fr .',
    "application/trig": '@prefix dct: <http://purl.org/dc/terms/> .\n<#g> { <> dct:title "Pluie é"@fr }',
    "application/n-triples": f'<{URI}> <{TITLE}> "Pluie \\u00e9"@fr .\n',
    "application/n-quads": f'<{URI}> <{TITLE}> "Pluie é"@fr <http://example.org/g> .\n',
    "application/rdf+xml": '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:dct="http://purl.org/dc/terms/"><rdf:Description rdf:about="">'
    '<dct:title xml:lang="fr">Pluie é</dct:title></rdf:Description></rdf:RDF>',
    "application/ld+json": '{"@context": {"title": {"@id": "http://purl.org/dc/terms/title", "@language": "fr"}}, '
    '"@id": "", "title": "Pluie é"}',
}
SUFFIXES = {
    "text/turtle": ("ttl",),
    "application/trig": ("trig",),
    "application/n-triples": ("nt",),
    "application/n-quads": ("nq",),
    "application/rdf+xml": ("rdf", "owl", "xml"),
    "application/ld+json": ("jsonld", "json"),
}


@pytest.mark.parametrize("media_type", TEXTS)
def test_every_syntax_gives_the_same_document(media_type: str) -> None:
    assert parse(TEXTS[media_type], uri=URI, media_type=media_type).ntriples == EXPECTED


@pytest.mark.parametrize("media_type", TEXTS)
def test_bytes_and_text_give_the_same_document(media_type: str) -> None:
    text = TEXTS[media_type]
    assert parse(text.encode(), uri=URI, media_type=media_type) == parse(text, uri=URI, media_type=media_type)


@pytest.mark.parametrize("media_type", TEXTS)
def test_the_syntax_is_guessed_from_the_text_alone(media_type: str) -> None:
    assert parse(TEXTS[media_type], uri=URI).ntriples == EXPECTED


@pytest.mark.parametrize("media_type", TEXTS)
def test_a_byte_order_mark_and_white_space_do_not_mislead_the_guess(media_type: str) -> None:
    space = b"" if media_type == "application/rdf+xml" else b" \r\n\t"  # XML allows none before its declaration
    assert parse(b"\xef\xbb\xbf" + space + TEXTS[media_type].encode(), uri=URI).ntriples == EXPECTED


@pytest.mark.parametrize("media_type", ["text/turtle", "application/trig", "application/n-quads"])
def test_comments_do_not_mislead_the_guess(media_type: str) -> None:
    comments = '# <html> { "a"\n  # <?xml\n'
    assert parse(comments + TEXTS[media_type], uri=URI).ntriples == EXPECTED


@pytest.mark.parametrize(("media_type", "suffix"), [(kind, suffix) for kind in SUFFIXES for suffix in SUFFIXES[kind]])
def test_the_syntax_is_guessed_from_the_suffix_of_the_uri(media_type: str, suffix: str) -> None:
    uri = f"http://example.org/files/data.{suffix}?version=1.2#top"
    line = next(iter(parse(TEXTS[media_type], uri=uri).ntriples.splitlines()))
    assert line.endswith('"Pluie é"@fr .'.encode())


def test_the_suffix_of_a_host_says_nothing() -> None:
    assert len(parse(TEXTS["text/turtle"], uri="http://example.owl")) == 1
    assert len(parse(TEXTS["text/turtle"], uri="http://example.org/?file=a.rdf")) == 1


def test_the_suffix_decides_before_the_text() -> None:
    with pytest.raises(DocumentError, match="not JSON"):
        parse(TEXTS["text/turtle"], uri="http://example.org/a.jsonld")


def test_the_media_type_decides_before_the_suffix() -> None:
    assert len(parse(TEXTS["text/turtle"], uri="http://example.org/a.jsonld", media_type="text/turtle")) == 1


@pytest.mark.parametrize("media_type", ["Text/Turtle; charset=utf-8", "text/turtle;charset=UTF-8", " text/turtle "])
def test_parameters_and_case_of_a_media_type_do_not_matter(media_type: str) -> None:
    assert parse(TEXTS["text/turtle"], uri=URI, media_type=media_type).ntriples == EXPECTED


@pytest.mark.parametrize("media_type", ["text/plain", "application/octet-stream", ""])
def test_a_media_type_that_says_nothing_leaves_the_guess_to_the_text(media_type: str) -> None:
    assert parse(TEXTS["application/ld+json"], uri=URI, media_type=media_type).ntriples == EXPECTED


def test_an_unknown_media_type_is_refused_with_those_that_are_served() -> None:
    with pytest.raises(
        DocumentError, match=r"'text/n3' is not served; send one of text/turtle, .*application/ld\+json"
    ):
        parse("<a:a> <a:b> <a:c> .", uri=URI, media_type="text/n3")


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("<!DOCTYPE html><html><p>hello</p></html>", None),
        ("\n<HTML><body/></HTML>", None),
        ("<p>hello", "text/html; charset=utf-8"),
        ("<!doctype html><html>", "text/turtle"),
        ("<!doctype html><html>", "application/rdf+xml"),
    ],
)
def test_a_web_page_is_refused_as_such(text: str, media_type: str | None) -> None:
    with pytest.raises(DocumentError, match="HTML page") as caught:
        parse(text, uri=URI, media_type=media_type)
    assert not isinstance(caught.value, DocumentTooLarge)


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("[] a <a:b> .", 1),
        ("[ ] a <a:b> .", 1),
        ("[ a <a:b> ] .", 1),
        ("{ <a:a> <a:b> <a:c> }", 1),
        ("<a> <b> <c> .", 1),
        ("<> a <b> .", 1),
        ("_:a <a:b> _:c .", 1),
        ("_:a <a:b> _:c _:g .", 1),
        ('<a:a> <a:b> "x \\" <a:c> ."@en <a:g> .', 1),
        ("[]", 0),
        ("{}", 0),
        ('[{"@id": "a:a", "a:b": 1}]', 1),
        ("", 0),
        ("# nothing but a comment", 0),
    ],
)
def test_short_texts_are_guessed_right(text: str, triples: int) -> None:
    assert len(parse(text, uri=URI)) == triples


@pytest.mark.parametrize(
    "text",
    ["<menu><wine>red</wine></menu>\n", "<menu/>", "<menu a='1'><b/></menu>", "<m:enu xmlns:m='urn:m'/>", "<a>.</a>"],
)
def test_an_element_that_the_text_ends_with_is_xml(text: str) -> None:
    assert parse(text, uri=URI).xml


def test_what_only_begins_like_an_element_is_turtle() -> None:
    assert len(parse("<menu> </menu> <b> . # </b>", uri=URI)) == 1


def test_the_document_is_the_union_of_all_graphs() -> None:
    text = "<a:s> <a:p> 1 . <a:g> { <a:s> <a:p> 1, 2 } _:h { <a:s> <a:p> 3 }"
    assert parse(text, uri=URI) == parse("<a:s> <a:p> 1, 2, 3 .", uri=URI)


def test_relative_references_resolve_against_the_uri() -> None:
    document = parse("<> <p> <../x>, <#y> .", uri="http://e.org/a/b/c")
    assert document.ntriples == (
        b"<http://e.org/a/b/c> <http://e.org/a/b/p> <http://e.org/a/b/c#y> .\n"
        b"<http://e.org/a/b/c> <http://e.org/a/b/p> <http://e.org/a/x> .\n"
    )


@pytest.mark.parametrize(
    "syntax",
    [RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.RDF_XML, RdfFormat.JSON_LD],
)
def test_what_pyoxigraph_writes_is_read_back(syntax: RdfFormat) -> None:
    subject, predicate = NamedNode("http://example.org/s"), NamedNode("http://example.org/p")
    values: list[Literal | NamedNode] = [
        Literal('quotes " and \\ and\nlines\t_:x .'),
        Literal("Ünïcode 🜨", language="de"),
        Literal("1.50", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")),
        NamedNode("http://example.org/o"),
    ]
    text = serialize([Quad(subject, predicate, value) for value in values], format=syntax)
    assert text is not None
    triples = parse(text, uri=URI, media_type=syntax.media_type).triples
    assert {triple.object for triple in triples} == set(values)


def test_folders_are_searched_for_every_suffix_that_says_a_syntax():
    from triplewire.cli import documents
    from triplewire.documents import formats

    assert tuple(f".{suffix}" for suffix in formats.SUFFIXES) == documents.SUFFIXES
