"""The syntaxes of feeds: Atom (RFC 4287), RSS 1.0 and 2.0, JSON Feed 1.1.

In Atom an entry can change and be deleted, so an entry is a row, and its id is the same for all events of the row: of
those that are given, the last decides. `Matched` and `Changed` are entries; `Unmatched` is an `at:deleted-entry` (RFC
6721) that refers to the id that the row's entry had. RSS and JSON Feed have no deletions, and their readers show an
item once: every event is an item with the event's id, and one that ends a row says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import format_datetime
from typing import Any

from lxml import etree

from triplewire.feeds.entries import FeedEntry, entries, legal, newest, rfc3339
from triplewire.model import RDF, Event, Time

_ATOM = "http://www.w3.org/2005/Atom"
_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"
_RSS = "http://purl.org/rss/1.0/"
_DC = "http://purl.org/dc/elements/1.1/"


@dataclass(frozen=True, slots=True)
class FeedHead:
    """What a feed says of itself; `FeedSyntax.write` tells what it means."""

    uri: str
    title: str
    home: str | None
    updated: Time | None
    hub: str | None
    older: str | None

    @property
    def own_address(self) -> str | None:
        """Where it can be asked for."""
        return self.uri if self.uri.startswith(("http://", "https://")) else None


@dataclass(frozen=True, slots=True)
class FeedSyntax:
    """How a feed is written."""

    media_type: str
    told: Callable[[FeedHead, list[FeedEntry]], bytes]

    def write(
        self,
        events: Iterable[Event],
        *,
        uri: str,
        title: str,
        home: str | None = None,
        updated: Time | None = None,
        hub: str | None = None,
        older: str | None = None,
    ) -> bytes:
        """The events as a feed, the newest first.

        `uri` is the address of the feed, `home` that of the page that it belongs to, `updated` when there were no
        events (JSON Feed does not say it), `hub` who pushes the feed (WebSub), `older` where the events before these
        are (RFC 5005).
        """
        return self.told(FeedHead(uri, legal(title), home, updated, hub, older), entries(events, uri=uri))


def _atom(head: FeedHead, found: list[FeedEntry]) -> bytes:
    feed = etree.Element(f"{{{_ATOM}}}feed", nsmap={None: _ATOM, "at": _TOMBSTONES})
    _add(feed, f"{{{_ATOM}}}id", head.uri)
    _add(feed, f"{{{_ATOM}}}title", head.title)
    _add(feed, f"{{{_ATOM}}}updated", rfc3339(newest(found, head.updated)))
    _add(_add(feed, f"{{{_ATOM}}}author"), f"{{{_ATOM}}}name", "Triplewire")
    _add_links(feed, head, "application/atom+xml")
    if head.home:
        _add(feed, f"{{{_ATOM}}}link", rel="alternate", href=head.home)
    rows: dict[str, FeedEntry] = {}
    for entry in found:
        rows.setdefault(entry.row_id, entry)
    for entry in rows.values():
        _add_row(feed, entry)
    return _written(feed)


def _add_row(feed: etree._Element, entry: FeedEntry) -> None:
    if entry.kind == "unmatched":
        deleted = _add(feed, f"{{{_TOMBSTONES}}}deleted-entry", ref=entry.row_id, when=rfc3339(entry.time))
        _add(deleted, f"{{{_TOMBSTONES}}}comment", f"{entry.headline}\n{entry.text}")
        return
    element = _add(feed, f"{{{_ATOM}}}entry")
    _add(element, f"{{{_ATOM}}}id", entry.row_id)
    _add(element, f"{{{_ATOM}}}title", entry.title)
    _add(element, f"{{{_ATOM}}}updated", rfc3339(entry.time))
    if entry.link:
        _add(element, f"{{{_ATOM}}}link", rel="alternate", href=entry.link)
    _add(element, f"{{{_ATOM}}}category", term=entry.kind)
    _add(element, f"{{{_ATOM}}}content", entry.text, type="text")


def _rss2(head: FeedHead, found: list[FeedEntry]) -> bytes:
    rss = etree.Element("rss", {"version": "2.0"}, nsmap={"atom": _ATOM})
    channel = _add(rss, "channel")
    _add(channel, "title", head.title)
    _add(channel, "link", head.home or head.uri)
    _add(channel, "description", f"Events of {head.title}")
    _add(channel, "lastBuildDate", format_datetime(newest(found, head.updated), usegmt=True))
    _add_links(channel, head, "application/rss+xml")
    for entry in found:
        item = _add(channel, "item")
        _add(item, "title", entry.headline)
        if entry.link:
            _add(item, "link", entry.link)
        _add(item, "guid", entry.id, isPermaLink="false")
        _add(item, "pubDate", format_datetime(entry.time, usegmt=True))
        _add(item, "category", entry.kind)
        _add(item, "description", _escaped(entry.text))
    return _written(rss)


def _rss1(head: FeedHead, found: list[FeedEntry]) -> bytes:
    root = etree.Element(f"{{{RDF}}}RDF", nsmap={None: _RSS, "rdf": RDF, "dc": _DC, "atom": _ATOM})
    channel = _add(root, f"{{{_RSS}}}channel", **{f"{{{RDF}}}about": head.uri})
    _add(channel, f"{{{_RSS}}}title", head.title)
    _add(channel, f"{{{_RSS}}}link", head.home or head.uri)
    _add(channel, f"{{{_RSS}}}description", f"Events of {head.title}")
    _add(channel, f"{{{_DC}}}date", rfc3339(newest(found, head.updated)))
    _add_links(channel, head)
    sequence = _add(_add(channel, f"{{{_RSS}}}items"), f"{{{RDF}}}Seq")
    for entry in found:
        _add(sequence, f"{{{RDF}}}li", **{f"{{{RDF}}}resource": entry.id})
        item = _add(root, f"{{{_RSS}}}item", **{f"{{{RDF}}}about": entry.id})
        _add(item, f"{{{_RSS}}}title", entry.headline)
        _add(item, f"{{{_RSS}}}link", entry.link or head.home or head.uri)
        _add(item, f"{{{_RSS}}}description", entry.text)
        _add(item, f"{{{_DC}}}date", rfc3339(entry.time))
        _add(item, f"{{{_DC}}}subject", entry.kind)
    return _written(root)


def _add_links(feed: etree._Element, head: FeedHead, media_type: str | None = None) -> None:
    """Where the feed is, who pushes it, and where older events are: RSS has no words for it, and readers know Atom's.

    RSS 1.0, without a media type, says by `rdf:about` where it is.
    """
    if media_type and head.own_address:
        _add(feed, f"{{{_ATOM}}}link", rel="self", type=media_type, href=head.own_address)
    for relation, address in (("hub", head.hub), ("next", head.older)):
        if address:
            _add(feed, f"{{{_ATOM}}}link", rel=relation, href=address)


def _add(parent: etree._Element, tag: str, text: str | None = None, **attributes: str) -> etree._Element:
    child = etree.SubElement(parent, tag, attributes)
    child.text = text
    return child


def _written(root: etree._Element) -> bytes:
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True))


def _escaped(text: str) -> str:
    """Text for a place where readers expect HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>\n")


