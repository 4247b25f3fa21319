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
from triplewire.network.ring import Algorithm, RingSettings
from triplewire.network.ring.views import LENGTH

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
            "skew": [
                replace(plain, name=f"Zipf 1{name}", steps=few, workload=replace(smaller, zipf=1.0), hot=hot)
                for name, hot in (("", None), (", hot keys split", RingSettings().hot))
            ],
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
        by_fingers, hops = lookup(nodes, successors=1), lookup(nodes, successors=LENGTH)
        print(
            f"{nodes:,} nodes: {by_fingers:.2f} hops for a lookup by fingers, and ½·log2 N + 1 is"
            f" {log2(nodes) / 2 + 1:.2f}; {hops:.2f} with the list of {LENGTH} successors"
        )
    print(PAPER)
    for run in runs(options.nodes, workload, steps, options.only or KINDS):
        points += RingExperiment(run, progress).points()
        progress.done()
        print(_table(points[-len(steps) :] if run.steps == steps else points[-1:]), end="\n\n", flush=True)
        if options.json:
            options.json.write_text("".join(json.dumps(point.as_dict()) + "\n" for point in points), encoding="utf-8")
    for verdict in verdicts(points):
        print(verdict)
    if options.plot:
        from benchmarks.ring.plots import draw

        for path in draw(points, options.plot):
            print(f"drawn: {path}")
    return 0


def verdicts(points: Sequence[RingPoint]) -> list[str]:
    """What was to be reached, as far as the runs that were made say; and the orders that the paper sees."""
    found, last = [], {(point.run, point.algorithm): point for point in points}
    sqc, mqc = last.get(("paper", "sqc")), last.get(("paper", "mqc"))
    if sqc is not None and mqc is not None:
        found += [
            _verdict(
                "figure 5(a): MQC takes more hops than SQC", mqc.hops > sqc.hops, f"{mqc.hops / sqc.hops:.1f} times"
            ),
            _verdict("figure 5(b): MQC has more load", mqc.load > sqc.load, f"{mqc.load / sqc.load:.2f} times"),
            _verdict(
                "figure 5(c): MQC is at work on more nodes",
                mqc.at_work > sqc.at_work,
                f"{mqc.at_work} and {sqc.at_work}",
            ),
            _verdict(
                "MQC is at work on 85 % of the nodes", mqc.at_work >= 0.85 * mqc.nodes, f"{mqc.at_work / mqc.nodes:.0%}"
            ),
        ]
    for (run, algorithm), point in last.items():
        if run == "Zipf 1, hot keys split":
            busiest = point.busiest * point.nodes / max(point.load, 1)
            found.append(
                _verdict(f"{algorithm}: the busiest peer does at most 5 times the mean", busiest <= 5, f"{busiest:.1f}")
            )
    return found


def _verdict(what: str, is_reached: bool, seen: str) -> str:
    return f"{'reached' if is_reached else 'missed '}  {what}: {seen}"


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
