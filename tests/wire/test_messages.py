"""What the service writes is what the client reads: each message comes back as the value that it was made of."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime

import pytest
from pyoxigraph import NamedNode

from triplewire.errors import MatchLimitExceeded, SchemaViolation
from triplewire.model import Access, Behind, Excerpt, InboxNews, Matched, Subscription, Summary, parse_triple
from triplewire.wire.changes import AccessTold, BatchTold, batch_as_dict
from triplewire.wire.events import EventTold, NewsTold
from triplewire.wire.insights import Told, insight_as_dict
from triplewire.wire.messages import read
from triplewire.wire.subscriptions import SubscriptionTold

NOON = datetime(2026, 3, 2, 12, 0, 0, 250_000, tzinfo=UTC)
TRIPLE = parse_triple("<urn:1>", "<urn:p>", "<urn:o>")


def crossed(told):
    """As it is on the other side."""
    return json.loads(json.dumps(told, default=str))


@dataclass(frozen=True)
class Inner:
    number: int


@dataclass(frozen=True)
class Outer:
    inner: Inner
    several: list[Inner]
    perhaps: list[str] | Inner | None = None
    time: datetime | None = None


@pytest.mark.parametrize("perhaps", [None, ["a"], Inner(3)])
@pytest.mark.parametrize("time", [None, NOON])
def test_message_in_a_message_is_read(perhaps, time):
    told = Outer(Inner(1), [Inner(2)], perhaps, time)
    assert read(Outer, crossed(asdict(told))) == told


def test_member_that_is_not_known_is_left_out():
    """A newer service may tell more."""
    assert read(Inner, {"number": 1, "colour": "red"}) == Inner(1)


def test_subscription_comes_back_with_its_summary():
    times = {"stale_since": NOON, "paused_since": NOON}
    about = {"viewer": "", "title": "T", "description": "D", "revision": "r1", **times}
    subscription = Subscription("a", "SELECT * {}", "sparql", "graph", "ever", "maja", **about)
    summary = Summary(subscription, ("x", "y"), 7, NOON)
    told = read(SubscriptionTold, crossed(asdict(SubscriptionTold.of(summary, ["z"]))))
    assert told.summary == summary
    assert told.past_columns == ["z"]
    for name in ("stale_since", "paused_since", "revision"):  # which do not count in comparisons
        assert getattr(told.subscription, name) == getattr(subscription, name)


@pytest.mark.parametrize("content", [None, (TRIPLE,), Excerpt("/a", "x", "<a>x</a>")])
def test_event_comes_back_with_its_contents(content):
    event = Matched("a", {"x": NamedNode("urn:1")}, "b-1", 3, NOON, (TRIPLE,), (Behind("urn:d", 1, 2),), None, content)
    plain, whole = (read(EventTold, crossed(event.as_dict(contents=contents))) for contents in (False, True))
    found = plain.event(lambda: whole)
    assert found == event
    assert (found.before, found.after) == (None, content)


def test_event_is_told_with_the_members_that_are_described():
    event = Matched("a", {}, "b-1", 3, NOON)
    assert [*event.as_dict()] == [each.name for each in fields(EventTold)]


def test_news_and_access_lists_come_back():
    news = InboxNews(1, 9, 3, True, [("a", "A", 2), ("b", "B", 1)])
    assert read(NewsTold, crossed(asdict(NewsTold.of(news)))).news == news
    for access in (None, Access(), Access(["maja"], ["willi"])):
        assert read(AccessTold, crossed(asdict(AccessTold.of("urn:d", access)))).access == access


@pytest.mark.parametrize("is_told", [True, False])
def test_batch_comes_back_as_its_outcome(is_told):
    event = Matched("a", {"x": NamedNode("urn:1")}, "b-1", 3, NOON)
    warning, error = SchemaViolation("it has no title", uri="urn:d"), MatchLimitExceeded("too much", subscription="a")
    told = batch_as_dict("b-1", [warning], [error], [event.as_dict(contents=False)] if is_told else None)
    outcome = read(BatchTold, crossed(told)).outcome(lambda each: each.event(lambda: each))
    assert outcome.batch == "b-1"
    assert list(outcome) == ([event] if is_told else [])
    assert [str(each) for each in (*outcome.warnings, *outcome.errors)] == [str(warning), str(error)]


def test_insight_comes_back_with_its_sentence():
    told = Told("because", {"row": {"x": "<urn:1>"}})
    assert Told.of(crossed(insight_as_dict(told))) == told
