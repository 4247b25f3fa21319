"""What the streaming benchmark makes of its lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.report import Line
from benchmarks.spark.streaming import comparison, verdicts
from tests.benchmarks.test_engine_run import run_benchmark


def line(alternative: str, milliseconds: float, triples: int) -> Line:
    return Line("CATALOGUE", 100_000, 1, alternative, milliseconds * 1000, 1.0, triples=triples)


LINES = [
    line("empty-batch", 100, 100_000),
    line("publish-to-event", 150, 100_000),
    line("empty-batch", 100, 5_000_000),
    line("publish-to-event", 300, 5_000_000),
]


def test_verdicts_compare_with_an_empty_batch_and_with_a_small_store():
    found = [(verdict.value, verdict.is_met) for verdict in verdicts(LINES)]
    assert found == [(1.5, True), (3.0, False), (2.0, False)]


def test_one_size_says_nothing_about_growth():
    assert len(list(verdicts(LINES[:2]))) == 1


def test_comparison_names_every_line():
    text = comparison(LINES)
    assert text.count("publish-to-event") == 2
    assert "5,000,000" in text


@pytest.mark.slow
def test_quick_run_measures_every_alternative_in_two_stores(tmp_path: Path):
    told = run_benchmark("spark", "--part", "streaming", "--quick", "--json", str(tmp_path / "spark.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "spark.jsonl").read_text().splitlines()]
    found = {(line["alternative"], line["triples"]) for line in lines}
    names = ("empty-batch", "publish-to-event", "driver-alone", "in-shares")
    assert found == {(name, triples) for name in names for triples in (2_000, 8_000)}
    assert "publish-to-event / empty-batch = " in told
