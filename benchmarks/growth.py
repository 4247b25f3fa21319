"""`--scale`: what a document costs when there are more and more subscriptions that it does not match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.alternatives import Indexed, build
from benchmarks.measure import measure
from benchmarks.report import Line, Progress, figure, table
from benchmarks.targets import GROWTH, Verdict
from benchmarks.workloads import generate

SIZES = (10_000, 100_000, 1_000_000)
MATCHING = 30
"""How many subscriptions of W1 match a document, however many there are."""
SECONDS = 3.0


def run(names: Sequence[str], progress: Progress, largest: int | None = None) -> list[Line]:
    """Measure workloads in three sizes, up to a million or to `largest`."""
    sizes = SIZES if largest is None else (largest // 4, largest // 2, largest)
    lines = [line for name in names for line in _grow(name, sizes, progress)]
    progress.done()
    _print_report(lines)
    return lines


def _grow(name: str, sizes: Sequence[int], progress: Progress) -> Iterator[Line]:
    """Build all sizes, then time them in turn on the documents of the smallest, which the others match as well."""
    matching = min(MATCHING, sizes[0] // 100) if name.startswith("W1") else 1
    workloads = [generate(name, size, matching=matching) for size in sizes]
    indexes = []
    for workload in workloads:
        progress.stage(f"{name}: {workload.subscriptions:,} subscriptions")
        indexes.append(Indexed(build(workload, lambda done: progress(f"indexing: {done:,}"))))
    documents = workloads[0].documents
    for index in indexes:
        counts = {len(index.matches(document)) for document in documents}
        assert counts == {matching}, f"{name} was to have {matching} matches for each document, not {sorted(counts)}"
    for workload, clock in zip(workloads, measure(indexes, documents, 1, SECONDS, progress), strict=True):
        yield Line(name, workload.subscriptions, 1, "triplewire", clock.microseconds, matching)


def _print_report(lines: Sequence[Line]) -> None:
    firsts = {line.workload: line for line in reversed(lines)}
    heads = ("workload", "alternative", "subscriptions", "matches", "us/document", "x the smallest")
    rows = [
        (
            line.workload,
            line.alternative,
            f"{line.subscriptions:,}",
            figure(line.matches),
            figure(line.microseconds),
            figure(line.microseconds / firsts[line.workload].microseconds),
        )
        for line in lines
    ]
    print(table(heads, rows))
    print()
    for name, first in reversed(firsts.items()):
        last = [line for line in lines if line.workload == name][-1]
        what = f"{name}: a document among {last.subscriptions:,} / among {first.subscriptions:,}"
        print(Verdict(what, last.microseconds / first.microseconds, GROWTH))
