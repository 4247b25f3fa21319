"""`Hub.check`: rows on record = rows recomputed from scratch; on every kind of database."""

from __future__ import annotations

import pytest

from triplewire import Hub, parse
from triplewire.model import RDFS
from triplewire.store import NewRow

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def filled(request, new_url):
    """A hub with queries of both scopes and both starts, and a history."""
    with Hub(new_url(request.param)) as hub:
        hub.publish("<urn:old> <urn:theme> <urn:water> .", uri="urn:0")
        for scope in ("graph", "document"):
            for start in ("now", "ever"):
                options = {"scope": scope, "start": start}
                hub.subscribe(WATER, id=f"water-{scope}-{start}", **options)
                hub.subscribe(
                    "SELECT ?d ?n { ?d <urn:theme> ?t OPTIONAL { ?d <urn:name> ?n } }",
                    id=f"named-{scope}-{start}",
                    **options,
                )
                hub.subscribe(
                    "SELECT ?d { ?d <urn:info> ?i . ?i <urn:size> ?s FILTER(?s > 5) }",
                    id=f"large-{scope}-{start}",
                    **options,
                )
        hub.publish("<menu><wine>old</wine></menu>", uri="urn:menu:0")
        for start in ("now", "ever"):
            hub.subscribe("/menu/wine", language="xpath", id=f"wine-{start}", start=start)
            hub.subscribe("not(//beer)", language="xpath", id=f"sober-{start}", start=start)
        hub.subscribe("SELECT ?d { ?d a <urn:Thing> }", id="things", scope="graph")
        taxonomy = f"<urn:Dataset> <{RDFS}subClassOf> <urn:Thing> ."
        hub.set_taxonomy(parse(taxonomy, uri="urn:taxonomy", media_type="text/turtle"))
        hub.publish(
            "<urn:a> <urn:theme> <urn:water> ; <urn:info> [ <urn:size> 9 ] ; a <urn:Dataset> .",
            uri="urn:1",
            media_type="text/turtle",
        )
        hub.publish("<urn:a> <urn:name> 'A' ; <urn:theme> <urn:water> .", uri="urn:2", media_type="text/turtle")
        hub.publish("<urn:a> <urn:name> 'B' ; <urn:info> <urn:i> .", uri="urn:2", media_type="text/turtle")
        hub.publish("<urn:i> <urn:size> 7 .", uri="urn:3", media_type="text/turtle")
        hub.publish("<menu><wine>red</wine><wine>white</wine></menu>", uri="urn:menu:1")
        hub.publish("<menu><wine>red</wine><beer/></menu>", uri="urn:menu:1")
        yield hub


def test_a_store_that_is_well_has_no_problems(filled):
    assert list(filled.check()) == []


def test_a_row_that_is_missing_is_found(filled):
    with filled.store.writing() as writer:
        (record,) = writer.subscriptions.find(["water-graph-ever"])
        rows = writer.rows.of_query(record.query)
        writer.rows.delete([(rows[0].id, record.query)])
    (problem,) = filled.check()
    assert "water-graph-ever" in problem
    assert "recomputation gives a row that is not on record: d = <urn:" in problem


def test_a_row_of_xml_that_is_missing_or_has_another_text_is_found(filled):
    assert len(filled.rows("wine-ever")) == 2
    with filled.store.writing() as writer:
        (record,) = writer.subscriptions.find(["wine-ever"])
        row = next(row for row in writer.rows.of_query(record.query) if row.document)
        writer.rows.delete([(row.id, record.query)])
        writer.rows.insert([NewRow((record.query,), row.document, (*row.terms[:2], row.terms[0]), row.terms[:1])])
    problems = [*filled.check()]
    assert len(problems) == 2
    assert all("wine-ever" in problem for problem in problems)


def test_a_row_that_should_not_be_there_is_found(filled):
    with filled.store.writing() as writer:
        (record,) = writer.subscriptions.find(["water-document-now"])
        (number,) = writer.terms.find(["<urn:water>"])
        (document,) = writer.documents.current(["urn:3"])
        writer.rows.insert([NewRow((record.query,), document.id, (number,), (number,))])
    (problem,) = filled.check()
    assert "a row is on record that recomputation does not give: d = <urn:water> in urn:3" in problem


def test_a_row_that_is_on_record_for_the_wrong_document_is_found(filled):
    with filled.store.writing() as writer:
        (record,) = writer.subscriptions.find(["water-document-ever"])
        (number,) = writer.terms.find(["<urn:a>"])
        (document,) = writer.documents.current(["urn:3"])
        writer.rows.insert([NewRow((record.query,), document.id, (number,), (number,))])
    assert len(list(filled.check())) == 1


def test_a_sample_is_checked_and_progress_is_told(filled):
    heard = []
    assert list(filled.check(sample=4, progress=lambda done, total: heard.append((done, total)))) == []
    assert heard == [(0, 4), (1, 4), (2, 4), (3, 4)]


def test_broken_invariants_of_the_store_are_told_as_well(filled):
    with filled.store.writing() as writer:
        (record,) = writer.subscriptions.find(["things"])
        writer.rows.insert([NewRow((record.query,), 0, (999_999,), (999_999,))])
    assert any("999999" in problem or "terms" in problem for problem in filled.store.problems())
