"""The service: what the routes of one application share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from triplewire.backbone import BackboneHub
from triplewire.backbone.links import member_watch
from triplewire.deliver import Deliverer
from triplewire.deliver.capabilities import FeedAddresses, parsed
from triplewire.deliver.permits import refusal
from triplewire.deliver.vault import Vault
from triplewire.edge import Edge
from triplewire.engine import Hub
from triplewire.engine.connection import record_of
from triplewire.errors import NotAllowed, NotAuthenticated, UnknownDocument, UnknownFeed, UnknownSubscription
from triplewire.hub.changes.group_commit import ended
from triplewire.hub.delivery import deliver_for, deliver_for_all, deliverer_of
from triplewire.hub.health import Pulse
from triplewire.hub.identity.accounts import ROLES, Account, Accounts, Role
from triplewire.hub.identity.gate import Gate
from triplewire.hub.metrics import Metrics
from triplewire.hub.pipeline.child import Child
from triplewire.hub.reception import Reception, caller, door, machine_of
from triplewire.hub.settings import MAIN, Settings
from triplewire.hub.tenancy.slots import Slots
from triplewire.hub.tenancy.tenants import Tenant, Tenants
from triplewire.matching import warm
from triplewire.model import Access
from triplewire.model.access import at_home
from triplewire.network.channels.channels import HubChannel
from triplewire.network.channels.desks import StoreWatch
from triplewire.network.channels.handshake import fingerprint_of
from triplewire.network.channels.identities import HubIdentity, kept_identity
from triplewire.network.live import Federation, NetworkHub
from triplewire.store import EVERYBODY, Reader

Item = TypeVar("Item")

_HURRY = 5.0
"""Seconds that requests have to end when the service is to; half of what the server gives them."""


class Service(Reception):
    """Tenants, the gate to them, and what was measured."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.tenants = Tenants(settings, opened=self._opened)
        self.metrics = Metrics()
        self.streams = 0
        self.downloads = Slots(settings.downloads, settings.all_downloads)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.deliverer: Deliverer | None = None
        self.pipeline: Child | None = None
        self._pulse: Pulse | None = None
        self._hurrying: asyncio.Task[None] | None = None
        self.federation: Federation | None = None
        self._identity: HubIdentity | None = None
        self._watches: dict[str, StoreWatch] = {}
        self._backbone_watch: StoreWatch | None = None
        self._channels: set[HubChannel] = set()

    @property
    def identity(self) -> HubIdentity:
        """Who this hub is for its edges; there once the service has started."""
        assert self._identity is not None, "the application has not started"
        return self._identity

    def watch(self, tenant: Tenant) -> StoreWatch:
        """What tells the desks of a tenant's edges that there is something new."""
        return self._watches.setdefault(tenant.name, StoreWatch(tenant.hub.store))

    def backbone_watch(self, hub: BackboneHub) -> StoreWatch:
        """What tells the desks of other hubs of the backbone that there is something new."""
        if self._backbone_watch is None:
            self._backbone_watch = member_watch(hub)
        return self._backbone_watch

    @contextmanager
    def channel(self, channel: HubChannel) -> Iterator[None]:
        """Let a channel end with the service."""
        self._channels.add(channel)
        try:
            yield
        finally:
            self._channels.discard(channel)

    @property
    def pulse(self) -> Pulse:
        """Whether the main store answers; there once the service has started."""
        assert self._pulse is not None, "the application has not started"
        return self._pulse

    async def start(self) -> None:
        """Open the main store; meanwhile the matcher is compiled, if it has not been yet (`health` tells)."""
        self._loop = asyncio.get_running_loop()
        Thread(target=warm.once, name="triplewire-warm", daemon=True).start()
        main = await self.tenants.get(MAIN)
        accounts = Accounts(main.hub.store)
        self._gate = Gate(accounts, is_on=self.settings.asks_who)
        self._identity = await asyncio.to_thread(kept_identity, main.hub.store, "hub")
        self._pulse = Pulse(lambda: main.hub.batches(limit=1))
        if isinstance(main.hub, NetworkHub):
            self.federation = Federation(
                main.hub,
                self.settings.address or self.url,
                join=self.settings.join,
                network=self.settings.network or "hypercube",
                cluster=self.settings.cluster or "",
                patience=self.settings.network_patience,
                certificate=fingerprint_of(self.settings.certificate),
                owners=lambda key: accounts.with_key(key, MAIN) if self.settings.asks_who else None,
            )
            await self.federation.start()
        if self.settings.deliver:
            self.deliverer = deliverer_of(self.settings, accounts)
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
        for channel in self._channels:
            channel.close("this hub stops")
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
        if self.federation is not None:
            await self.federation.stop()
        if self._pulse is not None:
            self._pulse.close()
        if self._gate is not None:
            self._gate.close()
        if self.deliverer is not None:
            await asyncio.to_thread(self.deliverer.stop)
        await self.tenants.close()
        if self.pipeline is not None:
            await self.pipeline.close()


