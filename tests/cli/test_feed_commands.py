"""Feeds on the command line: match, publish, subscribe, and events as feeds (G4, X1)."""

import json
from pathlib import Path
from shutil import copy

import pytest
from lxml import etree

from triplewire import Feed, parse

SAMPLES = Path(__file__).resolve().parents[1] / "cases" / "feeds"
URI = "https://news.lindhaven.example/feed.xml"
ITEMS = """
PREFIX rss: <http://purl.org/rss/1.0/>
SELECT ?item ?title { ?item a rss:item ; rss:title ?title }
"""
PAIRS = """
PREFIX rss: <http://purl.org/rss/1.0/>
SELECT ?a ?b { ?a a rss:item . ?b a rss:item . FILTER(?a != ?b) }
"""


def rss(*items):
    inside = "".join(f"<item><guid>urn:{guid}</guid><title>{title}</title></item>" for guid, title in items)
    return f'<rss version="2.0"><channel><title>News</title>{inside}</channel></rss>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("items.rq").write_text(ITEMS)
    Path("feeds").mkdir()
    for sample in SAMPLES.iterdir():
        copy(sample, "feeds")
    return tmp_path


def told(result):
    return [(event["kind"], event["row"]["item"]) for event in map(json.loads, result.stdout.splitlines())]


def test_matching_takes_feeds_in_folders_as_it_takes_rdf(folder, call_for_rows):
    found = call_for_rows("match", "feeds", "-s", "items.rq")
    assert {Path(row["document"]).name for row in found} == {path.name for path in SAMPLES.iterdir()}
    assert '"Tea & cake at the harbour"' in {row["row"]["title"] for row in found}


def test_matching_looks_at_each_item_alone_as_a_hub_does(folder, call_for_rows):
    Path("pairs.rq").write_text(PAIRS)
    assert call_for_rows("match", "feeds/rss20.rss", "-s", "pairs.rq") == []


def test_matching_tells_a_row_that_several_items_give_once(folder, call_for_rows):
    Path("kinds.rq").write_text("SELECT ?kind { ?item a ?kind }")
    found = call_for_rows("match", "feeds/rss20.rss", "-s", "kinds.rq", "--why")
    assert len(found) == len({row["row"]["kind"] for row in found}) == 2
    assert all(row["why"] for row in found)


def test_items_that_leave_the_window_stay_and_changed_ones_are_updates(folder, call):
    call("subscribe", "hub.db", "items.rq")
    Path("news.rss").write_text(rss((1, "a"), (2, "b")))
    assert told(call("publish", "hub.db", "news.rss", "--uri", URI)) == [("matched", "<urn:1>"), ("matched", "<urn:2>")]
    Path("news.rss").write_text(rss((2, "B"), (3, "c")))
    events = told(call("publish", "hub.db", "news.rss", "--uri", URI))
    assert sorted(events) == [("matched", "<urn:2>"), ("matched", "<urn:3>"), ("unmatched", "<urn:2>")]
    assert told(call("publish", "hub.db", "news.rss", "--uri", URI)) == []
    Path("news.rss").write_text(rss((3, "c")))
    dropped = told(call("publish", "hub.db", "news.rss", "--uri", URI, "--drop-missing"))
    assert sorted(dropped) == [("unmatched", "<urn:1>"), ("unmatched", "<urn:2>")]
    assert told(call("retract", "hub.db", URI)) == [("unmatched", "<urn:3>")]


def test_a_relative_link_is_resolved_against_the_uri_that_is_given(folder, call, call_for_rows):
    call("publish", "hub.db", "feeds/rss20.rss", "--uri", URI, "--create")
    (row,) = call_for_rows("query", "hub.db", 'SELECT ?i { ?i <http://purl.org/rss/1.0/title> "Road works" }', "--json")
    assert row["i"] == "<https://news.lindhaven.example/2026/road>"
    links = call_for_rows("query", "hub.db", "SELECT ?l { ?i <http://purl.org/rss/1.0/link> ?l }", "--json")
    assert '"https://news.lindhaven.example/2026/tea"' in {row["l"] for row in links}


