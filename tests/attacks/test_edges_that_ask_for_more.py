"""An account asks as an edge for what it may not have: resources by name, the edges of others, too much at a time."""

from __future__ import annotations

import json

import pytest

from hub.serving import problem, serving
from triplewire import Access, Edge, Hub
from triplewire.engine.edges.states import digest_of_triples
from triplewire.errors import BadRequest, NotAllowed
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store
from triplewire.wire.edges import EdgeQuestion, EdgeRule, digest_of_rules

RULE = EdgeRule("mine", "SELECT ?x { ?x a <urn:C> }", "sparql")
EVE, OTTO = "eve", "otto"


@pytest.fixture
def hub():
    with Hub(":memory:") as found:
        found.publish("<urn:a> a <urn:C> . <urn:b> <urn:p> 1 .", uri="urn:open")
        found.publish(
            "<urn:hidden> <urn:p> 'secret' ; <urn:by> [ <urn:p> 2 ] .", uri="urn:closed", access=Access([OTTO])
        )
        yield found


def ask(hub, edge="edge-eve", account=EVE, **question):
    return hub.serve_edge(EdgeQuestion(edge, **question), owner=account, viewer=account)


def followed(hub, **question):
    """What Eve's edge is told that follows one rule."""
    first = ask(hub, follow=[RULE], load=["mine"], rules=digest_of_rules({}))
    known = {"schema": digest_of_triples(first.schema, first.policy), "taxonomy": digest_of_triples(first.taxonomy)}
    return ask(hub, position=first.position, rules=digest_of_rules(first.whole), **known, **question)


@pytest.mark.parametrize(
    "node", ["<urn:b>", "<urn:hidden>", "<urn:never>", "_:c14n0 urn:closed", "_:c14n0 urn:none", "<urn:p>", '"secret"']
)
def test_resource_that_no_rule_reaches_is_not_described_and_not_told_from_one_that_is_not_there(hub, node):
    told = followed(hub, nodes=[node])
    assert told.descriptions == []
    assert told.deleted == [node]


def test_resource_that_a_rule_reaches_is_described(hub):
    told = followed(hub, nodes=["<urn:a>"])
    assert [each.node for each in told.descriptions] == ["<urn:a>"]


@pytest.mark.parametrize("resync", [False, True])
def test_edge_without_rules_is_told_of_no_resource(hub, resync):
    ask(hub)
    told = ask(hub, nodes=["<urn:a>", "<urn:hidden>"], resync=resync)
    assert told.descriptions == []
    assert not told.manifest


@pytest.mark.parametrize("has_rules", [True, False], ids=["with rules", "without rules"])
def test_edge_of_another_account_is_refused_and_so_is_what_was_offered_to_it(hub, has_rules):
    ask(hub, follow=[RULE] if has_rules else [], load=["mine"] if has_rules else [])
    hub.offer("edge-eve", "SELECT ?x { ?x <urn:of> <urn:eve> }", language="sparql", owner=EVE)
    for question in ({}, {"resync": True}, {"follow": [RULE]}, {"unfollow": ["mine"]}, {"position": "1.0.ab"}):
        with pytest.raises(NotAllowed, match="another account's"):
            ask(hub, account=OTTO, **question)
    assert len(ask(hub).offered) == 1


def test_many_names_of_edges_do_not_make_the_hub_forget_whose_the_others_are(hub):
    ask(hub, account=OTTO, edge="edge-otto")
    for number in range(1_005):
        ask(hub, edge=f"edge-{number}")
    assert hub.edges(owner=OTTO) == ["edge-otto"]
    assert len(hub.edges(owner=EVE)) == 1_000
    with pytest.raises(NotAllowed):
        ask(hub, edge="edge-otto")


@pytest.mark.parametrize(
    "position",
    [
        "9" * 5_000 + ".0.",
        "99999999999999999999.0.ab",
        "1.99999999999999999999.ab",
        "1",
        "-1.0.",
        "٣.0.",
        "1.0.\x00",
        ".",
    ],
)
def test_position_that_nobody_told_is_one_of_another_history(hub, position):
    ask(hub, follow=[RULE], load=["mine"])
    told = ask(hub, position=position, rules=digest_of_rules(ask(hub, resync=True).whole))
    assert "another history" in told.resync


