"""Flat texts: lines of N-Triples and N-Quads, and references, which are read without a document around them.

pyoxigraph's parser calls itself for a triple term within a triple term, and a few thousand of them end the process.
This module and `documents.reader` are the only ones that call it: here a line that nests is refused before, there what
each syntax can do.

Invariant: no text is handed to the parser that nests deeper than `MOST_NESTED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse

MOST_NESTED: Final = 64
"""Triple terms within triple terms of one line."""

_TRIPLE_TERM = b"<<"
# What `<<` does not count in. A string that does not end is no N-Triples, so that what follows is not read any more.
_QUOTED = re.compile(rb'"(?:[^"\\\n\r]++|\\.)*+"|(?<!<)<[^<>\s]*+>')
_NO_REFERENCE = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def triples_in(lines: bytes) -> Iterator[Triple]:
    """The triples of N-Triples; ValueError or SyntaxError for what is none."""
    return (quad.triple for quad in quads_in(lines))


def quads_in(lines: bytes) -> Iterator[Quad]:
    """The same as quads of the default graph."""
    refuse_nested(lines)
    quads: Iterator[Quad] = parse(lines, format=RdfFormat.N_TRIPLES)
    return quads


def quad_in(line: bytes) -> Quad:
    """The one quad of a line of N-Quads; ValueError or SyntaxError for what is none."""
    refuse_nested(line)
    quads: Iterator[Quad] = parse(line, format=RdfFormat.N_QUADS)
    (quad,) = quads
    return quad


def resolved(reference: str, base: str) -> NamedNode:
    """The IRI that a reference means, as documents resolve theirs; ValueError or SyntaxError for what is none.

    >>> resolved("../b", "http://example.org/a/c").value
    'http://example.org/b'
    """
    if found := _NO_REFERENCE.search(reference):
        raise ValueError(f"{found[0]!r} has no place in an IRI")
    text = f"<{reference}> <{reference}> <{reference}> ."
    quads: Iterator[Quad] = parse(text.encode(), format=RdfFormat.TURTLE, base_iri=base)
    (quad,) = quads
    return quad.predicate


def refuse_nested(lines: bytes) -> None:
    """ValueError if a line has triple terms within triple terms, deeper than any document means them."""
    if lines.count(_TRIPLE_TERM) <= MOST_NESTED:
        return
    if any(line.count(_TRIPLE_TERM) > MOST_NESTED for line in _QUOTED.sub(b" ", lines).splitlines()):
        raise ValueError(f"triple terms are nested deeper than {MOST_NESTED}")
