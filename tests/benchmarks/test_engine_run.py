"""The engine's benchmarks run from end to end. Nothing here is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def run_benchmark(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_quick_run_measures_every_workload_and_writes_the_common_form(tmp_path: Path) -> None:
    """M11: the run itself stops when two contenders differ in a row."""
    told = run_benchmark("engine", "--quick", "--json", str(tmp_path / "engine.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "engine.jsonl").read_text().splitlines()]
    measured = {(line["workload"], line["subscriptions"], line["triples"], line["alternative"]) for line in lines}
    all = ("triplewire", "bare-write", "sql-filter", "pyoxigraph-all")
    workloads = ("MDV-OID", "MDV-COMP", "MDV-PATH", "MDV-JOIN", "CATALOGUE")
    small = {(name, size, 2000, which) for name in workloads for size in (500, 1000) for which in all}
    large = {(name, 1000, 8000, which) for name in ("MDV-JOIN", "CATALOGUE") for which in all[:2]}
    assert measured == small | large
    assert {line["batch"] for line in lines} == {1, 10, 100}
    for line in lines:
        assert line["microseconds"] > 0
        if line["workload"] in ("MDV-OID", "MDV-PATH", "MDV-JOIN") and line["alternative"] == "triplewire":
            assert line["matches"] == 1
    assert "applying / bare writing = " in told
    assert "8,000 / 2,000 triples = " in told
    assert "1,000 / 500 subscriptions = " in told
    assert "asking all again / applying = " in told


@pytest.mark.slow
def test_quick_run_of_the_paper_draws_its_figures(tmp_path: Path) -> None:
    run_benchmark("mdv", "--quick", "--figure", "11", "15", "--out", str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"figure11.png", "figure15.png", "mdv.jsonl"}
    points = [json.loads(line) for line in (tmp_path / "mdv.jsonl").read_text().splitlines()]
    assert {point["figure"] for point in points} == {11, 15}
    assert {point["percentage"] for point in points if point["figure"] == 15} == {1, 5, 10, 20}
    assert {point["alternative"] for point in points} == {"triplewire", "sql-filter"}
