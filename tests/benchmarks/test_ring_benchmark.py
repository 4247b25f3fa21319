"""`./run bench ring` counts what the paper counts, says what was reached, and draws it."""

from __future__ import annotations

import json

import pytest
from benchmarks.ring import run
from benchmarks.ring.experiment import lookup

SMALL = ["--nodes", "40", "--queries", "60", "--triples", "80"]


def test_figures_are_drawn_with_what_was_counted(tmp_path, capsys):
    """S6."""
    assert (
        run.main([*SMALL, "--only", "paper", "links", "--json", str(tmp_path / "ring"), "--plot", str(tmp_path)]) == 0
    )
    points = [json.loads(line) for line in (tmp_path / "ring").read_text().splitlines()]
    assert [point["triples"] for point in points] == [10, 20, 40, 80] * 4
    by_run = {(point["run"], point["algorithm"]): point for point in points}
    assert by_run["paper", "mqc"]["at_work"] > by_run["paper", "sqc"]["at_work"]
    assert by_run["without links", "sqc"]["hops"] > by_run["paper", "sqc"]["hops"]
    assert all((tmp_path / f"figure5{letter}.png").stat().st_size > 1000 for letter in "abc")
    assert "figure 5(c): MQC is at work on more nodes" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["skew", "churn", "retraction"])
def test_what_the_paper_leaves_open_is_run_and_compared_with_one_hub(kind, tmp_path, capsys):
    assert run.main([*SMALL, "--only", kind, "--json", str(tmp_path / "ring"), "--plot", str(tmp_path)]) == 0
    points = [json.loads(line) for line in (tmp_path / "ring").read_text().splitlines()]
    assert {point["algorithm"] for point in points} == {"sqc", "mqc"}
    assert (tmp_path / "ring-beyond.png").stat().st_size > 1000
    assert ("at most 5 times the mean" in capsys.readouterr().out) == (kind == "skew")


def test_successors_make_lookups_shorter_than_fingers_alone():
    assert lookup(200, successors=8, count=500) < lookup(200, successors=1, count=500)