def test_subscriptions_in_a_feed_are_registered_only_when_asked(folder, call):
    query = "<title>GQL</title><guid>urn:q</guid><description>SELECT ?x WHERE (?x, Year, 2005)</description>"
    Path("ask.rss").write_text(rss((1, "a")).replace("</channel>", f"<item>{query}</item></channel>"))
    call("publish", "hub.db", "ask.rss", "--create")
    assert call("rows", "hub.db", "urn:q").exit_code == 1, "an item is only an item"
    result = call("publish", "other.db", "ask.rss", "--create", "--subscriptions", "-p", "=http://topss.example/")
    assert result.exit_code == 0, result.stderr
    assert call("rows", "other.db", "urn:q").exit_code == 0
    assert "urn:q" not in call("query", "other.db", "SELECT ?s { ?s ?p ?o }", "--json").stdout
    again = call("publish", "other.db", "ask.rss", "--subscriptions", "-p", "=http://topss.example/")
    assert again.exit_code == 0, "the same subscription again is no problem"


def test_a_feed_may_be_subscribed_to_as_a_file_of_subscriptions(folder, call):
    query = "<title>SPARQL</title><guid>urn:q</guid><description>SELECT ?x { ?x a ?y }</description>"
    Path("ask.rss").write_text(f'<rss version="2.0"><channel><item>{query}</item></channel></rss>')
    assert call("subscribe", "hub.db", "ask.rss").stdout == "urn:q\n"
    none = call("subscribe", "hub.db", "feeds/rss20.rss")
    assert none.exit_code == 1
    assert "no subscription is in it" in none.stderr


@pytest.mark.parametrize("format", ["atom", "rss1", "rss2", "jsonfeed"])
def test_events_are_printed_as_a_feed(folder, call, format):
    call("subscribe", "hub.db", "items.rq")
    Path("news.rss").write_text(rss((1, "a"), (2, "b & c")))
    call("publish", "hub.db", "news.rss")
    result = call("events", "hub.db", "items", "--format", format, "--uri", "https://hub.example/items")
    feed = parse(result.stdout, uri="https://hub.example/items")
    assert isinstance(feed, Feed)
    assert len(feed.items) == 2
    assert b'"b & c"' in feed.ntriples
    assert len(parse(call("events", "hub.db", "items", "-f", format, "--limit", "1").stdout, uri="urn:f").items) == 1


def test_a_feed_without_an_address_has_the_same_name_every_time(folder, call):
    call("subscribe", "hub.db", "items.rq")
    first, second = (call("events", "hub.db", "items", "-f", "atom").stdout for _ in range(2))
    assert first == second
    assert etree.fromstring(first.encode()).findtext("{*}id").startswith("urn:uuid:")


def test_an_item_that_breaks_the_schema_is_left_out_and_the_others_are_published(folder, call):
    from triplewire import Hub, Schema

    rule = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    rule += " <http://purl.org/rss/1.0/title> rdfs:range xsd:integer ."
    with Hub("sqlite:///hub.db") as hub:
        hub.set_schema(Schema.from_triples(parse(rule, uri="urn:schema").triples))
    Path("news.rss").write_text(rss((1, "12"), (2, "b")).replace("<title>News</title>", ""))
    result = call("publish", "hub.db", "news.rss", "--uri", URI)
    assert result.exit_code == 1
    assert "#item=urn:2" in result.stderr
    found = call("query", "hub.db", "SELECT ?i { ?i a <http://purl.org/rss/1.0/item> }", "--json").stdout
    assert [json.loads(line)["i"] for line in found.splitlines()] == ["<urn:1>"]


def test_a_feed_needs_an_absolute_address(folder, call):
    call("subscribe", "hub.db", "items.rq")
    assert call("events", "hub.db", "items", "-f", "atom", "--uri", "items.atom").exit_code == 2
