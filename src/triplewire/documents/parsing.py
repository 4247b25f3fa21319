"""From bytes to a document: the order of the steps."""

from __future__ import annotations

import re

from pyoxigraph import NamedNode

from triplewire.documents import blank_nodes, contexts, encoding, feeds, formats, markup, nesting, prefixes, reader
from triplewire.documents.formats import JSON_LD, RDF_XML, TRIG, TURTLE, Syntax
from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model import Document

# The end of a line is the one place where no literal can imitate a triple term.
_TRIPLE_TERM_END = b")>> .\n"
_RDF_NAMESPACE = re.compile(rb"http://www\.w3\.org/1999/02/22-rdf-syntax-ns#")


def parse(data: bytes | str, *, uri: str, media_type: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The document that this text states; `DocumentError` says what is wrong with it.

    The syntax is taken from the media type, else from the suffix of the uri, else from the text. The triples are the
    union of all the graphs in the text. A feed is known by its text, whatever it is called, and comes as a `Feed`.

    >>> parse("<> <http://purl.org/dc/terms/title> 'Rain'.", uri="http://example.org/a").ntriples
    b'<http://example.org/a> <http://purl.org/dc/terms/title> "Rain" .\\n'
    """
    _require_absolute(uri)
    raw = _raw(data, uri, limits)
    if feeds.is_feed(raw):
        return feeds.read(raw, uri=uri, media_type=media_type, limits=limits, is_text=isinstance(data, str))
    syntax = formats.guess(raw, uri=uri, media_type=media_type)
    try:
        text = _prepared(raw, syntax, uri, media_type, limits, is_text=isinstance(data, str))
        lines = reader.read(text, syntax, uri=uri, limits=limits)
    except DocumentError:
        formats.refuse_html(raw, uri)  # the likeliest mistake deserves its own words, whatever the page was called
        raise
    if b")" in lines and _TRIPLE_TERM_END in lines:
        raise nesting.triple_terms_not_served(uri)
    return Document.from_lines(uri, blank_nodes.named(lines, uri=uri, limits=limits))


def _require_absolute(uri: str) -> None:
    try:
        NamedNode(uri)
    except ValueError as error:
        raise DocumentError(f"the uri of a document must be an absolute IRI: {error}", uri=uri) from None


def _raw(data: bytes | str, uri: str, limits: Limits) -> bytes:
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is half of a surrogate pair, not text; read the document as UTF-8"
        raise DocumentError(reason, uri=uri) from None
    if len(raw) > limits.bytes:
        reason = f"{len(raw)} bytes are over the limit of {limits.bytes}; split it, or raise Limits(bytes=...)"
        raise DocumentTooLarge(reason, uri=uri)
    return raw


def _prepared(raw: bytes, syntax: Syntax, uri: str, media_type: str | None, limits: Limits, *, is_text: bool) -> bytes:
    """UTF-8 that is safe to hand to the parser."""
    if syntax is RDF_XML:
        return _prepared_xml(raw, uri, media_type, limits, is_text=is_text)
    text = encoding.checked(raw, uri)
    nesting.check(text, syntax, uri=uri, limits=limits)
    if syntax is JSON_LD:
        contexts.check(text, uri=uri, limits=limits)
    elif syntax is TURTLE or syntax is TRIG:
        prefixes.check(text, uri=uri, limits=limits)
    return text


def _prepared_xml(raw: bytes, uri: str, media_type: str | None, limits: Limits, *, is_text: bool) -> bytes:
    text = encoding.recoded(raw, uri, media_type=media_type, is_text=is_text)
    markup.check(text, uri=uri, limits=limits)
    if not _RDF_NAMESPACE.search(text):
        reason = "this is XML, but not RDF/XML: the namespace http://www.w3.org/1999/02/22-rdf-syntax-ns# is not in it"
        raise DocumentError(reason, uri=uri)
    return text
