"""A network of hubs: the channels to others, and what this hub knows of the network (P3, P6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from triplewire.algebra.pattern import Pattern
from triplewire.errors import BadRequest, ChannelRefused, NetworkError, NotAllowed, TooManyRequests, UnknownDocument
from triplewire.hub.identity.loopback import refuse_strangers
from triplewire.hub.messages import AskToMove, Name, WantedMove
from triplewire.hub.reception import BoundedRoute, Reception
from triplewire.hub.service import Administering, Admission, Reading, Service
from triplewire.hub.settings import MAIN
from triplewire.network.channels.channels import WireClosed
from triplewire.network.channels.dialling import LINK
from triplewire.network.channels.handshake import ChannelGuest
from triplewire.network.live import Federation
from triplewire.network.live.moves import Proof
from triplewire.network.live.settlements import Newcomer
from triplewire.network.live.traces import spread_of, trace_of
from triplewire.wire.messages import read
from triplewire.wire.networks import MapTold, MoveAsked, MovedTold, MoveTold, NetworkTold, SpreadTold, TraceTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["network"])
channels = APIRouter()


class AnsweredWire:
    """A connection of a hub that dialled, as a wire."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        """See `Wire.send`."""
        try:
            await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError) as error:
            raise WireClosed(str(error)) from None

    async def receive(self) -> str:
        """See `Wire.receive`."""
        try:
            return await self._socket.receive_text()
        except (WebSocketDisconnect, RuntimeError, KeyError) as error:
            raise WireClosed(str(error)) from None

    async def close(self, reason: str) -> None:
        """See `Wire.close`."""
        try:
            await self._socket.close(reason=reason.encode()[:100].decode("utf-8", "ignore"))
        except (WebSocketDisconnect, RuntimeError) as error:
            raise WireClosed(str(error)) from None


@channels.websocket(LINK)
async def link(socket: WebSocket) -> None:
    """The channel of another hub: both prove who they are, then messages go both ways until one of them ends it."""
    service: Service = socket.app.state.service
    federation = service.federation
    machine = socket.client.host if socket.client is not None else ""
    if federation is None or service.is_stopping or is_stranger(service, socket):
        await socket.close()
        return
    await socket.accept()

    await service.gate.catch_up()
    await federation.serve(AnsweredWire(socket), by_key(service, machine))


def by_key(service: Reception, machine: str) -> Callable[[ChannelGuest], None]:
    """Lets a hub that is no member yet come in if its key is that of an account here; without identity, any."""

    def admits(guest: ChannelGuest) -> None:
        if service.settings.asks_who and not service.gate.is_key_of_publisher(guest.key, MAIN):
            _count(service, machine)
            raise ChannelRefused(
                f"{guest.name} is no member of the network, and its key is that of no account here; to let it join, "
                f"make one: `triplewire token create STORE NAME --role publisher --public-key {guest.key}`"
            )

    return admits


def is_stranger(service: Reception, socket: WebSocket) -> bool:
    """Whether a connection is none of a hub or an edge: of a page in a browser, or of another machine than this."""
    try:
        if not service.settings.asks_who:
            refuse_strangers(socket.headers)
    except NotAllowed:
        return True
    return "origin" in socket.headers


def _count(service: Reception, machine: str) -> None:
    try:
        service.refusals.spend(machine)
    except TooManyRequests as error:
        raise ChannelRefused(str(error)) from None


@router.get("/network", summary="What does this hub know of its network?")
async def status(access: Reading) -> NetworkTold:
    """The members, where each stands, and how far this hub is with its neighbours."""
    federation = federation_of(access)
    return read(NetworkTold, await federation.ask(federation.identity_name, {"kind": "status"}))


@router.get("/network/map", summary="What does every hub of the network say?")
async def map_of(access: Reading) -> MapTold:
    """What each member says of itself and of its links."""
    federation = federation_of(access)
    own = await federation.ask(federation.identity_name, {"kind": "status"})
    others = [each["name"] for each in own["members"] if each["name"] != own["name"]]
    told = await asyncio.gather(*(_told(federation, name) for name in others))
    hubs = [read(NetworkTold, own), *(read(NetworkTold, each) for _, each, reason in told if not reason)]
    return MapTold(hubs, {name: reason for name, _, reason in told if reason})


async def _told(federation: Federation, member: str) -> tuple[str, dict[str, Any], str]:
    try:
        return member, await federation.ask(member, {"kind": "status"}), ""
    except NetworkError as error:
        return member, {}, str(error)


@router.get("/network/trace/{subscription}", summary="How did an event get here?")
async def trace(
    access: Reading,
    subscription: Annotated[Name, Path(description="The id of the subscription.")],
    cursor: Annotated[
        int | None, Query(ge=0, le=2**60, description="The event; the last one, if none is named.")
    ] = None,
) -> TraceTold:
    """The way of an event through the network, in plain words."""
    federation = federation_of(access)
    await run_in_threadpool(access.require_sight, subscription)
    found = await trace_of(federation, access.hub, subscription, cursor)
    return TraceTold(subscription, found.cursor, found.lines, found.places)


@router.get("/network/spread", summary="Where did a document go?")
async def spread(
    access: Reading,
    uri: Annotated[str, Query(min_length=1, max_length=8_000, description="The uri of a document of this hub.")],
) -> SpreadTold:
    """To which places of the network a document of this hub went, and why there; in plain words."""
    federation = federation_of(access)
    if await run_in_threadpool(access.hub.document, uri, viewer=access.viewer) is None:
        raise UnknownDocument(uri)
    found = await spread_of(federation, uri)
    return SpreadTold(uri, found.lines, found.places)


@router.post("/network/moves/challenge", summary="What to sign to move here from another hub")
async def challenge(access: Reading, wanted: AskToMove) -> MoveAsked:
    """The old hub's challenge: both names, the key, and what is to move are signed with it."""
    federation = federation_of(access)
    _refuse_other_key(access, wanted.key)
    told = await federation.challenge(wanted.hub, wanted.key)
    return MoveAsked(federation.identity_name, int(told["generation"]), str(told["nonce"]))


