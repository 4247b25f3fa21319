"""Subscriptions are edited, paused, duplicated and listed over HTTP, by the client and by the command (X7, M9)."""

from __future__ import annotations

import json
import threading
from datetime import datetime
from itertools import islice

import httpx
import pytest
from typer.testing import CliRunner

from hub.serving import problem, serving
from triplewire import Hub
from triplewire.cli.app import app
from triplewire.client import Client
from triplewire.errors import SubscriptionChanged, UnknownSubscription
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

TITLES, NAMES = "SELECT ?d ?t { ?d <urn:title> ?t }", "SELECT ?d ?t { ?d <urn:name> ?t }"
PLACE = "/v1/subscriptions/a"


def title(n: int, word: str = "title") -> str:
    return f"<urn:{n}> <urn:{word}> 'x' ."


def kinds(served, after: int = 0) -> list[str]:
    return [f"{event['kind']} {event['row']['d']}" for event in served.events("a", after=after)["events"]]


def test_putting_another_query_edits_and_keeps_the_log(served):
    assert served.put(PLACE, json={"text": TITLES, "title": "Books"}).status_code == 201
    served.publish("urn:1", title(1))
    served.publish("urn:2", title(2, "name"))
    told = served.put(PLACE, json={"text": NAMES})
    assert (told.status_code, told.json()["text"], told.json()["title"]) == (200, NAMES, "Books")
    assert kinds(served) == ["matched <urn:1>", "unmatched <urn:1>", "matched <urn:2>"]
    again = served.put(PLACE, json={"text": NAMES})
    assert (again.json(), again.headers["etag"]) == (told.json(), told.headers["etag"])
    problem(served.put(PLACE, json={"text": TITLES, "sees": "everybody"}), 400, "bad-request")


def test_patch_changes_one_thing(served):
    served.subscribe("a", TITLES, scope="graph", start="ever")
    before = served.get(PLACE).json()
    told = served.patch(PLACE, json={"title": "Books", "description": "All of them"}).json()
    changed = {"title": "Books", "description": "All of them", "revision": told["revision"]}
    assert told == before | changed
    assert told["revision"] != before["revision"]
    assert served.patch(PLACE, json={"title": None}).json()["title"] is None
    assert served.patch(PLACE, json={"text": NAMES}).json()["scope"] == "graph"
    for wrong, status in (
        ({"colour": 1}, 422),
        ({"text": ""}, 422),
        ({"text": "SELECT"}, 400),
        ({"title": "x" * 201}, 422),
    ):
        problem(served.patch(PLACE, json=wrong), status)
    problem(served.patch("/v1/subscriptions/nobody", json={"title": "x"}), 404, "unknown-subscription")


def test_an_edit_of_what_somebody_changed_meanwhile_is_refused(served):
    served.subscribe("a", TITLES)
    tag = served.get(PLACE).headers["etag"]
    assert served.patch(PLACE, json={"title": "one"}, headers={"If-Match": tag}).status_code == 200
    for method in ("PATCH", "PUT"):
        late = served.request(method, PLACE, json={"text": NAMES, "title": "two"}, headers={"If-Match": tag})
        problem(late, 412, "subscription-changed")
    assert served.get(PLACE).json()["title"] == "one"
    now = served.get(PLACE).headers["etag"]
    assert served.patch(PLACE, json={"title": "two"}, headers={"If-Match": f"{tag}, {now}"}).status_code == 200
    assert served.patch(PLACE, json={"title": "three"}, headers={"If-Match": "*"}).status_code == 200
    problem(served.put("/v1/subscriptions/new", json={"text": NAMES}, headers={"If-Match": tag}), 412)