def _json(head: FeedHead, found: list[FeedEntry]) -> bytes:
    feed: dict[str, Any] = {"version": "https://jsonfeed.org/version/1.1", "title": head.title}
    links = {"home_page_url": head.home, "feed_url": head.own_address, "next_url": head.older}
    feed |= {name: address for name, address in links.items() if address}
    if head.hub:
        feed["hubs"] = [{"type": "WebSub", "url": head.hub}]
    feed["items"] = [_json_item(entry) for entry in found]
    return json.dumps(feed, ensure_ascii=False, indent=1).encode() + b"\n"


def _json_item(entry: FeedEntry) -> dict[str, Any]:
    item = {"id": entry.id, "title": entry.headline} | ({"url": entry.link} if entry.link else {})
    return item | {"content_text": entry.text, "date_published": rfc3339(entry.time), "tags": [entry.kind]}


FEEDS: Mapping[str, FeedSyntax] = {
    "atom": FeedSyntax("application/atom+xml", _atom),
    "rss2": FeedSyntax("application/rss+xml", _rss2),
    "rss1": FeedSyntax("application/rdf+xml", _rss1),
    "json": FeedSyntax("application/feed+json", _json),
}
"""The syntaxes by name."""
atom, rss2, rss1, json_feed = (syntax.write for syntax in FEEDS.values())
