"""The edges of a batch: empty, equal, refused, unknown, odd, large, too much for one subscription."""

from __future__ import annotations

from collections import Counter

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from triplewire import Document, Hub, Publish, Retract, Schema, SchemaViolation
from triplewire.errors import DocumentError, SubscriptionError, TaxonomyError, UnknownSubscription
from triplewire.model import RDFS
from triplewire.schema import SCHEMA

ALL = "SELECT ?x ?y { ?x <urn:p> ?y }"
LINKED = "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:p> ?z }"


def names(hub):
    """Everything that a batch could have left behind."""
    with hub.store.reading() as reader:
        return (
            reader.batches.last(),
            reader.log.last_cursor(),
            reader.documents.count(),
            reader.triples.count(),
            reader.terms.count(),
        )


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def any_hub(request, new_url):
    """A hub on every kind of store."""
    with Hub(new_url(request.param)) as opened:
        yield opened
        assert list(opened.check()) == []


# -- refused


def one_value_only():
    return Schema.from_triples([Triple(NamedNode("urn:p"), NamedNode(SCHEMA + "maximum"), Literal(1))])


def test_a_document_that_breaks_the_schema_leaves_nothing_of_its_batch_behind(any_hub, publish_in):
    """M2: the other documents of the batch are refused with it."""
    any_hub.set_schema(one_value_only())
    any_hub.subscribe(ALL, id="all", scope="graph")
    publish_in(any_hub, ":a :p :b .", "urn:first")
    before = names(any_hub)
    good = Document("urn:good", b"<urn:new> <urn:p> <urn:newer> .\n")
    bad = Document("urn:bad", b"<urn:x> <urn:p> <urn:y> .\n<urn:x> <urn:p> <urn:z> .\n")
    with pytest.raises(SchemaViolation, match="urn:bad"):
        any_hub.apply([Publish(good), Retract("urn:first"), Publish(bad)], batch="monday")
    assert names(any_hub) == before
    assert [event.kind for event in any_hub.apply([Publish(good)], batch="monday")] == ["matched"]


def test_a_hub_that_warns_lets_the_document_in_and_says_what_is_wrong(any_hub, publish_in):
    any_hub.set_schema(one_value_only(), on_violation="warn")
    any_hub.subscribe(ALL, id="all")
    outcome = publish_in(any_hub, ":x :p :y , :z .", "urn:bad")
    assert [warning.uri for warning in outcome.warnings] == ["urn:bad"]
    assert "urn:p" in str(outcome.warnings[0])
    assert [event.kind for event in outcome] == ["matched", "matched"]
    assert publish_in(any_hub, ":x :p :y .", "urn:bad").warnings == ()


def test_a_document_that_closes_a_cycle_is_refused_with_its_name_and_the_taxonomy_stays(any_hub, publish_in):
    """X3."""
    below = f"<{RDFS}subClassOf>"
    any_hub.subscribe(f"SELECT ?x {{ ?x a/{below}* <urn:C> }}", id="kind", scope="graph")
    publish_in(any_hub, f":A {below} :B . :B {below} :C .", "urn:classes")
    before, taxonomy = names(any_hub), any_hub.taxonomy
    with pytest.raises(TaxonomyError) as raised:
        publish_in(any_hub, f":C {below} :A . :x a :A .", "urn:closing")
    assert {node.strip("<>") for node in raised.value.cycle} == {"urn:A", "urn:B", "urn:C"}
    assert names(any_hub) == before
    assert any_hub.taxonomy == taxonomy
    assert [event.row["x"].value for event in publish_in(any_hub, ":x a :A .", "urn:typing")] == ["urn:x"]


def test_a_given_taxonomy_that_closes_a_cycle_with_a_document_is_refused_and_the_taxonomy_stays(any_hub, publish_in):
    below = NamedNode(RDFS + "subClassOf")
    publish_in(any_hub, f":A {below} :B .")
    taxonomy = any_hub.taxonomy
    with pytest.raises(TaxonomyError):
        any_hub.set_taxonomy([Triple(NamedNode("urn:B"), below, NamedNode("urn:A"))])
    assert any_hub.taxonomy == taxonomy


# -- nothing to do


def test_an_empty_batch_is_committed_once_and_tells_nothing(any_hub):
    assert list(any_hub.apply([], batch="nothing")) == []
    assert list(any_hub.apply([], batch="nothing")) == []
    assert [record.id for record in any_hub.batches()] == ["nothing"]


