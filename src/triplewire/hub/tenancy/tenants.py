"""Tenants: each is a hub of its own, with its own store, so that no answer can hold what is another's (X9)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from triplewire.documents import Limits
from triplewire.engine import Hub
from triplewire.hub.bells import Bell, Together
from triplewire.hub.changes.acceptance import Acceptance
from triplewire.hub.changes.applier import Applier, Turn
from triplewire.hub.changes.group_commit import IntakeRoom
from triplewire.hub.settings import Settings, TenantSettings
from triplewire.hub.sparql.askers import Asker
from triplewire.hub.tenancy.hubs import following_hub
from triplewire.hub.tenancy.quotas import Quotas
from triplewire.intake.entries import APPLIER
from triplewire.intake.logs import log_of
from triplewire.isolation.parsing import Parsers


@dataclass(slots=True)
class Tenant:
    """A hub, and what serves its clients."""

    name: str
    hub: Hub
    settings: TenantSettings
    intake: Acceptance
    turn: Turn
    bell: Bell
    together: Together
    asker: Asker
    quotas: Quotas
    subscribing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        """Finish, and let go of everything."""
        await self.bell.close()
        await self.intake.close()
        await asyncio.to_thread(self.turn.stop)
        await asyncio.to_thread(self.asker.close)
        await asyncio.to_thread(self.hub.close)


class Tenants:
    """The tenants of a service, each opened when it is first asked for."""

    def __init__(self, settings: Settings, *, opened: Callable[[], None] = lambda: None) -> None:
        """`opened` is called when one is there that was not."""
        self._settings, self._tell_opened = settings, opened
        self.parsers = Parsers()
        self._open: dict[str, Tenant] = {}
        self._opening = asyncio.Lock()
        self._applies_here = settings.pipeline != "none"
        self._changing = threading.Lock()

    async def get(self, name: str) -> Tenant:
        """The tenant of a name."""
        if name not in self._open:
            async with self._opening:
                if name not in self._open:
                    tenant = await self._opened(name)
                    await asyncio.to_thread(self._add, tenant)
                    self._tell_opened()
        return self._open[name]

    def _add(self, tenant: Tenant) -> None:
        with self._changing:
            self._open[tenant.name] = tenant
            if self._applies_here:
                tenant.turn.start()

    def apply_here(self, is_so: bool) -> None:
        """Whether what waits, of every tenant, is applied by this process, or by another one from now on."""
        with self._changing:
            self._applies_here = is_so
            for tenant in self:
                if is_so:
                    tenant.turn.start()
                else:
                    tenant.turn.stop(finish=False)

    def applied(self, name: str) -> None:
        """Another process has applied something of a tenant."""
        if name in self._open:
            self._open[name].intake.nudge()

    async def _opened(self, name: str) -> Tenant:
        settings = self._settings
        own = settings.of_tenant(name)
        limits = Limits(bytes=settings.document_bytes)
        assert own.store is not None
        hub = await asyncio.to_thread(following_hub, settings, name, own.store)
        bell = Bell(hub.store)
        bell.start()
        quotas = Quotas(hub.store, own)
        room = IntakeRoom(settings.waiting_documents, settings.waiting_bytes, quotas=quotas)
        asker = Asker(
            own.store,
            seconds=settings.query_seconds,
            most_bytes=settings.query_bytes,
            memory=settings.query_memory,
            processes=settings.query_processes,
            quotas=quotas,
        )
        log = await asyncio.to_thread(log_of, hub.store)
        intake = Acceptance(
            hub,
            limits,
            room,
            log,
            bell.ring,
            is_heard=lambda: bell.count > 0,
            patience=settings.longest_wait,
            parsers=self.parsers,
        )
        turn = Turn(Applier(hub, limits), hub.store.lease(APPLIER), applied=_in_this_loop(intake.nudge))
        return Tenant(name, hub, own, intake, turn, bell, Together(bell), asker, quotas)

    def __iter__(self) -> Iterator[Tenant]:
        """The tenants that are open."""
        return iter(list(self._open.values()))

    async def close(self) -> None:
        """Close all of them."""
        for tenant in self._open.values():
            await tenant.close()
        self._open = {}
        await asyncio.to_thread(self.parsers.close)


def _in_this_loop(call: Callable[[], None]) -> Callable[[], None]:
    """The call, to be made from any thread and run in this event loop."""
    loop = asyncio.get_running_loop()

    def from_anywhere() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(call)

    return from_anywhere
