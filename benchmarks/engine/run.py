"""`./run bench engine`: what a batch of changes costs, next to bare writing, MDV's filter, and asking all again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.engine import targets
from benchmarks.engine.compare import CONTENDERS, compare
from benchmarks.engine.providers import PERCENTAGE
from benchmarks.engine.workloads import WORKLOADS, generate
from benchmarks.report import Line, Progress, write

SUBSCRIPTIONS = (10_000, 100_000)
TRIPLES = (100_000, 5_000_000)
BATCHES = (1, 10, 100, 1000)
GROWN = ("MDV-JOIN", "CATALOGUE")
"""The workloads that are also measured in larger stores, if no others are asked for: loading those takes its time."""
IN_LARGER_STORES = ("triplewire", "bare-write")
SECONDS = 20.0

QUICK_SUBSCRIPTIONS = (500, 1000)
QUICK_TRIPLES = (2000, 8000)
QUICK_BATCHES = (1, 10, 100)


class Setting(NamedTuple):
    """One workload in one size, and who takes part."""

    workload: str
    subscriptions: int
    triples: int
    names: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    """Measure what the arguments ask for, print it, and write it after each setting."""
    options = _parser().parse_args(arguments)
    progress, lines = Progress(), list[Line]()
    for setting in settings(options):
        progress.stage(f"{setting.workload}: {setting.subscriptions:,} subscriptions, {setting.triples:,} triples")
        workload = generate(setting.workload, setting.subscriptions, options.seed, options.percentage)
        batches = options.batch or (QUICK_BATCHES if options.quick else BATCHES)
        seconds, most = (0.1, 2) if options.quick else (options.seconds, 1000)
        found = list(
            compare(workload, setting.names, setting.triples, batches, seconds, progress, most, by_cpu=options.cpu)
        )
        print(targets.comparison(found), end="\n\n", flush=True)
        lines += found
        if options.json:
            write(lines, options.json)
    _print_verdicts(lines)
    return 0


def settings(options: argparse.Namespace) -> Iterator[Setting]:
    """Every workload with every number of subscriptions in the smallest store; the largest number in larger stores."""
    sizes = options.subscriptions or (QUICK_SUBSCRIPTIONS if options.quick else SUBSCRIPTIONS)
    smallest, *larger = sorted(set(options.triples or (QUICK_TRIPLES if options.quick else TRIPLES)))
    names = tuple(name for name in CONTENDERS if name in (options.alternative or CONTENDERS))
    for workload in options.workload or WORKLOADS:
        for size in sizes:
            yield Setting(workload, size, smallest, names)
        for triples in larger if workload in (options.workload or GROWN) else ():
            few = tuple(name for name in names if name in IN_LARGER_STORES)
            yield Setting(workload, max(sizes), triples, few or names)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench engine", description=__doc__)

    def several(name: str, help: str, choices: Sequence[str] | None = None) -> None:
        kind = str if choices else int
        parser.add_argument(name, nargs="+", action="extend", type=kind, choices=choices, help=help)

    several("--subscriptions", f"how many ({_listed(SUBSCRIPTIONS)})")
    several("--workload", "only these", WORKLOADS)
    several("--batch", f"changes at once ({_listed(BATCHES)})")
    several("--triples", f"in the store before ({_listed(TRIPLES)}; larger stores only with the most subscriptions)")
    several("--alternative", "only these", tuple(CONTENDERS))
    parser.add_argument("--percentage", type=float, default=PERCENTAGE, help="of COMP's rules met by a document (10)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each alternative and batch, about (20)")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock's, on a busy machine")
    parser.add_argument("--seed", type=int, default=1, help="of the generators (1)")
    parser.add_argument("--quick", action="store_true", help="everything in small, in seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    return parser


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number}" for number in numbers)


def _print_verdicts(lines: Sequence[Line]) -> None:
    largest = max((line.subscriptions for line in lines), default=0), max((line.batch for line in lines), default=0)
    if largest != (targets.SUBSCRIPTIONS, targets.BATCH):
        print("The targets are for 100,000 subscriptions and batches of 1,000; what follows is only a hint.")
    for verdict in targets.verdicts(lines):
        print(verdict)
