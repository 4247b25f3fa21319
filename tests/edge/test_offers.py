"""Offers (M9): a rule that is made at the hub for an edge is followed by it with the next question, and by no other."""

from __future__ import annotations

import pytest

from edge.worlds import held_by
from hub.serving import serving
from triplewire import Edge, Hub
from triplewire.errors import BadRequest, NotAllowed, QuerySyntaxError

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"


@pytest.fixture
def hub():
    with Hub() as made:
        made.publish("<urn:1> <urn:theme> <urn:water> .", uri="urn:a")
        yield made


def name_of(edge) -> str:
    return edge.status().name


def test_an_offered_rule_is_followed_and_offered_once(hub):
    with Edge(hub=hub, account="maja") as edge, Edge(hub=hub, account="maja") as other:
        edge.sync()
        other.sync()
        assert hub.edges(owner="maja") == sorted([name_of(edge), name_of(other)])
        rule = hub.offer(name_of(edge), WATER, language="sparql", owner="maja")
        edge.sync()
        other.sync()
        assert [each.id for each in edge.follows()] == [rule.id]
        assert {str(triple.subject) for triple in held_by(edge)[0]} == {"<urn:1>"}
        assert other.follows() == []
        edge.unfollow(rule.id)
        edge.sync()
        assert edge.follows() == []


def test_an_offer_is_refused_for_a_bad_rule_an_unknown_edge_and_the_edge_of_another(hub):
    with Edge(hub=hub, account="maja") as edge:
        edge.sync()
        with pytest.raises(QuerySyntaxError):
            hub.offer(name_of(edge), "SELECT nothing", language="sparql", owner="maja")
        with pytest.raises(NotAllowed):
            hub.offer(name_of(edge), WATER, language="sparql", owner="otto")
        with pytest.raises(BadRequest, match="has asked this hub yet"):
            hub.offer("edge-none", WATER, language="sparql", owner="maja")
        assert hub.edges(owner="otto") == []


def test_over_http_the_edge_of_an_account_is_listed_offered_to_and_tells_why(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served, Edge(hub=served.url) as edge:
        served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> .")
        edge.sync()
        name = name_of(edge)
        assert served.get("/v1/edges").json() == [{"name": name, "rules": 0}]
        answer = served.post(f"/v1/edges/{name}/rules", json={"text": WATER, "language": "sparql", "id": "water"})
        assert answer.status_code == 201, answer.text
        edge.sync()
        assert edge.cause("urn:1").rules == ("water",)
        assert served.post("/v1/edges/edge-none/rules", json={"text": WATER, "language": "sparql"}).status_code == 400
        assert served.get("/v1/edge/cause", params={"iri": "urn:1"}).status_code == 400
