"""Backfills beside a stream: what answers new subscriptions already is found by Spark's workers, while batches go on.

What is looked for, and what it means, is the engine's (`filling`, `backfilling`); here its shares become Spark's tasks.
They have a scheduler pool of their own, so that a micro-batch need not wait until a backfill is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from py4j.protocol import Py4JError

from triplewire.engine import Hub, backfilling
from triplewire.engine.answering import now
from triplewire.engine.backfilling import Filled
from triplewire.engine.filling import Job, Look, Matched, Share, Sought
from triplewire.errors import PipelineError, StoreBusy, StoreError, StoreUnavailable
from triplewire.pipeline.streaming.stores import opened
from triplewire.store.backfills import RUNNING

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

_Share = TypeVar("_Share")
_Result = TypeVar("_Result")

POOL = "triplewire-backfill"
"""The name of the pool, and of the group of jobs."""
_LOOK = 0.5
"""Seconds between two looks whether somebody waits."""
_RECOVERY = 5.0
"""Seconds between two looks whether a query that was over its limit is to be answered again."""
_PATIENCE = 5.0
"""Seconds to wait when the store cannot be used."""


class SparkSpread:
    """Hands the shares of a backfill to the workers of a Spark; each of them reads the store."""

    def __init__(self, context: SparkContext, url: str) -> None:
        self._context, self._url = context, url
        self._is_over = False

    def seek(self, job: Job, shares: Sequence[Share]) -> list[Sought]:
        """See `Spread.seek`."""
        return self._given(job, shares, _seek)

    def match(self, job: Job, shares: Sequence[Sequence[int]]) -> list[list[Matched]]:
        """See `Spread.match`."""
        return self._given(job, shares, _match)

    def cancel(self) -> None:
        """Let go of what is under way, and begin nothing more."""
        self._is_over = True
        with suppress(Py4JError):  # Spark may be gone already
            self._context.cancelJobGroup(POOL)

    def _given(self, job: Job, shares: Sequence[_Share], work: Callable[[Look, _Share], _Result]) -> list[_Result]:
        if not shares:
            return []
        if self._is_over:
            raise PipelineError("the stream is being stopped; this backfill is for the next run")
        self._context.setJobGroup(POOL, "what answers new subscriptions already")
        self._context.setLocalProperty("spark.scheduler.pool", POOL)
        sent = self._context.broadcast(job)
        try:
            return self._context.parallelize(shares, len(shares)).map(_Task(self._url, sent, work)).collect()
        finally:
            sent.destroy()


def _seek(look: Look, share: Share) -> Sought:
    return look.seek(share)


def _match(look: Look, documents: Sequence[int]) -> list[Matched]:
    return look.match(documents)


class _Task(Generic[_Share, _Result]):
    """What runs in a worker."""

    def __init__(self, url: str, job: Broadcast[Job], work: Callable[[Look, _Share], _Result]) -> None:
        self._url, self._job, self._work = url, job, work

    def __call__(self, share: _Share) -> _Result:
        return self._work(_look(self._url, _Named(self._job.value)), share)


class _Named:
    """A job, known by its name."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and other.job.name == self.job.name

    def __hash__(self) -> int:
        return hash(self.job.name)


@lru_cache(maxsize=1)
def _look(url: str, named: _Named) -> Look:
    """The job that a worker has at hand, for the shares to come."""
    return Look(opened(url), named.job)


class Backfiller:
    """Fills subscriptions that wait, as long as a stream runs.

    Several that wait are filled by one job. If it fails, they are filled one by one, and the one that fails alone has
    failed. The others, and the stream, go on.
    """

    def __init__(self, hub: Hub, spread: SparkSpread, tell: Callable[[str], None]) -> None:
        self._hub, self._spread, self._tell = hub, spread, tell
        self._at_once = backfilling.MANY
        self._beaten = self._looked = 0.0

    def run(self, stop: Event) -> None:
        """Until it is to stop."""
        is_begun = False
        while not stop.is_set():
            try:
                if not is_begun:
                    self._begin()
                    is_begun = True
                self._beat()
                self._fill(stop)
                self._recover()
            except (StoreUnavailable, StoreBusy):
                stop.wait(_PATIENCE)
            stop.wait(_LOOK)
        try:
            with self._hub.store.writing() as writer:
                backfilling.leave(writer)
        except StoreError:
            return  # whoever comes next begins again anyway

    def once(self) -> None:
        """Fill those that wait now."""
        self._begin()
        self._fill(Event())

    def cancel(self) -> None:
        """End what is under way; it is begun again by the next one."""
        self._spread.cancel()

    def _begin(self) -> None:
        """What another stream has begun, or failed to do, is to be done."""
        with self._hub.store.writing() as writer:
            writer.backfills.queue_again(failed=True)

    def _beat(self) -> None:
        if not self._beaten or monotonic() - self._beaten > backfilling.BEATING.total_seconds():
            with self._hub.store.writing() as writer:
                backfilling.beat(writer)
            self._beaten = monotonic()

    def _recover(self) -> None:
        """Queries over their limit that have waited long enough are answered again, also while no batch comes."""
        if monotonic() - self._looked > _RECOVERY:
            self._looked = monotonic()
            self._hub.recover()

    def _fill(self, stop: Event) -> None:
        try:
            filled = self._hub.backfill(self._spread, at_once=self._at_once)
        except (StoreUnavailable, StoreBusy):
            self._queue_again()
            raise
        except Exception as error:
            if not stop.is_set():
                self._failed(error)
            return
        self._at_once = backfilling.MANY
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

    def _queue_again(self) -> None:
        with self._hub.store.writing() as writer:
            writer.backfills.queue_again()


def sentence(filled: Filled) -> str:
    """What was done, for people.

    >>> sentence(Filled(2, 1500))
    'backfills: 2 done, with 1,500 rows'
    """
    failed = f"; {len(filled.failed):,} failed" if filled.failed else ""
    rows = "1 row" if filled.rows == 1 else f"{filled.rows:,} rows"
    return f"backfills: {filled.subscriptions:,} done, with {rows}{failed}"