def test_nothing_is_told_while_it_is_paused_and_everything_afterwards(served):
    served.subscribe("a", TITLES)
    served.publish("urn:1", title(1))
    cursor = served.events("a")["next"]
    assert served.patch(PLACE, json={"paused": True}).json()["paused_since"]
    told = served.publish("urn:2", title(2)).json()
    assert told["events"] == []
    assert served.events("a", after=cursor, wait=0.2)["events"] == []
    assert served.get(f"{PLACE}/feed", params={"syntax": "json"}).json()["items"][0]["id"].endswith(f"event-{cursor}")
    assert served.get(f"{PLACE}/inbox", params={"after": cursor}).json()["contains"] == []
    recent = served.get(f"{PLACE}/recent").json()
    assert (len(recent["events"]), recent["next"]) == (1, cursor)
    assert len(served.get(f"{PLACE}/rows").json()["rows"]) == 2
    assert served.patch(PLACE, json={"paused": False}).json()["paused_since"] is None
    assert kinds(served, cursor) == ["matched <urn:2>"]


def test_a_stream_goes_on_over_edits_pauses_and_resumptions(served):
    served.subscribe("a", TITLES)
    heard, three = [], threading.Event()

    def follow() -> None:
        with Client(served.url) as client:
            for event in islice(client.follow("a"), 4):
                heard.append(f"{event.kind} {event.row['d'].value}")
                if len(heard) == 3:
                    three.set()

    thread = threading.Thread(target=follow)
    thread.start()
    served.publish("urn:1", title(1))
    served.publish("urn:2", title(2, "name"))
    served.patch(PLACE, json={"text": NAMES})
    assert three.wait(30)
    served.patch(PLACE, json={"paused": True})
    served.publish("urn:3", title(3, "name"))
    served.patch(PLACE, json={"paused": False})
    thread.join(30)
    assert heard == ["matched urn:1", "unmatched urn:1", "matched urn:2", "matched urn:3"]


def test_who_waits_is_woken_by_the_query_that_an_edit_brought(served):
    served.subscribe("a", TITLES)
    found: list[dict] = []
    thread = threading.Thread(target=lambda: found.extend(served.events("a", wait=30)["events"]))
    thread.start()
    while not served.server.config.app.state.service.tenants._open["main"].bell.count:
        pass
    served.patch(PLACE, json={"text": NAMES})
    served.publish("urn:1", title(1, "name"))
    thread.join(20)
    assert [event["row"]["d"] for event in found] == ["<urn:1>"]


def test_the_client_edits_as_a_hub_does(served):
    with Client(served.url) as client:
        made = client.subscribe(TITLES, id="a", title="Books", description="All")
        assert (made.title, made.description, made.name) == ("Books", "All", "Books")
        edited = client.edit("a", text="SELECT ?d { ?d u:name ?t }", prefixes={"u": "urn:"}, revision=made.revision)
        assert edited == client.subscription("a") == served.hub.subscription("a")
        assert edited.revision == served.hub.subscription("a").revision
        with pytest.raises(SubscriptionChanged):
            client.edit("a", title="x", revision=made.revision)
        with pytest.raises(UnknownSubscription):
            client.pause("nobody")
        assert client.pause("a").paused_since == served.hub.subscription("a").paused_since is not None
        assert client.resume("a").paused_since is None
        assert client.edit("a", title="").title is None
        copy = client.duplicate("a", new_id="b", title="Copy")
        assert (copy.id, copy.title, copy.text) == ("b", "Copy", edited.text)
        client.publish(title(1, "name"), uri="urn:1")
        assert client.summaries(sort="-title") == served.hub.summaries(sort="-title")
        assert [one.answers for one in client.summaries(words="copy").summaries] == [1]


