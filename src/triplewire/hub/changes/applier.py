"""The applier: what was acknowledged and waits on a log, applied by an engine in batches; by one process at a time.

The batch that applies changes takes them off their log in its own transaction. A change that cannot be applied is set
aside with the reason in that transaction, as a stream does it (`triplewire rejected`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from triplewire.documents import Limits
from triplewire.engine import Hub, Outcome
from triplewire.hub.changes.group_commit import WRITERS
from triplewire.intake.backlog import Backlog, coming, taken
from triplewire.intake.settlement import Parts, changes_in, settle
from triplewire.store import Lease, WaitingEntry

log = logging.getLogger("triplewire.hub")

MOST, MOST_BYTES = 1_000, 32 * 1024 * 1024
"""Of one batch. Why not more: every other writer to the store waits for it, and so does the first of its events."""
_LOOK, _REST, _LONGEST_REST = 0.01, 0.005, 0.1
"""Seconds between two looks at an empty log; and after a batch, for others who want to write.

The rest is as long as the batch took: then more comes together, and a change of a large batch costs a third of what one
of a small batch costs. When there is enough for a whole batch, it is as short as can be."""
_SLOWER = 1.02
"""So many times as long is each rest of one who looks and finds nothing."""
_LEASE, _TRY_AGAIN = 0.1, 1.0
"""Seconds until it is asked again whether the lease is free; and whether the store can be used."""
_RECOVERY = 5.0
"""Seconds between two looks whether a query that was over its limit is to be answered again."""
GRACE = 5.0
"""Seconds to finish what waits, when all is to end."""


class Applier:
    """Applies what waits on the logs of a hub's store."""

    def __init__(self, hub: Hub, limits: Limits) -> None:
        self._hub, self._limits = hub, limits
        self.backlog = Backlog(hub.store)
        self._door = hub.store.lease(WRITERS)
        self._next_recovery = 0.0
        self.batches = 0
        self.events = 0

    def step(self) -> int:
        """Apply one batch of what waits; how many changes that were."""
        some = self.backlog.some(most=MOST, most_bytes=MOST_BYTES)
        if some:
            with self._door.turn():
                self._apply(some)
        return len(some)

    def recover(self) -> bool:
        """Answer again the queries over their limit that have waited long enough; whether there were any."""
        if monotonic() < self._next_recovery:
            return False
        self._next_recovery = monotonic() + _RECOVERY
        with self._door.turn():
            outcome = self._hub.recover()
        self.events += len(outcome) if outcome is not None else 0
        return outcome is not None

    def _apply(self, some: Sequence[WaitingEntry]) -> None:
        """Apply all of the entries, in one batch if it can be."""

        def applied(parts: Parts[WaitingEntry]) -> Outcome:
            return self._hub.apply(changes_in(parts), handled=taken(some, parts))

        for settled in settle(coming(some, self._limits), applied):
            self.batches += 1
            self.events += len(settled.outcome or ())
            for one in settled.refused:
                log.error("%s cannot be applied, and is set aside: %s", one.origin.entry.uri, one.error)


class Turn:
    """Lets an applier work in a thread, whenever this process has the lease.

    `applied` hears of each batch. `instead` is asked before each whether a stream applied what waits. `quiet` is
    how long it may rest between two looks, when nothing has come for a while.
    """

    def __init__(
        self,
        applier: Applier,
        lease: Lease,
        *,
        applied: Callable[[], None] = lambda: None,
        instead: Callable[[], bool] = lambda: False,
        quiet: float | None = None,
    ) -> None:
        self._rest, self._longest_rest = _LOOK, quiet or _LOOK
        self._applier, self._lease, self._applied, self._instead = applier, lease, applied, instead
        self._stop = threading.Event()
        self._finishes = True
        self._thread: threading.Thread | None = None
        self._changing = threading.Lock()
        self.is_failing = False
        """Whether what waits could not be applied the last time."""

    def start(self) -> None:
        """Begin, if it has not."""
        with self._changing:
            if self._thread is None:
                self._stop.clear()
                self._thread = threading.Thread(target=self._run, name="triplewire applier", daemon=True)
                self._thread.start()

    def stop(self, *, finish: bool = True) -> None:
        """End and give the lease back: when what waits is applied, or some seconds are over; or after this batch."""
        with self._changing:
            if self._thread is not None:
                self._finishes = finish
                self._stop.set()
                self._thread.join()
                self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                pause = self._once()
                self.is_failing = False
            except Exception as error:  # the next time it may go well; until then, everything is kept
                log.warning("changes wait, because they cannot be applied: %s", error)
                pause, self.is_failing = _TRY_AGAIN, True
            self._stop.wait(pause)
        with suppress(Exception):
            self._finish()
        self.is_failing = False  # from now on, it is another's matter
        self._lease.release()

    def _finish(self) -> None:
        until = monotonic() + (GRACE if self._finishes else 0)
        while monotonic() < until and self._lease.hold() and self._applier.step():
            self._applied()

    def _once(self) -> float:
        if not self._lease.hold():
            return _LEASE
        if not self._applier.backlog.has_news():
            if self._applier.recover():
                self._applied()
            self._rest = min(self._longest_rest, self._rest * _SLOWER)
            return self._rest
        began = monotonic()
        count = MOST if self._instead() else self._applier.step()
        if not count:
            return self._rest
        self._rest = _LOOK
        self._applied()
        return _REST if count >= MOST else min(_LONGEST_REST, max(_REST, monotonic() - began))
