"""M11: the figures of the MDV paper are drawn from points that are measured elsewhere."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from benchmarks.mdv.experiments import EXPERIMENTS, Experiment, Point
from benchmarks.mdv.plots import draw


def points_of(experiment: Experiment) -> list[Point]:
    """Curves of the form that the paper describes: expensive alone, cheaper together."""
    varies = len(experiment.percentages) > 1
    return [
        Point(
            figure=experiment.figure,
            workload=experiment.workload,
            subscriptions=rules,
            batch=batch,
            alternative=contender,
            microseconds=factor * (2000 / batch + 100 + rules / 500 + percentage * 40),
            matches=1,
            percentage=percentage if varies else None,
        )
        for contender, factor in (("triplewire", 1), ("sql-filter", 3))
        for rules in experiment.rules
        for percentage in experiment.percentages
        for batch in (1, 10, 100, 1000)
    ]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"figure{experiment.figure}")
def test_figure_is_drawn_as_a_picture_that_is_not_empty(experiment: Experiment, tmp_path: Path) -> None:
    with_curves = draw(experiment, points_of(experiment), tmp_path).read_bytes()
    assert (tmp_path / f"figure{experiment.figure}.png").exists()
    assert with_curves[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", with_curves[16:24]) == (700, 500)
    half = points_of(experiment)[: len(points_of(experiment)) // 2]
    assert draw(experiment, half, tmp_path).read_bytes() != with_curves, "the other contender's curves were drawn"


def test_figures_are_those_of_the_paper() -> None:
    """Figures 11 to 14 have one type of rules each, in two sizes; figure 15 varies how many match."""
    assert [(one.figure, one.workload) for one in EXPERIMENTS] == [
        (11, "MDV-OID"),
        (12, "MDV-PATH"),
        (13, "MDV-COMP"),
        (14, "MDV-JOIN"),
        (15, "MDV-COMP"),
    ]
    assert {one.rules for one in EXPERIMENTS[:4]} == {(10_000, 100_000)}
    assert EXPERIMENTS[4].rules == (10_000,)
    assert len(EXPERIMENTS[4].percentages) > 1


def test_point_is_written_in_the_common_form_with_its_figure() -> None:
    point = Point(15, "MDV-COMP", 10_000, 100, "triplewire", 12.3456, 100.0, 1.0)
    assert point.as_dict() == {
        "figure": 15,
        "workload": "MDV-COMP",
        "subscriptions": 10_000,
        "batch": 100,
        "alternative": "triplewire",
        "microseconds": 12.346,
        "matches": 100.0,
        "percentage": 1.0,
    }
    assert "percentage" not in Point(11, "MDV-OID", 10_000, 1, "triplewire", 1.0, 1.0).as_dict()