def test_the_list_has_answers_last_events_search_and_sort(served):
    served.subscribe("a", TITLES, title="Books")
    served.subscribe("b", NAMES, title="people")
    served.publish("urn:1", title(1))
    listed = served.get("/v1/subscriptions", params={"sort": "-answers"}).json()["subscriptions"]
    assert [(one["id"], one["answers"], one["title"]) for one in listed] == [("a", 1, "Books"), ("b", 0, "people")]
    (event,) = served.events("a")["events"]
    assert datetime.fromisoformat(listed[0]["last_event"]) == datetime.fromisoformat(event["time"])
    assert listed[1]["last_event"] is None
    assert [one["id"] for one in served.get("/v1/subscriptions", params={"q": "PEOPLE"}).json()["subscriptions"]] == [
        "b"
    ]
    first = served.get("/v1/subscriptions", params={"sort": "-title", "limit": 1}).json()
    rest = served.get("/v1/subscriptions", params={"sort": "-title", "limit": 1, "after": first["next"]}).json()
    assert [first["subscriptions"][0]["id"], rest["subscriptions"][0]["id"], rest["next"]] == ["b", "a", None]
    problem(served.get("/v1/subscriptions", params={"sort": "colour"}), 422)
    problem(served.get("/v1/subscriptions", params={"sort": "title", "after": "gone"}), 400)


def test_feeds_are_called_by_the_title(served):
    served.subscribe("a", TITLES, title="Books of the town")
    before = served.get(f"{PLACE}/feed", params={"syntax": "json"})
    assert before.json()["title"] == "Books of the town"
    served.patch(PLACE, json={"title": "Others"})
    after = served.get(f"{PLACE}/feed", params={"syntax": "json"}, headers={"If-None-Match": before.headers["etag"]})
    assert after.json()["title"] == "Others"


@pytest.fixture
def people(tmp_path):
    """Ada and Eve, who read, and an admin."""
    url = f"sqlite:///{tmp_path}/hub.db"
    roles = {"ada": "reader", "eve": "reader", "root": "admin"}
    with Store.open(url) as store:
        tokens = {who: Accounts(store).create_token(who, role=role)[1] for who, role in roles.items()}
    with serving(url, identity=True) as served:
        found = {
            who: httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
            for who, token in tokens.items()
        }
        yield found
        for client in found.values():
            client.close()


def test_only_the_owner_or_an_admin_edits_and_a_copy_is_its_makers(people):
    ada, eve, root = people["ada"], people["eve"], people["root"]
    made = ada.put(PLACE, json={"text": TITLES}).json()
    for wanted in ({"title": "x"}, {"paused": True}, {"text": NAMES}):
        problem(eve.patch(PLACE, json=wanted), 403, "not-allowed")
    problem(eve.put(PLACE, json={"text": NAMES}), 403, "not-allowed")
    assert ada.get(PLACE).json() == made
    edited = root.put(PLACE, json={"text": NAMES}).json()
    assert (edited["text"], edited["owner"], edited["viewer"]) == (NAMES, made["owner"], made["viewer"])
    copy = eve.post(f"{PLACE}/duplicate", json={"id": "copy"}).json()
    assert copy["owner"] == copy["viewer"] != made["viewer"]


def test_the_commands_edit_pause_and_list(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = str(tmp_path / "hub.db")

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    call("subscribe", path, "-l", "sparql", TITLES, "--id", "a", "--title", "Books")
    with Hub(f"sqlite:///{path}") as hub:
        hub.publish(title(1), uri="urn:1")
    call("edit", path, "a", "--title", "Names", "-l", "sparql", NAMES)
    call("pause", path, "a")
    (listed,) = map(json.loads, call("subscriptions", path, "--json").splitlines())
    assert (listed["id"], listed["title"], listed["answers"], listed["text"]) == ("a", "Names", 0, NAMES)
    assert listed["paused since"]
    assert "Names" in call("subscriptions", path, "-q", "nam", "-f", "table")
    assert f"a since {listed['paused since']}" in call("status", "--store", path)
    call("resume", path, "a")
    assert "a since" not in call("status", "--store", path)
    assert call("duplicate", path, "a", "b").strip() == "b"
    kinds = [json.loads(line)["kind"] for line in call("events", path, "a", "--json").splitlines()]
    assert kinds == ["matched", "unmatched"]
    assert CliRunner().invoke(app, ["edit", path, "a", "-l", "sparql"]).exit_code == 2
    assert CliRunner().invoke(app, ["pause", path, "nobody"]).exit_code == 1
    assert CliRunner().invoke(app, ["subscriptions", path, "--sort", "colour"]).exit_code == 2
