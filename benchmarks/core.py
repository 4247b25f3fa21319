"""`./run bench core`: the matching core against other ways to do the same, and against the cost of parsing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from benchmarks import footprint, growth
from benchmarks.alternatives import Alternative, Indexed, alternatives, build
from benchmarks.measure import Clock, measure
from benchmarks.report import Line, Progress, comparison, telling, write
from benchmarks.targets import verdicts
from benchmarks.workloads import WORKLOADS, Workload, generate
from triplewire import Index

QUICK = 2000
CHECKED_DOCUMENTS = 3
CHECKED_MATCHES = 50
COUNTED_DOCUMENTS = 200
SAMPLES = (200, 20, 200)
"""How many subscriptions are measured of one pyoxigraph query each, of such queries over a batch, of the naive loop."""


def main(arguments: Sequence[str]) -> int:
    """Measure what the arguments ask for, print it, and write it."""
    options = _parser().parse_args(arguments)
    if options.quick:
        options.subscriptions = QUICK
    progress = Progress()
    lines: list[Line] = []
    if options.scale:
        names = options.workload or ["W2-OID", "W1"]
        lines += growth.run(names, progress, options.subscriptions if options.quick else None)
    elif options.figures:
        return _draw(options, progress)
    elif options.index:
        lines += footprint.run(options.workload or WORKLOADS, options.subscriptions, options.seed, progress)
    else:
        lines += run(options, progress)
    if options.json:
        write(lines, options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench core", description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=100_000, metavar="N", help="how many (100000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only this one; may be repeated")
    parser.add_argument("--batch", action="append", type=int, help="documents at once; may be repeated (1 and 100)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each alternative and batch, about (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the generators (1)")
    parser.add_argument("--quick", action="store_true", help=f"everything with {QUICK} subscriptions, in seconds")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--scale", action="store_true", help="instead: 10,000 to 1,000,000 that do not match")
    modes.add_argument(
        "--figures", type=Path, nargs="?", const=Path("figures"), metavar="FOLDER", help="instead: G-ToPSS's figures"
    )
    modes.add_argument("--index", action="store_true", help="instead: bytes, building, saving, loading, changing")
    return parser


def _draw(options: argparse.Namespace, progress: Progress) -> int:
    """Figures 9(a) to (f), 10(a) and (b) of the G-ToPSS paper, with our curves."""
    missing = [name for name in ("matplotlib", "networkx") if find_spec(name) is None]
    if missing:
        what = " and ".join(missing)
        print(f"the figures need {what}: .venv/bin/pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
        return 2
    from benchmarks.gtopss.experiments import SUBSCRIPTIONS
    from benchmarks.gtopss.figures import run as run_figures
    from benchmarks.gtopss.figures import told

    size, seconds = (QUICK // 10, 0.02) if options.quick else (SUBSCRIPTIONS, options.seconds)
    written: list[str] = []
    for figure, points, path in run_figures(options.figures, subscriptions=size, seconds=seconds, progress=progress):
        progress.done()
        print(told(figure, points), f"The paper: {figure.says}", f"drawn: {path}", sep="\n", end="\n\n", flush=True)
        written += [json.dumps(point.as_dict()) + "\n" for point in points]
        if options.json:
            options.json.write_text("".join(written), encoding="utf-8")
    return 0


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Measure the workloads one after the other."""
    lines: list[Line] = []
    seconds = 0.02 if options.quick else options.seconds
    for name in options.workload or WORKLOADS:
        progress.stage(f"{name}: {options.subscriptions:,} subscriptions")
        workload = generate(name, options.subscriptions, options.seed)
        index = build(workload, lambda done: progress(f"indexing: {done:,}"))
        progress("setting up the alternatives")
        samples = (20, 5, 20) if options.quick else SAMPLES
        found = list(compare(workload, index, samples, options.batch or [1, 100], seconds, progress))
        progress.done()
        print(comparison(found), end="\n\n", flush=True)
        lines += found
    _print_verdicts(lines)
    return lines


def compare(
    workload: Workload,
    index: Index,
    samples: tuple[int, int, int],
    batches: Sequence[int],
    seconds: float,
    progress: Progress,
) -> Iterator[Line]:
    """Check that all alternatives agree, then time them."""
    candidates = alternatives(workload, index, samples)
    progress("checking that all agree")
    check(workload, candidates)
    ours = candidates[0]
    assert isinstance(ours, Indexed)
    matches = mean(len(ours.matches(document)) for document in workload.documents[:COUNTED_DOCUMENTS])
    for batch in batches:
        able = [alternative for alternative in candidates if alternative.takes(batch)]
        for clock in measure(able, workload.documents, batch, seconds, progress):
            yield _line(workload, batch, clock, matches)


def check(workload: Workload, candidates: Sequence[Alternative]) -> None:
    """Every alternative gives our matches on some documents: on a sample, and on what we say matches."""
    ours = candidates[0]
    assert isinstance(ours, Indexed)
    for document in workload.documents[:CHECKED_DOCUMENTS]:
        found = ours.matches(document)
        step = max(1, workload.subscriptions // CHECKED_MATCHES)
        asked = {*sorted(found)[:CHECKED_MATCHES], *range(0, workload.subscriptions, step)}
        for alternative in candidates:
            answers = alternative.answers(document, asked)
            if answers is not None and answers != found & asked:
                what = f"{alternative.name} and triplewire differ on {workload.name}, {document.uri}"
                raise AssertionError(f"{what}: subscriptions {sorted(answers ^ (found & asked))[:10]}")


def _line(workload: Workload, batch: int, clock: Clock, matches: float) -> Line:
    alternative = clock.alternative
    only_parses = alternative.name in ("parse", "triplewire-parse")
    return Line(
        workload=workload.name,
        subscriptions=workload.subscriptions,
        batch=batch,
        alternative=alternative.name,
        microseconds=clock.microseconds,
        matches=0.0 if only_parses else matches,
        sampled=alternative.sampled,
    )


def _print_verdicts(lines: Sequence[Line]) -> None:
    print(telling(lines), end="\n\n")
    if lines and lines[0].subscriptions != 100_000:
        print("The targets are for 100,000 subscriptions; what follows is only a hint.")
    for verdict in verdicts(lines):
        print(verdict)
