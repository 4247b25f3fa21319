"""`./run bench mdv`: measure the experiments of the MDV paper and draw its figures 11 to 15 with our curves."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks.mdv.experiments import BATCHES, EXPERIMENTS, Experiment, Point
from benchmarks.mdv.measure import ROUNDS, measure
from benchmarks.report import Progress, figure, table

QUICK_BATCHES = (1, 10, 100)
QUICK_DIVISOR = 20


def main(arguments: Sequence[str]) -> int:
    """Measure and draw; what was measured is written after each figure, so that nothing is lost on the way."""
    options = _parser().parse_args(arguments)
    if find_spec("matplotlib") is None:
        print("drawing needs matplotlib: .venv/bin/pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
        return 2
    from benchmarks.mdv.plots import draw

    options.out.mkdir(parents=True, exist_ok=True)
    progress, written = Progress(), list[Point]()
    for experiment in EXPERIMENTS:
        if options.figure and experiment.figure not in options.figure:
            continue
        points = _measured(experiment, options.quick, options.cpu, progress)
        written += points
        _write(written, options.out / "mdv.jsonl")
        print(_table(points), end="\n\n")
        print(f"drawn: {draw(experiment, points, options.out)}", end="\n\n", flush=True)
    return 0


def _measured(experiment: Experiment, quick: bool, by_cpu: bool, progress: Progress) -> list[Point]:
    if not quick:
        return list(measure(experiment, BATCHES, ROUNDS, progress, by_cpu=by_cpu))
    smaller = replace(experiment, rules=tuple(rules // QUICK_DIVISOR for rules in experiment.rules))
    return list(measure(smaller, QUICK_BATCHES, 2, progress, by_cpu=by_cpu))


def _write(points: Sequence[Point], path: Path) -> None:
    path.write_text("".join(json.dumps(point.as_dict()) + "\n" for point in points), encoding="utf-8")


def _table(points: Sequence[Point]) -> str:
    heads = ("figure", "alternative", "rules", "%", "batch", "us/document", "matches")
    rows = [
        (
            f"{point.figure} {point.workload}",
            point.alternative,
            f"{point.subscriptions:,}",
            f"{point.percentage:g}" if point.percentage is not None else "",
            f"{point.batch:,}",
            figure(point.microseconds),
            figure(point.matches),
        )
        for point in points
    ]
    return table(heads, rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench mdv", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("figures"), metavar="FOLDER", help="for PNG and JSON (figures)"
    )
    numbers = [experiment.figure for experiment in EXPERIMENTS]
    parser.add_argument("--figure", nargs="+", action="extend", type=int, choices=numbers, help="only these")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rules, in about a minute")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock's, on a busy machine")
    return parser
