"""Feeds as changes of documents: the channel and each item is one, and what is missing stays unless it is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triplewire.model import Access, Change, Feed, Publish, Restrict, Retract, item_prefix
from triplewire.store import Reader, Writer

_HAS_FEEDS = "feeds"


def spread(writer: Writer, changes: Sequence[Change]) -> list[Change]:
    """The same changes, with those of a feed's parts in the place of the feed's.

    The store remembers that there are feeds: where there are none, a retraction costs no search for items.
    """
    has_feeds = bool(writer.settings.get(_HAS_FEEDS, False))
    if not has_feeds and any(_feed_of(change) for change in changes):
        writer.settings.set(_HAS_FEEDS, True)
        has_feeds = True
    if not has_feeds:
        return list(changes)
    found: list[Change] = []
    for change in changes:
        feed = _feed_of(change)
        if isinstance(change, Restrict):
            items = _items(writer, change.uri, found)
            found += [change, *(replace(change, uri=uri) for uri in items)]
            continue
        if isinstance(change, Retract) or (feed and change.drop_missing):
            found += [Retract(uri, change.by) for uri in _items(writer, change.uri, found)]
        found += _parts(writer, change, feed, found) if feed and isinstance(change, Publish) else [change]
    return found


def _parts(writer: Writer, change: Publish, feed: Feed, earlier: Sequence[Change]) -> list[Publish]:
    """The parts of a feed. An item that is new has the access list of its feed, so that it is never for others."""
    access = change.access
    inherited = access or _list_of(writer, feed.uri, earlier)
    new: set[str] = set()
    if access is None and inherited is not None:
        known = writer.documents.current([item.uri for item in feed.items])
        new = {item.uri for item, record in zip(feed.items, known, strict=True) if record is None}
    return [Publish(part, access=inherited if part.uri in new else access, by=change.by) for part in feed.parts]


def _list_of(reader: Reader, uri: str, earlier: Sequence[Change]) -> Access | None:
    """The access list that a document has after earlier changes of the batch."""
    for change in reversed(earlier):
        if change.uri == uri and (isinstance(change, Restrict) or (isinstance(change, Publish) and change.access)):
            return change.access
    (record,) = reader.documents.current([uri])
    return None if record is None else reader.access.of([record.id]).get(record.id)


def _feed_of(change: Change) -> Feed | None:
    return change.document if isinstance(change, Publish) and isinstance(change.document, Feed) else None


def _items(reader: Reader, feed: str, earlier: Sequence[Change]) -> list[str]:
    """The items that a feed has: in the store, and from earlier in the batch."""
    prefix = item_prefix(feed)
    coming = [change.uri for change in earlier if isinstance(change, Publish) and change.uri.startswith(prefix)]
    return reader.documents.beginning_with(prefix) + coming
