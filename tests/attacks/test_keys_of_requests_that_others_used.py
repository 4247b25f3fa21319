"""An Idempotency-Key that another account used, or that came with other content: nothing is lost, and nothing told."""

from __future__ import annotations

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.hub.changes import repeats
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Repeat, Store

KEY = {"Idempotency-Key": "monday"}


@pytest.fixture
def store(tmp_path):
    return f"sqlite:///{tmp_path}/hub.db"


@pytest.fixture
def tokens(store):
    with Store.open(store) as opened:
        return {name: Accounts(opened).create_token(name, role="publisher")[1] for name in ("ada", "pia")}


@pytest.fixture
def people(store, tokens):
    """Two publishers."""
    with serving(store, identity=True) as served:
        clients = {
            name: httpx.Client(base_url=f"{served.url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)
            for name, token in tokens.items()
        }
        yield clients
        for client in clients.values():
            client.close()


def text(number) -> str:
    return f"<urn:{number}> <urn:title> '{number}' ."


def put(client, number, **more):
    uri = {"uri": f"urn:doc:{number}"}
    return client.put("/document", params=uri, content=text(more.get("n", number)), headers=TURTLE | KEY)


WAYS = {
    "publish": lambda client, n: put(client, n),
    "retract": lambda client, n: client.delete("/document", params={"uri": f"urn:doc:{n}"}, headers=KEY),
    "restrict": lambda client, n: client.put(
        "/document/access", params={"uri": f"urn:{client.name}:{n}"}, json={}, headers=KEY
    ),
    "free": lambda client, n: client.delete("/document/access", params={"uri": f"urn:{client.name}:{n}"}, headers=KEY),
    "changes": lambda client, n: client.post(
        "/changes", json={"changes": [{"uri": f"urn:doc:{n}", "content": text(n)}]}, headers=KEY
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_answers_alike_refuses_other_content_and_leaves_others_their_keys(people, way):
    for name, client in people.items():
        client.name = name
        for number in (1, 2):
            client.put("/document", params={"uri": f"urn:{name}:{number}"}, content=text(number), headers=TURTLE)
            client.put("/document/access", params={"uri": f"urn:{name}:{number}"}, json={"readers": ["ada"]})
    ask = WAYS[way]
    first = ask(people["ada"], 1)
    assert first.is_success, first.text
    again = ask(people["ada"], 1)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    told = problem(ask(people["ada"], 2), 409, "key-reused")
    assert told["key"] == "monday"
    other = ask(people["pia"], 2)
    assert other.is_success, other.text
    assert other.json()["batch"] != first.json()["batch"]


def test_what_another_account_sends_under_the_same_key_is_applied(people):
    assert put(people["ada"], 1).status_code == 201
    assert put(people["pia"], 2).status_code == 201
    assert people["ada"].get("/document", params={"uri": "urn:doc:2"}).status_code == 200


def test_one_key_is_one_key_over_all_ways(people):
    assert put(people["ada"], 1).is_success
    for way in ("retract", "changes"):
        problem(WAYS[way](people["ada"], 3), 409, "key-reused")


def test_a_request_that_was_refused_does_not_use_up_its_key(people):
    uri = {"uri": "urn:doc:1"}
    problem(people["ada"].put("/document", params=uri, content="nonsense", headers=TURTLE | KEY), 400)
    assert put(people["ada"], 1).status_code == 201


def test_it_is_known_after_a_restart(store, tokens):
    answers = []
    for _ in range(2):
        with serving(store, identity=True) as served:
            served.headers["Authorization"] = f"Bearer {tokens['ada']}"
            answers.append(served.publish("urn:doc:1", text(1), Idempotency_Key="monday"))
            problem(served.publish("urn:doc:1", text(2), Idempotency_Key="monday"), 409, "key-reused")
    assert answers[0].json() == answers[1].json()
    assert answers[0].status_code == answers[1].status_code == 201


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_is_remembered_is_bounded_in_number_and_in_age(new_url, kind):
    with Store.open(new_url(kind)) as opened, opened.writing() as writer:

        def add(account: str, key: str, kept: int) -> None:
            writer.repeats.add(Repeat(account, key, b"", "b", kept, b""), since=100, most=3)

        add("ada", "old", 50)
        add("pia", "hers", 101)
        for number in range(5):
            add("ada", f"k{number}", 200 + number)
        known = [key for key in ("old", "k0", "k1", "k2", "k3", "k4") if writer.repeats.find("ada", key, 0)]
        assert known == ["k2", "k3", "k4"]
        assert writer.repeats.find("pia", "hers", 0)
        assert writer.repeats.find("pia", "hers", 102) is None


def test_a_key_that_is_forgotten_counts_anew(store, monkeypatch):
    with serving(store) as served:
        assert served.publish("urn:doc:1", text(1), Idempotency_Key="monday").status_code == 201
        monkeypatch.setattr(repeats, "LASTS", -1)
        told = served.publish("urn:doc:1", text(2), Idempotency_Key="monday")
        assert told.status_code == 200
        assert told.json()["changed"] is True
