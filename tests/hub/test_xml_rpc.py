"""XML-RPC, as Python's own client speaks it (G5)."""

from __future__ import annotations

from xmlrpc.client import Binary, Fault, ServerProxy

import feedparser
import pytest

from hub.serving import serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

ITEM = "<item><guid>{}</guid><title>{}</title><description>{}</description></item>"
CARS = 'SELECT ?i WHERE (?i, <http://purl.org/rss/1.0/title>, "cars")'


def rss(*items: tuple[str, str, str]) -> str:
    written = (ITEM.format(*(part.replace("<", "&lt;") for part in item)) for item in items)
    return f'<rss version="2.0"><channel><title>News</title>{"".join(written)}</channel></rss>'


@pytest.fixture
def remote(served):
    with ServerProxy(f"{served.url}/v1/xml-rpc") as proxy:
        yield proxy.triplewire


def fault(method, *parameters) -> Fault:
    with pytest.raises(Fault) as caught:
        method(*parameters)
    return caught.value


def test_a_client_publishes_subscribes_and_hears(remote):
    assert remote.subscribe(CARS, "gql", "cars") == "cars"
    told = remote.publish(rss(("urn:1", "cars", "fast ones")), "https://news.example/feed")
    assert [(event["kind"], event["row"]) for event in told["events"]] == [("matched", {"i": "<urn:1>"})]
    heard = remote.notifications("cars")
    assert [event["row"] for event in heard] == [{"i": "<urn:1>"}]
    assert remote.notifications("cars", heard[-1]["cursor"]) == []
    assert remote.retract("https://news.example/feed")["changed"]
    assert [event["kind"] for event in remote.notifications("cars", heard[-1]["cursor"], 10)] == ["unmatched"]
    assert remote.unsubscribe("cars") is True
    assert fault(remote.notifications, "cars").faultCode == 404


def test_subscriptions_come_and_notifications_go_as_rss(remote):
    """G-ToPSS, section 6, figures 12 and 13: a subscription is an item with the title GQL."""
    told = remote.publish(rss(("urn:query", "GQL", CARS)), "https://site.example/subscriptions")
    assert told["subscriptions"] == ["urn:query"]
    remote.publish(Binary(rss(("urn:2", "cars", "slow")).encode()), "https://site.example/news", "application/rss+xml")
    read = feedparser.parse(remote.feed("urn:query"))
    assert not read.bozo
    assert read.version == "rss10"
    assert ["cars" in entry.title for entry in read.entries] == [True]


def test_a_feed_that_is_sent_again_subscribes_once(remote):
    feed = rss(("https://site.example/query", "GQL", CARS))
    (id,) = remote.publish(feed, "https://site.example/feed")["subscriptions"]
    assert "/" not in id, "it stands in the paths of the HTTP API"
    assert remote.publish(feed, "https://site.example/feed")["subscriptions"] == [id]
    other = rss(("https://site.example/query", "GQL", CARS.replace("cars", "trains")))
    assert fault(remote.publish, other, "https://site.example/feed").faultCode == 409


def test_the_server_tells_of_itself(served):
    with ServerProxy(f"{served.url}/v1/xml-rpc") as proxy:
        names = proxy.system.listMethods()
        assert {"triplewire.publish", "triplewire.subscribe", "system.listMethods"} <= set(names)
        assert all(proxy.system.methodHelp(name) and proxy.system.methodSignature(name) for name in names)
        assert proxy.system.methodSignature("triplewire.unsubscribe") == [["boolean", "string"]]
        assert fault(proxy.system.shutdown).faultCode == -32601


@pytest.mark.parametrize(
    ("method", "parameters", "code", "part"),
    [
        ("subscribe", ["SELECT ?x WHERE", "gql"], 400, "expected"),
        ("subscribe", [CARS, "klingon"], 400, "language"),
        ("subscribe", [], -32602, "text"),
        ("subscribe", [1], -32602, "string"),
        ("publish", ["<a> <b>", "https://x.example/a.ttl", "text/turtle"], 400, "a.ttl"),
        ("publish", ["x", "https://x.example/a", "image/png"], 415, "image/png"),
        ("notifications", ["nobody"], 404, "nobody"),
        ("notifications", ["nobody", "x"], 400, "cursor"),
        ("notifications", ["nobody", "0", 0], 400, "between"),
        ("_end", [], -32601, "_end"),
    ],
)
def test_what_is_wrong_is_a_fault(remote, method, parameters, code, part):
    found = fault(getattr(remote, method), *parameters)
    assert found.faultCode == code
    assert part in found.faultString


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"<methodCall/>",
        b"<methodResponse><params/></methodResponse>",
        b'<!DOCTYPE x [<!ENTITY a "a">]><methodCall><methodName>&a;</methodName></methodCall>',
        b"<methodCall><methodName>triplewire.feed</methodName><params><param><value><int>x</int></value></param></params>"
        b"</methodCall>",
    ],
)
def test_what_is_no_call_is_a_fault(served, body):
    answer = served.post("/v1/xml-rpc", content=body, headers={"Content-Type": "text/xml"})
    assert answer.status_code == 200
    assert "<name>faultCode</name>" in answer.text
    assert "-327" in answer.text or "-326" in answer.text


def test_roles_count(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        reader = Accounts(opened).create_token("reader", role="reader")[1]
    with serving(store, identity=True) as served:
        headers = [("Authorization", f"Bearer {reader}")]
        with ServerProxy(f"{served.url}/v1/xml-rpc", headers=headers) as proxy:
            assert proxy.triplewire.subscribe(CARS)
            assert fault(proxy.triplewire.publish, "", "https://x.example/").faultCode == 403
        assert served.post("/v1/xml-rpc", content=b"").status_code == 401
