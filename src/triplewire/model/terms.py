"""RDF terms: pyoxigraph's, and the way from their canonical N-Triples spelling back to them."""

from __future__ import annotations

import re

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

Term = NamedNode | BlankNode | Literal

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])

    return _ESCAPE.sub(character, text)


def parse_term(text: str) -> Term:
    """The term that a canonical N-Triples spelling (what `str(term)` gives) stands for.

    >>> parse_term('"chat"@fr')
    <Literal value=chat language=fr>
    """
    if text.startswith("<"):
        return NamedNode(_unescape(text[1:-1]))
    if text.startswith("_:"):
        return BlankNode(text[2:])
    end = text.rindex('"')
    value, suffix = _unescape(text[1:end]), text[end + 1 :]
    if suffix.startswith("^^"):
        return Literal(value, datatype=NamedNode(suffix[3:-1]))
    if suffix.startswith("@"):
        language, _, direction = suffix[1:].partition("--")
        if direction:
            return Literal(value, language=language, direction=BaseDirection(direction))
        return Literal(value, language=language)
    return Literal(value)


def parse_triple(subject: str, predicate: str, object: str) -> Triple:
    """The triple of three spellings.

    >>> parse_triple("<urn:a>", "<urn:p>", '"1"').object.value
    '1'
    """
    return Triple(parse_term(subject), parse_term(predicate), parse_term(object))  # type: ignore[arg-type]  # its places
