"""Quotas: what is over one is refused with the reason and when to come back; nothing that was taken in is lost (X9)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from hub.serving import problem, serving
from triplewire import Hub
from triplewire.client import Client
from triplewire.engine.inspect.costs import cost_of
from triplewire.errors import QueryTooCostly, QuotaSpent
from triplewire.hub.tenancy.quotas import DAY, EventQuota
from triplewire.store import Store

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"
TAXONOMY = "<urn:river> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:water> ."


def water(n):
    return f"<urn:d{n}> <urn:theme> <urn:water> ."


@pytest.fixture
def frugal(tmp_path):
    quotas = {"events": 3, "query_cost": 50, "sparql_seconds": 0.001}
    with serving(f"sqlite:///{tmp_path}/hub.db", quotas=quotas) as client:
        yield client


@pytest.fixture
def spent(frugal):
    """The three events of the day have happened."""
    frugal.subscribe("water", WATER)
    for n in range(3):
        assert frugal.publish(f"urn:{n}", water(n)).status_code == 201
    return frugal


def quotas_of(served):
    return served.server.config.app.state.service.tenants._open["main"].quotas


# -- events


@pytest.mark.parametrize("headers", [{}, {"Prefer": "wait"}, {"Idempotency-Key": "new"}, {"If-None-Match": "*"}])
def test_over_the_quota_of_events_no_document_is_taken_and_it_is_said_when_to_come_back(spent, headers):
    answer = spent.put(
        "/v1/document", params={"uri": "urn:3"}, content=water(3), headers={"Content-Type": "text/turtle"} | headers
    )
    told = problem(answer, 429, "quota-spent")
    assert (told["what"], told["most"]) == ("events", 3)
    assert "retracted" in told["detail"]
    assert 86_300 < int(answer.headers["retry-after"]) <= 86_520
    assert spent.get("/v1/document", params={"uri": "urn:3"}).status_code == 404


def test_what_was_told_before_is_there_and_documents_can_be_retracted(spent):
    problem(spent.publish("urn:3", water(3)), 429)
    assert len(spent.events("water")["events"]) == 3
    assert len(spent.get("/v1/subscriptions/water/rows").json()["rows"]) == 3
    assert spent.retract("urn:0", Prefer="wait").json()["events"][0]["kind"] == "unmatched"
    assert [event["kind"] for event in spent.events("water")["events"]] == ["matched"] * 3 + ["unmatched"]


def test_what_was_applied_before_is_answered_again(frugal):
    frugal.subscribe("water", WATER)
    first = [frugal.publish(f"urn:{n}", water(n), Idempotency_Key=f"b{n}").json() for n in range(3)]
    again = frugal.publish("urn:0", water(0), Idempotency_Key="b0")
    assert again.status_code == 201
    assert again.json() == first[0]


def test_documents_are_taken_again_when_the_day_has_moved_on(spent):
    """Invariant of `hub.tenancy.quotas`: what a spent quota of events refuses is served later."""
    quota = quotas_of(spent).events
    problem(spent.publish("urn:3", water(3)), 429)
    now = datetime.now(UTC)
    wait = quota.wait()
    quota._now = lambda: now + timedelta(seconds=wait - 61)
    problem(spent.publish("urn:3", water(3)), 429)
    quota._now = lambda: now + timedelta(seconds=wait + 1)
    assert spent.publish("urn:3", water(3)).status_code == 201


def test_an_upload_reports_each_document_that_is_over_the_quota_and_other_documents_of_it_are_retracted(spent):
    lines = '{"uri": "urn:9", "content": "<urn:s> <urn:p> 1 ."}\n{"uri": "urn:0", "retract": true}\n'
    told = spent.post("/v1/documents", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()
    assert (told["published"], told["retracted"], told["refused"]) == (0, 1, 1)
    assert told["problems"][0]["problem"]["status"] == 429


def test_what_else_would_cause_events_is_refused_and_what_would_not_is_served(spent):
    problem(spent.subscribe("ever", WATER, start="ever"), 429, "quota-spent")
    assert spent.subscribe("now", WATER).status_code == 201
    answer = spent.put("/v1/taxonomy", content=TAXONOMY, headers={"Content-Type": "text/turtle"})
    problem(answer, 429, "quota-spent")


def test_a_client_raises_the_same_error(spent):
    with Client(spent.url) as client, pytest.raises(QuotaSpent, match="events a day is used up") as found:
        client.publish(water(5), uri="urn:5")
    assert found.value.seconds > 86_000


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_events_of_the_last_day_are_those_that_counting_all_batches_gives(new_url, kind):
    """Against recomputation: batches of three days, the quota looked at again and again as time goes on."""
    chance = random.Random(7)
    start = datetime(2026, 5, 1, tzinfo=UTC)
    now = start
    with Store.open(new_url(kind)) as store:
        made = []
        with store.writing() as writer:
            for n in range(200):
                now += timedelta(seconds=chance.randint(0, 600))
                made.append((now, chance.randint(0, 9)))
                writer.batches.add(f"b{n}", committed=now.isoformat(), documents=1, events=made[-1][1])
        clock = [now]
        quota = EventQuota(store, 10, now=lambda: clock[0])
        for _ in range(300):
            begin = (clock[0] - DAY).replace(second=0, microsecond=0)
            assert quota.used() == sum(events for at, events in made if at >= begin)
            clock[0] += timedelta(seconds=chance.randint(0, 900))
            if chance.random() < 0.3:
                made.append((clock[0], chance.randint(0, 9)))
                with store.writing() as writer:
                    writer.batches.add(f"b{len(made)}", committed=clock[0].isoformat(), documents=1, events=made[-1][1])


# -- what a query costs


def test_a_query_that_would_cost_too_much_is_refused_with_what_makes_it_cheaper(frugal):
    frugal.publish("urn:doc", " ".join(f"<urn:d{n}> <urn:size> {n} ; <urn:age> {n} ." for n in range(30)))
    frugal.publish("urn:one", "<urn:d1> <urn:theme> <urn:water> .")
    sizes = "SELECT ?d { ?d <urn:size> ?s . ?d <urn:age> ?a }"
    preview = frugal.post("/v1/preview", json={"text": sizes}).json()
    assert preview["cost_allowed"] == 50
    told = problem(frugal.subscribe("sizes", sizes), 403, "query-too-costly")
    assert (told["cost"], told["most"]) == (preview["cost"]["total"], 50) == (62, 50)
    assert "add a triple pattern that fewer have" in told["detail"]
    assert "<urn:age>" in told["dearest"]
    assert frugal.subscribe("some", "SELECT ?d { ?d <urn:size> ?s . ?d <urn:theme> <urn:water> }").status_code == 201
    many = " UNION ".join(f"{{ ?d <urn:p{n}> 1 }}" for n in range(51))
    problem(frugal.subscribe("many", f"SELECT ?d {{ {many} }}"), 403, "query-too-costly")
    assert [each["id"] for each in frugal.get("/v1/subscriptions").json()["subscriptions"]] == ["some"]


def test_an_edit_must_not_cost_more_than_a_subscription(frugal):
    assert frugal.subscribe("few", "/a/b[c = 1]", language="xpath").status_code == 201
    for method in ("PATCH", "PUT"):
        wanted = {"text": "/a" * 60, "language": "xpath"}
        problem(frugal.request(method, "/v1/subscriptions/few", json=wanted), 403, "query-too-costly")
    assert frugal.get("/v1/subscriptions/few").json()["text"] == "/a/b[c = 1]"
    assert frugal.post("/v1/subscriptions/few/duplicate", json={}).status_code == 201


def test_what_is_no_query_is_refused_as_such(frugal):
    problem(frugal.subscribe("bad", "SELECT ?d { ?d <urn:size> }"), 400, "query-syntax-error")


def test_an_xpath_query_costs_its_steps(frugal):
    assert frugal.subscribe("few", "/a/b[c = 1]", language="xpath").status_code == 201
    told = problem(frugal.subscribe("steps", "/a" * 60, language="xpath"), 403, "query-too-costly")
    assert "fewer steps" in told["detail"]


def test_a_client_raises_that_it_is_too_costly(frugal):
    with Client(frugal.url) as client, pytest.raises(QueryTooCostly) as found:
        client.subscribe("/a" * 60, language="xpath")
    assert found.value.most == 50


def test_cost_of_alternatives_is_their_sum_and_of_a_conjunction_that_of_its_rarest_triple_pattern():
    with Hub(":memory:") as hub:
        hub.publish(" ".join(f"<urn:{n}> <urn:many> {n} ." for n in range(9)) + "<urn:1> <urn:few> 1 .", uri="urn:d")
        both = hub.preview("SELECT ?s { ?s <urn:many> ?a . ?s <urn:few> ?b }").cost
        assert (both.total, both.triples) == (4, 1)
        either = hub.preview("SELECT ?s { { ?s <urn:many> ?a } UNION { ?s <urn:few> ?b } }")
        assert either.cost.total == 10 + 2
        assert "cost: 12" in str(either)
        pattern = hub.subscribe("SELECT ?s { ?s <urn:none> ?a }").pattern
        with hub.store.reading() as reader:
            assert cost_of(pattern, reader).total == 1


# -- SPARQL


def test_queries_are_refused_when_the_seconds_of_the_minute_are_used_and_answered_again_later(frugal):
    """Invariant of `hub.tenancy.quotas`: what a spent quota of seconds refuses is served later."""
    ask = {"query": "ASK { ?s ?p ?o }"}
    assert frugal.get("/v1/sparql", params=ask).status_code == 200
    quota = quotas_of(frugal).sparql
    assert quota.used() > 0
    quota.spend(1.0)
    answer = frugal.get("/v1/sparql", params=ask)
    told = problem(answer, 429, "quota-spent")
    assert (told["what"], told["most"]) == ("seconds of SPARQL", 0.001)
    assert int(answer.headers["retry-after"]) > 3_600
    assert frugal.publish("urn:1", water(1)).status_code == 201
    later = quota._clock() + 2 * told["seconds"]
    quota._clock = lambda: later
    assert frugal.get("/v1/sparql", params=ask).status_code == 200


# -- shown


def test_statistics_and_metrics_tell_what_is_used_and_what_was_refused(spent):
    problem(spent.publish("urn:3", water(3)), 429)
    problem(spent.subscribe("steps", "/a" * 60, language="xpath"), 403)
    told = {each["name"]: each for each in spent.get("/v1/statistics").json()["quotas"]}
    assert told["events"] == {"name": "events", "used": 3, "most": 3, "refused": 1}
    assert told["query_cost"] == {"name": "query_cost", "used": None, "most": 50, "refused": 1}
    assert told.keys() == {"events", "query_cost", "sparql_seconds"}
    lines = httpx.get(f"{spent.url}/v1/metrics", trust_env=False).text.splitlines()
    assert 'triplewire_quota_used{quota="events",tenant="main"} 3.0' in lines
    assert 'triplewire_quota_refused_total{quota="query_cost",tenant="main"} 1.0' in lines
