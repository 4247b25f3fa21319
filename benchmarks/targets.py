"""What was promised for the matching core, and whether a run keeps it. The promises are for 100,000 subscriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.report import Line, figure, find

TO_PARSING = {"W1": 2.0, "W1-ISA": 2.0, "W2-OID": 1.0, "W2-PATH": 1.0, "W2-JOIN": 1.0, "W3": 1.0, "W3-FEED": 1.0}
"""At most so many times the cost of parsing, one document at a time."""

TIMES_FASTER_THAN_EACH = 10_000
GROWTH = 1.5
BYTES = 500
READY_MILLISECONDS = 100
READY_TO_BUILDING = 1 / 20


class Verdict(NamedTuple):
    """One promise, and what this run says about it."""

    what: str
    value: float
    bound: float
    is_at_most: bool = True

    @property
    def is_met(self) -> bool:
        return self.value <= self.bound if self.is_at_most else self.value >= self.bound

    def __str__(self) -> str:
        sign = "<=" if self.is_at_most else ">="
        outcome = "met" if self.is_met else "MISSED"
        return f"{self.what} = {figure(self.value)} (target {sign} {figure(self.bound)}) {outcome}"


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the lines say about matching one document at a time."""
    for line in lines:
        if line.alternative != "triplewire" or line.batch != 1:
            continue
        floor, each = find(lines, line, "parse"), find(lines, line, "pyoxigraph-each")
        if floor and line.workload in TO_PARSING:
            ratio = line.microseconds / floor.microseconds
            yield Verdict(f"{line.workload}: matching / parsing", ratio, TO_PARSING[line.workload])
        if each:
            what = f"{line.workload}: one pyoxigraph query each / matching"
            yield Verdict(what, each.microseconds / line.microseconds, TIMES_FASTER_THAN_EACH, is_at_most=False)
