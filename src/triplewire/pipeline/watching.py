"""How far a batch is, for a person who waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from triplewire.pipeline.tally import Tally

if TYPE_CHECKING:
    from pyspark import SparkContext, StatusTracker

_SECONDS = 0.25


class Progress(NamedTuple):
    """What finished tasks have done, and how many of the running jobs' tasks are finished."""

    tally: Tally
    tasks: int
    all_tasks: int


@contextmanager
def watched(
    context: SparkContext, tally: Callable[[], Tally], show: Callable[[Progress], None], seconds: float = _SECONDS
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
    """Finished tasks and all tasks, in the stages of the jobs that are running."""
    done = total = 0
    for job in tracker.getActiveJobsIds():
        about = tracker.getJobInfo(job)
        for stage in about.stageIds if about is not None else ():
            found = tracker.getStageInfo(stage)
            if found is not None:
                done, total = done + found.numCompletedTasks, total + found.numTasks
    return done, total
