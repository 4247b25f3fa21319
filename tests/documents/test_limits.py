"""What is too large, too deep or too dear is refused before it costs anything, with the limit named."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from triplewire.documents import Limits, parse
from triplewire.errors import DocumentError, DocumentTooLarge

URI = "http://example.org/a"
DEEP = 100_000
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:">{}</rdf:RDF>'


@pytest.fixture(autouse=True)
def _in_a_few_seconds() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < 5


def triples(count: int) -> str:
    return "".join(f"<a:s> <a:p> <a:o{number}> .\n" for number in range(count))


def test_the_limit_on_bytes_is_the_length_of_the_utf_8() -> None:
    text = "<a:s> <a:p> 'é' ."
    assert len(parse(text, uri=URI, limits=Limits(bytes=18))) == 1
    with pytest.raises(DocumentTooLarge, match=r"18 bytes are over the limit of 17; .* raise Limits\(bytes="):
        parse(text, uri=URI, limits=Limits(bytes=17))


@pytest.mark.parametrize("media_type", ["application/n-triples", "text/turtle", "application/trig"])
def test_the_limit_on_triples_stops_reading(media_type: str) -> None:
    limits = Limits(triples=10)
    assert len(parse(triples(10), uri=URI, media_type=media_type, limits=limits)) == 10
    with pytest.raises(DocumentTooLarge, match=r"more than 10 triples; .* raise Limits\(triples="):
        # The error far behind the limit is never reached.
        parse(triples(1000) + "error", uri=URI, media_type=media_type, limits=limits)


def test_the_limit_on_triples_holds_for_the_densest_text() -> None:
    text = "@prefix : <a:> . : : (" + ":[]" * 400 + ") ."
    limits = Limits(triples=len(text), nesting=1000)
    with pytest.raises(DocumentTooLarge, match="triples"):
        parse(text, uri=URI, limits=limits)


NESTED = {
    "turtle lists": ("text/turtle", "<a:s> <a:p> {} .", "(", ")", ""),
    "turtle blank nodes": ("text/turtle", "<a:s> <a:p> {} .", "[ <a:p> ", "]", "1"),
    "turtle lists left open": ("text/turtle", "<a:s> <a:p> {}", "(", "", ""),
    "trig": ("application/trig", "<a:g> {{ <a:s> <a:p> {} }}", "[ <a:p> ", "]", "1"),
    "json arrays": ("application/ld+json", "{}", "[", "]", ""),
    "json objects": ("application/ld+json", "{}", '{"a:p":', "}", "1"),
    "json contexts": ("application/ld+json", "{}", '{"@context":{},"a:p":', "}", "1"),
    "json left open": ("application/ld+json", "{}", "[", "", ""),
    "xml elements": ("application/rdf+xml", RDF, "<a:a>", "</a:a>", ""),
    "xml left open": ("application/rdf+xml", RDF, "<a:a>", "", ""),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("depth", [1000, DEEP])
def test_deep_nesting_is_refused_with_its_place(kind: str, depth: int) -> None:
    media_type, frame, opening, closing, core = NESTED[kind]
    text = frame.format(opening * depth + core + closing * depth)
    with pytest.raises(DocumentTooLarge, match=r"nested deeper than 256; .* raise Limits\(nesting=") as caught:
        parse(text, uri=URI, media_type=media_type)
    assert caught.value.line == 1
    assert caught.value.column is not None
    assert caught.value.column > 256


@pytest.mark.parametrize("kind", [kind for kind in NESTED if "open" not in kind])
def test_ordinary_nesting_is_read(kind: str) -> None:
    media_type, frame, opening, closing, core = NESTED[kind]
    depth = 31 if media_type == "application/rdf+xml" else 30  # elements alternate between nodes and properties
    parse(frame.format(opening * depth + core + closing * depth), uri=URI, media_type=media_type)


def test_many_brackets_side_by_side_and_in_strings_are_not_deep() -> None:
    text = "<a:s> <a:p> '" + "[" * 300 + "', <a:" + "(" * 300 + "> ; <a:q> " + "(1) , " * 300 + "(2) . # " + "[" * 300
    assert len(parse(text, uri=URI, media_type="text/turtle")) > 300


@pytest.mark.parametrize("media_type", ["text/turtle", "application/n-triples"])
def test_deep_triple_terms_are_refused_not_recursed_into(media_type: str) -> None:
    text = "<a:s> <a:p> " + "<<( <a:s> <a:p> " * DEEP + "<a:o>" + " )>>" * DEEP + " ."
    with pytest.raises(DocumentError, match="triple terms"):
        parse(text, uri=URI, media_type=media_type)


def test_a_comment_does_not_hide_deep_triple_terms() -> None:
    text = "<a:s> <a:p> " + "<<(#>\n<a:s> <a:p> " * DEEP + "<a:o>" + " )>>" * DEEP + " ."
    with pytest.raises(DocumentError, match="triple terms"):
        parse(text, uri=URI, media_type="text/turtle")


UNCLOSED = {
    "json": ("application/ld+json", "[" * 300 + '"' + '\\"' * DEEP),
    "turtle short": ("text/turtle", "[" * 300 + '"' + '\\"' * DEEP),
    "turtle long": ("text/turtle", "[" * 300 + '"""' + '\\"""' * DEEP),
    "turtle long single": ("text/turtle", "<<" + "'''" + "\\'''" * DEEP),
    "turtle iris": ("text/turtle", "[" * 300 + "<a:" * DEEP),
}


@pytest.mark.parametrize("kind", UNCLOSED)
def test_what_is_never_closed_is_refused_soon(kind: str) -> None:
    media_type, text = UNCLOSED[kind]
    with pytest.raises(DocumentError):
        parse(text, uri=URI, media_type=media_type)


def test_a_raised_limit_on_nesting_does_not_overflow_a_stack() -> None:
    for opening, closing in (("[", "]"), ('{"@context":', "}")):
        with pytest.raises(DocumentError, match=r"nested deeper than Python|Max stack size"):
            parse(opening * DEEP + "1" + closing * DEEP, uri=f"{URI}.jsonld", limits=Limits(nesting=10**6))
    text = "<a:s> <a:p> " + "(" * 5000 + ")" * 5000 + " ."
    assert len(parse(text, uri=URI, limits=Limits(nesting=10**6))) == 9999


def test_entities_that_multiply_are_refused() -> None:
    entities = '<!ENTITY e0 "ha">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f"<!DOCTYPE rdf:RDF [{entities}]>" + RDF.format("<rdf:Description><a:p>&e11;</a:p></rdf:Description>")
    with pytest.raises(DocumentTooLarge, match=r"entities expand to over .* raise Limits\(expanded="):
        parse(text, uri=URI)


def test_one_large_entity_used_often_is_refused() -> None:
    text = f'<!DOCTYPE rdf:RDF [<!ENTITY e "{"x" * 100_000}">]>' + RDF.format(
        f"<rdf:Description><a:p>{'&e;' * 10_000}</a:p></rdf:Description>"
    )
    with pytest.raises(DocumentTooLarge, match="entities expand"):
        parse(text, uri=URI)


def test_entities_declared_backwards_do_not_expand_either() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(11, 0, -1)) + '<!ENTITY e0 "ha">'
    text = f"<!DOCTYPE rdf:RDF [{entities}]>" + RDF.format("<rdf:Description><a:p>&e11;</a:p></rdf:Description>")
    with pytest.raises(DocumentError):
        parse(text, uri=URI)


def test_a_long_prefix_used_often_is_refused() -> None:
    text = f"@prefix p: <http://{'x' * 10_000}/> . <a:s> <a:p> " + ", ".join(["p:a"] * 50_000) + " ."
    with pytest.raises(DocumentTooLarge, match=r"expands to over .* of N-Triples; .* raise Limits\(expanded="):
        parse(text, uri=URI)


def test_many_prefixes_on_a_long_base_are_refused() -> None:
    text = f"@base <http://{'x' * 100_000}/> .\n" + "".join(f"@prefix p{n}: <{n}> .\n" for n in range(5000))
    with pytest.raises(DocumentTooLarge, match="prefixes on a base"):
        parse(text, uri=URI)


def test_many_ordinary_prefixes_are_read() -> None:
    text = "@base <http://example.org/> .\n" + "".join(f"@prefix p{n}: <{n}> .\n" for n in range(5000))
    assert len(parse(text, uri=URI)) == 0


def many_contexts(count: int) -> str:
    terms = ",".join(f'"t{n}":"a:t{n}"' for n in range(count))
    nodes = ",".join('{"@context":{"z":"a:z"},"z":1}' for _ in range(count))
    return f'{{"@context":{{{terms}}},"@graph":[{nodes}]}}'


def scoped_contexts(count: int) -> str:
    terms = ",".join(f'"t{n}":"a:t{n}"' for n in range(count))
    nodes = ",".join('{"p":{"z":1}}' for _ in range(count))
    return f'{{"@context":{{{terms},"p":{{"@id":"a:p","@context":{{"z":"a:z"}}}}}},"@graph":[{nodes}]}}'


def repeated_context_keys(count: int) -> str:
    return many_contexts(count)[:-1] + ',"@context":{}}'


@pytest.mark.parametrize("text", [many_contexts, scoped_contexts, repeated_context_keys])
def test_contexts_that_multiply_are_refused(text: object) -> None:
    assert callable(text)
    with pytest.raises(DocumentTooLarge, match=r"contexts are copied too often; .* raise Limits\(effort="):
        parse(text(10_000), uri=URI)


@pytest.mark.parametrize("text", [many_contexts, scoped_contexts])
def test_contexts_in_ordinary_number_are_read(text: object) -> None:
    assert callable(text)
    assert len(parse(text(200), uri=URI)) >= 200


def test_a_long_vocabulary_with_many_terms_is_refused() -> None:
    terms = ",".join(f'"t{n}":{{"@id":"t{n}"}}' for n in range(10_000))
    text = f'{{"@context":{{"@vocab":"http://{"x" * 100_000}/",{terms}}}}}'
    with pytest.raises(DocumentTooLarge, match=r"contexts .* raise Limits"):
        parse(text, uri=URI)


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match="the limit triples must be at least 1"):
        Limits(triples=0)
