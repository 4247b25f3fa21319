"""The measurements behind the figures.

As in the paper: a rule base of one type, documents that are registered in batches, and the overall time divided by the
batch size. The store is empty in the beginning. Beside the hub, the paper's own way, its filter tables, is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.engine.compare import compare
from benchmarks.engine.workloads import generate
from benchmarks.mdv.experiments import Experiment, Point
from benchmarks.report import Progress

CONTENDERS = ("triplewire", "sql-filter")
ROUNDS = 3
SECONDS = 30.0


def measure(
    experiment: Experiment, batches: Sequence[int], rounds: int, progress: Progress, *, by_cpu: bool = False
) -> Iterator[Point]:
    """Measure every curve of a figure, by the clock or by what the processor does for it."""
    for rules in experiment.rules:
        for percentage in experiment.percentages:
            varies = len(experiment.percentages) > 1
            match = f", {percentage:g} % match" if varies else ""
            progress.stage(f"figure {experiment.figure}: {experiment.workload}, {rules:,} rules{match}")
            workload = generate(experiment.workload, rules, percentage=percentage)
            for line in compare(workload, CONTENDERS, 0, batches, SECONDS, progress, rounds, by_cpu=by_cpu):
                yield Point(
                    figure=experiment.figure,
                    workload=line.workload,
                    subscriptions=rules,
                    batch=line.batch,
                    alternative=line.alternative,
                    microseconds=line.microseconds,
                    matches=line.matches,
                    percentage=percentage if varies else None,
                )
