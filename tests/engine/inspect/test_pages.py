"""Rows in pages: under changes, each row that is an answer all the time is read once (see `Teller.row_page`)."""

from __future__ import annotations

import random

import pytest

from triplewire import BadRequest, Hub, UnknownSubscription

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"


def document(numbers):
    return " ".join(f"<urn:d{n}> <urn:theme> <urn:water> ." for n in numbers)


@pytest.fixture
def hub():
    with Hub(":memory:") as made:
        for name in "abc":  # three ask alike, and one more, so that their rows are shared
            made.subscribe(f"SELECT ?d {{ ?d <urn:theme> <urn:water> . ?d <urn:theme> ?{name} }}", id=name)
        made.subscribe(WATER, id="water")
        yield made


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_stay_are_read_once_whatever_comes_and_goes_between_the_pages(hub, seed):
    """Documents and subscriptions that share the rows come and go; from scratch: what all states have in common.

    Invariant of `engine.telling`: pages have every row that stays, and no row twice.
    """
    chance = random.Random(seed)
    for n in range(12):
        hub.publish(document(chance.sample(range(60), 20)), uri=f"urn:doc:{n}")
    always = set(hub.rows("water"))
    ever = set(always)
    read, after = [], ""
    while after is not None:
        page = hub.row_page("water", after=after, limit=7)
        read += page.rows
        after = page.next
        if chance.random() < 0.8:
            hub.publish(document(chance.sample(range(60), 20)), uri=f"urn:doc:{chance.randint(0, 15)}")
        else:
            hub.retract(f"urn:doc:{chance.randint(0, 15)}")
        if chance.random() < 0.2:
            known = [each.id for each in hub.subscriptions() if each.id != "water"]
            if known:
                hub.unsubscribe(chance.choice(known))
        always &= set(hub.rows("water"))
        ever |= set(hub.rows("water"))
    assert len(read) == len(set(read))
    assert always <= set(read) <= ever
    assert len(always) > 5


def test_all_pages_are_all_rows(hub):
    hub.publish(document(range(2_500)), uri="urn:doc")
    assert sorted(map(str, hub.each_row("water"))) == sorted(map(str, hub.rows("water")))
    assert len(hub.row_page("water").rows) == 1_000
    assert hub.row_page("water", limit=2_500).next is not None
    assert hub.row_page("water", limit=2_501).next is None


def test_what_is_no_cursor_and_what_is_no_subscription_are_refused(hub):
    with pytest.raises(BadRequest, match="send the `next` of a page"):
        hub.row_page("water", after="zz")
    with pytest.raises(UnknownSubscription):
        hub.row_page("nobody")
    with pytest.raises(ValueError, match="at least 1"):
        hub.row_page("water", limit=0)
