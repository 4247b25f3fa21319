"""`./run bench fuzz`: hostile bytes for every parser, and hostile requests for every route, for some minutes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.fuzz import routes
from benchmarks.fuzz.targets import TARGETS

ROUTES = "routes"
_LEAST = 5


def main(arguments: Sequence[str]) -> int:
    """Fuzz, print what was found, and keep each finding as a file; 1 if there is any."""
    parser = argparse.ArgumentParser(prog="./run bench fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together (10)")
    parser.add_argument("--target", action="append", choices=[*TARGETS, ROUTES], help="only this one; may be repeated")
    parser.add_argument("--findings", type=Path, default=Path("fuzz"), help="where findings and inputs are kept (fuzz)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    options = parser.parse_args(arguments)
    chosen: list[str] = options.target or [*TARGETS, ROUTES]
    if find_spec("atheris") is None and chosen != [ROUTES]:
        print(
            "the parsers are fuzzed with atheris: pip install 'triplewire[fuzz]', or only --target routes",
            file=sys.stderr,
        )
        return 2
    seconds = max(_LEAST, int(60 * options.minutes / len(chosen)))
    told = []
    for name in chosen:
        told.append(fuzzed(name, options.findings, seconds))
        print(f"{name:24} {told[-1]['seconds']:6.0f} s  {told[-1]['findings']:4} found", flush=True)
    if options.json is not None:
        options.json.write_text("".join(json.dumps(line) + "\n" for line in told), encoding="utf-8")
    return int(any(line["findings"] for line in told))


def fuzzed(name: str, folder: Path, seconds: int) -> dict[str, Any]:
    """Fuzz one target; what was found is in its folder."""
    began = time.monotonic()
    before = set(_found(folder, name))
    if name == ROUTES:
        asked, _ = routes.fuzz(folder, seconds)
        extra = {"requests": asked}
    else:
        extra = {"starts": _again_and_again(name, folder, began + seconds)}
    new = set(_found(folder, name)) - before
    return {"target": name, "seconds": time.monotonic() - began, "findings": len(new), **extra}


def _again_and_again(name: str, folder: Path, until: float) -> int:
    """Start the fuzzer until the time is over: it ends at each finding. How often it was started."""
    starts = 0
    while (left := int(until - time.monotonic())) > 1:
        starts += 1
        command = [sys.executable, "-m", "benchmarks.fuzz.one", name, str(folder), str(left)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode and not _found(folder, name):
            raise RuntimeError(f"{name} cannot be fuzzed: {done.stderr[-2000:]}")
    return starts


def _found(folder: Path, name: str) -> list[Path]:
    return sorted((folder / name).glob("*")) if (folder / name).is_dir() else []
