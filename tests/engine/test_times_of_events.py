"""Events say when their batches were committed, wherever they are read, and can be asked for by time (X7)."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import pytest

from triplewire import Hub
from triplewire.model import spelled
from triplewire.store import MATCHED, NewEvent

ALL = "SELECT ?s { ?s <urn:p> ?o }"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def hub(request, new_url):
    with Hub(new_url(request.param)) as opened:
        yield opened


def happened(hub: Hub, id: str, *minutes: int) -> None:
    """An event of a subscription at each of these minutes after noon, in this order, whatever the clock says."""
    with hub.store.writing() as writer:
        (record,) = writer.subscriptions.find([id])
        for minute in minutes:
            (term,) = writer.terms.ids([f"<urn:{minute}>"])
            writer.log.append(writer.batches.next(), [NewEvent((record.query,), MATCHED, (term,))])
            time = spelled(NOON + timedelta(minutes=minute))
            writer.batches.add(f"batch {minute}", committed=time, documents=0, events=1)


def minutes(events) -> list[int]:
    return [int(event.row["s"].value.removeprefix("urn:")) for event in events]


def test_an_event_has_the_time_of_its_batch_at_once_and_for_ever(hub):
    hub.subscribe(ALL, id="a")
    (told,) = hub.publish("<urn:1> <urn:p> 1 .", uri="urn:d", batch="one")
    committed = datetime.fromisoformat(hub.batch("one").committed)
    assert told.time == committed
    assert told.time.utcoffset() == timedelta(0)
    assert hub.events("a") == hub.newest("a") == list(hub.apply([], batch="one")) == [told]
    hub.store.compact(keep_versions=1)
    (kept,) = hub.events("a")
    assert (kept.time, pickle.loads(pickle.dumps(kept))) == (committed, told)


def test_what_answered_before_has_the_time_at_which_it_was_told(hub):
    hub.publish("<urn:1> <urn:p> 1 .", uri="urn:d", batch="one")
    hub.subscribe(ALL, id="now", start="ever", backfill="now")
    hub.subscribe(ALL, id="later", start="ever", backfill="later")
    hub.backfill()
    for id in ("now", "later"):
        (event,) = hub.events(id)
        assert spelled(event.time) == hub.batch(event.batch).committed
        assert event.batch != "one"


def test_events_are_asked_for_by_time(hub):
    hub.subscribe(ALL, id="a")
    happened(hub, "a", *range(6))
    third, fifth = NOON + timedelta(minutes=2), NOON + timedelta(minutes=4)
    assert minutes(hub.events("a", since=third)) == [2, 3, 4, 5]
    assert minutes(hub.events("a", until=third)) == [0, 1]
    assert minutes(hub.events("a", since=third, until=fifth)) == [2, 3]
    assert minutes(hub.newest("a", since=third, until=fifth)) == [3, 2]
    assert minutes(hub.newest("a", until=fifth, limit=1)) == [3]
    assert minutes(hub.events("a", since=third + timedelta(microseconds=1), limit=1)) == [3]
    assert minutes(hub.events("a", since="2026-03-02T13:02+01:00", until="2026-03-02T12:03")) == [2]
    assert hub.events("a", since=NOON + timedelta(days=1)) == hub.events("a", until=NOON) == []
    assert minutes(hub.events("a", since="0001-01-01T00:00+14:00", until="9999-12-31T23:59-12:00")) == [*range(6)]


def test_where_the_clock_was_set_back_the_order_is_that_of_the_cursors(hub):
    hub.subscribe(ALL, id="a")
    happened(hub, "a", 4, 5, 1, 2, 6)
    assert minutes(hub.events("a")) == [4, 5, 1, 2, 6]
    assert minutes(hub.events("a", since=NOON + timedelta(minutes=4))) == [4, 5, 6]
    assert minutes(hub.events("a", until=NOON + timedelta(minutes=5))) == [4, 1, 2]
    assert minutes(hub.newest("a", since=NOON + timedelta(minutes=2), limit=3)) == [6, 2, 5]


def test_a_page_by_time_goes_on_from_its_last_cursor(hub):
    hub.subscribe(ALL, id="a")
    happened(hub, "a", 3, 1, 4, 2, 5)
    since, found, cursor = NOON + timedelta(minutes=3), [], 0
    while page := hub.events("a", since=since, after=cursor, limit=1):
        found += minutes(page)
        cursor = page[-1].cursor
    assert found == [3, 4, 5]


def test_events_that_several_share_are_asked_for_by_time(hub):
    """Lines of the log that are a crowd's have the times of their batches, too."""
    for number in range(4):
        hub.subscribe(f"SELECT ?s {{ ?s <urn:p> ?o FILTER(?o > {number}) }}", id=f"s{number}")
    hub.publish("<urn:1> <urn:p> 9 .", uri="urn:d1")
    with hub.store.reading() as reader:
        (line,) = reader.log._sql.rows("SELECT crowd FROM events")
    assert line[0], "they share one line"
    (event,) = hub.events("s2")
    late = event.time + timedelta(milliseconds=1)
    assert hub.events("s2", since=event.time, until=late) == hub.newest("s2", since=event.time) == [event]
    assert hub.events("s2", since=late) == []
