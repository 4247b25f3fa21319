"""Feeds as changes of documents: the channel and each item is one, and what is missing stays unless it is dropped."""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.model import Change, Feed, Publish, Retract, item_prefix
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
        if isinstance(change, Retract) or (feed and change.drop_missing):
            found += map(Retract, _items(writer, change.uri, found))
        found += map(Publish, feed.parts) if feed else [change]
    return found


def _feed_of(change: Change) -> Feed | None:
    return change.document if isinstance(change, Publish) and isinstance(change.document, Feed) else None


def _items(reader: Reader, feed: str, earlier: Sequence[Change]) -> list[str]:
    """The items that a feed has: in the store, and from earlier in the batch."""
    prefix = item_prefix(feed)
    coming = [change.uri for change in earlier if isinstance(change, Publish) and change.uri.startswith(prefix)]
    return reader.documents.beginning_with(prefix) + coming
