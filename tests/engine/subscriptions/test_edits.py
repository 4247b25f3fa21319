"""Subscriptions are edited, paused, resumed and duplicated; their logs stay what they were (X7, M9)."""

from __future__ import annotations

import pytest
from tests.contracts.listening import replayed

from triplewire import Hub, compile
from triplewire.errors import (
    MatchLimitExceeded,
    QuerySyntaxError,
    SubscriptionChanged,
    SubscriptionError,
    UnknownSubscription,
    UnsupportedQuery,
)
from triplewire.model import Access

P, Q = "SELECT ?s ?o { ?s <urn:p> ?o }", "SELECT ?s ?o { ?s <urn:q> ?o }"
BOTH = "<urn:1> <urn:p> 1 ; <urn:q> 1 . <urn:2> <urn:p> 2 . <urn:3> <urn:q> 3 ."


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def hub(request, new_url):
    with Hub(new_url(request.param)) as opened:
        yield opened


def told(events) -> list[str]:
    return [f"{event.kind} {'/'.join(f'{name}={term.value}' for name, term in event.row.items())}" for event in events]


def check(hub: Hub, *ids: str) -> None:
    """What holds for every log and every store."""
    for id in ids:
        assert replayed(hub.events(id)) == set(hub.rows(id))
    assert list(hub.check()) == []


def test_an_edit_keeps_the_log_and_tells_what_begins_and_ends(hub):
    made = hub.subscribe(P, id="a", title="First")
    hub.publish(BOTH, uri="urn:d")
    before = hub.events("a")
    edited = hub.edit("a", text=Q)
    assert (edited.id, edited.text, edited.title, edited.start) == ("a", Q, "First", "now")
    assert edited.revision != made.revision
    fresh = hub.events("a", after=before[-1].cursor)
    assert told(fresh) == ["unmatched s=urn:2/o=2", "matched s=urn:3/o=3"]
    assert len({event.batch for event in fresh}) == 1, "as one batch"
    assert [len(event.triples) for event in fresh] == [1, 1]
    assert {document.uri for event in fresh for document in event.documents} == {"urn:d"}
    assert hub.events("a")[: len(before)] == before
    assert told(hub.publish("<urn:4> <urn:q> 4 ; <urn:p> 9 .", uri="urn:e")) == ["matched s=urn:4/o=4"]
    check(hub, "a")


def test_past_events_keep_the_columns_and_the_rows_that_they_had(hub):
    hub.subscribe(P, id="a")
    hub.publish(BOTH, uri="urn:d")
    hub.edit("a", text="SELECT ?thing { ?thing <urn:q> ?o }")
    hub.edit("a", text="SELECT ?o ?s { ?s <urn:q> ?o }")
    assert told(hub.events("a")) == [
        "matched s=urn:1/o=1",
        "matched s=urn:2/o=2",
        "unmatched s=urn:1/o=1",
        "unmatched s=urn:2/o=2",
        "matched thing=urn:1",
        "matched thing=urn:3",
        "unmatched thing=urn:1",
        "unmatched thing=urn:3",
        "matched o=1/s=urn:1",
        "matched o=3/s=urn:3",
    ]
    check(hub, "a")


def test_the_same_rows_with_columns_in_another_order_are_no_news(hub):
    hub.subscribe(P, id="a")
    hub.publish(BOTH, uri="urn:d")
    cursor = hub.events("a")[-1].cursor
    hub.edit("a", text="SELECT ?o ?s { ?s <urn:p> ?o }")
    assert hub.events("a", after=cursor) == []
    hub.retract("urn:d")
    check(hub, "a")


def test_an_edit_that_asks_the_same_tells_nothing(hub):
    hub.subscribe(P, id="a")
    hub.publish(BOTH, uri="urn:d")
    log, revision = hub.events("a"), hub.subscription("a").revision
    assert hub.edit("a").revision == hub.edit("a", text=P, scope="document").revision == revision
    spaced = hub.edit("a", text=P.replace(" ", "  "))
    assert (spaced.text, spaced.revision != revision) == (P.replace(" ", "  "), True)
    assert hub.events("a") == log


