"""Feeds out: the events of a subscription as Atom, RSS 1.0 or 2.0, or JSON Feed (G4); and subscriptions in feeds.

In come events, the address that the feed will have, and the time of each batch; out come bytes that strict readers
accept. Nothing here reads a clock or a store: the caller hands in what `Hub.events` and `Hub.batch` give.

`entries` is what a feed says of an event, and `syntaxes` write it. `subscriptions` finds queries in a feed. Reading
feeds is `triplewire.parse`, which gives a `Feed`.
"""

from triplewire.feeds.subscriptions import subscriptions_in
from triplewire.feeds.syntaxes import FEEDS, FeedSyntax, atom, json_feed, rss1, rss2

__all__ = ["FEEDS", "FeedSyntax", "atom", "json_feed", "rss1", "rss2", "subscriptions_in"]
