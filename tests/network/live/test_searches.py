"""Queries that climb between hubs of a hierarchy: the nearest first, until there are enough; who is silent is named."""

from __future__ import annotations

import json
from itertools import count

import pytest
from tests.network.live.federations import WATER, about, hierarchy, wait_for
from typer.testing import CliRunner

from hub.serving import problem, serving
from triplewire import Hub
from triplewire.cli.app import app
from triplewire.client import Client
from triplewire.errors import BadRequest
from triplewire.network.hierarchy.answers import QueryAnswered, QueryAsked, UnitTold
from triplewire.network.live.spelling import read_body, spelled_body

CLUSTERS = ["lindhaven/harbour", "lindhaven/harbour", "lindhaven/hill", "aster/mill"]
PATTERN = "SELECT ?d { ?d <urn:theme> <urn:water> }"


def found(served, reach: str, limit: int = 100, **more: object) -> tuple[list[str], list[str]]:
    answer = served.post("/v1/find", json={"text": WATER, "reach": reach, "limit": limit} | more)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return [each["uri"] for each in told["documents"]], told["silent"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Four hubs in three clusters, each with a document about water, of which all have heard."""
    with hierarchy(tmp_path_factory.mktemp("town"), CLUSTERS, network_patience=60) as hubs:
        for number, each in enumerate(hubs):
            assert each.publish(f"urn:doc{number}", about(number)).status_code < 300
            each.publish(f"urn:other{number}", "<urn:x> <urn:theme> <urn:wood> .")
        wait_for(lambda: sorted(found(hubs[0], "network")[0]) == [f"urn:doc{number}" for number in range(4)])
        yield hubs


@pytest.mark.parametrize(
    ("reach", "expected"),
    [("hub", [0]), ("cluster", [0, 1]), ("super-cluster", [0, 1, 2]), ("network", [0, 1, 2, 3])],
)
def test_query_finds_what_is_as_far_as_it_reaches_the_nearest_first(town, reach, expected):
    assert found(town[0], reach) == ([f"urn:doc{number}" for number in expected], [])


def test_query_with_a_limit_stops_when_there_are_enough(town):
    for limit in range(1, 5):
        uris, silent = found(town[0], "network", limit)
        assert (uris, silent) == ([f"urn:doc{number}" for number in range(limit)], [])


def test_client_and_hub_give_what_they_find_in_one_form(town):
    with Client(town[3].url) as client:
        result = client.find(WATER, language="sparql", reach="network")
        names = [each.name for each in client.network().members]
    assert [each.uri for each in result] == ["urn:doc3", "urn:doc0", "urn:doc1", "urn:doc2"]
    assert result.hubs[0] == ""
    assert set(result.hubs[1:]) < set(names)
    assert result[1].ntriples == b"<urn:d0> <urn:theme> <urn:water> .\n"
    with Hub(":memory:") as alone, pytest.raises(BadRequest, match="ask the service"):
        alone.find(WATER, language="sparql", reach="network")


def test_what_was_changed_since_the_last_answer_is_in_the_next(town):
    """Answers that are kept on the way go when what they tell changes (N5)."""
    before = found(town[1], "network")[0]
    town[3].publish("urn:new", about(77))
    wait_for(lambda: sorted(found(town[1], "network")[0]) == sorted([*before, "urn:new"]))
    town[3].retract("urn:new")
    wait_for(lambda: sorted(found(town[1], "network")[0]) == sorted(before))


def test_metrics_count_the_answers_that_were_kept(town):
    found(town[0], "network", 77)
    found(town[0], "network", 77)
    told = dict(line.rsplit(" ", 1) for line in town[0].get("/v1/metrics").text.splitlines() if line[0] != "#")
    assert float(told["triplewire_network_answers_hits_total"]) >= 1
    assert float(told["triplewire_network_answers_kept"]) >= 1


def test_command_prints_what_is_found_and_where(town):
    asked = ["find", town[0].url, "-l", "sparql", WATER, "--reach", "super-cluster", "--json"]
    told = [json.loads(line) for line in CliRunner().invoke(app, asked).stdout.splitlines()]
    assert [each["document"] for each in told] == ["urn:doc0", "urn:doc1", "urn:doc2"]
    assert [bool(each["hub"]) for each in told] == [False, True, True]


def test_document_with_an_access_list_is_found_at_its_hub_alone(town):
    headers = {"Content-Type": "text/turtle", "Prefer": "wait"}
    params = {"uri": "urn:secret", "reader": "maja"}
    assert town[2].put("/v1/document", params=params, content=about(5), headers=headers).status_code < 300
    assert "urn:secret" not in found(town[0], "network")[0]
    town[2].retract("urn:secret", Prefer="wait")


def test_network_without_units_cannot_be_asked(tmp_path):
    with serving(f"sqlite:///{tmp_path}/cube.db", network="hypercube", deliver=False) as cube:
        wait_for(lambda: cube.get("/v1/network").json()["place"])
        asked = {"text": WATER, "reach": "network"}
        assert "only in a hierarchy" in problem(cube.post("/v1/find", json=asked), 400)["detail"]
    with serving(f"sqlite:///{tmp_path}/alone.db", deliver=False) as alone:
        alone.publish("urn:a", about(1))
        assert found(alone, "hub") == (["urn:a"], [])
        assert alone.post("/v1/find", json={"text": WATER, "reach": "network"}).status_code in (400, 404, 409)


def test_unit_that_is_away_is_named_and_what_the_others_have_is_found(tmp_path):
    clusters = ["harbour", "harbour", "hill"]
    with hierarchy(tmp_path, clusters, network_patience=60) as hubs:
        for number, each in enumerate(hubs):
            each.publish(f"urn:doc{number}", about(number))
        wait_for(lambda: len(found(hubs[0], "network")[0]) == 3)
        hubs[2].server.should_exit = True
        limits = count(50)  # another one each time: an answer that is kept would be given, and is true
        uris, silent = [], []

        def is_missed() -> bool:
            nonlocal uris, silent
            uris, silent = found(hubs[0], "network", next(limits), wait=8)
            return bool(silent)

        wait_for(is_missed)
        assert uris == ["urn:doc0", "urn:doc1"]
        assert any("hill" in place for place in silent)


def test_what_is_asked_and_answered_is_read_as_it_was_spelled():
    from triplewire import compile, parse
    from triplewire.network.routing import DocumentSent

    pattern = compile(PATTERN, language="sparql")
    asked = QueryAsked("hub 1", "unit-0.1", pattern, 3, 7)
    sent = DocumentSent("unit-1.0", "urn:a", 3, 1.5, parse(about(1), uri="urn:a"), signature="00")
    for body in (
        asked,
        QueryAsked("hub 2", "unit-0.1", pattern, 3, None),
        QueryAnswered("hub 1", (sent,), ("unit-0",), "kept"),
        UnitTold(frozenset(), (), (sent,), (asked,)),
    ):
        assert read_body(spelled_body(body)) == body
