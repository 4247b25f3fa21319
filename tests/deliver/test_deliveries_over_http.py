"""Deliveries over HTTP: made and looked at by who may, secrets told once, dead letters replayed."""

from __future__ import annotations

import pytest
from standardwebhooks import Webhook

from deliver.receiving import Says, eventually
from hub.serving import problem, serving
from triplewire.client import Client
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store


@pytest.fixture
def served(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", reach="127.0.0.0/8") as client:
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """A server that is only asked for what it refuses."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('refusing')}/hub.db", deliver=False) as client:
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        yield client


def add(served, url, **more):
    return served.post("/v1/subscriptions/sizes/deliveries", json={"url": url} | more)


def test_a_delivery_is_made_works_and_is_removed(served, receiver):
    made = add(served, receiver.url())
    assert made.status_code == 201
    secret, place = made.json()["secret"], made.headers["location"]
    served.publish("urn:doc", "<urn:a> <urn:size> 1 .")
    (got,) = receiver.wait_for_posts(1)
    Webhook(secret).verify(got.body, got.headers)
    told = eventually(lambda: (found := served.get(place).json())["delivered"] == 1 and found)
    assert (told["state"], told["lag"], told["cursor"]) == ("active", 0, 1)
    for address in (place, "/v1/deliveries", "/v1/subscriptions/sizes/deliveries"):
        assert secret not in served.get(address).text
    metrics = served.get("/v1/metrics").text
    assert 'triplewire_deliveries_delivered_total{kind="webhook",tenant="main"} 1.0' in metrics
    assert 'triplewire_deliveries{kind="webhook",state="active",tenant="main"} 1.0' in metrics
    assert served.delete(place).status_code == 204
    problem(served.get(place), 404, "unknown-delivery")


def test_a_ping_is_signed_and_says_what_the_receiver_says(served, receiver):
    made = add(served, receiver.url()).json()
    assert served.post(f"/v1/deliveries/{made['id']}/ping").json()["arrived"] is True
    (got,) = receiver.posts()
    assert Webhook(made["secret"]).verify(got.body, got.headers)["type"] == "triplewire.ping"
    receiver.says["/hook"] = lambda _: Says(500, b"do not tell this")
    said = served.post(f"/v1/deliveries/{made['id']}/ping")
    assert (said.json()["arrived"], said.json()["status"]) == (False, 500)
    assert "do not tell this" not in said.text


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/", "http://[::ffff:10.0.0.1]/"]
)
def test_an_address_of_a_private_network_is_refused(refusing, url):
    told = problem(add(refusing, url), 422, "target-refused")
    assert "reach" in told["detail"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"url": "ftp://a.example/"},
        {"url": "https://user:secret@a.example/"},
        {"url": "https://a.example/\r\nX: 1"},
        {"url": "https://a.example/", "kind": "digest"},
        {"url": "https://a.example/", "every": "hourly"},
        {"url": "https://a.example/", "secret": "whsec_short"},
        {"url": "https://a.example/", "kind": "ldn", "secret": "whsec_" + "A" * 32},
    ],
)
def test_what_makes_no_sense_is_refused(refusing, wanted):
    problem(refusing.post("/v1/subscriptions/sizes/deliveries", json=wanted), 400)


def test_the_client_has_deliveries(served, receiver):
    receiver.says["/hook"] = lambda _: Says(400)
    with Client(served.url) as hub:
        made = hub.deliveries.add("sizes", receiver.url(), after=None)
        assert [each["id"] for each in hub.deliveries.listing("sizes")] == [made["id"]]
        hub.deliveries.pause(made["id"])
        assert [each["state"] for each in hub.deliveries.listing()] == ["paused"]
        hub.deliveries.resume(made["id"])
        assert hub.deliveries.rotate(made["id"]) != made["secret"]
        assert hub.deliveries.ping(made["id"])["status"] == 400
        assert list(hub.deliveries.dead(made["id"])) == []
        assert hub.deliveries.replay(made["id"]) == hub.deliveries.drop(made["id"], [1, 2]) == 0
        hub.deliveries.remove(made["id"])
        assert list(hub.deliveries.listing()) == []


def test_deliveries_are_for_who_made_the_subscription_and_for_admins(tmp_path, receiver):
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        accounts = Accounts(store)
        tokens = {name: accounts.create_token(name, role=role)[1] for name, role in ROLES.items()}
    with serving(url, identity=True, reach="127.0.0.0/8") as client:
        headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
        wanted = {"id": "sizes", "text": "SELECT ?d ?n { ?d <urn:size> ?n }"}
        assert client.post("/v1/subscriptions", json=wanted, headers=headers["maja"]).status_code == 201
        place, body = "/v1/subscriptions/sizes/deliveries", {"url": receiver.url()}
        problem(client.post(place, json=body), 401)
        problem(client.post(place, json=body, headers=headers["jonas"]), 403)
        made = client.post(place, json=body, headers=headers["maja"]).json()
        own = f"/v1/deliveries/{made['id']}"
        for method, address in (
            ("GET", own),
            ("GET", place),
            ("DELETE", own),
            ("POST", f"{own}/ping"),
            ("GET", f"{own}/dead"),
            ("DELETE", f"{own}/dead"),
        ):
            problem(client.request(method, address, headers=headers["jonas"]), 403)
        assert client.get("/v1/deliveries", headers=headers["jonas"]).json()["deliveries"] == []
        for name in ("maja", "admin"):
            found = client.get("/v1/deliveries", headers=headers[name]).json()["deliveries"]
            assert [each["id"] for each in found] == [made["id"]]


ROLES = {"maja": "reader", "jonas": "reader", "admin": "admin"}


def test_deliveries_go_on_after_a_restart_for_every_tenant(tmp_path, receiver):
    """Also for a tenant that nobody asks anything of."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        _, token = Accounts(store).create_token("north", role="publisher", tenant="north")
    headers = {"Authorization": f"Bearer {token}"}
    with serving(url, identity=True, reach="127.0.0.0/8", deliver=False) as client:
        client.headers.update(headers)
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        assert add(client, receiver.url()).status_code == 201
        client.publish("urn:doc", "<urn:a> <urn:size> 1 .")
    with serving(url, identity=True, reach="127.0.0.0/8"):
        receiver.wait_for_posts(1)
