"""An account is revoked, or may see less, while web hooks, inboxes, WebSub, digests and feeds go on in its name."""

from __future__ import annotations

import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from deliver.receiving import Says, receiving
from hub.serving import TURTLE, problem, serving
from triplewire import Access, Hub
from triplewire.deliver import Deliverer, Deliveries, DeliveryManners, RetryPace
from triplewire.deliver.capabilities import FeedAddresses
from triplewire.hub.identity.accounts import Accounts
from triplewire.outbound import Reach
from triplewire.store import Store

THINGS = "SELECT ?s ?t { ?s <urn:title> ?t }"
KINDS = ("webhook", "ldn", "digest", "websub")


def confirmed(got):
    return Says(200, parse_qs(urlsplit(got.path).query).get("hub.challenge", [""])[0].encode())


class World:
    """A service, and Bob, to whom the events of his subscription are sent in every way that there is."""

    def __init__(self, tmp_path, role: str = "reader") -> None:
        self.store = f"sqlite:///{tmp_path}/hub.db"
        with Store.open(self.store) as opened:
            accounts = Accounts(opened)
            self.bob, token = accounts.create_token("bob", role=role)
            self.tokens = {"bob": token, "root": accounts.create_token("root", role="admin")[1]}

    def __enter__(self):
        self._receiving, self._serving = receiving(), serving(self.store, identity=True, reach="127.0.0.0/8")
        self.receiver, self.url = self._receiving.__enter__(), self._serving.__enter__().url
        self.ask("POST", "/subscriptions", json={"id": "bob", "text": THINGS}).raise_for_status()
        for kind in KINDS[:-1]:
            often = {"every": "daily"} if kind == "digest" else {}
            wanted = {"url": self.receiver.url(f"/{kind}"), "kind": kind} | often
            self.ask("POST", "/subscriptions/bob/deliveries", json=wanted).raise_for_status()
        self.address = self.ask("POST", "/subscriptions/bob/feed-address").json()["address"]
        self.receiver.says["/websub"] = confirmed
        form = {"hub.mode": "subscribe", "hub.topic": self.address, "hub.callback": self.receiver.url("/websub")}
        httpx.post(f"{self.url}/v1/websub", data=form).raise_for_status()
        self.receiver.wait_for(lambda: any(got.path.startswith("/websub?") for got in self.receiver.got))
        return self

    def __exit__(self, *_):
        self._serving.__exit__(None, None, None)
        self._receiving.__exit__(None, None, None)

    def ask(self, method: str, path: str, who: str = "bob", **more) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} | more.pop("headers", {})
        return httpx.request(method, f"{self.url}/v1{path}", headers=headers, timeout=60, **more)

    def publish(self, name: str, **params) -> None:
        told = self.ask(
            "PUT",
            "/document",
            "root",
            params={"uri": f"urn:doc:{name}", **params},
            content=f"<urn:{name}> <urn:title> '{name}' .",
            headers=TURTLE | {"Prefer": "wait"},
        )
        told.raise_for_status()

    def heard(self, word: str) -> set[str]:
        """The ways by which a word has come."""
        return {got.path[1:] for got in self.receiver.got if got.method == "POST" and word.encode() in got.body}

    def send_digest_now(self) -> None:
        with Store.open(self.store) as store, store.writing() as writer:
            for record in writer.deliveries.of_subscription("bob"):
                if record.kind == "digest":
                    writer.deliveries.put(replace(record, due=1))


def test_all_ways_lead_to_who_may_hear_it(tmp_path):
    """So that the tests after this one can fail."""
    with World(tmp_path) as world:
        time.sleep(0.3)
        world.publish("first")
        world.send_digest_now()
        world.receiver.wait_for(lambda: world.heard("first") == set(KINDS))
        assert "first" in httpx.get(world.address).text


@pytest.mark.parametrize("how", ["revoked", "lowered"])
def test_nothing_is_sent_once_the_account_may_not_have_it(tmp_path, how):
    with World(tmp_path, role="reader" if how == "revoked" else "admin") as world:
        with Store.open(world.store) as opened:
            accounts = Accounts(opened)
            accounts.revoke(world.bob.id) if how == "revoked" else accounts.set_role(world.bob.id, "reader")
        time.sleep(0.3)
        world.publish("later")
        world.send_digest_now()
        until = time.monotonic() + 30
        deliveries = world.ask("GET", "/deliveries", "root").json()["deliveries"]
        while {each["state"] for each in deliveries} != {"disabled"}:
            assert time.monotonic() < until, deliveries
            time.sleep(0.1)
            deliveries = world.ask("GET", "/deliveries", "root").json()["deliveries"]
        assert len(deliveries) == 3, "a lease of WebSub is over"
        assert all(world.bob.id in each["reason"] for each in deliveries)
        assert world.heard("later") == set()
        while httpx.get(world.address).status_code != 404:
            assert time.monotonic() < until
            time.sleep(0.1)
        problem(httpx.get(world.address), 404, "unknown-feed")
        world.ask("PATCH", f"/deliveries/{deliveries[0]['id']}", "root", json={"state": "active"}).raise_for_status()
        time.sleep(0.5)
        assert world.heard("later") == set(), "to resume it does not help"


