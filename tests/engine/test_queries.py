"""Looking around in a hub: resources, documents, batches, and SPARQL over the current metadata (M9)."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from triplewire import Hub, QueryError, QuerySyntaxError, Schema, UnsupportedQuery, parse
from triplewire.engine import Source
from triplewire.engine.inspect.resources import MOST_REFERENCES
from triplewire.schema import SCHEMA

ALL = "SELECT ?d { ?d <urn:theme> ?t }"


def names(solutions):
    return sorted(solution["d"].value.removeprefix("urn:") for solution in solutions)


def triple(s, p, o):
    return Triple(NamedNode(f"urn:{s}"), NamedNode(f"urn:{p}"), o if isinstance(o, Literal) else NamedNode(f"urn:{o}"))


# -- SPARQL


def test_sparql_sees_every_document_and_follows_the_batches(hub, publish):
    publish(":a :theme :water .", "urn:1")
    assert names(hub.query(ALL)) == ["a"]
    publish(":b :theme :air .", "urn:2")
    publish(":c :theme :water .", "urn:1")
    assert names(hub.query(ALL)) == ["b", "c"]
    hub.retract("urn:2")
    assert names(hub.query(ALL)) == ["c"]


def test_sparql_is_asked_in_all_four_forms(hub, publish):
    publish(":a :theme :water .")
    assert bool(hub.query("ASK { <urn:a> ?p ?o }"))
    assert list(hub.query("CONSTRUCT { ?t <urn:of> ?d } { ?d <urn:theme> ?t }")) == [triple("water", "of", "a")]
    assert list(hub.query("DESCRIBE <urn:a>")) == [triple("a", "theme", "water")]


def test_sparql_has_what_standing_queries_have_not(hub, publish):
    publish(":a :size 3 . :b :size 4 .")
    (found,) = hub.query("SELECT (SUM(?n) AS ?sum) { ?d <urn:size> ?n }")
    assert found["sum"] == Literal(7)


def test_each_document_is_a_named_graph_and_the_default_graph_is_all_of_them(hub, publish):
    publish(":a :theme :water .", "urn:1")
    publish(":a :theme :water . :a :name 'A' .", "urn:2")
    graphs = hub.query("SELECT ?d { GRAPH ?d { <urn:a> <urn:theme> <urn:water> } }")
    assert names(graphs) == ["1", "2"]
    assert len(list(hub.query("SELECT ?p { <urn:a> ?p ?o }"))) == 2, "a set: who states it twice counts once"
    hub.retract("urn:1")
    assert len(list(hub.query("SELECT ?p { <urn:a> ?p ?o }"))) == 2, "another document states it still"
    hub.retract("urn:2")
    assert not hub.query("ASK { ?s ?p ?o }")


def test_blank_nodes_of_documents_stay_apart_and_have_the_names_of_rows(hub, publish):
    hub.subscribe("SELECT ?b { ?b <urn:theme> <urn:water> }", id="blank", scope="graph")
    publish("[] :theme :water .", "urn:1")
    publish("[] :theme :water .", "urn:2")
    found = {solution["b"] for solution in hub.query("SELECT ?b { ?b <urn:theme> <urn:water> }")}
    assert found == {row["b"] for row in hub.rows("blank")}
    assert len(found) == 2


def test_prefixes_may_be_given(hub, publish):
    publish(":a :theme :water .")
    assert names(hub.query("SELECT ?d { ?d x:theme x:water }", prefixes={"x": "urn:"})) == ["a"]


@pytest.mark.parametrize(
    "text", ["INSERT DATA { <urn:a> <urn:b> <urn:c> }", "DELETE WHERE { ?s ?p ?o }", "LOAD <http://127.0.0.1:9/>"]
)
def test_updates_are_refused_with_what_to_do_instead(hub, text):
    with pytest.raises(UnsupportedQuery, match=r"is an update.*publish and retract"):
        hub.query(text)


def test_no_other_server_is_ever_asked(hub):
    with pytest.raises(UnsupportedQuery, match="SERVICE asks another server"):
        hub.query("SELECT * { service silent <http://127.0.0.1:9/> { ?s ?p ?o } }")


def test_words_that_only_look_like_updates_are_no_updates(hub, publish):
    publish(":insert :service 'DELETE SERVICE' .")
    found = list(hub.query("PREFIX load: <urn:> SELECT ?service { load:insert load:service ?service } # SERVICE"))
    assert found[0]["service"] == Literal("DELETE SERVICE")


def test_what_is_no_sparql_is_a_syntax_error(hub):
    with pytest.raises(QuerySyntaxError):
        hub.query("SELECT ?x WHERE { ?x")


def test_another_process_sees_the_same(new_url):
    url = new_url("sqlite")
    with Hub(url) as one, Hub(url) as other:
        assert names(other.query(ALL)) == []
        one.publish("<urn:a> <urn:theme> <urn:water> .", uri="urn:1")
        assert names(other.query(ALL)) == ["a"]


# -- resources


def test_a_resource_is_told_with_who_says_what_and_what_refers_to_it(hub, publish):
    publish(":a :theme :water ; :name 'A' .", "urn:1")
    publish(":a :theme :water . :b :part :a .", "urn:2")
    found = hub.resource("urn:a")
    assert set(found.triples) == {triple("a", "theme", "water"), triple("a", "name", Literal("A"))}
    assert found.documents == (Source("urn:1", 1), Source("urn:2", 1))
    assert found.referenced_by == (triple("b", "part", "a"),)
    assert (found.references, found.has_more) == (1, False)


def test_the_content_of_a_resource_has_what_it_holds(hub, publish):
    """M7: by strong references and by blank nodes."""
    declared = parse(f"<urn:info> <{SCHEMA}strongReference> true .", uri="urn:schema", media_type="text/turtle")
    hub.set_schema(Schema.from_triples(declared.triples))
    publish(":a :info :i ; :other :o ; :box [ :size 3 ] . :o :name 'O' .", "urn:1")
    publish(":i :memory 92 .", "urn:2")
    found = hub.resource("urn:a")
    assert len(found.triples) == 3
    assert len(found.content) == 5
    assert triple("i", "memory", Literal(92)) in found.content
    assert found.documents == (Source("urn:1", 1), Source("urn:2", 1))


def test_a_resource_that_nobody_speaks_of_is_empty(hub):
    assert not hub.resource("urn:nothing")


def test_a_class_with_many_instances_is_counted_and_not_shown(hub, publish):
    publish(" ".join(f":d{n} a :Dataset ." for n in range(MOST_REFERENCES + 50)) + " :x :about :Dataset .")
    found = hub.resource("urn:Dataset")
    assert found.referenced_by == (triple("x", "about", "Dataset"),)
    assert found.has_more
    assert found.references > MOST_REFERENCES


# -- documents and batches


def test_documents_are_listed_by_uri_with_their_versions(hub, publish):
    for uri in ("urn:b", "urn:a", "urn:c"):
        publish(":x :y :z .", uri)
    publish(":x :y :w .", "urn:a")
    hub.retract("urn:c")
    assert [(d.uri, d.version, d.number) for d in hub.documents()] == [("urn:a", 2, 4), ("urn:b", 1, 1)]
    assert [d.uri for d in hub.documents(after="urn:a")] == ["urn:b"]
    assert [d.uri for d in hub.documents(limit=1)] == ["urn:a"]


def test_the_history_of_a_document_has_every_version_with_its_batch_and_time(hub):
    hub.publish("<urn:x> <urn:y> <urn:z> .", uri="urn:a", batch="first")
    hub.retract("urn:a", batch="second")
    hub.publish("<urn:x> <urn:y> <urn:w> .", uri="urn:a", batch="third")
    told = hub.history("urn:a")
    assert [(v.version, v.batch, v.present) for v in told] == [
        (1, "first", True),
        (2, "second", False),
        (3, "third", True),
    ]
    times = [version.time for version in told]
    assert times == sorted(times)
    assert hub.history("urn:never") == []


def test_batches_are_listed_in_their_order(hub):
    for name in ("one", "two", "three"):
        hub.publish(f"<urn:x> <urn:y> <urn:{name}> .", uri="urn:a", batch=name)
    assert [(batch.number, batch.id, batch.documents) for batch in hub.batches()] == [
        (1, "one", 1),
        (2, "two", 1),
        (3, "three", 1),
    ]
    assert [batch.id for batch in hub.batches(after=1, limit=1)] == ["two"]


def test_question_with_named_graphs_sees_only_these(new_url):
    with Hub(new_url("memory")) as hub:
        for name in "abc":
            hub.publish(f"<urn:{name}> <urn:p> 1 .", uri=f"urn:doc:{name}")
        text = "SELECT ?s { { ?s <urn:p> 1 } UNION { GRAPH ?g { ?s <urn:p> 1 } } }"

        def found(**graphs):
            return sorted(solution["s"].value for solution in hub.query(text, **graphs))

        assert found() == ["urn:a", "urn:a", "urn:b", "urn:b", "urn:c", "urn:c"]
        assert found(default_graphs=["urn:doc:a", "urn:doc:b"]) == ["urn:a", "urn:b"]
        assert found(named_graphs=["urn:doc:c"]) == ["urn:c"]
        with pytest.raises(QueryError, match="no IRI"):
            found(named_graphs=["not an iri"])
