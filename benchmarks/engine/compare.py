"""One workload in one size: set the contenders up, give them the background, time them, check that they agree."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.engine.contenders.bare import BareWrite
from benchmarks.engine.contenders.contender import Contender
from benchmarks.engine.contenders.hub import Triplewire
from benchmarks.engine.contenders.oxigraph import OxigraphAll
from benchmarks.engine.contenders.sql_filter import SqlFilter
from benchmarks.engine.measure import Clock, measure, rounds
from benchmarks.engine.workload import Workload
from benchmarks.report import Line, Progress

CONTENDERS: dict[str, Callable[[Workload, Path], Contender]] = {
    "triplewire": Triplewire,
    "bare-write": BareWrite,
    "sql-filter": SqlFilter,
    "pyoxigraph-all": OxigraphAll,
}
"""By name, ours first; each takes the workload and a folder for its database."""

CHECKED = 60
"""So many subscriptions are compared after the last batch."""


def compare(
    workload: Workload,
    names: Sequence[str],
    triples: int,
    batches: Sequence[int],
    seconds: float,
    progress: Progress,
    most_rounds: int = 1000,
    *,
    by_cpu: bool = False,
) -> Iterator[Line]:
    """Lines for every batch size, contenders in the order of their names."""
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as place, ExitStack() as open_ones:
        contenders = []
        for name in names:
            contenders.append(_prepared(workload, name, Path(place), triples, progress))
            open_ones.callback(contenders[-1].close)
        history = workload.history()
        for _ in history.background(triples):
            pass  # the contenders have it; the history has to know that it was
        for batch in batches:
            wanted = min(most_rounds, rounds(batch, workload.matches))
            if not wanted:
                rows = round(batch * workload.matches)
                progress.stage(f"  left out: batches of {batch:,}, each of which would make {rows:,} rows")
                continue
            clocks = measure(contenders, history, batch, wanted, seconds, progress, by_cpu=by_cpu)
            for clock in clocks:
                yield _line(workload, triples, batch, clock, clock if clock.events else clocks[0])
        progress("checking that all agree")
        check(workload, contenders)
        progress.done()


def _prepared(workload: Workload, name: str, place: Path, triples: int, progress: Progress) -> Contender:
    progress(f"{name}: subscribing")
    folder = place / name
    folder.mkdir()
    contender = CONTENDERS[name](workload, folder)
    contender.load(workload.history().background(triples), lambda done: progress(f"{name}: {done:,} documents loaded"))
    return contender


def check(workload: Workload, contenders: Sequence[Contender]) -> None:
    """All that match have the same rows for some subscriptions."""
    asked = random.Random(f"check {workload.name}").sample(
        range(workload.subscriptions), min(CHECKED, workload.subscriptions)
    )
    told = [(contender.name, rows) for contender in contenders if (rows := contender.rows(asked)) is not None]
    for name, rows in told[1:]:
        first, expected = told[0]
        wrong = [i for i in asked if rows[i] != expected[i]]
        if wrong:
            raise AssertionError(f"{name} and {first} differ on {workload.name}: subscriptions {wrong[:10]}")


def _line(workload: Workload, triples: int, batch: int, clock: Clock, counting: Clock) -> Line:
    """The matches of a contender that does not count them are those of the first one, ours."""
    return Line(
        workload=workload.name,
        subscriptions=workload.subscriptions,
        batch=batch,
        alternative=clock.contender.name,
        microseconds=clock.microseconds,
        matches=counting.matches,
        sampled=clock.contender.sampled,
        triples=triples,
    )
