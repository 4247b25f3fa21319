"""Events as RSS 1.0 and RSS 2.0.

RSS has no deletions, and its readers show an item once: every event is an item with a name of its own, and one that
ends a row says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import format_datetime

from lxml import etree

from triplewire.feeds.elements import add, written
from triplewire.feeds.entries import entries, legal, newest, rfc3339
from triplewire.model import RDF, Event, Time

_RSS = "http://purl.org/rss/1.0/"
_DC = "http://purl.org/dc/elements/1.1/"
_ATOM = "http://www.w3.org/2005/Atom"


def rss2(
    events: Iterable[Event],
    *,
    uri: str,
    title: str,
    home: str | None = None,
    updated: Time | None = None,
    hub: str | None = None,
    older: str | None = None,
) -> bytes:
    """The events as an RSS 2.0 feed, the newest first; each is an item whose guid is the event's."""
    found = entries(events, uri=uri)
    rss = etree.Element("rss", {"version": "2.0"}, nsmap={"atom": _ATOM})
    channel = add(rss, "channel")
    add(channel, "title", legal(title))
    add(channel, "link", home or uri)
    add(channel, "description", legal(f"Events of {title}"))
    add(channel, "lastBuildDate", format_datetime(newest(found, updated), usegmt=True))
    if uri.startswith(("http://", "https://")):
        add(channel, f"{{{_ATOM}}}link", rel="self", type="application/rss+xml", href=uri)
    _add_links(channel, hub, older)
    for entry in found:
        item = add(channel, "item")
        add(item, "title", entry.headline)
        if entry.link:
            add(item, "link", entry.link)
        add(item, "guid", entry.id, isPermaLink="false")
        add(item, "pubDate", format_datetime(entry.time, usegmt=True))
        add(item, "category", entry.kind)
        add(item, "description", _escaped(entry.text))
    return written(rss)


def rss1(
    events: Iterable[Event],
    *,
    uri: str,
    title: str,
    home: str | None = None,
    updated: Time | None = None,
    hub: str | None = None,
    older: str | None = None,
) -> bytes:
    """The events as an RSS 1.0 feed, which is RDF as well, the newest first; each an item with the event's id."""
    found = entries(events, uri=uri)
    root = etree.Element(f"{{{RDF}}}RDF", nsmap={None: _RSS, "rdf": RDF, "dc": _DC, "atom": _ATOM})
    channel = add(root, f"{{{_RSS}}}channel", **{f"{{{RDF}}}about": uri})
    add(channel, f"{{{_RSS}}}title", legal(title))
    add(channel, f"{{{_RSS}}}link", home or uri)
    add(channel, f"{{{_RSS}}}description", legal(f"Events of {title}"))
    add(channel, f"{{{_DC}}}date", rfc3339(newest(found, updated)))
    _add_links(channel, hub, older)
    sequence = add(add(channel, f"{{{_RSS}}}items"), f"{{{RDF}}}Seq")
    for entry in found:
        add(sequence, f"{{{RDF}}}li", **{f"{{{RDF}}}resource": entry.id})
        item = add(root, f"{{{_RSS}}}item", **{f"{{{RDF}}}about": entry.id})
        add(item, f"{{{_RSS}}}title", entry.headline)
        add(item, f"{{{_RSS}}}link", entry.link or home or uri)
        add(item, f"{{{_RSS}}}description", entry.text)
        add(item, f"{{{_DC}}}date", rfc3339(entry.time))
        add(item, f"{{{_DC}}}subject", entry.kind)
    return written(root)


def _add_links(channel: etree._Element, hub: str | None, older: str | None) -> None:
    """Who pushes the feed, and where the events before these are: RSS has no words for it, and readers know Atom's."""
    for relation, address in (("hub", hub), ("next", older)):
        if address:
            add(channel, f"{{{_ATOM}}}link", rel=relation, href=address)


def _escaped(text: str) -> str:
    """Text for a place where readers expect HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>\n")
