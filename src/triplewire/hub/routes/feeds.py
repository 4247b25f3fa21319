"""Feeds: the events of a subscription for feed readers, and a WebSub hub that pushes them (G4)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from triplewire.deliver import websub
from triplewire.deliver.inboxes import INBOX
from triplewire.deliver.targets import refuse_bad_url, refuse_unreachable
from triplewire.errors import BadRequest, UnsupportedMediaType
from triplewire.feeds import FEEDS
from triplewire.feeds.entries import moment
from triplewire.hub.bodies import body_of
from triplewire.hub.negotiation import best
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import Access, Reading, address_of
from triplewire.model import Event

router = APIRouter(prefix="/v1", tags=["feeds"])

_TEXT = {"schema": {"type": "string"}}
_FEED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The feed.", "content": {each.media_type: _TEXT for each in FEEDS.values()}},
    304: {"description": "It is what If-None-Match or If-Modified-Since names."},
}
_FORM = "application/x-www-form-urlencoded"
_WEBSUB_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            _FORM: {
                "schema": {
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
            }
        },
    }
}
_BY_TYPE = {syntax.media_type: name for name, syntax in FEEDS.items()}

SyntaxName = Literal["atom", "rss1", "rss2", "json"]


@router.get("/subscriptions/{id}/feed", summary="Read events as a feed", response_class=Response, responses=_FEED)
async def feed(
    request: Request,
    access: Reading,
    id: Id,
    syntax: Annotated[SyntaxName | None, Query(description="Which syntax; otherwise as Accept says.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**60, description="Only events before this cursor.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    accept: Annotated[str | None, Header()] = None,
    if_none_match: Annotated[str | None, Header()] = None,
    if_modified_since: Annotated[str | None, Header()] = None,
) -> Response:
    """The newest events first, as Atom, RSS 1.0, RSS 2.0 or JSON Feed; `next` leads to older ones."""
    name = syntax or _BY_TYPE[best(accept, [*_BY_TYPE])]
    asked = {"syntax": syntax, "before": before, "limit": limit if limit != 50 else None}
    base = address_of(request)
    place = f"{base}/v1/subscriptions/{quote(id, safe='')}/feed"
    events, times = await run_in_threadpool(_newest, access, id, before, limit)
    older = _with(place, asked | {"before": events[-1].cursor}) if len(events) == limit else None
    hub = f"{base}/v1/websub"
    newest = moment(times[events[0].batch]) if events else None
    mark = f"{events[0].cursor if events else 0} {len(events)} {name} {place} {asked}"
    headers = {
        "ETag": f'"{sha256(mark.encode()).hexdigest()[:32]}"',
        "Vary": "Accept",
        "Cache-Control": "no-cache",
        "Link": _links(_with(place, asked), hub, older, f"{base}/v1/subscriptions/{quote(id, safe='')}/inbox"),
    }
    if newest is not None:
        headers["Last-Modified"] = format_datetime(newest, usegmt=True)
    if _is_known(headers, if_none_match, if_modified_since):
        return Response(status_code=304, headers=headers)
    write = FEEDS[name].write

    def written() -> bytes:
        uri = _with(place, {"syntax": syntax})
        return write(events, uri=uri, title=id, times=times, hub=hub, older=older)

    return Response(await run_in_threadpool(written), media_type=FEEDS[name].media_type, headers=headers)


@router.post(
    "/websub",
    summary="Subscribe to a feed (WebSub)",
    status_code=202,
    response_class=Response,
    openapi_extra=_WEBSUB_BODY,
)
async def subscribe(request: Request, access: Reading) -> Response:
    """The WebSub hub of the feeds: the request is kept, and the callback is asked whether it is meant."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise UnsupportedMediaType(f"a request of WebSub is sent as {_FORM}, not as {kind or 'nothing'}")
    settings = access.service.settings
    body = await body_of(request, most=settings.request_bytes, seconds=settings.request_seconds)
    try:
        given = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
    except (UnicodeDecodeError, ValueError):
        raise BadRequest("this is no form: it is sent as name=value&name=value in UTF-8") from None
    wanted = _wanted(given, address_of(request))
    await run_in_threadpool(access.tenant.hub.subscription, wanted.subscription)  # says that there is none
    await run_in_threadpool(partial(access.require_sight, wanted.subscription, for_good=True))
    refuse_bad_url(wanted.callback)
    await refuse_unreachable(wanted.callback, settings.reachable)
    await run_in_threadpool(websub.accept, access.tenant.hub.store, wanted, time.time())
    await access.service.ring(access.tenant)
    return Response(status_code=202)


def _wanted(given: Mapping[str, str], base: str) -> websub.Request:
    mode, topic, callback = (given.get(f"hub.{name}", "") for name in ("mode", "topic", "callback"))
    if mode not in ("subscribe", "unsubscribe"):
        raise BadRequest(f"hub.mode is subscribe or unsubscribe, not {mode!r}")
    lease = given.get("hub.lease_seconds") or str(websub.USUAL)
    if not (lease.isascii() and lease.isdigit() and len(lease) < 12):
        raise BadRequest(f"hub.lease_seconds is a number of seconds, not {lease[:40]!r}")
    id, syntax = _topic(topic, base)
    secret = given.get("hub.secret")
    return websub.Request(mode, callback, topic, id, syntax, f"{base}/v1/websub", int(lease), secret)


def _topic(topic: str, base: str) -> tuple[str, str]:
    """The subscription whose feed a topic is, and the syntax; BadRequest if it is no feed of this hub."""
    try:
        parts = urlsplit(topic)
        path = parts.path.removeprefix(urlsplit(base).path).split("/")
        is_ours = topic.startswith(f"{base}/v1/subscriptions/")
    except ValueError:
        is_ours, path = False, []
    if not is_ours or len(path) != 5 or path[4] != "feed":
        raise BadRequest(f"hub.topic is the address of a feed of this hub, {base}/v1/subscriptions/ID/feed")
    syntax = parse_qs(parts.query).get("syntax", ["atom"])[0]
    if syntax not in FEEDS:
        raise BadRequest(f"there is no feed in the syntax {syntax!r}; there are: {', '.join(FEEDS)}")
    return unquote(path[3]), syntax


def _newest(access: Access, id: str, before: int | None, limit: int) -> tuple[list[Event], dict[str, str]]:
    hub = access.tenant.hub
    events = hub.newest(id, before=before, limit=limit)
    batches = [hub.batch(name) for name in {event.batch for event in events}]
    return access.let_see(id, (events, {batch.id: batch.committed for batch in batches if batch is not None}))


def _with(place: str, asked: Mapping[str, object]) -> str:
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    return f"{place}?{query}" if query else place


def _links(own: str, hub: str, older: str | None, inbox: str) -> str:
    found = {"self": own, "hub": hub, INBOX: inbox} | ({"next": older} if older else {})
    return ", ".join(f'<{address}>; rel="{relation}"' for relation, address in found.items())


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
