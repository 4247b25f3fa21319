"""The syntaxes of feeds by name, each with its media type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from triplewire.feeds.atom_feed import atom
from triplewire.feeds.json_feeds import json_feed
from triplewire.feeds.rss_feeds import rss1, rss2


@dataclass(frozen=True, slots=True)
class FeedSyntax:
    """How a feed is written: `write` is one of `atom`, `rss1`, `rss2` and `json_feed`, which take the same."""

    media_type: str
    write: Callable[..., bytes]


FEEDS: Mapping[str, FeedSyntax] = {
    "atom": FeedSyntax("application/atom+xml", atom),
    "rss2": FeedSyntax("application/rss+xml", rss2),
    "rss1": FeedSyntax("application/rdf+xml", rss1),
    "json": FeedSyntax("application/feed+json", json_feed),
}
