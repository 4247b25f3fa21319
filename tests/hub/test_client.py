"""The client says what a hub says: the same events, rows, reasons and errors, over HTTP."""

from __future__ import annotations

import threading
import time
from itertools import islice

import pytest
from tests.test_errors import EXAMPLES

from hub.serving import serving
from triplewire import Document, Hub, Publish, Retract, errors, parse
from triplewire.client import Client
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store
from triplewire.wire.keys import new_private_key, public_key_of
from triplewire.wire.problems import error_of, problem_of

TITLES = "SELECT ?d ?t { ?d u:title ?t OPTIONAL { ?d u:size ?n } }"
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


@pytest.fixture
def client(served):
    with Client(served.url) as client:
        yield client


@pytest.fixture
def hub():
    with Hub(":memory:") as hub:
        yield hub


def story(hub):
    """A small history, and what was said of it."""
    hub.subscribe(TITLES, id="titles", prefixes={"u": "urn:"})
    hub.subscribe("SELECT ?d ?o { ?d <urn:by> ?o . ?o <urn:name> ?n }", id="b c", scope="graph", start="ever")
    hub.subscribe("/menu/m:wine", language="xpath", id="wine", prefixes={"m": "urn:m"})
    told = []
    wine = "<menu xmlns:m='urn:m'><m:wine>{}</m:wine></menu>"
    told += [hub.publish(wine.format(sort), uri="urn:menu", media_type="text/xml") for sort in ("red", "white")]
    told.append(
        hub.publish("<urn:1> <urn:title> 'x'@en ; <urn:by> <urn:o> .", uri="urn:doc:1", media_type="text/turtle")
    )
    told.append(hub.publish(parse("<urn:o> <urn:name> 'O' .", uri="urn:doc:2")))
    told.append(hub.publish("<urn:1> <urn:title> 'x'@en ; <urn:by> <urn:o> ; <urn:p> 1 .", uri="urn:doc:1"))
    told.append(hub.apply([Publish(parse("<urn:2> <urn:title> 'y' .", uri="urn:doc:3"))]))
    told.append(hub.apply([Retract("urn:doc:2")]))
    told.append(hub.retract("urn:doc:1", batch="once"))
    told.append(hub.retract("urn:doc:1", batch="once"))
    told.append(hub.retract("urn:never"))
    told.append(hub.set_taxonomy(parse(f"<urn:a> {BELOW} <urn:b> .", uri="urn:x")))
    return told


def plain(event):
    return event.kind, event.subscription, event.row, event.triples, event.documents, event.before, event.after


def test_client_is_told_what_the_hub_tells(client, hub):
    told = [story(each) for each in (client, hub)]
    assert [[plain(event) for event in outcome] for outcome in told[0]] == [
        [plain(event) for event in outcome] for outcome in told[1]
    ]
    for id in ("titles", "b c", "wine"):
        assert client.rows(id) == hub.rows(id)
        assert [plain(event) for event in client.events(id)] == [plain(event) for event in hub.events(id)]
        assert [plain(e) for e in client.events(id, after=1, limit=2)] == [
            plain(e) for e in hub.events(id, after=1, limit=2)
        ]
        assert client.subscription(id) == hub.subscription(id)
    assert list(client.subscriptions()) == list(hub.subscriptions())
    assert client.document("urn:doc:3") == hub.document("urn:doc:3")
    assert client.document("urn:doc:1") is None
    assert client.document("urn:doc:1", version=1) == hub.document("urn:doc:1", version=1)
    row = hub.rows("titles")[0]
    assert str(client.why("titles", row)) == str(hub.why("titles", row))
    assert client.why("titles", row).as_dict() == hub.why("titles", row).as_dict()
    assert str(client.why_not("titles", "urn:9")) == str(hub.why_not("titles", "urn:9"))
    ahead = {"prefixes": {"u": "urn:"}, "scope": "graph"}
    aheads = [each.preview(TITLES, **ahead).as_dict() for each in (client, hub)]
    for told in aheads:
        told.pop("frequency")  # which has the times of the batches
    assert aheads[0] == aheads[1]
    client.unsubscribe("titles")
    with pytest.raises(errors.UnknownSubscription):
        client.rows("titles")


def test_queries_are_answered_as_by_the_hub(client, hub):
    for each in (client, hub):
        each.publish("<urn:1> <urn:title> 'x' .", uri="urn:doc:1")
    select = "SELECT ?s ?t { ?s u:title ?t }"
    found = [list(each.query(select, prefixes={"u": "urn:"})) for each in (client, hub)]
    assert [[str(s["t"]) for s in solutions] for solutions in found] == [['"x"'], ['"x"']]
    assert bool(client.query("ASK { ?s ?p 'x' }")) is True
    construct = "CONSTRUCT WHERE { ?s ?p ?o }"
    assert list(client.query(construct)) == list(hub.query(construct))


