"""Graphs as text: the RDF syntaxes that a service answers in, and the validators of what it answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import QueryResultsFormat, RdfFormat, Triple, serialize

from triplewire.errors import NotAcceptable
from triplewire.model.characters import NOT_IN_XML

GRAPHS: Mapping[str, RdfFormat] = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
}
"""The syntaxes of graphs, the preferred one first."""

RESULTS: Mapping[str, QueryResultsFormat] = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "text/csv": QueryResultsFormat.CSV,
    "text/tab-separated-values": QueryResultsFormat.TSV,
}
"""The formats of a SPARQL query's solutions."""

_TRUTHS = ("application/sparql-results+json", "application/sparql-results+xml")
OF_ASK = {name: RESULTS[name] for name in _TRUTHS}
"""The formats of yes and no: there is no table to put it in."""


_XML = "application/rdf+xml"
# Backwards, from the end: to look for the beginning of what reaches the end would take quadratic time.
_NAME_BACKWARDS = re.compile(r"[\w.-]*+")
_STARTS_A_NAME = re.compile(r"[^\W\d]")


def graph(triples: Iterable[Triple], media_type: str) -> bytes:
    """The triples in a syntax; NotAcceptable for those that RDF/XML has no way to write.

    There, a predicate is the name of an element, so that it must end in something that is a name in XML.
    """
    if media_type != _XML:
        return serialize(triples, format=GRAPHS[media_type]) or b""
    triples = list(triples)
    if not all(_ends_in_name(triple.predicate.value) for triple in triples):
        raise _unwritable(media_type, GRAPHS)
    return well_formed(serialize(triples, format=GRAPHS[media_type]) or b"", media_type, GRAPHS)


def well_formed(content: bytes, media_type: str, offered: Iterable[str]) -> bytes:
    """What was serialized, where it is XML: a reader would turn a carriage return into an end of line.

    NotAcceptable, if a literal has a character that XML cannot write: another of those offered can.
    """
    if not media_type.endswith("+xml"):
        return content
    if NOT_IN_XML.search(content.decode()):
        raise _unwritable(media_type, offered)
    return content.replace(b"\r", b"&#13;")


def _unwritable(media_type: str, offered: Iterable[str]) -> NotAcceptable:
    others = [name for name in offered if name != media_type]
    return NotAcceptable(f"{media_type}, which has no way to write what was found", others)


def _ends_in_name(iri: str) -> bool:
    last = _NAME_BACKWARDS.match(iri[::-1])
    return last is not None and _STARTS_A_NAME.search(last[0]) is not None


def tag(digest: str, media_type: str) -> str:
    """The entity tag of a document in a syntax: another one for each, as they are other bytes."""
    return f'"{digest}.{media_type.partition("/")[2]}"'


def digests(header: str | None) -> Sequence[str] | None:
    """The digests of the documents that a list of entity tags names, `*` for any; None if there is no header."""
    if header is None:
        return None
    return [each.strip().removeprefix("W/").strip('"').partition(".")[0] for each in header.split(",")]
