"""Every dialect of feed gives the same kinds of triples (G4, X1)."""

from __future__ import annotations

import pickle
import re

import pytest

from documents.feeds.samples import SAMPLES, URI, items, said, sample
from triplewire import Feed, parse


def test_an_rss_2_item_has_its_words_dates_people_subjects_and_files():
    tea, road, nameless = items(sample("rss20.rss"))
    assert tea == {
        "rdf:type": {"http://purl.org/rss/1.0/item"},
        "rss:title": {"Tea & cake at the harbour"},
        "rss:link": {"https://feeds.example/2026/tea"},
        "rss:description": {"The café opens at four."},
        "content:encoded": {'<p>All of it. <img src="https://feeds.example/folder/cake.jpg"></p>'},
        "dc:creator": {"Maja Lind"},
        "dc:subject": {"Food", "Harbour"},
        "dc:date": {"2026-03-02T08:00:00Z"},
        "dcterms:issued": {"2026-03-02T08:00:00Z"},
        "dcterms:identifier": {"lindhaven-17"},
        "dcterms:isPartOf": {URI},
        "dcterms:source": {"https://harbour.example/rss"},
        "schema:url": {"https://feeds.example/2026/tea"},
        "schema:associatedMedia": {"https://feeds.example/tea.mp3"},
        "schema:discussionUrl": {"https://news.lindhaven.example/2026/tea#comments"},
        "schema:commentCount": {"7"},
    }
    assert road["rss:description"] == {"Plain words only"}
    assert "content:encoded" not in road, "no markup, none made up"
    assert not {"dc:date", "dcterms:issued", "dcterms:modified"} & road.keys(), "no date, none made up"
    assert nameless.keys() == {"rdf:type", "rss:description", "dcterms:isPartOf"}


def test_a_file_of_an_item_says_what_it_is():
    about = said(sample("rss20.rss"), "https://feeds.example/tea.mp3")
    assert about["schema:encodingFormat"] == {"audio/mpeg"}
    assert about["schema:contentSize"] == {"12345"}


def test_the_channel_is_a_resource_of_its_own_document():
    feed = sample("rss20.rss")
    assert feed.channel.uri == URI
    assert said(feed.channel, URI) == {
        "rdf:type": {"http://purl.org/rss/1.0/channel"},
        "rss:title": {"Lindhaven News"},
        "rss:link": {"https://news.lindhaven.example/"},
        "rss:description": {"What happens in Lindhaven"},
        "dc:language": {"en-GB"},
        "dcterms:modified": {"2026-03-02T08:00:00Z"},
        "schema:url": {"https://news.lindhaven.example/"},
        "schema:image": {"https://feeds.example/folder/logo.png"},
    }


def test_an_atom_entry_has_the_same_and_its_own_base():
    room, bare = items(sample("atom.atom"))
    assert room == {
        "rdf:type": {"http://purl.org/rss/1.0/item"},
        "rss:title": {"En ny sal"},
        "rss:link": {"https://gallery.example/blog/2026/sal"},
        "rss:description": {"1 < 2 og <b>ikke</b> HTML"},
        "content:encoded": {'<p>Se <a href="https://gallery.example/blog/2026/kort">kortet</a>.</p>'},
        "dc:contributor": {"Nora"},
        "dc:subject": {"Nye rum"},
        "dc:language": {"da"},
        "dc:rights": {"CC BY"},
        "dc:date": {"2026-03-01T10:00:00Z"},
        "dcterms:issued": {"2026-03-01T10:00:00Z"},
        "dcterms:modified": {"2026-03-02T10:00:00Z"},
        "dcterms:identifier": {"tag:gallery.example,2026:1"},
        "dcterms:isPartOf": {URI},
        "dcterms:relation": {"https://gallery.example/blog/om"},
        "dcterms:license": {"https://creativecommons.org/licenses/by/4.0/"},
        "schema:url": {"https://gallery.example/blog/2026/sal"},
        "schema:associatedMedia": {"https://gallery.example/blog/2026/sal.jpg"},
    }
    assert "dcterms:modified" not in bare, "the thirtieth of February is no date"
    assert said(sample("atom.atom"), URI)["rss:title"] == {"Museum & galleri"}


def test_rss_1_keeps_every_triple_that_it_states_as_rdf():
    feed = sample("rss10.rdf", uri="https://library.example/feed.rdf")
    tides, sand = items(feed)
    assert tides["rss:title"] == {"Tides"}
    assert tides["rss:link"] == {"https://library.example/book/1?from=rss"}
    assert tides["ev:startdate"] == {"2026-04-01"}
    assert tides["dc:date"] == {"2026-02-03T04:05:06+01:00", "2026-02-03T03:05:06Z"}
    assert tides["dcterms:isPartOf"] == {"https://library.example/news"}
    assert '"Jonas"' in feed.items[0].ntriples.decode(), "and what it holds by a blank node"
    assert sand["rss:title"] == {"Sand"}
    assert feed.items[1].uri.endswith("#item=https://library.example/book/2"), "rdf:about is resolved"
    assert b"ns#_2> <https://library.example/book/2>" in feed.channel.ntriples, "also without its prefix"


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("rss090.rdf", ["First", "Second"]),
        ("rss091.xml", ["Café & bar"]),
        ("rss092.xml", ["One"]),
    ],
)
def test_older_dialects_are_read(name, titles):
    found = items(sample(name))
    assert [item["rss:title"] for item in found] == [{title} for title in titles]
    assert all(item["rdf:type"] == {"http://purl.org/rss/1.0/item"} for item in found)


