"""Events: read from a cursor, waited for, or followed as a stream; and those of all subscriptions (N8, X7, G6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse

from triplewire.engine.connection import record_of
from triplewire.errors import BadRequest, ServiceUnavailable, TriplewireError, UnknownSubscription
from triplewire.hub.downloads import FILES, PAGE, Accept, DownloadSource, FormatName, download, wanted
from triplewire.hub.messages import Cursor, InboxMark, Name
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.subscriptions import Id, Words, queries_of
from triplewire.hub.service import Admission, Reading
from triplewire.model import Event
from triplewire.tables import EventLayout
from triplewire.wire.events import EventPage, InboxTold, NewsTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["events"])

_PAGE = 100
STILL_HERE = 15.0
"""Seconds after which a stream on which nothing happens says so."""
NOT_BUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Headers of a stream."""

After = Annotated[Cursor, Query(description="The cursor of the last event that is known.")]
Since = Annotated[datetime | None, Query(description="Only events committed then or later; without a zone, in UTC.")]
Until = Annotated[datetime | None, Query(description="Only events committed before; without a zone, in UTC.")]
Contents = Annotated[bool, Query(description="With the content before and after.")]
Kinds = Annotated[
    list[Literal["matched", "changed", "unmatched"]] | None,
    Query(description="Only events of these kinds; all, if none."),
]
Of = Annotated[
    list[Name] | None, Query(max_length=100, description="Only events of these subscriptions; all, if none.")
]
Before = Annotated[
    str | None, Query(pattern=r"^\d{1,19}(\.\d{1,9})?$", description="The `next` of the page that this one follows.")
]


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
        after = cursor_of(last_event_id)
    service = access.service
    if service.streams >= service.settings.streams:
        raise ServiceUnavailable(f"{service.streams} event streams are open, and there are no more; try again later")
    queries = await run_in_threadpool(_heard, access, id)
    return StreamingResponse(
        _followed(access, id, queries, after, contents), media_type="text/event-stream", headers=NOT_BUFFERED
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
                    async with asyncio.timeout(STILL_HERE):
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
    return _Lines(streamed(found), found[-1]["cursor"] if found else after, len(found) == _PAGE, queries)


def streamed(events: Iterable[dict[str, Any]]) -> str:
    """Events as Server-Sent Events."""
    return "".join(
        f"id: {event['cursor']}\nevent: {event['kind']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
        for event in events
    )


def _source(
    access: Admission, id: str, after: int, contents: bool, since: datetime | None, until: datetime | None
) -> DownloadSource:
    """All events that follow a cursor, between two times."""
    layout = EventLayout(access.hub.log_columns(id), contents=contents)

    def page(cursor: int) -> tuple[list[Event], int | None]:
        found = access.hub.events(id, after=cursor, limit=PAGE, since=since, until=until)
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
    found: list[Event] = access.hub.events(id, after=after, limit=limit, since=since, until=until)
    return [event.as_dict(contents=contents) for event in found]


def cursor_of(text: str) -> int:
    """The cursor that the id of an event is."""
    if not text.strip().isdecimal():
        raise BadRequest(f"Last-Event-ID is {text!r}; it must be the id of an event, which is a number")
    return min(int(text[:19]), 1 << 60)


@router.get("/subscriptions/{id}/recent", summary="The last events", response_model=EventPage)
def recent(
    access: Reading, id: Id, limit: Annotated[int, Query(ge=1, le=200, description="How many of them.")] = 50
) -> JSONResponse:
    """The last events of a subscription, in order, with the content before and after; `next` is where to go on."""
    with access.hub.store.reading() as reader:
        end = record_of(reader, id).last_cursor  # of what is told, if it is paused
        last = min(reader.log.last_cursor(), end)
    found = access.see(id, lambda: [event.as_dict() for event in reversed(access.hub.newest(id, limit=limit))])
    return JSONResponse({"events": found, "next": found[-1]["cursor"] if found else last})


# -- of all subscriptions of the caller


@router.get("/inbox", summary="Read the events of all subscriptions", response_model=InboxTold)
def inbox(
    access: Reading,
    subscription: Of = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    q: Words = "",
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    contents: Contents = False,
) -> JSONResponse:
    """The events of the caller's subscriptions (of all, for an admin), the newest first, with their titles.

    A page looks at 5,000 events at most. One that was cut says so, and may be short or empty: `next` leads on.
    """
    with access.hub.store.reading() as reader:
        sees = access.sight(reader)
    found = access.hub.inbox(
        owner=_owner(access),
        subscriptions=subscription or (),
        kinds=kind or (),
        since=since,
        until=until,
        words=q,
        before=before,
        limit=limit,
        sees=sees,
    )
    told: list[dict[str, Any]] = [item.event.as_dict(contents=contents) | {"title": item.title} for item in found.items]
    access.require_sights(item.event.subscription for item in found.items)
    return JSONResponse({"events": told, "next": found.next, "is_cut": found.is_cut})


@router.get("/inbox/news", summary="Count what is new")
def news(access: Reading) -> NewsTold:
    """How many events of the caller's subscriptions came since it has looked: of each, up to 1,000, and in all."""
    with access.hub.store.reading() as reader:
        sees = access.sight(reader)
    found = access.hub.news(account=access.account.id, owner=_owner(access), sees=sees)
    access.require_sights(id for id, _, _ in found.subscriptions)
    return NewsTold.of(found)


@router.get("/inbox/mark", summary="Read up to where the caller has looked")
def mark(access: Reading) -> InboxMark:
    """A cursor; 0 if the caller has never set it."""
    with access.hub.store.reading() as reader:
        return InboxMark(cursor=reader.marks.of(access.account.id))


@router.put("/inbox/mark", summary="Set up to where the caller has looked")
def set_mark(access: Reading, wanted: InboxMark) -> InboxMark:
    """Events up to this cursor are not new any more, for this account; a cursor beyond the last event is the last."""
    return InboxMark(cursor=access.hub.mark(wanted.cursor, account=access.account.id))


def _owner(access: Admission) -> str | None:
    """Whose subscriptions are the caller's: all of them, for an admin and where nobody is asked who they are."""
    return None if access.viewer is None else access.account.id
