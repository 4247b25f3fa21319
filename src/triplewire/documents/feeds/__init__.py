"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom and JSON Feed in, a `Feed` out, each item a resource in RDF.

In come the bytes of a feed, as they occur in the wild: in another encoding than they say, with bare ampersands, without
dates or names. Out goes a `Feed`: the whole as one document, with its XML for XPath, and the channel and each item as
documents of their own. docs/feeds.md has the table of what becomes which triple.

It never touches a network or a file, runs no markup through anything but a linear parser, and keeps to the same
`Limits` as every other document. What is no feed, or cannot be mended, is a `DocumentError`.

The way of the data: `sniffing` (is it a feed?), `recoding` and `mending` (bytes to well-formed XML), `json_feed` (JSON
Feed to Atom, so that there is one way on), `elements` (the XML of each item), `entries` (feedparser, and what it leaves
to do: `relations`, `hypertext`), `identity` (which item is which), `mapping` (triples), `rss1` (the triples that RSS
1.0 has itself), all tied together in `reading`.
"""

from triplewire.documents.feeds.sniffing import is_feed
from triplewire.documents.limits import Limits
from triplewire.model import Feed

__all__ = ["is_feed", "read"]


def read(raw: bytes, *, uri: str, media_type: str | None, limits: Limits, is_text: bool) -> Feed:
    """The feed that these bytes are; `DocumentError` says what is wrong with them."""
    from triplewire.documents.feeds import reading  # a process without feeds need not load what reads them

    return reading.read(raw, uri=uri, media_type=media_type, limits=limits, is_text=is_text)
