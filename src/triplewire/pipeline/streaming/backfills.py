"""Backfills beside a stream: what answers new subscriptions already is found by Spark's workers, while batches go on.

What is looked for, and what it means, is the engine's (`engine.backfill`); Spark's workers do the shares. They
have a scheduler pool of their own, so that a micro-batch need not wait until a backfill is done.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic

from triplewire.engine import Hub
from triplewire.engine.backfill import backfills
from triplewire.engine.backfill.backfills import Filled
from triplewire.engine.names import now
from triplewire.errors import StoreBusy, StoreError, StoreUnavailable
from triplewire.pipeline.streaming.workers import SparkWorkers
from triplewire.store.backfills import RUNNING

POOL = "triplewire-backfill"
"""The name of the pool, and of the group of jobs."""
_LOOK = 0.5
"""Seconds between two looks whether a subscription waits."""
_RECOVERY = 5.0
"""Seconds between two looks whether a query that was over its limit is to be answered again."""
_PATIENCE = 5.0
"""Seconds to wait when the store cannot be used."""


class Backfiller:
    """Fills subscriptions that wait, as long as a stream runs.

    Several that wait are filled by one job. If it fails, they are filled one by one, and the one that fails alone has
    failed. The others, and the stream, go on.
    """

    def __init__(self, hub: Hub, workers: SparkWorkers, tell: Callable[[str], None]) -> None:
        self._hub, self._workers, self._tell = hub, workers, tell
        self._at_once = backfills.MANY
        self._beaten = self._looked = 0.0

    def run(self, stop: Event) -> None:
        """Until it is to stop."""
        is_begun = False
        while not stop.is_set():
            try:
                if not is_begun:
                    self._queue_again(failed=True)
                    is_begun = True
                self._beat()
                self._fill(stop)
                self._recover()
            except (StoreUnavailable, StoreBusy):
                stop.wait(_PATIENCE)
            stop.wait(_LOOK)
        try:
            with self._hub.store.writing() as writer:
                backfills.leave(writer)
        except StoreError:
            return  # the next backfiller begins again anyway

    def once(self) -> None:
        """Fill those that wait now."""
        self._queue_again(failed=True)
        self._fill(Event())

    def cancel(self) -> None:
        """End what is under way; it is begun again by the next one."""
        self._workers.cancel()

    def _beat(self) -> None:
        if not self._beaten or monotonic() - self._beaten > backfills.BEATING.total_seconds():
            with self._hub.store.writing() as writer:
                backfills.beat(writer)
            self._beaten = monotonic()

    def _recover(self) -> None:
        """Queries over their limit that have waited long enough are answered again, also while no batch comes."""
        if monotonic() - self._looked > _RECOVERY:
            self._looked = monotonic()
            self._hub.recover()

    def _fill(self, stop: Event) -> None:
        try:
            filled = self._hub.backfill(self._workers, at_once=self._at_once)
        except (StoreUnavailable, StoreBusy):
            self._queue_again()
            raise
        except Exception as error:
            if not stop.is_set():
                self._failed(error)
            return
        self._at_once = backfills.MANY
        if filled.subscriptions or filled.failed:
            self._tell(sentence(filled))
        for subscription, reason in filled.failed.items():
            self._tell(f"the backfill of {subscription} failed: {reason}")

    def _failed(self, error: Exception) -> None:
        """Try again one by one; whatever fails alone is not tried again before the next stream."""
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if self._at_once > 1:
            self._tell(f"a backfill failed ({reason}); trying again, one subscription after the other")
            self._at_once = 1
            self._queue_again()
            return
        with self._hub.store.writing() as writer:
            running = writer.backfills.listing(state=RUNNING)
            writer.backfills.fail([(one.number, reason) for one in running], now())
        for one in running:
            self._tell(f"the backfill of {one.subscription} failed: {reason}")

    def _queue_again(self, *, failed: bool = False) -> None:
        """What was begun, also by another stream, is to be done; with `failed`, what failed as well."""
        with self._hub.store.writing() as writer:
            writer.backfills.queue_again(failed=failed)


def sentence(filled: Filled) -> str:
    """What was done, for people.

    >>> sentence(Filled(2, 1500))
    'backfills: 2 done, with 1,500 rows'
    """
    failed = f"; {len(filled.failed):,} failed" if filled.failed else ""
    rows = "1 row" if filled.rows == 1 else f"{filled.rows:,} rows"
    return f"backfills: {filled.subscriptions:,} done, with {rows}{failed}"
