"""Whatever the bytes: a document comes out, or a DocumentError."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.documents import Limits, parse
from triplewire.errors import DocumentError
from triplewire.model import Document

URI = "http://example.org/a/b"
LIMITS = Limits(bytes=100_000, triples=1000, expanded=1_000_000, nesting=50, effort=20_000)

SEEDS = {
    "text/turtle": """@prefix a: <http://a/> . @base <http://b/c> . # comment <<
<> a a:T ; a:p 1, 2.5, 1e3, "x"@en, 'y'^^a:t, \"\"\"long " one\"\"\", '''z''', ( 1 [ a:q () ] ) . _:x a:p _:x .""",
    "application/trig": "PREFIX a: <a:> a:g { [] a:p a:o . } GRAPH _:h { _:s a:p 'é' } { a:s a a:o }",
    "application/n-triples": '<a:s> <a:p> "\\u00e9\\n"@en-us .\n_:b <a:p> _:c . # comment\n_:c <a:p> "1"^^<a:t> .\n',
    "application/n-quads": '<a:s> <a:p> "é"@en <a:g> .\n_:b <a:p> _:c _:g .\n<a:s> <a:p> <<( <a:s> <a:p> 1 )>> .\n',
    "application/rdf+xml": """<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE rdf:RDF [<!ENTITY e "x&#65;">
]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:" xml:base="http://b/" xml:lang="en">
<rdf:Description rdf:about="s" a:q="&e;"><!-- c --><a:p rdf:parseType="Collection"><a:T rdf:nodeID="n"/></a:p>
<a:p rdf:parseType="Literal"><b>x</b></a:p><a:p rdf:resource="#o" rdf:ID="i"/>
<a:p rdf:datatype="a:t"><![CDATA[1]]></a:p>
</rdf:Description></rdf:RDF>""",
    "application/ld+json": """{"@context": {"@vocab": "http://v/", "p": {"@id": "a:p", "@type": "@id", "@container":
"@list", "@context": {"q": "a:q"}}, "r": {"@reverse": "a:r"}}, "@id": "s", "@type": ["T"], "p": ["x", {"q": 1.5}],
"r": {"@id": "_:b"}, "@graph": [{"n": {"@value": "é", "@language": "fr"}, "j": {"@type": "@json", "@value": [1]}}]}""",
}
FRAGMENTS = st.sampled_from(
    [
        *b"< > <<( )>> [ ] ( ) { } ' # _: & ; . @ {| |} <!-- ]]> @context @list 1e999999 &#0; null xml:base %".split(),
        *(b'"', b"\\", b"\\ud800", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b'"@id":"_:"'),
        *(b"<!ENTITY a '&a;'>", b"@base <x> .", b"@prefix : <> .", b' rdf:parseType="Triple"'),
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[bytes, str]:
    """A valid document, a few places of which are cut, copied or overwritten."""
    media_type = draw(st.sampled_from(sorted(SEEDS)))
    text = SEEDS[media_type].encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        inserted = draw(FRAGMENTS | st.binary(max_size=4) | st.just(text[start:end] * 2))
        text = text[:start] + inserted + text[end:]
    return text, media_type


def check(text: bytes | str, media_type: str | None, uri: str = URI) -> None:
    outcome = read(text, media_type, uri)
    assert outcome.uri == uri
    if isinstance(outcome, DocumentError):
        assert str(pickle.loads(pickle.dumps(outcome))) == str(outcome)
    else:
        assert len(outcome.triples) == len(outcome)
        assert Document.from_triples(uri, outcome.triples) == outcome


def read(text: bytes | str, media_type: str | None, uri: str) -> Document | DocumentError:
    try:
        return parse(text, uri=uri, media_type=media_type, limits=LIMITS)
    except DocumentError as error:
        return error


@pytest.mark.parametrize("media_type", sorted(SEEDS))
def test_the_seeds_are_read(media_type: str) -> None:
    if media_type == "application/n-quads":
        with pytest.raises(DocumentError, match="triple terms"):
            parse(SEEDS[media_type], uri=URI, media_type=media_type)
    else:
        assert len(parse(SEEDS[media_type], uri=URI, media_type=media_type)) >= 3


@settings(max_examples=examples(3000), deadline=None)
@given(mutated(), st.booleans())
def test_mutated_documents_give_a_document_or_a_document_error(case: tuple[bytes, str], is_told: bool) -> None:
    text, media_type = case
    check(text, media_type if is_told else None)


@settings(max_examples=examples(500), deadline=None)
@given(
    st.binary(max_size=200) | st.text(max_size=100), st.none() | st.sampled_from(sorted(SEEDS)) | st.text(max_size=20)
)
def test_random_bytes_give_a_document_or_a_document_error(text: bytes | str, media_type: str | None) -> None:
    check(text, media_type)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(max_size=20) | st.text("http:/[]%.#?é ", max_size=20))
def test_random_uris_give_a_document_or_a_document_error(uri: str) -> None:
    check("<> a <x> .", None, uri)
