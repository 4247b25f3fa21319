"""What an answer means for a delivery, without a clock or a network."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplewire.deliver.retrying import Attempt, RetryPace, RetryVerdict, judged, pause
from triplewire.store import DeliveryRecord

PACE = RetryPace(first=2.0, longest=3600.0, attempts=3, patience=1000.0)
NEW = DeliveryRecord("d", "s", "webhook", {"url": "https://a.example/"}, [], "")


def after(*statuses, now=100.0, record=NEW):
    found = None
    for status in statuses:
        found = judged(record, Attempt(status, f"says {status}"), now, PACE, 1.0)
        record = found.record
    return found


def test_what_arrived_clears_what_failed_before():
    found = after(500, None, 200)
    assert found.verdict is RetryVerdict.ARRIVED
    assert (found.record.failures, found.record.error, found.record.due) == (0, "", 0)
    assert found.record.failed == 2


@pytest.mark.parametrize("status", [None, 408, 425, 429, 502, 503, 504])
def test_who_is_away_is_waited_for_however_often(status):
    found = after(*[status] * 50)
    assert found.verdict is RetryVerdict.AGAIN
    assert found.record.due == int(1000 * (100.0 + 3600))


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 413, 422, 500, 501])
def test_what_is_refused_so_often_is_given_up(status):
    assert after(status, status).verdict is RetryVerdict.AGAIN
    found = after(status, status, status)
    assert found.verdict is RetryVerdict.DEAD
    assert (found.record.failures, found.record.state) == (0, "active")


def test_who_is_gone_is_left_alone():
    found = after(410)
    assert (found.verdict, found.record.state) == (RetryVerdict.STOP, "disabled")


def test_patience_ends():
    first = after(503, now=100.0)
    assert judged(first.record, Attempt(503, ""), 1099.0, PACE, 1.0).verdict is RetryVerdict.AGAIN
    last = judged(first.record, Attempt(503, "says 503"), 1100.0, PACE, 1.0)
    assert (last.verdict, last.record.state) == (RetryVerdict.STOP, "disabled")
    assert "says 503" in last.record.reason


@given(st.integers(1, 100), st.floats(0, 1), st.none() | st.floats(0, 1e9))
def test_a_pause_grows_within_bounds_and_is_never_shorter_than_was_asked_for(failures, chance, wish):
    found = pause(failures, Attempt(503, "", wish), PACE, chance)
    assert found >= min(wish or 0.0, PACE.longest_wish)
    assert 1.0 <= found <= max(PACE.longest, min(wish or 0.0, PACE.longest_wish))
    assert found >= min(PACE.longest, 2.0**failures) / 2
