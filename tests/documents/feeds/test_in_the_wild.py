"""Feeds as they occur in the wild: names, repetitions, encodings, broken text, and what is refused."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree

from documents.feeds.samples import SAMPLES, URI, items, said, sample
from triplewire import DocumentError, DocumentTooLarge, Feed, Limits, parse


def rss(*items: str, head: str = "") -> str:
    inside = head + "".join(f"<item>{item}</item>" for item in items)
    return f'<rss version="2.0"><channel><title>F</title>{inside}</channel></rss>'


def read(text: str | bytes, **options) -> Feed:
    found = parse(text, uri=URI, **options)
    assert isinstance(found, Feed)
    return found


def uris(feed: Feed) -> list[str]:
    return [item.uri.removeprefix(URI) for item in feed.items]


def titles(feed: Feed) -> list[set[str]]:
    return [item.get("rss:title", set()) for item in items(feed)]


class TestNames:
    """Which item is which."""

    def test_a_guid_names_an_item_before_its_link(self):
        feed = read(rss("<guid>https://x.example/?p=1</guid><link>https://x.example/one</link>"))
        assert uris(feed) == ["#item=https://x.example/?p=1"]
        assert said(feed, "https://x.example/?p=1")["rss:link"] == {"https://x.example/one"}

    def test_a_guid_that_is_no_address_is_a_name_under_the_feed(self):
        feed = read(rss('<guid isPermaLink="false">story 5 #ü</guid>', "<guid>77</guid>"))
        assert uris(feed) == ["#item=story%205%20%23%C3%BC", "#item=77"]
        assert said(feed, f"{URI}#item=77")["dcterms:identifier"] == {"77"}

    def test_a_link_names_an_item_without_a_guid(self):
        assert uris(read(rss("<link>https://x.example/1</link>"))) == ["#item=https://x.example/1"]

    def test_a_link_that_several_share_names_none_of_them(self):
        feed = read(rss(*(f"<title>{n}</title><link>https://x.example/</link>" for n in range(3))))
        assert len(set(uris(feed))) == 3
        assert all(uri.startswith("#item=sha256-") for uri in uris(feed))

    def test_the_page_of_the_feed_names_no_item(self):
        feed = read(rss("<title>A</title><link>https://x.example/</link>", head="<link>https://x.example/</link>"))
        assert uris(feed)[0].startswith("#item=sha256-")

    def test_what_nothing_names_has_the_same_name_as_long_as_it_says_the_same(self):
        first, again = read(rss("<title>A</title>", "<title>B</title>")), read(rss("<title>B</title>"))
        assert uris(first)[1:] == uris(again)
        assert uris(read(rss("<title>B!</title>"))) != uris(again)

    def test_a_name_too_long_for_a_database_is_shortened(self):
        (item,) = read(rss(f"<guid>{'x' * 5000}</guid>")).items
        assert len(item.uri) < 600

    def test_of_an_item_that_is_there_twice_the_newest_counts(self):
        dated = [
            f"<guid>urn:a</guid><title>{day}</title><pubDate>{day} Mar 2026 10:00 GMT</pubDate>" for day in (3, 5, 4)
        ]
        assert titles(read(rss(*dated))) == [{"5"}]
        assert titles(read(rss("<guid>urn:a</guid><title>top</title>", "<guid>urn:a</guid>"))) == [{"top"}]


class TestEncodings:
    """Bytes that are in another encoding than they say."""

    @pytest.mark.parametrize(
        ("declared", "actual"),
        [
            ("utf-8", "utf-8"),
            ("iso-8859-1", "iso-8859-1"),
            ("iso-8859-1", "utf-8"),
            ("us-ascii", "utf-8"),
            ("utf-8", "windows-1252"),
            ("us-ascii", "windows-1252"),
            ("windows-1252", "windows-1252"),
            ("utf-16", "utf-16"),
        ],
    )
    def test_letters_are_read_as_they_were_meant(self, declared, actual):
        text = f'<?xml version="1.0" encoding="{declared}"?>' + rss(
            "<guid>urn:1</guid><title>Smørrebrød på café</title>"
        )
        assert titles(read(text.encode(actual))) == [{"Smørrebrød på café"}]

    def test_quotes_of_windows_are_quotes_though_the_text_says_latin(self):
        text = '<?xml version="1.0" encoding="iso-8859-1"?>' + rss("<guid>urn:1</guid><title>“Late”</title>")
        assert titles(read(text.encode("windows-1252"))) == [{"“Late”"}]

    def test_text_that_was_encoded_twice_is_decoded_twice(self):
        twice = "Smørrebrød".encode().decode("latin-1")
        assert titles(read(rss(f"<guid>urn:1</guid><title>{twice}</title>"))) == [{"Smørrebrød"}]

    def test_the_media_type_says_the_encoding_before_the_text_does(self):
        text = rss("<guid>urn:1</guid><title>Привет</title>").encode("koi8-r")
        assert titles(read(text, media_type="application/rss+xml; charset=koi8-r")) == [{"Привет"}]

    def test_text_is_text_whatever_it_says(self):
        text = '<?xml version="1.0" encoding="utf-16"?>' + rss("<guid>urn:1</guid><title>é</title>")
        assert titles(read(text)) == [{"é"}]


class TestBrokenText:
    """What is not well-formed, and can be mended."""

    def test_ampersands_entities_prefixes_and_open_tags_are_mended(self):
        first, second = items(sample("broken.rss"))
        assert first["rss:title"] == {"AT&T & friends © &unknown; 1<2"}
        assert first["rss:link"] == {"https://rock.example/1?x=1&y=2"}
        assert first["rss:description"] == {"Fish & chips & peas"}
        assert first["schema:image"] == {"https://rock.example/1.jpg"}
        assert "dc:date" not in first
        assert "Open" in next(iter(second["rss:title"]))

    @pytest.mark.parametrize("address", ["https://[", "http://a]b/", "https://x.example:port/", "//["])
    def test_an_address_that_is_none_is_a_problem_of_the_document_at_most(self, address):
        texts = [
            rss(f"<guid>urn:1</guid><link>{address}</link>"),
            rss(f'<guid>urn:1</guid><description>&lt;a href="{address}"&gt;x&lt;/a&gt;</description>'),
            f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{address}"><entry><id>a</id><link href="b"/></entry>'
            "</feed>",
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
            f'<item rdf:about="{address}"><title>x</title><link>{address}</link></item></rdf:RDF>',
        ]
        for text in texts:
            with suppress(DocumentError):
                assert isinstance(parse(text, uri=URI), Feed)

    def test_control_characters_are_left_out(self):
        assert titles(read(rss("<guid>urn:1</guid><title>a\x08b\x00c</title>"))) == [{"abc"}]

    def test_what_stands_before_the_declaration_is_left_out(self):
        assert len(read("\n\n  <?xml version='1.0'?>" + rss("<guid>urn:1</guid>")).items) == 1

    @pytest.mark.parametrize("cut", [0.5, 0.9, 0.99])
    def test_a_feed_that_is_cut_off_is_refused_with_its_place(self, cut):
        text = (SAMPLES / "rss20.rss").read_text(encoding="utf-8")
        with pytest.raises(DocumentError, match="cut off") as caught:
            parse(text[: int(len(text) * cut)], uri=URI)
        assert caught.value.line is not None

    def test_a_feed_without_items_is_a_feed(self):
        assert read('<rss version="2.0"><channel><title>F</title></channel></rss>').items == ()

    def test_one_entry_alone_is_a_feed_of_one(self):
        text = '<entry xmlns="http://www.w3.org/2005/Atom"><id>urn:e</id><title>E</title></entry>'
        assert titles(read(text)) == [{"E"}]


class TestHostileText:
    """What would cost too much, or reach outside."""

    def test_an_entity_bomb_is_refused(self):
        entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
        with pytest.raises(DocumentTooLarge, match="entities"):
            parse(f"<!DOCTYPE rss [{entities}]>" + rss("<title>&a11;</title>"), uri=URI)

    def test_an_external_entity_is_never_read(self, tmp_path):
        secret = tmp_path / "secret.txt"
        secret.write_text("classified")
        doctype = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
        with pytest.raises(DocumentError, match="external entity"):
            parse(doctype + rss("<guid>urn:1</guid><title>&x;</title>"), uri=URI)
        broken = doctype + rss("<guid>urn:1</guid><title>&x; & more</title>")
        with pytest.raises(DocumentError):
            parse(broken, uri=URI)

    def test_an_inner_entity_is_what_it_stands_for(self):
        feed = read('<!DOCTYPE rss [<!ENTITY town "Lindhaven">]>' + rss("<guid>urn:1</guid><title>&town;</title>"))
        assert titles(feed) == [{"Lindhaven"}]
        assert b"Lindhaven" in feed.items[0].xml

    def test_deep_elements_are_refused(self):
        deep = "<a>" * 500 + "</a>" * 500
        with pytest.raises(DocumentTooLarge, match="nested"):
            parse(rss(f"<description>{deep}</description>"), uri=URI)

    def test_a_json_feed_that_is_nested_too_deeply_is_refused(self):
        text = '{"version": "https://jsonfeed.org/version/1", "items": [], "x": ' + "[" * 500 + "]" * 500 + "}"
        with pytest.raises(DocumentTooLarge):
            parse(text, uri=URI)

    def test_what_surrounds_the_items_is_not_repeated_without_bound(self):
        many = " ".join(f'xmlns:n{number}="urn:{number}"' for number in range(300))
        text = rss(*(f"<guid>urn:{number}</guid><n1:x/>" for number in range(100))).replace("<rss", f"<rss {many}")
        feed = read(text)
        assert sum(len(item.xml) for item in feed.items) < 2 * len(text)
        assert b'xmlns:n1="urn:1"' in feed.items[0].xml
        long = text.replace("<rss", f'<rss about="{"x" * 10_000}"')
        with pytest.raises(DocumentTooLarge, match="surrounds"):
            read(long, limits=Limits(expanded=500_000))

    @pytest.mark.parametrize("tags", ["<category>x</category>" * 5000, f"<keywords>{'x ' * 5000}</keywords>"])
    def test_categories_without_end_are_refused(self, tags):
        with pytest.raises(DocumentTooLarge, match="categories"):
            read(rss(f"<guid>urn:1</guid>{tags}"))
        with pytest.raises(DocumentTooLarge, match="categories"):
            read(rss(head=tags))

    def test_many_items_with_a_category_each_are_read(self):
        assert len(read(rss(*[f"<title>{n}</title><category>x</category>" for n in range(4500)])).items) == 4500

    def test_limits_count_for_feeds(self):
        text = rss(*(f"<guid>urn:{n}</guid><title>t</title>" for n in range(50)))
        with pytest.raises(DocumentTooLarge):
            parse(text, uri=URI, limits=Limits(triples=20))
        with pytest.raises(DocumentTooLarge):
            parse(text, uri=URI, limits=Limits(bytes=100))

    @pytest.mark.parametrize("piece", ["&lt;!--", "&lt;a ", "&lt;div&gt;", "&lt;![CDATA[", "&amp;#", "&lt;a href='"])
    def test_much_markup_that_never_ends_is_read_all_the_same(self, piece):
        text = rss(f"<guid>urn:1</guid><title>{piece * 30_000}</title><description>{piece * 30_000}</description>")
        assert len(read(text).items) == 1

    def test_markup_that_acts_is_taken_out(self):
        from triplewire.documents.feeds.hypertext import clean

        hostile = (
            '<a href="java&#10;script:x()">a</a><a href=" JaVaScRiPt:x()">b</a><img src="data:text/html,x" onerror=x()>'
            '<svg onload=x()><iframe src="//evil"></iframe><style>*{}</style><form><input></form><p style="x">c</p>'
            '<object data=x></object><unknown onclick=x()>d</unknown><a href="vbscript:x">e</a><!-- f -->'
        )
        found = clean(hostile, "https://x.example/")
        assert found == "<a>a</a><a>b</a><img>"


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_whatever_the_bytes_a_feed_or_an_error_comes_out(noise):
    for start in (b'<rss version="2.0"><channel><item>', b'<feed xmlns="http://www.w3.org/2005/Atom"><entry>'):
        for end in (b"", b"</item></channel></rss>", b"</entry></feed>"):
            with suppress(DocumentError):
                assert isinstance(parse(start + noise + end, uri=URI), Feed)


NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML has not, and those that are taken for windows-1252."""


def is_encoded_twice(text: str) -> bool:
    try:
        return not text.isascii() and text.encode("latin-1").decode() != text
    except UnicodeError:
        return False


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_title_is_read_back_as_plain_text(text):
    """Escaped as the dialect asks for, a title of any characters that XML has comes out with its white space single."""
    from xml.sax.saxutils import escape

    legal = NOT_XML.sub("", text)
    assume(not is_encoded_twice(legal))
    entry = f'<entry><id>urn:1</id><title type="text">{escape(legal)}</title></entry>'
    found = titles(read(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>'))
    assert found == [{" ".join(legal.split())} if legal.split() else set()]


def test_a_namespace_that_cannot_be_written_again_hides_the_xml_and_not_the_items():
    text = (
        '<rss version="2.0" xmlns:a="http://x.example/?a=1&amp;b=2"><channel><title>t</title>'
        "<item><guid>1</guid><title>Rain</title><a:b>1</a:b></item></channel></rss>"
    )
    for spelled in (text, text.replace("&amp;", "&")):
        feed = parse(spelled, uri="https://example.org/x.rss")
        assert len(feed.items) == 1
        for part in (feed, *feed.parts):
            assert not part.xml or etree.fromstring(part.xml) is not None
