"""Feeds that somebody damaged: whatever the text, a document or a DocumentError comes out; markup is always safe."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from effort import examples
from triplewire import Document, DocumentError, Feed, parse
from triplewire.documents.feeds.hypertext import clean, text_of

SAMPLES = [path.read_bytes() for path in sorted((Path(__file__).parents[1] / "cases" / "feeds").iterdir())]
URI = "https://feeds.example/feed"
quiet = settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])

SPLINTERS = [
    b"<",
    b">",
    b"&",
    b"]]>",
    b"<![CDATA[",
    b"<!--",
    b"</item>",
    b"<item>",
    b"\x00",
    b"\xff",
    b'"',
    b"xmlns:a='b'",
]
SPLINTERS += [
    b"<!DOCTYPE rss [<!ENTITY a 'b'>]>",
    b"&a;",
    b"</rss>",
    b"<a:b/>",
    b"\xc3",
    b'xml:base="::"',
    b"</rdf:RDF>",
]


@quiet
@given(
    st.sampled_from(SAMPLES),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(SPLINTERS) | st.binary(max_size=8)), max_size=4
    ),
)
def test_a_damaged_feed_is_read_or_refused(sample, damages):
    for place, length, splinter in damages:
        at = int(place * len(sample))
        sample = sample[:at] + splinter + sample[at + length :]
    with suppress(DocumentError):
        found = parse(sample, uri=URI)
        assert isinstance(found, Document)
        if isinstance(found, Feed):
            assert all(etree.fromstring(part.xml) is not None for part in found.parts if part.xml)


names = st.text().filter(lambda name: name != "@context")  # which would make it JSON-LD
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["id", "url", "title", "content_html", "content_text", "summary", "date_published", "tags", "attachments"]
KEYS += ["authors", "author", "image", "language", "external_url"]


@quiet
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), values) | values, max_size=4), st.dictionaries(names, values))
def test_a_json_feed_with_values_of_any_kind_is_read(items, more):
    text = json.dumps({**more, "version": "https://jsonfeed.org/version/1.1", "items": items})
    feed = parse(text, uri=URI)
    assert isinstance(feed, Feed)
    assert len(feed.items) <= sum(isinstance(item, dict) for item in items)


tags = st.sampled_from(
    ["a", "b", "script", "img", "svg", "style", "iframe", "p", "x", "math", "form", "noscript", "title"]
)
attributes = st.sampled_from(["href", "src", "onclick", "style", "srcdoc", "formaction", "xlink:href", "title", "cite"])
addresses = st.sampled_from(
    ["javascript:x", "JAVA\tSCRIPT:x", "data:text/html,x", "/a", "http://x.example", "vbscript:x"]
)
pieces = st.one_of(
    st.builds("<{} {}='{}'>".format, tags, attributes, addresses),
    st.builds("</{}>".format, tags),
    st.sampled_from(["<", ">", "&lt;script>", "<!--", "-->", "<![CDATA[", "]]>", "'", '"', "text", "&#106;avascript:"]),
)


@quiet
@given(st.lists(pieces, max_size=12).map("".join))
def test_cleaned_markup_has_nothing_that_acts(markup):
    cleaned = clean(markup, "https://x.example/")
    tree = etree.fromstring(f"<html><body>{cleaned}</body></html>", etree.HTMLParser())
    for element in tree.find("body").iterdescendants():
        assert element.tag in ("a", "b", "img", "p")
        for name, value in element.attrib.items():
            assert name in ("href", "src", "title", "cite")
            assert name == "title" or value.startswith(("http://x.example", "https://x.example/"))
    assert clean(cleaned, "https://x.example/") == cleaned, "what is clean stays as it is"
    assert isinstance(text_of(markup), str)


@pytest.mark.parametrize(
    "markup",
    [
        "<a href='javascript:x'><x href='javascript:x'><a href='javascript:x'>",
        "<p><x><p>one</x></p>two",
        "&lt;script>x()&lt;/script>" * 3,
        "".join(f"<a><x{n}>" for n in range(40)),
    ],
    ids=["nested links", "nested paragraphs", "escaped", "deep"],
)
def test_what_is_clean_reads_as_itself(markup):
    cleaned = clean(markup, "https://x.example/")
    assert clean(cleaned, "https://x.example/") == cleaned
