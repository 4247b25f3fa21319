"""One bad document, by every way in: the others are applied, and the bad one is told with its reason.

Where a publisher asked for all or nothing, nothing is applied, and the reason is told as well.
"""

from __future__ import annotations

from itertools import count

import pytest
from tests.contracts import ways_in
from tests.contracts.ways_in import Sent

from triplewire import Schema, parse

BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
ONCE = """
PREFIX schema: <urn:triplewire:schema#>
<urn:once> schema:maximum 1 .
<http://purl.org/dc/elements/1.1/subject> schema:maximum 1 .
"""
NUMBERS = count(1)
DEEP = 300

BAD = {
    "cycle": (f"<urn:{{0}}:B> {BELOW} <urn:{{0}}:A> .", "cycle"),
    "schema": ("<urn:{0}> <urn:once> 1, 2 .", "breaks the schema"),
    "limit": (f"<urn:{{0}}> <urn:p> {'[ <urn:p> ' * DEEP}1{' ]' * DEEP} .", "nested deeper than"),
    "unreadable": ("this is no Turtle", "not Turtle"),
}
"""What a bad document says, and what is said of it."""


SLOW = {ways_in.streamed: ["spark"], ways_in.streamed_files: ["spark"], ways_in.messages: ["broker", "jars"]}
"""The ways by Spark, and the fixtures that they need; tests/pipeline has a part of this that is quick."""


@pytest.fixture(
    scope="module",
    params=[*ways_in.QUICK, *(pytest.param(way, marks=pytest.mark.slow) for way in SLOW)],
    ids=lambda way: way.__name__,
)
def way(request, tmp_path_factory):
    """A way into a hub that has a schema; one hub for all documents that are sent by it."""
    needed = [request.getfixturevalue(name) for name in SLOW.get(request.param, ())]
    with request.param(tmp_path_factory.mktemp(request.param.__name__), *needed) as found:
        found.hub.set_schema(Schema.from_triples(parse(ONCE, uri="urn:schema", media_type="text/turtle").triples))
        yield found


@pytest.mark.parametrize("kind", BAD)
def test_one_bad_document_is_refused_alone_and_told_with_its_reason(way, kind):
    number = next(NUMBERS)
    way.hub.publish(f"<urn:{number}:A> {BELOW} <urn:{number}:B> .", uri=f"urn:classes:{number}")
    content, reason = BAD[kind]
    names = [f"{number}-{name}.ttl" for name in ("first", "bad", "second", "third")]
    texts = [f"<urn:{name}> <urn:once> 1 ." for name in names]
    texts[1] = content.format(number)
    told = way.send([Sent(name, text) for name, text in zip(names, texts, strict=True)])
    there = [way.hub.document(way.uri(name)) is not None for name in names]
    (said,) = told.values()
    assert reason in said
    if way.is_whole:
        assert there == [False] * 4
        return
    assert there == [True, False, True, True]
    assert told.keys() == {way.uri(names[1])}


def test_one_bad_item_of_a_feed_is_refused_alone_and_told_with_its_reason(way):
    """An item is a document of its own."""
    number = next(NUMBERS)
    items = "".join(
        f"<item><guid>urn:{number}:{name}</guid><title>{name}</title><category>a</category>{more}</item>"
        for name, more in (("one", ""), ("two", "<category>b</category>"), ("three", ""))
    )
    feed = f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
    name = f"{number}.rss"
    told = way.send([Sent(name, feed, "application/rss+xml")])
    uris = [f"{way.uri(name)}#item=urn:{number}:{item}" for item in ("one", "two", "three")]
    there = [way.hub.document(uri) is not None for uri in uris]
    (said,) = told.values()
    assert "breaks the schema" in said
    if way.whole_feeds:
        assert there == [False] * 3
        return
    assert there == [True, False, True]
    assert uris[1] in said