def test_a_log_survives_that_its_old_query_is_gone(hub):
    """Also where the line of the log was shared by several queries, and after a compaction."""
    hub.subscribe(P, id="a")
    others = [f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number}) }}" for number in (-1, -2, -3)]
    for number, text in enumerate(others):
        hub.subscribe(text, id=f"other {number}")
    hub.publish(BOTH, uri="urn:d")
    log = hub.events("a")
    hub.edit("a", text=Q)
    hub.store.compact()
    for number in range(3):
        hub.unsubscribe(f"other {number}")
    hub.store.compact()
    assert hub.events("a")[: len(log)] == log
    assert hub.newest("a", limit=100)[::-1] == hub.events("a")
    check(hub, "a")
    hub.unsubscribe("a")
    hub.store.compact()
    assert list(hub.store.problems()) == []
    with hub.store.reading() as reader:
        assert reader.log.after(0) == []


def test_a_query_that_several_ask_is_edited_for_one_of_them(hub):
    hub.subscribe(P, id="a")
    hub.subscribe(P, id="b")
    hub.publish(BOTH, uri="urn:d")
    hub.edit("a", text=Q)
    hub.publish("<urn:5> <urn:p> 5 .", uri="urn:e")
    assert told(hub.events("b")) == ["matched s=urn:1/o=1", "matched s=urn:2/o=2", "matched s=urn:5/o=5"]
    hub.edit("a", text=P)
    check(hub, "a", "b")
    assert set(hub.rows("a")) == set(hub.rows("b"))


def test_a_batch_that_is_replayed_gives_the_events_that_it_gave_before_an_edit(hub):
    hub.subscribe(P, id="a")
    gave = list(hub.publish(BOTH, uri="urn:d", batch="one"))
    hub.edit("a", text=Q)
    assert list(hub.apply([], batch="one")) == gave


@pytest.mark.parametrize(
    ("start", "other", "expected"),
    [
        ("now", None, ["urn:2"]),
        ("ever", None, ["urn:1", "urn:2"]),
        ("now", "ever", ["urn:1", "urn:2"]),
        ("ever", "now", []),
    ],
)
def test_an_edited_subscription_counts_what_it_counted_unless_its_start_is_edited(hub, start, other, expected):
    """S4."""
    hub.publish("<urn:1> <urn:p> 1 ; <urn:q> 1 .", uri="urn:d1")
    hub.subscribe(P, id="a", start=start)
    hub.publish("<urn:2> <urn:p> 2 ; <urn:q> 2 .", uri="urn:d2")
    hub.edit("a", text=Q, start=other)
    assert sorted(row["s"].value for row in hub.rows("a")) == expected
    check(hub, "a")


def test_scope_and_language_are_edited(hub):
    hub.subscribe(P, id="a")
    hub.publish("<urn:1> <urn:p> <urn:2> .", uri="urn:d1")
    hub.publish("<urn:2> <urn:q> 2 .", uri="urn:d2")
    joined = "SELECT ?s ?o { ?s <urn:p> ?x . ?x <urn:q> ?o }"
    hub.edit("a", text=joined, scope="graph")
    assert told(hub.events("a")[-1:]) == ["matched s=urn:1/o=2"]
    hub.publish("<menu><wine>red</wine></menu>", uri="urn:m", media_type="application/xml")
    with pytest.raises(UnsupportedQuery):
        hub.edit("a", text="/menu/wine", language="xpath")
    hub.edit("a", text="/menu/wine", language="xpath", scope="document")
    assert [row["text"].value for row in hub.rows("a")] == ["red"]
    hub.edit("a", text="/menu/*", scope="document")
    check(hub, "a")
    assert hub.subscription("a").language == "xpath"


def test_a_bad_edit_changes_nothing(hub):
    hub.subscribe(P, id="a", scope="graph")
    hub.publish(BOTH, uri="urn:d")
    known, log = hub.subscription("a"), hub.events("a")
    for wrong, error in (
        ({"text": "SELECT ?s {"}, QuerySyntaxError),
        ({"text": "SELECT ?a ?b { ?a <urn:p> 1 . ?b <urn:q> 2 }"}, UnsupportedQuery),
        ({"scope": "world"}, SubscriptionError),
        ({"title": "a\x00"}, SubscriptionError),
        ({"text": Q, "revision": "0-0"}, SubscriptionChanged),
    ):
        with pytest.raises(error):
            hub.edit("a", **wrong)
    with pytest.raises(UnknownSubscription):
        hub.edit("nobody", title="x")
    assert (hub.subscription("a"), hub.subscription("a").revision) == (known, known.revision)
    assert hub.events("a") == log
    check(hub, "a")


