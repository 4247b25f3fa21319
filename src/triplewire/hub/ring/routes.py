"""The routes of a peer: those of a hub that a ring can serve, in the same words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, StreamingResponse
from starlette.websockets import WebSocket

from triplewire.documents import parse
from triplewire.errors import BadRequest, NetworkError, ServiceUnavailable, UnknownDocument, UnsupportedQuery
from triplewire.hub.bodies import body_of
from triplewire.hub.messages import NO_NUL, Health, NewSubscription, Whoami
from triplewire.hub.negotiation import best
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.ring.service import (
    Administering,
    PeerAdmission,
    PeerService,
    Publishing,
    Reading,
    peer_service_of,
)
from triplewire.hub.routes.documents import Uri, refuse_unread
from triplewire.hub.routes.events import NOT_BUFFERED, STILL_HERE, After, Contents, cursor_of, streamed
from triplewire.hub.routes.networks import AnsweredWire, by_key, is_stranger
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.syntaxes import GRAPHS, graph
from triplewire.model import Subscription, Summary
from triplewire.network.live.ring import RING_LINK, LivePeer, PeerSubscription
from triplewire.wire.events import EventPage, RowsTold
from triplewire.wire.messages import read, read_strictly
from triplewire.wire.networks import MapTold, NetworkTold
from triplewire.wire.subscriptions import SubscriptionPage, SubscriptionTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute)
channels = APIRouter()

_PAGE = 100
_CONDITIONS = ("if-match", "if-none-match")


# -- documents


@router.put("/document", summary="Publish a document", status_code=202, tags=["documents"])
async def publish(request: Request, access: Publishing, uri: Uri) -> Response:
    """Register a document, or a new version of it. The answer comes when it is durable here: 202.

    It is on its way to the peers of its keys then; what it leads to is told to subscribers when it has arrived.
    """
    settings = access.service.settings
    media_type = request.headers.get("content-type")
    refuse_unread(media_type)
    _refuse_beyond(request)
    data = await body_of(request, most=settings.document_bytes, seconds=settings.request_seconds)
    document = await run_in_threadpool(lambda: parse(data, uri=uri, media_type=media_type))
    if len(document.parts) > 1:
        raise BadRequest("a ring takes one document at a time, and this is a feed of several: publish each item")
    number = await access.peer.publish(document)
    return _acknowledged(uri, number)


@router.delete("/document", summary="Retract a document", status_code=202, tags=["documents"])
async def retract(request: Request, access: Publishing, uri: Uri) -> Response:
    """Take a document back that was published at this peer; only here it can be."""
    _refuse_beyond(request)
    await access.peer.retract(uri)
    return _acknowledged(uri, 0)


def _acknowledged(uri: str, number: int) -> Response:
    return Response(json.dumps({"uri": uri, "etag": None, "position": number}), 202, media_type="application/json")


def _refuse_beyond(request: Request) -> None:
    """BadRequest for conditions and access lists, which would not be kept."""
    if any(name in request.headers for name in _CONDITIONS):
        raise BadRequest("a ring knows no conditions on documents (If-Match): leave them out, or use a hub")
    if "reader" in request.query_params or "writer" in request.query_params:
        raise BadRequest("a ring has no access lists: what is published on it is for all its peers; or use a hub")


@router.get("/document", summary="Read a document", response_class=Response, tags=["documents"])
async def document_at(access: Reading, uri: Uri, accept: Annotated[str | None, Header()] = None) -> Response:
    """The triples of a document that was published at this peer, as they are now."""
    known = access.peer.peer.state.homes[access.peer.name].documents.get(uri)
    if known is None or known.document is None:
        raise UnknownDocument(uri)
    found, media_type = known.document, best(accept, [*GRAPHS])
    content = await run_in_threadpool(lambda: graph(found.triples, media_type))
    return Response(content, media_type=media_type, headers={"Vary": "Accept"})


# -- subscriptions


@router.post("/subscriptions", summary="Subscribe", status_code=201, tags=["subscriptions"])
async def subscribe(access: Reading, wanted: NewSubscription) -> SubscriptionTold:
    """Register a query; an id is made if none is given. It counts what any peer publishes from now on."""
    _refuse_other_meaning(access, wanted)
    made = await access.peer.subscribe(
        wanted.id or uuid4().hex,
        wanted.text,
        language=wanted.language,
        prefixes=wanted.prefixes,
        owner=access.owner,
        title=wanted.title,
        description=wanted.description,
    )
    return _told(access, made)


def _refuse_other_meaning(access: PeerAdmission, wanted: NewSubscription) -> None:
    scope = access.peer.settings.scope
    if wanted.scope != scope:
        raise UnsupportedQuery(
            f"all subscriptions of this ring have the scope {scope}, and this one asks for {wanted.scope}",
            language=wanted.language,
            hint=f"Say the scope {scope}, or use a hub",
        )
    if wanted.start != "now":
        raise UnsupportedQuery(
            "on a ring only what is published after a query was asked counts",
            language=wanted.language,
            hint="Say the start now, or use a hub",
        )


@router.get("/subscriptions", summary="List subscriptions", tags=["subscriptions"])
async def listing(
    access: Reading,
    owner: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None,
    after: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="The id that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = _PAGE,
) -> SubscriptionPage:
    """The subscriptions of the caller at this peer, by id; all of them, for an admin."""
    known = access.peer.registrations
    ids = [id for id in sorted(known) if id > after and access.may_see(known[id]) and owner in (None, known[id].owner)]
    page = [_told(access, known[id]) for id in ids[:limit]]
    return SubscriptionPage(page, page[-1].id if len(ids) > limit else None)


@router.get("/subscriptions/{id}", summary="Read a subscription", tags=["subscriptions"])
async def subscription(access: Reading, id: Id) -> SubscriptionTold:
    """What it asks, and how many answers it has."""
    return _told(access, access.registration(id))


@router.delete("/subscriptions/{id}", summary="Unsubscribe", status_code=204, tags=["subscriptions"])
async def unsubscribe(access: Reading, id: Id) -> None:
    """The query ends, and with it its log."""
    access.registration(id)
    await access.peer.unsubscribe(id)


@router.get("/subscriptions/{id}/rows", summary="Read answers", tags=["subscriptions"])
async def rows(
    access: Reading,
    id: Id,
    after: Annotated[str, Query(pattern=r"^\d{0,15}$", description="The `next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = _PAGE,
) -> RowsTold:
    """The rows that the subscriber was told of and that still hold."""
    access.registration(id)
    known = access.peer.peer.subscription(access.peer.name, id)
    every, start = sorted(known.told, key=str), int(after or 0)
    page = [{name: str(term) for name, term in row.items()} for row in every[start : start + limit]]
    return RowsTold([*known.pattern.answer], page, str(start + limit) if start + limit < len(every) else None)


def _told(access: PeerAdmission, known: PeerSubscription) -> SubscriptionTold:
    standing = access.peer.peer.subscription(access.peer.name, known.id)
    made = Subscription(
        known.id,
        known.text,
        known.language,
        access.peer.settings.scope,
        "now",
        known.owner,
        title=known.title,
        description=known.description,
        revision=blake2b(f"{known.id} {known.created}".encode(), digest_size=8).hexdigest(),
        reach="network",
    )
    told = datetime.fromtimestamp(standing.last_told, UTC) if standing.last_told else None
    return SubscriptionTold.of(Summary(made, tuple(standing.pattern.answer), min(1_000, len(standing.told)), told))


# -- events


@router.get("/subscriptions/{id}/events", summary="Read events", response_model=EventPage, tags=["events"])
async def events(
    access: Reading,
    id: Id,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Events on a page.")] = _PAGE,
    wait: Annotated[float, Query(ge=0, le=3_600, description="Seconds to wait for an event if there is none.")] = 0,
    contents: Contents = False,
) -> Response:
    """The events that follow a cursor, in order. A client that asks on from `next` misses nothing, and gets no event
    twice; also after the peer was away.
    """
    access.registration(id)
    loop = asyncio.get_running_loop()
    give_up = loop.time() + min(wait, access.service.settings.longest_wait)
    while True:
        rung = access.peer.news
        found = await _events(access, id, after, limit, contents=contents)
        left = give_up - loop.time()
        if found or left <= 0 or access.service.is_stopping:
            return JSONResponse({"events": found, "next": found[-1]["cursor"] if found else after})
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await rung.wait()


async def _events(access: PeerAdmission, id: str, after: int, limit: int, *, contents: bool) -> list[dict[str, Any]]:
    if not await access.is_still_known():
        raise ServiceUnavailable("the account was revoked or changed meanwhile; ask again, if it still may")
    found = await run_in_threadpool(access.peer.told, id, after, limit)
    return found if contents else [_without_contents(each) for each in found]


def _without_contents(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in ("before", "after")}


@router.get("/subscriptions/{id}/stream", summary="Follow events", response_class=StreamingResponse, tags=["events"])
async def stream(
    access: Reading,
    id: Id,
    after: After = 0,
    contents: Contents = False,
    last_event_id: Annotated[str | None, Header(description="The id of the last event; counts more.")] = None,
) -> StreamingResponse:
    """Server-Sent Events: those that follow the cursor, then each new one. The id of an event is its cursor."""
    access.registration(id)
    start = after if last_event_id is None else cursor_of(last_event_id)
    if access.service.streams >= access.service.settings.streams:
        raise ServiceUnavailable("so many event streams are open that there are no more; try again later")
    followed = _followed(access, id, start, contents=contents)
    return StreamingResponse(followed, media_type="text/event-stream", headers=NOT_BUFFERED)


async def _followed(access: PeerAdmission, id: str, after: int, *, contents: bool) -> AsyncIterator[str]:
    access.service.streams += 1
    try:
        yield "retry: 2000\n\n"
        while not access.service.is_stopping:
            rung = access.peer.news
            if id not in access.peer.registrations:
                yield "event: gone\ndata: the subscription was removed\n\n"
                return
            if not await access.is_still_known():
                return
            found = await _events(access, id, after, _PAGE, contents=contents)
            if found:
                yield streamed(found)
                after = found[-1]["cursor"]
                continue
            try:
                async with asyncio.timeout(STILL_HERE):
                    await rung.wait()
            except TimeoutError:
                yield ": still here\n\n"
    finally:
        access.service.streams -= 1


# -- the ring


@channels.websocket(RING_LINK)
async def link(socket: WebSocket) -> None:
    """The channel of another peer: both prove who they are, then messages go both ways until one of them ends it."""
    service: PeerService = socket.app.state.service
    machine = socket.client.host if socket.client is not None else ""
    if service.is_stopping or is_stranger(service, socket):
        await socket.close()
        return
    await socket.accept()
    await service.gate.catch_up()
    await service.peer.serve(AnsweredWire(socket), by_key(service, machine))


@router.get("/network", summary="What does this peer know of its ring?", tags=["network"])
async def status(access: Reading) -> NetworkTold:
    """The peers, which of them are next to this one, what it keeps, and how far it is."""
    return read(NetworkTold, access.peer.status())


@router.get("/network/map", summary="What does every peer of the ring say?", tags=["network"])
async def map_of(access: Reading) -> MapTold:
    """What each peer says of itself; those that are away are asked, too."""
    others = [each.name for each in access.peer.addresses.all() if each.name != access.peer.name]
    told = await asyncio.gather(*(_asked(access.peer, name) for name in others))
    hubs = [read(NetworkTold, access.peer.status()), *(each for each, _ in told if each is not None)]
    silent = {name: reason for name, (each, reason) in zip(others, told, strict=True) if each is None}
    return MapTold(hubs, silent)


async def _asked(peer: LivePeer, name: str) -> tuple[NetworkTold | None, str]:
    try:
        return read_strictly(NetworkTold, await peer.ask_status(name)), ""
    except NetworkError as error:
        return None, str(error)
    except (TypeError, ValueError, KeyError):
        return None, "it told what no peer tells"


@router.post("/network/leave", summary="Leave the ring", status_code=202, tags=["network"])
async def leave(access: Administering) -> None:
    """Take back what clients of this peer asked and published, hand over what it keeps, and end."""
    await access.service.leave()


# -- upkeep


@router.get("/health", summary="Is it well?", tags=["upkeep"])
@router.get("/health/ready", summary="Is it ready for work?", tags=["upkeep"])
async def health(request: Request, response: Response) -> Health:
    """200 when the peer can do its work, 503 when it cannot: `reasons` say why. No identity is needed."""
    service = peer_service_of(request)
    problem = service.peer.status()["problem"]
    is_ready = not service.is_stopping and not problem
    response.status_code = 200 if is_ready else 503
    return Health(
        status="stopping" if service.is_stopping else "ok" if is_ready else "failing",
        version=version("triplewire"),
        identity=service.gate.is_on,
        live=True,
        ready=is_ready,
        reasons=[problem] if problem else [],
    )


@router.get("/whoami", summary="Who am I?", tags=["upkeep"])
async def whoami(access: Reading) -> Whoami:
    """The account that asks."""
    account = access.account
    return Whoami(id=account.id, name=account.name, role=account.role, tenant=account.tenant, is_networked=True)
