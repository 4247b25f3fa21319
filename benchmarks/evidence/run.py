"""`./run bench evidence`: measure what the papers' figures show, draw it, and write docs/evidence.md (G8)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from os.path import relpath
from pathlib import Path

from benchmarks.evidence.claims import CLAIMS, Claim, Point

_HEAD = """# What the papers say, and what is seen here

Every figure of every paper, drawn from our own measurements. A paper's claim is about orders and shapes; its
milliseconds were another machine's. `./run bench evidence` measures what is not measured yet, draws it, and writes this
page; [benchmarks](benchmarks.md) tells how it is measured, and [the ring](ring.md#measured) what goes beyond the
figures. The paper on super-peers has no measurements.
"""


def main(arguments: Sequence[str]) -> int:
    """Measure what is missing, and write the page."""
    options = _parser().parse_args(arguments)
    missing = [name for name in ("matplotlib", "networkx") if find_spec(name) is None]
    if missing:
        what = " and ".join(missing)
        print(f"the figures need {what}: .venv/bin/pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
        return 2
    options.figures.mkdir(parents=True, exist_ok=True)
    for name, measure in _measurements(options.figures, quick=options.quick).items():
        file = options.figures / f"{name}.jsonl"
        if not options.only_page and (options.again or not file.exists()) and name in (options.only or [name]):
            code = measure(file)
            if code:
                return code
    options.page.write_text(page(options.figures, options.page.parent), encoding="utf-8")
    print(f"written: {options.page}")
    return 0


def _measurements(folder: Path, *, quick: bool) -> dict[str, Callable[[Path], int]]:
    """How each is measured: the other benchmarks, with what they write and draw in one folder."""
    from benchmarks import core
    from benchmarks.mdv import run as mdv
    from benchmarks.ring import run as ring
    from benchmarks.xml import run as xml

    small = ["--quick"] if quick else []
    tiny = ["--nodes", "40", "--queries", "60", "--triples", "80"] if quick else []
    return {
        "mdv": lambda file: mdv.main([*small, "--out", str(folder)]),
        "xml": lambda file: xml.main([*small, "--plot", "--out", str(folder)]),
        "graphs": lambda file: core.main([*small, "--figures", str(folder), "--json", str(file)]),
        "ring": lambda file: ring.main([*tiny, "--only", "paper", "links", "--json", str(file), "--plot", str(folder)]),
    }


def page(figures: Path, beside: Path) -> str:
    """The page, of what was measured so far; `beside` is the folder that it is in."""
    measured = {
        source: _read(figures / f"{source}.jsonl") for source in dict.fromkeys(claim.source for claim in CLAIMS)
    }
    parts = [_HEAD]
    for paper in dict.fromkeys(claim.paper for claim in CLAIMS):
        parts.append(f"## {paper}\n")
        parts += [
            _section(claim, claim.of(measured[claim.source]), figures, beside)
            for claim in CLAIMS
            if claim.paper == paper
        ]
    return "\n".join(parts)


def _section(claim: Claim, points: Sequence[Point], figures: Path, beside: Path) -> str:
    number, letter = (claim.figure[:-1], f"({claim.figure[-1]})") if claim.figure[-1].isalpha() else (claim.figure, "")
    lines = [f"### Figure {number}{letter}\n", f"**The paper:** {claim.says}\n"]
    if points:
        seen = claim.see(points)
        lines.append(f"**Here:** {seen.text} {'This agrees.' if seen.agrees else '**This differs.**'}\n")
    else:
        lines.append("**Here:** not measured by this command yet, so nothing is said of it.\n")
    picture = figures / claim.picture
    if picture.exists():
        lines.append(f"![Figure {number}{letter}]({Path(relpath(picture, beside)).as_posix()})\n")
    return "\n".join(lines)


def _read(file: Path) -> list[Point]:
    lines: Iterable[str] = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [json.loads(line) for line in lines]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench evidence", description=__doc__)
    parser.add_argument("--figures", type=Path, default=Path("docs/figures"), metavar="FOLDER", help="(docs/figures)")
    parser.add_argument(
        "--page", type=Path, default=Path("docs/evidence.md"), metavar="FILE", help="(docs/evidence.md)"
    )
    parser.add_argument("--again", action="store_true", help="measure also what is measured already")
    parser.add_argument("--only", nargs="+", choices=["mdv", "xml", "graphs", "ring"], help="measure only these")
    parser.add_argument("--only-page", action="store_true", help="measure nothing: write the page")
    parser.add_argument("--quick", action="store_true", help="everything small, in minutes: for a look, not to keep")
    return parser
