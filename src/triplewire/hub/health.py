"""Health: whether a service lives, whether it is ready for work, and what is not as it should be.

It is told to every client, so it names no files, hosts or tenants: the log does. The store is asked in a thread of its
own, one question at a time and with a limit: one that hangs holds up no request for health, and piles up no threads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from triplewire.errors import StoreError
from triplewire.matching.kernel import compiled

if TYPE_CHECKING:
    from triplewire.hub.service import Service
    from triplewire.hub.tenancy.tenants import Tenant

log = logging.getLogger("triplewire.hub")

_LIMIT = 3.0
"""Seconds that the store has for its answer."""
_STALLED = 60.0
"""Seconds without a batch, while changes wait, that are worth to be told."""
_WRITING = 10.0
"""Seconds that one batch is under way, that are worth to be told: it may be large, or wait for another writer."""


class Ailment(NamedTuple):
    """What is not as it should be; what `is_severe` makes a service not ready."""

    reason: str
    is_severe: bool = True


class Pulse:
    """Asks a store, and waits no longer than it should."""

    def __init__(self, question: Callable[[], object]) -> None:
        self._question = question
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triplewire-health")
        self._asked: Future[object] | None = None
        self._since = 0.0

    async def ailment(self) -> Ailment | None:
        """What is wrong with the store, if anything is."""
        if self._asked is None or self._asked.done():
            self._asked, self._since = self._thread.submit(self._question), monotonic()
        answer = asyncio.wrap_future(self._asked)
        await asyncio.wait({answer}, timeout=_LIMIT)
        if not answer.done():
            answer.add_done_callback(_error_of)  # which is known, although nobody waits for it any more
            return Ailment(f"the store has not answered for {monotonic() - self._since:.0f} seconds")
        error = _error_of(answer)
        if error is None:
            return None
        if not isinstance(error, StoreError):
            raise error
        log.warning("the store cannot be used: %s", error)
        return Ailment("the store cannot be used; the log says why")

    def close(self) -> None:
        """Ask no more; nobody waits for an answer that does not come."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _error_of(answer: asyncio.Future[object]) -> BaseException | None:
    return None if answer.cancelled() else answer.exception()


def ailments(service: Service) -> list[Ailment]:
    """What this process knows to be wrong, without a question to a store."""
    found = [ailment for tenant in service.tenants for ailment in _of_tenant(tenant)]
    if compiled.is_going_on():
        found.append(Ailment("the matcher is being compiled, once after it was installed; this takes about a minute"))
    if service.pipeline is not None and service.pipeline.trouble is not None:
        found.append(Ailment(f"{service.pipeline.trouble}; until it is back, this process applies changes", False))
    return list(dict.fromkeys(found))


def _of_tenant(tenant: Tenant) -> list[Ailment]:
    found = []
    if tenant.intake.failure is not None:
        found.append(Ailment(tenant.intake.failure))
    if tenant.turn.is_failing:
        found.append(Ailment("changes wait, and cannot be applied; the log says why"))
    elif tenant.intake.stalled > _STALLED:
        found.append(
            Ailment(f"changes wait, and none was applied for {tenant.intake.stalled:.0f} seconds", is_severe=False)
        )
    if tenant.intake.writing > _WRITING:
        reason = "the store may be locked by another writer, or the batch is a large one"
        found.append(Ailment(f"a batch takes {tenant.intake.writing:.0f} seconds so far; {reason}", is_severe=False))
    return found
