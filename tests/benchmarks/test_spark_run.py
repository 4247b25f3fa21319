"""The benchmark of batches on Spark runs from end to end. Nothing here is timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.report import Line
from benchmarks.spark import batch, dump
from benchmarks.spark.processes import Peaks, cpu_seconds, mapped
from tests.benchmarks.test_engine_run import run_benchmark


@pytest.mark.slow
def test_quick_run_measures_every_alternative_and_writes_the_common_form(tmp_path: Path) -> None:
    """X8: the run itself stops when Spark and one process differ in the number of rows."""
    told = run_benchmark("spark", "--part", "batch", "--quick", "--json", str(tmp_path / "spark.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "spark.jsonl").read_text().splitlines()]
    found = {line["alternative"]: line for line in lines}
    assert found.keys() >= {"process", "spark", "count", "process-cpu", "spark-cpu", "build", "worker-ready"}
    assert all(found[name]["microseconds"] > 0 for name in ("process", "spark", "count", "worker-ready", "build"))
    assert found["spark"]["matches"] == found["process"]["matches"] > 0
    assert 0 < found["mapped-share"]["bytes"] <= found["mapped"]["bytes"]
    assert "process / spark = " in told
    assert "share of time outside parsing and matching = " in told


def test_verdicts_compare_what_was_measured() -> None:
    def line(name: str, microseconds: float, size: int | None = None) -> Line:
        return Line("W1", 100_000, 10, name, microseconds, 1.0, bytes=size)

    lines = [
        line("process", 340.0),
        line("spark", 200.0),
        line("process-cpu", 300.0),
        line("spark-cpu", 400.0),
        line("spark-outside", 40.0),
        line("build", 1000.0),
        line("worker-ready", 200.0),
        line("mapped", 0.0, 100),
        line("mapped-share", 0.0, 50),
    ]
    assert [(round(verdict.value, 6), verdict.is_met) for verdict in batch.verdicts(lines)] == [
        (1.7, True),
        (1.5, False),
        (0.25, True),
        (0.2, True),
        (0.2, False),
        (0.5, True),
    ]


def test_processes_are_read_as_linux_tells_of_them() -> None:
    assert cpu_seconds(os.getpid()) > 0
    told = "00-10 r--p 00 00:00 1 /a\nRss: 8 kB\nPss: 4 kB\n10-20 r--p 00 00:00 1 /b\nRss: 9 kB\nPss: 9 kB\n"
    assert mapped("/a", told) == (8192, 4096)


def test_memory_of_dumps_is_compared_between_the_smallest_and_the_largest() -> None:
    lines = [
        Line("DUMP", 1, documents, name, 0.0, 0.0, bytes=size)
        for documents, java, worker in ((1, 100, 200), (5, 110, 300))
        for name, size in (("dump", 1), ("java", java), ("worker", worker))
    ]
    assert [(round(verdict.value, 6), verdict.is_met) for verdict in dump.verdicts(lines)] == [
        (1.5, False),
        (1.1, True),
    ]


def test_most_memory_of_a_process_is_known_after_it_has_given_it_back() -> None:
    size = 100 << 20
    work = f"taken = bytearray(b'x') * {size}\ndel taken\nprint('done', flush=True)\ninput()"
    greedy = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {work!r}])"
    words = [sys.executable, "-c", greedy]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        with Peaks(parent.pid, {"greedy": "taken"}, seconds=0.01) as peaks:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "done\n"
            until = time.monotonic() + 60
            while peaks.most.get("greedy", 0) < size and time.monotonic() < until:
                time.sleep(0.01)
        parent.communicate("\n")
    assert size <= peaks.most["greedy"] < 3 * size
