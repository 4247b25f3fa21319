"""What a delivery says of the events that are next: a kind and a page in, messages out."""

from __future__ import annotations

from triplewire.deliver import websub
from triplewire.deliver.digests import digest
from triplewire.engine.inspect.events import LogPage
from triplewire.model import spelled
from triplewire.store import DeliveryRecord
from triplewire.wire.envelopes import Envelope, activity_message, cloud_event, digest_event

AT_ONCE = {"webhook": 50, "ldn": 50, "websub": 100, "digest": 2_000}
"""So many events are read at a time; of a digest and of WebSub content, so many are in one."""


def messages(record: DeliveryRecord, page: LogPage) -> list[Envelope]:
    """The messages for these events, in order."""
    if not page.events:
        return []
    if record.kind == "digest":
        return [_digest(record, page)]
    if record.kind == "websub":
        return [websub.content(record, page.events, page.title)]
    if record.kind == "ldn":
        return [activity_message(event) for event in page.events]
    contents = bool(record.settings.get("contents"))
    return [cloud_event(event, contents=contents) for event in page.events]


def _digest(record: DeliveryRecord, page: LogPage) -> Envelope:
    """What has happened up to the end of the stretch; `until` fixes it, so that the same is sent again after a failure.

    Where there is more than goes into one, the next follows at once, and `more` says so.
    """
    events = [event for event in page.events if event.cursor <= record.until] or page.events
    first, last = events[0], events[-1]
    time = spelled(last.time)
    data = {
        "subscription": record.subscription,
        "title": page.title,
        "every": record.settings["every"],
        "from": spelled(first.time),
        "until": time,
        "after": record.cursor,
        "cursor": last.cursor,
        "more": len(page.events) == AT_ONCE["digest"],
        **digest(events),
    }
    return digest_event(record.subscription, first.cursor, last.cursor, time, len(events), data)
