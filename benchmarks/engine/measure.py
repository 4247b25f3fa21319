"""Giving all contenders the same batches in turn, so that what disturbs the machine disturbs all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from time import perf_counter_ns, process_time_ns

from benchmarks.engine.contenders.contender import Contender
from benchmarks.engine.workload import Change, History
from benchmarks.measure import undisturbed

ROUNDS = {1: 30, 10: 15, 100: 8, 1000: 4}
"""How often a batch of a size is measured; for sizes between, as the smaller one."""

FEWEST_ROUNDS = 2
MOST_ROWS = 2_000_000
"""About so many rows are made by all batches of one size: fewer rounds where each document matches thousands."""


@dataclass(slots=True)
class Clock:
    """The times of one contender, in nanoseconds for a document."""

    contender: Contender
    times: list[float] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    """For a document, in each batch; none from a contender that does not tell them."""
    spent: float = 0.0

    @property
    def microseconds(self) -> float:
        return median(self.times) / 1000

    @property
    def matches(self) -> float:
        return mean(self.events) if self.events else 0.0


def rounds(batch: int, matches: float) -> int:
    """How often to measure, or 0 if even the fewest rounds would make too many rows."""
    wanted = next(found for size, found in sorted(ROUNDS.items(), reverse=True) if size <= batch)
    affordable = int(MOST_ROWS / (batch * max(matches, 1)))
    return 0 if affordable < FEWEST_ROUNDS else min(wanted, affordable)


def measure(
    contenders: Sequence[Contender],
    history: History,
    batch: int,
    rounds: int,
    seconds: float,
    progress: Callable[[str], None] = lambda text: None,
    *,
    by_cpu: bool = False,
) -> list[Clock]:
    """Time every contender on the next batches; the first one is not counted: what happens only once is not part of it.

    By the clock, or by what the processor does for it: all of them work in this process.
    A contender that has used its seconds is not timed any longer, but follows, so that all know the same in the end.
    Each round begins with another one.
    """
    clocks = [Clock(contender) for contender in contenders]
    with undisturbed():
        for number in range(-1, rounds):
            if history.remaining is not None and history.remaining < batch:
                break
            changes = history.batch(batch)
            start = number % len(clocks)
            for clock in (*clocks[start:], *clocks[:start]):
                progress(f"batches of {batch}: round {number + 1} of {rounds}, {clock.contender.name}")
                _take(clock, changes, process_time_ns if by_cpu else perf_counter_ns, number >= 0, seconds)
    return [clock for clock in clocks if clock.times]


def _take(clock: Clock, changes: Sequence[Change], now: Callable[[], int], counts: bool, seconds: float) -> None:
    if counts and len(clock.times) >= FEWEST_ROUNDS and clock.spent > seconds * 1e9:
        clock.contender.follow(changes)
        return
    before = clock.contender.events
    taken, scaled = 0, 0.0
    for step in clock.contender.ready(changes):
        start = now()
        step.call()
        end = now()
        taken += end - start
        scaled += (end - start) * step.times
    if counts:
        clock.spent += taken
        clock.times.append(scaled / len(changes))
        if before is not None and clock.contender.events is not None:
            clock.events.append((clock.contender.events - before) / len(changes))
