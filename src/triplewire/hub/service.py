"""The service: what the routes of one application share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from triplewire.deliver import Deliverer
from triplewire.deliver.vault import Vault
from triplewire.errors import NotAllowed, NotAuthenticated, UnknownFeed, UnknownSubscription
from triplewire.hub.accounts import Account, Accounts, Role
from triplewire.hub.bodies import Arrivals, body_of, refuse_halves
from triplewire.hub.capabilities import FeedAddresses, parsed
from triplewire.hub.child import Child
from triplewire.hub.delivering import deliver_for, deliver_for_all
from triplewire.hub.health import Pulse
from triplewire.hub.identity import Gate, is_loopback
from triplewire.hub.intake import ended
from triplewire.hub.metrics import Metrics
from triplewire.hub.pace import Pace
from triplewire.hub.settings import MAIN, Settings
from triplewire.hub.tenants import Tenant, Tenants
from triplewire.model import Access as AccessList
from triplewire.store import EVERYBODY

Item = TypeVar("Item")

_BURST = 10.0
_REQUESTS = 100.0
_HURRY = 5.0
"""Seconds that requests have to end when the service is to; half of what the server gives them."""
_REFUSALS = 5.0
"""How many requests without a valid token a machine may send in a second."""


class Service:
    """Tenants, who may ask them, and what was measured."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tenants = Tenants(settings, opened=self._opened)
        self.metrics = Metrics()
        self.is_stopping = False
        self.arrivals = Arrivals()
        self.streams = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gate: Gate | None = None
        rate = settings.requests if settings.requests is not None else 0.0 if is_loopback(settings.host) else _REQUESTS
        self.pace = Pace(rate, burst=_BURST * rate)
        self.refusals = Pace(_REFUSALS, burst=_BURST * _REFUSALS)
        self.deliverer: Deliverer | None = None
        self.pipeline: Child | None = None
        self._pulse: Pulse | None = None
        self._hurrying: asyncio.Task[None] | None = None

    @property
    def pulse(self) -> Pulse:
        """Whether the main store answers; there once the service has started."""
        assert self._pulse is not None, "the application has not started"
        return self._pulse

    @property
    def gate(self) -> Gate:
        """Who asks; there once the service has started."""
        assert self._gate is not None, "the application has not started"
        return self._gate

    async def start(self) -> None:
        """Open the main store."""
        self._loop = asyncio.get_running_loop()
        main = await self.tenants.get(MAIN)
        identity = self.settings.identity
        is_on = not is_loopback(self.settings.host) if identity is None else identity
        accounts = Accounts(main.hub.store)
        self._gate = Gate(accounts, is_on=is_on)
        self._pulse = Pulse(lambda: main.hub.batches(limit=1))
        if self.settings.deliver:
            self.deliverer = Deliverer(reach=self.settings.reachable, secrets_key=self.settings.secrets_key)
            self.deliverer.start()
            await asyncio.to_thread(deliver_for_all, self.deliverer, self.settings, accounts)
        if self.settings.pipeline == "spark":  # until it is there, this process applies what comes
            self.pipeline = Child(
                self.settings,
                ready=partial(self.tenants.apply_here, False),
                gone=partial(self.tenants.apply_here, True),
                applied=self.tenants.applied,
            )
            self.pipeline.start()

    def _opened(self) -> None:
        if self.pipeline is not None:
            self.pipeline.look()

    async def ring(self, tenant: Tenant) -> None:
        """A tenant has something new to deliver; perhaps it is itself new."""
        if self.deliverer is not None:
            await asyncio.to_thread(deliver_for, self.deliverer, self.settings, tenant.name)
            self.deliverer.ring(tenant.name)

    def stop(self) -> None:
        """Let streams and waiting requests end, so that connections can close; from any thread."""
        self.is_stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if self._hurrying is None:
            self._hurrying = asyncio.create_task(self._hurry(), name="triplewire end")
        self.arrivals.end()
        for tenant in self.tenants:
            tenant.bell.ring_all()

    async def _hurry(self) -> None:
        """After some seconds nobody waits any more: the server would cut them off a little later, without a word."""
        await asyncio.sleep(_HURRY)
        for tenant in self.tenants:
            await tenant.intake.hurry()
            tenant.asker.hurry()

    async def close(self) -> None:
        """Finish what was taken in, and let go of the stores."""
        self.stop()
        if self._hurrying is not None:
            await ended(self._hurrying)
        if self._pulse is not None:
            self._pulse.close()
        if self.deliverer is not None:
            await asyncio.to_thread(self.deliverer.stop)
        await self.tenants.close()
        if self.pipeline is not None:
            await self.pipeline.close()


