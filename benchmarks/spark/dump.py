"""A dump: one large file of N-Triples, split by subject, matched by `triplewire match` in a process of its own.

What is asked is memory: the most that Java and any Python worker ever had, for a file and for one that is several times
as large. The statements of a subject are far apart in the file, and all subjects are of one class.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import pyarrow.dataset

from benchmarks.report import Line, Progress, figure
from benchmarks.spark.batch import comparison
from benchmarks.spark.processes import Peaks
from benchmarks.targets import Verdict
from triplewire import Index, compile
from triplewire.model import RDF

__all__ = ["comparison", "run", "verdicts"]

MEGABYTES = (100, 500)
GROWTH = 1.25
_SUBSCRIPTIONS = 1_000
_THEMES, _PUBLISHERS = 97, 503
_BASE = "http://catalogue.example/"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_JAVA, _WORKER = "java", "worker"


def run(options: argparse.Namespace, progress: Progress) -> list[Line]:
    """Match a dump of each size."""
    lines = []
    sizes = options.megabytes or ((1, 2) if options.quick else MEGABYTES)
    count = min(_SUBSCRIPTIONS, options.subscriptions)
    folder = Path(tempfile.mkdtemp(prefix="triplewire-bench-"))
    try:
        index_of(count).save(folder / "subscriptions.index")
        for size in sizes:
            progress.stage(f"DUMP: {size:,} MB, {count:,} subscriptions")
            subjects = write_dump(folder / "dump.nt", size * 1_000_000)
            lines += _measured(folder, subjects, count, options.threads)
            peaks = {line.alternative: line.bytes or 0 for line in lines[-2:]}
            told = ", ".join(f"{name} {figure(peak / 1e6)} MB" for name, peak in peaks.items())
            progress.stage(f"DUMP: {size:,} MB, at most: {told}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return lines


def _measured(folder: Path, subjects: int, subscriptions: int, threads: int) -> list[Line]:
    words = ["--index", "subscriptions.index", "--documents", "dump.nt", "--split", "subject", "--out", "out"]
    command = [sys.executable, "-m", "triplewire.cli", "match", *words, "--overwrite", "--master", f"local[{threads}]"]
    started = perf_counter()
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as matching:
        with Peaks(matching.pid, {_JAVA: "org.apache.spark.deploy", _WORKER: "triplewire.pipeline.daemon"}) as peaks:
            said = matching.communicate()[1]
        if matching.returncode:
            raise RuntimeError(f"triplewire match has failed: {said}")
    elapsed = perf_counter() - started
    rows = pyarrow.dataset.dataset(folder / "out" / "answers").count_rows()
    if rows != expected_rows(subjects, subscriptions):
        raise AssertionError(f"there should be {expected_rows(subjects, subscriptions)} rows, and there are {rows}")
    size = ("DUMP", subscriptions, subjects)
    matches = rows / subjects
    dump = Line(*size, "dump", elapsed / subjects * 1e6, matches, bytes=(folder / "dump.nt").stat().st_size)
    return [dump, *(Line(*size, name, 0.0, 0.0, bytes=peaks.most.get(name, 0)) for name in (_JAVA, _WORKER))]


def index_of(subscriptions: int) -> Index:
    """Each asks for the datasets of a theme and a publisher."""
    index = Index()
    for number in range(subscriptions):
        theme, publisher = f"<{_BASE}theme/{number % _THEMES}>", f"<{_BASE}publisher/{number % _PUBLISHERS}>"
        text = f"SELECT ?d {{ ?d a <{_BASE}Dataset> ; <{_BASE}theme> {theme} ; <{_BASE}publisher> {publisher} }}"
        index.add(str(number), compile(text, language="sparql"))
    return index


def expected_rows(subjects: int, subscriptions: int) -> int:
    """Themes and publishers go round with coprime lengths: subscription n has the datasets n, n + 97 x 503, ..."""
    turn = _THEMES * _PUBLISHERS
    return sum(len(range(number % turn, subjects, turn)) for number in range(subscriptions))


def write_dump(path: Path, size: int) -> int:
    """A file of about so many bytes; gives the number of its subjects."""
    subjects = max(1, size // len("".join(statement(kind, 0) for kind in range(5))))
    with path.open("w", encoding="utf-8") as file:
        for kind in range(5):
            file.writelines(statement(kind, number) for number in range(subjects))
    return subjects


def statement(kind: int, number: int) -> str:
    """One of the five lines about a subject."""
    predicate, object = (
        (f"{RDF}type", f"<{_BASE}Dataset>"),
        (f"{_BASE}theme", f"<{_BASE}theme/{number % _THEMES}>"),
        (f"{_BASE}publisher", f"<{_BASE}publisher/{number % _PUBLISHERS}>"),
        (f"{_BASE}title", f'"The title of dataset {number:09}, as its publisher spells it"'),
        (f"{_BASE}rows", f'"{number % 100_000:05}"^^<{_INTEGER}>'),
    )[kind]
    return f"<{_BASE}dataset/{number:09}> <{predicate}> {object} .\n"


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """Memory must not follow the size of the file."""
    for name in (_WORKER, _JAVA):
        peaks = [line.bytes or 0 for line in lines if line.alternative == name]
        yield Verdict(f"most memory of {name}, largest / smallest dump", peaks[-1] / max(1, peaks[0]), GROWTH)
