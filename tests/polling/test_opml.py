"""Lists of feeds, in and out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire.errors import DocumentError
from triplewire.polling import Followed, opml

LIST = """<?xml version="1.0"?>
<opml version="1.0"><head><title>My feeds</title></head><body>
  <outline text="News">
    <outline type="rss" text="Lindhaven" title="Lindhaven News" xmlUrl="https://l.example/rss" htmlUrl="https://l.example"/>
    <outline text="Other case" XMLURL=" https://o.example/atom "/>
  </outline>
  <outline type="rss" text="Again" xmlUrl="https://l.example/rss"/>
  <outline text="No feed" htmlUrl="https://n.example/"/>
</body></opml>"""


def test_feeds_are_found_in_folders_each_once():
    found = opml.read(LIST.encode(), name="list.opml")
    assert [(feed.url, feed.title) for feed in found] == [
        ("https://l.example/rss", "Lindhaven News"),
        ("https://o.example/atom", "Other case"),
    ]


@pytest.mark.parametrize("text", ["", "<opml><body>", "<rss/>", "feeds: a, b"])
def test_what_is_no_list_is_refused(text):
    with pytest.raises(DocumentError, match=r"list\.opml"):
        opml.read(text.encode(), name="list.opml")


addresses = st.integers(0, 99).map(lambda number: f"https://x.example/{number}?a=1&b=<>")
titles = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Zs", "Zl", "Zp")), min_size=1, max_size=9
)


@settings(deadline=None)
@given(st.dictionaries(addresses, titles, max_size=5))
def test_what_is_written_is_read_back(listed):
    feeds = [
        Followed(url, url, title) for url, title in listed.items() if "\ufffe" not in title and "\uffff" not in title
    ]
    assert opml.read(opml.write(feeds, title="All"), name="list") == feeds
