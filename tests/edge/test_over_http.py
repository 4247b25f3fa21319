"""An edge of a hub that is served, over a channel and over HTTP, with accounts, quotas and a wire to listen to."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from edge.worlds import held_by
from hub.serving import serving
from triplewire import Access, Edge, Hub
from triplewire.client import Client
from triplewire.errors import ChannelRefused, NotAllowed, NotAuthenticated, ServiceUnavailable
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"


@pytest.fixture
def served(tmp_path):
    """A client of a server on a store of its own."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as client:
        yield client


def subjects(edge):
    return {str(triple.subject) for triple in held_by(edge)[0]}


def test_edge_of_a_served_hub_holds_what_its_rules_register(served):
    served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> ; <urn:by> [ <urn:name> 'x' ] .")
    with Edge(":memory:", hub=served.url) as edge:
        edge.follow(WATER, language="sparql", id="water")
        assert edge.sync().described == 2
        served.publish("urn:b", "<urn:2> <urn:theme> <urn:water> .")
        assert edge.sync().described == 1
        served.retract("urn:a", Prefer="wait")
        assert len(edge.sync().deleted) == 2
        assert subjects(edge) == {"<urn:2>"}


def test_edge_remembers_the_address_of_its_hub(served, tmp_path):
    served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
    with Edge(tmp_path / "edge.db", hub=served.url) as edge:
        edge.follow(WATER, language="sparql", id="water")
    with Edge(tmp_path / "edge.db") as edge:
        assert edge.sync().described == 1


def test_hub_that_went_away_leaves_the_edge_with_its_answers(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        edge = Edge(":memory:", hub=served.url)
        edge.follow(WATER, language="sparql", id="water")
        edge.sync()
    with pytest.raises(ServiceUnavailable):
        edge.sync()
    assert edge.query("ASK { <urn:1> <urn:theme> <urn:water> }")
    assert "cannot be reached" in edge.status().problem
    edge.close()


class Listener:
    """Stands between an edge and its hub, and writes down every byte of every request."""

    def __init__(self, target: str) -> None:
        self.heard = heard = []

        class Relay(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                heard.append(f"{self.requestline}\n{self.headers}".encode() + body)
                answer = httpx.post(f"{target}{self.path}", content=body, headers={"Content-Type": "application/json"})
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers["content-type"])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def test_no_byte_of_private_content_leaves_an_edge(served):
    listener = Listener(served.url)
    served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
    with Client(listener.url) as client, Edge(":memory:", hub=client) as edge:
        edge.publish("<urn:secret> <urn:theme> <urn:water> ; <urn:refers> <urn:1> , <urn:hidden> .", uri="urn:private")
        edge.follow(WATER, language="sparql", id="water")
        edge.sync()
        edge.publish("<urn:secret> <urn:theme> <urn:water> ; <urn:note> 'whisper' .", uri="urn:private")
        served.publish("urn:b", "<urn:2> <urn:theme> <urn:water> .")
        edge.sync(verify=True)
        edge.retract("urn:private")
        edge.unfollow("water")
        edge.sync()
    listener.server.shutdown()
    listener.server.server_close()
    wire = b"".join(listener.heard)
    assert b"urn:theme" in wire
    for word in (b"secret", b"hidden", b"refers", b"whisper", b"urn:private"):
        assert word not in wire


@pytest.fixture
def guarded(tmp_path):
    """A hub that wants to know who asks, with two accounts."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        accounts = Accounts(store)
        tokens = {name: accounts.create_token(name, role="publisher") for name in ("harbour", "town")}
    with serving(url, identity=True) as served:
        yield served, tokens


def test_account_of_an_edge_decides_what_comes(guarded):
    served, tokens = guarded
    (harbour, token), (_, other) = tokens["harbour"], tokens["town"]
    with Client(served.url, token=other) as town, Edge(":memory:", hub=served.url, token=token) as edge:
        town.publish("<urn:1> <urn:theme> <urn:water> .", uri="urn:a")
        town.publish("<urn:2> <urn:theme> <urn:water> .", uri="urn:b", access=Access())
        edge.follow(WATER, language="sparql", id="water")
        edge.sync()
        assert subjects(edge) == {"<urn:1>"}
        town.restrict("urn:b", Access([harbour.id]))
        edge.sync()
        assert subjects(edge) == {"<urn:1>", "<urn:2>"}
        town.restrict("urn:b", Access())
        edge.sync()
        assert subjects(edge) == {"<urn:1>"}


def test_edge_of_another_account_is_not_answered(guarded, tmp_path):
    served, tokens = guarded
    with Edge(tmp_path / "edge.db", hub=served.url, token=tokens["harbour"][1]) as edge:
        edge.follow(WATER, language="sparql", id="water")
        edge.sync()
    with Edge(tmp_path / "edge.db", token=tokens["town"][1]) as stolen, pytest.raises(NotAllowed):
        stolen.sync()
    with Edge(tmp_path / "edge.db") as unknown, pytest.raises(ChannelRefused, match="its key is that of no account"):
        unknown.sync()
    with (
        Client(served.url) as client,
        Edge(tmp_path / "edge.db", hub=client) as unknown,
        pytest.raises(NotAuthenticated),
    ):
        unknown.sync()


def test_rule_over_a_quota_is_refused_and_the_others_are_kept(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", quotas={"subscriptions": 1}) as served:
        served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        with Edge(":memory:", hub=served.url) as edge:
            edge.follow(WATER, language="sparql", id="water")
            edge.follow("SELECT ?x { ?x <urn:p> ?y }", language="sparql", id="more")
            done = edge.sync()
            assert "subscriptions" in done.refused["more"]
            assert [(rule.id, rule.state) for rule in edge.follows()] == [("more", "refused"), ("water", "kept")]
            assert subjects(edge) == {"<urn:1>"}


def test_served_edge_follows_its_hub_and_serves_edges(served, tmp_path):
    served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
    with serving(f"sqlite:///{tmp_path}/edge.db", edge_of=served.url) as middle:
        middle.publish("urn:private", "<urn:9> <urn:theme> <urn:water> .")
        made = middle.post("/v1/edge/rules", json={"text": WATER, "language": "sparql", "id": "water"})
        assert made.status_code == 201
        told = _until(lambda: middle.get("/v1/edge").json(), lambda told: told["cached"] == 1)
        assert told["rules"][0]["state"] == "kept"
        assert told["private"] == 1
        served.publish("urn:b", "<urn:2> <urn:theme> <urn:water> .")
        _until(lambda: middle.get("/v1/edge").json(), lambda told: told["cached"] == 2)
        with Edge(":memory:", hub=middle.url) as below:
            below.follow(WATER, language="sparql", id="water")
            below.sync()
            assert subjects(below) == {"<urn:1>", "<urn:2>"}
        assert middle.delete("/v1/edge/rules/water").status_code == 204
        assert middle.get("/v1/edge").json()["cached"] == 0
    assert served.get("/v1/edge").status_code == 400


def test_process_that_knows_nothing_of_the_edge_publishes_privately(tmp_path):
    with Hub(":memory:") as hub, Edge(tmp_path / "edge.db", hub=hub):
        pass
    with Hub(tmp_path / "edge.db") as plain:
        plain.publish("<urn:1> <urn:p> 1 .", uri="urn:a")
        assert plain.documents(viewer="") == []
        assert len(plain.documents(viewer="maja")) == 1


def _until(ask, holds):
    for _ in range(200):
        told = ask()
        if holds(told):
            return told
        time.sleep(0.1)
    raise AssertionError(told)
