"""`./run bench spark`: the pipeline next to a single process, and next to what Spark itself costs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Line, Progress, write
from benchmarks.spark import batch, crossing, dump, graph, streaming

PARTS = {"batch": batch, "graph": graph, "dump": dump, "streaming": streaming, "crossing": crossing}
QUICK_SUBSCRIPTIONS, QUICK_SECONDS, QUICK_DOCUMENTS = 500, 0.5, 300


def main(arguments: Sequence[str]) -> int:
    """Measure what the arguments ask for, print it, and write it after each part."""
    options = _parser().parse_args(arguments)
    if options.quick:
        options.subscriptions, options.documents, options.rounds = QUICK_SUBSCRIPTIONS, QUICK_DOCUMENTS, 1
        options.seconds = QUICK_SECONDS
    progress, lines = Progress(), list[Line]()
    for name in options.part or PARTS:
        found = PARTS[name].run(options, progress)
        progress.done()
        print(PARTS[name].comparison(found), end="\n\n", flush=True)
        if options.subscriptions != 100_000:
            print("The targets are for 100,000 subscriptions; what follows is only a hint.")
        for verdict in PARTS[name].verdicts(found):
            print(verdict, flush=True)
        lines += found
        if options.json:
            write(lines, options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench spark", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    parser.add_argument("--subscriptions", type=int, default=100_000, metavar="N", help="how many (100000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    parser.add_argument("--workload", default="W1", help="of ./run bench core, for batches (W1)")
    parser.add_argument("--triples", type=int, nargs="+", help="in the store of a stream, in turn (100000 5000000)")
    parser.add_argument("--changes", type=int, nargs="+", help="in the batches of a crossing (1000 5000 20000 50000)")
    parser.add_argument("--megabytes", type=int, nargs="+", help="of a dump, in turn (100 500)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep filled stores there, and use them again")
    parser.add_argument("--seconds", type=float, default=60.0, help="that one process should take, about (60)")
    parser.add_argument("--documents", type=int, metavar="N", help="how many; else as many as that takes")
    parser.add_argument("--rounds", type=int, default=3, help="how often each alternative has its turn (3)")
    parser.add_argument("--threads", type=int, default=2, help="of Spark (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the generators (1)")
    parser.add_argument("--quick", action="store_true", help=f"everything with {QUICK_SUBSCRIPTIONS} subscriptions")
    return parser
