"""Feeds as changes of documents: the channel and each item is one, and what is missing stays unless it is dropped.

An item belongs to its feed. Invariant: an item has the access list that was given last, to the feed or to the item
itself, and one that comes, or comes back, without a list has its feed's; in whichever order that happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triplewire.model import Access, Change, Feed, Publish, Restrict, Retract, item_prefix
from triplewire.store import Writer

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
    spreading = _Spreading(writer)
    for change in changes:
        spreading.add(change)
    return spreading.found


class _Spreading:
    """Follows the changes of a batch, so that each feed is seen as those before it have left it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.found: list[Change] = []
        self._lists: dict[str, Access | None] = {}
        self._there: dict[str, bool] = {}
        self._came: dict[str, None] = {}

    def add(self, change: Change) -> None:
        """The change, and those of items that it means as well."""
        feed = _feed_of(change)
        if isinstance(change, Restrict):
            self._put(change)
            self._give(change, self._items(change.uri, present=False))
            return
        if isinstance(change, Retract) or (feed and change.drop_missing):
            for uri in self._items(change.uri):
                self._put(Retract(uri, change.by))
        if feed is not None and isinstance(change, Publish):
            self._publish(change, feed)
        else:
            self._put(change)

    def _publish(self, change: Publish, feed: Feed) -> None:
        """The parts of a feed. With a list, all items that the feed ever had get it, as if it were given alone."""
        if change.access is None:
            self._let_inherit(feed)
        for part in feed.parts:
            inherited = self._list_of(feed.uri) if self._is_new(part.uri) else None
            self._put(Publish(part, access=change.access or inherited, by=change.by))
        if change.access is not None:
            coming = {item.uri for item in feed.items}
            others = [uri for uri in self._items(feed.uri, present=False) if uri not in coming]
            self._give(Restrict(feed.uri, change.access, change.by), others)

    def _let_inherit(self, feed: Feed) -> None:
        """Give its feed's list to an item that comes back without one: it was retracted before the feed had a list."""
        given = self._list_of(feed.uri)
        if given is not None:
            for item in feed.items:
                if not self._is_new(item.uri) and not self._is_there(item.uri) and self._list_of(item.uri) is None:
                    self._put(Restrict(item.uri, given))

    def _give(self, change: Restrict, items: Iterable[str]) -> None:
        """The feed's list, to items. Who may give it to the feed may give it to an item that has none of its own."""
        for uri in items:
            is_listed = self._list_of(uri) is not None
            self._put(Restrict(uri, change.access, change.by if is_listed else None))

    def _put(self, change: Change) -> None:
        self.found.append(change)
        if isinstance(change, Restrict) or (isinstance(change, Publish) and change.access is not None):
            self._lists[change.uri] = change.access
        if not isinstance(change, Restrict):
            self._there[change.uri] = isinstance(change, Publish)
        if isinstance(change, Publish):
            self._came[change.uri] = None

    # -- a document after the changes so far

    def _list_of(self, uri: str) -> Access | None:
        if uri in self._lists:
            return self._lists[uri]
        (record,) = self._writer.documents.current([uri])
        return None if record is None else self._writer.access.of([record.id]).get(record.id)

    def _is_new(self, uri: str) -> bool:
        return uri not in self._came and self._writer.documents.current([uri]) == [None]

    def _is_there(self, uri: str) -> bool:
        if uri in self._there:
            return self._there[uri]
        (record,) = self._writer.documents.current([uri])
        return record is not None and record.present

    def _items(self, feed: str, *, present: bool = True) -> list[str]:
        """The items of a feed, in the store and from earlier in the batch; with present=False all that it ever had."""
        prefix = item_prefix(feed)
        coming = [uri for uri in self._came if uri.startswith(prefix) and (self._there[uri] or not present)]
        return list(dict.fromkeys([*self._writer.documents.beginning_with(prefix, present=present), *coming]))


def _feed_of(change: Change) -> Feed | None:
    return change.document if isinstance(change, Publish) and isinstance(change.document, Feed) else None
