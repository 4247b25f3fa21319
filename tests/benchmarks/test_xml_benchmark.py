"""The XML benchmark runs, its alternatives agree, and its workloads are what they say (N9). Nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.report import Line
from benchmarks.xml import menu, run, varied
from benchmarks.xml.contenders import IndexedXml, LxmlEach, build
from benchmarks.xml.targets import verdicts


def test_quick_run_measures_every_workload_and_writes_the_common_form(tmp_path: Path, capsys) -> None:
    assert run.main(["--quick", "--json", str(tmp_path / "xml.jsonl")]) == 0
    lines = [json.loads(line) for line in (tmp_path / "xml.jsonl").read_text().splitlines()]
    measured = {(line["workload"], line["alternative"]) for line in lines}
    ways = ("triplewire", "parse", "lxml-each", "destinations")
    assert measured == {(name, way) for name in run.WORKLOADS for way in ways}
    assert all(line["microseconds"] > 0 for line in lines)


def test_half_of_the_profiles_match_a_menu() -> None:
    workload = menu.profiles(500, 1)
    ours = IndexedXml(build(workload, lambda done: None))
    counts = [len(ours.matches(document)) for document in workload.documents[:50]]
    assert 0.2 < sum(counts) / len(counts) / 500 < 0.8


def test_varied_expressions_have_every_kind_of_step_and_agree_with_lxml() -> None:
    workload = varied.workload(600, 3)
    text = "\n".join(workload.expressions)
    assert all(sign in text for sign in ("//", "/*", "@", "contains(", " = '", " > ", "[person["))
    ours, each = IndexedXml(build(workload, lambda done: None)), LxmlEach(workload, 600)
    for document in workload.documents[:10]:
        assert ours.matches(document) == each.answers(document, range(600))


@pytest.mark.parametrize("make", [varied.often, varied.atom])
def test_tens_of_ten_thousand_match_from_small_pools_and_in_feeds(make) -> None:
    workload = make(2_000, 3)
    ours, each = IndexedXml(build(workload, lambda done: None)), LxmlEach(workload, 2_000)
    found = [ours.matches(document) for document in workload.documents]
    assert found[:3] == [each.answers(document, range(2_000)) for document in workload.documents[:3]]
    assert 2 < sum(map(len, found)) / len(found) < 60


def test_feeds_have_namespaces_references_and_a_comment() -> None:
    text = varied.atom(10, 1).documents[0].xml
    assert all(
        sign in text for sign in (b'xmlns="http://www.w3.org/2005/Atom"', b"<dc:subject>", b"&lt;p&gt;", b"<!--")
    )


def test_expressions_that_are_not_to_match_do_not() -> None:
    workload = varied.workload(400, 2, matching=False)
    ours = IndexedXml(build(workload, lambda done: None))
    assert not any(ours.matches(document) for document in workload.documents)


def test_verdicts_compare_what_was_promised() -> None:
    def line(alternative: str, microseconds: float, count: int = 10_000, workload: str = "VARIED-NONE") -> Line:
        return Line(workload, count, 1, alternative, microseconds, 1.0)

    told = list(
        verdicts([line("triplewire", 10), line("parse", 4), line("lxml-each", 4_000), line("triplewire", 30, 100_000)])
    )
    assert [(verdict.value, verdict.is_met) for verdict in told] == [(400, False), (2.5, True), (3, False)]


@pytest.mark.slow
def test_figures_are_drawn_and_what_was_measured_stands_beside_them(tmp_path: Path, monkeypatch) -> None:
    """N9: the page of evidence is made from these lines."""
    pytest.importorskip("matplotlib")
    from benchmarks.xml import figures

    monkeypatch.setattr(figures, "SIZES", (10, 20, 30))
    assert run.main(["--plot", "--quick", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"xml-figure2.png", "xml-figure3.png", "xml.jsonl"}
    places = {json.loads(line)["place"] for line in (tmp_path / "xml.jsonl").read_text().splitlines()}
    assert places == {10, 20, 30}
