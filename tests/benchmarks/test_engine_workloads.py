"""The engine's workloads are what they say: the same for the same seed, and three spellings of one meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from benchmarks.engine.catalogue import Entry
from benchmarks.engine.catalogue_subscriptions import SHAPES, Vocabulary, Wish, rule, wish_of
from benchmarks.engine.contenders.contender import Contender, Rows
from benchmarks.engine.contenders.oxigraph import OxigraphAll
from benchmarks.engine.contenders.sql_filter import SqlFilter
from benchmarks.engine.workload import Change, Workload
from benchmarks.engine.workloads import WORKLOADS, generate

from triplewire import evaluate, normalize
from triplewire.algebra.evaluate import Graph
from triplewire.model import Document

SIZE = 300
TRIPLES = 1500
SIZES = (1, 40, 7, 1, 60, 25)


def follow(workload: Workload, contenders: list[Contender]) -> dict[str, Document]:
    """Let them take the background and a history; gives the documents that are there in the end."""
    current: dict[str, Document] = {}
    history = workload.history()
    background = list(history.background(TRIPLES))
    current |= {document.uri: document for document in background}
    for contender in contenders:
        contender.load(background)
    for size in SIZES:
        changes = history.batch(size)
        for contender in contenders:
            contender.follow(changes)
        keep(current, changes)
    return current


def keep(current: dict[str, Document], changes: list[Change]) -> None:
    for uri, document in changes:
        current.pop(uri, None)
        if document is not None:
            current[uri] = document


def recomputed(workload: Workload, documents: dict[str, Document]) -> Rows:
    """The rows of all subscriptions, evaluated from scratch over all documents."""
    triples = Graph([triple for document in documents.values() for triple in document.triples])
    found: Rows = {}
    for i in range(workload.subscriptions):
        rows = evaluate(workload.pattern(i), triples, workload.taxonomy)
        found[i] = frozenset(term.value for row in rows for term in dict(row).values())
    return found


@pytest.mark.parametrize("name", WORKLOADS)
def test_history_is_the_same_for_the_same_seed_and_another_for_another(name: str) -> None:
    told = []
    for seed in (1, 1, 2):
        workload = generate(name, SIZE, seed)
        history = workload.history()
        first = list(history.background(400))
        told.append((first, [history.batch(size) for size in SIZES], [workload.pattern(i) for i in range(20)]))
    assert told[0] == told[1]
    assert told[0][1] != told[2][1]


@pytest.mark.parametrize("name", WORKLOADS)
def test_pattern_that_is_called_normal_means_what_its_normal_form_means(name: str) -> None:
    workload = generate(name, SIZE)
    triples = [t for document in islice(workload.history().background(TRIPLES), 200) for t in document.triples]
    triples += [t for change in workload.history().batch(40) if change.document for t in change.document.triples]
    for i in range(0, SIZE, 11):
        pattern = workload.pattern(i)
        normal = normalize(type(pattern)(pattern.answer, pattern.branches))
        assert len(normal.branches[0].triples) == len(pattern.branches[0].triples)
        assert evaluate(normal, triples, workload.taxonomy) == evaluate(pattern, triples, workload.taxonomy)


@pytest.mark.parametrize("name", WORKLOADS)
def test_filter_tables_and_sparql_give_the_rows_of_recomputation(name: str, tmp_path: Path) -> None:
    """M5: with updates and retractions in the catalogue, so that candidates and survivors count."""
    workload = generate(name, SIZE)
    contenders: list[Contender] = [SqlFilter(workload, tmp_path), OxigraphAll(workload, tmp_path)]
    current = follow(workload, contenders)
    expected = recomputed(workload, current)
    assert any(expected.values())
    for contender in contenders:
        assert contender.rows(range(SIZE)) == expected, contender.name
        contender.close()


def test_filter_tables_keep_a_row_that_holds_for_another_reason_too(tmp_path: Path) -> None:
    """MDV section 3.5: a candidate that the second execution finds again is not taken away."""
    wish = Wish(theme=Vocabulary.theme(3), format="format-1")
    workload = replace(generate("CATALOGUE", 1), rule=lambda i: rule(wish))
    filter = SqlFilter(workload, tmp_path)
    dataset = Entry("dataset", 1, "Title", theme=3, distributions=(1, 2))
    files = [Entry("distribution", number, "format-1") for number in (1, 2)]
    filter.load(entry.document() for entry in (dataset, *files))
    assert filter.rows([0]) == {0: {dataset.uri}}
    filter.follow([Change(files[0].uri, None)])
    assert (filter.rows([0]), filter.events) == ({0: {dataset.uri}}, 1)
    filter.follow([Change(files[1].uri, None)])
    assert (filter.rows([0]), filter.events) == ({0: frozenset()}, 2)
    filter.close()


@pytest.mark.parametrize(("name", "matches"), [("MDV-OID", 1), ("MDV-COMP", 30), ("MDV-PATH", 1), ("MDV-JOIN", 1)])
def test_provider_matches_as_many_rules_as_the_paper_says_and_the_background_none(
    name: str, matches: int, tmp_path: Path
) -> None:
    """M11: its section 4."""
    workload = generate(name, SIZE)
    filter = SqlFilter(workload, tmp_path)
    history = workload.history()
    filter.load(history.background(TRIPLES))
    assert filter.events == 0
    filter.follow(history.batch(50))
    assert filter.events == 50 * matches
    filter.close()


def test_percentage_of_comparison_rules_can_be_chosen(tmp_path: Path) -> None:
    """M11: figure 15 varies it."""
    workload = generate("MDV-COMP", SIZE, percentage=2)
    filter = SqlFilter(workload, tmp_path)
    filter.follow(workload.history().batch(10))
    assert filter.events == 10 * 6
    filter.close()


def test_rules_are_used_up_when_every_document_has_arrived() -> None:
    history = generate("MDV-OID", 50).history()
    history.batch(50)
    assert history.remaining == 0
    with pytest.raises(ValueError, match="all of them have arrived"):
        history.batch(1)


def test_catalogue_is_mostly_new_documents_with_updates_and_retractions_among_them() -> None:
    history = generate("CATALOGUE", 1000).history()
    present = {document.uri for document in history.background(20_000)}
    counts: Counter[str] = Counter()
    for _ in range(20):
        changes = history.batch(200)
        assert len({change.uri for change in changes}) == 200, "no document changes twice in a batch"
        for uri, document in changes:
            kind = "retract" if document is None else "update" if uri in present else "new"
            assert kind != "retract" or uri in present
            counts[kind] += 1
        present = (present | {uri for uri, document in changes if document}) - {u for u, d in changes if d is None}
    shares = {kind: counts[kind] / counts.total() for kind in counts}
    assert shares == pytest.approx({"new": 0.7, "update": 0.2, "retract": 0.1}, abs=0.03)


@pytest.mark.parametrize("size", [1000, 4000])
def test_catalogue_matches_stay_modest_however_many_subscriptions_there_are(size: int, tmp_path: Path) -> None:
    workload = generate("CATALOGUE", size)
    filter = SqlFilter(workload, tmp_path)
    history = workload.history()
    filter.load(history.background(2000))
    before = filter.events
    filter.follow(history.batch(300))
    assert 1 < (filter.events - before) / 300 < 20
    filter.close()


def test_catalogue_subscriptions_have_five_shapes_and_every_shape_finds_something(tmp_path: Path) -> None:
    workload = generate("CATALOGUE", 2000)
    filter = SqlFilter(workload, tmp_path)
    filter.load(workload.history().background(20_000))
    rows = filter.rows(range(2000))
    found = Counter(SHAPES[i % len(SHAPES)] for i, resources in rows.items() if resources)
    assert set(found) == set(SHAPES)
    filter.close()


def test_no_word_of_the_catalogue_is_part_of_another() -> None:
    words = [Vocabulary.word(number) for number in range(600)]
    assert len(set(words)) == 600
    assert not [(a, b) for a in words for b in words if a != b and a in b]
    assert wish_of(Vocabulary(500, 1), 2).word in words
