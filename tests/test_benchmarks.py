"""The benchmarks run, their alternatives agree, and their workloads are what they say. Nothing here is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from pyoxigraph import Literal

from triplewire import Index, compile, evaluate, normalize
from triplewire.model import Document

ROOT = Path(__file__).parent.parent
WORKLOADS = ["W1", "W1-ISA", "W2-OID", "W2-COMP", "W2-PATH", "W2-JOIN", "W3", "W3-FEED"]
SIZE = 1000


@pytest.fixture(scope="module")
def workloads() -> ModuleType:
    """The generators; the benchmarks are beside the tests, not in the installed package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        import benchmarks.workloads

        return benchmarks.workloads


def run_benchmark(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_quick_run_measures_every_workload_and_writes_the_common_form(tmp_path: Path) -> None:
    """M11, G8: the run itself stops when two alternatives differ in a match."""
    told = run_benchmark("core", "--quick", "--json", str(tmp_path / "core.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "core.jsonl").read_text().splitlines()]
    measured = {(line["workload"], line["batch"], line["alternative"]) for line in lines}
    ours = {"triplewire", "triplewire-names", "triplewire-rows", "triplewire-bytes", "triplewire-parse"}
    one = ours | {"parse", "sqlite", "pyoxigraph-each", "naive"}
    many = one - {"pyoxigraph-each", "naive"} | {"pyoxigraph-batch"}
    expected = {(name, batch, which) for name in WORKLOADS for batch, all in ((1, one), (100, many)) for which in all}
    assert measured == expected - {(name, 100, "sqlite") for name in ("W1", "W1-ISA")}
    for line in lines:
        assert line["subscriptions"] == 2000
        assert line["microseconds"] > 0
        assert (line["matches"] > 0) == (not line["alternative"].endswith("parse"))
        assert ("sampled" in line) == (line["alternative"] in ("pyoxigraph-each", "pyoxigraph-batch", "naive"))
    assert "W2-OID: matching / parsing = " in told
    assert "bytes to rows / parse" in told


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["--scale", "--index"])
def test_quick_run_of_the_other_measurements_says_what_was_promised(mode: str, tmp_path: Path) -> None:
    chosen = ["--workload", "W1", "--workload", "W2-OID", "--json", str(tmp_path / "core.jsonl")]
    told = run_benchmark("core", "--quick", mode, *chosen)
    lines = [json.loads(line) for line in (tmp_path / "core.jsonl").read_text().splitlines()]
    assert {"W1", "W2-OID"} == {line["workload"] for line in lines}
    assert "(target <= " in told


def test_unknown_benchmark_is_refused_with_the_names_of_those_that_exist() -> None:
    command = [sys.executable, "-m", "benchmarks", "speed"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "core" in done.stderr


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_is_the_same_for_the_same_seed_and_another_for_another(workloads: ModuleType, name: str) -> None:
    first, again, other = (workloads.generate(name, SIZE, seed) for seed in (1, 1, 2))
    patterns = [[workload.pattern(i) for i in range(50)] for workload in (first, again, other)]
    assert patterns[0] == patterns[1] != patterns[2]
    assert first.documents == again.documents != other.documents


@pytest.mark.parametrize("name", WORKLOADS)
def test_pattern_that_is_called_normal_means_what_its_normal_form_means(workloads: ModuleType, name: str) -> None:
    workload = workloads.generate(name, SIZE)
    document = workload.documents[0].triples
    for i in range(0, SIZE, 7):
        pattern = workload.pattern(i)
        normal = normalize(type(pattern)(pattern.answer, pattern.branches))
        assert (normal.answer, len(normal.branches)) == (pattern.answer, 1)
        assert Counter(normal.branches[0].triples) == Counter(pattern.branches[0].triples)
        assert evaluate(normal, document, workload.taxonomy) == evaluate(pattern, document, workload.taxonomy)


@pytest.mark.parametrize("name", ["W2-OID", "W2-COMP", "W2-PATH", "W2-JOIN"])
def test_rule_from_the_template_is_the_rule_that_is_compiled(workloads: ModuleType, name: str) -> None:
    workload = workloads.generate(name, SIZE)
    for i in range(0, SIZE, 50):
        text = workloads.rules.rule_text(workload, i)
        assert compile(text, language="rules", prefixes=workloads.rules.PREFIXES) == workload.pattern(i)


@pytest.mark.parametrize(
    ("name", "triples", "matches"),
    [("W1", 90, 2), ("W1-ISA", 90, 2), ("W2-OID", 8, 1), ("W2-COMP", 8, 200), ("W2-PATH", 8, 1), ("W2-JOIN", 8, 1)],
)
def test_document_has_the_promised_size_and_matches(
    workloads: ModuleType, name: str, triples: int, matches: int
) -> None:
    workload = workloads.generate(name, 2000)
    index = Index(workload.taxonomy)
    for i in range(2000):
        index.add(str(i), workload.pattern(i))
    for document in workload.documents[:20]:
        assert len(document) == triples
        assert len(index.match(document)) == matches


def test_graph_subscriptions_have_the_sizes_and_sources_of_the_paper(workloads: ModuleType) -> None:
    """G8: table 1 of G-ToPSS: nodes and edges, variables, overlap."""
    sources = workloads.graphs.Sources(2000, 1, None)
    drawn = [sources.draw(i) for i in range(2000)]
    counts = Counter(one.source for one in drawn)
    assert counts["publication"] == 2 * workloads.graphs.DOCUMENTS
    assert abs(counts["big graph"] - counts["chance"]) <= counts["publication"]
    assert all(len({n for s, _, o in one.edges for n in (s, o)}) == 5 for one in drawn)
    assert all(len(one.edges) == 8 for one in drawn if one.source != "publication")
    assert 0.87 < sum(len(one.variables) == 2 for one in drawn) / 2000 < 0.93
    for edges in sources.publications:
        assert len({node for s, _, o in edges for node in (s, o)}) == 35
        assert len(edges) == 90
    uses = Counter(edge for one in drawn if one.source == "big graph" for edge in one.edges)
    assert sum(count for count in uses.values() if count > 1) / uses.total() > 0.5


def test_some_graph_subscriptions_constrain_a_variable(workloads: ModuleType) -> None:
    for name, functions, share in (("W1", {"starts", ">="}, 0.18), ("W1-ISA", {"descendant"}, 0.45)):
        workload = workloads.generate(name, SIZE)
        conditions = [workload.pattern(i).branches[0].conditions for i in range(SIZE)]
        assert {condition.function for found in conditions for condition in found} == functions
        assert abs(sum(map(bool, conditions)) / SIZE - share) < 0.05


@pytest.mark.parametrize(("name", "items", "words"), [("W3", 1, (6, 30)), ("W3-FEED", 15, (6, 24))])
def test_popular_phrases_repeat_and_items_have_thirty_words(
    workloads: ModuleType, name: str, items: int, words: tuple[int, int]
) -> None:
    workload = workloads.generate(name, 5000)
    phrases = [workload.parameter(i) for i in range(5000)]
    assert {len(phrase.split()) for phrase in phrases} == {1, 2, 3}
    assert max(Counter(phrases).values()) > 1
    assert len(set(phrases)) > 2500, "popular phrases repeat, most are wanted once"
    for document in workload.documents[:100]:
        titles = _words_by_item(document, workloads.phrases.RSS + "title")
        descriptions = _words_by_item(document, workloads.phrases.DESCRIPTION)
        assert titles.keys() == descriptions.keys()
        assert len(titles) == items
        assert {(titles[item], descriptions[item]) for item in titles} == {words}


@pytest.mark.parametrize("name", ["W3", "W3-FEED"])
def test_phrases_are_found_in_descriptions(workloads: ModuleType, name: str) -> None:
    """A workload without matches would measure only how fast nothing is found."""
    workload = workloads.generate(name, 5000)
    index = Index()
    for i in range(5000):
        index.add(str(i), workload.pattern(i))
    documents = workload.documents[:100]
    assert sum(len(index.match(document)) for document in documents) > len(documents)


def _words_by_item(document: Document, predicate: str) -> dict[str, int]:
    """For each item, the number of words in its one value of the property."""
    found = [triple for triple in document.triples if triple.predicate.value == predicate]
    assert len({triple.subject for triple in found}) == len(found)
    return {str(triple.subject): len(_text(triple.object).split()) for triple in found}


def _text(term: object) -> str:
    assert isinstance(term, Literal)
    return term.value


def test_quick_run_of_edges_measures_what_was_promised(tmp_path: Path) -> None:
    """M1: the run itself stops when an edge does not hold what it should."""
    told = run_benchmark("edge", "--quick", "--json", str(tmp_path / "edge.jsonl"))
    lines = {line["alternative"]: line for line in map(json.loads, (tmp_path / "edge.jsonl").read_text().splitlines())}
    timed = {"engine", "edges", "apply-held", "catch-up", "apply-held-again", "catch-up-again", "query", "remote"}
    assert lines.keys() == timed | {"edges-bytes", "content-bytes", "flood-bytes"}
    assert all(lines[name]["microseconds"] > 0 for name in timed)
    assert lines["edges"]["matches"] <= 2
    assert lines["edges-bytes"]["bytes"] < lines["flood-bytes"]["bytes"] / 10
    assert "bytes on the wire / content that must move = " in told
