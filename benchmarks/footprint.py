"""`--index`: what the index itself costs: bytes, building, saving, loading, changing, the first match of a process.

Patterns are compiled before they are added, as documents are parsed before they are matched: both are then canonical
bytes. What compiling costs, and which part of it these bytes are, is measured beside it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter_ns, process_time_ns

from benchmarks import targets
from benchmarks.measure import undisturbed
from benchmarks.report import Line, Progress, figure, table
from benchmarks.targets import Verdict
from benchmarks.workloads import Workload, generate
from triplewire import Index, UnsupportedQuery, compile, render
from triplewire.algebra.canonical import canonical
from triplewire.algebra.pattern import Pattern
from triplewire.model import Document

TURNS, CHANGES = 40, 50
COMPILED = 200
PROCESSES = 3
LOADS = 25


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
    progress("compiling")
    yield from _compiling([pattern for _, pattern in patterns])
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
    """Of processor time: it takes long enough for others on the machine to come between."""
    with undisturbed():
        start = process_time_ns()
        call()
        return (process_time_ns() - start) / 1e3


def _loading(index: Index, path: Path, document: Document) -> Figure:
    """Ready is when the first document has been matched."""
    expected = index.match(document)
    assert Index.load(path).match(document) == expected, "a loaded index answers otherwise than the one that was saved"
    with undisturbed():
        times = [_nanoseconds(lambda: Index.load(path).match(document)) for _ in range(LOADS)]
    return Figure("load", median(times) / 1e3)


def _new_process(path: Path, document: Document) -> Iterator[Figure]:
    """What `fresh` says, and by the clock the whole from start to end, the interpreter's own start included."""
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


def _compiling(patterns: Sequence[Pattern]) -> Iterator[Figure]:
    """A text to a pattern that is ready to be added; and the last step of it, to bring its normal form to bytes."""
    size = sum(len(branch) for pattern in patterns for branch in canonical(pattern))
    asked = [_as_text(pattern) for pattern in patterns[:COMPILED]]
    compiled = [compile(text, language=language) for text, language in asked]
    whole, last = [], []
    with undisturbed():
        for (text, language), pattern in zip(asked, compiled, strict=True):
            whole.append(_nanoseconds(partial(compile, text, language=language)))
            last.append(_nanoseconds(partial(canonical, copy(pattern))))  # a copy has left its bytes behind
    yield Figure("compile", median(whole) / 1e3)
    yield Figure("compile-bytes", median(last) / 1e3, size)


def _as_text(pattern: Pattern) -> tuple[str, str]:
    """The pattern as somebody would write it, and the language of that."""
    for language in ("sparql", "gql"):
        try:
            return render(pattern, language=language), language
        except UnsupportedQuery:
            continue
    raise AssertionError(f"no language says {pattern}")


def _changes(index: Index, workload: Workload) -> Iterator[Figure]:
    """Taking subscriptions out, matching documents, and putting the subscriptions back: some of each, in turn."""
    chance, documents = random.Random(1), cycle(workload.documents)
    changes = min(CHANGES, workload.subscriptions)
    times: dict[str, list[int]] = {"remove": [], "match": [], "add": []}
    with undisturbed():
        for _ in range(TURNS):
            numbers = chance.sample(range(workload.subscriptions), changes)
            compiled = [(str(number), workload.pattern(number)) for number in numbers]
            for _, pattern in compiled:
                canonical(pattern)
            times["remove"] += [_nanoseconds(partial(index.remove, id)) for id, _ in compiled]
            times["match"] += [_nanoseconds(partial(index.match, next(documents))) for _ in range(changes)]
            times["add"] += [_nanoseconds(partial(index.add, id, pattern)) for id, pattern in compiled]
    for name, taken in times.items():
        yield Figure(name, median(taken) / 1e3)


def _nanoseconds(call: Callable[[], object]) -> int:
    start = perf_counter_ns()
    result = call()
    end = perf_counter_ns()
    del result
    return end - start


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
