"""The service of a peer: its store, the live peer on it, and who may ask."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from triplewire.errors import NotAllowed, UnknownSubscription
from triplewire.hub.identity.accounts import ROLES, Account, Accounts, Role
from triplewire.hub.identity.gate import Gate
from triplewire.hub.reception import Reception, caller, door
from triplewire.hub.settings import MAIN, Settings
from triplewire.network.channels.handshake import fingerprint_of
from triplewire.network.live.ring import LivePeer, PeerMemory, PeerSubscription
from triplewire.network.ring import RingSettings
from triplewire.store import Store

log = logging.getLogger("triplewire.network")


class PeerService(Reception):
    """A peer of a ring, and the gate to it."""

    def __init__(self, settings: Settings, ring: RingSettings) -> None:
        super().__init__(settings)
        self.ring, self.streams = ring, 0
        self._store: Store | None = None
        self._peer: LivePeer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving: asyncio.Task[None] | None = None

    @property
    def peer(self) -> LivePeer:
        """The peer; there once the service has started."""
        assert self._peer is not None, "the application has not started"
        return self._peer

    async def start(self) -> None:
        """Open the store, and let the peer run."""
        self._loop = asyncio.get_running_loop()
        settings = self.settings
        self._store = await asyncio.to_thread(Store.open, settings.store, durable=True)
        self._gate = Gate(Accounts(self._store), is_on=settings.asks_who)
        memory = await asyncio.to_thread(PeerMemory, self._store, self.ring, label=settings.network_name)
        self._peer = LivePeer(
            settings.address or self.url,
            memory,
            patience=settings.network_patience,
            certificate=fingerprint_of(settings.certificate),
        )
        self._peer.start(settings.join)

    def stop(self) -> None:
        """Let streams and waiting requests end, so that connections can close; from any thread."""
        self.is_stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self.arrivals.end()
        if self._peer is not None:
            self._peer.news.set()

    async def depart(self) -> None:
        """Say goodbye to the other peers, unless this one has left them already."""
        if self._peer is not None and self._leaving is None:
            await self._peer.stop()

    async def close(self) -> None:
        """Let go of the store."""
        self.stop()
        if self._leaving is not None:
            await asyncio.gather(self._leaving, return_exceptions=True)
        if self._gate is not None:
            self._gate.close()
        if self._store is not None:
            await asyncio.to_thread(self._store.close)

    async def leave(self) -> None:
        """Leave the ring for good, and end; NetworkError if others do not answer."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self.peer.leave())
        try:
            await asyncio.shield(self._leaving)
        except BaseException:
            self._leaving = None
            raise
        log.info("%s has left its ring", self.peer.name)
        self.end()


@dataclass(frozen=True, slots=True)
class PeerAdmission:
    """A request that may be served: its account, and the service that it asks."""

    service: PeerService
    account: Account

    @property
    def peer(self) -> LivePeer:
        """The peer that is asked."""
        return self.service.peer

    @property
    def owner(self) -> str | None:
        """Whose the caller's subscriptions are; None where nobody is asked who they are."""
        return self.account.id or None

    def may_see(self, known: PeerSubscription) -> bool:
        """Whether the caller may see a subscription: its owner and admins may."""
        return self.account.may("admin") or known.owner == self.owner

    def registration(self, id: str) -> PeerSubscription:
        """A subscription that the caller may see; NotAllowed for one of another account, which the log tells."""
        known = self.peer.registrations.get(id)
        if known is None:
            raise UnknownSubscription(id)
        if not self.may_see(known):
            log.warning("%s (%s) asked for the subscription %r of another account: refused", *self._who, id)
            raise NotAllowed(f"{id}: this belongs to another account; its owner or an admin may ask for it")
        return known

    @property
    def _who(self) -> tuple[str, str]:
        return self.account.name, self.account.id

    async def is_still_known(self) -> bool:
        """Whether the account is what it was when the request began."""
        await self.service.gate.catch_up()
        return self.service.gate.knows(self.account)


def peer_service_of(request: Request) -> PeerService:
    """The service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, PeerService)
    return service


def _admission(role: Role) -> Callable[[Request], Coroutine[Any, Any, PeerAdmission]]:
    async def admitted(request: Request) -> PeerAdmission:
        found: PeerAdmission | None = getattr(request.state, "access", None)
        if found is None:
            service = peer_service_of(request)
            await service.gate.catch_up()
            account = caller(service, request)
            if account.tenant != MAIN:
                raise NotAllowed(f"a peer of a ring has no tenants, and {account.name} is of {account.tenant}")
            if not account.may(role):
                raise NotAllowed(f"this needs the role {role}, and {account.name} is {account.standing}")
            found = request.state.access = PeerAdmission(service, account)
        return found

    return admitted


_reading, _publishing, _administering = (door(_admission(role)) for role in ROLES)
Reading = Annotated[PeerAdmission, Depends(_reading)]
Publishing = Annotated[PeerAdmission, Depends(_publishing)]
Administering = Annotated[PeerAdmission, Depends(_administering)]
