"""When a feed is asked next: the state machine, without a clock or a network."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplewire.polling.schedule import Failed, Followed, Fresh, Gone, PollPace, Same, answered, due, next_time

PACE = PollPace(every=100.0, longest=10_000.0)
FEED = Followed("http://x.example/feed", "http://x.example/feed")


def test_what_was_sent_is_asked_for_again_with_its_validators():
    after = answered(FEED, Fresh(b"", etag='"a"', modified="Mon"), 1000.0, PACE)
    assert (after.next_at, after.etag, after.modified) == (1100.0, '"a"', "Mon")
    assert answered(after, Same(), 1100.0, PACE).etag == '"a"'
    assert answered(after, Fresh(b""), 1100.0, PACE).etag == "", "a server that gives none any more has none"


def test_each_error_in_a_row_doubles_the_pause_up_to_the_longest():
    feed, pauses = FEED, []
    for _ in range(9):
        feed = answered(feed, Failed("no"), 0.0, PACE)
        pauses.append(feed.next_at)
    assert pauses == [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]
    assert feed.error == "no"
    fine = answered(feed, Same(), 0.0, PACE)
    assert (fine.failures, fine.error, fine.next_at) == (0, "", 100.0)


@pytest.mark.parametrize(("asked", "given"), [(500.0, 500.0), (1.0, 100.0), (1e9, 10_000.0)])
def test_retry_after_is_kept_within_the_pace(asked, given):
    assert answered(FEED, Failed("503", asked), 0.0, PACE).next_at == given


def test_a_permanent_move_changes_where_it_is_asked_and_not_what_it_is_called():
    moved = answered(FEED, Fresh(b"", moved_to="http://y.example/"), 0.0, PACE)
    assert (moved.uri, moved.url) == (FEED.uri, "http://y.example/")


def test_what_is_gone_is_never_due():
    gone = answered(FEED, Gone(), 0.0, PACE)
    assert due([gone], 1e12) == []
    assert next_time([gone]) is None


def test_who_waited_longest_is_asked_first():
    feeds = [Followed(f"http://{n}.example", "", next_at=n) for n in (3.0, 1.0, 2.0, 9.0)]
    assert [feed.next_at for feed in due(feeds, 3.0)] == [1.0, 2.0, 3.0]
    assert next_time(feeds) == 1.0


answers = st.one_of(
    st.just(Same()),
    st.builds(Fresh, st.just(b""), etag=st.text(max_size=3)),
    st.builds(Failed, st.text(max_size=5), st.none() | st.floats(0, 1e12)),
)


@given(st.lists(st.tuples(answers, st.floats(0, 1e6))))
def test_the_next_time_is_always_within_the_pace(history):
    feed, now = FEED, 0.0
    for answer, passed in history:
        now += passed
        feed = answered(feed, answer, now, PACE)
        assert PACE.every * 0.999 <= feed.next_at - now <= PACE.longest * 1.001
        assert feed == Followed(**asdict(feed))


def test_a_pace_that_cannot_be_kept_is_refused():
    with pytest.raises(ValueError, match="every"):
        PollPace(every=0)
