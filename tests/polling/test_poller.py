"""Feeds over real HTTP: conditional requests, moves, errors, limits, and a state that survives (G4)."""

from __future__ import annotations

import gzip
import time

import pytest

from polling.server import serving
from triplewire import Hub
from triplewire.polling import Poller, PollingManners, PollPace

ITEMS = "SELECT ?i ?t { ?i a <http://purl.org/rss/1.0/item> ; <http://purl.org/rss/1.0/title> ?t }"
EVERY = 100.0


def rss(*items):
    inside = "".join(f"<item><guid>urn:{guid}</guid><title>{title}</title></item>" for guid, title in items)
    return f'<rss version="2.0"><channel><title>News</title>{inside}</channel></rss>'


@pytest.fixture
def site():
    with serving() as found:
        yield found


@pytest.fixture
def hub(tmp_path):
    with Hub(f"sqlite:///{tmp_path}/hub.db") as found:
        found.subscribe(ITEMS, id="items")
        yield found


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(hub, clock):
    def make(**manners):
        options = {"pause": 0.0, "timeout": 5.0, "allow_private": True} | manners
        return Poller(hub, pace=PollPace(every=EVERY), manners=PollingManners(**options), clock=clock)

    return make


@pytest.fixture
def ask(make, clock):
    """Follow an address with a new poller, as after a restart, and ask once, when it is due."""

    def ask(url, **manners):
        poller = make(**manners)
        poller.follow([url])
        clock.now = max(clock.now, poller.next_time() or 0.0)
        (asked,) = poller.round()
        return asked

    return ask


def titles(asked):
    return [(event.kind, event.row["t"].value) for event in asked.events]


def test_new_items_are_published_and_a_304_brings_nothing(site, ask):
    site.put("/feed", rss((1, "a")), ETag='"1"')
    assert titles(ask(site.url("/feed"))) == [("matched", "a")]
    assert titles(ask(site.url("/feed"))) == []
    assert site.requests[1][1]["If-None-Match"] == '"1"'
    site.put("/feed", rss((2, "b"), (1, "a")), ETag='"2"')
    assert titles(ask(site.url("/feed"))) == [("matched", "b")]


def test_last_modified_is_asked_with_too(site, ask):
    stamp = "Mon, 02 Mar 2026 08:00:00 GMT"
    site.put("/feed", rss((1, "a")), Last_Modified=stamp)
    ask(site.url("/feed"))
    ask(site.url("/feed"))
    assert "If-Modified-Since" not in site.requests[0][1]
    assert site.requests[1][1]["If-Modified-Since"] == stamp


def test_a_feed_is_not_asked_before_it_is_due(site, make, clock):
    site.put("/feed", rss((1, "a")))
    poller = make()
    poller.follow([site.url("/feed")])
    assert len(list(poller.round())) == 1
    assert list(poller.round()) == []
    clock.now += EVERY - 1
    assert list(poller.round()) == []
    clock.now += 1
    assert len(list(poller.round())) == 1


def test_the_state_survives_a_restart(site, tmp_path, clock):
    site.put("/feed", rss((1, "a")), ETag='"1"')
    url = f"sqlite:///{tmp_path}/other.db"
    for _ in range(2):
        with Hub(url) as hub:
            poller = Poller(hub, pace=PollPace(every=EVERY), manners=PollingManners(allow_private=True), clock=clock)
            poller.follow([site.url("/feed")])
            (asked,) = poller.round()
            assert asked.problem == ""
            clock.now += EVERY
    assert site.requests[1][1]["If-None-Match"] == '"1"'
    assert len(site.requests) == 2


def test_a_permanent_move_is_remembered_and_the_document_keeps_its_uri(site, ask, hub):
    site.put("/old", status=301, Location="/new")
    site.put("/new", rss((1, "a")))
    assert titles(ask(site.url("/old"))) == [("matched", "a")]
    assert ask(site.url("/old")).feed.url == site.url("/new")
    assert [path for path, _ in site.requests] == ["/old", "/new", "/new"]
    assert site.url("/old") in [version.uri for version in hub.documents()]


def test_a_temporary_move_is_followed_and_forgotten(site, ask):
    site.put("/old", status=302, Location="/elsewhere")
    site.put("/elsewhere", status=301, Location="/new")
    site.put("/new", rss((1, "a")))
    assert titles(ask(site.url("/old"))) == [("matched", "a")]
    assert ask(site.url("/old")).feed.url == site.url("/old")