def test_an_edit_over_a_limit_changes_nothing(new_url):
    with Hub(new_url("sqlite"), most_triples=20) as hub:
        hub.subscribe(P, id="a")
        hub.publish("".join(f"<urn:{n}> <urn:q> {n} ." for n in range(100)), uri="urn:d")
        with pytest.raises(MatchLimitExceeded, match="'a'"):
            hub.edit("a", text=Q)
        assert hub.subscription("a").text == P
        check(hub, "a")


def test_a_title_and_a_description_come_and_go(hub):
    hub.subscribe(P, id="a", title="Water", description="for Maja")
    found = hub.subscription("a")
    assert (found.title, found.description, found.name) == ("Water", "for Maja", "Water")
    found = hub.edit("a", title="", description="for all")
    assert (found.title, found.description, found.name) == (None, "for all", "a")


def test_nothing_is_told_of_a_paused_subscription_and_nothing_is_lost(hub):
    hub.subscribe(P, id="a")
    hub.subscribe(P, id="b")
    hub.publish("<urn:1> <urn:p> 1 .", uri="urn:1")
    log = hub.events("a")
    assert hub.pause("a").paused_since is not None
    outcome = hub.publish("<urn:2> <urn:p> 2 .", uri="urn:2", batch="two")
    assert (len(outcome), {event.subscription for event in outcome}) == (1, {"b"})
    assert {event.subscription for event in hub.apply([], batch="two")} == {"b"}
    assert hub.events("a") == hub.newest("a")[::-1] == log
    assert len(hub.rows("a")) == 2, "it is matched"
    since = hub.subscription("a").paused_since
    assert hub.pause("a").paused_since == since, "paused twice is paused once"
    hub.edit("a", text=Q)
    hub.store.compact(keep_events_after=10_000)
    assert hub.resume("a").paused_since is None
    assert told(hub.events("a", after=log[-1].cursor)) == [
        "matched s=urn:2/o=2",
        "unmatched s=urn:1/o=1",
        "unmatched s=urn:2/o=2",
    ]
    assert len(hub.publish("<urn:3> <urn:q> 3 .", uri="urn:3")) == 1
    assert hub.rows("a")


def test_a_copy_asks_the_same_from_now_on(hub):
    hub.subscribe("SELECT ?s { ?s u:p ?o }", id="a", start="ever", prefixes={"u": "urn:"}, title="T", description="D")
    hub.publish("<urn:1> <urn:p> 1 .", uri="urn:1")
    made = hub.duplicate("a", new_id="b", title="U")
    assert (made.text, made.start, made.title, made.description) == ("SELECT ?s { ?s u:p ?o }", "now", "U", "D")
    hub.publish("<urn:2> <urn:p> 2 .", uri="urn:2")
    assert told(hub.events("b")) == ["matched s=urn:2"]
    assert hub.duplicate("a").title == "T"
    check(hub, "a", "b")


def test_a_subscription_that_waits_for_its_backfill_is_edited(hub):
    hub.publish(BOTH, uri="urn:d")
    hub.subscribe(P, id="a", start="ever", backfill="later")
    hub.subscribe(P, id="b", start="ever", backfill="later")
    hub.edit("a", text=Q)
    assert told(hub.events("a")) == ["matched s=urn:1/o=1", "matched s=urn:3/o=3"]
    hub.subscribe(Q, id="c", start="ever", backfill="later")
    hub.edit("b", text=Q)
    assert hub.backfill().subscriptions == 1
    hub.publish("<urn:9> <urn:q> 9 .", uri="urn:e")
    for id in "abc":
        assert {row["o"].value for row in hub.rows(id)} == {"1", "3", "9"}
    check(hub, "a", "b", "c")


def test_an_edited_rule_leaves_those_that_name_it_as_they_were(hub):
    """M3."""
    hub.subscribe("search Car c register c where c.year > 2000", language="rules", id="cars")
    hub.subscribe("search cars c register c where c.colour = 'red'", language="rules", id="red")
    before = hub.subscription("red").pattern
    hub.edit("cars", text="search Car c register c where c.year > 1900")
    assert hub.subscription("red").pattern == before
    hub.edit("red", text="search cars c register c where c.colour = 'red'")
    assert hub.subscription("red").pattern != before
    itself = "search cars c register c where c.year > 1"
    assert hub.edit("cars", text=itself).pattern == compile(itself, language="rules"), "not what it meant before"


