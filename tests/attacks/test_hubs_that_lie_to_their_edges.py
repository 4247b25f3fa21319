"""A hub answers garbage, or without end: the edge keeps what it has, says what is wrong, and goes on asking."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from edge.worlds import World, held_by
from triplewire import Edge, parse
from triplewire.client import Client
from triplewire.errors import NetworkError, ServiceError, TriplewireError
from triplewire.wire.edges import Description, EdgeAnswer, EdgeRule, Part

RULE = "SELECT ?x { ?x a <urn:C> }"


def lie(**told) -> EdgeAnswer:
    return EdgeAnswer(**{"position": "9.0.ab", "number": 9, "time": "2026-01-01T00:00:00.000Z"} | told)


def described(node: str, lines: str, document: str = "urn:doc") -> EdgeAnswer:
    return lie(registered={"rule": [node]}, descriptions=[Description(node, [Part(document, lines)])])


LIES = {
    "no triples": described("<urn:a>", "this is no triple"),
    "an open literal": described("<urn:a>", '<urn:a> <urn:p> "never ends .'),
    "no node": described("nothing", "<urn:a> <urn:p> 1 ."),
    "a blank node of nobody": described("_:x", "_:x <urn:p> <urn:o> ."),
    "no uri": described("<urn:a>", "<urn:a> <urn:p> <urn:o> .", document=""),
    "a list for a name": lie(registered={"rule": [["<urn:a>"]]}),
    "a number of rules": lie(registered=5),
    "no batch": lie(number="many", registered={"rule": ["<urn:a>"]}),
    "no time": lie(time="yesterday", registered={"rule": ["<urn:a>"]}),
    "a schema of nothing": lie(schema=[["one"]]),
    "a taxonomy of nothing": lie(taxonomy=[["one", "two"]]),
    "a resync without end": lie(resync="again"),
    "a manifest of nothing": lie(manifest={"_:x": "ab"}, rules={}, resync="again"),
    "nothing at all": None,
    "half a character": described("<urn:a>", '<urn:a> <urn:p> "\ud800" .'),
    "a zero": described("<urn:a>", '<urn:a> <urn:p> "\x00" .'),
}


@pytest.mark.parametrize("answer", LIES.values(), ids=LIES.keys())
def test_answer_that_is_none_changes_nothing_and_is_said_to_be_wrong(answer):
    world = World()
    world.publish("urn:doc", "<urn:a> a <urn:C> .")
    world.follow("rule", RULE)
    world.keep("urn:own", "<urn:a> <urn:note> 1 .")
    world.edge.sync()
    before = held_by(world.edge)
    honest = world.cable.serve_edge
    world.cable.serve_edge = lambda question: answer
    with pytest.raises(TriplewireError):
        world.edge.sync()
    assert held_by(world.edge) == before
    assert world.edge.status().problem
    world.cable.serve_edge = honest
    world.publish("urn:doc", "<urn:a> a <urn:C> ; <urn:p> 2 .")
    world.edge.sync()
    world.check()
    assert not world.edge.status().problem


def test_hub_cannot_put_its_words_into_a_private_document():
    world = World()
    world.follow("rule", RULE)
    world.keep("urn:own", "<urn:a> <urn:note> 1 .")
    world.edge.sync()
    for uri in ("urn:own", "urn:triplewire:cached:urn:own"):
        world.cable.serve_edge = lambda question, uri=uri: described("<urn:a>", "<urn:a> <urn:p> <urn:lie> .", uri)
        world.edge.sync()
        assert world.edge.document("urn:own") == parse("<urn:a> <urn:note> 1 .", uri="urn:own")
    world.cable.serve_edge = lambda question: lie(deleted=["<urn:own>", "<urn:a>"])
    world.edge.sync()
    assert world.edge.document("urn:own") == parse("<urn:a> <urn:note> 1 .", uri="urn:own")


def test_rules_that_cannot_be_read_and_are_offered_do_not_stop_an_edge():
    world = World()
    world.publish("urn:doc", "<urn:a> a <urn:C> .")
    world.follow("rule", RULE)
    honest = world.cable.serve_edge
    bad = [EdgeRule("bad", "SELECT nonsense", "sparql"), EdgeRule("worse", "?", "klingon")]

    def offering(question):
        answer = honest(question)
        answer.offered.extend(bad)
        return answer

    world.cable.serve_edge = offering
    world.edge.sync()
    world.check()
    assert [rule.id for rule in world.edge.follows()] == ["rule"]


@contextmanager
def answering(content: bytes, *, times: int = 1, is_packed: bool = False):
    """A server that answers this to everything, so often."""

    class Liar(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            if is_packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            try:
                for _ in range(times):
                    self.wfile.write(content)
            except OSError:
                pass  # nobody listens any more

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"<html>", b'{"position": 1}', b'"x"', b"[" * 100_000, b"\xff\xfe"],
    ids=["nothing", "a list", "null", "half", "a page", "a part", "a text", "deep", "no text"],
)
def test_service_that_is_no_hub_is_said_to_be_none(content):
    with answering(content) as url, Client(url) as client:
        for hub in (client, url):  # over HTTP, and dialled
            with Edge(":memory:", hub=hub) as edge:
                edge.follow(RULE, language="sparql", id="rule")
                with pytest.raises((ServiceError, NetworkError)):
                    edge.sync()
                assert edge.status().problem


@pytest.mark.parametrize("is_packed", [False, True], ids=["as it is", "packed"])
def test_answer_without_end_is_not_read_to_its_end(is_packed, monkeypatch):
    monkeypatch.setattr(Client, "most_bytes", 1_000_000)
    content = b" " * 100_000
    packed = gzip.compress(b" " * 50_000_000) if is_packed else content
    with (
        answering(packed, times=1 if is_packed else 10_000, is_packed=is_packed) as url,
        Client(url) as client,
        Edge(":memory:", hub=client) as edge,
        pytest.raises(ServiceError, match="more than 1,000,000 bytes"),
    ):
        edge.sync()