@dataclass(frozen=True, slots=True)
class Admission:
    """A request that may be served: its account, and the tenant whose hub is asked.

    `granted` is the subscription that the secret address leads to, if the request came by one.
    """

    service: Service
    account: Account
    tenant: Tenant
    granted: str | None = None

    @property
    def hub(self) -> Hub:
        """The tenant's hub, which is asked."""
        return self.tenant.hub

    @property
    def vault(self) -> Vault:
        """What keeps the secrets of the tenant's deliveries."""
        return Vault.of(self.hub.store.url, self.service.settings.secrets_key)

    def require_owner(self, owner: str | None) -> None:
        """NotAllowed for an account that changes what is another's."""
        if not self.account.may("admin") and owner != self.account.id:
            raise NotAllowed("this belongs to another account; its owner or an admin may change it")

    def require_own(self, id: str) -> None:
        """NotAllowed unless the account made the subscription; and if this sees more than the account may see now.

        An admin's subscription sees every document. Its maker, no admin any more, could ask through it, and learn
        from how much there is to tell.
        """
        self.require_owner(self.tenant.hub.subscription(id).owner)
        self.require_sight(id, for_good=True)

    @property
    def viewer(self) -> str | None:
        """Whose documents are there for the caller; None: all of them, for an admin."""
        return None if self.account.may("admin") else self.account.id

    def require_sight(self, id: str, *, for_good: bool = False) -> None:
        """NotAllowed for what a subscription found on behalf of another account.

        As long as no document of the tenant has ever had an access list, all see the same, and may see it; unless it
        is `for_good`.
        """
        if self.viewer is None or id == self.granted:
            return
        with self.tenant.hub.store.reading() as reader:
            (query,) = reader.queries.by_ids([record_of(reader, id).query])
            is_own = query is not None and at_home(query.viewer) in (EVERYBODY, self.viewer)
            if not is_own and (for_good or reader.access.number()):
                raise NotAllowed(
                    f"{id}: some documents are not for everybody, so what a subscription finds is for who made it and "
                    'for admins; one with "sees": "everybody" is for all'
                )

    def sight(self, reader: Reader) -> Callable[[str | None], bool]:
        """Whether the caller may have what was found on behalf of a viewer, in this state: see `require_sight`."""
        all_see_all = self.viewer is None or not reader.access.number()
        return lambda viewer: all_see_all or at_home(viewer) in (EVERYBODY, self.viewer)

    def require_sights(self, ids: Iterable[str]) -> None:
        """NotAllowed if a list has come meanwhile that hides what was read of one of these subscriptions."""
        for id in dict.fromkeys(ids):
            with suppress(UnknownSubscription):
                self.require_sight(id)

    def see(self, id: str, read: Callable[[], Item]) -> Item:
        """What is read of a subscription, if the caller may have it.

        Asked before, so that the answer does not depend on what is there; and after, because a list may come between.
        """
        self.require_sight(id)
        found = read()
        self.require_sight(id)
        return found

    async def is_still_known(self) -> bool:
        """Whether the account is what it was when the request began: not revoked, and with the same role."""
        await self.service.gate.catch_up()
        return self.service.gate.knows(self.account)

    async def require_known(self) -> None:
        """NotAuthenticated for an account that was revoked, or has another role, since the request began."""
        if not await self.is_still_known():
            raise NotAuthenticated("the account was revoked or changed meanwhile; ask again, if it still may")

    async def settled(self, uri: str) -> None:
        """Wait until everything that was acknowledged of a document is applied.

        UnknownDocument at once for one that the caller may not read: how long one waits would tell that it changes.
        """
        if self.viewer is not None and await asyncio.to_thread(self._is_hidden, uri):
            raise UnknownDocument(uri)
        await self.tenant.intake.settled(uri)

    def _is_hidden(self, uri: str) -> bool:
        with self.tenant.hub.store.reading() as reader:
            (record,) = reader.documents.current([uri])
            listed = None if record is None else reader.access.of([record.id]).get(record.id)
        return listed is not None and not listed.may_read(self.viewer)