def test_too_many_resources_or_rules_at_a_time_are_refused(hub):
    with pytest.raises(BadRequest, match="resources"):
        ask(hub, nodes=["<urn:a>"] * 10_001)
    with pytest.raises(BadRequest, match="rules"):
        ask(hub, follow=[RULE] * 1_001)


@pytest.mark.parametrize("edge", ["", "edge-", "edge-x:rule", "edge-X", "edge-" + "x" * 65, "other"])
def test_name_that_no_edge_has_is_refused(hub, edge):
    with pytest.raises(BadRequest):
        ask(hub, edge=edge)


def test_blank_nodes_of_a_document_that_may_not_be_read_any_more_are_let_go_of(hub):
    """The hub has to name them, although the account does not see their document now."""
    edge = Edge(":memory:", hub=_As(hub, OTTO))
    edge.follow("SELECT ?b { ?x <urn:by> ?b }", language="sparql", id="blank")
    assert edge.sync().described == 1
    hub.restrict("urn:closed", Access([]))
    edge.sync()
    assert not edge.query("ASK { ?s ?p ?o }")
    edge.close()


class _As:
    def __init__(self, hub, account):
        self._hub, self._account = hub, account

    def serve_edge(self, question):
        return self._hub.serve_edge(question, owner=self._account, viewer=self._account)


# -- over HTTP


@pytest.fixture
def office(tmp_path):
    """A served edge with accounts: maja's private document is for her alone, and eve is a reader."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as hub:
        hub.publish("urn:open", "<urn:a> a <urn:C> .")
        url = f"sqlite:///{tmp_path}/edge.db"
        with Edge(tmp_path / "edge.db", hub=hub.url) as edge:
            edge.follow(RULE.text, language="sparql", id="mine")
            edge.sync()
            with Store.open(url) as store:
                accounts = Accounts(store)
                maja, _ = accounts.create_token("maja", role="publisher")
                _, token = accounts.create_token(EVE, role="reader")
            edge.publish("<urn:a> <urn:secret-note> 'x' .", uri="urn:secret-doc", access=Access([maja.id]))
        with serving(url, edge_of=hub.url, identity=True) as served:
            served.headers["Authorization"] = f"Bearer {token}"
            yield served


QUESTION = {"edge": "edge-eve", "follow": [{"id": "all", "text": "SELECT ?s { ?s ?p ?o }", "language": "sparql"}]}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/edge", None),
        ("GET", "/v1/edge/cause?iri=urn:a", None),
        ("GET", "/v1/edge/cause?iri=urn:secret-note", None),
        ("GET", "/v1/edges", None),
        ("POST", "/v1/edges", QUESTION | {"load": ["all"], "rules": digest_of_rules({})}),
        ("POST", "/v1/edges", QUESTION | {"resync": True}),
        ("POST", "/v1/edges", QUESTION | {"nodes": ["<urn:a>"], "load": ["all"], "rules": digest_of_rules({})}),
        ("GET", "/v1/documents", None),
        ("GET", "/v1/document?uri=urn:secret-doc", None),
        ("GET", "/v1/document/access?uri=urn:secret-doc", None),
        ("GET", "/v1/resource?iri=urn:a", None),
        ("GET", "/v1/sparql?query=SELECT%20*%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D", None),
        ("GET", "/v1/metrics", None),
        ("GET", "/v1/inbox", None),
        ("GET", "/v1/subscriptions", None),
        ("POST", "/v1/preview", {"text": "SELECT ?n { ?s <urn:secret-note> ?n }"}),
    ],
    ids=str,
)
def test_private_document_of_an_edge_is_in_no_answer_to_an_account_that_may_not_read_it(office, method, path, body):
    answer = office.request(method, path, json=body)
    assert answer.status_code < 500
    asked = json.dumps(body) + path
    said = answer.text
    for word in ("secret-doc", "secret-note"):
        assert word in asked or word not in said, said
    if path == "/v1/edge":
        assert answer.json()["private"] == 0


def test_account_without_the_role_changes_nothing_at_an_edge(office):
    problem(office.post("/v1/edge/rules", json={"text": RULE.text, "language": "sparql"}), 403, "not-allowed")
    problem(office.delete("/v1/edge/rules/mine"), 403, "not-allowed")
    assert office.get("/v1/edge").json()["rules"][0]["id"] == "mine"


def test_huge_question_is_refused_before_it_is_looked_at(office):
    answer = office.post("/v1/edges", json={"edge": "edge-eve", "nodes": ["<urn:a>"] * 10_001})
    problem(answer, 400)
