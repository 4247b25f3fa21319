"""`./run bench core --figures` measures what the G-ToPSS paper varies, and draws it (G8)."""

from __future__ import annotations

import pytest

pytest.importorskip("networkx")

from benchmarks.alternatives.isomorphism import Isomorphism
from benchmarks.alternatives.naive import Naive
from benchmarks.gtopss.experiments import FIGURES, GraphFigure, Series
from benchmarks.gtopss.figures import GraphPoint, draw
from benchmarks.workloads import graphs
from benchmarks.workloads.graphs import Shape

from triplewire.algebra.pattern import Pattern


def edges(pattern: Pattern) -> int:
    return len(pattern.branches[0].triples)


def test_isomorphism_finds_what_the_naive_way_finds_where_nodes_differ():
    workload = graphs.generate("W1", 60, 1, 1)
    asked = range(60)
    for document in workload.documents[:3]:
        naive = Naive(workload, asked).answers(document, asked)
        found = Isomorphism(workload, asked).answers(document, asked)
        assert found
        assert found <= naive


def test_shape_decides_size_and_overlap_and_the_default_is_as_before():
    assert {
        edges(graphs.generate("W1", 200, 1, shape=Shape(edges=4, is_strict=True)).pattern(i)) for i in range(0, 200, 7)
    } == {4}
    plain, same = graphs.generate("W1", 100, 1), graphs.generate("W1", 100, 1, shape=Shape())
    assert [plain.pattern(i) for i in range(100)] == [same.pattern(i) for i in range(100)]
    drawn = {
        overlap: [graphs.Sources(1000, 1, 0, Shape(overlap=overlap)).draw(i).source for i in range(0, 1000, 10)]
        for overlap in (0.0, 1.0)
    }
    assert {*drawn[0.0]} == {"chance"}
    assert {*drawn[1.0]} == {"big graph"}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figure_is_drawn(figure: GraphFigure, tmp_path):
    assert figure.says.endswith(".")
    points = [
        GraphPoint(figure.name, series.name, way, place, 100, 5.0 * place + 1)
        for series in figure.series
        for way in figure.alternatives
        for place in series.places
    ]
    assert draw(figure, points, tmp_path).stat().st_size > 1000


def test_series_make_workloads_of_the_number_that_stands_for_the_papers():
    series: list[Series] = [series for figure in FIGURES for series in figure.series]
    assert {each.workload(each.places[0], 300).subscriptions <= 300 for each in series} == {True}
