"""`python -m benchmarks NAME ...`: run the benchmark of that name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

BENCHMARKS = {
    "core": "benchmarks.core",
    "edge": "benchmarks.edge.run",
    "engine": "benchmarks.engine.run",
    "evidence": "benchmarks.evidence.run",
    "faults": "benchmarks.faults.run",
    "fuzz": "benchmarks.fuzz.run",
    "hub": "benchmarks.hub.run",
    "mdv": "benchmarks.mdv.run",
    "network": "benchmarks.network.run",
    "ring": "benchmarks.ring.run",
    "spark": "benchmarks.spark.run",
    "xml": "benchmarks.xml.run",
}
"""The modules of the benchmarks by name; each has a `main` that takes the arguments after its name and gives an exit
code. They are imported when they are asked for, because not every one needs everything that the others do."""


def main(arguments: Sequence[str]) -> int:
    """Hand the arguments to the benchmark that the first one names."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"usage: ./run bench NAME [...]; the benchmarks are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 0 if arguments[:1] in (["--help"], ["-h"]) else 2
    code: int = import_module(BENCHMARKS[arguments[0]]).main(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
