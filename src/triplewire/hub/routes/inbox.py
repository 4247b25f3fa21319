"""The inbox: the events of a subscription as Linked Data Notifications, for consumers of these (W3C LDN)."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from triplewire.errors import UnknownDocument
from triplewire.hub.routes.events import After
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import Reading, address_of
from triplewire.model import Event
from triplewire.wire.envelopes import activity

router = APIRouter(prefix="/v1", tags=["feeds"])

_JSON_LD = "application/ld+json"
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "JSON-LD.", "content": {_JSON_LD: {"schema": {"type": "object"}}}}
}
_LDP = "http://www.w3.org/ns/ldp#"


@router.get("/subscriptions/{id}/inbox", summary="List notifications", response_class=Response, responses=_ANSWER)
async def inbox(
    request: Request, access: Reading, id: Id, after: After = 0, limit: Annotated[int, Query(ge=1, le=1_000)] = 100
) -> Response:
    """The notifications that follow a cursor, as an LDP container; `next` leads to those that follow."""
    place = _place(request, id)
    found = await run_in_threadpool(access.see, id, partial(access.tenant.hub.events, id, after=after, limit=limit))
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
    "/subscriptions/{id}/inbox/{cursor}", summary="Read a notification", response_class=Response, responses=_ANSWER
)
async def notification(
    request: Request,
    access: Reading,
    id: Id,
    cursor: Annotated[int, Path(ge=1, le=2**60, description="The cursor of the event.")],
) -> Response:
    """An event as an activity: something was added to the answers, updated among them, or removed from them."""
    place = f"{_place(request, id)}/{cursor}"

    def found() -> Event | None:
        hub = access.tenant.hub
        events = access.see(id, lambda: hub.events(id, after=cursor - 1, limit=1))
        return events[0] if events and events[0].cursor == cursor else None

    told = await run_in_threadpool(found)
    if told is None:
        raise UnknownDocument(place)
    return _json_ld(activity(told, id=place), {})


def _place(request: Request, id: str) -> str:
    return f"{address_of(request)}/v1/subscriptions/{quote(id, safe='')}/inbox"


def _json_ld(told: dict[str, Any], headers: dict[str, str]) -> Response:
    return Response(json.dumps(told, ensure_ascii=False), media_type=_JSON_LD, headers=headers)
