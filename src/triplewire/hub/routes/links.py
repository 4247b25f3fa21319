"""The channels of edges, and of other hubs of a backbone: they dial, and both sides prove who they are (M1, M8, M10).

Each is answered at a desk until its channel ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.websockets import WebSocket

from triplewire.backbone import BackboneHub
from triplewire.backbone.links import MEMBER, MemberAnswers
from triplewire.errors import ChannelRefused, NotAllowed, NotAuthenticated, TooManyRequests
from triplewire.hub.identity.accounts import Account, Role
from triplewire.hub.routes.edges import AccountAnswers
from triplewire.hub.routes.networks import AnsweredWire, is_stranger
from triplewire.hub.service import Admission, Service
from triplewire.hub.settings import MAIN
from triplewire.network.channels.channels import HubChannel, answer
from triplewire.network.channels.desks import Desk
from triplewire.network.channels.ends import ExchangeEnd
from triplewire.network.channels.exchanges import BACKBONE_LINK, EDGE_LINK, hub_bodies
from triplewire.network.channels.handshake import EDGE_CHANNEL, ChannelGuest, fingerprint_of
from triplewire.network.channels.uplinks import MOST_ANSWER
from triplewire.network.exchange import Answer, Question
from triplewire.wire.edges import EdgeQuestion

channels = APIRouter()

_QUESTIONS = TypeAdapter(EdgeQuestion)


@channels.websocket(EDGE_LINK)
async def edge_link(socket: WebSocket) -> None:
    """The channel of an edge: both prove who they are, then it asks and is told, until one of them ends it."""
    service: Service = socket.app.state.service
    found = await _admitted(service, socket, EDGE_CHANNEL, "reader")
    if found is None:
        return
    channel, account = found
    channel.most_taken, channel.most_sent = service.settings.request_bytes, MOST_ANSWER
    access = Admission(service, account, await service.tenants.get(account.tenant))
    desk = Desk(service.watch(access.tenant), AccountAnswers(access), service.settings.longest_wait)
    with service.channel(channel):
        await ExchangeEnd(channel, hub_bodies(_question), name=service.identity.name, desk=desk).run()


@channels.websocket(BACKBONE_LINK)
async def backbone_link(socket: WebSocket) -> None:
    """The channel of another hub of the backbone: both ask, and both are told, until one of them ends it."""
    service: Service = socket.app.state.service
    tenant = await service.tenants.get(MAIN)
    hub = tenant.hub
    if not isinstance(hub, BackboneHub):
        await socket.close()
        return
    found = await _admitted(service, socket, MEMBER.purpose, "admin")
    if found is None:
        return
    channel, account = found
    channel.most_taken = channel.most_sent = MOST_ANSWER
    answers = AccountMemberAnswers(hub, Admission(service, account, tenant))
    desk = Desk(service.backbone_watch(hub), answers, service.settings.longest_wait)
    end = ExchangeEnd(channel, MEMBER.bodies, name=service.identity.name, desk=desk, may_ask=True)
    with service.channel(channel), hub.calls.taking(end):
        await end.run()


class AccountMemberAnswers(MemberAnswers):
    """What a hub of the backbone is told that dials, as fast as its account may ask, and as long as that is known."""

    def __init__(self, hub: BackboneHub, access: Admission) -> None:
        super().__init__(hub)
        self._access = access
        self._asked: Question | None = None

    async def require_known(self) -> None:
        """See `DeskAnswers.require_known`."""
        await self._access.require_known()

    async def answer(self, question: Question) -> Answer:
        """See `DeskAnswers.answer`; to look again for a question that waits costs the account nothing."""
        await self._access.require_known()
        if question is not self._asked:
            self._asked = question
            self._access.service.pace.spend(self._access.account.id)
        return await super().answer(question)


async def _admitted(service: Service, socket: WebSocket, purpose: str, role: Role) -> tuple[HubChannel, Account] | None:
    """The channel to the one that dials, and the account that it has proved; None if it is not let in."""
    if service.is_stopping or is_stranger(service, socket):
        await socket.close()
        return None
    await socket.accept()
    await service.gate.catch_up()
    machine = socket.client.host if socket.client is not None else ""
    known: list[Account] = []

    def admits(guest: ChannelGuest) -> None:
        try:
            known.append(_account(service, guest, machine, role))
        except (NotAuthenticated, NotAllowed, TooManyRequests) as error:
            raise ChannelRefused(str(error)) from None

    certificate = fingerprint_of(service.settings.certificate)
    channel = await answer(
        AnsweredWire(socket), service.identity, certificate=certificate, admits=admits, purpose=purpose
    )
    return None if channel is None else (channel, known[0])


def _account(service: Service, guest: ChannelGuest, machine: str, role: Role) -> Account:
    """The account of one that dials; one that proves none is counted, as with every other request."""
    try:
        found = service.gate.guest(guest.key, account=guest.account, token=guest.token, role=role)
    except NotAuthenticated:
        service.refusals.spend(machine)
        raise
    if role == "admin" and found.tenant != MAIN:
        raise NotAllowed(f"{found.name} is an account of another tenant; hubs of a backbone need one of the main one")
    return found


def _question(told: Mapping[str, Any]) -> EdgeQuestion:
    return _QUESTIONS.validate_python(told)