def test_redirects_in_a_circle_end(site, ask):
    site.put("/a", status=301, Location="/b")
    site.put("/b", status=301, Location="/a")
    asked = ask(site.url("/a"))
    assert "redirects" in asked.problem
    assert asked.feed.url == site.url("/a"), "a move that leads nowhere is not remembered"


@pytest.mark.parametrize(("status", "wait"), [(429, 5000), (503, 5000)])
def test_a_server_that_asks_to_wait_is_left_alone_for_so_long(site, ask, clock, status, wait):
    site.put("/feed", status=status, Retry_After=str(wait))
    asked = ask(site.url("/feed"))
    assert str(status) in asked.problem
    assert asked.feed.next_at == clock.now + wait


def test_errors_make_the_pauses_longer(site, ask, clock):
    pauses = []
    for _ in range(3):
        asked = ask(site.url("/none"))
        assert "404" in asked.problem
        pauses.append(asked.feed.next_at - clock.now)
    assert pauses == [2 * EVERY, 4 * EVERY, 8 * EVERY]
    site.put("/none", rss((1, "a")))
    assert ask(site.url("/none")).feed.failures == 0


def test_what_is_gone_is_asked_no_more_and_its_documents_stay(site, ask, make, hub):
    site.put("/feed", rss((1, "a")))
    ask(site.url("/feed"))
    site.put("/feed", status=410)
    assert "gone" in ask(site.url("/feed")).problem
    assert make().next_time() is None
    assert len(hub.rows("items")) == 1


def test_a_server_that_is_not_there_is_a_problem_and_nothing_more(ask):
    with serving() as closed:
        pass
    assert "cannot be asked" in ask(closed.url("/feed")).problem


def test_a_slow_answer_is_given_up(site, ask):
    def drip(request):
        request.send_response(200)
        request.send_header("Content-Length", "1000000")
        request.end_headers()
        for _ in range(200):
            request.wfile.write(b" ")
            request.wfile.flush()
            time.sleep(0.05)

    site.pages["/slow"] = drip
    assert "within 0.5 seconds" in ask(site.url("/slow"), timeout=0.5).problem


def test_a_body_without_end_is_given_up_at_the_limit(site, ask):
    sent = []

    def endless(request):
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b"x" * 10_000)
            sent.append(10_000)

    site.pages["/endless"] = endless
    assert "longer than 100000 bytes" in ask(site.url("/endless"), most_bytes=100_000).problem


def test_a_body_that_unpacks_without_end_is_given_up_at_the_limit(site, ask):
    site.put("/bomb", gzip.compress(b" " * 30_000_000, mtime=0), Content_Encoding="gzip")
    assert "longer than 100000 bytes" in ask(site.url("/bomb"), most_bytes=100_000).problem


def test_packed_bodies_are_unpacked(site, ask):
    site.put("/feed", gzip.compress(rss((1, "a")).encode()), Content_Encoding="gzip")
    assert titles(ask(site.url("/feed"))) == [("matched", "a")]
    assert site.requests[0][1]["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (gzip.compress(b"x" * 5000, mtime=0)[:-10], {"Content_Encoding": "gzip"}, "before it is whole"),
        (b"not gzip", {"Content_Encoding": "gzip"}, "cannot be unpacked"),
        (b"x", {"Content_Encoding": "br"}, "packed as br"),
        (b"<html><body>Please log in</body></html>", {"Content_Type": "text/html"}, "HTML page"),
        (rss((1, "a"))[:-20].encode(), {"Content_Type": "application/rss+xml"}, "cut off"),
        (b" \n", {}, "empty"),
    ],
)
def test_garbage_is_a_problem_of_this_feed(site, ask, hub, body, headers, words):
    site.put("/feed", body, ETag='"bad"', **headers)
    asked = ask(site.url("/feed"))
    assert words in asked.problem
    assert asked.feed.failures == 1
    assert asked.feed.etag == "", "it is asked for anew, not whether it changed"
    assert hub.rows("items") == []


