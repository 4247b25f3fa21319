"""Feeds: the events of a subscription for feed readers, also at secret addresses, and a WebSub hub that pushes them.

The inbox of a subscription has the same as Linked Data Notifications (W3C LDN).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from triplewire.deliver import websub
from triplewire.deliver.capabilities import SECRET_FEEDS, FeedAddress, FeedAddresses
from triplewire.deliver.inboxes import INBOX
from triplewire.deliver.registry import Deliveries
from triplewire.deliver.targets import refuse_bad_url, refuse_unreachable
from triplewire.documents.formats import essence
from triplewire.errors import BadRequest, UnknownDocument, UnsupportedMediaType
from triplewire.feeds import FEEDS
from triplewire.hub.bodies import body_of
from triplewire.hub.description import TEXT, body, header
from triplewire.hub.messages import NewFeedAddress
from triplewire.hub.negotiation import best
from triplewire.hub.reception import UNKNOWN_BYTES
from triplewire.hub.routes.events import After
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import Admission, Reading, address_of, by_capability, reading, service_of
from triplewire.model import Event
from triplewire.store import DeliveryRecord
from triplewire.wire.envelopes import activity

router = APIRouter(prefix="/v1", tags=["feeds"])

_FEED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The feed.", "content": {each.media_type: TEXT for each in FEEDS.values()}},
    304: {"description": "It is what If-None-Match or If-Modified-Since names."},
}
_CONDITIONS = {
    "parameters": [
        header("If-None-Match", "Only if it is none of these entity tags."),
        header("If-Modified-Since", "Only if there is something newer."),
    ]
}
_FORM = "application/x-www-form-urlencoded"
_WEBSUB = {
    "type": "object",
    "required": ["hub.mode", "hub.topic", "hub.callback"],
    "properties": {
        "hub.mode": {"type": "string", "enum": ["subscribe", "unsubscribe"]},
        "hub.topic": {"type": "string", "description": "The address of a feed of this hub."},
        "hub.callback": {"type": "string"},
        "hub.lease_seconds": {"type": "string"},
        "hub.secret": {"type": "string"},
    },
}
_JSON_LD = "application/ld+json"
_NOTIFIED: dict[int | str, dict[str, Any]] = {
    200: {"description": "JSON-LD.", "content": {_JSON_LD: {"schema": {"type": "object"}}}}
}
_LDP = "http://www.w3.org/ns/ldp#"
_BY_TYPE = {syntax.media_type: name for name, syntax in FEEDS.items()}

_USUAL = 50
SyntaxName = Literal["atom", "rss1", "rss2", "json"]


Syntax = Annotated[SyntaxName | None, Query(description="Which syntax; otherwise as Accept says.")]
Before = Annotated[int | None, Query(ge=1, le=2**60, description="Only events before this cursor.")]
Limit = Annotated[int, Query(ge=1, le=1_000)]


@router.get(
    "/subscriptions/{id}/feed",
    summary="Read events as a feed",
    response_class=Response,
    responses=_FEED,
    openapi_extra=_CONDITIONS,
)
async def feed(
    request: Request, access: Reading, id: Id, syntax: Syntax = None, before: Before = None, limit: Limit = _USUAL
) -> Response:
    """The newest events first, as Atom, RSS 1.0, RSS 2.0 or JSON Feed; `next` leads to older ones."""
    links = {INBOX: _place(request, id, "inbox")}
    return await _answered(request, access, id, FeedRequest(_place(request, id, "feed"), syntax, before, limit, links))


def _place(request: Request, id: str, what: str) -> str:
    return f"{address_of(request)}/v1/subscriptions/{quote(id, safe='')}/{what}"


@router.get(
    "/feeds/{capability}", summary="Read a feed by its secret address", response_class=Response, responses=_FEED
)
async def secret_feed(
    request: Request,
    capability: Annotated[str, Path(max_length=200, description="The secret part of the address.")],
    syntax: Syntax = None,
    before: Before = None,
    limit: Limit = _USUAL,
) -> Response:
    """The same, for readers that know the address; no token is needed."""
    access, id = await by_capability(request, capability)
    place = f"{address_of(request)}{SECRET_FEEDS}{capability}"
    answer = await _answered(request, access, id, FeedRequest(place, syntax, before, limit, {}))
    answer.headers["Referrer-Policy"] = "no-referrer"  # what the feed links to must not learn the address
    return answer


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """What of a feed is asked for, at which place; `links` are those that it has besides its own."""

    place: str
    syntax: SyntaxName | None
    before: int | None
    limit: int
    links: Mapping[str, str]

    def address(self, **other: object) -> str:
        """The address of this page, or of another one of the feed."""
        asked: dict[str, object] = {
            "syntax": self.syntax,
            "before": self.before,
            "limit": self.limit if self.limit != _USUAL else None,
        }
        query = urlencode({name: value for name, value in (asked | other).items() if value is not None})
        return f"{self.place}?{query}" if query else self.place


async def _answered(request: Request, access: Admission, id: str, asked: FeedRequest) -> Response:
    name = asked.syntax or _BY_TYPE[best(request.headers.get("accept"), [*_BY_TYPE])]
    newest_events = partial(access.hub.newest, id, before=asked.before, limit=asked.limit)
    events = await run_in_threadpool(access.see, id, newest_events)
    title = (await run_in_threadpool(access.hub.subscription, id)).name
    older = asked.address(before=events[-1].cursor) if len(events) == asked.limit else None
    hub = f"{address_of(request)}/v1/websub"
    newest = events[0].time if events else None
    mark = f"{events[0].cursor if events else 0} {len(events)} {name} {asked.address()} {title}"
    links = {"self": asked.address(), "hub": hub, **asked.links} | ({"next": older} if older else {})
    headers = {
        "ETag": f'"{sha256(mark.encode()).hexdigest()[:32]}"',
        "Vary": "Accept",
        "Cache-Control": "private, no-cache",
        "Link": ", ".join(f'<{address}>; rel="{relation}"' for relation, address in links.items()),
    }
    if newest is not None:
        headers["Last-Modified"] = format_datetime(newest, usegmt=True)
    if _is_known(headers, request.headers.get("if-none-match"), request.headers.get("if-modified-since")):
        return Response(status_code=304, headers=headers)
    write = FEEDS[name].write

    def written() -> bytes:
        uri = asked.address(before=None, limit=None)
        return write(events, uri=uri, title=title, hub=hub, older=older)

    return Response(await run_in_threadpool(written), media_type=FEEDS[name].media_type, headers=headers)


@router.post(
    "/websub",
    summary="Subscribe to a feed (WebSub)",
    status_code=202,
    response_class=Response,
    openapi_extra=body(**{_FORM: {"schema": _WEBSUB}}),
)
async def subscribe(request: Request) -> Response:
    """The WebSub hub of the feeds: the request is kept, and the callback is asked whether it is meant.

    A topic that is the secret address of a feed needs no token.
    """
    kind = essence(request.headers.get("content-type"))
    if kind != _FORM:
        raise UnsupportedMediaType(f"a request of WebSub is sent as {_FORM}, not as {kind or 'nothing'}")
    service = service_of(request)
    settings = service.settings
    most = min(UNKNOWN_BYTES, settings.request_bytes)  # it says itself which feed it is about, and so who may ask
    sent = await body_of(request, most=most, seconds=settings.request_seconds)
    try:
        given = dict(parse_qsl(sent.decode(), keep_blank_values=True, max_num_fields=100))
    except (UnicodeDecodeError, ValueError):
        raise BadRequest("this is no form: it is sent as name=value&name=value in UTF-8") from None
    access, subscription, syntax = await _topic(request, given.get("hub.topic", ""))
    wanted = replace(_wanted(given, address_of(request), subscription, syntax), by=access.account.id or None)
    await run_in_threadpool(access.hub.subscription, wanted.subscription)  # says that there is none
    await run_in_threadpool(partial(access.require_sight, wanted.subscription, for_good=True))
    refuse_bad_url(wanted.callback)
    await refuse_unreachable(wanted.callback, settings.reachable)
    await run_in_threadpool(websub.accept, access.hub.store, wanted, time.time(), access.vault)
    await service.ring(access.tenant)
    return Response(status_code=202)


def _wanted(given: Mapping[str, str], base: str, id: str, syntax: str) -> websub.WebSubRequest:
    mode, topic, callback = (given.get(f"hub.{name}", "") for name in ("mode", "topic", "callback"))
    if mode not in ("subscribe", "unsubscribe"):
        raise BadRequest(f"hub.mode is subscribe or unsubscribe, not {mode!r}")
    lease = given.get("hub.lease_seconds") or str(websub.USUAL)
    if not (lease.isascii() and lease.isdigit() and len(lease) < 12):
        raise BadRequest(f"hub.lease_seconds is a number of seconds, not {lease[:40]!r}")
    secret = given.get("hub.secret")
    return websub.WebSubRequest(mode, callback, topic, id, syntax, f"{base}/v1/websub", int(lease), secret)


async def _topic(request: Request, topic: str) -> tuple[Admission, str, str]:
    """The subscription whose feed a topic is, if the caller may read it, and the syntax; else BadRequest."""
    base = address_of(request)
    try:
        parts = urlsplit(topic)
        path = parts.path.removeprefix(urlsplit(base).path).split("/")
        is_ours = topic.startswith(f"{base}/v1/")
    except ValueError:
        is_ours, path = False, []
    is_secret = is_ours and len(path) == 4 and f"/v1/{path[2]}/" == SECRET_FEEDS
    access, id = await by_capability(request, path[3]) if is_secret else (await reading(request), "")
    if not is_secret:
        if not is_ours or len(path) != 5 or (path[2], path[4]) != ("subscriptions", "feed"):
            raise BadRequest(f"hub.topic is the address of a feed of this hub, {base}/v1/subscriptions/ID/feed")
        id = unquote(path[3])
    syntax = parse_qs(parts.query).get("syntax", ["atom"])[0]
    if syntax not in FEEDS:
        raise BadRequest(f"there is no feed in the syntax {syntax!r}; there are: {', '.join(FEEDS)}")
    return access, id, syntax


def _is_known(headers: Mapping[str, str], match: str | None, since: str | None) -> bool:
    """Whether the client has this already: by its tag, or, without one, by its time (RFC 9110, section 13.2.2)."""
    if match is not None:
        return match.strip() == "*" or headers["ETag"] in [tag.strip().removeprefix("W/") for tag in match.split(",")]
    if since is None or "Last-Modified" not in headers:
        return False
    try:
        return parsedate_to_datetime(headers["Last-Modified"]) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):
        return False


# -- secret addresses, for the owner of the subscription


@router.post("/subscriptions/{id}/feed-address", summary="Make a secret address for the feed", status_code=201)
async def make(request: Request, access: Reading, id: Id) -> NewFeedAddress:
    """An address at which the feed is read without a token; told this once. One that was there before is revoked."""
    made = await run_in_threadpool(lambda: _addresses(access, id).make(id, access.account.id or None))
    await _deny(access, id)
    return NewFeedAddress(address=f"{address_of(request)}{SECRET_FEEDS}{made}")


@router.get("/subscriptions/{id}/feed-address", summary="Is there a secret address?")
def read(access: Reading, id: Id) -> FeedAddress:
    """When it was made; what it is, nobody can tell any more."""
    return _addresses(access, id).kept(id)


@router.delete("/subscriptions/{id}/feed-address", summary="Revoke the secret address", status_code=204)
async def revoke(access: Reading, id: Id) -> None:
    """The address leads nowhere from now on, and its subscribers by WebSub are told."""
    await run_in_threadpool(lambda: _addresses(access, id).revoke(id))
    await _deny(access, id)


def _addresses(access: Admission, id: str) -> FeedAddresses:
    access.require_owner(access.hub.subscription(id).owner)
    return FeedAddresses(access.hub.store, access.tenant.name)


async def _deny(access: Admission, id: str) -> None:
    """End what was subscribed to by an address that is gone."""

    def ended() -> list[DeliveryRecord]:
        deliveries = Deliveries(access.hub.store, vault=access.vault)
        found = [each for each in deliveries.of_subscription(id) if each.kind == "websub"]
        gone = [deliveries.of(each.id) for each in found if SECRET_FEEDS in (each.topic or "")]
        for record in gone:
            deliveries.remove(record.id)
        return gone

    for record in await run_in_threadpool(ended):
        await websub.tell_denied(record, access.service.settings.reachable, "the address of the feed was revoked")


# -- notifications


@router.get("/subscriptions/{id}/inbox", summary="List notifications", response_class=Response, responses=_NOTIFIED)
async def inbox(
    request: Request, access: Reading, id: Id, after: After = 0, limit: Annotated[int, Query(ge=1, le=1_000)] = 100
) -> Response:
    """The notifications that follow a cursor, as an LDP container; `next` leads to those that follow."""
    place = _place(request, id, "inbox")
    found = await run_in_threadpool(access.see, id, partial(access.hub.events, id, after=after, limit=limit))
    told = {
        "@context": _LDP.removesuffix("#"),
        "@id": place,
        "@type": "Container",
        "contains": [f"{place}/{event.cursor}" for event in found],
    }
    headers = {"Link": f'<{_LDP}Container>; rel="type"', "Allow": "GET, HEAD"}
    if len(found) == limit:
        headers["Link"] += f', <{place}?after={found[-1].cursor}&limit={limit}>; rel="next"'
    return _json_ld(told, headers)


@router.get(
    "/subscriptions/{id}/inbox/{cursor}", summary="Read a notification", response_class=Response, responses=_NOTIFIED
)
async def notification(
    request: Request,
    access: Reading,
    id: Id,
    cursor: Annotated[int, Path(ge=1, le=2**60, description="The cursor of the event.")],
) -> Response:
    """An event as an activity: something was added to the answers, updated among them, or removed from them."""
    place = f"{_place(request, id, 'inbox')}/{cursor}"

    def found() -> Event | None:
        events = access.see(id, lambda: access.hub.events(id, after=cursor - 1, limit=1))
        return events[0] if events and events[0].cursor == cursor else None

    told = await run_in_threadpool(found)
    if told is None:
        raise UnknownDocument(place)
    return _json_ld(activity(told, id=place), {})


def _json_ld(told: dict[str, Any], headers: dict[str, str]) -> Response:
    return Response(json.dumps(told, ensure_ascii=False), media_type=_JSON_LD, headers=headers)
