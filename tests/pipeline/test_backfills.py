"""Backfills beside a stream: whoever is filled hears what the definition tells one that subscribes at that moment."""

from __future__ import annotations

import random
import time
from collections import Counter
from threading import Event

import pytest
from tests.contracts.reference import Reference
from tests.pipeline.drivers import PATIENCE, Driver
from tests.pipeline.streams import Running, eventually
from typer.testing import CliRunner

from engine.workers import SUBSCRIPTIONS, batch
from triplewire import Hub
from triplewire.cli.app import app
from triplewire.engine.backfill import backfills
from triplewire.engine.names import OwnName
from triplewire.engine.workers import OneWorker, Worker
from triplewire.errors import PipelineError, StoreUnavailable
from triplewire.model import Row
from triplewire.pipeline.streaming.backfills import POOL, Backfiller
from triplewire.pipeline.streaming.workers import SparkWorkers


class Told:
    """A hub whose submissions are each a batch of a stream, and which has subscriptions that are filled meanwhile."""

    def __init__(self, hub: Hub, before: int) -> None:
        self.hub, self.sent, self.asked = hub, 0, 0
        for _ in range(before):
            self.sent += 1
            hub.apply(batch(self.sent), batch=OwnName(f"stream-before-{self.sent}"))

    def send(self, count: int) -> int:
        for _ in range(count):
            self.sent += 1
            position = self.hub.submit(batch(self.sent))
        return position

    def subscribe(self) -> None:
        """One of each kind and scope, to be filled later; after the first time, to queries that others have, too."""
        self.asked += 1
        for name, text in SUBSCRIPTIONS.items():
            for scope in ("graph", "document"):
                id = f"{name} {scope} {self.asked}"
                self.hub.subscribe(text, id=id, scope=scope, start="ever", backfill="later")

    def are_filled(self) -> bool:
        return {one.state for one in self.hub.backfills(limit=10_000)} <= {"done", "failed"}

    def check_all(self) -> None:
        """Each event of the definition once, as it is for one that subscribes when this one was filled."""
        assert list(self.hub.check()) == []
        assert {one.state for one in self.hub.backfills(limit=10_000)} == {"done"}
        order = [record.id for record in self.hub.batches(limit=100_000)]
        for one in list(self.hub.subscriptions()):
            log = self.hub.events(one.id)
            first = [event for event in log if event.batch.startswith("backfill-")]
            assert log[: len(first)] == first, "what was there already is told first"
            assert len({event.batch for event in first}) <= 1, "and told once"
            if first:
                done = sum(id.startswith("stream-") for id in order[: order.index(first[0].batch)])
                expected = self.by_definition(one, done)
                assert Counter((e.kind, e.row) for e in log) == expected, one.id

    def by_definition(self, subscription, done: int) -> Counter:
        reference = Reference()
        for number in range(1, self.sent + 1):
            if number == done + 1:
                reference.subscribe(
                    subscription.text, language="sparql", id="it", scope=subscription.scope, start="ever"
                )
            reference.apply(batch(number))
        if done == self.sent:
            reference.subscribe(subscription.text, language="sparql", id="it", scope=subscription.scope, start="ever")
        return Counter((event.kind, Row(event.row)) for event in reference.events("it"))


def fill_beside(spark, url, folder, rounds: int, submissions: int) -> None:
    told = Told(Hub(url), 6)
    running = Running(spark, url, folder, most=1)
    try:
        for _ in range(rounds):
            told.send(submissions)
            told.subscribe()
            running.wait_for(told.send(submissions))
        eventually(lambda: running.error or told.are_filled(), "all subscriptions are filled")
    finally:
        running.close()
    assert any(text.startswith("backfills: ") for text in running.said)
    told.check_all()
    told.hub.close()


@pytest.mark.slow
def test_subscriptions_are_filled_while_a_stream_goes_on(spark, new_url, tmp_path):
    fill_beside(spark, new_url("sqlite"), tmp_path, rounds=1, submissions=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_subscriptions_are_filled_while_a_stream_goes_on_for_long(spark, new_url, tmp_path, kind):
    fill_beside(spark, new_url(kind), tmp_path, rounds=6, submissions=3)


@pytest.mark.slow
def test_a_driver_that_is_killed_while_it_fills_leaves_every_event_once(new_url, tmp_path):
    url, chance = new_url("sqlite"), random.Random(7)
    told = Told(Hub(url), 10)
    were_running = 0
    for number in range(6):
        told.subscribe()
        told.send(4)
        driver = Driver(url, tmp_path, "--most", "1")
        until = time.monotonic() + PATIENCE
        while not told.hub.backfills(state="running") and not told.are_filled():
            assert driver.process.poll() is None, "the driver has ended by itself"
            assert time.monotonic() < until, "the driver fills nothing"
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 1.0) if number % 2 else 0.0)
        driver.kill()
        were_running += bool(told.hub.backfills(state="running"))
        assert list(told.hub.store.problems()) == []
    assert were_running, "some were killed at work"
    assert Driver(url, tmp_path, "--most", "1", "--once").end() == 0
    told.check_all()
    told.hub.close()


# -- what may go wrong, without Spark


class Failing(OneWorker):
    """Looks in this process, and fails at jobs that have a certain query."""

    def __init__(self, store, pattern: str, error: Exception) -> None:
        super().__init__(store)
        self._pattern, self._error = pattern, error

    def each(self, work, shares):
        if any(self._pattern in pattern for _, _, pattern in work.keywords["job"].queries):
            raise self._error
        return super().each(work, shares)

    def cancel(self) -> None:
        pass


