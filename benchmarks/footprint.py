"""`--index`: what the index itself costs: bytes, building, saving, loading, changing, the first match of a process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter_ns

from benchmarks import targets
from benchmarks.measure import undisturbed
from benchmarks.report import Line, Progress, figure, table
from benchmarks.targets import Verdict
from benchmarks.workloads import Workload, generate
from triplewire import Index
from triplewire.algebra.pattern import Pattern
from triplewire.model import Document

CHANGES = 300
PROCESSES = 3
LOADS = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured."""

    name: str
    microseconds: float
    bytes: int | None = None


def run(names: Sequence[str], subscriptions: int, seed: int, progress: Progress) -> list[Line]:
    """Measure the index of each workload, print it, and give a line for each figure."""
    lines: list[Line] = []
    for name in names:
        progress.stage(f"{name}: {subscriptions:,} subscriptions")
        for found in _figures(generate(name, subscriptions, seed), progress):
            alternative = f"triplewire-{found.name}"
            lines.append(Line(name, subscriptions, 1, alternative, found.microseconds, 0.0, bytes=found.bytes))
    progress.done()
    _print_report(lines)
    return lines


def _figures(workload: Workload, progress: Progress) -> Iterator[Figure]:
    patterns = [(str(i), workload.pattern(i)) for i in range(workload.subscriptions)]
    progress("building")
    index = Index(workload.taxonomy)
    building = _microseconds(lambda: _add_all(index, patterns))
    yield Figure("build", building, index.nbytes)
    index.match(workload.documents[0])
    progress("saving and loading")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.index"
        saving = _microseconds(lambda: index.save(path))
        yield Figure("save", saving, path.stat().st_size)
        yield _loading(index, path, workload.documents[0])
        progress("new processes")
        yield from _new_process(path, workload.documents[0])
    progress("changing")
    yield from _changes(index, workload)


def _add_all(index: Index, patterns: Sequence[tuple[str, Pattern]]) -> None:
    for id, pattern in patterns:
        index.add(id, pattern)


def _microseconds(call: Callable[[], object]) -> float:
    with undisturbed():
        start = perf_counter_ns()
        call()
        return (perf_counter_ns() - start) / 1e3


def _loading(index: Index, path: Path, document: Document) -> Figure:
    """Ready is when the first document has been matched."""
    expected = index.match(document)
    assert Index.load(path).match(document) == expected, "a loaded index answers otherwise than the one that was saved"
    return Figure("load", median(_microseconds(lambda: Index.load(path).match(document)) for _ in range(LOADS)))


def _new_process(path: Path, document: Document) -> Iterator[Figure]:
    """What `fresh` says, and the whole from start to end, the interpreter's own start included."""
    text = path.with_suffix(".nt")
    text.write_bytes(document.ntriples)
    command = [sys.executable, "-m", "benchmarks.fresh", str(path), str(text)]
    told: list[dict[str, float]] = []
    for _ in range(PROCESSES):
        start = perf_counter_ns()
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        told.append(json.loads(printed) | {"whole": (perf_counter_ns() - start) / 1e3})
    for name in told[0]:
        yield Figure(f"process-{name}", median(one[name] for one in told))


def _changes(index: Index, workload: Workload) -> Iterator[Figure]:
    """Taking a subscription out, putting it back, and matching a document, in turn, on the live index."""
    names = ("remove", "add", "match-after-change", "match")
    step = max(1, workload.subscriptions // CHANGES)
    with undisturbed():
        times = [
            _change(index, str(i), workload.pattern(i), workload.documents[turn % len(workload.documents)])
            for turn, i in enumerate(range(0, workload.subscriptions, step))
        ]
    for name, taken in zip(names, zip(*times, strict=True), strict=True):
        yield Figure(name, median(taken) / 1e3)


def _change(index: Index, id: str, pattern: Pattern, document: Document) -> tuple[int, int, int, int]:
    start = perf_counter_ns()
    index.remove(id)
    removed = perf_counter_ns()
    index.add(id, pattern)
    added = perf_counter_ns()
    first = index.match(document)
    matched = perf_counter_ns()
    second = index.match(document)
    end = perf_counter_ns()
    del first, second
    return removed - start, added - removed, matched - added, end - matched


def _print_report(lines: Sequence[Line]) -> None:
    heads = ("workload", "what", "us", "bytes a subscription")
    rows = [
        (
            line.workload,
            line.alternative.removeprefix("triplewire-"),
            figure(line.microseconds),
            figure(line.bytes / line.subscriptions) if line.bytes else "",
        )
        for line in lines
    ]
    print(table(heads, rows))
    print()
    for name in dict.fromkeys(line.workload for line in lines):
        found = {line.alternative.removeprefix("triplewire-"): line for line in lines if line.workload == name}
        for verdict in _verdicts(name, found):
            print(verdict)


def _verdicts(name: str, found: dict[str, Line]) -> Iterator[Verdict]:
    for what in ("build", "save"):
        line = found[what]
        yield Verdict(f"{name}: bytes a subscription, {what}", (line.bytes or 0) / line.subscriptions, targets.BYTES)
    ready = found["load"].microseconds
    yield Verdict(f"{name}: load to first match, ms", ready / 1e3, targets.READY_MILLISECONDS)
    yield Verdict(f"{name}: load / build", ready / found["build"].microseconds, targets.READY_TO_BUILDING)
    for what in ("add", "remove"):
        yield Verdict(f"{name}: {what} / match", found[what].microseconds / found["match"].microseconds, 1.0)
