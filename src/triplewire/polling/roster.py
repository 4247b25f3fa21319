"""The list of feeds that a hub follows, in the settings of its store: a name for each, and the order of all.

A setting for each feed, so that an answer writes what it changed and not the whole list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256

from triplewire.polling.schedule import Followed
from triplewire.store import Store

_ALL = "poll.feeds"


def load(store: Store) -> list[Followed]:
    """The feeds, in the order in which they were added."""
    with store.reading() as reader:
        found = [reader.settings.get(_key(uri)) for uri in reader.settings.get(_ALL, [])]
    return [Followed(**each) for each in found if each is not None]


def add(store: Store, feeds: Iterable[Followed]) -> int:
    """Add those that are not there yet; gives how many."""
    with store.writing() as writer:
        uris = list(writer.settings.get(_ALL, []))
        new = [feed for feed in {feed.uri: feed for feed in feeds}.values() if feed.uri not in uris]
        for feed in new:
            writer.settings.set(_key(feed.uri), asdict(feed))
        if new:
            writer.settings.set(_ALL, uris + [feed.uri for feed in new])
    return len(new)


def save(store: Store, feed: Followed) -> None:
    """Keep what is known of a feed, unless it was removed meanwhile."""
    with store.writing() as writer:
        if writer.settings.get(_key(feed.uri)) is not None:
            writer.settings.set(_key(feed.uri), asdict(feed))


def remove(store: Store, uri: str) -> bool:
    """Follow a feed no more; False if it was not followed. Its documents stay."""
    with store.writing() as writer:
        uris = list(writer.settings.get(_ALL, []))
        if uri not in uris:
            return False
        writer.settings.set(_ALL, [each for each in uris if each != uri])
        writer.settings.remove(_key(uri))
    return True


def _key(uri: str) -> str:
    return f"poll.feed.{sha256(uri.encode()).hexdigest()[:32]}"
