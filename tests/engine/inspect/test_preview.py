"""Previews: what a subscription would get and cost, before anybody subscribes (X5)."""

from __future__ import annotations

import pytest

from triplewire import QueryError, UnsupportedQuery
from triplewire.model import Row

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"
LARGE = "SELECT ?d { ?d <urn:theme> <urn:water> . ?d <urn:size> ?s FILTER(?s > 64) }"
LARGER = "SELECT ?d { ?d <urn:theme> <urn:water> . ?d <urn:size> ?s FILTER(?s > 100) }"


def values(rows):
    return sorted(term.value.removeprefix("urn:") for row in rows for term in row.values())


def test_the_answers_now_are_those_that_a_subscription_gets(hub, publish):
    publish(":a :theme :water . :b :theme :water . :c :theme :air .", "urn:1")
    publish(":b :size 92 .", "urn:2")
    told = hub.preview(LARGE, scope="graph", start="ever")
    hub.subscribe(LARGE, id="large", scope="graph", start="ever")
    assert set(told.rows) == set(hub.rows("large"))
    assert (values(told.rows), told.count, told.problem) == (["b"], 1, None)
    assert hub.preview(LARGE, scope="document").count == 0


def test_nothing_is_written(hub, publish):
    publish(":a :theme :water .")
    hub.preview(WATER)
    assert list(hub.subscriptions()) == []
    assert len(hub.batches()) == 1
    hub.subscribe(WATER, id="water")
    publish(":b :theme :water .", "urn:2")
    assert hub.rows("water") == [Row(row) for row in hub.preview(WATER).rows if values([row]) == ["b"]]


def test_rows_are_bounded_and_the_count_is_whole(hub, publish):
    publish(" ".join(f":d{n} :theme :water ." for n in range(20)))
    told = hub.preview(WATER, limit=3)
    assert (len(told.rows), told.count) == (3, 20)
    assert "and 17 more" in str(told)


def test_the_estimate_counts_the_versions_of_the_documents_behind_each_answer(hub, publish):
    for size in range(4):
        publish(f":a :theme :water ; :size {size} .", "urn:1")
    publish(":b :theme :water .", "urn:2")
    publish(":c :theme :air .", "urn:3")
    frequency = hub.preview(WATER).frequency
    assert (frequency.events, frequency.batches) == (5, 6)
    assert "estimate" in str(frequency)
    assert "each version of a document behind an answer" in frequency.how


def test_without_a_history_there_is_nothing_to_estimate(hub):
    assert "no history yet" in str(hub.preview(WATER))


def test_atoms_are_told_with_their_triples_and_who_shares_them(hub, publish):
    hub.subscribe(LARGE, id="large", scope="graph")
    hub.subscribe(WATER, id="water", scope="graph")
    publish(":a :theme :water . :b :theme :water . :c :theme :air ; :size 3 .")
    atoms = {atom.text: atom for atom in hub.preview(LARGER, scope="graph").atoms}
    theme = atoms["?d <urn:theme> <urn:water>"]
    assert (theme.triples, theme.shared_with) == (2, 2)
    size = atoms["?d <urn:size> ?size with ?size > 100"]
    assert (size.triples, size.shared_with) == (1, 0)


def test_looking_ahead_leaves_the_index_as_it_was(hub, publish):
    hub.subscribe(WATER, id="water", scope="graph")
    for _ in range(3):
        hub.preview(LARGER, scope="graph")
    (event,) = publish(":a :theme :water ; :size 200 .")
    assert event.subscription == "water"


@pytest.mark.parametrize("text", ["", ":a :theme :water ; :size 200 ."], ids=["without", "with"])
def test_who_covers_it_is_told_with_and_without_an_answer(hub, publish, text):
    hub.subscribe(WATER, id="water", scope="graph", start="ever")
    hub.subscribe(LARGE, id="large", scope="graph", start="ever")
    hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:air> }", id="air", scope="graph", start="ever")
    hub.subscribe(
        "SELECT ?d { ?d <urn:theme> <urn:water> . ?d <urn:size> ?n FILTER(100 < ?n) }",
        id="same",
        scope="graph",
        start="ever",
    )
    publish(text)
    told = hub.preview(LARGER, scope="graph", start="ever")
    assert set(told.covered_by) == {"water", "large"}
    assert told.equal_to == ("same",)
    assert "the same as: same" in str(told)


def test_who_sees_less_covers_nothing(hub, publish):
    """A query of single documents has not all answers of the graph, and one that starts now none of before."""
    hub.subscribe(WATER, id="documents", start="ever")
    publish(":a :theme :water .")
    hub.subscribe(WATER, id="late", scope="graph")
    told = hub.preview(WATER, scope="graph", start="ever")
    assert (told.equal_to, told.covered_by) == ((), ())
    assert hub.preview(WATER, scope="graph", start="now").equal_to == ("late",)
    assert hub.preview(WATER, scope="document", start="now").covered_by == ("late",)


def test_what_is_wrong_with_it_is_told(hub):
    told = hub.preview("SELECT ?d { ?d <urn:size> ?s FILTER(?s > 5 && ?s < 3) }")
    assert [finding.kind for finding in told.findings] == ["never-matches"]


def test_what_cannot_be_subscribed_to_cannot_be_previewed(hub):
    with pytest.raises(UnsupportedQuery):
        hub.preview("SELECT ?a ?b { ?a <urn:x> <urn:y> . ?b <urn:z> <urn:w> }", scope="graph")
    with pytest.raises(QueryError):
        hub.preview("SELECT")


def test_a_rule_is_previewed_with_the_rules_that_it_builds_on(hub):
    hub.subscribe("search Host h register h", language="rules", id="Hosts", scope="graph")
    assert hub.preview("search Hosts h register h", language="rules", scope="graph").equal_to == ("Hosts",)
