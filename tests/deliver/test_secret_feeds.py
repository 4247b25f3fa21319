"""Secret addresses of feeds: for readers that cannot send a token; revocable, unguessable, for one subscription."""

from __future__ import annotations

import logging
from urllib.parse import parse_qs, urlsplit

import feedparser
import httpx
import pytest

from deliver.receiving import Got, Says, eventually
from hub.serving import problem, serving
from triplewire.client import Client
from triplewire.errors import NotAllowed, UnknownFeed
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

SIZES = "SELECT ?d ?n { ?d <urn:size> ?n }"


@pytest.fixture
def store(tmp_path):
    return f"sqlite:///{tmp_path}/hub.db"


@pytest.fixture
def tokens(store):
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        people = {"maja": "main", "willi": "main", "nora": "north"}
        return {name: accounts.create_token(name, role="publisher", tenant=t)[1] for name, t in people.items()}


@pytest.fixture
def guarded(store, tokens):
    with serving(store, identity=True, reach="127.0.0.0/8") as client:
        yield client


@pytest.fixture
def maja(guarded, tokens):
    with Client(guarded.url, token=tokens["maja"]) as client:
        client.subscribe(SIZES, id="sizes")
        client.publish("<urn:d> <urn:size> 1 .", uri="urn:doc")
        yield client


def test_a_feed_reader_without_a_token_reads_the_feed_at_its_secret_address(guarded, maja):
    problem(guarded.get("/v1/subscriptions/sizes/feed"), 401)
    address = maja.make_feed_address("sizes")
    answer = guarded.get(address)
    feed = feedparser.parse(answer.content)
    assert [entry.title for entry in feed.entries] == [feed.entries[0].title]
    assert answer.links["self"]["url"] == address
    assert answer.links.keys() == {"self", "hub"}
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert guarded.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    for syntax in ("atom", "rss1", "rss2", "json"):
        assert guarded.get(address, params={"syntax": syntax, "limit": 1}).status_code == 200
    older = guarded.get(address, params={"limit": 1}).links["next"]["url"]
    assert older.startswith(address)
    assert guarded.get(older).status_code == 200


def test_a_new_address_takes_the_place_of_the_old_one_and_a_revoked_one_leads_nowhere(guarded, maja):
    first = maja.make_feed_address("sizes")
    second = maja.make_feed_address("sizes")
    problem(guarded.get(first), 404, "unknown-feed")
    assert guarded.get(second).status_code == 200
    maja.revoke_feed_address("sizes")
    problem(guarded.get(second), 404, "unknown-feed")
    with pytest.raises(UnknownFeed):
        maja.revoke_feed_address("sizes")


def test_an_address_is_told_once_and_the_store_has_only_a_hash_of_it(guarded, maja, tokens, tmp_path):
    address = maja.make_feed_address("sizes")
    as_maja = {"Authorization": f"Bearer {tokens['maja']}"}
    told = guarded.get("/v1/subscriptions/sizes/feed-address", headers=as_maja).json()
    assert told.keys() == {"created"}
    secret = address.rpartition(".")[2]
    assert len(secret) == 43
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in files)


def test_only_who_made_the_subscription_makes_and_revokes_its_address(guarded, maja, tokens):
    with Client(guarded.url, token=tokens["willi"]) as willi:
        with pytest.raises(NotAllowed):
            willi.make_feed_address("sizes")
        maja.make_feed_address("sizes")
        with pytest.raises(NotAllowed):
            willi.revoke_feed_address("sizes")


