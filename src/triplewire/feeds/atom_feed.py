"""Events as Atom (RFC 4287), with what matches no more as tombstones (RFC 6721)."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from triplewire.feeds.elements import add, written
from triplewire.feeds.entries import FeedEntry, entries, legal, newest, rfc3339
from triplewire.model import Event, Time

_ATOM = "http://www.w3.org/2005/Atom"
_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"


def atom(
    events: Iterable[Event],
    *,
    uri: str,
    title: str,
    home: str | None = None,
    updated: Time | None = None,
    hub: str | None = None,
    older: str | None = None,
) -> bytes:
    """The events as an Atom feed, the newest first.

    In Atom an entry can change and be deleted, so an entry is a row, and its id is the same for all events of the row:
    of those that are given, the last decides. `Matched` and `Changed` are entries; `Unmatched` is an
    `at:deleted-entry` that refers to the id that the row's entry had.

    `uri` is the address of the feed, `updated` when there were no events, `hub` who
    pushes the feed (WebSub), `older` where the events before these are (RFC 5005).
    """
    found = entries(events, uri=uri)
    feed = etree.Element(f"{{{_ATOM}}}feed", nsmap={None: _ATOM, "at": _TOMBSTONES})
    add(feed, f"{{{_ATOM}}}id", uri)
    add(feed, f"{{{_ATOM}}}title", legal(title))
    add(feed, f"{{{_ATOM}}}updated", rfc3339(newest(found, updated)))
    add(add(feed, f"{{{_ATOM}}}author"), f"{{{_ATOM}}}name", "Triplewire")
    if uri.startswith(("http://", "https://")):
        add(feed, f"{{{_ATOM}}}link", rel="self", type="application/atom+xml", href=uri)
    if home:
        add(feed, f"{{{_ATOM}}}link", rel="alternate", href=home)
    for relation, address in (("hub", hub), ("next", older)):
        if address:
            add(feed, f"{{{_ATOM}}}link", rel=relation, href=address)
    told: set[str] = set()
    for entry in found:
        if entry.row_id not in told:
            told.add(entry.row_id)
            _tell(feed, entry)
    return written(feed)


def _tell(feed: etree._Element, entry: FeedEntry) -> None:
    if entry.kind == "unmatched":
        deleted = add(feed, f"{{{_TOMBSTONES}}}deleted-entry", ref=entry.row_id, when=rfc3339(entry.time))
        add(deleted, f"{{{_TOMBSTONES}}}comment", f"{entry.headline}\n{entry.text}")
        return
    element = add(feed, f"{{{_ATOM}}}entry")
    add(element, f"{{{_ATOM}}}id", entry.row_id)
    add(element, f"{{{_ATOM}}}title", entry.title)
    add(element, f"{{{_ATOM}}}updated", rfc3339(entry.time))
    if entry.link:
        add(element, f"{{{_ATOM}}}link", rel="alternate", href=entry.link)
    add(element, f"{{{_ATOM}}}category", term=entry.kind)
    add(element, f"{{{_ATOM}}}content", entry.text, type="text")
