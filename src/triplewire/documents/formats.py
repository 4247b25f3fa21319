"""Which syntax a document is in: by media type, else by the uri's suffix, else by the first characters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyoxigraph import RdfFormat

from triplewire.errors import DocumentError


@dataclass(frozen=True, eq=False, slots=True)
class Syntax:
    """A syntax that is served. Why not pyoxigraph's own: its properties cost more than reading a short document."""

    format: RdfFormat
    name: str
    media_types: tuple[str, ...]
    suffixes: tuple[str, ...]
    has_graphs: bool = False
    can_grow: bool = True
    """Whether its triples may be much longer than its text."""


TURTLE = Syntax(
    RdfFormat.TURTLE, "Turtle", ("text/turtle", "application/turtle", "application/x-turtle"), ("ttl", "turtle")
)
TRIG = Syntax(RdfFormat.TRIG, "TriG", ("application/trig", "application/x-trig"), ("trig",), has_graphs=True)
N_TRIPLES = Syntax(RdfFormat.N_TRIPLES, "N-Triples", ("application/n-triples",), ("nt",), can_grow=False)
N_QUADS = Syntax(
    RdfFormat.N_QUADS, "N-Quads", ("application/n-quads", "text/x-nquads"), ("nq",), has_graphs=True, can_grow=False
)
RDF_XML = Syntax(RdfFormat.RDF_XML, "RDF/XML", ("application/rdf+xml",), ("rdf",))
XML = Syntax(
    RdfFormat.RDF_XML,
    "XML",
    ("application/owl+xml", "application/xml", "text/xml", "application/rss+xml", "application/atom+xml"),
    ("owl", "xml", "rss", "atom"),
)
"""XML that may be RDF/XML, a feed, or of any other vocabulary: its root tells."""
# `application/json` is what servers really send for JSON-LD. Feeds are known before this is asked; what is called one
# and is none is read as what it may be instead.
JSON_LD = Syntax(
    RdfFormat.JSON_LD,
    "JSON-LD",
    ("application/ld+json", "application/json", "application/feed+json"),
    ("jsonld", "json"),
    has_graphs=True,
)

