"""A publisher that gives an access list to documents of others, and so takes them from everybody."""

from __future__ import annotations

import json

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire import Access, Hub, Publish, Restrict, parse
from triplewire.errors import AccessDenied
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

OPEN, TEXT = "https://example.org/open.ttl", "<urn:thing> <urn:title> 'a thing' ."


@pytest.fixture
def people(tmp_path):
    """Ada and Pia publish, Bob reads, and there is an admin: each a client with its token."""
    store = f"sqlite:///{tmp_path}/hub.db"
    roles = {"ada": "publisher", "pia": "publisher", "bob": "reader", "root": "admin"}
    with Store.open(store) as opened:
        tokens = {name: Accounts(opened).create_token(name, role=role)[1] for name, role in roles.items()}
    with serving(store, identity=True) as served:
        clients = {
            name: httpx.Client(base_url=f"{served.url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)
            for name, token in tokens.items()
        }
        yield clients
        for client in clients.values():
            client.close()


def publish(client, uri=OPEN, text=TEXT, *, wait=True, **params):
    headers = TURTLE | ({"Prefer": "wait"} if wait else {})
    return client.put("/document", params={"uri": uri, **params}, content=text, headers=headers)


def hiding(client):
    """Every way to give a list."""
    yield client.put("/document/access", params={"uri": OPEN}, json={"readers": []})
    yield publish(client, reader="pia")
    yield client.post("/changes", json={"changes": [{"uri": OPEN, "access": {"readers": []}}]})
    yield client.post("/changes", json={"changes": [{"uri": OPEN, "content": TEXT, "access": {"writers": []}}]})
    twice = [{"uri": OPEN, "retract": True}, {"uri": OPEN, "content": TEXT, "access": {"readers": []}}]
    yield client.post("/changes", json={"changes": twice})


@pytest.mark.parametrize("wait", [True, False])
def test_a_publisher_hides_nothing_that_another_published_first(people, wait):
    assert publish(people["ada"], wait=wait).is_success
    for answer in hiding(people["pia"]):
        problem(answer, 403, "access-denied")
    line = json.dumps({"uri": OPEN, "content": TEXT, "readers": []})
    told = people["pia"].post("/documents", content=line, headers={"Content-Type": "application/x-ndjson"}).json()
    assert (told["refused"], told["problems"][0]["problem"]["status"]) == (1, 403)
    assert people["bob"].get("/document", params={"uri": OPEN}).status_code == 200


def test_to_retract_it_and_publish_it_anew_does_not_help(people):
    publish(people["ada"])
    assert people["pia"].delete("/document", params={"uri": OPEN}).is_success
    problem(publish(people["pia"], reader=""), 403, "access-denied")
    assert publish(people["pia"]).is_success
    problem(people["pia"].put("/document/access", params={"uri": OPEN}, json={}), 403, "access-denied")


def test_who_published_it_first_its_writers_and_an_admin_may(people):
    ada, pia, root = (people[name] for name in ("ada", "pia", "root"))
    publish(ada)
    assert publish(pia, text=TEXT + "<urn:a> <urn:b> 1 .").is_success, "without a list anybody may change it"
    assert ada.put("/document/access", params={"uri": OPEN}, json={"writers": ["pia"]}).is_success
    assert pia.put("/document/access", params={"uri": OPEN}, json={"writers": ["ada"]}).is_success
    assert ada.delete("/document/access", params={"uri": OPEN}).is_success
    problem(pia.put("/document/access", params={"uri": OPEN}, json={}), 403, "access-denied")
    assert root.put("/document/access", params={"uri": OPEN}, json={}).is_success


def test_what_an_admin_published_or_nobody_knows_of_is_for_admins_to_hide(people):
    publish(people["root"])
    for answer in hiding(people["ada"]):
        problem(answer, 403, "access-denied")
    assert people["root"].put("/document/access", params={"uri": OPEN}, json={}).is_success


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_order_inside_of_a_batch_counts(new_url, kind):
    document = parse(TEXT, uri=OPEN)
    hidden = Access([], ["pia"])
    with Hub(new_url(kind)) as hub:
        with pytest.raises(AccessDenied):
            hub.apply([Publish(document, by="ada"), Publish(document, access=hidden, by="pia")])
        with pytest.raises(AccessDenied):
            hub.apply([Publish(document), Restrict(OPEN, hidden, "pia")])
        hub.apply([Publish(document, by="pia"), Restrict(OPEN, hidden, "pia")])
        assert hub.document(OPEN, viewer="ada") is None
