"""What the benchmark of the crossing makes of its lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.report import Line
from benchmarks.spark.crossing import comparison, crossing, verdicts
from tests.benchmarks.test_engine_run import run_benchmark


def pair(changes: int, alone: float, shared: float) -> list[Line]:
    return [
        Line("CATALOGUE", 100_000, changes, name, seconds / changes * 1e6, 1.0, seeds=8 * changes)
        for name, seconds in (("driver-alone", alone), ("in-shares", shared))
    ]


def test_sharing_pays_from_where_it_stays_cheaper():
    lines = [*pair(1_000, 2, 1), *pair(5_000, 5, 6), *pair(20_000, 20, 15), *pair(50_000, 50, 30)]
    assert crossing(lines) == "Sharing is cheaper from 20,000 changes on (160,000 partial matches)."
    assert crossing(lines[:4]) == "Sharing is not cheaper at any of these sizes."
    assert [verdict.is_met for verdict in verdicts(lines)] == [True, False, True, True]
    assert comparison(lines).count("in-shares") == 4


@pytest.mark.slow
def test_quick_run_measures_both_ways_at_each_size(tmp_path: Path):
    told = run_benchmark("spark", "--part", "crossing", "--quick", "--json", str(tmp_path / "spark.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "spark.jsonl").read_text().splitlines()]
    found = {(line["alternative"], line["batch"]) for line in lines}
    assert found == {(name, size) for name in ("driver-alone", "in-shares") for size in (20, 60)}
    assert all(line["seeds"] > 0 for line in lines)
    by_size = {(line["batch"], line["matches"]) for line in lines}
    assert len(by_size) == 2, "both ways tell the same events"
    assert "Sharing is " in told