@dataclass(frozen=True, slots=True)
class Access:
    """A request that may be served: who asks, and the tenant whose hub is asked.

    `granted` is the subscription that the secret address leads to by which somebody came.
    """

    service: Service
    account: Account
    tenant: Tenant
    granted: str | None = None

    @property
    def vault(self) -> Vault:
        """What keeps the secrets of the tenant's deliveries."""
        return Vault.of(self.tenant.hub.store.url, self.service.settings.secrets_key)

    def require_owner(self, owner: str | None) -> None:
        """NotAllowed for who changes what is another's."""
        if not self.account.may("admin") and owner != self.account.id:
            raise NotAllowed("this belongs to another account; its owner or an admin may change it")

    @property
    def viewer(self) -> str | None:
        """Whose documents are there for the caller; None: all of them, for an admin."""
        return None if self.account.may("admin") else self.account.id

    def require_sight(self, id: str, *, for_good: bool = False) -> None:
        """NotAllowed for what a subscription found on behalf of another account.

        As long as no document of the tenant has ever had an access list, all see the same, and may see it; unless it
        is `for_good`. To be asked after reading: then nothing can have come in between.
        """
        if self.viewer is None or id == self.granted:
            return
        with self.tenant.hub.store.reading() as reader:
            (record,) = reader.subscriptions.find([id])
            if record is None:
                raise UnknownSubscription(id)
            (query,) = reader.queries.by_ids([record.query])
            is_own = query is not None and query.viewer in (EVERYBODY, self.viewer)
            if not is_own and (for_good or reader.access.number()):
                raise NotAllowed(
                    f"{id}: some documents are not for everybody, so what a subscription finds is for who made it and "
                    'for admins; one with "sees": "everybody" is for all'
                )

    def let_see(self, id: str, found: Item) -> Item:
        """What was read of a subscription, if the caller may have it."""
        self.require_sight(id)
        return found

    async def is_still_known(self) -> bool:
        """Whether the account was not revoked since the request began."""
        if self.service.gate.is_stale:
            await asyncio.to_thread(self.service.gate.refresh)
        return self.service.gate.knows(self.account)


def listed(access: Access, readers: Iterable[str], writers: Iterable[str]) -> AccessList:
    """An access list of accounts. Who sends it is one of its writers, unless it is an admin: so nobody is shut out."""
    gate, tenant = access.service.gate, access.account.tenant
    own = [] if access.viewer is None else [access.viewer]
    return AccessList(gate.ids_of(readers, tenant), [*gate.ids_of(writers, tenant), *own])


def service_of(request: Request) -> Service:
    """The service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


def address_of(request: Request) -> str:
    """Where this client finds the service: as the settings say, or as it asked."""
    settings = service_of(request).settings
    return (settings.address or str(request.base_url)).rstrip("/")


def _access(role: Role) -> Callable[[Request], Coroutine[Any, Any, Access]]:
    async def access(request: Request) -> Access:
        service = service_of(request)
        if service.gate.is_stale:
            await asyncio.to_thread(service.gate.refresh)
        account = _caller(service, request)
        if not account.may(role):
            raise NotAllowed(f"this needs the role {role}, and {account.name} is a {account.role}")
        return Access(service, account, await service.tenants.get(account.tenant))

    return access


async def by_capability(request: Request, text: str) -> tuple[Access, str]:
    """The access that a secret address gives, and to which subscription; UnknownFeed if it gives none."""
    service = service_of(request)
    if service.gate.is_stale:
        await asyncio.to_thread(service.gate.refresh)
    service.gate.refuse_strangers(request.headers)
    machine = request.client.host if request.client is not None else ""
    service.refusals.refuse_spent(machine)
    try:
        capability = parsed(text)
        if capability.tenant not in {MAIN, *service.settings.tenants, *service.gate.tenants()}:
            raise UnknownFeed
        tenant = await service.tenants.get(capability.tenant)
        addresses = FeedAddresses(tenant.hub.store, tenant.name)
        id = await asyncio.to_thread(addresses.subscription, capability)
    except UnknownFeed:
        service.refusals.spend(machine)
        raise
    service.pace.spend(f"feed {capability.handle}")
    bearer = Account("", "whoever has the address of a feed", "reader", tenant.name, "")
    return Access(service, bearer, tenant, granted=id), id


def _caller(service: Service, request: Request) -> Account:
    """Who asks, if not too fast; from a machine that guesses tokens, nobody does for a while."""
    machine = request.client.host if request.client is not None else ""
    service.refusals.refuse_spent(machine)
    try:
        account = service.gate.caller(request.headers)
    except NotAuthenticated:
        service.refusals.spend(machine)
        raise
    service.pace.spend(account.id or machine)
    return account


class BoundedRoute(APIRoute):
    """A route that takes JSON, of which it reads no more and waits no longer than the settings allow."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own handler, with the body read before."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def bounded(request: Request) -> Response:
            settings = service_of(request).settings
            body = await body_of(request, most=settings.request_bytes, seconds=settings.request_seconds)
            refuse_halves(body)
            request._body = body  # where the framework looks first
            return await handler(request)

        return bounded


reading = _access("reader")
Reading = Annotated[Access, Depends(reading)]
Publishing = Annotated[Access, Depends(_access("publisher"))]
Administering = Annotated[Access, Depends(_access("admin"))]
