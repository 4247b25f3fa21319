"""`python -m benchmarks NAME ...`: run the benchmark of that name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from benchmarks import core

BENCHMARKS: dict[str, Callable[[Sequence[str]], int]] = {"core": core.main}
"""The benchmarks by name; each takes the arguments after its name and gives an exit code."""


def main(arguments: Sequence[str]) -> int:
    """Hand the arguments to the benchmark that the first one names."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"usage: ./run bench NAME [...]; the benchmarks are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 0 if arguments[:1] in (["--help"], ["-h"]) else 2
    return BENCHMARKS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