def test_equal_content_is_no_new_version_and_tells_nothing(any_hub, publish_in):
    """The same triples in another order, with other names for blank nodes."""
    any_hub.subscribe(ALL, id="all", scope="graph")
    publish_in(any_hub, ":a :p [ :p :b ] , :c .", "urn:one")
    assert list(publish_in(any_hub, "_:other :p :b . :a :p :c , _:other .", "urn:one")) == []
    assert [version.version for version in any_hub.history("urn:one")] == [1]


def test_retracting_what_is_not_there_tells_nothing_and_makes_no_version(any_hub, publish_in):
    assert list(any_hub.retract("urn:never")) == []
    assert any_hub.document("urn:never") is None
    any_hub.subscribe(ALL, id="all", scope="graph", start="ever")
    publish_in(any_hub, ":a :p :b .", "urn:one")
    assert [event.kind for event in any_hub.retract("urn:one")] == ["unmatched"]
    assert list(any_hub.retract("urn:one")) == []
    assert [event.kind for event in publish_in(any_hub, ":a :p :b .", "urn:one")] == ["matched"]
    assert [version.version for version in any_hub.history("urn:one")] == [1, 2, 3]


def test_a_document_without_triples_is_there_and_matches_nothing(any_hub, publish_in):
    any_hub.subscribe(ALL, id="all")
    assert list(publish_in(any_hub, "", "urn:empty")) == []
    assert len(any_hub.document("urn:empty")) == 0
    assert [event.kind for event in publish_in(any_hub, ":a :p :b .", "urn:empty")] == ["matched"]
    assert [event.kind for event in publish_in(any_hub, "", "urn:empty")] == ["unmatched"]
    any_hub.retract("urn:empty")
    assert any_hub.document("urn:empty") is None


# -- subscribers


def test_events_of_a_subscription_that_is_gone_are_refused(any_hub, publish_in):
    any_hub.subscribe(ALL, id="all", scope="graph")
    publish_in(any_hub, ":a :p :b .")
    any_hub.unsubscribe("all")
    for ask in (any_hub.events, any_hub.rows, any_hub.unsubscribe):
        with pytest.raises(UnknownSubscription, match="all"):
            ask("all")
    any_hub.subscribe(ALL, id="all", scope="graph")
    assert any_hub.events("all") == [], "another one of the same name begins anew"
    assert any_hub.rows("all") == []


@pytest.mark.parametrize("scope", ["graph", "document"])
def test_a_second_subscriber_to_the_same_query_is_told_the_existing_rows_once(any_hub, publish_in, scope):
    any_hub.subscribe(ALL, id="first", scope=scope, start="ever")
    publish_in(any_hub, ":a :p :b .", "urn:one")
    publish_in(any_hub, ":a :p :b . :a :p :c .", "urn:two")
    any_hub.subscribe(ALL, id="second", scope=scope, start="ever")
    assert sorted(event.row["y"].value for event in any_hub.events("second")) == ["urn:b", "urn:c"]
    publish_in(any_hub, ":a :p :d .", "urn:two")
    heard = [
        sorted((event.kind, event.row["y"].value) for event in any_hub.events(id) if event.kind != "changed")
        for id in ("first", "second")
    ]
    assert heard[0] == heard[1]
    assert heard[0] == [
        ("matched", "urn:b"),
        ("matched", "urn:c"),
        ("matched", "urn:d"),
        ("unmatched", "urn:c"),
    ]
    assert set(any_hub.rows("first")) == set(any_hub.rows("second"))


