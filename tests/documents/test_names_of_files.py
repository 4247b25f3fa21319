"""A path that is handed over as text is told to be one (X5)."""

from __future__ import annotations

import pytest

from triplewire import DocumentError, Hub, parse


@pytest.mark.parametrize(
    "data", ["catalogue/water.ttl", b"water.rdf", "C:\\data\\my file.jsonld", "/tmp/a.xml\n", "a.nt"]
)
@pytest.mark.parametrize("media_type", [None, "text/turtle", "application/ld+json", "application/xml"])
def test_name_of_a_file_is_asked_about(data, media_type):
    with pytest.raises(DocumentError, match=r"is this a file\?.*Path\("):
        parse(data, uri="https://example.org/a", media_type=media_type)


def test_hub_asks_the_same():
    with Hub() as hub, pytest.raises(DocumentError, match=r"is this a file\?"):
        hub.publish("water.ttl", uri="https://example.org/water.ttl")


@pytest.mark.parametrize("data", ["<urn:a> <urn:b> <urn:c", "not a file at all", "<a.ttl>"])
def test_other_mistakes_are_told_as_they_were(data):
    with pytest.raises(DocumentError) as refused:
        parse(data, uri="https://example.org/a", media_type="text/turtle")
    assert "is this a file" not in str(refused.value)
