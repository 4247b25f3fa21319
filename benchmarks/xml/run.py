"""`./run bench xml`: XPath subscriptions against one XPath each, the brokering paper's short-cut, and parsing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from benchmarks.alternatives import Alternative
from benchmarks.measure import measure
from benchmarks.report import Line, Progress, comparison, write
from benchmarks.xml import menu, varied
from benchmarks.xml.contenders import Destinations, IndexedXml, LxmlEach, ParseXml, build
from benchmarks.xml.targets import verdicts
from benchmarks.xml.workload import Workload

WORKLOADS = {
    "MENU": ((1_000, 10_000, 100_000), menu.profiles),
    "VARIED": ((10_000, 100_000), varied.workload),
    "VARIED-OFTEN": ((10_000, 100_000), varied.often),
    "ATOM": ((10_000, 100_000), varied.atom),
    "VARIED-NONE": ((10_000, 100_000), lambda count, seed: varied.workload(count, seed, matching=False)),
}
QUICK = 300
SAMPLE = 2_000
CHECKED = 3


def main(arguments: Sequence[str]) -> int:
    """Measure what the arguments ask for, print it, and write it."""
    options = _parser().parse_args(arguments)
    progress = Progress()
    if options.plot:
        return _plot(options, progress)
    lines: list[Line] = []
    for name in options.workload or WORKLOADS:
        sizes, make = WORKLOADS[name]
        for count in (QUICK,) if options.quick else options.subscriptions or sizes:
            progress.stage(f"{name}: {count:,} expressions")
            found = list(run(make(count, options.seed), 0.02 if options.quick else options.seconds, progress))
            progress.done()
            print(comparison(found), end="\n\n", flush=True)
            lines += found
            if options.json:
                write(lines, options.json)
    for verdict in verdicts(lines):
        print(verdict)
    return 0


def run(workload: Workload, seconds: float, progress: Progress) -> Iterator[Line]:
    """Check that all find the same, then time them."""
    ours = IndexedXml(build(workload, lambda done: progress(f"indexing: {done:,}")))
    progress("setting up the alternatives")
    each = LxmlEach(workload, SAMPLE)
    contenders: list[Alternative] = [ours, ParseXml(), each, Destinations(workload)]
    check(workload, ours, each)
    matches = mean(len(ours.matches(document)) for document in workload.documents[:50])
    for clock in measure(contenders, workload.documents, 1, seconds, progress):
        other = clock.alternative
        yield Line(
            workload=workload.name,
            subscriptions=workload.subscriptions,
            batch=1,
            alternative=other.name,
            microseconds=clock.microseconds,
            matches=0.0 if other.name == "parse" else matches,
            sampled=other.sampled,
        )


def check(workload: Workload, ours: IndexedXml, each: LxmlEach) -> None:
    """Both find the same expressions on some documents: among all where they are few, else among a part."""
    for document in workload.documents[:CHECKED]:
        found = ours.matches(document)
        asked = {*sorted(found)[:500], *range(0, workload.subscriptions, max(1, workload.subscriptions // 3_000))}
        if each.answers(document, asked) != found & asked:
            raise AssertionError(f"lxml and triplewire differ on {workload.name}, {document.uri}")


def _plot(options: argparse.Namespace, progress: Progress) -> int:
    if find_spec("matplotlib") is None:
        print("drawing needs matplotlib: .venv/bin/pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
        return 2
    from benchmarks.xml.figures import draw

    for path in draw(options.out, quick=options.quick, progress=progress):
        print(f"drawn: {path}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench xml", description=__doc__)
    parser.add_argument("--subscriptions", action="append", type=int, metavar="N", help="how many; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each alternative, about (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the generators (1)")
    parser.add_argument("--quick", action="store_true", help=f"everything with {QUICK} expressions, in seconds")
    parser.add_argument("--plot", action="store_true", help="instead: draw figures 2 and 3 of the paper, with ours")
    parser.add_argument("--out", type=Path, default=Path("docs/figures"), help="where to draw (docs/figures)")
    return parser
