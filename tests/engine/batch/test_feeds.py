"""Feeds in a hub: items that stay, change and go; every language; both stores (G4, X1)."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire import Hub, Publish, Retract, compile, evaluate, parse
from triplewire.model import Row

URI = "https://news.example/feed.xml"
PREFIXES = {
    "rss": "http://purl.org/rss/1.0/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
ITEM = """<item><guid>urn:item:{0}</guid><title>{1}</title><category>Water</category>
<pubDate>Mon, 02 Mar 2026 08:00:00 GMT</pubDate></item>"""


def rss(*items: tuple[int, str]) -> str:
    inside = "".join(ITEM.format(guid, escape(title)) for guid, title in items)
    return f'<rss version="2.0"><channel><title>News</title>{inside}</channel></rss>'


def told(outcome):
    return sorted((event.kind, event.subscription, str(event.row)) for event in outcome)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def hub(request, new_url):
    with Hub(new_url(request.param)) as found:
        yield found


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sparql", 'SELECT ?i { ?i a rss:item ; dc:subject "Water" ; rss:title ?t FILTER(CONTAINS(?t, "flood")) }'),
        ("sparql", 'SELECT ?i { ?i dcterms:issued ?d FILTER(?d > "2026-03-01T00:00:00Z"^^xsd:dateTime) }'),
        ("gql", "SELECT ?i WHERE (?i, dc:subject, Water), (?i, dcterms:isPartOf, <https://news.example/feed.xml>)"),
        ("rules", "search rss:item i register i where i.rss:title contains 'flood'"),
    ],
)
def test_every_language_hears_of_an_item(language, text):
    hub = Hub(":memory:")
    if language == "gql":
        text = text.replace("Water)", '"Water")')
    hub.subscribe(text, language=language, id="s", prefixes=PREFIXES)
    (event,) = hub.publish(rss((1, "A flood")), uri=URI)
    assert [term.value for term in event.row.values()] == ["urn:item:1"]
    (behind,) = event.documents
    assert behind.uri == f"{URI}#item=urn:item:1", "the document names the feed, and the item"


def test_items_stay_when_they_leave_the_window_and_go_when_they_are_dropped_or_retracted(hub):
    hub.subscribe("SELECT ?i ?t { ?i a rss:item ; rss:title ?t }", id="s", prefixes=PREFIXES)
    hub.publish(rss((1, "a"), (2, "b")), uri=URI)
    hub.publish("<urn:x> <urn:p> <urn:o> .", uri=URI + "x#item=1")
    assert told(hub.publish(rss((3, "c")), uri=URI)) == [("matched", "s", 'i = <urn:item:3>, t = "c"')]
    assert len(hub.rows("s")) == 3
    dropped = hub.publish(rss((3, "c"), (2, "b")), uri=URI, drop_missing=True)
    assert told(dropped) == [("unmatched", "s", 'i = <urn:item:1>, t = "a"')]
    assert [kind for kind, *_ in told(hub.retract(URI))] == ["unmatched", "unmatched"]
    assert [version.uri for version in hub.documents()] == [URI + "x#item=1"], "another document's uri only looks alike"


def test_a_change_of_an_item_is_told_and_nothing_of_the_others():
    hub = Hub(":memory:")
    hub.subscribe("SELECT ?i { ?i a rss:item }", id="s", prefixes=PREFIXES)
    hub.publish(rss((1, "a"), (2, "b")), uri=URI)
    (event,) = hub.publish(rss((2, "B"), (1, "a")), uri=URI)
    assert (event.kind, str(event.row)) == ("changed", "i = <urn:item:2>")


def test_who_subscribes_now_does_not_get_the_old_items_with_the_next_new_one():
    hub = Hub(":memory:")
    hub.publish(rss((1, "a"), (2, "b")), uri=URI)
    hub.subscribe("SELECT ?i { ?i a rss:item }", id="now", prefixes=PREFIXES)
    assert told(hub.publish(rss((3, "c"), (2, "b"), (1, "a")), uri=URI)) == [("matched", "now", "i = <urn:item:3>")]


def test_a_query_over_one_document_does_not_join_two_items_and_one_over_the_graph_does():
    hub = Hub(":memory:")
    pairs = "SELECT ?a ?b { ?a dc:subject ?s . ?b dc:subject ?s FILTER(?a != ?b) }"
    hub.subscribe(pairs, id="document", prefixes=PREFIXES)
    hub.subscribe(pairs, id="graph", scope="graph", prefixes=PREFIXES)
    assert {event.subscription for event in hub.publish(rss((1, "a"), (2, "b")), uri=URI)} == {"graph"}


def test_an_item_in_two_feeds_is_there_until_both_have_dropped_it():
    hub = Hub(":memory:")
    hub.subscribe("SELECT ?i ?t { ?i rss:title ?t ; a rss:item }", id="s", scope="graph", prefixes=PREFIXES)
    planet = "https://planet.example/feed"
    outcomes = [hub.publish(rss((1, "a")), uri=URI), hub.publish(rss((1, "a")), uri=planet)]
    outcomes += [hub.retract(URI), hub.retract(planet)]
    kinds = [[event.kind for event in outcome] for outcome in outcomes]
    assert kinds == [["matched"], ["changed"], ["changed"], ["unmatched"]], "what changes is which feeds it is part of"


def test_a_batch_of_a_feed_that_comes_again_changes_nothing():
    hub = Hub(":memory:")
    hub.subscribe("SELECT ?i { ?i a rss:item }", id="s", prefixes=PREFIXES)
    first = hub.publish(rss((1, "a")), uri=URI, batch="monday")
    assert told(hub.publish(rss((2, "b")), uri=URI, batch="monday")) == told(first)


def test_a_feed_that_comes_and_goes_in_one_batch_leaves_nothing():
    hub = Hub(":memory:")
    hub.subscribe("SELECT ?i { ?i a rss:item }", id="s", prefixes=PREFIXES)
    first, second = (parse(rss(item), uri=URI) for item in ((1, "a"), (2, "b")))
    assert list(hub.apply([Publish(first), Retract(URI)])) == []
    assert hub.documents() == []
    hub.apply([Publish(first), Publish(second, drop_missing=True)])
    assert [str(row) for row in hub.rows("s")] == ["i = <urn:item:2>"]


steps = st.lists(
    st.tuples(
        st.sampled_from(["publish", "publish", "drop", "retract"]),
        st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["a", "b", "c"])), max_size=4, unique_by=lambda i: i[0]),
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=examples(60))
@given(steps)
def test_the_rows_of_any_history_are_what_the_items_that_are_left_mean(history):
    """Recomputed: a dictionary of items is all that a feed is."""
    query = "SELECT ?i ?t { ?i a rss:item ; rss:title ?t }"
    hub = Hub(":memory:")
    hub.subscribe(query, id="s", prefixes=PREFIXES)
    left: dict[int, str] = {}
    for action, items in history:
        if action == "retract":
            left = {}
            hub.apply([Retract(URI)])
        else:
            left = ({} if action == "drop" else left) | dict(items)
            hub.apply([Publish(parse(rss(*items), uri=URI), drop_missing=action == "drop")])
    pattern = compile(query, language="sparql", prefixes=PREFIXES)
    expected = {Row(row) for row in evaluate(pattern, parse(rss(*left.items()), uri=URI).triples)}
    assert set(hub.rows("s")) == expected
    assert list(hub.check()) == []
    replayed: set[Row] = set()
    for event in hub.events("s"):
        replayed = replayed - {event.row} if event.kind == "unmatched" else replayed | {event.row}
    assert replayed == expected