def subscribed_by_an_address(world: World) -> str:
    """Ann, an admin, makes an address of root's subscription, and somebody without a token subscribes to it."""
    with Store.open(world.store) as opened:
        ann, world.tokens["ann"] = Accounts(opened).create_token("ann", role="admin")
    time.sleep(1.2)  # a service hears of new accounts
    world.ask("POST", "/subscriptions", "root", json={"id": "all", "text": THINGS}).raise_for_status()
    address = world.ask("POST", "/subscriptions/all/feed-address", "ann").json()["address"]
    world.receiver.says["/by-address"] = confirmed
    form = {"hub.mode": "subscribe", "hub.topic": address, "hub.callback": world.receiver.url("/by-address")}
    httpx.post(f"{world.url}/v1/websub", data=form).raise_for_status()
    world.receiver.wait_for(lambda: any(got.path.startswith("/by-address?") for got in world.receiver.got))
    time.sleep(0.3)
    world.publish("first", reader="")
    world.receiver.wait_for(lambda: "by-address" in world.heard("first"))
    return ann.id


@pytest.mark.parametrize("how", ["revoked", "lowered", "without its address"])
def test_what_was_subscribed_to_by_an_address_ends_with_the_address_and_with_who_made_it(tmp_path, how):
    with World(tmp_path) as world:
        ann = subscribed_by_an_address(world)
        with Store.open(world.store) as opened:
            if how == "revoked":
                Accounts(opened).revoke(ann)
            elif how == "lowered":
                Accounts(opened).set_role(ann, "reader")
            else:  # and not by the route, which looks for subscriptions that there are at that moment
                FeedAddresses(opened, "main").revoke("all")
        time.sleep(0.3)
        world.publish("later", reader="")
        until = time.monotonic() + 10
        while world.ask("GET", "/subscriptions/all/deliveries", "root").json()["deliveries"]:
            assert time.monotonic() < until, "the lease is not over"
            time.sleep(0.1)
        assert world.heard("later") == set()


def test_an_open_stream_ends_when_the_account_gets_another_role(tmp_path):
    with World(tmp_path) as world:
        headers = {"Authorization": f"Bearer {world.tokens['bob']}"}
        with httpx.stream("GET", f"{world.url}/v1/subscriptions/bob/stream", headers=headers, timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 2000"
            with Store.open(world.store) as opened:
                Accounts(opened).set_role(world.bob.id, "publisher")
            time.sleep(1.2)
            world.publish("later")
            assert "later" not in "".join(lines), "who has another role asks anew"


@pytest.fixture
def lagging(tmp_path):
    """A hub with Maja's subscription and a web hook whose receiver is away; nothing is delivered yet."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with receiving() as receiver, Hub(url) as hub:
        hub.subscribe(THINGS, id="maja", viewer="maja")
        yield hub, url, receiver, Deliveries(hub.store)


def delivered(url: str, receiver, is_enough, *, seconds: float = 30) -> None:
    pace = RetryPace(first=0.05, longest=0.2, attempts=3, patience=3600)
    manners = DeliveryManners(seconds=2.0, look_every=0.02, pace=pace, lease=8.0)
    with Deliverer(reach=Reach.of("127.0.0.0/8"), manners=manners) as deliverer:
        deliverer.serve("main", url)
        receiver.wait_for(is_enough, seconds)
        time.sleep(0.2)


def test_what_was_hidden_between_finding_and_sending_is_not_sent(lagging):
    hub, url, receiver, deliveries = lagging
    made, _ = deliveries.add("maja", receiver.url("/hook"))
    for number in range(60):  # more than are read at a time
        hub.publish(f"<urn:{number}> <urn:title> 'xyzzy {number}' .", uri=f"urn:doc:{number}")
    for number in range(60):
        hub.restrict(f"urn:doc:{number}", Access(["somebody"]))
    hub.publish("<urn:open> <urn:title> 'open' .", uri="urn:doc:open")
    delivered(url, receiver, lambda: any(b"open" in got.body for got in receiver.got))
    assert not any(b"xyzzy" in got.body for got in receiver.got), "neither that it began nor that it ended"
    assert deliveries.condition(made.id).lag == 0


def test_the_end_of_what_was_told_is_told(lagging):
    hub, url, receiver, deliveries = lagging
    deliveries.add("maja", receiver.url("/hook"))
    hub.publish("<urn:a> <urn:title> 'xyzzy' .", uri="urn:doc:a")
    delivered(url, receiver, lambda: len(receiver.posts()) == 1)
    hub.restrict("urn:doc:a", Access(["somebody"]))
    delivered(url, receiver, lambda: len(receiver.posts()) == 2)
    assert receiver.posts()[1].json["type"] == "triplewire.unmatched"


def test_a_dead_letter_that_tells_what_is_hidden_by_now_is_not_sent_again(lagging):
    hub, url, receiver, deliveries = lagging
    made, _ = deliveries.add("maja", receiver.url("/hook"))
    receiver.says["/hook"] = lambda got: Says(400 if b"xyzzy" in got.body else 204)
    hub.publish("<urn:a> <urn:title> 'xyzzy' .", uri="urn:doc:a")
    hub.publish("<urn:b> <urn:title> 'open' .", uri="urn:doc:b")
    delivered(url, receiver, lambda: any(b"open" in got.body for got in receiver.got))
    assert len(deliveries.dead(made.id)) == 1
    hub.restrict("urn:doc:a", Access(["somebody"]))
    del receiver.says["/hook"]
    before = len(receiver.posts())
    deliveries.replay(made.id)
    hub.publish("<urn:c> <urn:title> 'last' .", uri="urn:doc:c")
    delivered(url, receiver, lambda: any(b"last" in got.body for got in receiver.got))
    assert not any(b"triplewire.matched" in got.body and b"xyzzy" in got.body for got in receiver.posts()[before:])
    assert deliveries.dead(made.id) == []
