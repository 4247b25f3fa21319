"""Two accounts, one with a hidden document: the other learns from no answer and from no wait whether anything happened.

Each question is asked on a hub where hidden events happened and on one where none did: the answers must be equal.
"""

from __future__ import annotations

import threading
import time

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

THINGS = "SELECT ?s ?t { ?s <urn:title> ?t }"
SECRET = "https://example.org/secret.ttl"


class World:
    """A hub with Ada who publishes, Bob who reads what she hides, and Eve who does not; Bob has subscribed."""

    def __init__(self, tmp_path, name: str) -> None:
        self.store = f"sqlite:///{tmp_path}/{name}.db"
        roles = {"ada": "publisher", "bob": "reader", "eve": "reader", "root": "admin"}
        with Store.open(self.store) as opened:
            self.made = {who: Accounts(opened).create_token(who, role=role) for who, role in roles.items()}
        self._serving = serving(self.store, identity=True, longest_wait=5)
        self.url = self._serving.__enter__().url
        self._clients = {
            who: httpx.Client(base_url=f"{self.url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)
            for who, (_, token) in self.made.items()
        }
        self["bob"].post("/subscriptions", json={"id": "bob", "text": THINGS}).raise_for_status()

    def __getitem__(self, who: str) -> httpx.Client:
        return self._clients[who]

    def hide(self, text: str = "<urn:thing> <urn:title> 'xyzzy' .", uri: str = SECRET) -> None:
        told = self["ada"].put(
            "/document", params={"uri": uri, "reader": "bob"}, content=text, headers=TURTLE | {"Prefer": "wait"}
        )
        assert told.is_success, told.text

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._serving.__exit__(None, None, None)


@pytest.fixture
def worlds(tmp_path):
    """One where Bob has events that are hidden from Eve, one where he has none; both have a list."""
    both = World(tmp_path, "with"), World(tmp_path, "without")
    for world in both:
        world.hide("<urn:other> <urn:p> 1 .", "https://example.org/other.ttl")
    both[0].hide()
    yield both
    for world in both:
        world.close()


def reading(eve: httpx.Client):
    """Every question about a subscription of another account."""
    for part in ("rows", "events", "recent", "feed", "inbox", "stream"):
        yield eve.get(f"/subscriptions/bob/{part}")
    for cursor in (1, 2, 3, 1_000):
        yield eve.get(f"/subscriptions/bob/inbox/{cursor}")
        yield eve.get("/subscriptions/bob/events", params={"after": cursor, "wait": 5})
        yield eve.get("/subscriptions/bob/feed", params={"before": cursor})
    for tag in ("*", '"0"'):
        yield eve.get("/subscriptions/bob/feed", headers={"If-None-Match": tag})
    yield eve.get("/subscriptions/bob/stream", headers={"Last-Event-ID": "1"})
    for row in ({"s": "<urn:thing>", "t": '"xyzzy"'}, {"s": "<urn:thing>"}, {"nobody": "<urn:x>"}):
        yield eve.post("/subscriptions/bob/why", json={"row": row})
    for resource in ("urn:thing", "urn:nothing"):
        yield eve.post("/subscriptions/bob/why-not", json={"resource": resource})
    for part in ("deliveries", "feed-address"):
        yield eve.get(f"/subscriptions/bob/{part}")
    yield eve.get("/statistics")
    params = "<params><param><value>bob</value></param></params>"
    call = f"<methodCall><methodName>triplewire.{{}}</methodName>{params}</methodCall>"
    for method in ("notifications", "feed"):
        yield eve.post("/xml-rpc", content=call.format(method), headers={"Content-Type": "text/xml"})
    for path in ("/document", "/document/versions", "/document/access"):
        yield eve.get(path, params={"uri": SECRET})
    yield eve.get("/subscriptions/bob/explain")
    yield eve.get("/sparql", params={"query": "SELECT * { ?s ?p ?o }"})
    for scope in ("document", "graph"):
        told = eve.post("/preview", json={"text": THINGS, "scope": scope, "start": "ever"})
        yield told


def test_no_answer_depends_on_what_happened_to_others(worlds):
    for with_events, without in zip(*(reading(world["eve"]) for world in worlds), strict=True):
        asked = with_events.request.method, with_events.request.url.path, with_events.request.url.query
        assert with_events.status_code == without.status_code, asked
        assert with_events.text == without.text, asked
        assert with_events.headers.get("etag") == without.headers.get("etag"), asked


@pytest.mark.parametrize("sort", ["id", "answers", "-answers", "last_event", "-last_event"])
def test_a_list_does_not_tell_how_many_answers_others_have_nor_when_they_came(worlds, sort):
    told = []
    for world in worlds:
        for who in ("root", "eve"):
            world[who].post("/subscriptions", json={"id": who, "text": THINGS}).raise_for_status()
        listed = world["eve"].get("/subscriptions", params={"sort": sort}).json()["subscriptions"]
        told.append([(one["id"], one["answers"], one["last_event"]) for one in listed])
        assert (listed[-1]["answers"] if sort != "id" else listed[0]["answers"]) is None
        assert world["eve"].get("/subscriptions/bob").json()["answers"] is None
        assert world["root"].get("/subscriptions/bob").json()["answers"] is not None
    assert told[0] == told[1]


def test_nobody_waits_for_the_events_of_others(worlds):
    """A wait that ends when something happens tells that it happened; so there is none."""
    problem(worlds[0]["eve"].get("/subscriptions/bob/events", params={"after": 1_000, "wait": 5}), 403, "not-allowed")
    problem(worlds[0]["eve"].get("/subscriptions/bob/stream"), 403, "not-allowed")


@pytest.mark.parametrize("concerns_bob", [True, False])
def test_who_followed_before_there_was_a_list_is_ended_by_the_list_and_not_by_an_event(tmp_path, concerns_bob):
    world = World(tmp_path, "early")
    ended = []

    def follow() -> None:
        with httpx.stream(
            "GET", f"{world.url}/v1/subscriptions/bob/stream", headers=world["eve"].headers, timeout=60
        ) as stream:
            ended.append("".join(stream.iter_text()))

    def wait() -> None:
        ended.append(world["eve"].get("/subscriptions/bob/events", params={"wait": 5}).text)

    threads = [threading.Thread(target=follow), threading.Thread(target=wait)]
    try:
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        world.hide() if concerns_bob else world.hide("<urn:other> <urn:p> 1 .")
        for thread in threads:
            thread.join(4)
        assert not any(thread.is_alive() for thread in threads)
        assert "xyzzy" not in "".join(ended)
    finally:
        for thread in threads:
            thread.join(20)
        world.close()


def test_a_document_that_may_not_be_read_is_not_waited_for(worlds):
    """What an admin publishes is only acknowledged, and applied later; nobody applies it here.

    Who waits does so for eight seconds, and this client for five.
    """
    world = worlds[0]
    world._serving.__exit__(None, None, None)
    world._serving = serving(world.store, identity=True, longest_wait=8, pipeline="none")
    url = world._serving.__enter__().url
    eve, root = ({"Authorization": f"Bearer {world.made[who][1]}"} for who in ("eve", "root"))
    sent = httpx.put(f"{url}/v1/document", params={"uri": SECRET}, content="<urn:a> <urn:p> 2 .", headers=TURTLE | root)
    assert sent.status_code == 202
    for path in ("/document", "/document/versions", "/document/access"):
        problem(httpx.get(f"{url}/v1{path}", params={"uri": SECRET}, headers=eve), 404, "unknown-document")
    problem(httpx.get(f"{url}/v1/document", params={"uri": SECRET}, headers=root, timeout=30), 503)
