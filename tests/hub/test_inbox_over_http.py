"""The inbox over HTTP and by the client: of the caller's subscriptions, and of nobody else's (X7, G6)."""

from __future__ import annotations

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.client import Client
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

P = "SELECT ?s ?o { ?s <urn:p> ?o }"


def test_the_client_reads_what_the_hub_has(served):
    with Client(served.url) as client:
        client.subscribe(P, id="a", title="Numbers")
        client.subscribe("SELECT ?s { ?s <urn:q> ?o }", id="b")
        for n in range(4):
            client.publish(f"<urn:{n}> <urn:p> {n} ; <urn:q> {n} .", uri=f"urn:{n}")
        client.retract("urn:2")
        page = client.inbox(limit=3)
        assert page == served.hub.inbox(limit=3)
        assert client.inbox(limit=100, before=page.next) == served.hub.inbox(limit=100, before=page.next)
        assert {item.title for item in client.inbox(kinds=["unmatched"]).items} == {"Numbers", "b"}
        assert [item.event.kind for item in client.inbox(words="urn:2", subscriptions=["b"]).items] == [
            "unmatched",
            "matched",
        ]
        time = page.items[-1].event.time
        assert client.inbox(since=time).items == served.hub.inbox(since=time).items
        news = client.news()
        assert news == served.hub.news()
        assert (news.events, news.mark, {id: count for id, _, count in news.subscriptions}) == (10, 0, {"a": 5, "b": 5})
        assert client.mark(news.last) == news.last
        assert client.news().events == 0
    assert served.get("/v1/inbox/mark").json() == {"cursor": news.last}
    told = served.get("/v1/inbox", params={"contents": True, "limit": 1}).json()["events"][0]
    assert {"time", "title", "before", "after"} <= told.keys()


@pytest.mark.parametrize(
    "params",
    [
        {"kind": "lost"},
        {"before": "x"},
        {"before": "9" * 30},
        {"limit": 0},
        {"limit": 501},
        {"since": "noon"},
        {"q": "\x00"},
    ],
    ids=str,
)
def test_a_bad_question_is_refused(served, params):
    problem(served.get("/v1/inbox", params=params), 422, "bad-request")


def test_a_bad_mark_is_refused(served):
    for wrong in ({"cursor": -1}, {"cursor": "x"}, {}, {"cursor": 2**61}):
        problem(served.put("/v1/inbox/mark", json=wrong), 422, "bad-request")
    problem(served.get("/v1/inbox", params={"subscription": "nobody"}), 404, "unknown-subscription")


def test_everybody_has_an_inbox_and_a_mark_of_their_own(tmp_path):
    url = f"sqlite:///{tmp_path}/hub.db"
    roles = {"ada": "publisher", "eve": "reader", "root": "admin"}
    with Store.open(url) as store:
        tokens = {who: Accounts(store).create_token(who, role=role)[1] for who, role in roles.items()}
    with serving(url, identity=True) as served:
        people = {
            who: httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
            for who, token in tokens.items()
        }
        problem(served.get("/v1/inbox"), 401)
        for who in ("ada", "eve"):
            people[who].put(f"/v1/subscriptions/{who}", json={"text": P, "start": "ever"}).raise_for_status()
        hidden = people["ada"].put(
            "/v1/document",
            params={"uri": "urn:1", "reader": "ada"},
            content="<urn:1> <urn:p> 'xyzzy' .",
            headers=TURTLE | {"Prefer": "wait"},
        )
        assert hidden.is_success, hidden.text
        found = {who: person.get("/v1/inbox").json()["events"] for who, person in people.items()}
        assert {who: [event["subscription"] for event in events] for who, events in found.items()} == {
            "ada": ["ada"],
            "eve": [],
            "root": ["ada"],
        }
        assert {who: person.get("/v1/inbox/news").json()["events"] for who, person in people.items()} == {
            "ada": 1,
            "eve": 0,
            "root": 1,
        }
        problem(people["eve"].get("/v1/inbox", params={"subscription": "ada"}), 404)
        people["ada"].put("/v1/inbox/mark", json={"cursor": 1}).raise_for_status()
        marks = {who: person.get("/v1/inbox/mark").json()["cursor"] for who, person in people.items()}
        assert marks == {"ada": 1, "eve": 0, "root": 0}
        for person in people.values():
            person.close()
