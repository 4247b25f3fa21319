"""What was promised for XPath, and whether a run keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.report import Line
from benchmarks.targets import Verdict

PROMISED = 10_000
TIMES_FASTER_THAN_EACH = 500
TO_PARSING = 5.0
GROWTH = 1.5


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the lines say of the promises."""
    times = {(line.workload, line.subscriptions, line.alternative): line.microseconds for line in lines}
    for (workload, count, alternative), ours in times.items():
        if alternative != "triplewire":
            continue
        name = f"{workload}, {count:,}"
        each, parse = times.get((workload, count, "lxml-each")), times.get((workload, count, "parse"))
        if each and count == PROMISED:
            yield Verdict(f"{name}: one XPath each / matching", each / ours, TIMES_FASTER_THAN_EACH, is_at_most=False)
        if parse and count == PROMISED:
            yield Verdict(f"{name}: matching / parsing", ours / parse, TO_PARSING)
        more = times.get((workload, 10 * count, "triplewire"))
        if more and workload.endswith("-NONE"):
            yield Verdict(f"{name}: ten times as many that do not match", more / ours, GROWTH)
