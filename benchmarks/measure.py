"""Timing alternatives in turn, so that what disturbs the machine disturbs all of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from time import perf_counter_ns

from benchmarks.alternatives import Alternative
from triplewire.model import Document

ROUNDS = 12
MOST_CALLS = 2000
"""How often an alternative runs in one round, if it is fast; one that is slow runs once. So many, because the first
calls after another alternative's turn find the processor's caches full of that one's data."""


@dataclass(slots=True)
class Clock:
    """The times of one alternative, in nanoseconds for a document and all subscriptions."""

    alternative: Alternative
    places: Iterator[int] = field(default_factory=count)
    times: list[float] = field(default_factory=list)
    spent: int = 0

    @property
    def microseconds(self) -> float:
        return median(self.times) / 1000


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection inside."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def measure(
    alternatives: Sequence[Alternative],
    documents: Sequence[Document],
    batch: int,
    seconds: float,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Clock]:
    """Time every alternative on one batch of documents after the other, each for at most about so many seconds.

    Round robin: a round gives each alternative a few calls, all on other documents, before the next one has its turn.
    """
    clocks = [Clock(alternative) for alternative in alternatives]
    for clock in clocks:
        _run(clock, documents, batch, calls=1)  # what happens only once is not part of it
        clock.times.clear()
        clock.spent = 0
    with undisturbed():
        for number in range(ROUNDS):
            for clock in clocks:
                if number < 2 or clock.spent < seconds * 1e9:
                    progress(f"batches of {batch}: round {number + 1} of {ROUNDS}, {clock.alternative.name}")
                    _run(clock, documents, batch, MOST_CALLS, budget=seconds * 1e9 / ROUNDS)
    return clocks


def _run(clock: Clock, documents: Sequence[Document], batch: int, calls: int, budget: float = 0.0) -> None:
    start = perf_counter_ns()
    for done in range(calls):
        if done and perf_counter_ns() - start > budget:
            break
        place = next(clock.places) * batch
        part = [documents[(place + i) % len(documents)] for i in range(batch)]
        clock.times.append(_time(clock.alternative, part))
    clock.spent += perf_counter_ns() - start


def _time(alternative: Alternative, batch: Sequence[Document]) -> float:
    call = alternative.ready(batch)
    before = perf_counter_ns()
    result = call()
    after = perf_counter_ns()
    del result  # only now: letting go of what was found is not finding it
    return (after - before) / len(batch) / alternative.share
