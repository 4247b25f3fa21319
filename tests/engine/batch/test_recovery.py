"""What failed in a batch is answered again by a later one, whole."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from tests.contracts.listening import replayed

from triplewire import Hub
from triplewire.engine.batch.recovery import Stale

PAIRS = "SELECT ?x ?z { ?x <urn:q> ?y . ?z <urn:q> ?y . ?z <urn:r> ?w . ?w <urn:r> ?v }"
"""As many answers as pairs at one node: they soon take too many triples."""


@pytest.fixture
def hub(new_url):
    with Hub(new_url("sqlite"), most_triples=60) as hub:
        hub.subscribe(PAIRS, id="many", scope="graph")
        hub.subscribe("SELECT ?x { ?x <urn:q> <urn:hub> }", id="few", scope="graph")
        yield hub


def crowd(names: str, count: int) -> str:
    return "".join(f":{names}{number} :q :hub ; :r :b . " for number in range(count))


def failed(outcome) -> list[str]:
    return [error.subscription for error in outcome.errors]


def kinds(outcome) -> Counter[tuple[str, str]]:
    return Counter((event.subscription, event.kind) for event in outcome)


def test_rows_are_right_again_as_soon_as_they_can_be_found(hub, publish_in):
    publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first")
    assert failed(publish_in(hub, crowd("x", 70), "urn:crowd")) == ["many"]
    assert list(hub.check()), "the rows are out of date"
    outcome = publish_in(hub, crowd("x", 3), "urn:crowd")
    assert failed(outcome) == []
    assert len(hub.rows("many")) == 16
    assert kinds(outcome)["many", "matched"] == 15
    assert list(hub.check()) == []
    assert len(hub.events("many")) == 16


def test_a_row_that_went_meanwhile_is_told_to_have_ended(hub, publish_in):
    publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first")
    publish_in(hub, crowd("x", 70), "urn:crowd")
    assert failed(hub.retract("urn:first")) == ["many"], "nothing is left of its only row, but who could tell?"
    assert len(hub.rows("many")) == 1
    hub.retract("urn:crowd")
    publish_in(hub, ":e :r :f .", "urn:elsewhere")  # by now it is due
    assert hub.rows("many") == []
    assert [event.kind for event in hub.events("many")] == ["matched", "changed", "unmatched"]
    assert list(hub.check()) == []


def test_what_fails_again_and_again_is_tried_ever_more_rarely(hub, publish_in):
    publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first")
    tried = [bool(failed(publish_in(hub, crowd("x", 70), "urn:crowd")))]
    tried += [bool(failed(publish_in(hub, f":e :r :f{number} .", "urn:elsewhere"))) for number in range(15)]
    assert [number for number, is_tried in enumerate(tried) if is_tried] == [0, 1, 3, 7, 15]


def test_another_process_knows_what_failed(new_url, publish_in):
    url = new_url("sqlite")
    with Hub(url, most_triples=60) as hub:
        hub.subscribe(PAIRS, id="many", scope="graph")
        publish_in(hub, ":b :r :c .", "urn:first")
        assert failed(publish_in(hub, crowd("x", 70), "urn:crowd")) == ["many"]
    with Hub(url) as other:
        outcome = publish_in(other, ":e :r :f .", "urn:elsewhere")
        assert kinds(outcome) == {("many", "matched"): 4900}
        assert list(other.check()) == []


def test_a_query_that_nobody_asks_any_more_is_forgotten(hub, publish_in):
    publish_in(hub, crowd("x", 70) + ":b :r :c .", "urn:crowd")
    hub.unsubscribe("many")
    assert failed(publish_in(hub, ":e :r :f .", "urn:elsewhere")) == []
    with hub.store.reading() as reader:
        assert reader.settings.get("engine.failed_queries") == {}
    assert list(hub.check()) == []


def test_a_subscription_says_since_when_its_rows_may_be_out_of_date(hub, publish_in):
    publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first")
    assert hub.subscription("many").stale_since is None
    began = datetime.now(UTC)
    publish_in(hub, crowd("x", 70), "urn:crowd")
    since = hub.subscription("many").stale_since
    assert began - timedelta(seconds=1) < since < datetime.now(UTC)
    publish_in(hub, ":e :r :f .", "urn:elsewhere")  # which fails again
    assert {each.id: each.stale_since for each in hub.subscriptions()} == {"many": since, "few": None}
    hub.retract("urn:crowd")
    publish_in(hub, ":e :r :f2 .", "urn:elsewhere")
    assert hub.subscription("many").stale_since is None


def test_rows_are_right_again_after_a_while_though_no_batch_comes(hub, publish_in):
    publish_in(hub, ":a :q :hub ; :r :b . :b :r :c .", "urn:first")
    publish_in(hub, crowd("x", 70), "urn:crowd")
    publish_in(hub, ":e :r :f .", "urn:elsewhere")
    hub.retract("urn:crowd")  # it is not due yet
    assert hub.subscription("many").stale_since is not None
    assert hub.recover() is None, "its time has not come"
    with hub.store.writing() as writer:
        waiting = writer.settings.get("engine.failed_queries")
        long_ago = {
            query: Stale(*wait)._replace(due_at="2020-01-01T00:00:00.000+00:00") for query, wait in waiting.items()
        }
        writer.settings.set("engine.failed_queries", long_ago)
    outcome = hub.recover()
    assert outcome is not None
    assert not outcome.errors
    assert len(hub.rows("many")) == 1
    assert list(hub.check()) == []
    assert hub.subscription("many").stale_since is None
    assert hub.recover() is None


def test_the_time_between_two_attempts_grows_to_an_hour():
    now = "2026-01-01T00:00:00.000+00:00"
    wait = Stale(now, "", 1, 1, now, 60)
    waits = []
    for _ in range(8):
        wait = wait.failed_again(1, now, "")
        waits.append((datetime.fromisoformat(wait.due_at) - datetime.fromisoformat(now)).total_seconds())
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_what_an_older_version_wrote_of_failed_queries_is_read(hub, publish_in):
    publish_in(hub, crowd("x", 70) + ":b :r :c .", "urn:crowd")
    with hub.store.writing() as writer:
        (query,) = writer.settings.get("engine.failed_queries")
        writer.settings.set("engine.failed_queries", {query: [1000, 4]})
    assert hub.subscription("many").stale_since is None
    assert hub.recover() is not None


DEAR = "//b[following::b[preceding::b[. = 'x']]]"
"""On a long document it might take too many steps."""


def letters(count: int, first: str = "x") -> str:
    return f"<a><b>{first}</b>{'<b>x</b>' * (count - 1)}</a>"


def test_an_expression_that_took_too_long_is_right_again_when_documents_are_short_again(new_url):
    uri = "https://letters.example/1.xml"
    with Hub(new_url("sqlite")) as hub:
        hub.subscribe(DEAR, language="xpath", id="dear")
        hub.subscribe("/a/b[1]", language="xpath", id="cheap")
        assert kinds(hub.publish(letters(3), uri=uri)) == {("dear", "matched"): 2, ("cheap", "matched"): 1}
        before = set(hub.rows("dear"))
        outcome = hub.publish(letters(3_000, "y"), uri=uri)
        assert failed(outcome) == ["dear"]
        assert kinds(outcome) == {("cheap", "changed"): 1}, "the others are served"
        assert set(hub.rows("dear")) == before
        assert failed(hub.publish(letters(3_001, "y"), uri=uri)) == ["dear"]
        hub.publish(letters(4), uri=uri)  # it is not due, and what was there before is not known
        outcome = hub.publish(letters(4, "w"), uri=uri)
        assert failed(outcome) == []
        assert len(hub.rows("dear")) == 3
        told = [event.row for event in outcome if event.subscription == "dear"]
        assert len(told) == len(set(told)), "each row is told of once"
        assert list(hub.check()) == []
        assert replayed(hub.events("dear")) == set(hub.rows("dear"))