def test_a_json_feed_has_the_same_and_no_xml():
    feed = sample("jsonfeed.json")
    late, plain = items(feed)
    assert late == {
        "rdf:type": {"http://purl.org/rss/1.0/item"},
        "rss:title": {"Late <again>"},
        "rss:link": {"https://feeds.example/today"},
        "rss:description": {"Late"},
        "content:encoded": {"<p>The 9:15 is <b>late</b>.</p>"},
        "dc:language": {"en"},
        "dc:subject": {"delay", "north"},
        "dc:date": {"2026-03-02T08:00:00Z"},
        "dcterms:issued": {"2026-03-02T08:00:00Z"},
        "dcterms:modified": {"2026-03-02T08:30:00Z"},
        "dcterms:identifier": {"41"},
        "dcterms:isPartOf": {URI},
        "schema:url": {"https://feeds.example/today"},
        "schema:image": {"https://feeds.example/folder/boat.jpg"},
        "schema:associatedMedia": {"https://feeds.example/folder/plan.pdf"},
    }
    assert plain["rss:description"] == {"1 < 2 & <b>so</b> on"}
    assert said(feed, URI)["dc:creator"] == {"Omar"}
    assert {part.xml for part in (feed, *feed.parts)} == {b""}


def test_json_ld_that_speaks_of_json_feed_is_json_ld():
    text = '{"@context": {"v": "urn:v"}, "@id": "urn:a", "v": "https://jsonfeed.org/version/1"}'
    assert not isinstance(parse(text, uri="urn:doc"), Feed)


@pytest.mark.parametrize("media_type", ["application/rss+xml", "text/xml", "text/html", "text/plain", None])
def test_a_feed_is_known_by_its_text_whatever_it_is_called(media_type):
    raw = (SAMPLES / "rss20.rss").read_bytes()
    assert isinstance(parse(raw, uri="https://feeds.example/index.html", media_type=media_type), Feed)


@pytest.mark.parametrize("name", ["rss20.rss", "atom.atom", "rss10.rdf", "rss090.rdf", "rss092.xml", "broken.rss"])
def test_every_part_of_an_xml_feed_has_its_own_xml_at_the_same_path(name):
    from lxml import etree

    feed = sample(name)
    path = "//*[local-name() = 'item' or local-name() = 'entry']"
    whole = etree.fromstring(feed.xml)
    tree = whole.getroottree()
    assert len(feed.items) == len(whole.xpath(path)) > 0
    for item, element in zip(feed.items, whole.xpath(path), strict=True):
        (alone,) = etree.fromstring(item.xml).xpath(path)
        steps = [ancestor.tag for ancestor in alone.iterancestors()]
        assert steps == [ancestor.tag for ancestor in element.iterancestors()], tree.getpath(element)
        assert "".join(alone.itertext()) == "".join(element.itertext())
    assert etree.fromstring(feed.channel.xml).xpath(path) == []


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_parts_state_what_the_whole_states(path):
    """Invariant of `model.feed`: each triple of a feed is in its channel or in an item."""
    feed = sample(path.name)
    stated = [{re.sub(rb"_:\w+", b"_:", line) for line in one.ntriples.split(b"\n")} for one in (feed, *feed.parts)]
    assert stated[0] == set().union(*stated[1:])
    assert len({part.uri for part in feed.parts}) == 1 + len(feed.items)


def test_rdf_that_only_declares_the_namespace_of_rss_is_rdf():
    text = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:dct="http://purl.org/dc/terms/"><rdf:Description rdf:about="urn:a"><dct:title>A</dct:title>
        </rdf:Description></rdf:RDF>"""
    document = parse(text, uri=URI)
    assert not isinstance(document, Feed)
    assert len(document) == 1


def test_rss_1_without_a_channel_keeps_its_triples():
    text = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:x="urn:x#"><item rdf:about="urn:a"><title>A</title><x:more>B</x:more></item>
        <rdf:Description rdf:about="urn:other"><x:more>C</x:more></rdf:Description></rdf:RDF>"""
    feed = parse(text, uri=URI)
    assert isinstance(feed, Feed)
    assert b'<urn:x#more> "B"' in feed.items[0].ntriples
    assert b'<urn:x#more> "C"' in feed.channel.ntriples


def test_a_feed_survives_pickling():
    feed = sample("rss20.rss")
    assert pickle.loads(pickle.dumps(feed)) == feed
