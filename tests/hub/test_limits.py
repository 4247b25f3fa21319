"""Limits of the service: what is too large, too slow or too much is refused, and others are served."""

from __future__ import annotations

import socket
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from hub.serving import problem, serving

SMALL = "<urn:s> <urn:p> <urn:o> ."


@pytest.fixture
def strict(tmp_path):
    with serving(
        f"sqlite:///{tmp_path}/hub.db",
        document_bytes=1_000,
        upload_bytes=5_000,
        request_bytes=500,
        request_seconds=0.3,
        query_seconds=1.0,
        query_bytes=2_000,
        waiting_documents=3,
    ) as client:
        yield client


def test_document_over_the_limit_is_refused(strict):
    told = problem(strict.publish("urn:d", SMALL + " " * 1_000), 413, "request-too-large")
    assert "1000 bytes" in told["detail"]
    assert strict.publish("urn:d", SMALL).status_code == 201


def test_document_that_does_not_say_how_long_it_is_is_refused_when_it_is_too_long(strict):
    def parts():
        for _ in range(100):
            yield b" " * 100

    answer = strict.put(
        "/v1/document", params={"uri": "urn:d"}, content=parts(), headers={"Content-Type": "text/turtle"}
    )
    problem(answer, 413, "request-too-large")


@pytest.mark.parametrize("target", ["/v1/document?uri=urn:d", "/v1/documents", "/v1/sparql", "/v1/preview"])
def test_body_that_does_not_arrive_is_not_waited_for(strict, target):
    method = "PUT" if "uri" in target else "POST"
    kinds = {"/v1/sparql": "application/sparql-query", "/v1/preview": "application/json"}
    kind = kinds.get(target, "application/n-quads")
    url = urlsplit(strict.url)
    with socket.create_connection((url.hostname, url.port), timeout=30) as slow:
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: {kind}\r\nContent-Length: 100\r\n\r\n"
        )
        slow.sendall(head.encode() + b"<urn:a>")
        assert b" 408 " in slow.recv(1_000).split(b"\r\n")[0]


def test_compressed_body_is_refused(strict):
    answer = strict.publish("urn:d", SMALL, Content_Encoding="gzip")
    problem(answer, 415, "unsupported-media-type")


def test_query_that_takes_too_long_is_stopped_and_the_next_one_is_answered(strict):
    for n in range(4):
        strict.publish(f"urn:{n}", " ".join(f"<urn:s{n}> <urn:p> {i} ." for i in range(40)))
    crossed = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?q ?r ?s }"
    told = problem(strict.get("/v1/sparql", params={"query": crossed}), 422, "query-limit-exceeded")
    assert "1 seconds" in told["detail"]
    assert strict.get("/v1/sparql", params={"query": "ASK { ?s ?p ?o }"}).json()["boolean"] is True


def test_answer_over_the_limit_is_refused(strict):
    strict.publish("urn:d", " ".join(f"<urn:s> <urn:p> {i} ." for i in range(40)))
    problem(strict.get("/v1/sparql", params={"query": "SELECT * { ?s ?p ?o }"}), 422, "query-limit-exceeded")
    assert strict.get("/v1/sparql", params={"query": "SELECT * { ?s ?p ?o } LIMIT 1"}).status_code == 200


def test_query_over_the_limit_is_refused(strict):
    body = "ASK {}" + " " * 600
    answer = strict.post("/v1/sparql", content=body, headers={"Content-Type": "application/sparql-query"})
    problem(answer, 413, "request-too-large")


@pytest.mark.parametrize("target", ["subscriptions", "preview", "explain", "lint", "challenges", "subscriptions/a/why"])
def test_message_over_the_limit_is_refused(strict, target):
    answer = strict.post(f"/v1/{target}", json={"text": "x" * 600})
    problem(answer, 413, "request-too-large")


def test_queries_that_run_hold_up_neither_other_requests_nor_the_end(tmp_path):
    crossed = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?q ?r ?s }"
    answers = []
    with serving(f"sqlite:///{tmp_path}/hub.db", query_seconds=1_000) as served:
        served.publish("urn:d", " ".join(f"<urn:s> <urn:p> {i} ." for i in range(100)))
        served.get("/v1/sparql", params={"query": "ASK {}"})
        asker = served.server.config.app.state.service.tenants._open["main"].asker

        def ask():
            with httpx.Client(base_url=served.url, timeout=60, trust_env=False) as client:  # not closed before the end
                try:
                    answers.append(client.get("/v1/sparql", params={"query": crossed}).status_code)
                except httpx.TransportError:
                    answers.append(None)

        asking = [threading.Thread(target=ask) for _ in range(60)]
        for each in asking:
            each.start()
        while not asker._asked:
            time.sleep(0.01)
        assert len(served.get("/v1/documents").json()["documents"]) == 1
        assert answers == []
    for each in asking:
        each.join()
    assert set(answers) <= {503, None}


def test_upload_over_the_limit_is_refused_and_what_came_before_is_there(strict):
    line = '{"uri": "urn:%d", "content": "<urn:s> <urn:p> 1 ."}\n'
    answer = strict.post(
        "/v1/documents",
        content="".join(line % n for n in range(200)),
        headers={"Content-Type": "application/x-ndjson"},
    )
    problem(answer, 413, "request-too-large")


def test_more_than_may_wait_is_refused_for_now(strict):
    """The thread that writes is held up, as a slow disk would."""
    hub = strict.hub
    with hub._lock:
        answers = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(strict.publish(f"urn:{n}", SMALL))) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        while len(answers) < 4:  # one is being applied, three wait
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) == 4
    assert all(answer.headers["retry-after"] for answer in refused)
    assert [answer.status_code for answer in answers if answer not in refused] == [201] * 4


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_page_of_another_site_cannot_use_a_hub_without_identity(strict, headers):
    answer = strict.put("/v1/document", params={"uri": "urn:d"}, content=SMALL, headers=headers)
    problem(answer, 403, "not-allowed")