@router.post("/network/moves", summary="Move here from another hub")
async def move(access: Reading, wanted: WantedMove) -> MoveTold:
    """Go on here with subscriptions that the account has at another hub; nothing is lost, and nothing told twice."""
    federation = federation_of(access)
    _refuse_other_key(access, wanted.key)
    proof = Proof(wanted.key, wanted.generation, wanted.nonce, wanted.signature, wanted.subscriptions, wanted.after)
    quotas, viewer = access.tenant.quotas, access.viewer

    def admit(patterns: Sequence[Pattern]) -> None:
        quotas.check_subscriptions(len(patterns))
        quotas.check_events()  # what it has not read, and what is different here, is told at once
        for pattern in patterns:
            quotas.check_cost(pattern, "", {}, viewer)

    newcomer = Newcomer(access.account.id or None, viewer, admit, access.tenant.subscribing)
    found = await federation.move(wanted.hub, proof, newcomer)
    return MoveTold([MovedTold(id, cursor) for id, cursor in found])


def _refuse_other_key(access: Admission, key: str) -> None:
    """NotAllowed for a key that is another's: who moves has an account with the same key at both hubs."""
    if access.service.gate.is_on and access.account.public_key != key:
        raise NotAllowed(
            "who moves is known by the same key at both hubs, and this account has another one, or none; make one: "
            "`triplewire token create STORE NAME --public-key KEY`"
        )


@router.post("/network/leave", summary="Leave the network", status_code=202)
async def leave(
    access: Administering,
    anyway: Annotated[
        bool, Query(description="Also while what a subscriber had here, who moves, has not arrived at the other hub.")
    ] = False,
) -> None:
    """Take back what this hub has told the others, and be a member no more; serve it without --network then."""
    await federation_of(access).leave(anyway=anyway)


@router.delete("/network/members/{name}", summary="Expel a hub", status_code=204)
async def expel(access: Administering, name: Annotated[Name, Path(description="The name of a member.")]) -> None:
    """Let a hub be a member no more, one that will not come back; what it published is gone for the others."""
    await run_in_threadpool(federation_of(access).node.expel, name)


def federation_of(access: Admission) -> Federation:
    found = access.service.federation
    if found is None or access.tenant.name != MAIN:
        raise BadRequest("this hub is of no network; triplewire serve --network hypercube makes it part of one")
    return found