def test_what_is_wrong_with_an_address_is_not_told(guarded, maja, tokens):
    address = maja.make_feed_address("sizes")
    tenant, handle, secret = address.rpartition("/")[2].split(".")
    flipped = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    wrong = [
        f"{tenant}.{handle}.{flipped}",
        f"{tenant}.{'0' * 32}.{secret}",
        f"north.{handle}.{secret}",
        f"nowhere.{handle}.{secret}",
        f"{tenant}.{handle}",
        "x",
    ]
    answers = [guarded.get(f"/v1/feeds/{each}") for each in wrong]
    assert {answer.content for answer in answers} == {answers[0].content}
    problem(answers[0], 404, "unknown-feed")
    assert not (guarded.server.config.app.state.service.tenants._open.keys() - {"main", "north"})
    guarded.stop_refilling()
    many = [guarded.get(f"/v1/feeds/{wrong[0]}").status_code for _ in range(60)]
    assert many[-1] == 429, "who guesses is stopped"


def test_an_address_does_not_count_for_another_subscription_that_gets_the_same_id(guarded, maja):
    """Invariant of `deliver.capabilities`: an address counts for the subscription that it was made for."""
    address = maja.make_feed_address("sizes")
    maja.unsubscribe("sizes")
    problem(guarded.get(address), 404)
    maja.subscribe("SELECT ?d { ?d <urn:secret> ?n }", id="sizes")
    problem(guarded.get(address), 404)


def test_another_tenant_has_addresses_of_its_own(guarded, maja, tokens):
    with Client(guarded.url, token=tokens["nora"]) as nora:
        nora.subscribe(SIZES, id="sizes")
        nora.publish("<urn:north> <urn:size> 2 .", uri="urn:doc")
        theirs, ours = nora.make_feed_address("sizes"), maja.make_feed_address("sizes")
    assert b"urn:north" in guarded.get(theirs).content
    assert b"urn:north" not in guarded.get(ours).content


def test_addresses_are_not_logged_nor_measured(guarded, maja, caplog, tokens):
    caplog.set_level(logging.DEBUG)
    address = maja.make_feed_address("sizes")
    with httpx.Client(trust_env=False) as plain:
        caplog.clear()
        own = logging.getLogger("httpx")
        own.disabled = True  # this process is the reader, too
        try:
            assert plain.get(address).status_code == 200
        finally:
            own.disabled = False
    secret = address.rpartition("/")[2]
    assert all(secret not in record.getMessage() for record in caplog.records if not record.name.startswith("http"))
    service = guarded.server.config.app.state.service
    assert secret.encode() not in service.metrics.text()
    assert b'route="/v1/feeds/{capability}"' in service.metrics.text()


# -- WebSub


def confirm(got: Got) -> Says:
    if got.method == "GET":
        return Says(200, parse_qs(urlsplit(got.path).query).get("hub.challenge", [""])[0].encode())
    return Says(204)


def test_a_subscriber_without_a_token_subscribes_to_the_secret_address_until_it_is_revoked(guarded, maja, receiver):
    receiver.says["/cb"] = confirm
    address = maja.make_feed_address("sizes")
    form = {"hub.mode": "subscribe", "hub.topic": address, "hub.callback": receiver.url("/cb"), "hub.secret": "s"}
    plain = form | {"hub.topic": f"{guarded.url}/v1/subscriptions/sizes/feed"}
    problem(guarded.post("/v1/websub", data=plain), 401)
    problem(guarded.post("/v1/websub", data=form | {"hub.topic": address[:-1] + "_"}), 404)
    assert guarded.post("/v1/websub", data=form).status_code == 202
    eventually(lambda: [each for each in maja.deliveries.listing("sizes") if each["state"] == "active"])
    maja.publish("<urn:new> <urn:size> 2 .", uri="urn:doc:2")
    (got,) = receiver.wait_for_posts(1, "/cb")
    feed = feedparser.parse(got.body)
    assert [link.href for link in feed.feed.links if link.rel == "self"] == [address]
    maja.revoke_feed_address("sizes")
    denied = eventually(lambda: [g for g in receiver.got if "denied" in g.path])
    assert parse_qs(urlsplit(denied[0].path).query)["hub.topic"] == [address]
    assert list(maja.deliveries.listing("sizes")) == []
