"""Events as feeds: what strict readers demand, and that what is written can be read back (G4)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path

import atoma
import feedparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from pyoxigraph import Literal, NamedNode, Triple

import triplewire
from effort import examples
from triplewire import Feed, Hub, feeds, parse
from triplewire.model import EVENTS, Behind, Changed, Event, Matched, Unmatched

URI = "https://hub.example/maja.feed"
ATOM = "{http://www.w3.org/2005/Atom}"
AT = "{http://purl.org/atompub/tombstones/1.0}"
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
START = datetime(2026, 3, 2, tzinfo=UTC)
TITLE = NamedNode("http://purl.org/dc/terms/title")
GRAMMAR = etree.RelaxNG(etree.parse(Path(__file__).with_name("atom.rng")))


def event(kind: type[Event], cursor: int, resource: str = "https://x.example/1", title: str | None = "One") -> Event:
    node = NamedNode(resource)
    about = () if title is None else (Triple(node, TITLE, Literal(title)),)
    return kind(
        "maja",
        {"d": node},
        f"b{cursor}",
        cursor,
        START + timedelta(minutes=cursor),
        triples=about,
        documents=(Behind("https://x.example/doc", None, 1),),
        before=about,
        after=about,
    )


def atom(*events: Event, **options) -> etree._Element:
    return etree.fromstring(feeds.atom(events, uri=URI, title="Maja", **options))


def check_atom(feed: etree._Element) -> None:
    """What RFC 4287 (4.1.1, 4.1.2) and RFC 6721 (3) demand of what is written here: by grammar, and in words."""
    assert GRAMMAR.validate(feed), GRAMMAR.error_log
    assert feed.tag == ATOM + "feed"
    for name in ("id", "title", "updated", "author"):
        assert len(feed.findall(ATOM + name)) == 1, name
    assert feed.find(f"{ATOM}author/{ATOM}name").text
    NamedNode(feed.findtext(ATOM + "id"))
    assert DATE.fullmatch(feed.findtext(ATOM + "updated"))
    links = [(link.get("rel"), link.get("type")) for link in feed.findall(ATOM + "link")]
    assert len(links) == len(set(links))
    ids = [entry.findtext(ATOM + "id") for entry in feed.findall(ATOM + "entry")]
    assert len(ids) == len(set(ids))
    for entry in feed.findall(ATOM + "entry"):
        for name in ("id", "title", "updated", "content"):
            assert len(entry.findall(ATOM + name)) == 1, name
        NamedNode(entry.findtext(ATOM + "id"))
        assert DATE.fullmatch(entry.findtext(ATOM + "updated"))
        assert all(category.get("term") for category in entry.findall(ATOM + "category"))
    for deleted in feed.findall(AT + "deleted-entry"):
        NamedNode(deleted.get("ref"))
        assert deleted.get("ref") not in ids
        assert DATE.fullmatch(deleted.get("when"))


def test_atom_has_an_entry_for_each_row_with_its_title_and_link():
    feed = atom(event(Matched, 1), event(Matched, 2, "https://x.example/2", "Two"))
    check_atom(feed)
    assert [entry.findtext(ATOM + "title") for entry in feed.findall(ATOM + "entry")] == ["Two", "One"], "newest first"
    assert feed.find(f"{ATOM}entry/{ATOM}link").get("href") == "https://x.example/2"
    assert feed.findtext(ATOM + "updated") == "2026-03-02T00:02:00.000Z"
    assert feed.find(f"{ATOM}link[@rel='self']").get("href") == URI


def test_a_change_is_a_new_version_of_the_same_entry():
    (before,) = atom(event(Matched, 1)).findall(ATOM + "entry")
    (after,) = atom(event(Matched, 1), event(Changed, 2, title="One!")).findall(ATOM + "entry")
    assert after.findtext(ATOM + "id") == before.findtext(ATOM + "id")
    assert after.findtext(ATOM + "title") == "One!"
    assert after.findtext(ATOM + "updated") > before.findtext(ATOM + "updated")


def test_what_matches_no_more_is_a_tombstone_of_its_entry():
    (entry,) = atom(event(Matched, 1)).findall(ATOM + "entry")
    feed = atom(event(Matched, 1), event(Unmatched, 2))
    check_atom(feed)
    assert feed.findall(ATOM + "entry") == []
    (deleted,) = feed.findall(AT + "deleted-entry")
    assert deleted.get("ref") == entry.findtext(ATOM + "id")
    assert deleted.get("when") == "2026-03-02T00:02:00.000Z"


def test_what_matches_again_is_an_entry_again():
    feed = atom(event(Matched, 1), event(Unmatched, 2), event(Matched, 3))
    assert len(feed.findall(ATOM + "entry")) == 1
    assert feed.findall(AT + "deleted-entry") == []


def test_a_feed_without_events_is_a_feed():
    check_atom(atom())
    assert atom(updated="2026-03-02T01:00:00+01:00").findtext(ATOM + "updated") == "2026-03-02T00:00:00.000Z"
    for write in (feeds.rss1, feeds.rss2, feeds.json_feed):
        assert parse(write([], uri=URI, title="Maja"), uri=URI).items == ()


def test_rss_2_has_what_it_must_and_says_what_ended():
    written = feeds.rss2([event(Matched, 1), event(Unmatched, 2)], uri=URI, title="Maja")
    channel = etree.fromstring(written).find("channel")
    assert all(channel.findtext(name) for name in ("title", "link", "description", "lastBuildDate"))
    items = channel.findall("item")
    assert [item.findtext("title") for item in items] == ["No longer matches: One", "One"]
    assert [item.findtext("guid") for item in items] == [f"{URI}#event-2", f"{URI}#event-1"]
    assert {item.find("guid").get("isPermaLink") for item in items} == {"false"}
    assert parsedate_to_datetime(items[0].findtext("pubDate")) == START + timedelta(minutes=2)
    assert items[0].findtext("pubDate").endswith("GMT")


def test_rss_1_is_rdf_and_lists_its_items_in_order():
    written = feeds.rss1([event(Matched, 1), event(Changed, 2)], uri=URI, title="Maja")
    feed = parse(written, uri=URI)
    assert isinstance(feed, Feed)
    text = feed.ntriples.decode()
    assert f"ns#_1> <{URI}#event-2>" in text
    assert f'<{URI}#event-2> <http://purl.org/rss/1.0/title> "Changed: One"' in text


def test_a_json_feed_has_what_it_must():
    found = json.loads(feeds.json_feed([event(Changed, 1)], uri=URI, title="Maja"))
    assert found["version"] == "https://jsonfeed.org/version/1.1"
    assert found["title"] == "Maja"
    assert found["feed_url"] == URI
    (item,) = found["items"]
    assert item["id"] == f"{URI}#event-1"
    assert item["title"] == "Changed: One"
    assert item["content_text"]
    assert DATE.fullmatch(item["date_published"])


@pytest.mark.parametrize("write", [feeds.atom, feeds.rss1, feeds.rss2, feeds.json_feed])
def test_a_resource_without_a_title_is_told_as_its_row(write):
    written = write([event(Matched, 1, title=None)], uri=URI, title="Maja").decode()
    assert "d = &lt;https://x.example/1&gt;" in written or "d = <https://x.example/1>" in written


@pytest.mark.parametrize("write", [feeds.atom, feeds.rss1, feeds.rss2, feeds.json_feed])
def test_a_relative_address_is_refused(write):
    with pytest.raises(ValueError, match="absolute"):
        write([], uri="maja.xml", title="Maja")


texts = st.text(min_size=1, max_size=40)
iris = st.integers(0, 5).map(lambda number: f"https://x.example/{number}")
histories = st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), iris, texts), max_size=8)


def read_back(written: bytes) -> list[tuple[str, str]]:
    found = feedparser.parse(BytesIO(written), sanitize_html=False, resolve_relative_uris=False)
    assert not found.bozo, found.get("bozo_exception")
    return [(entry.id, entry.get("title", "")) for entry in found.entries]


def is_plain(title: str) -> bool:
    """feedparser guesses at HTML in RSS, and at letters that were encoded twice: not of titles such as these."""
    return title.isascii() and title.isprintable() and not set("<>&") & set(title)


@settings(deadline=None)
@given(histories)
def test_a_reader_reads_back_the_ids_and_titles_of_all_events(history):
    told = [event(EVENTS[kind], n, iri, title) for n, (kind, iri, title) in enumerate(history, start=1)]
    entries = [
        (f"{URI}#event-{n}", kind, " ".join(title.split())) for n, (kind, _, title) in enumerate(history, start=1)
    ][::-1]
    for write in (feeds.rss1, feeds.rss2):
        found = read_back(write(told, uri=URI, title="Maja"))
        assert [id for id, _ in found] == [id for id, _, _ in entries]
        for (_, read), (_, kind, title) in zip(found, entries, strict=True):
            if is_plain(title) and title:
                assert read == {"changed": "Changed: ", "unmatched": "No longer matches: "}.get(kind, "") + title
    items = json.loads(feeds.json_feed(told, uri=URI, title="Maja"))["items"]
    assert [item["id"] for item in items] == [id for id, _, _ in entries]


@settings(deadline=None)
@given(histories)
def test_a_reader_of_atom_sees_the_rows_that_are_there_at_the_end(history):
    told = [event(EVENTS[kind], n, iri, title) for n, (kind, iri, title) in enumerate(history, start=1)]
    last = {iri: (kind, " ".join(title.split())) for kind, iri, title in history}
    written = feeds.atom(told, uri=URI, title="Maja")
    feed = etree.fromstring(written)
    check_atom(feed)
    links = {entry.find(ATOM + "link").get("href") for entry in feed.findall(ATOM + "entry")}
    assert links == {iri for iri, (kind, _) in last.items() if kind != "unmatched"}
    assert len(feed.findall(AT + "deleted-entry")) == len(last) - len(links)
    assert len(read_back(written)) == len(links)


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("<id>https://hub.example/maja.feed</id>", ""),
        ("<title>Maja</title>", "<title>Maja</title><title>Maja</title>"),
        ("<updated>2026-", "<updated>soon, 2026-"),
        ('<category term="matched"/>', "<category/>"),
        ('<content type="text">', '<content type="markdown">'),
        ("<entry>", "<entry><subtitle>x</subtitle>"),
        ("<name>Triplewire</name>", ""),
        (' ref="', ' reference="'),
    ],
)
def test_the_grammar_of_atom_refuses_what_is_none(part, broken):
    """So that it says something when it accepts."""
    written = feeds.atom(
        [event(Matched, 1), event(Unmatched, 2, "https://x.example/2")], uri=URI, title="Maja"
    ).decode()
    assert part in written
    assert not GRAMMAR.validate(etree.fromstring(written.replace(part, broken, 1).encode()))


@settings(deadline=None, max_examples=examples(40))
@given(histories)
def test_a_strict_reader_accepts_every_form(history):
    """atoma refuses a feed that lacks what its format demands; a text that is not there is no title to it."""
    told = [event(EVENTS[kind], n, iri, title or "-") for n, (kind, iri, title) in enumerate(history, start=1)]
    written = {write: write(told, uri=URI, title="Maja") for write in (feeds.atom, feeds.rss2)}
    found = atoma.parse_atom_bytes(written[feeds.atom])
    assert (found.id_, found.title.value) == (URI, "Maja")
    assert len(found.entries) == len({iri for _, iri, _ in history}) - len(deleted(written[feeds.atom]))
    items = atoma.parse_rss_bytes(written[feeds.rss2]).items
    assert [item.guid for item in items] == [f"{URI}#event-{each.cursor}" for each in told[::-1]]
    json_items = atoma.parse_json_feed_bytes(feeds.json_feed(told, uri=URI, title="Maja")).items
    assert [item.id_ for item in json_items] == [item.guid for item in items]


def deleted(written: bytes) -> list[etree._Element]:
    return etree.fromstring(written).findall(AT + "deleted-entry")


def test_a_node_of_xml_whose_text_changes_is_a_new_version_of_the_same_entry():
    uri = "https://x.example/menu.xml"
    with Hub(":memory:") as hub:
        hub.subscribe("/menu/wine", language="xpath", id="wine")
        hub.publish("<menu><wine>red</wine></menu>", uri=uri)
        hub.publish("<menu><wine>white</wine></menu>", uri=uri)
        (entry,) = (feed := atom_of(hub)).findall(ATOM + "entry")
        check_atom(feed)
        assert "white" in entry.findtext(ATOM + "content")
        hub.retract(uri)
        (gone,) = (feed := atom_of(hub)).findall(AT + "deleted-entry")
        check_atom(feed)
        assert gone.get("ref") == entry.findtext(ATOM + "id")
        assert feed.find(ATOM + "entry") is None


def atom_of(hub: Hub) -> etree._Element:
    told = feeds.atom(hub.events("wine"), uri=URI, title="Wine")
    return etree.fromstring(told)


@settings(deadline=None)
@given(texts)
def test_any_characters_can_be_told(title):
    for write in (feeds.atom, feeds.rss1, feeds.rss2):
        etree.fromstring(write([event(Matched, 1, title=title)], uri=URI, title=title))
    json.loads(feeds.json_feed([event(Matched, 1, title=title)], uri=URI, title=title))


def test_the_events_of_a_hub_become_a_feed_that_another_hub_can_follow():
    """A subscription is a feed, and a feed is a document: hubs can follow each other."""
    hub, other = Hub(":memory:"), Hub(":memory:")
    hub.subscribe("SELECT ?d { ?d <http://purl.org/dc/terms/title> ?t }", id="all")
    other.subscribe("SELECT ?i ?t { ?i <http://purl.org/rss/1.0/title> ?t ; a <http://purl.org/rss/1.0/item> }", id="r")
    hub.publish('<https://x.example/1> <http://purl.org/dc/terms/title> "Rain" .', uri="https://x.example/doc")
    told = hub.events("all")
    written = triplewire.feeds.rss2(told, uri=URI, title="All")
    assert [each.row["t"].value for each in other.publish(written, uri=URI)] == ["Rain"]
    assert list(other.publish(written, uri=URI)) == []
