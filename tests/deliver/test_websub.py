"""WebSub: a subscriber is asked whether it is meant, gets what is new, signed, until its lease is over."""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import feedparser
import pytest

from deliver.receiving import Got, Says, eventually
from hub.serving import problem, serving

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def served(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", reach="127.0.0.0/8") as client:
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """A server that is only asked for what it refuses."""
    with serving(
        f"sqlite:///{tmp_path_factory.mktemp('refusing')}/hub.db", deliver=False, reach="127.0.0.0/8"
    ) as client:
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        yield client


def confirm(got: Got) -> Says:
    """A subscriber that means it."""
    if got.method == "GET":
        return Says(200, parse_qs(urlsplit(got.path).query)["hub.challenge"][0].encode())
    return Says(204)


def ask(served, receiver, mode="subscribe", **more):
    topic = more.pop("topic", f"{served.url}/v1/subscriptions/sizes/feed")
    form = {"hub.mode": mode, "hub.topic": topic, "hub.callback": receiver.url("/cb?own=1")}
    return served.post("/v1/websub", data=form | {f"hub.{name}": value for name, value in more.items()})


def deliveries(served):
    return served.get("/v1/subscriptions/sizes/deliveries").json()["deliveries"]


def test_a_subscriber_confirms_and_gets_what_is_new_signed(served, receiver):
    receiver.says["/cb"] = confirm
    served.publish("urn:doc:0", "<urn:before> <urn:size> 0 .")
    answer = ask(served, receiver, secret="correct horse", lease_seconds="3600")
    assert answer.status_code == 202, answer.text
    (told,) = eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    asked = parse_qs(urlsplit(receiver.got[0].path).query)
    assert asked["hub.mode"] == ["subscribe"]
    assert asked["hub.topic"] == [f"{served.url}/v1/subscriptions/sizes/feed"]
    assert asked["hub.lease_seconds"] == ["3600"]
    assert asked["own"] == ["1"]
    assert told["expires"]
    served.publish("urn:doc:1", "<urn:new> <urn:size> 1 .")
    (got,) = receiver.wait_for_posts(1, "/cb?own=1")
    wanted = hmac.new(b"correct horse", got.body, sha256).hexdigest()
    assert got.headers["x-hub-signature"] == f"sha256={wanted}"
    assert got.headers["content-type"] == "application/atom+xml"
    assert 'rel="hub"' in got.headers["link"]
    assert 'rel="self"' in got.headers["link"]
    feed = feedparser.parse(got.body)
    assert not feed.bozo
    assert ["urn:new" in entry.title for entry in feed.entries] == [True]


@pytest.mark.parametrize("says", [Says(404), Says(200, b"something else"), Says(200)])
def test_who_does_not_repeat_the_challenge_gets_nothing(served, receiver, says):
    receiver.says["/cb"] = lambda _: says
    assert ask(served, receiver).status_code == 202
    eventually(lambda: receiver.got and not deliveries(served))
    served.publish("urn:doc:1", "<urn:new> <urn:size> 1 .")
    assert receiver.posts("/cb?own=1") == []


def test_who_unsubscribes_is_asked_too_and_gets_nothing_more(served, receiver):
    receiver.says["/cb"] = lambda got: Says(404)
    ask(served, receiver, "unsubscribe")  # of what is not there, nothing comes
    receiver.says["/cb"] = confirm
    ask(served, receiver)
    eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    receiver.says["/cb"] = lambda _: Says(404)  # somebody else asks for it, and the subscriber does not mean it
    count = len(receiver.got)
    ask(served, receiver, "unsubscribe")
    receiver.wait_for(lambda: len(receiver.got) > count)
    served.publish("urn:doc:1", "<urn:new> <urn:size> 1 .")
    receiver.wait_for_posts(1, "/cb?own=1")
    receiver.says["/cb"] = confirm
    ask(served, receiver, "unsubscribe")
    eventually(lambda: not deliveries(served))


def test_a_renewal_leaves_one_subscription(served, receiver):
    receiver.says["/cb"] = confirm
    ask(served, receiver, lease_seconds="3600")
    (first,) = eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    ask(served, receiver, lease_seconds="7200")
    (second,) = eventually(lambda: [d for d in deliveries(served) if d["expires"] > first["expires"]])
    assert second["id"] == first["id"]


def test_a_lease_that_is_over_ends_the_subscription(served, receiver, monkeypatch):
    from triplewire.deliver import websub

    monkeypatch.setattr(websub, "LEAST", 0)
    receiver.says["/cb"] = confirm
    ask(served, receiver, lease_seconds="0")
    receiver.wait_for(lambda: receiver.got)
    eventually(lambda: not deliveries(served))


def test_who_says_gone_gets_nothing_more(served, receiver):
    receiver.says["/cb"] = lambda got: confirm(got) if got.method == "GET" else Says(410)
    ask(served, receiver)
    eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    served.publish("urn:doc:1", "<urn:new> <urn:size> 1 .")
    eventually(lambda: [d for d in deliveries(served) if d["state"] == "disabled"])


def test_a_subscriber_is_told_when_the_hub_ends_it(served, receiver):
    receiver.says["/cb"] = confirm
    ask(served, receiver)
    (told,) = eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    receiver.says["/cb"] = lambda _: Says(200)
    assert served.delete(f"/v1/deliveries/{told['id']}").status_code == 204
    said = parse_qs(urlsplit(receiver.got[-1].path).query)
    assert said["hub.mode"] == ["denied"]
    assert said["hub.reason"]


def test_a_topic_in_another_syntax_is_pushed_in_it(served, receiver):
    receiver.says["/cb"] = confirm
    ask(served, receiver, topic=f"{served.url}/v1/subscriptions/sizes/feed?syntax=rss2")
    eventually(lambda: [d for d in deliveries(served) if d["state"] == "active"])
    served.publish("urn:doc:1", "<urn:new> <urn:size> 1 .")
    (got,) = receiver.wait_for_posts(1, "/cb?own=1")
    assert got.headers["content-type"] == "application/rss+xml"
    assert feedparser.parse(got.body).version == "rss20"


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"mode": "publish"}, 400),
        ({"topic": "https://elsewhere.example/feed"}, 400),
        ({"lease_seconds": "soon"}, 400),
        ({"secret": "x" * 200}, 400),
        ({"callback": "http://10.0.0.1/cb"}, 422),
        ({"callback": "ftp://a.example/"}, 400),
    ],
)
def test_a_request_that_cannot_be_is_refused_at_once(refusing, receiver, form, status):
    problem(ask(refusing, receiver, **({"mode": "subscribe"} | form)), status)
    assert deliveries(refusing) == []


def test_a_topic_that_is_not_there_is_refused(refusing, receiver):
    problem(ask(refusing, receiver, topic=f"{refusing.url}/v1/subscriptions/none/feed"), 404)
