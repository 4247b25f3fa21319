"""Spark as the engine's workers: each process that Spark starts has the store open, and does shares of a work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from py4j.protocol import Py4JError

from triplewire.engine.workers import SharedFinder, Worker
from triplewire.errors import PipelineError
from triplewire.matching.incremental import MOST_TRIPLES
from triplewire.pipeline.streaming.stores import worker

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

_Share = TypeVar("_Share")
_Result = TypeVar("_Result")

SMALL = 50_000
"""Seeds, or documents, up to which the driver finds by itself. Why so many: at 16,000 seeds, two workers on two busy
cores took 1.2 to 2.2 times as long as the driver alone (`./run bench spark --part streaming`)."""


class SparkWorkers:
    """Gives shares to the workers of a Spark; with a `pool`, in a scheduler pool and a group of jobs of that name."""

    def __init__(
        self, context: SparkContext, url: str, *, most_triples: int = MOST_TRIPLES, pool: str | None = None
    ) -> None:
        self._context, self._url, self._most, self._pool = context, url, most_triples, pool
        self._is_over = False

    def each(self, work: Callable[[Worker, _Share], _Result], shares: Iterable[_Share]) -> list[_Result]:
        """See `Workers.each`; what the work has been given crosses to each worker once."""
        given = list(shares)
        if not given:
            return []
        if self._is_over:
            raise PipelineError("the stream is being stopped; this backfill is for the next run")
        if self._pool is not None:
            self._context.setJobGroup(self._pool, "what answers new subscriptions already")
            self._context.setLocalProperty("spark.scheduler.pool", self._pool)
        sent = self._context.broadcast(work)
        try:
            task = _Task(self._url, self._most, sent)
            return self._context.parallelize(given, len(given)).map(task).collect()
        finally:
            sent.destroy()

    def cancel(self) -> None:
        """Let go of what is under way in the pool, and begin nothing more."""
        self._is_over = True
        if self._pool is not None:
            with suppress(Py4JError):  # Spark may be gone already
                self._context.cancelJobGroup(self._pool)


@dataclass(frozen=True)
class _Task(Generic[_Share, _Result]):
    """What runs in a worker."""

    url: str
    most_triples: int
    work: Broadcast[Callable[[Worker, _Share], _Result]]

    def __call__(self, share: _Share) -> _Result:
        return self.work.value(worker(self.url, self.most_triples), share)


def spark_finder(
    context: SparkContext, url: str, *, small: int = SMALL, most_triples: int = MOST_TRIPLES
) -> SharedFinder:
    """Finds the rows of large batches with the workers of a Spark."""
    workers = SparkWorkers(context, url, most_triples=most_triples)
    return SharedFinder(workers, small, shares=2 * context.defaultParallelism)