@pytest.mark.parametrize(
    "call",
    [
        lambda hub: hub.publish("nonsense", uri="urn:d"),
        lambda hub: hub.publish("<urn:a> <urn:b> 1 .", uri="no iri"),
        lambda hub: hub.subscribe("SELECT ?d {"),
        lambda hub: hub.subscribe("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
        lambda hub: hub.subscribe("SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:q> ?y }", scope="graph"),
        lambda hub: hub.unsubscribe("nobody"),
        lambda hub: hub.events("nobody"),
        lambda hub: hub.why_not("nobody", "urn:x"),
        lambda hub: hub.set_taxonomy(parse(f"<urn:a> {BELOW} <urn:b> . <urn:b> {BELOW} <urn:a> .", uri="urn:x")),
        lambda hub: hub.publish("<urn:a> <urn:b> 1 ."),
    ],
)
def test_errors_are_those_of_the_hub(client, hub, call):
    def raised(each):
        with pytest.raises((errors.TriplewireError, TypeError)) as caught:
            call(each)
        return type(caught.value), str(caught.value)

    assert raised(client) == raised(hub)


def test_every_error_survives_being_a_problem():
    for error in EXAMPLES:
        again = error_of(problem_of(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_followed_events_go_on_when_the_service_was_away(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    seen = []

    def follow(url, count):
        with Client(url) as client:
            for event in islice(client.follow("a"), count):
                seen.append(event.cursor)

    with serving(store) as served:
        port = int(served.url.rpartition(":")[2])
        with Client(served.url) as client:
            client.subscribe("SELECT ?s ?o { ?s <urn:p> ?o }", id="a")
            client.publish("<urn:a> <urn:p> 1 .", uri="urn:1")
        follower = threading.Thread(target=follow, args=(served.url, 3))
        follower.start()
        while not seen:
            assert follower.is_alive()
            time.sleep(0.01)
    with serving(store, port=port) as served, Client(served.url) as client:
        client.publish("<urn:a> <urn:p> 2 .", uri="urn:1")
        follower.join()
    assert seen == [1, 2, 3]


def test_following_what_is_not_there_says_so(client):
    with pytest.raises(errors.UnknownSubscription):
        next(client.follow("nobody"))


def test_following_ends_when_the_subscription_is_removed(client):
    client.subscribe("SELECT ?s { ?s <urn:p> ?o }", id="a")
    client.publish("<urn:a> <urn:p> 1 .", uri="urn:1")
    events = client.follow("a")
    next(events)
    with Client(client.url) as other:
        other.unsubscribe("a")
        other.subscribe("SELECT ?s { ?s <urn:q> ?o }", id="b")
    with pytest.raises(errors.UnknownSubscription):
        next(events)


def test_client_with_a_token_or_a_key_is_known(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    (tmp_path / "key.pem").write_bytes(new_private_key())
    with Store.open(store) as opened:
        _, token = Accounts(opened).create_token("t", role="publisher")
        public = public_key_of((tmp_path / "key.pem").read_bytes())
        account = Accounts(opened).add_key("k", public, role="publisher")
    with serving(store, identity=True) as served:
        for proof in ({"token": token}, {"account": account.id, "key": tmp_path / "key.pem"}):
            with Client(served.url, **proof) as client:
                client.publish("<urn:a> <urn:p> 1 .", uri="urn:1")
        with Client(served.url, account=account.id, key=tmp_path / "key.pem") as client:
            client.rows(client.subscribe("SELECT ?s { ?s <urn:p> ?o }").id)
            served.server.config.app.state.service.gate._sessions.clear()  # as after a restart
            assert client.document("urn:1") == Document("urn:1", parse("<urn:a> <urn:p> 1 .", uri="urn:1").ntriples)
        with Client(served.url) as client, pytest.raises(errors.NotAuthenticated):
            client.rows("x")
        absent = Client(served.url, account=account.id, key=tmp_path / "none.pem")
        with absent, pytest.raises(errors.NotAuthenticated, match="cannot be used"):
            absent.rows("x")


def test_hub_that_is_not_there_says_so():
    with Client("http://127.0.0.1:9") as client, pytest.raises(errors.ServiceUnavailable, match="is the hub running"):
        client.rows("x")
    with pytest.raises(errors.BadRequest, match="no address"):
        Client("hub.db")
