"""What Spark's own books tell of the tasks that a piece of work was cut into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_NUMBERS = count(1)


class Stages:
    """By stage, in order: how many records each task read from a shuffle, and how many it wrote to a file."""

    def __init__(self) -> None:
        self.shuffled: list[list[int]] = []
        self.written: list[list[int]] = []


@contextmanager
def noted(spark) -> Iterator[Stages]:
    """Watch the jobs of the block, which this thread starts."""
    context, found = spark.sparkContext, Stages()
    group = f"noted {next(_NUMBERS)}"
    context.setJobGroup(group, "watched by a test")
    try:
        yield found
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    context._jsc.sc().listenerBus().waitUntilEmpty()
    stages = sorted({stage for job in tracker.getJobIdsForGroup(group) for stage in tracker.getJobInfo(job).stageIds})
    for stage in stages:
        about = tracker.getStageInfo(stage)
        if about is not None and about.numCompletedTasks:
            tasks = store.taskList(stage, about.currentAttemptId, about.numTasks)
            metrics = [tasks.apply(number).taskMetrics().get() for number in range(tasks.size())]
            found.shuffled.append([one.shuffleReadMetrics().recordsRead() for one in metrics])
            found.written.append([one.outputMetrics().recordsWritten() for one in metrics])
