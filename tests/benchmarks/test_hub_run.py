"""The benchmark of the service runs, and writes what it says. Nothing here is timed."""

from __future__ import annotations

import json

from benchmarks.hub.load import Load
from benchmarks.hub.run import line, main


def test_benchmark_of_the_service_measures_each_kind_of_request(tmp_path, capsys):
    assert main(["--quick", "--concurrency", "4", "--json", str(tmp_path / "hub.jsonl")]) == 0
    lines = [json.loads(text) for text in (tmp_path / "hub.jsonl").read_text().splitlines()]
    assert [each["name"] for each in lines] == ["trivial", "publish", "events", "deliver-well", "deliver"]
    assert all(each["requests_per_second"] > 0 for each in lines)
    assert all(each["concurrency"] == 4 for each in lines[:3])
    assert [each["missing"] for each in lines[3:]] == [0, 0]
    assert lines[0]["ratio"] == 1.0
    assert "target: publish" in capsys.readouterr().out


def test_ratio_is_the_median_of_the_ratios_of_the_rounds():
    trivial = [Load(1.0, [0.1] * count) for count in (10, 20, 40)]
    publish = [Load(1.0, [0.1] * count) for count in (5, 15, 10)]
    told = line("publish", 32, publish, trivial)
    assert (told["ratio"], told["requests_per_second"]) == (0.5, 10)
