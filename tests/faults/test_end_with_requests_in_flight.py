"""A service that is told to end while bodies are arriving: they are refused with 503, nothing is thrown at the log."""

from __future__ import annotations

import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from tests.hub.processes import put, serving

BODIES = {
    "a document": ("PUT /v1/document?uri=urn:a", "text/turtle"),
    "many documents": ("POST /v1/documents", "application/x-ndjson"),
    "changes": ("POST /v1/changes", "application/json"),
    "a call": ("POST /v1/xml-rpc", "text/xml"),
    "a subscription": ("POST /v1/subscriptions", "application/json"),
}


def half_sent(url: str, line: str, kind: str) -> socket.socket:
    """A connection over which half of a request was sent."""
    where = urlsplit(url)
    found = socket.create_connection((where.hostname, where.port), timeout=30)
    method, target = line.split(" ")
    head = f"{method} {target} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: {kind}\r\nContent-Length: 1000\r\n\r\n"
    found.sendall(head.encode() + b"<urn:s> ")
    return found


def answer_of(found: socket.socket) -> bytes:
    got = b""
    with found:
        while part := found.recv(65536):
            got += part
    return got


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_bodies_in_flight_are_refused_and_the_end_is_quiet_and_soon(tmp_path, number):
    with serving(tmp_path, "hub.db", "--pipeline", "engine") as (service, url):
        with httpx.Client() as client:
            assert put(client, url, "urn:b", "<urn:s> <urn:p> 1 .").status_code == 202
        sent = [half_sent(url, *each) for each in BODIES.values()]
        time.sleep(0.5)
        service.process.send_signal(number)
        answers = [answer_of(each) for each in sent]
        service.process.wait(30)
        service.heard("stopped; everything that was acknowledged is kept")
        assert service.process.returncode == 0
    assert [answer.split(b" ")[1] for answer in answers] == [b"503"] * len(BODIES)
    assert not [line for line in service.said if "Traceback" in line or "Error" in line], service.said


def test_who_waits_for_what_nobody_applies_is_told_of_the_end(tmp_path):
    with serving(tmp_path, "hub.db", "--pipeline", "none") as (service, url), httpx.Client(timeout=60) as client:
        assert put(client, url, "urn:a", "<urn:s> <urn:p> 1 .").status_code == 202
        with ThreadPoolExecutor() as threads:
            asked = [
                threads.submit(client.get, f"{url}/v1/document", params={"uri": "urn:a"}),
                threads.submit(client.delete, f"{url}/v1/document", params={"uri": "urn:a"}),
            ]
            time.sleep(0.5)
            service.process.send_signal(signal.SIGTERM)
            assert [each.result().status_code for each in asked] == [503, 503]
        service.process.wait(30)
        service.heard("stopped; everything that was acknowledged is kept")
        assert not [line for line in service.said if "Traceback" in line], service.said


def test_query_that_runs_at_the_end_is_refused(tmp_path):
    slow = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    with serving(tmp_path, "hub.db", "--pipeline", "engine") as (service, url), httpx.Client(timeout=60) as client:
        text = "".join(f"<urn:s{n}> <urn:p> {n} . " for n in range(200))
        client.headers["Prefer"] = "wait"
        assert put(client, url, "urn:a", text).status_code == 201
        with ThreadPoolExecutor() as threads:
            asked = threads.submit(client.get, f"{url}/v1/sparql", params={"query": slow})
            time.sleep(4)
            service.process.send_signal(signal.SIGTERM)
            assert asked.result().status_code == 503
        service.process.wait(30)
        assert not [line for line in service.said if "Traceback" in line], service.said
