"""`./run bench ring`: the ring's experiments, ours beside what the paper says (S6)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import log2
from pathlib import Path

from benchmarks.report import Progress, table
from benchmarks.ring.experiment import RingExperiment, RingPoint, RingRun, lookup
from benchmarks.ring.workload import RingWorkload
from triplewire.network.ring import Algorithm

ALGORITHMS: tuple[Algorithm, ...] = ("sqc", "mqc")
PAPER = (
    "The paper, at 1,000 nodes, 10,000 queries and 8,000 triples: SQC takes about a third of the hops of MQC; without"
    " learnt links both take about four times the hops of SQC with them; MQC has slightly more load, on 850 nodes"
    " instead of 250."
)


def runs(nodes: int, workload: RingWorkload, steps: tuple[int, ...], kinds: Sequence[str]) -> list[RingRun]:
    """The runs of each kind."""
    found: list[RingRun] = []
    last = steps[-1:]
    for algorithm in ALGORITHMS:
        plain = RingRun("paper", algorithm, nodes, steps=steps, workload=workload)
        few = tuple(step // 8 or 1 for step in last)
        smaller = replace(workload, queries=workload.queries // 5)
        ways = {
            "paper": [plain],
            "links": [replace(plain, name="without links", learns=False)],
            "constants": [
                replace(plain, name=f"constants {share:g}", steps=few, workload=replace(smaller, constants=share))
                for share in (0.1, 0.5, 0.9)
            ],
            "large": [replace(plain, name="ten times the nodes", nodes=10 * nodes, steps=few, workload=smaller)],
            "skew": [replace(plain, name="Zipf 1", steps=few, workload=replace(smaller, zipf=1.0))],
            "churn": [replace(plain, name="churn", steps=few, workload=smaller, replicas=3, churn=10)],
            "retraction": [replace(plain, name="retraction", steps=few, workload=smaller, retracted=0.5)],
        }
        found += [run for kind in kinds for run in ways[kind]]
    return found


KINDS = ("paper", "links", "constants", "large", "skew", "churn", "retraction")


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; in every run the rows of all queries are compared with those of one hub."""
    options = _parser().parse_args(arguments)
    if options.plot and find_spec("matplotlib") is None:
        print("drawing needs matplotlib: .venv/bin/pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
        return 2
    workload = RingWorkload(queries=options.queries, classes=options.classes, constants=options.constants)
    steps = tuple(max(1, options.triples >> shift) for shift in (3, 2, 1, 0))
    progress, points = Progress(), list[RingPoint]()
    for nodes in (options.nodes, 10 * options.nodes):
        hops, ideal = lookup(nodes), log2(nodes) / 2 + 1
        print(f"{nodes:,} nodes: {hops:.2f} hops for a lookup, and ½·log2 N + 1 is {ideal:.2f}")
    print(PAPER)
    for run in runs(options.nodes, workload, steps, options.only or KINDS):
        points += RingExperiment(run, progress).points()
        progress.done()
        print(_table(points[-len(steps) :] if run.steps == steps else points[-1:]), end="\n\n", flush=True)
        if options.json:
            options.json.write_text("".join(json.dumps(point.as_dict()) + "\n" for point in points), encoding="utf-8")
    if options.plot:
        from benchmarks.ring.plots import draw

        for path in draw(points, options.plot):
            print(f"drawn: {path}")
    return 0


def _table(points: Sequence[RingPoint]) -> str:
    heads = (
        "run",
        "algorithm",
        "nodes",
        "triples",
        "hops",
        "load",
        "at work",
        "bound",
        "busiest/mean",
        "rows",
        "seconds",
    )
    return table(
        heads,
        [
            (
                point.run,
                point.algorithm,
                f"{point.nodes:,}",
                f"{point.triples:,}",
                f"{point.hops:,}",
                f"{point.load:,}",
                f"{point.at_work:,}",
                f"{point.bound:,.0f}",
                f"{point.busiest * point.nodes / max(point.load, 1):.1f}",
                f"{point.told:,}",
                f"{point.seconds:.0f}",
            )
            for point in points
        ],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench ring", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000, help="peers (1000)")
    parser.add_argument("--queries", type=int, default=10_000, help="queries of three triples (10000)")
    parser.add_argument("--triples", type=int, default=8000, help="triples in the end (8000)")
    parser.add_argument("--classes", type=int, default=15, help="classes of the schema, with four properties each (15)")
    parser.add_argument("--constants", type=float, default=0.5, help="the share of constant objects in queries (0.5)")
    parser.add_argument("--only", nargs="+", choices=KINDS, help="only these runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was counted as JSON lines")
    parser.add_argument("--plot", type=Path, nargs="?", const=Path("figures"), metavar="FOLDER", help="draw figure 5")
    return parser
