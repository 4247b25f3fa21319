"""The channels of edges: they dial, both sides prove who they are, and each has a desk until it ends (M1, M8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.websockets import WebSocket

from triplewire.errors import ChannelRefused, NotAuthenticated, TooManyRequests
from triplewire.hub.identity.accounts import Account
from triplewire.hub.routes.edges import AccountAnswers
from triplewire.hub.routes.networks import AnsweredWire, is_stranger
from triplewire.hub.service import Admission, Service
from triplewire.network.channels.channels import answer
from triplewire.network.channels.desks import EdgeDesk
from triplewire.network.channels.exchanges import EDGE_LINK
from triplewire.network.channels.handshake import EDGE_CHANNEL, ChannelGuest, fingerprint_of
from triplewire.wire.edges import EdgeQuestion

channels = APIRouter()

_QUESTIONS = TypeAdapter(EdgeQuestion)


@channels.websocket(EDGE_LINK)
async def link(socket: WebSocket) -> None:
    """The channel of an edge: both prove who they are, then it asks and is told, until one of them ends it."""
    service: Service = socket.app.state.service
    if service.is_stopping or is_stranger(service, socket):
        await socket.close()
        return
    await socket.accept()
    await service.gate.catch_up()
    machine = socket.client.host if socket.client is not None else ""
    known: list[Account] = []

    def admits(guest: ChannelGuest) -> None:
        try:
            known.append(_account(service, guest, machine))
        except (NotAuthenticated, TooManyRequests) as error:
            raise ChannelRefused(str(error)) from None

    certificate = fingerprint_of(service.settings.certificate)
    channel = await answer(
        AnsweredWire(socket), service.identity, certificate=certificate, admits=admits, purpose=EDGE_CHANNEL
    )
    if channel is None:
        return
    channel.most_taken, channel.most_sent = service.settings.request_bytes, 1 << 30
    access = Admission(service, known[0], await service.tenants.get(known[0].tenant))
    desk = EdgeDesk(
        channel,
        service.watch(access.tenant),
        AccountAnswers(access),
        _question,
        name=service.identity.name,
        longest_wait=service.settings.longest_wait,
    )
    with service.channel(channel):
        await desk.run()


def _account(service: Service, guest: ChannelGuest, machine: str) -> Account:
    """The account of an edge; one that proves none is counted, as with every other request."""
    try:
        return service.gate.guest(guest.key, account=guest.account, token=guest.token)
    except NotAuthenticated:
        service.refusals.spend(machine)
        raise


def _question(told: Mapping[str, Any]) -> EdgeQuestion:
    return _QUESTIONS.validate_python(told)
