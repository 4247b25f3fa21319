"""From bytes to a document: the order of the steps."""

from __future__ import annotations

from pyoxigraph import NamedNode

from triplewire.documents import blank_nodes, encoding, feeds, formats, markup, nesting, reader, xml
from triplewire.documents.formats import RDF_XML, XML, Syntax
from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model import RDF, Document

# The end of a line is the one place where no literal can imitate a triple term.
_TRIPLE_TERM_END = b")>> .\n"


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
    try:
        syntax = formats.guess(raw, uri=uri, media_type=media_type)
        if syntax is RDF_XML or syntax is XML:
            text = encoding.recoded(raw, uri, media_type=media_type, is_text=isinstance(data, str))
            return _from_xml(text, syntax, uri, limits)
        return _from_rdf(encoding.checked(raw, uri), syntax, uri, limits)
    except DocumentError:
        formats.refuse_name(raw, uri)  # the likeliest mistakes deserve their own words, whatever the page was called
        formats.refuse_html(raw, uri)
        raise


def _from_xml(text: bytes, syntax: Syntax, uri: str, limits: Limits) -> Document:
    """RDF/XML for its triples; any other vocabulary for the XML itself.

    Why RDF/XML is not kept as XML too: one graph has many trees, and equal graphs are equal documents here, whatever
    they were written in.
    """
    found = markup.check(text, uri=uri, limits=limits)
    if syntax is RDF_XML or _is_rdf(found):
        return _from_rdf(text, RDF_XML, uri, limits, found)
    if found.name[1].lower() == "html":
        raise formats.html_not_served(uri)
    return Document(uri, b"", xml.canonical(text, found, uri=uri))


def _is_rdf(found: markup.Markup) -> bool:
    """True if the root is rdf:RDF, or a node of RDF/XML, which has an attribute such as rdf:about."""
    if found.name == (RDF, "RDF"):
        return True
    prefixes = [name[6:] for name, value in found.attributes.items() if name.startswith("xmlns:") and value == RDF]
    return any(name.startswith(f"{prefix}:") for prefix in prefixes for name in (*found.attributes, found.root))


def _from_rdf(text: bytes, syntax: Syntax, uri: str, limits: Limits, checked: markup.Markup | None = None) -> Document:
    lines = reader.read(text, syntax, uri=uri, limits=limits, checked=checked)
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
