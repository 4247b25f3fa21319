"""`./run bench faults`: a service under load is broken in every way that is known; then everything is reconciled."""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.faults import faults
from benchmarks.faults.load import Publisher, Tally
from benchmarks.faults.reconciliation import Found, reconcile
from benchmarks.faults.world import Kind, World, made

_SHOWN = 5


@dataclass(slots=True)
class Report:
    """What was done to a service on one kind of store, and what came of it."""

    store: str
    pipeline: str
    minutes: float
    done: dict[str, int] = field(default_factory=dict)
    told: Tally = field(default_factory=Tally)
    found: Found = field(default_factory=Found)

    @property
    def is_good(self) -> bool:
        """Nothing lost, doubled or wrong."""
        return not (self.found.lost or self.found.doubled or self.found.wrong)


def main(arguments: Sequence[str]) -> int:
    """Break, reconcile, print; 1 if anything was lost, doubled or wrong."""
    parser = argparse.ArgumentParser(prog="./run bench faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of load and faults on each kind of store (10)")
    parser.add_argument("--store", choices=("sqlite", "postgresql", "both"), default="both", help="which store (both)")
    parser.add_argument("--pipeline", choices=("spark", "engine"), default="spark", help="who applies (spark)")
    parser.add_argument("--publishers", type=int, default=4, help="clients that publish at the same time (4)")
    parser.add_argument("--pause", type=float, default=5.0, help="seconds between two faults (5)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of faults (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    options = parser.parse_args(arguments)
    kinds: tuple[Kind, ...] = ("sqlite", "postgresql") if options.store == "both" else (options.store,)
    reports = [_broken(kind, options) for kind in kinds]
    for report in reports:
        _print(report)
    if options.json:
        options.json.write_text("".join(json.dumps(_plain(each)) + "\n" for each in reports), encoding="utf-8")
    return 0 if all(report.is_good for report in reports) else 1


def _broken(kind: Kind, options: argparse.Namespace) -> Report:
    report = Report(kind, options.pipeline, options.minutes)
    print(f"{kind}, applied by {options.pipeline}: {options.minutes:g} minutes of faults", flush=True)
    with made(kind, options.pipeline) as world:
        stop = threading.Event()
        publishers = [Publisher(world.url, number, options.seed, stop) for number in range(options.publishers)]
        for publisher in publishers:
            publisher.start()
        try:
            _break(world, report, options)
        finally:
            stop.set()
            for publisher in publishers:
                publisher.join()
        report.found = reconcile(world, publishers)
    for publisher in publishers:
        _add(report.told, publisher.tally)
    return report


def _break(world: World, report: Report, options: argparse.Namespace) -> None:
    """One fault after the other, in an order that the seed gives, each kind as often as the others."""
    chance = Random(options.seed)
    ends = time.monotonic() + 60 * options.minutes
    waiting: list[faults.Fault] = []
    time.sleep(options.pause)
    while time.monotonic() < ends:
        if world.pipeline == "spark":
            world.wait_for_spark()
        waiting = waiting or chance.sample(faults.of(world), len(faults.of(world)))
        fault = waiting.pop()
        print(f"  {faults.name_of(fault)}", flush=True)
        fault(world, chance)
        report.done[faults.name_of(fault)] = report.done.get(faults.name_of(fault), 0) + 1
        time.sleep(options.pause)


def _add(total: Tally, more: Tally) -> None:
    total.acknowledged += more.acknowledged
    total.refused += more.refused
    total.unknown += more.unknown
    total.slowest = max(total.slowest, more.slowest)


def _print(report: Report) -> None:
    told, found = report.told, report.found
    print(f"\n{report.store}, applied by {report.pipeline}")
    for name, count in sorted(report.done.items()):
        print(f"  {name:24} {count:5}")
    counts = ", ".join(f"{count:,} {name}" for name, count in found.counts.items())
    print(f"  changes acknowledged {told.acknowledged:,}, refused {told.refused:,}, without an answer {told.unknown:,}")
    print(f"  slowest answer {told.slowest:.1f} s; looked at: {counts}; web hooks that came again: {found.repeated:,}")
    print(f"  {'lost':>8} {'doubled':>8} {'wrong':>8} {'late':>8}")
    print(f"  {len(found.lost):8} {len(found.doubled):8} {len(found.wrong):8} {len(found.late):8}")
    for sentence in [*found.lost, *found.doubled, *found.wrong, *found.late][:_SHOWN]:
        print(f"  {sentence}")


def _plain(report: Report) -> dict[str, Any]:
    return {"benchmark": "faults", **asdict(report)}
