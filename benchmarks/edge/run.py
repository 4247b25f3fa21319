"""`./run bench edge`: what a hub pays for its edges, and what those who ask an edge gain."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from benchmarks.edge.measure import measure
from benchmarks.edge.workload import TRIPLES, EdgeWorkload
from benchmarks.report import Line, Progress, figure, table, write
from benchmarks.targets import Verdict


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write."""
    options = _parser().parse_args(arguments)
    triples, edges, rules = (20_000, 5, 20) if options.quick else (options.triples, options.edges, options.rules)
    workload = EdgeWorkload(triples // TRIPLES, edges, min(rules, triples // TRIPLES))
    progress = Progress()
    progress.stage(f"a hub with {triples:,} triples, {edges:,} edges with {rules:,} rules each")
    batch = min(options.batch, workload.documents)
    batches = 3 if options.quick else options.batches
    lines = measure(workload, batch, batches, progress, process_time_ns if options.cpu else perf_counter_ns)
    progress.done()
    if options.json:
        write(lines, options.json)
    print(_table(lines), end="\n\n")
    for verdict in verdicts(lines):
        print(verdict)
    return 0


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What was promised, and what this run says about it."""
    found = {line.alternative: line for line in lines}
    times = {name: line.microseconds for name, line in found.items()}
    sizes = {name: float(line.bytes or 0) for name, line in found.items()}
    yield Verdict("the hub with its edges / the engine alone", times["edges"] / times["engine"], 1.5)
    yield Verdict("bytes on the wire / content that must move", sizes["edges-bytes"] / sizes["content-bytes"], 1.2)
    yield Verdict("bytes on the wire / every document to every edge", sizes["edges-bytes"] / sizes["flood-bytes"], 0.1)
    faster = times["remote"] / times["query"]
    yield Verdict("asking the hub, 10 ms away / asking the edge", faster, 10.0, is_at_most=False)
    yield Verdict("questions until a change is at the edge", found["edges"].matches, 2.0)
    yield Verdict(
        "catching up, for a resource / applying, for a document", times["catch-up"] / times["apply-held"], 2.0
    )
    again = times["catch-up-again"] / times["apply-held-again"]
    yield Verdict("the same, when it has just done so (median)", again, 2.0)


def _table(lines: Sequence[Line]) -> str:
    heads = ("workload", "alternative", "batch", "us/document", "bytes")
    rows = [
        (line.workload, line.alternative, str(line.batch), figure(line.microseconds), f"{line.bytes or 0:,}")
        for line in lines
    ]
    return table(heads, rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench edge", description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000, help="in the hub (1,000,000)")
    parser.add_argument("--edges", type=int, default=100, help="how many (100)")
    parser.add_argument("--rules", type=int, default=1_000, help="of each edge (1,000)")
    parser.add_argument("--batch", type=int, default=100, help="documents that change together (100)")
    parser.add_argument("--batches", type=int, default=20, help="how many of these (20)")
    parser.add_argument("--quick", action="store_true", help="20,000 triples, 5 edges, 20 rules: in some seconds")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for a busy machine; not of queries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines")
    return parser
