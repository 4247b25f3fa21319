"""Resources, taxonomy, schema, SPARQL, uploads, health and metrics over HTTP (M2, M9, X3)."""

from __future__ import annotations

import json

import pytest

from hub.serving import TURTLE, problem, serving
from triplewire import parse

BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def test_resource_is_shown_with_who_says_it_and_what_refers_to_it(served):
    served.publish("urn:1", "<urn:a> <urn:p> <urn:b> .")
    found = served.get("/v1/resource", params={"iri": "urn:b"}).json()
    assert (found["triples"], found["referenced_by"]) == ([], ["<urn:a> <urn:p> <urn:b>"])
    assert served.get("/v1/resource", params={"iri": "urn:a"}).json()["documents"] == [{"uri": "urn:1", "version": 1}]


def test_another_taxonomy_makes_events(served):
    text = "SELECT ?d WHERE (?d, <urn:theme>, ?t) SUCHTHAT (?t below <urn:water>)"
    assert served.subscribe("water", text, language="gql").status_code == 201
    served.publish("urn:1", "<urn:a> <urn:theme> <urn:floods> .")
    changed = served.put("/v1/taxonomy", content=f"<urn:floods> {BELOW} <urn:water> .", headers=TURTLE).json()
    assert [(event["kind"], event["row"]) for event in changed["events"]] == [("matched", {"d": "<urn:a>"})]
    kept = served.get("/v1/taxonomy", headers={"Accept": "application/n-triples"})
    assert kept.text == f"<urn:floods> {BELOW} <urn:water> .\n"
    circle = f"<urn:a> {BELOW} <urn:b> . <urn:b> {BELOW} <urn:a> ."
    told = problem(served.put("/v1/taxonomy", content=circle, headers=TURTLE), 422, "taxonomy-error")
    assert sorted(set(told["cycle"])) == ["urn:a", "urn:b"]


