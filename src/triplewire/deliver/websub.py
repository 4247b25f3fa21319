"""WebSub (W3C): who subscribes to a feed is asked whether they meant it, and then gets what is new in it, pushed.

A subscription of WebSub is a delivery of the kind `websub`: its `url` is the callback, its `topic` the address of a
feed. Requests are kept in the settings of the delivery as `pending` until the callback has confirmed them, so none is
lost when a process ends; a renewal leaves the subscription as it is until then.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hmac import compare_digest
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

from triplewire.deliver.registry import refuse_more, time_told
from triplewire.deliver.vault import Vault
from triplewire.errors import BadRequest
from triplewire.feeds import FEEDS
from triplewire.model import Event, spelled
from triplewire.outbound import AddressRefused, Connections, Reach, Unreachable
from triplewire.store import DeliveryRecord, Store
from triplewire.wire.envelopes import Envelope, message_id

DAY = 86_400
LEAST, USUAL, MOST = 60, 10 * DAY, 90 * DAY
"""Seconds that a lease lasts: what is asked for is kept within these."""

_LONGEST_SECRET = 199
_POLITE = 5.0


@dataclass(frozen=True, slots=True)
class WebSubRequest:
    """What a subscriber asks for: a feed (`topic`) of a subscription in a syntax, at a callback; `by` an account."""

    mode: str
    callback: str
    topic: str
    subscription: str
    syntax: str
    hub: str
    lease: int = USUAL
    secret: str | None = None
    by: str | None = None


def accept(store: Store, request: WebSubRequest, now: float, vault: Vault) -> None:
    """Keep a request until it is verified; it has been accepted when this returns."""
    if request.secret is not None and not 0 < len(request.secret.encode()) <= _LONGEST_SECRET:
        raise BadRequest(f"hub.secret has between 1 and {_LONGEST_SECRET} bytes")
    lease = min(max(request.lease, LEAST), MOST)
    kept = None if request.secret is None else vault.seal(request.secret)
    pending = {"mode": request.mode, "lease": lease, "secret": kept}
    with store.writing() as writer:
        same = ("websub", request.callback, request.topic)
        there = writer.deliveries.of_subscription(request.subscription)
        known = [one for one in there if (one.kind, one.settings["url"], one.settings.get("topic")) == same]
        if known:
            writer.deliveries.put(replace(known[0], settings={**known[0].settings, "pending": pending}, due=0))
        elif request.mode == "subscribe":
            refuse_more(writer, request.subscription)
            settings = {
                "url": request.callback,
                "topic": request.topic,
                "syntax": request.syntax,
                "hub": request.hub,
                "pending": pending,
                **({} if request.by is None else {"by": request.by}),
            }
            made = DeliveryRecord(
                f"d-{uuid4().hex[:12]}", request.subscription, "websub", settings, [], time_told(now), state="verifying"
            )
            writer.deliveries.add(replace(made, cursor=writer.log.last_cursor()))


async def is_meant(connections: Connections, record: DeliveryRecord) -> tuple[bool | None, str]:
    """Ask the callback whether it wants what is pending; None if it could not be asked. And how that reads."""
    pending, challenge = record.settings["pending"], secrets.token_urlsafe(24)
    asked = {"hub.mode": pending["mode"], "hub.topic": record.settings["topic"], "hub.challenge": challenge}
    if pending["mode"] == "subscribe":
        asked["hub.lease_seconds"] = str(pending["lease"])
    try:
        reply = await connections.ask("GET", with_query(record.settings["url"], asked), {"Accept": "text/plain"})
    except Unreachable as error:
        return None, str(error)
    except AddressRefused as error:
        return False, f"not asked: {error}"
    if not reply.is_fine:
        return False, f"the callback did not confirm it: it says {reply.status}"
    if not compare_digest(reply.body.strip(), challenge.encode()):
        return False, "the callback did not confirm it: it did not repeat the challenge"
    return True, ""


async def tell_denied(record: DeliveryRecord, reach: Reach, reason: str) -> None:
    """Say to a subscriber that there is no subscription any more; once, whatever it answers."""
    connections = Connections(reach, seconds=_POLITE)
    asked = {"hub.mode": "denied", "hub.topic": record.settings["topic"], "hub.reason": reason}
    try:
        await connections.ask("GET", with_query(record.settings["url"], asked), {})
    except (Unreachable, AddressRefused):
        return
    finally:
        await connections.close()


def verified(record: DeliveryRecord, now: float) -> DeliveryRecord:
    """The subscription, as it is once its callback has confirmed it."""
    settings = dict(record.settings)
    pending = settings.pop("pending")
    settings["expires"] = int(1000 * (now + pending["lease"]))
    settings["secret"] = pending["secret"]
    active = replace(record, settings=settings, state="active", reason="")
    return replace(active, failures=0, failing_since=0, error="", due=0)


def content(record: DeliveryRecord, events: list[Event], title: str) -> Envelope:
    """What is new in a feed: a feed of the same syntax with these events alone."""
    settings = record.settings
    syntax = FEEDS[settings["syntax"]]
    body = syntax.write(events, uri=settings["topic"], title=title, hub=settings["hub"])
    links = f'<{settings["hub"]}>; rel="hub", <{settings["topic"]}>; rel="self"'
    first, last = events[0].cursor, events[-1].cursor
    id = message_id(record.subscription, last if first == last else f"{first}-{last}")
    happened = spelled(events[-1].time)
    return Envelope(id, last, syntax.media_type, body, (("Link", links),), happened, len(events))


def with_query(url: str, added: Mapping[str, str]) -> str:
    """A url with more parameters after its own, which stay.

    >>> with_query("https://a.example/cb?x=1", {"hub.mode": "denied"})
    'https://a.example/cb?x=1&hub.mode=denied'
    """
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *added.items()])
    return urlunsplit(parts._replace(query=query))
