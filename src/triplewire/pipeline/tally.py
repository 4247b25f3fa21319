"""What workers tell the driver while they work: how many, how long, and what was bad."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import add
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext, StatusTracker

MOST_KEPT = 1000
"""How many bad documents are told with their reasons: enough for nearly every run, and bounded in the driver."""


class Bad(NamedTuple):
    """A document that was set aside, or one on which a single subscription failed."""

    document: str
    subscription: str | None
    reason: str


class Tally(NamedTuple):
    """Counts of what was done; they can be added."""

    documents: int = 0
    matches: int = 0
    """Pairs of a document and a subscription that it has rows for."""
    rows: int = 0
    bad: int = 0
    kept: tuple[Bad, ...] = ()
    """Some of what was bad: all of it, if `bad` says the same number."""
    reading: float = 0.0
    """Seconds that workers spent on parsing."""
    matching: float = 0.0
    """Seconds that workers spent on matching."""

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        both = Tally(*map(add, self, other))
        return both._replace(kept=both.kept[:MOST_KEPT])


def new_tally(context: SparkContext) -> Accumulator[Tally]:
    """A tally that workers add to. Spark counts each finished task once, however often it was tried."""
    from pyspark.accumulators import AccumulatorParam

    class Adding(AccumulatorParam[Tally]):
        def zero(self, value: Tally) -> Tally:
            return Tally()

        def addInPlace(self, value1: Tally, value2: Tally) -> Tally:
            return value1.plus(value2)

    return context.accumulator(Tally(), Adding())


# -- for a person who waits


class Progress(NamedTuple):
    """What finished tasks have done, and how many of the running jobs' tasks are finished."""

    tally: Tally
    tasks: int
    all_tasks: int


@contextmanager
def watched(
    context: SparkContext, tally: Callable[[], Tally], show: Callable[[Progress], None], seconds: float = 0.25
) -> Iterator[None]:
    """Tell now and then, from a thread, how far Spark is with what runs inside; `tally` gives the counts so far."""
    over = threading.Event()
    tracker = context.statusTracker()

    def look() -> None:
        while not over.wait(seconds):
            show(Progress(tally(), *_tasks(tracker)))

    thread = threading.Thread(target=look, name="triplewire-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tasks(tracker: StatusTracker) -> tuple[int, int]:
    done = total = 0
    for job in tracker.getActiveJobsIds():
        about = tracker.getJobInfo(job)
        for stage in about.stageIds if about is not None else ():
            found = tracker.getStageInfo(stage)
            if found is not None:
                done, total = done + found.numCompletedTasks, total + found.numTasks
    return done, total
