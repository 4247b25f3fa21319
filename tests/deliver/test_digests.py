"""Digests: what a stretch of the log comes to; a removal is never swallowed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode
from standardwebhooks import Webhook

from deliver.receiving import Says, eventually
from triplewire.deliver.digests import digest, next_time
from triplewire.model import EVENTS
from triplewire.store import DeadLetter

START = datetime(2026, 3, 2, tzinfo=UTC)


def history(kinds: str, name: str = "a"):
    """Events of one row: m, c, u."""
    named = {"m": "matched", "c": "changed", "u": "unmatched"}
    return [
        EVENTS[named[kind]]("s", {"d": NamedNode(f"urn:{name}")}, "b", cursor, START)
        for cursor, kind in enumerate(kinds, start=1)
    ]


def told(kinds: str) -> list[str]:
    return [sense for sense, rows in digest(history(kinds)).items() if rows]


def test_a_row_is_told_by_what_it_was_before_and_is_after():
    assert told("m") == told("mc") == told("mum") == ["added"]
    assert told("c") == told("um") == told("ccum") == ["changed"]
    assert told("u") == told("cu") == told("umu") == ["removed"]
    assert told("mu") == told("mcumu") == ["removed"]  # it came and went, and whoever heard of it hears that it is gone


def valid(kinds: list[str], was_there: bool) -> str:
    """The longest beginning of what can happen to a row."""
    is_there, found = was_there, ""
    for kind in kinds:
        if (kind == "m") == is_there:
            continue
        found += kind
        is_there = {"m": True, "u": False}.get(kind, is_there)
    return found


@given(st.lists(st.tuples(st.lists(st.sampled_from("mcu"), max_size=6), st.booleans()), max_size=6))
def test_every_row_is_told_once_and_no_removal_is_swallowed(rows):
    """Invariant of `deliver.digests`: every row with an `unmatched` event is told, with the number of them."""
    events, wanted = [], {}
    for number, (kinds, was_there) in enumerate(rows):
        story = valid(kinds, was_there)
        events += history(story, str(number))
        if story:
            wanted[f"<urn:{number}>"] = Counter(story)
    found = [(entry["row"]["d"], entry["events"]) for entries in digest(events).values() for entry in entries]
    names = {"m": "matched", "c": "changed", "u": "unmatched"}
    assert dict(found) == {row: {names[k]: n for k, n in counts.items()} for row, counts in wanted.items()}
    assert len(found) == len(wanted)


def due_now(post, id):
    with post.hub.store.writing() as writer:
        record = writer.deliveries.find(id)
        writer.deliveries.put(replace(record, due=1))


def test_a_digest_comes_when_the_hour_is_over_and_tells_the_difference(post, receiver):
    made, secret = post.deliveries.add("sizes", receiver.url(), kind="digest", every="hourly")
    record = post.deliveries.of(made.id)
    assert 0 < record.due / 1000 - time.time() <= 3600
    assert record.due % 3_600_000 == 0
    for name, size in (("a", 1), ("b", 1), ("c", 1)):
        post.publish(name, size)
    post.hub.retract("urn:doc:c")
    post.deliver()
    due_now(post, made.id)
    (got,) = receiver.wait_for_posts(1)
    told = Webhook(secret).verify(got.body, got.headers)
    assert told["type"] == "triplewire.digest"
    assert told["id"] == "sizes:1-4"
    data = told["data"]
    assert [entry["row"]["d"] for entry in data["added"]] == ["<urn:a>", "<urn:b>"]
    assert [(entry["row"]["d"], entry["events"]) for entry in data["removed"]] == [
        ("<urn:c>", {"matched": 1, "unmatched": 1})
    ]
    assert (data["after"], data["cursor"], data["changed"]) == (0, 4, [])
    state = eventually(lambda: (found := post.deliveries.of(made.id)).cursor == 4 and found.due > 1 and found)
    assert state.until == 0


def test_an_hour_without_events_gives_no_digest(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url(), kind="digest", every="daily")
    post.deliver()
    due_now(post, made.id)
    eventually(lambda: post.deliveries.of(made.id).due > 1)
    assert receiver.got == []


def test_a_digest_that_failed_is_sent_again_as_it_was(post, receiver):
    receiver.says["/hook"] = lambda _: Says(503 if len(receiver.posts()) < 2 else 200)
    made, _ = post.deliveries.add("sizes", receiver.url(), kind="digest", every="hourly")
    post.publish("a", 1)
    post.deliver()
    due_now(post, made.id)
    receiver.wait_for_posts(1)
    post.publish("b", 1)
    first, second, third = receiver.wait_for_posts(3)[:3]
    assert first.body == second.body == third.body
    eventually(lambda: post.deliveries.of(made.id).cursor == 1)


def test_a_digest_that_was_given_up_is_replayed_before_the_next_is_due(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url(), kind="digest", every="daily")
    with post.hub.store.writing() as writer:
        writer.deliveries.bury([DeadLetter(0, made.id, "sizes:1-4", 4, "application/json", b"{}", "refused", 3, "")])
    post.deliveries.replay(made.id)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    assert (got.headers["webhook-id"], got.body) == ("sizes:1-4", b"{}")


def test_the_next_digest_is_due_at_the_full_hour_or_day():
    assert next_time("hourly", 7_199.9) == 7_200
    assert next_time("hourly", 7_200) == 10_800
    assert next_time("daily", 1) == 86_400
