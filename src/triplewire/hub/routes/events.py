"""Events: read from a cursor, waited for, or followed as a stream of Server-Sent Events (N8, X7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse

from triplewire.errors import BadRequest, ServiceUnavailable, TriplewireError, UnknownSubscription
from triplewire.hub.downloads import FILES, PAGE, Accept, DownloadSource, FormatName, download, wanted
from triplewire.hub.messages import Cursor
from triplewire.hub.routes.subscriptions import Id, queries_of
from triplewire.hub.service import Admission, Reading
from triplewire.model import Event
from triplewire.tables import EventLayout
from triplewire.wire.events import EventPage

router = APIRouter(prefix="/v1", tags=["events"])

_PAGE = 100
_STILL_HERE = 15.0
_NOT_BUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

After = Annotated[Cursor, Query(description="The cursor of the last event that is known.")]
Since = Annotated[datetime | None, Query(description="Only events committed then or later; without a zone, in UTC.")]
Until = Annotated[datetime | None, Query(description="Only events committed before; without a zone, in UTC.")]
Contents = Annotated[bool, Query(description="With the content before and after.")]


@router.get(
    "/subscriptions/{id}/events",
    summary="Read events",
    response_model=EventPage,
    responses={200: {"content": FILES}},
)
async def events(
    request: Request,
    access: Reading,
    id: Id,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Events on a page of JSON.")] = _PAGE,
    wait: Annotated[float, Query(ge=0, le=3_600, description="Seconds to wait for an event if there is none.")] = 0,
    contents: Contents = False,
    since: Since = None,
    until: Until = None,
    format: FormatName = None,
    accept: Accept = None,
) -> Response:
    """The events that follow a cursor, in order: a page of JSON, or all of them as a file.

    A client that asks on from `next` misses nothing and gets nothing twice.
    """
    chosen = wanted(format, accept)
    if chosen is not None:
        source = await run_in_threadpool(_source, access, id, after, contents, since, until)
        return await download(access, id, chosen, source)
    loop = asyncio.get_running_loop()
    give_up = loop.time() + min(wait, access.service.settings.longest_wait)
    read = partial(_told, access, id, after, limit, contents, since, until)
    while True:
        queries = await run_in_threadpool(_heard, access, id) if wait else ()  # each time: it may have been edited
        with access.tenant.bell.listening(queries) as rung:
            await access.require_known()
            found = await run_in_threadpool(access.see, id, read)
            left = give_up - loop.time()
            if found or left <= 0 or access.service.is_stopping or await request.is_disconnected():
                told = {"events": found, "next": found[-1]["cursor"] if found else after}
                return JSONResponse(told, headers={"Vary": "Accept"})
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await rung.wait()


@router.get(
    "/subscriptions/{id}/stream",
    summary="Follow events",
    response_class=StreamingResponse,
    responses={200: {"description": "Events as they happen.", "content": {"text/event-stream": {}}}},
)
async def stream(
    access: Reading,
    id: Id,
    after: After = 0,
    contents: Contents = False,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event that arrived; counts more than `after`.")
    ] = None,
) -> StreamingResponse:
    """Server-Sent Events: those that follow the cursor, then each new one. The id of an event is its cursor."""
    if last_event_id is not None:
        after = _cursor(last_event_id)
    service = access.service
    if service.streams >= service.settings.streams:
        raise ServiceUnavailable(f"{service.streams} event streams are open, and there are no more; try again later")
    queries = await run_in_threadpool(_heard, access, id)
    return StreamingResponse(
        _followed(access, id, queries, after, contents), media_type="text/event-stream", headers=_NOT_BUFFERED
    )


async def _followed(
    access: Admission, id: str, queries: tuple[int, ...], after: int, contents: bool
) -> AsyncIterator[str]:
    service = access.service
    service.streams += 1
    service.metrics.streams.set(service.streams)
    try:
        yield "retry: 2000\n\n"
        while not service.is_stopping:
            with access.tenant.bell.listening(queries) as rung:
                try:
                    if not await access.is_still_known():
                        return
                    await run_in_threadpool(access.require_sight, id)
                    found = await access.tenant.together.ask(
                        (id, after, contents), partial(_lines, access, id, after, contents)
                    )
                    if found.text:  # the same for all clients, so each is asked for itself
                        await run_in_threadpool(access.require_sight, id)
                except UnknownSubscription:
                    yield "event: gone\ndata: the subscription was removed\n\n"
                    return
                except TriplewireError:  # the client comes back, and then the store may be, too
                    return
                if found.text:
                    yield found.text
                    after = found.cursor
                if found.is_full or found.queries != queries:
                    queries = found.queries
                    continue
                try:
                    async with asyncio.timeout(_STILL_HERE):
                        await rung.wait()
                except TimeoutError:
                    yield ": still here\n\n"
    finally:
        service.streams -= 1
        service.metrics.streams.set(service.streams)


class _Lines(NamedTuple):
    """Some events as text, the last cursor, and to which queries to listen for more."""

    text: str
    cursor: int
    is_full: bool
    queries: tuple[int, ...]


def _lines(access: Admission, id: str, after: int, contents: bool) -> _Lines:
    """A page of events as a stream tells them: the same text for everybody who is as far."""
    queries = queries_of(access, id)  # before its events: an edit between the two rings for these
    found = _told(access, id, after, _PAGE, contents)
    text = "".join(
        f"id: {event['cursor']}\nevent: {event['kind']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
        for event in found
    )
    return _Lines(text, found[-1]["cursor"] if found else after, len(found) == _PAGE, queries)


def _source(
    access: Admission, id: str, after: int, contents: bool, since: datetime | None, until: datetime | None
) -> DownloadSource:
    """All events that follow a cursor, between two times."""
    hub = access.tenant.hub
    layout = EventLayout(hub.log_columns(id), contents=contents)

    def page(cursor: int) -> tuple[list[Event], int | None]:
        found = hub.events(id, after=cursor, limit=PAGE, since=since, until=until)
        return found, found[-1].cursor if len(found) == PAGE else None

    return DownloadSource("events", layout, page, after)


def _heard(access: Admission, id: str) -> tuple[int, ...]:
    """See `queries_of`; for a caller who may hear the subscription."""
    return access.see(id, lambda: queries_of(access, id))


def _told(
    access: Admission,
    id: str,
    after: int,
    limit: int,
    contents: bool,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[dict[str, Any]]:
    found: list[Event] = access.tenant.hub.events(id, after=after, limit=limit, since=since, until=until)
    return [event.as_dict(contents=contents) for event in found]


def _cursor(text: str) -> int:
    if not text.strip().isdecimal():
        raise BadRequest(f"Last-Event-ID is {text!r}; it must be the id of an event, which is a number")
    return min(int(text[:19]), 1 << 60)
