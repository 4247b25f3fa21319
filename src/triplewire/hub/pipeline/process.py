"""The pipeline of a service, in a process of its own: it applies what was acknowledged and waits, of every tenant.

A few changes are applied by an engine in this process, at once. When many wait, Spark is started, if it may be and can
be, and a stream over the store's intake log takes them: its workers read and find, the engine of its driver commits.
Until Spark is there, and where it cannot be started, the engine goes on alone. The process with a store's lease applies
what waits there: a second one waits until the first one ends, however it ends. Tenants that come later are noticed.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from triplewire.backbone import BackboneHub
from triplewire.documents import Limits
from triplewire.errors import ServiceError, StoreError
from triplewire.hub.changes.applier import Applier, Turn
from triplewire.hub.identity.accounts import Accounts, tenants_of
from triplewire.hub.pipeline.spark import Heavy, Spark, Tell
from triplewire.hub.settings import MAIN, Settings
from triplewire.hub.tenancy.hubs import hub_of
from triplewire.intake.entries import APPLIER
from triplewire.store import Store

log = logging.getLogger("triplewire.hub")

_LOOK = 1.0
"""Seconds between two looks for new tenants."""
_QUIET = 0.05
"""Seconds between two looks at the log of a tenant for which nothing has come for a while: there may be many."""


class Pipeline:
    """Applies what waits, in a thread for each tenant.

    `tell` hears what is going on, in sentences, and `applied` of each batch, with the name of its tenant.
    """

    def __init__(
        self, settings: Settings, *, tell: Tell = lambda text: None, applied: Callable[[str], None] = lambda name: None
    ) -> None:
        self._settings, self._tell, self._applied = settings, tell, applied
        self._spark = Spark(settings, tell) if settings.pipeline == "spark" else None
        self._parts: dict[str, _Part] = {}
        self._failed: dict[str, str] = {}
        self._store = Store.open(settings.store)
        self._over, self._wanted = threading.Event(), threading.Event()
        self._parts[MAIN] = self._part(MAIN)  # what is wrong with this one, the service must know
        self._look()
        self._thread = threading.Thread(target=self._keep_looking, name="triplewire tenants", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """There may be a new tenant: look at once."""
        self._wanted.set()

    def _keep_looking(self) -> None:
        while not self._over.is_set():
            self._wanted.wait(_LOOK)
            self._wanted.clear()
            if not self._over.is_set():
                self._look()

    def _look(self) -> None:
        """Begin with the tenants that are new; one that cannot be served is told once, and tried again."""
        try:
            names = tenants_of(self._settings, Accounts(self._store))
        except StoreError as error:
            log.warning("the tenants cannot be read: %s", error)
            return
        for name in names - self._parts.keys():
            try:
                self._parts[name] = self._part(name)
            except (StoreError, ServiceError) as error:
                if self._failed.get(name) != str(error):
                    self._failed[name] = str(error)
                    self._tell(f"nothing is applied for the tenant {name}: {error}")

    def _part(self, name: str) -> _Part:
        return _Part(name, self._settings, self._spark, lambda: self._applied(name))

    def close(self) -> None:
        """End, when what waits is applied or some seconds are over."""
        self._over.set()
        self._wanted.set()
        self._thread.join()
        ending = [threading.Thread(target=part.stop) for part in self._parts.values()]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()
        if self._spark is not None:
            self._spark.close()
        for part in self._parts.values():
            part.hub.close()
        self._store.close()


class _Part:
    """What applies the changes of one tenant."""

    def __init__(self, name: str, settings: Settings, spark: Spark | None, applied: Callable[[], None]) -> None:
        limits = Limits(bytes=settings.document_bytes)
        store = settings.of_tenant(name).store
        assert store is not None
        self.hub = hub_of(settings, name, store)
        applier = Applier(self.hub, limits)
        is_shared = isinstance(self.hub, BackboneHub)  # what a stream applies, other hubs would not hear of
        self._heavy = None if spark is None or is_shared else Heavy(spark, name, store, limits)
        heavy = self._heavy
        self._turn = Turn(
            applier,
            self.hub.store.lease(APPLIER),
            applied=applied,
            instead=(lambda: False) if heavy is None else (lambda: heavy.takes_on(applier.backlog)),
            quiet=None if name == MAIN else _QUIET,
        )
        self._turn.start()

    def stop(self) -> None:
        """Finish what waits, within some seconds."""
        if self._heavy is not None:
            self._heavy.stop()
        self._turn.stop()


READY, APPLIED, ALIVE = "ready", "applied", "alive"
"""What a child says to the process that started it; the second with the name of a tenant, the third now and then."""
_HEARTBEAT = 2.0
"""Seconds between two signs of life."""


def main() -> None:
    """Be the pipeline of the process that started this one: its settings are the first line, its end is the end.

    Every further line means that there may be a new tenant.
    """
    settings = Settings.of(json.loads(sys.stdin.readline()))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_keep_saying_so, name="triplewire heartbeat", daemon=True).start()
    pipeline = Pipeline(
        settings,
        tell=lambda text: print(f"pipeline: {text}", file=sys.stderr, flush=True),
        applied=lambda name: _say(f"{APPLIED} {name}"),
    )
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, _end)  # a service manager may send it to all processes of a service
        _say(READY)
        for _ in sys.stdin:
            pipeline.look()
    pipeline.close()


def _say(text: str) -> None:
    """One line, at once: several threads speak."""
    with suppress(OSError):  # the service that started this is gone, which ends the input as well
        os.write(sys.stdout.fileno(), f"{text}\n".encode())


def _keep_saying_so() -> None:
    while True:
        _say(ALIVE)
        time.sleep(_HEARTBEAT)


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
