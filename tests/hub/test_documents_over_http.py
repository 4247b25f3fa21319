"""Documents over HTTP: published, read in every syntax, conditional, listed, versions, retracted (M4)."""

from __future__ import annotations

import json
import threading

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

from hub.serving import problem, serving
from triplewire import parse
from triplewire.client import Client

TEXT = '@prefix : <urn:> . :d :title "Rain"@en ; :part [ :size 12 ] ; :next :e .'


def test_published_document_is_new_then_updated_then_unchanged(served):
    first = served.publish("urn:doc", TEXT)
    assert (first.status_code, first.json()["version"], first.json()["changed"]) == (201, 1, True)
    second = served.publish("urn:doc", TEXT + " :d :title 'Snow' .")
    assert (second.status_code, second.json()["version"], second.json()["changed"]) == (200, 2, True)
    third = served.publish("urn:doc", TEXT + " :d :title 'Snow' .")
    assert (third.status_code, third.json()["version"], third.json()["changed"]) == (200, 2, False)
    assert served.hub.document("urn:doc") == parse(TEXT + " :d :title 'Snow' .", uri="urn:doc")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "text/turtle"),
        ("*/*", "text/turtle"),
        ("application/n-triples", "application/n-triples"),
        ("application/ld+json, text/turtle;q=0.5", "application/ld+json"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/n-quads", "application/n-quads"),
        ("application/trig", "application/trig"),
        ("text/html, application/*;q=0.1", "application/n-triples"),
    ],
)
def test_document_is_read_in_the_syntax_that_the_client_likes_best(served, accept, media_type):
    served.publish("urn:doc", TEXT)
    headers = {} if accept is None else {"Accept": accept}
    served.headers.pop("accept")
    found = served.get("/v1/document", params={"uri": "urn:doc"}, headers=headers)
    assert found.status_code == 200
    assert found.headers["content-type"].partition(";")[0] == media_type
    assert found.headers["vary"] == "Accept"
    wanted = Graph().parse(data=TEXT, format="turtle")
    assert isomorphic(_graph(found), wanted)


def _graph(found):
    names = {"application/n-triples": "nt", "application/rdf+xml": "xml"}
    kind = found.headers["content-type"].partition(";")[0]
    if kind in ("application/n-quads", "application/trig", "application/ld+json"):
        return Graph().parse(data=parse(found.content, uri="urn:x", media_type=kind).ntriples, format="nt")
    return Graph().parse(data=found.content, format=names.get(kind, "turtle"))


@pytest.mark.parametrize("media_type", ["text/turtle", "application/n-triples", "application/ld+json"])
def test_document_sent_as_any_syntax_is_the_same_document(served, media_type):
    served.publish("urn:a", TEXT)
    text = served.get("/v1/document", params={"uri": "urn:a"}, headers={"Accept": media_type})
    sent = served.put(
        "/v1/document", params={"uri": "urn:b"}, content=text.content, headers={"Content-Type": media_type}
    )
    assert sent.status_code == 202
    assert served.get("/v1/document", params={"uri": "urn:b"}).status_code == 200  # which waits until it is applied
    assert served.hub.document("urn:b").ntriples == served.hub.document("urn:a").ntriples