_SYNTAXES = (TURTLE, N_TRIPLES, N_QUADS, TRIG, RDF_XML, XML, JSON_LD)
_BY_MEDIA_TYPE = {media_type: syntax for syntax in _SYNTAXES for media_type in syntax.media_types}
_BY_SUFFIX = {suffix: syntax for syntax in _SYNTAXES for suffix in syntax.suffixes}
_SAYS_NOTHING = frozenset({"", "text/plain", "application/octet-stream"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
SUFFIXES = tuple(_BY_SUFFIX)
"""What the names of files with documents end in, after the dot."""

SERVED = (
    "text/turtle, application/trig, application/n-triples, application/n-quads, "
    "application/rdf+xml, application/ld+json, application/rss+xml, application/atom+xml, application/feed+json, "
    "application/xml"
)
_NO_HTML = "this is an HTML page, not RDF; register the address of its data instead, for example its Turtle or JSON-LD"

_A_NAME = re.compile(rb"[^\r\n<>{}\"]{1,1000}\.(" + "|".join(SUFFIXES).encode() + rb")\s*\Z", re.IGNORECASE)

# The suffix of the path; that of a host, as in http://example.org, is none.
_SUFFIX = re.compile(r"[^:/?#]+:(?://[^/?#]*+)?+[^?#]*\.([A-Za-z]+)(?:[?#]|$)")
_PEEK = 4096
_LEADING = re.compile(r"(?:\ufeff|\s|#[^\n\r]*+)*+")
_HTML_START = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_XML_START = re.compile(r"<(?:\?xml|!--|!DOCTYPE|[A-Za-z_][^\s<>]*\s[^<>]*\bxmlns\b)")
_ELEMENT_START = re.compile(r"<([A-Za-z_][^\s<>/]*)(?:\s[^<>]*)?(/?)>")
_JSON_START = re.compile(r'\{\s*(?:"|\}\s*$)|\[\s*(?:[\[{"\d]|\]\s*$)')
_TERM = r'(?:<[^<>\s]*>|_:[^\s<>"]+)'
_QUAD_LINE = re.compile(
    rf'{_TERM}[ \t]*<[^<>\s]*>[ \t]*(?:{_TERM}|"(?:[^"\\\n]|\\.)*+"(?:@[\w-]+|\^\^<[^<>\s]*>)?)[ \t]*{_TERM}[ \t]*\.'
)


def guess(raw: bytes, *, uri: str, media_type: str | None) -> Syntax:
    """The syntax of these bytes; `DocumentError` if nothing that is served."""
    kind = essence(media_type)
    if kind not in _SAYS_NOTHING:
        return _named(kind, uri)
    if (match := _SUFFIX.match(uri)) and (syntax := _BY_SUFFIX.get(match[1].lower())):
        return syntax
    return _sniffed(raw, uri)


def is_served(media_type: str | None) -> bool:
    """Whether a media type is that of a syntax that is read, or says nothing."""
    kind = essence(media_type)
    return kind in _BY_MEDIA_TYPE or kind in _SAYS_NOTHING


def media_type_of(name: str) -> str | None:
    """The media type that a name ends in; None if it says nothing.

    >>> media_type_of("http://example.org/a.nt"), media_type_of("urn:a")
    ('application/n-triples', None)
    """
    syntax = _BY_SUFFIX.get(name.rpartition(".")[2].lower()) if "." in name else None
    return syntax.media_types[0] if syntax else None


def essence(media_type: str | None) -> str:
    """A media type without its parameters.

    >>> essence("Text/Turtle; charset=utf-8")
    'text/turtle'
    """
    return (media_type or "").partition(";")[0].strip().lower()


def _named(kind: str, uri: str) -> Syntax:
    if syntax := _BY_MEDIA_TYPE.get(kind):
        return syntax
    if kind in _HTML:
        raise html_not_served(uri)
    if kind.endswith("+xml"):
        return XML
    raise DocumentError(f"the media type {kind!r} is not served; send one of {SERVED}", uri=uri)


def _sniffed(raw: bytes, uri: str) -> Syntax:
    """By the first thing that is neither white space nor a comment.

    TriG is the answer when nothing else is recognised, since every Turtle and N-Triples text is TriG too.
    """
    start = _beginning(raw)
    if _HTML_START.match(start):
        raise html_not_served(uri)
    if _XML_START.match(start) or _is_element(start, raw):
        return XML
    if _JSON_START.match(start):
        return JSON_LD
    return N_QUADS if _QUAD_LINE.match(start) else TRIG


def _is_element(start: str, raw: bytes) -> bool:
    """An element that the text ends with: Turtle may begin alike, but a full stop or a bracket ends it."""
    found = _ELEMENT_START.match(start)
    if found is None:
        return False
    return raw.rstrip().endswith(b"/>" if found[2] else f"</{found[1]}>".encode())


def html_not_served(uri: str) -> DocumentError:
    """The error for a web page."""
    return DocumentError(_NO_HTML, uri=uri)


def refuse_name(raw: bytes, uri: str) -> None:
    """`DocumentError` for what is the name of a file, and not what the file says."""
    if _A_NAME.match(raw):
        name = raw.decode(errors="replace").strip()
        reason = f"is this a file? This is its name and not its text: publish(Path({name!r})) reads it"
        raise DocumentError(f"{reason}; to parse it, hand over Path({name!r}).read_bytes()", uri=uri)


def refuse_html(raw: bytes, uri: str) -> None:
    """`DocumentError` if these bytes, whatever they were called, are a web page."""
    if _HTML_START.match(_beginning(raw)):
        raise html_not_served(uri)


def _beginning(raw: bytes) -> str:
    """The first characters that are neither white space nor a comment."""
    head = raw[:_PEEK]
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return _LEADING.sub("", head.decode(encoding, "ignore"), count=1)
