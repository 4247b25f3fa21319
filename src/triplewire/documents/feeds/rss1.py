"""The triples that RSS 1.0, being RDF/XML, states itself: none is lost, each goes to its item or the channel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from copy import deepcopy

from lxml import etree
from pyoxigraph import BlankNode, NamedNode, Triple

from triplewire.documents import nesting, reader
from triplewire.documents.feeds.mapping import DC, RSS
from triplewire.documents.formats import RDF_XML
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model import RDF
from triplewire.model.flat import triples_in

_TYPE = NamedNode(RDF + "type")
_CHANNEL = NamedNode(RSS + "channel")
# Old RDF/XML let these stand without a prefix, and feeds still do (`<rdf:li resource="...">`).
_UNPREFIXED = ("about", "resource")
_DATE = DC + "date"
_TRIPLE_TERM_END = b")>> .\n"


def is_rss1(root: etree._Element) -> bool:
    """Whether this is RDF whose triples count: RSS 1.0, or anything but RSS 0.90, which only looks like it."""
    return root.tag == f"{{{RDF}}}RDF" and not any("netscape.com/rdf/simple/0.9" in str(e.tag) for e in root)


def own_triples(root: etree._Element, *, uri: str, limits: Limits) -> list[Triple]:
    """What the feed states as RDF; nothing if it is not RDF for all its namespaces."""
    tree = deepcopy(root)
    for element in tree.iter(f"{{{RSS}}}*", f"{{{RDF}}}*"):
        for name in _UNPREFIXED:
            if name in element.attrib:
                element.attrib[f"{{{RDF}}}{name}"] = element.attrib.pop(name)
    try:
        lines = reader.read(etree.tostring(tree, encoding="utf-8"), RDF_XML, uri=uri, limits=limits)
    except DocumentTooLarge:
        raise
    except DocumentError:
        return []
    if _TRIPLE_TERM_END in lines:
        raise nesting.triple_terms_not_served(uri)
    return list(triples_in(lines))


def channel_of(triples: Iterable[Triple]) -> str | None:
    """The IRI that the feed gives its channel, if it has one."""
    found = {t.subject for t in triples if t.object == _CHANNEL and t.predicate == _TYPE}
    named = [subject.value for subject in found if isinstance(subject, NamedNode)]
    return named[0] if len(named) == 1 else None


def apart(triples: Iterable[Triple], items: Iterable[str]) -> tuple[list[Triple], dict[str, list[Triple]]]:
    """What is stated of each item, with what it holds by blank nodes; and the rest, which is the channel's."""
    stated: defaultdict[object, list[Triple]] = defaultdict(list)
    for triple in triples:
        stated[triple.subject].append(triple)
    of_items = {iri: _held(NamedNode(iri), stated) for iri in items}
    taken = {triple for found in of_items.values() for triple in found}
    return [triple for found in stated.values() for triple in found if triple not in taken], of_items


def joined(own: list[Triple], mapped: list[Triple]) -> list[Triple]:
    """Both, but a property as the feed itself has it, if it does. Dates are added anyway: its own are only text."""
    has = {(triple.subject, triple.predicate) for triple in own if triple.predicate.value != _DATE}
    return own + [triple for triple in mapped if (triple.subject, triple.predicate) not in has]


def _held(root: NamedNode, stated: Mapping[object, list[Triple]]) -> list[Triple]:
    found, pending, seen = list[Triple](), list[object]([root]), set[object]([root])
    while pending:
        for triple in stated.get(pending.pop(), ()):
            found.append(triple)
            if isinstance(triple.object, BlankNode) and triple.object not in seen:
                seen.add(triple.object)
                pending.append(triple.object)
    return found
