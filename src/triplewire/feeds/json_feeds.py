"""Events as a JSON Feed (version 1.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from triplewire.feeds.entries import FeedEntry, entries, legal, rfc3339
from triplewire.model import Event, Time


def json_feed(
    events: Iterable[Event],
    *,
    uri: str,
    title: str,
    home: str | None = None,
    updated: Time | None = None,
    hub: str | None = None,
    older: str | None = None,
) -> bytes:
    """The events as a JSON Feed, the newest first; each is an item whose id is the event's.

    A JSON Feed does not say when it is from: `updated` is taken, as in the other syntaxes, and not written.
    """
    feed: dict[str, Any] = {"version": "https://jsonfeed.org/version/1.1", "title": legal(title)}
    if home:
        feed["home_page_url"] = home
    if uri.startswith(("http://", "https://")):
        feed["feed_url"] = uri
    if older:
        feed["next_url"] = older
    if hub:
        feed["hubs"] = [{"type": "WebSub", "url": hub}]
    feed["items"] = [_item(entry) for entry in entries(events, uri=uri)]
    return json.dumps(feed, ensure_ascii=False, indent=1).encode() + b"\n"


def _item(entry: FeedEntry) -> dict[str, Any]:
    item = {"id": entry.id, "title": entry.headline}
    if entry.link:
        item["url"] = entry.link
    return item | {"content_text": entry.text, "date_published": rfc3339(entry.time), "tags": [entry.kind]}