def test_a_body_that_is_shorter_than_it_says_is_a_problem(site, ask):
    def cut(request):
        request.send_response(200)
        request.send_header("Content-Length", "5000")
        request.end_headers()
        request.wfile.write(rss((1, "a")).encode())
        request.close_connection = True

    site.pages["/cut"] = cut
    assert "cannot be asked" in ask(site.url("/cut")).problem


def test_one_bad_feed_does_not_stop_the_others(site, make):
    site.put("/good", rss((1, "a")))
    site.put("/bad", "garbage", Content_Type="text/html")
    poller = make()
    poller.follow([site.url("/bad"), site.url("/good"), site.url("/missing")])
    found = {asked.feed.url: asked for asked in poller.round()}
    assert titles(found[site.url("/good")]) == [("matched", "a")]
    assert found[site.url("/bad")].problem
    assert found[site.url("/missing")].problem


def test_one_host_is_asked_one_at_a_time_with_a_pause(site, make):
    def slowly(request):
        time.sleep(0.02)
        body = rss().encode()
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    for number in range(5):
        site.pages[f"/{number}"] = slowly
    poller = make(pause=0.01)
    poller.follow([site.url(f"/{number}") for number in range(5)])
    assert len(list(poller.round())) == 5
    assert site.most_open == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433"])
def test_a_private_machine_is_never_asked(site, ask, host):
    asked = ask(f"http://{host}:{site.port}/feed", allow_private=False)
    assert "not a public address" in asked.problem or "has no address" in asked.problem
    assert site.requests == []


def test_a_redirect_to_a_private_machine_is_not_followed(site, ask, monkeypatch):
    """The first name is taken for a public one; where it leads is not."""
    from triplewire.outbound import addresses

    site.put("/feed", status=302, Location=f"http://localhost:{site.port}/secret")
    site.put("/secret", rss((1, "classified")))
    verdicts = iter([True])
    monkeypatch.setattr(addresses, "is_public", lambda address: next(verdicts, False))
    asked = ask(site.url("/feed"), allow_private=False)
    assert "not a public address" in asked.problem
    assert [path for path, _ in site.requests] == ["/feed"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://x.example/", "javascript:1"])
def test_a_redirect_out_of_the_web_is_not_followed(site, ask, location):
    site.put("/feed", status=302, Location=location)
    assert ask(site.url("/feed")).problem
    assert len(site.requests) == 1


def test_only_addresses_of_the_web_can_be_followed(make):
    with pytest.raises(ValueError, match="http"):
        make().follow(["file:///etc/passwd"])


def test_a_feed_that_is_forgotten_is_asked_no_more(site, make):
    poller = make()
    poller.follow([site.url("/feed")])
    assert poller.forget(site.url("/feed"))
    assert not poller.forget(site.url("/feed"))
    assert list(poller.round()) == []
    assert site.requests == []


def test_what_breaks_the_schema_of_a_hub_that_lets_it_in_is_told(site, ask, hub):
    from triplewire import Schema, parse

    rule = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    rule += " <http://purl.org/rss/1.0/title> rdfs:range xsd:integer ."
    schema = Schema.from_triples(parse(rule, uri="urn:schema").triples)
    site.put("/feed", rss((1, "a")))
    hub.set_schema(schema, on_violation="warn")
    asked = ask(site.url("/feed"))
    assert titles(asked) == [("matched", "a")]
    assert "#item=urn:1" in " ".join(map(str, asked.others))
    hub.set_schema(schema, on_violation="refuse")
    site.put("/feed", rss((1, "b")))
    asked = ask(site.url("/feed"))
    assert (asked.problem, titles(asked)) == ("", []), "the item is refused, and not its feed"
    assert "breaks the schema" in " ".join(map(str, asked.others))
    assert [row["t"].value for row in hub.rows("items")] == ["a"]


def test_items_that_are_missing_are_dropped_only_if_asked(site, hub, clock):
    site.put("/feed", rss((1, "a"), (2, "b")))
    for drop, left in ((False, 2), (True, 1)):
        poller = Poller(hub, manners=PollingManners(allow_private=True), drop_missing=drop, clock=clock)
        poller.follow([site.url("/feed")])
        list(poller.round())
        site.put("/feed", rss((2, "b")))
        clock.now += 10_000
        list(poller.round())
        clock.now += 10_000
        assert len(hub.rows("items")) == left
