"""Feeds to read in tests, and what they state in short."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import BlankNode, NamedNode

from triplewire import Feed, parse
from triplewire.model import RDF

SAMPLES = Path(__file__).resolve().parents[2] / "cases" / "feeds"
NAMESPACES = {
    "rdf": RDF,
    "rss": "http://purl.org/rss/1.0/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "schema": "https://schema.org/",
    "ev": "http://purl.org/rss/1.0/modules/event/",
    "foaf": "http://xmlns.com/foaf/0.1/",
}
URI = "https://feeds.example/folder/feed"


def sample(name: str, uri: str = URI) -> Feed:
    found = parse((SAMPLES / name).read_bytes(), uri=uri)
    assert isinstance(found, Feed)
    return found


def said(document, iri: str) -> dict[str, set[str]]:
    """What is stated of a resource: from short names of properties to values."""
    found: dict[str, set[str]] = {}
    for triple in document.triples:
        if triple.subject == NamedNode(iri) and not isinstance(triple.object, BlankNode):
            name = triple.predicate.value
            prefix = max((p for p in NAMESPACES if name.startswith(NAMESPACES[p])), key=lambda p: len(NAMESPACES[p]))
            found.setdefault(f"{prefix}:{name.removeprefix(NAMESPACES[prefix])}", set()).add(triple.object.value)
    return found


def items(feed: Feed) -> list[dict[str, set[str]]]:
    """What each item states of itself."""
    subjects = [
        next(t.subject.value for t in item.triples if t.object == NamedNode(NAMESPACES["rss"] + "item"))
        for item in feed.items
    ]
    return [said(item, subject) for item, subject in zip(feed.items, subjects, strict=True)]
