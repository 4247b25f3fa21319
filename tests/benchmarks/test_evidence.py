"""`./run bench evidence` writes one page with all figures of all papers, from what was measured."""

from __future__ import annotations

import json

import pytest
from benchmarks.evidence.claims import CLAIMS
from benchmarks.evidence.run import page

MDV = [
    {"figure": figure, "subscriptions": rules, "batch": batch, "alternative": "triplewire", "microseconds": cost}
    for figure in (11, 12, 13, 14)
    for rules, batch, cost in ((10, 1, 9.0), (10, 100, 5.0), (100, 1, 9.5), (100, 100, 5.5))
] + [
    {
        "figure": 15,
        "subscriptions": 10,
        "batch": 1,
        "alternative": "triplewire",
        "microseconds": cost,
        "percentage": share,
    }
    for share, cost in ((1.0, 5.0), (20.0, 50.0))
]
XML = [
    {"figure": figure, "series": series, "place": place, "milliseconds": cost * place}
    for figure in ("2", "3")
    for series, cost in (("one XPath each", 3), ("with the paper's destinations", 2), ("Triplewire", 1))
    for place in (10, 100)
]
GRAPHS = [
    {
        "figure": figure,
        "series": series,
        "alternative": way,
        "place": place,
        "subscriptions": 10 * place,
        "value": cost * place,
    }
    for figure in ("9a", "9b", "9c", "9d", "9e", "9f", "10a", "10b")
    for series in (("edges, with 5 nodes", "nodes, with 8 edges") if figure in ("9d", "9e") else ("",))
    for way, cost in (("triplewire", 1.0), ("naive", 8.0), ("isomorphism", 9.0))
    for place in (1, 2)
]
RING = [
    {"run": run, "algorithm": algorithm, "triples": triples, "hops": hops, "load": hops, "at_work": hops, "nodes": 1000}
    for run, factor in (("paper", 1), ("without links", 4))
    for algorithm, each in (("sqc", 1), ("mqc", 3))
    for triples in (100, 200)
    for hops in [factor * each * triples]
]


def written(folder, name, points):
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))


def section(text: str, figure: str) -> str:
    return text.split(f"### Figure {figure}\n")[1].split("###")[0]


def test_each_figure_has_what_the_paper_says_and_what_is_seen(tmp_path):
    figures = tmp_path / "figures"
    figures.mkdir()
    for name, points in (("mdv", MDV), ("xml", XML), ("graphs", GRAPHS), ("ring", RING)):
        written(figures, name, points)
    (figures / "figure5a.png").write_bytes(b"png")
    text = page(figures, tmp_path)
    assert text.count("**The paper:**") == text.count("**Here:**") == len(CLAIMS) == 18
    assert "not measured by this command" not in text
    assert "![Figure 5(a)](figures/figure5a.png)" in section(text, "5(a)")
    assert "3.0 times that in MQC; without learnt links 4.0 and 12.0 times. This agrees." in section(text, "5(a)")
    assert "**This differs.**" in section(text, "9(c)"), "these take more with more overlap"
    assert "This agrees." in section(text, "10(b)")


def test_what_is_not_measured_is_said_so(tmp_path):
    assert page(tmp_path, tmp_path).count("not measured by this command yet") == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.source}-{claim.figure}")
def test_claim_is_drawn_where_its_benchmark_draws(claim):
    names = {"mdv": "figure", "xml": "xml-figure", "graphs": "graph-figure", "ring": "figure"}
    assert claim.picture == f"{names[claim.source]}{claim.figure}.png"
