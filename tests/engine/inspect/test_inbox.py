"""The inbox: the events of all subscriptions together, the newest first, and which of them are new (X7, G6)."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from triplewire import Hub
from triplewire.engine.inspect import inbox
from triplewire.errors import UnknownSubscription
from triplewire.store import log

P, Q = "SELECT ?s ?o { ?s <urn:p> ?o }", "SELECT ?s { ?s <urn:q> ?o }"


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def hub(request, new_url):
    with Hub(new_url(request.param)) as opened:
        yield opened


@pytest.fixture(params=["few", "many"])
def way(request, monkeypatch):
    """Both ways of reading: each log from its end, and the log of all."""
    if request.param == "many":
        monkeypatch.setattr(inbox, "FEW", 0)
    return request.param


def by_definition(hub: Hub, ids, **asked):
    """Every event of each subscription, sorted."""
    return chosen(all_of(hub, ids), **asked)


def all_of(hub: Hub, ids):
    found = [(event, name) for id in ids for name in [hub.subscription(id).name] for event in hub.events(id)]
    return sorted(found, key=lambda one: (-one[0].cursor, one[0].subscription))


def chosen(found, **asked):
    kinds, words = asked.get("kinds"), asked.get("words", "").casefold().split()
    since, until = asked.get("since"), asked.get("until")
    return [
        (event, title)
        for event, title in found
        if (not kinds or event.kind in kinds)
        and (since is None or event.time >= since)
        and (until is None or event.time < until)
        and all(word in " ".join([title, *(t.value for t in event.row.values())]).casefold() for word in words)
    ]


def paged(hub: Hub, limit: int, **asked):
    """All pages together."""
    found, before = [], None
    while True:
        page = hub.inbox(limit=limit, before=before, **asked)
        assert len(page.items) <= limit
        found += page.items
        before = page.next
        if before is None:
            return [tuple(item) for item in found]


def lived(hub: Hub, seed: int = 3) -> list[str]:
    """A hub with some history: shared queries, crowds, edits and pauses."""
    chance = random.Random(seed)
    ids = [f"s{number}" for number in range(8)]
    for number, id in enumerate(ids):
        text = P if number < 3 else f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number % 5}) }}"
        hub.subscribe(text, id=id, title=f"Title {number}", owner="maja" if number % 2 else "otto", start="ever")
    for step in range(12):
        uri = f"urn:d{chance.randrange(4)}"
        hub.publish(f"<{uri}> <urn:p> {chance.randrange(9)} ; <urn:q> {step} .", uri=uri)
        if step == 6:
            hub.edit("s1", text=Q)
            hub.edit("s4", text=P)
        if step == 8:
            hub.pause("s2")
    return ids


def test_the_inbox_is_all_logs_together(hub, way):
    ids = lived(hub)
    expected = by_definition(hub, ids)
    assert expected
    for limit in (1, 3, 7, 500):
        assert paged(hub, limit) == expected


def test_the_inbox_is_filtered(hub, way):
    ids = lived(hub)
    found = all_of(hub, ids)
    times = sorted({event.time for event, _ in found})
    middle, late = times[len(times) // 3], times[2 * len(times) // 3]
    for asked in (
        {"kinds": ["unmatched"]},
        {"kinds": ["matched", "changed"]},
        {"since": middle},
        {"until": late},
        {"since": middle, "until": late, "kinds": ["matched"]},
        {"words": "title 3"},
        {"words": "D1"},
        {"words": "nowhere"},
        {"since": late + timedelta(days=1)},
    ):
        assert paged(hub, 10, **asked) == chosen(found, **asked), asked
    theirs = [id for id in ids if int(id[1:]) % 2]
    assert paged(hub, 2, owner="maja") == by_definition(hub, theirs)
    assert paged(hub, 2, subscriptions=["s1", "s4"]) == by_definition(hub, ["s1", "s4"])
    assert paged(hub, 2, owner="nobody") == []
    for asked in ({"subscriptions": ["nobody"]}, {"subscriptions": ["s0"], "owner": "maja"}):
        with pytest.raises(UnknownSubscription):
            hub.inbox(**asked)


def test_what_may_not_be_seen_is_not_there(hub, way):
    hub.subscribe(P, id="own", viewer="maja")
    hub.subscribe(P, id="other", viewer="otto")
    hub.publish("<urn:1> <urn:p> 1 .", uri="urn:1")
    sees = {"sees": lambda viewer: viewer == "maja"}
    assert [item.event.subscription for item in hub.inbox(**sees).items] == ["own"]
    assert [id for id, _, _ in hub.news(**sees).subscriptions] == ["own"]
    with pytest.raises(UnknownSubscription):
        hub.inbox(subscriptions=["other"], **sees)


def test_a_page_that_was_cut_says_so_and_leads_on(hub, way, monkeypatch):
    ids = lived(hub)
    monkeypatch.setattr(inbox, "LOOKED_AT", 2)
    monkeypatch.setattr(inbox, "_LINES", 2)
    monkeypatch.setattr(log, "_MOST_TOLD", 3)
    page = hub.inbox(words="nowhere")
    assert (page.items, page.is_cut, page.next is not None) == ([], True, True)
    assert paged(hub, 5, words="title 3") == by_definition(hub, ids, words="title 3")
    assert paged(hub, 3) == by_definition(hub, ids)


def test_what_is_new_is_counted_since_the_mark(hub, way):
    ids = lived(hub)
    everything = by_definition(hub, ids)
    news = hub.news(account="maja")
    assert (news.mark, news.events, news.is_cut) == (0, len(everything), False)
    assert {id: count for id, _, count in news.subscriptions} == {
        id: len(hub.events(id)) for id in ids if hub.events(id)
    }
    middle = everything[len(everything) // 2][0].cursor
    assert hub.mark(middle, account="maja") == middle
    news = hub.news(account="maja", owner="maja")
    theirs = by_definition(hub, [id for id in ids if int(id[1:]) % 2])
    assert (news.mark, news.events) == (middle, sum(event.cursor > middle for event, _ in theirs))
    assert hub.news(account="otto").mark == 0
    assert hub.mark(10**12, account="maja") == news.last
    assert (hub.news(account="maja").events, hub.news(account="maja").subscriptions) == (0, [])
    hub.publish("<urn:new> <urn:p> 7 .", uri="urn:new")
    assert hub.news(account="maja").events == len(hub.inbox(words="urn:new").items) > 0