def test_reader_that_has_the_document_already_is_told_so(served):
    served.publish("urn:doc", TEXT)
    tag = served.get("/v1/document", params={"uri": "urn:doc"}).headers["etag"]
    again = served.get("/v1/document", params={"uri": "urn:doc"}, headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    served.publish("urn:doc", TEXT + " :d :x 1 .")
    assert served.get("/v1/document", params={"uri": "urn:doc"}, headers={"If-None-Match": tag}).status_code == 200


def test_entity_tags_differ_by_syntax(served):
    served.publish("urn:doc", TEXT)
    tags = {
        served.get("/v1/document", params={"uri": "urn:doc"}, headers={"Accept": kind}).headers["etag"]
        for kind in ("text/turtle", "application/n-triples", "application/ld+json")
    }
    assert len(tags) == 3


def test_change_of_a_document_that_is_another_one_by_now_is_refused(served):
    tag = served.publish("urn:doc", TEXT).json()["etag"]
    read = served.get("/v1/document", params={"uri": "urn:doc"}).headers["etag"]
    assert served.publish("urn:doc", TEXT + " :d :x 1 .", If_Match=read).status_code == 200
    problem(served.publish("urn:doc", TEXT + " :d :x 2 .", If_Match=tag), 412, "version-conflict")
    problem(served.retract("urn:doc", If_Match=tag), 412, "version-conflict")
    problem(served.publish("urn:doc", TEXT, If_None_Match="*"), 412, "version-conflict")
    problem(served.publish("urn:new", TEXT, If_Match="*"), 412, "version-conflict")
    assert served.publish("urn:new", TEXT, If_None_Match="*").status_code == 201
    assert served.hub.document("urn:doc") == parse(TEXT + " :d :x 1 .", uri="urn:doc")


def test_of_many_who_create_a_document_one_does(served):
    codes = _together(served, [lambda: served.publish("urn:one", TEXT, If_None_Match="*")] * 8)
    assert sorted(codes) == [201] + [412] * 7


def test_retracted_document_is_gone_and_its_versions_are_not(served):
    served.publish("urn:doc", TEXT)
    assert served.retract("urn:doc").json()["version"] == 2
    problem(served.get("/v1/document", params={"uri": "urn:doc"}), 404, "unknown-document")
    problem(served.retract("urn:doc"), 404, "unknown-document")
    versions = served.get("/v1/document/versions", params={"uri": "urn:doc"}).json()["versions"]
    assert [(each["version"], each["present"]) for each in versions] == [(1, True), (2, False)]
    old = served.get("/v1/document", params={"uri": "urn:doc", "version": 1})
    assert old.status_code == 200
    problem(served.get("/v1/document", params={"uri": "urn:doc", "version": 2}), 404, "unknown-document")
    problem(served.get("/v1/document/versions", params={"uri": "urn:never"}), 404, "unknown-document")


def test_documents_are_listed_page_by_page(served):
    uris = [f"https://data.example/{n:02}?x=1&y#z" for n in range(25)]
    _together(served, [lambda uri=uri: served.publish(uri, TEXT) for uri in uris])
    seen, after = [], ""
    while after is not None:
        page = served.get("/v1/documents", params={"after": after, "limit": 10}).json()
        seen += [each["uri"] for each in page["documents"]]
        after = page["next"]
    assert seen == uris


def test_who_waits_gets_the_events_of_its_own_change_and_of_no_other(served):
    served.subscribe("titles", "SELECT ?d ?t { ?d <urn:title> ?t }")
    answers = {}

    def publish(n):
        answers[n] = served.publish(f"urn:doc:{n}", f"<urn:{n}> <urn:title> '{n}' .", Prefer="wait=5")

    _together(served, [lambda n=n: publish(n) for n in range(12)])
    for n, answer in answers.items():
        assert answer.headers["preference-applied"] == "wait"
        assert [event["row"]["d"] for event in answer.json()["events"]] == [f"<urn:{n}>"]
    assert "events" not in served.send_in("urn:doc:1", "<urn:1> <urn:title> 'x' .").json()


def test_change_with_a_key_is_applied_once(served):
    served.subscribe("titles", "SELECT ?d ?t { ?d <urn:title> ?t }")
    first = served.publish("urn:doc", "<urn:1> <urn:title> 'x' .", Idempotency_Key="k1", Prefer="wait")
    served.publish("urn:doc", "<urn:1> <urn:title> 'y' .")
    again = served.publish("urn:doc", "<urn:1> <urn:title> 'x' .", Idempotency_Key="k1", Prefer="wait")
    assert again.json() == first.json()
    assert served.hub.document("urn:doc") == parse("<urn:1> <urn:title> 'y' .", uri="urn:doc")


def test_conditional_change_that_is_sent_again_with_its_key_is_answered_again(served):
    calls = [served.publish("urn:doc", TEXT, Idempotency_Key="k", If_None_Match="*") for _ in range(2)]
    assert [call.status_code for call in calls] == [201, 201]
    problem(served.publish("urn:doc", TEXT, Idempotency_Key="other", If_None_Match="*"), 412, "version-conflict")
    problem(served.publish("urn:doc", TEXT, Idempotency_Key="x" * 201), 400, "bad-request")


def test_bad_document_does_not_spoil_the_others_of_its_group(served):
    served.put(
        "/v1/schema",
        content="<urn:size> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> .",
        headers={"Content-Type": "text/turtle"},
    )
    texts = {
        "good": ("<urn:s> <urn:size> 1 .", 201),
        "syntax": ("<urn:s> <urn:size", 400),
        "schema": ("<urn:s> <urn:size> 'big' .", 422),
    }
    found = {}

    def publish(kind, n):
        found[kind, n] = served.publish(f"urn:{kind}:{n}", texts[kind][0]).status_code

    _together(served, [lambda k=kind, n=n: publish(k, n) for n in range(8) for kind in texts])
    assert found == {(kind, n): texts[kind][1] for kind in texts for n in range(8)}
    listed = served.get("/v1/documents").json()["documents"]
    assert {each["uri"] for each in listed} == {f"urn:good:{n}" for n in range(8)}


def test_documents_that_would_close_a_cycle_are_refused_alone(served):
    text = "<urn:{0}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:{1}> ."
    edges = [(0, 1), (1, 2), (2, 0)]
    codes = _together(served, [lambda e=e: served.publish(f"urn:doc:{e[0]}", text.format(*e)) for e in edges])
    assert sorted(codes) == [201, 201, 422]


def test_errors_say_where_and_what(served):
    told = problem(served.publish("urn:doc", "<urn:a> <urn:b>\n  oops ."), 400, "document-error")
    assert (told["line"], told["uri"]) == (2, "urn:doc")
    problem(served.put("/v1/document", content="x", headers={"Content-Type": "text/turtle"}), 422, "bad-request")
    problem(served.publish("no iri", TEXT), 400, "document-error")
    kind = served.put("/v1/document", params={"uri": "urn:d"}, content="x", headers={"Content-Type": "image/png"})
    problem(kind, 415, "unsupported-media-type")
    page = served.put("/v1/document", params={"uri": "urn:d"}, content="<html>", headers={"Content-Type": "text/html"})
    problem(page, 415, "unsupported-media-type")
    problem(served.get("/v1/document", params={"uri": "urn:never"}), 404, "unknown-document")
    served.publish("urn:doc", TEXT)
    accept = {"Accept": "image/png"}
    told = problem(served.get("/v1/document", params={"uri": "urn:doc"}, headers=accept), 406, "not-acceptable")
    assert "text/turtle" in told["offered"]
    problem(served.get("/v1/nothing"), 404)
    problem(served.post("/v1/document"), 405)


def test_document_published_as_xml_is_read_as_xml(served):
    menu = "<menu><name>Cola</name></menu>"
    served.subscribe("names", "/menu/name", language="xpath")
    one = {"uri": "urn:menu"}
    sent = served.put("/v1/document", params=one, content=menu, headers={"Content-Type": "application/xml"})
    assert sent.status_code == 202
    read = served.get("/v1/document", params=one)
    assert (read.headers["content-type"], read.text) == ("application/xml", menu)
    again = served.get("/v1/document", params=one, headers={"If-None-Match": read.headers["etag"]})
    assert again.status_code == 304
    triples = served.get("/v1/document", params=one, headers={"Accept": "text/turtle"})
    assert (triples.status_code, triples.text) == (200, "")
    line = json.dumps({"uri": "urn:other", "content": menu.replace("Cola", "Tea"), "media_type": "application/xml"})
    told = served.post("/v1/documents", content=line, headers={"Content-Type": "application/x-ndjson"}).json()
    assert told["published"] == 1
    with Client(served.url) as client:
        assert client.document("urn:other").xml == b"<menu><name>Tea</name></menu>"
    assert [event["row"]["text"] for event in served.events("names", wait=30)["events"]] == ['"Cola"', '"Tea"']
    problem(served.get("/v1/document", params=one, headers={"Accept": "image/png"}), 406, "not-acceptable")


def test_triples_that_rdf_xml_cannot_write_are_not_acceptable_in_it(served):
    served.publish("urn:doc", "<urn:a> <urn:b:1> 1 .")
    accept = {"Accept": "application/rdf+xml"}
    problem(served.get("/v1/document", params={"uri": "urn:doc"}, headers=accept), 406, "not-acceptable")


def test_uri_that_no_store_can_keep_is_refused(served):
    problem(served.publish("urn:a\x00b", TEXT), 400)
    problem(served.get("/v1/document", params={"uri": "urn:a\x00b"}), 404, "unknown-document")
    problem(served.get("/v1/documents", params={"after": "\x00"}), 422, "bad-request")
    problem(served.get("/v1/subscriptions", params={"owner": "\x00"}), 422, "bad-request")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_restarted_service_has_what_it_acknowledged(new_url, kind):
    store = new_url(kind)
    with serving(store) as served:
        served.subscribe("titles", "SELECT ?d ?t { ?d <urn:title> ?t }")
        served.publish("urn:doc", "<urn:1> <urn:title> 'x' .")
    with serving(store) as served:
        assert served.get("/v1/subscriptions/titles/rows").json()["rows"] == [{"d": "<urn:1>", "t": '"x"'}]
        assert served.events("titles")["next"] == 1
        found = served.get("/v1/sparql", params={"query": "SELECT ?s { ?s ?p ?o }"}).json()
        assert [each["s"]["value"] for each in found["results"]["bindings"]] == ["urn:1"]


def _together(served, calls):
    """Call all of them at the same time; the status codes."""
    answers = []
    threads = [threading.Thread(target=lambda call=call: answers.append(call())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answer.status_code for answer in answers if answer is not None]
