"""What Atom feeds in the wild and in conformance suites have, and short examples do not (G4)."""

from __future__ import annotations

import pytest

from triplewire.documents import parse

LINK = "http://purl.org/rss/1.0/link"


def feed(*entries: str):
    inside = "".join(f"<entry><title>a</title>{entry}</entry>" for entry in entries)
    text = f'<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>t</title>{inside}</feed>'
    return parse(text, uri="urn:f")


@pytest.mark.parametrize(
    ("links", "meant"),
    [
        ('<link rel="http://www.iana.org/assignments/relation/alternate" href="http://e/1"/>', "http://e/1"),
        ('<link rel="ALTERNATE" href="http://e/1"/><link rel="alternate" href="http://e/2"/>', "http://e/2"),
        ('<link rel="ALTERNATE" href="http://e/1"/><link href="http://e/2"/>', "http://e/2"),
        ('<link rel="Alternate" href="http://e/1"/>', "http://e/1"),
        ('<link rel="http://example.org/alternate" href="http://e/1"/><link href="http://e/2"/>', "http://e/2"),
    ],
)
def test_a_relation_is_known_by_its_name_or_its_iri_and_by_case(links: str, meant: str) -> None:
    (item,) = feed(links).items
    assert [triple.object.value for triple in item.triples if triple.predicate.value == LINK] == [meant]


def test_entries_that_nothing_names_and_that_say_the_same_are_as_many_as_there_are() -> None:
    three = feed("", "", "")
    assert len({item.uri for item in three.items}) == 3
    assert {item.uri for item in feed("", "").items} < {item.uri for item in three.items}
