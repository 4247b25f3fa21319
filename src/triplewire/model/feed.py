"""A feed: a document of a channel and its items, which are documents of their own when it is published.

Why the items are apart. A feed is a window: what falls out of it was not taken back. With one document to an item, the
items that are not in the window any more simply stay; a new item does not publish the old ones again, which would
reach everybody who asked for what comes from now on; and a query over one document is a query over one item.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from re import compile as pattern
from urllib.parse import quote

from triplewire.model.document import Document

_ITEM = pattern("[#&]item=")
_LONGEST_KEY = 500  # of bytes; what is longer does not fit into the indexes of every database


@dataclass(frozen=True, slots=True)
class Feed(Document):
    """All that a feed states, as one document; and its `channel` and `items`, each with a uri of its own.

    Invariant: each triple of the feed is in the channel or in an item, blank nodes under the names they have there.
    """

    channel: Document = field(kw_only=True)
    items: tuple[Document, ...] = field(kw_only=True)

    @property
    def parts(self) -> tuple[Document, ...]:
        """The documents that publishing it registers."""
        return self.channel, *self.items


def item_prefix(feed: str) -> str:
    """How the uris of all items of a feed begin, and no others.

    >>> item_prefix("https://example.org/news.rss")
    'https://example.org/news.rss#item='
    """
    return f"{feed}{'&' if '#' in feed else '#'}item="


def feeds_of(item: str) -> list[str]:
    """The feeds of which a uri is an item's, if they are feeds: those with an `item_prefix` that it begins with.

    >>> feeds_of("https://example.org/news.rss#item=a&item=b")
    ['https://example.org/news.rss', 'https://example.org/news.rss#item=a']
    """
    return [
        item[: found.start()] for found in _ITEM.finditer(item) if item.startswith(item_prefix(item[: found.start()]))
    ]


def item_uri(feed: str, key: str) -> str:
    """The uri of an item that a feed tells from its others by this key.

    >>> item_uri("https://example.org/news.rss", "tag:example.org,2026:1")
    'https://example.org/news.rss#item=tag:example.org,2026:1'
    """
    name = quote(key, safe=":/?,;=@!$'()*~", errors="replace")
    if len(name) > _LONGEST_KEY:
        name = f"sha256-{sha256(key.encode(errors='replace')).hexdigest()}"
    return item_prefix(feed) + name
