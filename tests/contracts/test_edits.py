"""What an edit of a subscription tells, by definition and by every engine, among triples and in XML (X7, M6)."""

from __future__ import annotations

import pytest
from tests.contracts.listening import HOSTS, Ear
from tests.contracts.worlds import WORLDS, Thing

A, B = Thing("a").having(serverHost="passau"), Thing("b").having(serverHost="munich")
C = Thing("c", "Other").having(serverHost="passau")


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


@pytest.fixture
def ear(hub, world):
    """Hears a subscription to all providers."""
    return Ear(hub).add("s", world.providers, language=world.language, scope=world.scope)


def test_an_edit_tells_what_ends_and_what_begins_and_the_rest_is_no_news(hub, world, ear):
    hub.publish(world.document(A, B, C))
    assert ear.heard() == {"s": ["matched a", "matched b"]}
    hub.edit("s", text=world.at.format("passau"))
    assert ear.heard() == {"s": ["unmatched b"]}
    hub.edit("s", text=world.at.format("munich"))
    assert ear.heard() == {"s": ["matched b", "unmatched a"]}
    hub.edit("s", text=world.at.format("munich"))
    assert ear.heard() == {}


def test_after_an_edit_only_the_new_query_is_heard(hub, world, ear):
    hub.publish(world.document(A))
    hub.edit("s", text=world.at.format("munich"))
    ear.heard()
    hub.publish(world.document(A, B))
    assert ear.heard() == {"s": ["matched b"]}
    hub.retract(HOSTS)
    assert ear.heard() == {"s": ["unmatched b"]}


def test_a_start_that_is_edited_counts_from_then_on(hub, world, ear):
    """S4."""
    hub.publish(world.document(A))
    ear.heard()
    hub.edit("s", start="now")
    assert ear.heard() == {"s": ["unmatched a"]}
    hub.edit("s", start="ever")
    assert ear.heard() == {"s": ["matched a"]}