def test_an_edit_tells_only_what_the_viewer_may_read(hub):
    """P8."""
    hub.publish("<urn:1> <urn:q> 1 .", uri="urn:open")
    hub.publish("<urn:2> <urn:q> 2 .", uri="urn:closed", access=Access(["otto"]))
    for scope in ("document", "graph"):
        hub.subscribe(P, id=f"maja {scope}", scope=scope, start="ever", viewer="maja")
        hub.edit(f"maja {scope}", text=Q)
        (event,) = hub.events(f"maja {scope}")
        assert [document.uri for document in event.documents] == ["urn:open"]
        check(hub, f"maja {scope}")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_another_process_follows_an_edit(new_url, kind):
    url = new_url(kind)
    with Hub(url) as one, Hub(url) as other:
        one.subscribe(P, id="a", scope="graph")
        assert len(other.publish(BOTH, uri="urn:d")) == 2
        one.edit("a", text=Q)
        assert told(other.publish("<urn:7> <urn:q> 7 ; <urn:p> 7 .", uri="urn:e")) == ["matched s=urn:7/o=7"]
        one.pause("a")
        assert len(other.retract("urn:e")) == 0
        other.resume("a")
        assert len(one.publish("<urn:8> <urn:q> 8 .", uri="urn:f")) == 1
        assert one.events("a") == other.events("a")
        check(one, "a")


def test_subscriptions_are_summed_up_searched_and_sorted(hub):
    hub.publish(BOTH, uri="urn:d")
    for id, title, owner, start in (
        ("a", "Zebra", "maja", "ever"),
        ("b", "apple", "otto", "now"),
        ("c", None, "maja", "ever"),
    ):
        hub.subscribe(P if id != "c" else "SELECT ?s { ?s <urn:p> 1 }", id=id, title=title, owner=owner, start=start)
    found = {one.subscription.id: one for one in hub.summaries().summaries}
    assert [(id, one.answers, one.columns) for id, one in found.items()] == [
        ("a", 2, ("s", "o")),
        ("b", 0, ("s", "o")),
        ("c", 1, ("s",)),
    ]
    assert [one.last_event for one in found.values()] == [hub.events("a")[-1].time, None, hub.events("c")[-1].time]

    def ids(**asked):
        return [one.subscription.id for one in hub.summaries(**asked).summaries]

    assert ids(words="zeb") == ids(words="ZEBRA maja") == ["a"]
    assert ids(owner="maja") == ids(words="MAJA") == ["a", "c"]
    assert (ids(sort="title"), ids(sort="-title"), ids(sort="-id")) == (
        ["b", "c", "a"],
        ["a", "c", "b"],
        ["c", "b", "a"],
    )
    assert (ids(sort="answers"), ids(sort="-answers"), ids(sort="-created")) == (
        ["b", "c", "a"],
        ["a", "c", "b"],
        ["c", "b", "a"],
    )
    for sort in ("id", "-answers", "title"):
        after, seen = "", []
        while after is not None:
            page = hub.summaries(sort=sort, limit=1, after=after)
            seen += [one.subscription.id for one in page.summaries]
            after = page.next
        assert seen == ids(sort=sort)
    with pytest.raises(ValueError, match="sort"):
        hub.summaries(sort="colour")
    hub.pause("a")
    hub.publish("<urn:1> <urn:p> 5 .", uri="urn:e")
    (a,) = hub.summaries(words="zebra").summaries
    assert (a.subscription.paused_since is not None, a.last_event, a.answers) == (True, hub.events("a")[-1].time, 3)
    hidden = hub.summaries(sees=lambda viewer: viewer is not None).summaries
    assert [(one.answers, one.last_event) for one in hidden] == [(None, None)] * 3


def test_answers_of_crowds_are_counted_once(hub):
    for number in range(4):
        hub.subscribe(f"SELECT ?s {{ ?s <urn:p> ?o FILTER(?o > {number}) }}", id=f"s{number}")
    hub.publish("<urn:1> <urn:p> 9 . <urn:2> <urn:p> 9 .", uri="urn:d1")
    hub.publish("<urn:1> <urn:p> 9 .", uri="urn:d2")
    hub.subscribe("SELECT ?s { ?s <urn:p> ?o FILTER(?o > 8) }", id="late")
    hub.publish("<urn:1> <urn:p> 9 . <urn:3> <urn:p> 1 .", uri="urn:d3")
    for one in hub.summaries().summaries:
        assert one.answers == len(hub.rows(one.subscription.id))
        assert one.last_event == hub.newest(one.subscription.id, limit=1)[0].time
