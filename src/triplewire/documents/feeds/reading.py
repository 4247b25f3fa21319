"""From the bytes of a feed to a `Feed`: the order of the steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urljoin

from lxml import etree
from pyoxigraph import RdfFormat, Triple, serialize

from triplewire.documents import blank_nodes
from triplewire.documents.feeds import elements, json_feed, mapping, relations, rss1
from triplewire.documents.feeds.entries import FeedItem, entries
from triplewire.documents.feeds.identity import document_uri, identified
from triplewire.documents.feeds.mending import mended, parsed
from triplewire.documents.feeds.recoding import utf8
from triplewire.documents.feeds.sniffing import is_json_feed
from triplewire.documents.limits import Limits
from triplewire.documents.xml import written
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model import Document, Feed

_COMPARISONS_PER_MICROSECOND = 16


def read(raw: bytes, *, uri: str, media_type: str | None, limits: Limits, is_text: bool = False) -> Feed:
    """The feed that these bytes are; `DocumentError` says what is wrong with them."""
    if is_json_feed(raw):
        atom = json_feed.as_atom(raw, uri=uri, limits=limits)
        return _Reading(uri, limits, atom, parsed(atom, uri), has_xml=False).feed()
    xml, root = mended(utf8(raw, uri, media_type=media_type, is_text=is_text), uri=uri, limits=limits)
    return _Reading(uri, limits, xml, root).feed()


class _Reading:
    def __init__(self, uri: str, limits: Limits, xml: bytes, root: etree._Element, *, has_xml: bool = True) -> None:
        self.uri, self.limits, self.xml, self.root, self.has_xml = uri, limits, xml, root, has_xml

    def feed(self) -> Feed:
        self.check_effort()
        channel, items = entries(relations.plain(self.xml, self.root), self.uri)
        is_rss1 = rss1.is_rss1(self.root)
        own = rss1.own_triples(self.root, uri=self.uri, limits=self.limits) if is_rss1 else []
        items = self.resolved(items) if is_rss1 else self.named(items)
        iri = rss1.channel_of(own) or self.uri
        places = identified(items, self.uri, channel.home)
        own_channel, own_items = rss1.apart(own, places)
        of_channel = rss1.joined(own_channel, mapping.channel_triples(channel, iri))
        of_items = {
            item: rss1.joined(own_items[item], mapping.item_triples(items[place], item, iri))
            for item, place in places.items()
        }
        whole = self.document(self.uri, [*of_channel, *(t for found in of_items.values() for t in found)])
        xml = self.canonical_xml()
        xml_of_channel, xml_of_items = self.xml_of_parts(xml, items)
        return Feed(
            self.uri,
            whole.ntriples,
            xml,
            channel=replace(self.document(self.uri, of_channel), xml=xml_of_channel),
            items=tuple(
                replace(self.document(document_uri(self.uri, item), of_items[item]), xml=xml_of_items[place])
                for item, place in places.items()
            ),
        )

    def check_effort(self) -> None:
        """feedparser compares each tag of an item with all others."""
        if elements.most_tags(self.root) ** 2 > self.limits.effort * _COMPARISONS_PER_MICROSECOND:
            reason = "an item has too many categories; use fewer, or raise Limits(effort=...)"
            raise DocumentTooLarge(reason, uri=self.uri)

    def resolved(self, items: list[FeedItem]) -> list[FeedItem]:
        """Items of RSS 1.0, whose `rdf:about` is an address."""
        return [replace(item, id=_joined(item.base, item.id)) if item.id else item for item in items]

    def named(self, items: list[FeedItem]) -> list[FeedItem]:
        """Items of the others, whose name is a text that need not be an address."""
        found = elements.items_of(self.root)
        if len(found) != len(items):
            return items
        return [
            replace(item, id=elements.id_of(element) or item.id) for item, element in zip(items, found, strict=True)
        ]

    def document(self, uri: str, triples: Iterable[Triple]) -> Document:
        lines = serialize(triples, format=RdfFormat.N_TRIPLES) or b""
        if lines.count(b"\n") > self.limits.triples or len(lines) > self.limits.expanded:
            reason = "the feed states too much; split it, or raise Limits(triples=..., expanded=...)"
            raise DocumentTooLarge(reason, uri=self.uri)
        return Document.from_lines(uri, blank_nodes.named(lines, uri=self.uri, limits=self.limits))

    def canonical_xml(self) -> bytes:
        """What XPath sees of the feed: nothing, if a namespace is a relative reference, which XPath has no word for.

        Nor if what was mended cannot be written so that it can be read again, as with a namespace that has a bare `&`.
        """
        if not self.has_xml:
            return b""
        try:
            text = written(self.root)
            parsed(text, self.uri)
        except (etree.LxmlError, DocumentError):
            return b""
        return text

    def xml_of_parts(self, xml: bytes, items: list[FeedItem]) -> tuple[bytes, list[bytes]]:
        """Of the channel, and of each item; the channel has all of it where it is not plain which items there are."""
        found = elements.items_of(self.root)
        if not xml or len(found) != len(items):
            return xml, [b""] * len(items)
        alone, length = list[bytes](), 0
        for item in found:
            alone.append(elements.alone(item))
            length += len(alone[-1])
            if length > self.limits.expanded:
                reason = "what surrounds its items is too long to be repeated for each; raise Limits(expanded=...)"
                raise DocumentTooLarge(reason, uri=self.uri)
        return elements.without_items(self.root), alone


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address
