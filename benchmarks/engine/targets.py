"""What was promised for the engine, and whether a run keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.report import Line, table
from benchmarks.report import figure as rounded
from benchmarks.targets import Verdict

SUBSCRIPTIONS = 100_000
BATCH = 1000
TO_WRITING = 3.0
"""Applying a batch of BATCH documents with SUBSCRIPTIONS, at most so many times the bare writing of it."""
GROWTH = 1.5
"""From the smaller to the larger store, and from fewer to more subscriptions that do not match, at most."""
TIMES_FASTER_THAN_ALL = 1000

_GROWING_MATCHES = ("MDV-COMP",)
"""More subscriptions, more matches: what they cost says nothing about those that do not match."""


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the lines say, one promise after the other."""
    ours = [line for line in lines if line.alternative == "triplewire"]
    yield from _to_writing(ours, lines)
    yield from _growth(ours, "triples", lambda line: line.triples or 0)
    few = [line for line in ours if line.workload not in _GROWING_MATCHES]
    yield from _growth(few, "subscriptions", lambda line: line.subscriptions)
    most = max((line.subscriptions for line in ours), default=0)
    for line in ours:
        other = find(lines, line, "pyoxigraph-all")
        if other and line.subscriptions == most:
            ratio = other.microseconds / line.microseconds
            what = f"{_place(line)}: asking all again / applying"
            yield Verdict(what, ratio, TIMES_FASTER_THAN_ALL, is_at_most=False)


def _to_writing(ours: Sequence[Line], lines: Sequence[Line]) -> Iterator[Verdict]:
    most = max((line.subscriptions for line in ours), default=0)
    largest = max((line.batch for line in ours), default=0)
    for line in ours:
        floor = find(lines, line, "bare-write")
        if floor and (line.subscriptions, line.batch) == (most, largest):
            yield Verdict(
                f"{_place(line)}: applying / bare writing", line.microseconds / floor.microseconds, TO_WRITING
            )


def _growth(ours: Sequence[Line], what: str, size: Callable[[Line], int]) -> Iterator[Verdict]:
    """Lines that differ only in a size: the largest to the smallest."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for line in ours:
        others = (line.subscriptions, line.triples)[what == "subscriptions"]
        groups.setdefault((line.workload, line.batch, others), []).append(line)
    for group in groups.values():
        smallest, largest = min(group, key=size), max(group, key=size)
        if size(smallest) < size(largest):
            name = f"{largest.workload}, batches of {largest.batch:,}: {size(largest):,} / {size(smallest):,} {what}"
            yield Verdict(name, largest.microseconds / smallest.microseconds, GROWTH)


def find(lines: Sequence[Line], like: Line, alternative: str) -> Line | None:
    """Another alternative in the same place."""
    same = (line for line in lines if _key(line) == _key(like))
    return next((line for line in same if line.alternative == alternative), None)


def _key(line: Line) -> tuple[str, int, int, int | None]:
    return line.workload, line.subscriptions, line.batch, line.triples


def _place(line: Line) -> str:
    return f"{line.workload}, {line.subscriptions:,} subscriptions, {line.triples or 0:,} triples, batch {line.batch:,}"


def comparison(lines: Sequence[Line]) -> str:
    """The lines as a table, with ratios to bare writing and to ours."""
    heads = ("workload", "alternative", "subscriptions", "triples", "batch", "us/document", "matches")
    return table((*heads, "x bare-write", "x triplewire", "sampled"), [_row(line, lines) for line in lines])


def _row(line: Line, lines: Sequence[Line]) -> tuple[str, ...]:
    floor, ours = find(lines, line, "bare-write"), find(lines, line, "triplewire")
    return (
        line.workload,
        line.alternative,
        f"{line.subscriptions:,}",
        f"{line.triples or 0:,}",
        f"{line.batch:,}",
        rounded(line.microseconds),
        rounded(line.matches),
        rounded(line.microseconds / floor.microseconds) if floor else "",
        rounded(line.microseconds / ours.microseconds) if ours else "",
        f"{line.sampled:,}" if line.sampled else "",
    )
