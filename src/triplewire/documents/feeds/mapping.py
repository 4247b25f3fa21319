"""From items to triples, in RSS 1.0, Dublin Core, content and schema.org terms; docs/feeds.md has the table.

Plain literals without language tags, so that a query need not know in which language a feed says that it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Triple

from triplewire.documents.feeds.entries import Channel, FeedItem
from triplewire.documents.feeds.identity import is_iri
from triplewire.model import RDF, XSD

RSS = "http://purl.org/rss/1.0/"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
CONTENT = "http://purl.org/rss/1.0/modules/content/"
SCHEMA = "https://schema.org/"

_TYPE = NamedNode(RDF + "type")
_DATE_TIME = NamedNode(XSD + "dateTime")
_INTEGER = NamedNode(XSD + "integer")
Said = tuple[str, str | int | datetime | NamedNode | None]
"""A property and its value; nothing is stated of an empty one."""


def channel_triples(channel: Channel, iri: str) -> list[Triple]:
    """What a feed states of itself."""
    return _stated(
        iri,
        RSS + "channel",
        [
            (RSS + "title", channel.title),
            (RSS + "link", channel.home),
            (RSS + "description", channel.description),
            (DC + "language", channel.language),
            (DC + "rights", channel.rights),
            *((DC + "creator", name) for name in channel.creators),
            (DCTERMS + "modified", channel.updated),
            (SCHEMA + "url", _resource(channel.home)),
            (SCHEMA + "image", _resource(channel.image)),
        ],
    )


def item_triples(item: FeedItem, iri: str, channel: str) -> list[Triple]:
    """What a feed states of an item."""
    said: list[Said] = [
        (RSS + "title", item.title),
        (RSS + "link", item.link),
        (RSS + "description", item.description),
        (CONTENT + "encoded", item.content),
        (DC + "language", item.language),
        (DC + "rights", item.rights),
        *((DC + "creator", name) for name in item.creators),
        *((DC + "contributor", name) for name in item.contributors),
        *((DC + "subject", subject) for subject in item.subjects),
        (DC + "date", item.published or item.updated),
        (DCTERMS + "issued", item.published),
        (DCTERMS + "modified", item.updated),
        (DCTERMS + "identifier", item.id),
        (DCTERMS + "isPartOf", NamedNode(channel)),
        *_resources(DCTERMS + "relation", item.related),
        *_resources(DCTERMS + "source", item.sources),
        *_resources(DCTERMS + "license", item.licenses),
        (SCHEMA + "url", _resource(item.link)),
        *_resources(SCHEMA + "image", item.images),
        (SCHEMA + "discussionUrl", _resource(item.discussion)),
        (SCHEMA + "commentCount", item.comments),
        *_resources(SCHEMA + "associatedMedia", (media.address for media in item.media)),
    ]
    return [*_stated(iri, RSS + "item", said), *_media_triples(item)]


def _media_triples(item: FeedItem) -> Iterator[Triple]:
    for media in item.media:
        if is_iri(media.address):
            about: list[Said] = [
                (SCHEMA + "encodingFormat", media.type),
                (SCHEMA + "contentSize", None if media.length is None else str(media.length)),
            ]
            yield from _stated(media.address, SCHEMA + "MediaObject", about)


def _stated(iri: str, kind: str, said: Iterable[Said]) -> list[Triple]:
    subject = NamedNode(iri)
    triples = [Triple(subject, _TYPE, NamedNode(kind))]
    return triples + [
        Triple(subject, NamedNode(name), _term(value)) for name, value in said if value is not None and value != ""
    ]


def _term(value: str | int | datetime | NamedNode) -> NamedNode | Literal:
    if isinstance(value, NamedNode):
        return value
    if isinstance(value, datetime):
        return Literal(value.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0"), datatype=_DATE_TIME)
    return Literal(str(value), datatype=_INTEGER) if isinstance(value, int) else Literal(value)


def _resource(address: str) -> NamedNode | None:
    return NamedNode(address) if address and is_iri(address) else None


def _resources(name: str, addresses: Iterable[str]) -> list[Said]:
    return [(name, _resource(address)) for address in addresses]
