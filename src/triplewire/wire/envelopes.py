"""Envelopes: an event as a CloudEvent (structured JSON), or as an activity in JSON-LD.

The id of a message is the subscription's and the cursor: the same for every attempt, every process and every delivery,
so a receiver that keeps the last ones hears nothing twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pyoxigraph import NamedNode

from triplewire.model import Event, spelled

CLOUD_EVENT = "application/cloudevents+json"
ACTIVITY = 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
_CONTEXT = "https://www.w3.org/ns/activitystreams"
_ACTS = {"matched": "Add", "changed": "Update", "unmatched": "Remove"}
_SAID = {"matched": "now answers", "changed": "has changed, and answers", "unmatched": "answers no longer"}


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is sent: a stable id, the cursor that is reached when it arrived, a body, and headers of its own.

    `lists` is the number of the access lists with which its events were read; None if it is none of the log's.
    """

    id: str
    cursor: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    happened: str = ""
    events: int = 1
    lists: int | None = None


def message_id(subscription: str, cursor: int | str) -> str:
    """The id of a message: letters, digits and a few signs, without a full stop, as Standard Webhooks asks.

    >>> message_id("für Maja", 7)
    'f%C3%BCr%20Maja:7'
    """
    return f"{quote(subscription, safe='').replace('.', '%2E')}:{cursor}"


def source_of(subscription: str) -> str:
    """Where events of a subscription come from, as a uri."""
    return f"urn:triplewire:subscription:{quote(subscription, safe='')}"


def cloud_event(event: Event, *, contents: bool = False) -> Envelope:
    """An event as a CloudEvent; `contents` adds what was said of its resources before and after."""
    id = message_id(event.subscription, event.cursor)
    about = next((term.value for term in event.row.values() if isinstance(term, NamedNode)), None)
    time = spelled(event.time)
    told = envelope(id, f"triplewire.{event.kind}", event.subscription, time, event.as_dict(contents=contents))
    if about is not None:
        told["subject"] = about
    told["sequence"] = f"{event.cursor:019}"
    return Envelope(id, event.cursor, CLOUD_EVENT, _bytes(told), happened=time)


def digest_event(subscription: str, first: int, last: int, time: str, count: int, data: dict[str, Any]) -> Envelope:
    """A digest as a CloudEvent."""
    id = message_id(subscription, f"{first}-{last}")
    told = envelope(id, "triplewire.digest", subscription, time, data)
    return Envelope(id, last, CLOUD_EVENT, _bytes(told), happened=time, events=count)


def ping_event(subscription: str, delivery: str, number: int, time: str) -> Envelope:
    """Something to try a delivery with; it is no event."""
    id = message_id(subscription, f"ping-{number}")
    data = {"subscription": subscription, "delivery": delivery, "text": "This is a test. Nothing happened."}
    told = envelope(id, "triplewire.ping", subscription, time, data)
    return Envelope(id, 0, CLOUD_EVENT, _bytes(told), happened=time)


def envelope(id: str, kind: str, subscription: str, time: str, data: dict[str, Any]) -> dict[str, Any]:
    """A CloudEvent 1.0."""
    return {
        "specversion": "1.0",
        "id": id,
        "source": source_of(subscription),
        "type": kind,
        "time": time,
        "datacontenttype": "application/json",
        "data": data,
    }


def activity(event: Event, *, id: str | None = None) -> dict[str, Any]:
    """An event as an activity of Activity Streams 2.0: the row's resources are added to the subscription's answers,
    updated among them, or removed from them."""
    resources = [term.value for term in event.row.values() if isinstance(term, NamedNode)]
    row = ", ".join(f"{name} = {term}" for name, term in event.row.items())
    told: dict[str, Any] = {
        "@context": [_CONTEXT, {"triplewire": "urn:triplewire:terms:", "cursor": "triplewire:cursor"}],
        "id": id or f"{source_of(event.subscription)}:{event.cursor}",
        "type": _ACTS[event.kind],
        "actor": {"type": "Service", "id": "urn:triplewire:hub", "name": "Triplewire"},
        "summary": f"{row} {_SAID[event.kind]} {event.subscription}",
        "object": resources[0] if len(resources) == 1 else resources or {"type": "Object", "name": row},
        "target": {"type": "Collection", "id": source_of(event.subscription), "name": event.subscription},
        "published": spelled(event.time),
        "cursor": event.cursor,
    }
    if event.kind == "unmatched":
        told["origin"] = told.pop("target")
    return told


def activity_message(event: Event) -> Envelope:
    """An event as a notification to an inbox."""
    id = message_id(event.subscription, event.cursor)
    return Envelope(id, event.cursor, ACTIVITY, _bytes(activity(event)), happened=spelled(event.time))


def _bytes(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
