"""The feed of a subscription over HTTP: every syntax is read by a feed reader's library; conditions, pages, links."""

from __future__ import annotations

import json

import feedparser
import pytest

from hub.serving import problem, serving

KINDS = {
    "application/atom+xml": ("atom", "atom10"),
    "application/rss+xml": ("rss2", "rss20"),
    "application/rdf+xml": ("rss1", "rss10"),
}


@pytest.fixture(scope="module")
def fed(tmp_path_factory):
    """A server with five events of a subscription."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('fed')}/hub.db", deliver=False) as client:
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        for number in range(5):
            client.publish(f"urn:doc:{number}", f"<urn:d{number}> <urn:size> {number} .")
        yield client


@pytest.mark.parametrize("media_type", KINDS)
def test_a_reader_understands_what_it_asks_for(fed, media_type):
    syntax, version = KINDS[media_type]
    answer = fed.get("/v1/subscriptions/sizes/feed", headers={"Accept": media_type})
    assert answer.headers["content-type"].startswith(media_type)
    feed = feedparser.parse(answer.content)
    assert not feed.bozo
    assert feed.version == version
    assert len(feed.entries) == 5
    assert fed.get("/v1/subscriptions/sizes/feed", params={"syntax": syntax}).status_code == 200


def test_json_feed_names_its_hub(fed):
    told = fed.get("/v1/subscriptions/sizes/feed", headers={"Accept": "application/feed+json"}).json()
    assert told["hubs"] == [{"type": "WebSub", "url": f"{fed.url}/v1/websub"}]
    assert [item["id"].rpartition("-")[2] for item in told["items"]] == ["5", "4", "3", "2", "1"]


def test_links_lead_to_the_hub_to_itself_and_to_older_events(fed):
    place = f"{fed.url}/v1/subscriptions/sizes/feed"
    first = fed.get("/v1/subscriptions/sizes/feed", params={"limit": 2, "syntax": "json"})
    links = {each["rel"]: each["url"] for each in first.links.values()}
    assert links["self"].startswith(place)
    assert links["hub"] == f"{fed.url}/v1/websub"
    pages = [first.json()]
    while "next_url" in pages[-1]:
        pages.append(fed.get(pages[-1]["next_url"]).json())
    found = [item["id"].rpartition("-")[2] for page in pages for item in page["items"]]
    assert found == ["5", "4", "3", "2", "1"]


def test_what_is_known_is_not_sent_again_until_something_happens(fed):
    fed.subscribe("weights", "SELECT ?d ?n { ?d <urn:weight> ?n }")
    fed.publish("urn:doc:8", "<urn:d8> <urn:weight> 8 .")
    first = fed.get("/v1/subscriptions/weights/feed")
    by_tag, by_time = {"If-None-Match": first.headers["etag"]}, {"If-Modified-Since": first.headers["last-modified"]}
    for known in (by_tag, by_time):
        assert fed.get("/v1/subscriptions/weights/feed", headers=known).status_code == 304
    other = fed.get("/v1/subscriptions/weights/feed", headers=by_tag | {"Accept": "application/rss+xml"})
    assert other.status_code == 200
    fed.publish("urn:doc:9", "<urn:d9> <urn:weight> 9 .")
    assert fed.get("/v1/subscriptions/weights/feed", headers=by_tag).status_code == 200


def test_an_empty_feed_is_a_feed(fed):
    fed.subscribe("none", "SELECT ?d { ?d <urn:nothing> ?n }")
    assert not feedparser.parse(fed.get("/v1/subscriptions/none/feed").content).bozo
    problem(fed.get("/v1/subscriptions/nobody/feed"), 404)
    problem(fed.get("/v1/subscriptions/none/feed", headers={"Accept": "image/png"}), 406)


def test_the_inbox_is_found_by_its_link_and_has_every_notification(fed):
    link = fed.get("/v1/subscriptions/sizes").links["http://www.w3.org/ns/ldp#inbox"]["url"]
    inbox = fed.get(link)
    assert inbox.headers["content-type"] == "application/ld+json"
    told = inbox.json()
    assert told["@id"] == f"{fed.url}{link}"
    notes = [fed.get(url).json() for url in told["contains"]]
    assert [note["id"] for note in notes] == told["contains"]
    assert [note["object"] for note in notes] == [f"urn:d{number}" for number in range(5)]
    assert {note["type"] for note in notes} == {"Add"}
    problem(fed.get(f"{link}/99"), 404)
    assert json.dumps(notes)


def test_the_inbox_comes_in_pages(fed):
    first = fed.get("/v1/subscriptions/sizes/inbox", params={"limit": 3})
    second = fed.get(first.links["next"]["url"])
    found = first.json()["contains"] + second.json()["contains"]
    assert len(found) == 5
    assert "next" not in second.links
