"""What nothing here has is told to who may see it, and only what they may see is suggested (X6, privacy)."""

from __future__ import annotations

import pytest

from triplewire import Hub
from triplewire.engine.inspect.suggestions import WordBudget, alike, unheard
from triplewire.languages import compile
from triplewire.model import Access, parse_term
from triplewire.store import EVERYBODY

QUERY = compile("SELECT ?d { ?d <urn:secrt> ?o }", language="sparql")


@pytest.fixture
def hub(tmp_path):
    with Hub(f"sqlite:///{tmp_path}/hub.db") as found:
        yield found


def suggested(hub, viewer):
    with hub.store.reading() as reader:
        (found,) = unheard(reader.seen_by(viewer), hub.taxonomy, QUERY)
    return [str(term) for term in found.suggestions]


def test_a_property_of_hidden_documents_is_not_suggested(hub):
    hub.publish("<urn:a> <urn:open> 1 .", uri="urn:open", media_type="text/turtle")
    hub.publish("<urn:a> <urn:secret> 1 .", uri="urn:hidden", media_type="text/turtle", access=Access(["ada"], []))
    assert suggested(hub, None) == ["<urn:secret>"]
    assert suggested(hub, "ada") == ["<urn:secret>"]
    assert suggested(hub, EVERYBODY) == []


def test_who_does_not_see_a_property_hears_that_nothing_has_it(hub):
    """As if the documents that are hidden were not there."""
    hub.publish("<urn:a> <urn:open> 1 .", uri="urn:open", media_type="text/turtle")
    hub.publish("<urn:a> <urn:secrt> 1 .", uri="urn:hidden", media_type="text/turtle", access=Access(["ada"], []))
    with hub.store.reading() as reader:
        assert unheard(reader.seen_by("ada"), hub.taxonomy, QUERY) == []
    assert suggested(hub, EVERYBODY) == []


@pytest.mark.parametrize(
    ("term", "first"),
    [("<urn:x:keywrd>", "<urn:x:keyword>"), ("<urn:y:Title>", "<urn:y:title>"), ("<urn:z:title>", "<urn:x:title>")],
)
def test_those_spelled_most_alike_come_first_and_the_same_namespace_before_others(term, first):
    known = [parse_term(f"<urn:{space}:{name}>") for space in "xy" for name in ("keyword", "title", "theme")]
    assert str(alike(parse_term(term), known, WordBudget())[0]) == first


def test_what_is_not_alike_is_not_suggested():
    assert (
        alike(
            parse_term("<urn:x:population>"), [parse_term("<urn:x:title>"), parse_term("<urn:x:keyword>")], WordBudget()
        )
        == []
    )
