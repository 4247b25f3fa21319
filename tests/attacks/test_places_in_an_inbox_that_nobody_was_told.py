"""Places that a client made up, and words that are nowhere, do not make an inbox read whole logs (X7).

What is counted is events that were read from logs.
"""

from __future__ import annotations

import pytest

from triplewire import Hub
from triplewire.engine.inspect import inbox

THINGS = "SELECT ?s ?o { ?s <urn:p> ?o }"
SUBSCRIPTIONS, EVENTS = 20, 600


@pytest.fixture(scope="module")
def hub():
    with Hub() as opened:
        for number in range(SUBSCRIPTIONS):
            opened.subscribe(THINGS, id=f"s{number:02}")
        opened.publish("".join(f"<urn:{n}> <urn:p> {n} .\n" for n in range(EVENTS)), uri="urn:d")
        yield opened


@pytest.fixture
def reads(monkeypatch):
    """How many events each reading of a log gave."""
    counts: list[int] = []
    read = inbox.newest

    def counted(*asked):
        found = read(*asked)
        counts.append(len(found))
        return found

    monkeypatch.setattr(inbox, "newest", counted)
    return counts


@pytest.mark.parametrize("told", ["0", "1", "999999999", "-999999999"])
def test_the_number_in_a_place_does_not_say_how_much_is_read(hub, reads, told):
    page = hub.inbox(limit=1, before=f"{1 << 60}.{told}")
    assert len(page.items) == 1
    assert sum(reads) <= 10 * SUBSCRIPTIONS


def test_a_page_that_begins_with_a_number_too_great_leads_on(hub):
    """No subscription hears an event twice, so all of those with the cursor were told."""
    newest = hub.inbox(limit=1).items[0].event.cursor
    page = hub.inbox(limit=1, before=f"{newest}.999999999")
    assert page.items[0].event.cursor == newest - 1


def test_a_search_counts_what_it_reads_of_every_log(hub, reads, monkeypatch):
    monkeypatch.setattr(inbox, "LOOKED_AT", 1_000)
    page = hub.inbox(words="nowhere")
    assert (page.items, page.is_cut) == ([], True)
    assert 1_000 <= sum(reads) < 2_000


def test_a_search_that_is_cut_leads_to_all_that_it_is_for(hub, monkeypatch):
    monkeypatch.setattr(inbox, "LOOKED_AT", 1_000)
    found, before = [], None
    while True:
        page = hub.inbox(words="urn:77", limit=500, before=before)
        found += [(item.event.cursor, item.event.subscription) for item in page.items]
        before = page.next
        if before is None:
            break
    assert len(found) == len({*found}) == SUBSCRIPTIONS
