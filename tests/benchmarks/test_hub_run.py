"""The benchmark of the service runs, and writes what it says. Nothing here is timed."""

from __future__ import annotations

import json

import pytest
from benchmarks.hub.load import Load
from benchmarks.hub.run import line, main


@pytest.mark.slow
def test_benchmark_of_the_service_measures_each_kind_of_request(tmp_path, capsys):
    quick = ["--quick", "--concurrency", "4", "--pipeline", "engine", "--json", str(tmp_path / "hub.jsonl")]
    assert main(quick) == 0
    found = [json.loads(text) for text in (tmp_path / "hub.jsonl").read_text().splitlines()]
    lines, deliveries, (latency, heard) = found[:-4], found[-4:-2], found[-2:]
    assert (latency["name"], latency["count"]) == ("acknowledged-to-event", 5)
    assert (heard["name"], heard["count"]) == ("heard-by-20", 3)
    assert [each["name"] for each in lines] == ["trivial", "publish", "applied", "events"]
    assert all(each["requests_per_second"] > 0 and each["concurrency"] == 4 for each in lines)
    assert [each["name"] for each in deliveries] == ["deliver-well", "deliver"]
    assert [each["missing"] for each in deliveries] == [0, 0]
    assert lines[0]["ratio"] == 1.0
    assert "target: publish" in capsys.readouterr().out


def test_ratio_is_the_median_of_the_ratios_of_the_rounds():
    trivial = [Load(1.0, [0.1] * count) for count in (10, 20, 40)]
    publish = [Load(1.0, [0.1] * count) for count in (5, 15, 10)]
    told = line("publish", 32, publish, trivial)
    assert (told["ratio"], told["requests_per_second"]) == (0.5, 10)
