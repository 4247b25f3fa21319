"""`./run bench network`: messages of a hypercube or a hierarchy of hubs, next to flooding and to one hub."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import prod
from pathlib import Path

from benchmarks.network.deciding import PAPER_MILLISECONDS, WORKLOADS, Deciding, measure_deciding
from benchmarks.network.demand import demand
from benchmarks.network.forwarding import Forwarding, measure_forwarding
from benchmarks.network.targets import verdicts
from benchmarks.network.traffic import ALTERNATIVES, Shape, Traffic, measure_traffic
from benchmarks.report import Progress, figure, table

SHAPES: dict[str, Sequence[Shape]] = {
    "hypercube": (8, 64, 256, 1_024),
    "hierarchy": ((8, 8), (4, 4, 4), (16, 16), (4, 8, 8), (4, 4, 4, 4), (32, 32), (8, 8, 16), (4, 4, 8, 8)),
}
QUICK: dict[str, Sequence[Shape]] = {"hypercube": (8,), "hierarchy": ((3, 3),)}
PROFILES = (10_000, 100_000)
INTERESTS = (1_000, 10_000)
SUBSCRIPTIONS = (100, 1_000, 10_000)
INTERESTED, PUBLISHING = 0.01, 0.05

STAGES = ("advertising", "subscribing", "publishing")

_TAKES = """The whole run of a hypercube takes about six minutes of processor time, reckoned from some of its parts,
more than half of it for 1,024 hubs with 10,000 subscriptions, and 4 GB of memory; what it is at goes
to stderr. That of a hierarchy has not been timed. --quick takes seconds; --size and --subscriptions choose."""

Line = Traffic | Deciding | Forwarding


def main(arguments: Sequence[str]) -> int:
    """Measure what the arguments ask for, print it, and write it."""
    options = _parser().parse_args(arguments)
    progress = Progress()
    lines: list[Line] = []
    for shape in QUICK[options.topology] if options.quick else options.size or SHAPES[options.topology]:
        progress.stage(f"{options.topology} {shape}")
        for subscriptions in (40,) if options.quick else options.subscriptions or SUBSCRIPTIONS:
            lines += traffic(options, _shape(options.topology, shape), subscriptions, progress)
            _write(lines, options.json)
    for count in ((300,) if options.quick else INTERESTS) if options.topology == "hypercube" else ():
        progress.stage(f"forwarding: {count:,} interests")
        lines.append(measure_forwarding(count, options.seed, progress))
        _write(lines, options.json)
    for name in WORKLOADS if options.topology == "hierarchy" else ():
        for count in (300,) if options.quick else options.profiles or PROFILES:
            progress.stage(f"deciding: {name}, {count:,} profiles")
            lines.append(measure_deciding(name, count, options.seed, progress))
            _write(lines, options.json)
    progress.done()
    _print(lines)
    if options.plot is not None:
        from benchmarks.network.plots import draw

        draw([line for line in lines if isinstance(line, Traffic)], options.plot)
    for verdict in verdicts(lines):
        print(verdict)
    return 0


def _shape(topology: str, shape: str | Shape) -> Shape:
    if not isinstance(shape, str):
        return shape
    numbers = [int(number) for number in shape.split(",")]
    return numbers if topology == "hierarchy" else prod(numbers)


def traffic(options: argparse.Namespace, shape: Shape, subscriptions: int, progress: Progress) -> Iterator[Traffic]:
    """All alternatives on one network."""
    nodes = range(shape if isinstance(shape, int) else prod(shape))
    documents = 20 if options.quick else options.documents or subscriptions
    wanted = demand(nodes, subscriptions, documents, options.interested, PUBLISHING, options.seed)
    for alternative in ALTERNATIVES[options.topology]:
        yield measure_traffic(shape, wanted, alternative, options.seed, progress.stage)


def _write(lines: Sequence[Line], path: Path | None) -> None:
    if path is not None:
        path.write_text("".join(json.dumps(asdict(line)) + "\n" for line in lines), encoding="utf-8")


def _print(lines: Sequence[Line]) -> None:
    sent = [line for line in lines if isinstance(line, Traffic)]
    heads = ("network", "alternative", "subscriptions", "documents", *STAGES, "told", "seconds")
    rows = [
        (
            f"{line.nodes} in {line.levels}",
            line.alternative,
            f"{line.subscriptions:,}",
            f"{line.documents:,}",
            *(f"{getattr(line, stage):,}" for stage in STAGES),
            f"{line.told:,}",
            figure(line.seconds),
        )
        for line in sent
    ]
    print(table(heads, rows), end="\n\n")
    forwarded = [line for line in lines if isinstance(line, Forwarding)]
    if forwarded:
        heads = ("interests", "neighbours reached", "forwarding us", "matching us", "ratio")
        figures = [(line.sent, line.forwarding, line.matching, line.forwarding / line.matching) for line in forwarded]
        rows = [(f"{line.interests:,}", *map(figure, own)) for line, own in zip(forwarded, figures, strict=True)]
        print(table(heads, rows), end="\n\n")
    decided = [line for line in lines if isinstance(line, Deciding)]
    if decided:
        heads = ("workload", "profiles", "reached", "deciding us", "finding all us", "ratio")
        print(table(heads, [_decided(line) for line in decided]))
        print(f"The paper's figure 2: {PAPER_MILLISECONDS} milliseconds with the short-cut, 3 for a profile without.\n")


def _decided(line: Deciding) -> tuple[str, ...]:
    figures = (line.reached, line.deciding, line.finding, line.deciding / line.finding)
    return line.workload, f"{line.profiles:,}", *map(figure, figures)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run bench network", description=__doc__, epilog=_TAKES, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--topology", choices=ALTERNATIVES, default="hypercube", help="hypercube, or hierarchy")
    parser.add_argument("--size", action="append", metavar="N,...", help="hubs, or sub-units by level; may be repeated")
    parser.add_argument(
        "--subscriptions",
        action="append",
        type=int,
        metavar="N",
        help="how many (100, 1000 and 10000); may be repeated",
    )
    parser.add_argument("--documents", type=int, help="how many (as many as subscriptions)")
    parser.add_argument(
        "--interested", type=float, default=INTERESTED, help="the share of hubs that want a topic (0.01)"
    )
    parser.add_argument("--profiles", action="append", type=int, metavar="N", help="at a controller; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw messages against the number of hubs, and of those concerned"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the generators (1)")
    parser.add_argument("--quick", action="store_true", help="a small network and few profiles, in seconds")
    return parser