def test_schema_refuses_or_warns(served):
    text = "<urn:size> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> ."
    assert served.put("/v1/schema", content=text, headers=TURTLE).status_code == 204
    told = problem(served.publish("urn:1", "<urn:a> <urn:size> 'big' ."), 422, "schema-violation")
    assert len(told["violations"]) == 1
    served.put("/v1/schema", params={"on_violation": "warn"}, content=text, headers=TURTLE)
    assert len(served.publish("urn:1", "<urn:a> <urn:size> 'big' .").json()["warnings"]) == 1
    assert parse(served.get("/v1/schema").content, uri="urn:x") == parse(text, uri="urn:x")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """One server for all queries, because the process that answers them takes a moment to start."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('filled')}/hub.db") as served:
        for name in "ab":
            served.publish(f"urn:doc:{name}", f"<urn:{name}> <urn:p> 1 .")
        yield served


SELECT = "SELECT ?s { ?s <urn:p> 1 } ORDER BY ?s"


def test_query_is_asked_in_the_three_ways_of_the_protocol(filled):
    ways = [
        filled.get("/v1/sparql", params={"query": SELECT}),
        filled.post("/v1/sparql", content=SELECT, headers={"Content-Type": "application/sparql-query"}),
        filled.post("/v1/sparql", data={"query": SELECT}),
    ]
    for answer in ways:
        assert answer.headers["content-type"] == "application/sparql-results+json"
        assert [each["s"]["value"] for each in answer.json()["results"]["bindings"]] == ["urn:a", "urn:b"]


def test_query_sees_the_graphs_that_are_named(filled):
    graph = {"default-graph-uri": "urn:doc:a"}
    body = {"content": SELECT, "headers": {"Content-Type": "application/sparql-query"}}
    ways = [
        filled.get("/v1/sparql", params={"query": SELECT} | graph),
        filled.post("/v1/sparql", params=graph, **body),
        filled.post("/v1/sparql", data={"query": SELECT} | graph),
    ]
    for answer in ways:
        assert [each["s"]["value"] for each in answer.json()["results"]["bindings"]] == ["urn:a"]
    query = "SELECT ?g { GRAPH ?g { ?s ?p ?o } }"
    found = filled.get("/v1/sparql", params={"query": query, "named-graph-uri": "urn:doc:b"}).json()
    assert [each["g"]["value"] for each in found["results"]["bindings"]] == ["urn:doc:b"]


@pytest.mark.parametrize(
    ("query", "accept", "media_type", "part"),
    [
        (SELECT, "text/csv", "text/csv; charset=utf-8", "urn:a"),
        (SELECT, "text/tab-separated-values", "text/tab-separated-values; charset=utf-8", "<urn:a>"),
        (SELECT, "application/sparql-results+xml", "application/sparql-results+xml", "<uri>urn:a</uri>"),
        ("ASK { ?s ?p 1 }", "*/*", "application/sparql-results+json", '"boolean":true'),
        ("ASK { ?s ?p 1 }", "text/csv, application/*;q=0.1", "application/sparql-results+json", "true"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "*/*", "text/turtle; charset=utf-8", "<urn:a>"),
        ("DESCRIBE <urn:a>", "application/n-triples", "application/n-triples", "<urn:a> <urn:p>"),
    ],
)
def test_answer_has_the_format_that_the_client_likes_best(filled, query, accept, media_type, part):
    answer = filled.get("/v1/sparql", params={"query": query}, headers={"Accept": accept})
    assert answer.headers["content-type"] == media_type
    assert part in answer.text


def test_query_that_is_no_question_is_refused(filled):
    def ask(query, **headers):
        return filled.get("/v1/sparql", params={"query": query}, headers=headers)

    problem(ask("SELECT"), 400, "query-syntax-error")
    problem(ask("INSERT DATA { <urn:a> <urn:b> 1 }"), 422, "unsupported-query")
    problem(ask("SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"), 422, "unsupported-query")
    problem(ask("SELECT * FROM <urn:x> { ?s ?p ?o }", Accept="image/png"), 406, "not-acceptable")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    problem(filled.post("/v1/sparql", content="update=x", headers=form), 400, "bad-request")
    problem(filled.post("/v1/sparql", content="x", headers={"Content-Type": "text/plain"}), 415)
    problem(filled.post("/v1/sparql", content=b"\xff", headers={"Content-Type": "application/sparql-query"}), 400)


def test_query_sees_what_was_published_just_before(filled):
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    for n in range(5):
        filled.publish(f"urn:{n}", f"<urn:x{n}> <urn:p> 2 .")
        found = filled.get("/v1/sparql", params={"query": count}).json()
        assert found["results"]["bindings"][0]["n"]["value"] == str(3 + n)


# -- uploads


def upload(served, text, kind):
    return served.post("/v1/documents", content=text, headers={"Content-Type": kind})


def test_graphs_of_n_quads_become_documents(served):
    lines = [f'<urn:s{n}> <urn:p> "{m}" <urn:doc:{n}> .\n' for n in range(600) for m in range(3)]
    told = upload(served, "# a comment\n\n" + "".join(lines), "application/n-quads").json()
    assert told == {"published": 600, "retracted": 0, "unchanged": 0, "refused": 0, "problems": []}
    wanted = parse("".join(f'<urn:s7> <urn:p> "{m}" .' for m in range(3)), uri="urn:doc:7")
    assert served.hub.document("urn:doc:7") == wanted
    again = upload(served, "".join(lines), "application/n-quads").json()
    assert (again["published"], again["unchanged"]) == (0, 600)


def test_bad_lines_spoil_their_document_only(served):
    text = (
        "<urn:a> <urn:p> 1 <urn:doc:bad> .\n"
        "<urn:a> <urn:p> <urn:o> <urn:doc:bad> .\n"
        "<urn:a> <urn:p> <urn:o> <urn:doc:good> .\n"
        "<urn:a> <urn:p> <urn:x> <urn:doc:again> .\n"
        "<urn:a> <urn:p> <urn:o> <urn:doc:good> .\n"
    )
    told = upload(served, text, "application/n-quads").json()
    assert (told["published"], told["refused"]) == (2, 2)
    assert [(each["line"], each["uri"]) for each in told["problems"]] == [(1, "urn:doc:bad"), (5, "urn:doc:good")]
    listed = served.get("/v1/documents").json()["documents"]
    assert [each["uri"] for each in listed] == ["urn:doc:again", "urn:doc:good"]


def test_line_without_a_graph_ends_an_upload(served):
    told = problem(upload(served, "<urn:a> <urn:p> <urn:o> .\n", "application/n-quads"), 400, "bad-request")
    assert "line 1" in told["detail"]


def test_json_lines_publish_and_retract(served):
    served.publish("urn:old", "<urn:a> <urn:p> 1 .")
    records = [
        {"uri": "urn:ttl", "content": "<urn:a> <urn:p> 1 ."},
        {"uri": "urn:xml", "content": "<urn:a>", "media_type": "text/turtle"},
        {"uri": "urn:json", "content": '{"@id": "urn:a", "urn:p": 1}', "media_type": "application/ld+json"},
        {"uri": "urn:old", "retract": True},
        {"uri": "urn:never", "retract": True},
        {"uri": 7},
        {"uri": "urn:x"},
    ]
    half = r'{"uri": "urn:\ud800", "content": "<urn:a> <urn:p> 1 ."}'
    text = "\n".join([*map(json.dumps, records), "no json", half]) + "\n"
    told = upload(served, text, "application/x-ndjson").json()
    assert (told["published"], told["retracted"], told["refused"]) == (2, 1, 6)
    assert [each["line"] for each in told["problems"]] == [2, 5, 6, 7, 8, 9]


def test_upload_of_something_else_is_refused(served):
    problem(upload(served, "x", "text/turtle"), 415, "unsupported-media-type")


# -- upkeep


def test_health_and_metrics_tell_what_happens(served):
    health = served.get("/v1/health").json()
    assert (health["status"], health["identity"]) == ("ok", False)
    served.publish("urn:1", "<urn:a> <urn:p> 1 .")
    served.publish("urn:2", "nonsense")
    served.get("/v1/whatever/else")
    text = served.get("/v1/metrics").text
    for line in (
        'triplewire_intake_documents_total{tenant="main"} 1.0',
        'triplewire_intake_refused_total{tenant="main"} 1.0',
        'triplewire_requests_total{method="PUT",route="/v1/document",status="201"} 1.0',
        'triplewire_requests_total{method="GET",route="none",status="404"} 1.0',
    ):
        assert line in text
    assert "whatever" not in text
