"""Answers of an edge say how old they are: at the edge, over HTTP, to a client, with the uplink cut as well (M8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from backbone.served import wait_for
from hub.serving import serving
from triplewire import Edge
from triplewire.client import Client
from triplewire.edge.rules import EdgeState
from triplewire.wire.edges import AnswerAge

ALL = "SELECT ?d { ?d <urn:theme> ?t }"

ROUTES = [
    ("GET", "/v1/document?uri=urn:a", None),
    ("GET", "/v1/documents", None),
    ("GET", "/v1/resource?iri=urn:1", None),
    ("GET", "/v1/subscriptions", None),
    ("GET", "/v1/subscriptions/local/events", None),
    ("GET", "/v1/subscriptions/local/rows", None),
    ("GET", "/v1/edge", None),
    ("GET", "/v1/edge/cause?iri=urn:1", None),
    ("GET", "/v1/whoami", None),
    ("GET", "/v1/inbox", None),
    ("GET", "/v1/sparql?query=ASK%20%7B%20%3Curn:1%3E%20%3Furn%20%3Fo%20%7D", None),
    ("POST", "/v1/preview", {"text": ALL}),
    ("GET", "/v1/document?uri=urn:none", None),
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A hub with a document, and a served edge that has it; nothing changes there any more."""
    tmp_path = tmp_path_factory.mktemp("pair")
    with serving(f"sqlite:///{tmp_path}/hub.db") as hub:
        hub.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        with serving(f"sqlite:///{tmp_path}/edge.db", edge_of=hub.url) as edge:
            edge.post("/v1/edge/rules", json={"id": "all", "text": ALL, "language": "sparql"}).raise_for_status()
            edge.subscribe("local", ALL, start="ever")
            wait_for(lambda: edge.get("/v1/document", params={"uri": "urn:a"}).status_code == 200)
            yield hub, edge


@pytest.mark.parametrize(("method", "path", "body"), ROUTES, ids=[path.split("?")[0] for _, path, _ in ROUTES])
def test_every_answer_of_a_served_edge_says_which_batch_it_is_of_and_how_old_it_is(pair, method, path, body):
    hub, edge = pair
    answer = edge.request(method, path, json=body)
    assert answer.status_code in (200, 404), answer.text
    last = hub.hub.batches()[-1].number
    assert int(answer.headers["Triplewire-As-Of"]) == last
    assert int(answer.headers["Age"]) >= 0


def test_hub_that_is_no_edge_says_nothing_of_an_age(pair):
    hub, _ = pair
    answer = hub.get("/v1/documents")
    assert "Age" not in answer.headers
    assert "Triplewire-As-Of" not in answer.headers


def test_client_of_an_edge_knows_how_old_the_last_answer_is(pair):
    hub, edge = pair
    with Client(edge.url) as client:
        assert client.as_of is None
        client.document("urn:a")
        assert client.as_of == AnswerAge(hub.hub.batches()[-1].number, client.as_of.seconds)
    with Client(hub.url) as client:
        client.document("urn:a")
        assert client.as_of is None


def test_with_the_uplink_cut_an_edge_answers_and_its_answers_grow_older(tmp_path):
    """The lag never reads 0 while nothing arrives; what is answered is as before."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as hub:
        hub.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        address = hub.url
        with Edge(tmp_path / "edge.db", hub=address) as edge:
            edge.follow(ALL, language="sparql", id="all")
            last = edge.sync().as_of.position
    with serving(f"sqlite:///{tmp_path}/edge.db", edge_of=address) as served:
        wait_for(lambda: served.get("/v1/edge").json()["problem"])
        wait_for(lambda: int(served.get("/v1/documents").headers["Age"]) >= 2)
        answer = served.get("/v1/document", params={"uri": "urn:a"})
        assert answer.status_code == 200
        assert answer.headers["Triplewire-As-Of"] == str(last)
        assert int(answer.headers["Age"]) >= 2
        assert "cannot be reached" in served.get("/v1/edge").json()["problem"]


def test_edge_that_was_never_told_anything_says_so(tmp_path):
    with serving(f"sqlite:///{tmp_path}/edge.db", edge_of="http://127.0.0.1:9") as served:
        answer = served.get("/v1/documents")
        assert answer.headers["Triplewire-As-Of"] == "0"
        assert "Age" not in answer.headers
        with Client(served.url) as client:
            assert client.document("urn:a") is None
            assert client.as_of == AnswerAge(0, None)


def _clock_set_back(edge: Edge) -> None:
    """What was heard was heard at a time that is still to come, by the clock of now."""
    with edge.store.writing() as writer:
        heard = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="milliseconds")
        replace(EdgeState.read(writer), heard=heard.replace("+00:00", "Z")).write(writer)


def test_clock_that_is_set_back_makes_no_answer_younger_than_nothing_nor_stops_its_age(tmp_path):
    """Invariant of `edge.edge`: an age is never less than nothing, and does not stand still while nothing is heard."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as hub:
        hub.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        with Edge(tmp_path / "edge.db", hub=hub.url) as edge:
            edge.follow(ALL, language="sparql", id="all")
            edge.sync()
            _clock_set_back(edge)
            ages = [edge.as_of.age, edge.as_of.age]
            assert timedelta() <= ages[0] < ages[1] < timedelta(minutes=30)
            wait_for(lambda: edge.as_of.confirmed < datetime.now(UTC))  # the channel says that nothing is newer
