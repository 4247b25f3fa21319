"""Subscriptions that are paused while somebody is away: some events wait, for a time, and the rest is missed (P7)."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from effort import examples
from hub.serving import problem, serving
from triplewire import Hub
from triplewire.cli.app import app
from triplewire.client import Client
from triplewire.engine.subscriptions import absences
from triplewire.errors import NotAllowed, SubscriptionError
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

QUERY = "SELECT ?d { ?d <urn:theme> <urn:water> }"
NUMBERS = count()


@pytest.fixture
def hub():
    """A hub with a subscriber that will be away, and a twin that never is: its cursors are the same."""
    with Hub(":memory:") as made:
        for id in ("away", "twin"):
            made.subscribe(QUERY, language="sparql", id=id)
        yield made


def publish(hub, many: int) -> None:
    for number in range(many):
        hub.publish(f"<urn:d{next(NUMBERS)}> <urn:theme> <urn:water> .", uri=f"urn:doc{number}-{next(NUMBERS)}")


def cursors(hub, id: str) -> list[int]:
    return [event.cursor for event in hub.events(id)]


def is_whole(hub) -> None:
    """Each event that the twin was told is told here, or said to be missed, and not both."""
    lacking = [range(each.after + 1, each.until + 1) for each in hub.missed("away")]
    told = cursors(hub, "away")
    for cursor in cursors(hub, "twin"):
        assert (cursor in told) + sum(cursor in some for some in lacking) == 1
    assert told == sorted(set(told))
    assert set(told) <= set(cursors(hub, "twin"))
    assert not [*hub.check()]


def later(monkeypatch, seconds: float) -> None:
    now = absences.time
    monkeypatch.setattr(absences, "time", lambda: now() + seconds)


def test_last_events_wait_and_those_before_are_said_to_be_missed(hub):
    publish(hub, 2)
    hub.pause("away", keep_events=3)
    publish(hub, 5)
    assert len(cursors(hub, "away")) == 2
    hub.resume("away")
    publish(hub, 1)
    assert cursors(hub, "away") == [*cursors(hub, "twin")[:2], *cursors(hub, "twin")[4:]]
    [missed] = hub.missed("away")
    assert missed.reason == "more than 3 events waited"
    is_whole(hub)


def test_what_is_within_the_bounds_is_not_missed(hub):
    hub.pause("away", keep_events=5, keep_seconds=1_000)
    publish(hub, 5)
    hub.resume("away")
    assert hub.missed("away") == []
    assert cursors(hub, "away") == cursors(hub, "twin")


def test_after_the_time_nothing_waits_that_came_meanwhile(hub, monkeypatch):
    publish(hub, 1)
    hub.pause("away", keep_seconds=60)
    publish(hub, 3)
    later(monkeypatch, 61)
    hub.resume("away")
    [missed] = hub.missed("away")
    assert missed.reason == "the client was away for too long"
    assert len(cursors(hub, "away")) == 1
    assert len(list(hub.rows("away"))) == 4, "what the rows are, can be asked"
    publish(hub, 1)
    assert len(cursors(hub, "away")) == 2
    is_whole(hub)


def test_who_is_away_once_more_misses_once_more(hub):
    for _ in range(3):
        hub.pause("away", keep_events=1)
        publish(hub, 3)
        hub.resume("away")
        publish(hub, 1)
    assert len(hub.missed("away")) == 3
    is_whole(hub)


def test_bounds_let_a_store_be_compacted_that_a_pause_without_them_holds_up(hub):
    publish(hub, 1)
    hub.pause("away")
    publish(hub, 5)
    everything = hub.events("twin")[-1].cursor
    with hub.store.writing() as writer:
        absences.trim_all(writer)
    hub.store.compact(keep_events_after=everything)
    assert len(cursors(hub, "twin")) == 5
    hub.pause("away", keep_events=2)
    with hub.store.writing() as writer:
        absences.trim_all(writer)
        absences.trim_all(writer)
    hub.store.compact(keep_events_after=everything)
    assert len(cursors(hub, "twin")) == 2
    publish(hub, 1)
    hub.resume("away")
    assert len(cursors(hub, "away")) == 2
    first, second = hub.missed("away"), hub.missed("away")
    assert first == second
    assert [each.reason for each in first] == ["more than 2 events waited"], "one stretch follows the other"


def test_query_does_not_change_while_what_waits_is_bounded(hub):
    hub.pause("away", keep_events=1)
    with pytest.raises(SubscriptionError, match="resume it, then change what it asks"):
        hub.edit("away", text="SELECT ?d { ?d <urn:theme> <urn:wine> }", language="sparql")
    with pytest.raises(SubscriptionError, match="give `paused`, too"):
        hub.edit("twin", keep_events=1)
    hub.edit("away", title="Water")
    hub.resume("away")
    hub.edit("away", text="SELECT ?d { ?d <urn:theme> <urn:wine> }", language="sparql")


def test_nothing_of_an_absence_is_left_when_its_subscription_is_gone(hub):
    hub.pause("away", keep_events=1)
    publish(hub, 3)
    hub.resume("away")
    hub.unsubscribe("away")
    hub.subscribe(QUERY, language="sparql", id="away")
    assert hub.missed("away") == []


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(1, 3)),
        st.tuples(st.just("pause"), st.integers(0, 4)),
        st.tuples(st.just("pause without bounds"), st.just(0)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("trim"), st.just(0)),
        st.tuples(st.just("edit"), st.integers(0, 1)),
    ),
    max_size=20,
)


@settings(max_examples=examples(60), deadline=None)
@given(ACTIONS)
def test_each_event_is_told_or_said_to_be_missed_once_in_random_histories(actions):
    """Invariant of `engine.subscriptions.absences`: what was told and what was missed are all events there were."""
    with Hub(":memory:") as hub:
        for id in ("away", "twin"):
            hub.subscribe(QUERY, language="sparql", id=id)
        for what, number in actions:
            match what:
                case "publish":
                    publish(hub, number)
                case "pause":
                    hub.pause("away", keep_events=number)
                case "pause without bounds":
                    hub.pause("away")
                case "resume":
                    hub.resume("away")
                case "trim":
                    with hub.store.writing() as writer:
                        absences.trim_all(writer)
                case "edit":
                    hub.edit("away", title=f"Water {number}")
        hub.resume("away")
        is_whole(hub)


def test_over_http_the_owner_says_what_waits_and_is_told_what_was_missed(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        tokens = {name: Accounts(opened).create_token(name, role="publisher")[1] for name in ("maja", "eve")}
    with serving(store, identity=True) as served:
        with Client(served.url, token=tokens["maja"]) as maja, Client(served.url, token=tokens["eve"]) as eve:
            maja.subscribe(QUERY, language="sparql", id="hers")
            maja.pause("hers", keep_events=1, keep_seconds=3_600)
            for number in range(3):
                maja.publish(
                    f"<urn:d{number}> <urn:theme> <urn:water> .", uri=f"urn:{number}", media_type="text/turtle"
                )
            with pytest.raises(NotAllowed):
                eve.missed("hers")
            with pytest.raises(NotAllowed):
                eve.resume("hers")
            maja.resume("hers")
            assert [str(event.row["d"]) for event in maja.events("hers")] == ["<urn:d2>"]
            [missed] = maja.missed("hers")
            assert missed.until == maja.events("hers")[0].cursor - 1
        wrong = served.patch("/v1/subscriptions/hers", json={"paused": True, "keep_events": -1})
        problem(wrong, 401)


def test_commands_bound_what_waits_and_print_what_was_missed(tmp_path):
    store = tmp_path / "hub.db"
    with Hub(store) as hub:
        hub.subscribe(QUERY, language="sparql", id="away")
    paused = CliRunner().invoke(app, ["pause", str(store), "away", "--keep-events", "1", "--keep-hours", "2"])
    assert paused.exit_code == 0, paused.output
    with Hub(store) as hub:
        publish(hub, 3)
    compacted = CliRunner().invoke(app, ["store", "compact", str(store), "--keep-events-after", "2"])
    assert "2 events" in compacted.output
    resumed = CliRunner().invoke(app, ["resume", str(store), "away"])
    assert "away: events after 0 up to 2 are missed: more than 1 events waited" in resumed.output
