"""What was measured: JSON lines for machines, tables for people, progress while it takes its time."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import TextIO

_SELDOM = 15.0
"""Seconds between two lines where no line can change."""


@dataclass(frozen=True, slots=True)
class Line:
    """One alternative on one workload; all benchmarks use this form."""

    workload: str
    subscriptions: int
    batch: int
    alternative: str
    microseconds: float
    """For a document, the median."""
    matches: float
    """For a document, on average; 0 for alternatives that only parse."""
    sampled: int | None = None
    """How many subscriptions were measured, if not all: the time is scaled to all of them."""
    bytes: int | None = None
    """How large it is, where that is what was asked."""
    triples: int | None = None
    """How many triples the store held before the first document, where there is a store."""
    seeds: int | None = None
    """How many partial matches a batch began, where that decides who finds its rows."""

    def to_json(self) -> str:
        """The line as JSON, without what was not measured."""
        values = asdict(self)
        values["microseconds"] = round(self.microseconds, 3)
        values["matches"] = round(self.matches, 3)
        return json.dumps({key: value for key, value in values.items() if value is not None})


class Progress:
    """Says what is being done: one line that changes on a terminal, now and then a line elsewhere."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._last = monotonic()

    def stage(self, text: str) -> None:
        """A new thing begins."""
        print(("\r\x1b[2K" if self._is_terminal else "") + text, file=self._stream, flush=True)

    def __call__(self, text: str) -> None:
        if monotonic() - self._last > (0.1 if self._is_terminal else _SELDOM):
            self._last = monotonic()
            head, end = ("\r\x1b[2K  ", "") if self._is_terminal else ("  ", "\n")
            print(f"{head}{text[:100]}", end=end, file=self._stream, flush=True)

    def done(self) -> None:
        """Leave a clean line."""
        if self._is_terminal:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)


def write(lines: Iterable[Line], path: Path) -> None:
    """Write JSON lines."""
    path.write_text("".join(line.to_json() + "\n" for line in lines), encoding="utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns, the first two to the left, the others to the right."""
    grid = [list(heads), *map(list, rows)]
    widths = [max(len(row[i]) for row in grid) for i in range(len(heads))]
    lines = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in grid
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def comparison(lines: Sequence[Line]) -> str:
    """The lines as a table, with ratios to parsing and to the best alternative that is not ours."""
    heads = ("workload", "alternative", "batch", "us/document", "matches", "x parse", "x best other", "sampled")
    return table(heads, [_row(line, lines) for line in lines])


def _row(line: Line, lines: Sequence[Line]) -> tuple[str, ...]:
    floor, best = find(lines, line, "parse"), best_other(lines, line)
    return (
        line.workload,
        line.alternative,
        str(line.batch),
        figure(line.microseconds),
        figure(line.matches),
        figure(line.microseconds / floor.microseconds) if floor else "",
        figure(line.microseconds / best.microseconds) if best and line.matches else "",
        f"{line.sampled:,}" if line.sampled else "",
    )


def telling(lines: Sequence[Line]) -> str:
    """What a document costs, step by step: finding who wants it, naming them, making rows, all from its bytes."""
    steps = ("triplewire", "triplewire-names", "triplewire-rows", "triplewire-bytes")
    heads = ("workload", "batch", "matches", "parse us", "find us", "name us", "rows us", "bytes to rows us")
    ratios = ("find / parse", "name / parse", "rows / parse", "bytes to rows / parse", "us a row")
    rows = []
    for floor in lines:
        found = [line for step in steps if (line := find(lines, floor, step))]
        if floor.alternative != "parse" or len(found) < len(steps):
            continue
        costs = [line.microseconds for line in found]
        matches = found[0].matches
        a_row = (costs[2] - costs[0]) / matches if matches else 0.0
        figures = (matches, floor.microseconds, *costs, *(cost / floor.microseconds for cost in costs), a_row)
        rows.append((floor.workload, str(floor.batch), *map(figure, figures)))
    return table((*heads, *ratios), rows)


def find(lines: Sequence[Line], like: Line, alternative: str) -> Line | None:
    """Another alternative of the same workload and batch."""
    same = (line for line in lines if (line.workload, line.batch) == (like.workload, like.batch))
    return next((line for line in same if line.alternative == alternative), None)


def best_other(lines: Sequence[Line], like: Line) -> Line | None:
    """The fastest alternative of the same workload and batch that matches and is not ours."""
    others = (
        line
        for line in lines
        if (line.workload, line.batch) == (like.workload, like.batch)
        and line.alternative != "parse"
        and not line.alternative.startswith("triplewire")
    )
    return min(others, key=lambda line: line.microseconds, default=None)


def figure(value: float) -> str:
    """A number with about three digits that count.

    >>> figure(0.01234), figure(12.345), figure(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