@pytest.mark.parametrize("id", ["a b", "%00/../é", "'; DROP TABLE rows; --", "\n", "日本", "🦉" * 100, "?", "x" * 5000])
def test_any_text_is_an_id(any_hub, id):
    uri = f"urn:{id}"
    any_hub.subscribe(ALL, id=id, owner=id)
    any_hub.apply([Publish(Document(uri, b"<urn:a> <urn:p> <urn:b> .\n"))], batch=id)
    assert [event.subscription for event in any_hub.apply([], batch=id)] == [id]
    assert [event.documents[0].uri for event in any_hub.events(id)] == [uri]
    assert [one.id for one in any_hub.subscriptions(owner=id)] == [id]
    any_hub.unsubscribe(id)
    assert list(any_hub.subscriptions()) == []


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_a_name_that_no_store_can_keep_is_refused_and_found_nowhere(any_hub, bad):
    before = names(any_hub)
    for about in ({"id": bad}, {"id": "one", "owner": bad}):
        with pytest.raises(SubscriptionError, match="NUL"):
            any_hub.subscribe(ALL, **about)
    with pytest.raises(SubscriptionError, match="text has a NUL"):
        any_hub.subscribe(f"{ALL} # {bad}", id="one")
    with pytest.raises(DocumentError, match="NUL"):
        any_hub.retract(bad)
    with pytest.raises(DocumentError, match="NUL"):
        any_hub.publish(Document(bad, b""))
    with pytest.raises(ValueError, match="NUL"):
        any_hub.apply([], batch=bad)
    with pytest.raises(UnknownSubscription):
        any_hub.events(bad)
    assert any_hub.document(bad) is None
    assert names(any_hub) == before


def test_a_nul_inside_a_value_is_a_character_like_others(any_hub, publish_in):
    any_hub.subscribe('SELECT ?x { ?x <urn:p> ?y FILTER(CONTAINS(?y, "\\u0000y")) }', id="nul", scope="graph")
    publish_in(any_hub, r":a :p 'x\u0000y' . :b :p 'xy' .")
    assert [row["x"].value for row in any_hub.rows("nul")] == ["urn:a"]


# -- much


def test_a_batch_of_a_thousand_documents_is_one_batch(any_hub):
    any_hub.subscribe(LINKED, id="linked", scope="graph")
    any_hub.subscribe(ALL, id="all")
    chain = [
        Document.from_triples(
            f"urn:d:{n}", [Triple(NamedNode(f"urn:n:{n}"), NamedNode("urn:p"), NamedNode(f"urn:n:{n + 1}"))]
        )
        for n in range(1000)
    ]
    outcome = any_hub.apply(map(Publish, chain))
    assert len(outcome) == 999 + 1000
    assert len(any_hub.rows("linked")) == 999
    outcome = any_hub.apply(Retract(document.uri) for document in chain[::2])
    assert Counter((event.subscription, event.kind) for event in outcome) == {
        ("linked", "unmatched"): 999,
        ("all", "unmatched"): 500,
        ("all", "changed"): 499,  # what they lead to has new content
    }
    assert any_hub.rows("linked") == []
    assert len(any_hub.rows("all")) == 500


def test_a_subscription_that_needs_too_many_triples_fails_alone(new_url, publish_in):
    """Its rows are as before; the others are served."""
    with Hub(new_url("memory"), most_triples=20) as hub:
        hub.subscribe(
            "SELECT ?x ?z { ?x <urn:q> ?y . ?z <urn:q> ?y . ?z <urn:r> ?w . ?w <urn:r> ?v }", id="many", scope="graph"
        )
        hub.subscribe("SELECT ?x { ?x <urn:q> <urn:hub> }", id="few", scope="graph")
        hub.subscribe("SELECT ?x { ?x <urn:q> <urn:hub> }", id="own", scope="document")
        assert publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first").errors == ()
        crowd = "".join(f":x{n} :q :hub ; :r :b . " for n in range(30))
        outcome = publish_in(hub, crowd, "urn:crowd")
        assert [error.subscription for error in outcome.errors] == ["many"]
        assert "20 triples" in str(outcome.errors[0])
        assert Counter(event.subscription for event in outcome) == {"few": 30, "own": 30}
        assert len(hub.rows("many")) == 1
        assert [event.kind for event in hub.events("many")] == ["matched"]
        assert len(hub.rows("few")) == 31
        assert list(hub.store.problems()) == []


def test_an_image_that_is_older_than_an_unsubscription_serves_the_others(new_url, publish_in, monkeypatch):
    """The image still waits for atoms whose shape has gone with the query."""
    monkeypatch.setattr("triplewire.engine.standing._WORTH_AN_IMAGE", 2)
    url = new_url("sqlite")
    with Hub(url) as hub:
        hub.subscribe("SELECT ?x { ?x <urn:p> ?y . ?y <urn:p> ?z }", id="gone", scope="graph")
        hub.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="stays", scope="graph")
    with Hub(url) as hub:
        hub.unsubscribe("gone")
    with Hub(url) as hub:
        assert [event.subscription for event in publish_in(hub, ":a :p :b . :b :q :c .", "urn:d")] == ["stays"]
        assert list(hub.check()) == []
