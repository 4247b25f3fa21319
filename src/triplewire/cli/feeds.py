"""Feeds on the command line: subscriptions that come in them, and events that go out as them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from triplewire.cli.problems import Problems, counted, usage_for
from triplewire.errors import TriplewireError, UnknownSubscription

if TYPE_CHECKING:
    from triplewire import Event
    from triplewire.model import Document
    from triplewire.wire.hubs import AnyHub

FORMATS = ("atom", "rss1", "rss2", "jsonfeed")

NEWEST = 100
"""So many events are in a feed if nothing else is asked for."""


def registered(hub: AnyHub, document: Document, prefixes: Mapping[str, str], problems: Problems) -> Document:
    """Register the subscriptions in a feed; gives the feed without them. A document of another kind stays as it is."""
    from triplewire import Feed
    from triplewire.feeds import subscriptions_in
    from triplewire.model import item_uri

    if not isinstance(document, Feed):
        return document
    found = subscriptions_in(document)
    for each in found:
        try:
            if not _is_registered(hub, each.id, each.text, each.language):
                hub.subscribe(each.text, language=each.language, id=each.id, prefixes=prefixes)
        except TriplewireError as error:
            problems.report(each.id, error)
    if found:
        problems.note(f"{document.uri}: {counted(len(found), 'subscription')}")
    asking = {name for each in found for name in (each.id, item_uri(document.uri, each.id))}
    return replace(document, items=tuple(item for item in document.items if item.uri not in asking))


def _is_registered(hub: AnyHub, id: str, text: str, language: str) -> bool:
    """Whether it is there as it is: a feed brings the same items again and again."""
    try:
        known = hub.subscription(id)
    except UnknownSubscription:
        return False
    return (known.text, known.language) == (text, language)


def write(
    hub: AnyHub,
    store: str,
    id: str,
    events: Iterable[Event],
    format: str,
    uri: str | None,
    title: str | None,
    most: int,
) -> tuple[bytes, int]:
    """The newest events of a subscription as a feed, and how many they are."""
    from triplewire import feeds

    newest = list(deque(events, maxlen=most))
    writers = {"atom": feeds.atom, "rss1": feeds.rss1, "rss2": feeds.rss2, "jsonfeed": feeds.json_feed}
    name = title or hub.subscription(id).name
    with usage_for(ValueError, before=f"--uri {uri}: "):
        return writers[format](newest, uri=uri or _made_up_uri(store, id), title=name), len(newest)


def _made_up_uri(store: str, id: str) -> str:
    """A name for a feed that has no address yet: the same each time for one subscription of one hub."""
    name = store.removeprefix("sqlite:///")
    place = name if "://" in name else Path(name).resolve().as_uri()
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'{place}#{id}')}"
