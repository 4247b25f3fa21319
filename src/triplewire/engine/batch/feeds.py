"""Feeds as changes of documents: the channel and each item is one, and what is missing stays unless it is dropped.

An item belongs to its feed. Invariant: an item has the access list that was given last, to the feed or to the item
itself, and one that comes, or comes back, without a list has its feed's; in whichever order that happens.

Under the uris of a feed's items there may be documents of others, from before there was the feed or its list. With a
list, the feed takes them over: what it publishes there has its list, whatever was there. Only where the list of such a
document does not let the feed's publisher change it, this one item is refused; the rest of the feed is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triplewire.errors import AccessDenied
from triplewire.model import Access, Change, Document, Feed, Publish, Restrict, Retract, item_prefix
from triplewire.store import Writer

_HAS_FEEDS = "feeds"


Refused = tuple[Change, AccessDenied]
"""The change of an item that was left out, and why."""


def spread(writer: Writer, changes: Sequence[Change]) -> tuple[list[Change], list[Refused]]:
    """The same changes, with those of a feed's parts in the place of the feed's; and items that were refused alone.

    The store remembers that there are feeds: where there are none, a retraction costs no search for items.
    """
    has_feeds = bool(writer.settings.get(_HAS_FEEDS, False))
    if not has_feeds and any(_feed_of(change) for change in changes):
        writer.settings.set(_HAS_FEEDS, True)
        has_feeds = True
    if not has_feeds:
        return list(changes), []
    spreading = _Spreading(writer)
    for change in changes:
        spreading.add(change)
    return spreading.found, spreading.refused


class _Spreading:
    """Follows the changes of a batch, so that each feed is seen as those before it have left it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.found: list[Change] = []
        self.refused: list[Refused] = []
        self._lists: dict[str, Access | None] = {}
        self._there: dict[str, bool] = {}
        self._came: dict[str, str | None] = {}

    def add(self, change: Change) -> None:
        """The change, and those of items that it means as well."""
        feed = _feed_of(change)
        if isinstance(change, Restrict):
            self._put(change)
            self._give(change, self._items(change.uri, present=False))
            return
        if isinstance(change, Retract) or (feed and change.drop_missing):
            for uri in self._items(change.uri):
                self._put_if_allowed(Retract(uri, change.by))
        if feed is not None and isinstance(change, Publish):
            self._publish(change, feed)
        else:
            self._put(change)

    def _publish(self, change: Publish, feed: Feed) -> None:
        """The parts of a feed. With a list, all items that the feed ever had get it, as if it were given alone."""
        self._put(Publish(feed.channel, access=change.access, by=change.by, reach=change.reach))
        for item in feed.items:
            self._publish_item(item, feed.uri, change)
        if change.access is not None:
            coming = {item.uri for item in feed.items}
            others = [uri for uri in self._items(feed.uri, present=False) if uri not in coming]
            self._give(Restrict(feed.uri, change.access, change.by), others)

    def _publish_item(self, item: Document, feed: str, change: Publish) -> None:
        """An item, with the feed's list where it gets that; writers of the feed may give it to what has none."""
        own, given = self._list_of(item.uri), change.access
        if given is None and self._inherits(item.uri, own, self._list_of(feed)):
            given = self._list_of(feed)
        is_taken_over = given is not None and own is None and not self._is_new(item.uri)
        wanted = Publish(item, access=given, by=None if is_taken_over else change.by)
        self._put_if_allowed(wanted, is_named=True)

    def _inherits(self, uri: str, own: Access | None, given: Access | None) -> bool:
        """Whether an item that is published without a list gets its feed's.

        One that is new does, one that comes back without a list, and one whose first publisher may not
        change the feed, unless all who may change the item may change the feed: then the list is one of the feed's own.
        """
        if given is None:
            return False
        if own is None and (self._is_new(uri) or not self._is_there(uri)):
            return True
        first = self._first_publisher(uri)
        is_foreign = first is not None and not given.may_write(first)
        return is_foreign and (own is None or not set(own.writers) <= set(given.writers))

    def _give(self, change: Restrict, items: Iterable[str]) -> None:
        """The feed's list, to items. An account that may give it to the feed may give it to an item without one."""
        for uri in items:
            is_listed = self._list_of(uri) is not None
            self._put_if_allowed(Restrict(uri, change.access, change.by if is_listed else None))

    def _put_if_allowed(self, change: Change, *, is_named: bool = False) -> None:
        """The change of an item, unless its own list forbids it: this is no reason to refuse the feed.

        Who may not read the item, and did not name it, is not told that there is one.
        """
        own = self._list_of(change.uri)
        if own is None or own.may_write(change.by):
            self._put(change)
        elif is_named or own.may_read(change.by):
            self.refused.append((change, AccessDenied(change.uri, by=change.by)))

    def _put(self, change: Change) -> None:
        self.found.append(change)
        if isinstance(change, Restrict) or (isinstance(change, Publish) and change.access is not None):
            self._lists[change.uri] = change.access
        if not isinstance(change, Restrict):
            self._there[change.uri] = isinstance(change, Publish)
        if isinstance(change, Publish):
            self._came.setdefault(change.uri, change.by)

    # -- a document after the changes so far

    def _list_of(self, uri: str) -> Access | None:
        if uri in self._lists:
            return self._lists[uri]
        (record,) = self._writer.documents.current([uri])
        return None if record is None else self._writer.access.of([record.id]).get(record.id)

    def _first_publisher(self, uri: str) -> str | None:
        (record,) = self._writer.documents.current([uri])
        if record is None:
            return self._came.get(uri)
        return self._writer.access.publishers([record.id]).get(record.id)

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