def listed(access: Admission, readers: Iterable[str], writers: Iterable[str]) -> Access:
    """An access list of accounts. Who sends it is one of its writers, unless it is an admin: so nobody is shut out."""
    gate, tenant = access.service.gate, access.account.tenant
    own = [] if access.viewer is None else [access.viewer]
    return Access(gate.ids_of(readers, tenant), [*gate.ids_of(writers, tenant), *own])


def service_of(request: Request) -> Service:
    """The service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


def address_of(request: Request) -> str:
    """Where this client finds the service: as the settings say, or as it asked."""
    settings = service_of(request).settings
    return (settings.address or str(request.base_url)).rstrip("/")


def _access(role: Role) -> Callable[[Request], Coroutine[Any, Any, Admission]]:
    async def access(request: Request) -> Admission:
        found: Admission | None = getattr(request.state, "access", None)
        if found is None:
            service = service_of(request)
            await service.gate.catch_up()
            account = caller(service, request)
            if not account.may(role):
                raise NotAllowed(f"this needs the role {role}, and {account.name} is {account.standing}")
            found = request.state.access = Admission(service, account, await service.tenants.get(account.tenant))
            await _note_age(request, found)
        return found

    return access


async def _note_age(request: Request, access: Admission) -> None:
    """How old what an edge answers may be: as it is before it is asked, so that no answer is older than it says."""
    hub = access.hub
    if isinstance(hub, Edge):
        request.state.as_of = await asyncio.to_thread(lambda: hub.as_of)


async def by_capability(request: Request, text: str) -> tuple[Admission, str]:
    """The access that a secret address gives, and to which subscription; UnknownFeed if it gives none."""
    service = service_of(request)
    await service.gate.catch_up()
    try:
        capability = parsed(text)
        if capability.tenant not in {MAIN, *service.settings.tenants, *service.gate.tenants()}:
            raise UnknownFeed
        tenant = await service.tenants.get(capability.tenant)
        addresses = FeedAddresses(tenant.hub.store, tenant.name)
        id, by = await asyncio.to_thread(addresses.subscription, capability)
        await asyncio.to_thread(_refuse_revoked, service, tenant, id, by)
    except UnknownFeed:
        service.refusals.spend(machine_of(request))
        raise
    service.pace.spend(f"feed {capability.handle}")
    bearer = Account("", "a reader with the address of a feed", "reader", tenant.name, "")
    found = Admission(service, bearer, tenant, granted=id)
    await _note_age(request, found)
    return found, id


def _refuse_revoked(service: Service, tenant: Tenant, id: str, by: str | None) -> None:
    """UnknownFeed for the address of a subscription that the address's maker may not read any more."""
    with tenant.hub.store.reading() as reader:
        (record,) = reader.subscriptions.find([id])
        (query,) = reader.queries.by_ids([record.query]) if record is not None else (None,)
    if record is None or query is None:
        raise UnknownFeed
    if service.gate.is_on and refusal((record.owner, by), query.viewer, service.gate.roles(tenant.name)):
        raise UnknownFeed


reading, _publishing, _administering = (door(_access(role)) for role in ROLES)
Reading = Annotated[Admission, Depends(reading)]
Publishing = Annotated[Admission, Depends(_publishing)]
Administering = Annotated[Admission, Depends(_administering)]