@pytest.fixture
def hub(new_url):
    with Hub(new_url("sqlite")) as found:
        found.publish("<urn:a> <urn:p> <urn:b> . <urn:a> <urn:q> <urn:b> .", uri="urn:d")
        yield found


def wait_for(hub: Hub, *predicates: str) -> None:
    for name in predicates:
        hub.subscribe(f"SELECT ?x {{ ?x <urn:{name}> ?y }}", id=name, start="ever", backfill="later")


def states(hub: Hub) -> dict[str, str]:
    return {one.subscription: one.state for one in hub.backfills()}


def test_one_that_fails_alone_fails_alone(hub):
    wait_for(hub, "p", "q")
    said: list[str] = []
    backfiller = Backfiller(hub, Failing(hub.store, "urn:q", RuntimeError("a worker died")), said.append)
    for _ in range(3):
        backfiller._fill(Event())
    assert states(hub) == {"p": "done", "q": "failed"}
    assert said[0] == "a backfill failed (a worker died); trying again, one subscription after the other"
    assert said[-1] == "the backfill of q failed: a worker died"
    assert [one.reason for one in hub.backfills(state="failed")] == ["a worker died"]
    assert hub.events("q") == []
    assert len(hub.events("p")) == 1
    Backfiller(hub, Failing(hub.store, "urn:nothing", RuntimeError()), said.append).once()
    assert states(hub) == {"p": "done", "q": "done"}, "the next stream tries again"
    assert [event.kind for event in hub.events("q")] == ["matched"]


def test_a_store_that_is_away_fails_nobody(hub):
    wait_for(hub, "p")
    backfiller = Backfiller(hub, Failing(hub.store, "urn:p", StoreUnavailable("away")), print)
    with pytest.raises(StoreUnavailable):
        backfiller._fill(Event())
    assert states(hub) == {"p": "queued"}


def test_answers_beyond_the_limit_fail_with_the_reason(new_url):
    with Hub(new_url("sqlite"), most_triples=20) as hub:
        crowd = "".join(f"<urn:{n}> <urn:q> <urn:hub> . <urn:{n}> <urn:r> <urn:b> . " for n in range(30))
        hub.publish(crowd + "<urn:b> <urn:r> <urn:c> .", uri="urn:crowd")
        many = "SELECT ?x ?z { ?x <urn:q> ?y . ?z <urn:q> ?y . ?z <urn:r> ?w . ?w <urn:r> ?v }"
        hub.subscribe(many, id="many", scope="graph", start="ever", backfill="later")
        hub.subscribe("SELECT ?x { ?x <urn:q> <urn:hub> }", id="few", scope="graph", start="ever", backfill="later")
        filled = hub.backfill()
        assert list(filled.failed) == ["many"]
        assert "triples" in filled.failed["many"]
        assert states(hub) == {"many": "failed", "few": "done"}
        assert len(hub.events("few")) == 30, "each seed alone is within the limit"


def test_who_subscribes_at_once_to_a_query_that_waits_gets_all_of_it(hub):
    wait_for(hub, "p")
    hub.publish("<urn:c> <urn:p> <urn:b> .", uri="urn:e")
    hub.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="now", start="ever", backfill="now")
    assert len(hub.events("now")) == len(hub.rows("now")) == 2
    assert hub.events("p") == []
    hub.backfill()
    assert len(hub.events("p")) == 2
    assert list(hub.check()) == []


def test_where_a_stream_runs_on_a_large_store_subscribers_wait_by_themselves(hub, monkeypatch):
    monkeypatch.setattr(backfills, "LARGE", 1)
    text = "SELECT ?x { ?x <urn:p> ?y }"
    hub.subscribe(text, id="nobody there", start="ever")
    with hub.store.writing() as writer:
        backfills.beat(writer)
    hub.subscribe(text, id="later", start="ever")
    hub.subscribe(text, id="now", start="ever", backfill="now")
    monkeypatch.setattr(backfills, "LARGE", 1000)
    hub.subscribe(text, id="small", start="ever")
    assert states(hub) == {"later": "queued"}
    with hub.store.writing() as writer:
        backfills.leave(writer)
    with pytest.raises(ValueError, match='"auto", "now" or "later"'):
        hub.subscribe(text, backfill="soon")


def test_the_command_says_what_waits(hub, tmp_path):
    path = hub.store.url.removeprefix("sqlite:///")
    ask = ["subscribe", path, "-l", "sparql", "SELECT ?x { ?x <urn:p> ?y }", "--id", "p", "--start", "ever"]
    assert CliRunner().invoke(app, [*ask, "--backfill", "later"]).exit_code == 0
    told = CliRunner().invoke(app, ["status", "--store", path])
    assert "1 queued, 0 running, 0 done, 0 failed" in told.stdout
    refused = CliRunner().invoke(app, ["subscribe", "http://127.0.0.1:9/", *ask[2:], "--backfill", "later"])
    assert refused.exit_code == 2
    assert "decided by the hub" in refused.output


def test_a_backfill_that_was_begun_by_one_that_is_gone_is_begun_again(hub):
    wait_for(hub, "p")
    with hub.store.writing() as writer:
        writer.backfills.begin([hub.backfills()[0].number])
    assert hub.backfill().subscriptions == 1
    assert len(hub.events("p")) == 1


def test_after_the_end_no_job_is_begun(spark):
    workers = SparkWorkers(spark.sparkContext, "sqlite:///nothing.db", pool=POOL)
    assert workers.each(Worker.find, []) == []
    workers.cancel()
    with pytest.raises(PipelineError, match="for the next run"):
        workers.each(Worker.find, [[]])
