"""Subscriptions, rows, events and questions over HTTP (X4, X5, X7, N8)."""

from __future__ import annotations

import asyncio
import json
import resource
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from hub.serving import problem, serving
from triplewire import Hub
from triplewire.client import Client
from triplewire.model import spelled

TITLES = "SELECT ?d ?t { ?d <urn:title> ?t }"


def title(n: int, text: str = "x") -> str:
    return f"<urn:{n}> <urn:title> '{text}' ."


def test_subscription_is_made_read_listed_and_forgotten(served):
    made = served.post("/v1/subscriptions", json={"text": TITLES, "id": "a b?c", "scope": "graph"})
    assert made.status_code == 201
    assert made.headers["location"] == "/v1/subscriptions/a%20b%3Fc"
    assert (
        served.get(made.headers["location"]).json()
        == made.json()
        == {
            "id": "a b?c",
            "text": TITLES,
            "language": "sparql",
            "scope": "graph",
            "start": "now",
            "reach": "hub",
            "owner": None,
            "columns": ["d", "t"],
            "past_columns": [],
            "viewer": None,
            "stale_since": None,
            "title": None,
            "description": None,
            "paused_since": None,
            "revision": made.headers["etag"].strip('"'),
            "answers": 0,
            "last_event": None,
        }
    )
    problem(served.subscribe("a b?c", TITLES), 409, "duplicate-subscription")
    assert served.delete(made.headers["location"]).status_code == 204
    problem(served.get(made.headers["location"]), 404, "unknown-subscription")
    problem(served.delete(made.headers["location"]), 404, "unknown-subscription")


def test_subscription_without_an_id_gets_one(served):
    id = served.post("/v1/subscriptions", json={"text": TITLES}).json()["id"]
    assert served.get(f"/v1/subscriptions/{id}").status_code == 200


def test_putting_a_subscription_twice_is_putting_it_once(served):
    wanted = {"text": "SELECT ?d { ?d u:title ?t }", "prefixes": {"u": "urn:"}}
    assert served.put("/v1/subscriptions/a", json=wanted).status_code == 201
    served.publish("urn:1", title(1))
    assert served.put("/v1/subscriptions/a", json=wanted).status_code == 200
    assert len(served.events("a")["events"]) == 1
    problem(served.put("/v1/subscriptions/a", json=wanted | {"id": "b"}), 400, "bad-request")


def test_subscriptions_are_listed_page_by_page(served):
    for n in range(5):
        served.subscribe(f"s{n}", TITLES)
    first = served.get("/v1/subscriptions", params={"limit": 3}).json()
    rest = served.get("/v1/subscriptions", params={"limit": 3, "after": first["next"]}).json()
    assert [each["id"] for each in first["subscriptions"] + rest["subscriptions"]] == [f"s{n}" for n in range(5)]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("wanted", "status", "kind"),
    [
        ({"text": "SELECT ?d {"}, 400, "query-syntax-error"),
        ({"text": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}, 422, "unsupported-query"),
        ({"text": TITLES, "language": "latin"}, 422, "bad-request"),
        ({"text": TITLES, "scope": "world"}, 422, "bad-request"),
        ({"text": TITLES, "colour": "red"}, 422, "bad-request"),
        ({"text": TITLES, "id": "a/b"}, 422, "bad-request"),
        ({"text": TITLES, "id": "a\u0000"}, 422, "bad-request"),
        ({}, 422, "bad-request"),
        ([], 422, "bad-request"),
    ],
)
def test_bad_subscription_is_refused_with_the_reason(served, wanted, status, kind):
    problem(served.post("/v1/subscriptions", json=wanted), status, kind)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("subscriptions", r'{"text": "SELECT ?s { ?s u:p ?o }", "prefixes": {"u": "urn:\ud800"}}'),
        ("subscriptions", r'{"text": "SELECT ?s { ?s <urn:p> ?o }", "id": "\uD800"}'),
        ("preview", r"""{"text": "SELECT ?s { ?s <urn:p> '\ud800' }"}"""),
        ("subscriptions/a/why", r'{"row": {"\udfff": "<urn:x>"}}'),
        ("subscriptions/a/why-not", r'{"resource": "\ud800"}'),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(served, target, text):
    served.subscribe("a", TITLES)
    json_type = {"Content-Type": "application/json"}
    problem(served.post(f"/v1/{target}", content=text, headers=json_type), 400, "bad-request")
    whole = r'{"text": "SELECT ?s { ?s <urn:p> \"\ud83d\ude00\" }"}'
    assert served.post("/v1/preview", content=whole, headers=json_type).status_code == 200


def test_syntax_error_says_where(served):
    told = problem(served.subscribe("a", "SELECT ?d\nWHERE { ?d <urn:p> }"), 400, "query-syntax-error")
    assert told["language"] == "sparql"
    assert told["line"] == 2


def test_rows_are_what_the_hub_says(served):
    served.subscribe("a", TITLES)
    served.publish("urn:1", title(1, "rain"))
    found = served.get("/v1/subscriptions/a/rows").json()
    assert found == {"columns": ["d", "t"], "rows": [{"d": "<urn:1>", "t": '"rain"'}], "next": None}


def test_events_are_read_from_a_cursor_without_gaps_or_repetition(served):
    served.subscribe("a", TITLES)
    for n in range(7):
        served.publish(f"urn:{n}", title(n))
    cursor, seen = 0, []
    while page := served.events("a", after=cursor, limit=3)["events"]:
        seen += [event["row"]["d"] for event in page]
        cursor = page[-1]["cursor"]
    assert seen == [f"<urn:{n}>" for n in range(7)]
    assert served.events("a", after=cursor) == {"events": [], "next": cursor}


def test_events_have_their_times_and_are_asked_for_by_them(served):
    served.subscribe("a", TITLES)
    with Client(served.url) as client:
        sent = [client.publish(title(n), uri=f"urn:{n}")[0] for n in range(3)]
        assert [event["time"] for event in served.events("a")["events"]] == [spelled(event.time) for event in sent]
        assert client.events("a") == served.hub.events("a") == sent
        since, until = sent[1].time, sent[2].time
        expected = [event for event in sent if since <= event.time < until]
        assert client.events("a", since=since, until=until) == expected
        told = served.events("a", since=since.isoformat(), until=until.isoformat(), limit=1)["events"]
        assert [event["cursor"] for event in told] == [event.cursor for event in expected][:1]
        assert next(iter(client.follow("a"))).time == sent[0].time
    problem(served.get("/v1/subscriptions/a/events", params={"since": "yesterday"}), 422, "bad-request")


def test_events_have_the_contents_before_and_after_when_asked_for(served):
    served.subscribe("a", "SELECT ?d { ?d <urn:title> ?t }")
    served.publish("urn:1", title(1, "old"))
    served.publish("urn:1", title(1, "new"))
    told = served.events("a", after=1, contents=True)["events"][0]
    assert (told["kind"], told["before"], told["after"]) == (
        "changed",
        ['<urn:1> <urn:title> "old"'],
        ['<urn:1> <urn:title> "new"'],
    )
    assert "before" not in served.events("a", after=1)["events"][0]


def test_who_waits_for_events_gets_them_when_they_come(served):
    served.subscribe("a", TITLES)
    found = {}

    def wait():
        found.update(served.events("a", wait=30))

    waiting = threading.Thread(target=wait)
    waiting.start()
    served.publish("urn:other", "<urn:x> <urn:other> 1 .")
    served.publish("urn:1", title(1))
    waiting.join()
    assert [event["row"]["d"] for event in found["events"]] == ["<urn:1>"]


def test_who_waits_in_vain_is_told_so(served):
    served.subscribe("a", TITLES)
    assert served.events("a", wait=0.2) == {"events": [], "next": 0}
    problem(served.get("/v1/subscriptions/b/events", params={"wait": 5}), 404, "unknown-subscription")


def test_who_waits_hears_of_what_another_process_published(served, tmp_path):
    served.subscribe("a", TITLES)
    found = {}
    waiting = threading.Thread(target=lambda: found.update(served.events("a", wait=30)))
    waiting.start()
    with Hub(f"sqlite:///{tmp_path}/hub.db") as other:
        other.publish(title(1), uri="urn:1")
    waiting.join()
    assert len(found["events"]) == 1


def lines_of(stream: httpx.Response):
    """The Server-Sent Events of an answer, each as a dictionary."""
    event = {}
    for line in stream.iter_lines():
        if line:
            name, _, value = line.partition(":")
            event[name] = value.strip()
        else:
            yield event
            event = {}


def test_stream_gives_what_was_and_what_comes(served):
    served.subscribe("a", TITLES)
    served.publish("urn:1", title(1))
    with served.stream("GET", "/v1/subscriptions/a/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = lines_of(answer)
        assert "retry" in next(told)
        first = next(told)
        assert (first["id"], first["event"]) == ("1", "matched")
        assert json.loads(first["data"])["row"]["d"] == "<urn:1>"
        served.publish("urn:1", title(1, "y"))
        assert [next(told)["event"] for _ in range(2)] == ["unmatched", "matched"]
        served.delete("/v1/subscriptions/a")


def test_stream_goes_on_after_the_last_event_that_arrived(served):
    served.subscribe("a", TITLES)
    quads = "".join(f"<urn:{n}> <urn:title> 'x' <urn:doc:{n}> .\n".replace("'", '"') for n in range(250))
    served.post("/v1/documents", content=quads, headers={"Content-Type": "application/n-quads"})
    seen, last = [], None
    for _ in range(5):
        headers = {} if last is None else {"Last-Event-ID": last}
        with served.stream("GET", "/v1/subscriptions/a/stream", headers=headers) as answer:
            told = lines_of(answer)
            next(told)
            for _ in range(50):
                last = next(told)["id"]
                seen.append(int(last))
    assert seen == list(range(1, 251))
    problem(served.get("/v1/subscriptions/a/stream", headers={"Last-Event-ID": "x"}), 400, "bad-request")


def test_streams_are_counted_and_no_more_than_the_limit_are_open(tmp_path):
    with serving(f"sqlite:///{tmp_path}/few.db", streams=1) as served:
        served.subscribe("a", TITLES)
        with served.stream("GET", "/v1/subscriptions/a/stream") as answer:
            told = lines_of(answer)
            next(told)
            problem(served.get("/v1/subscriptions/a/stream"), 503, "service-unavailable")
            assert "triplewire_streams 1.0" in served.get("/v1/metrics").text
        while served.server.config.app.state.service.streams:
            time.sleep(0.01)
        with served.stream("GET", "/v1/subscriptions/a/stream") as answer:
            next(lines_of(answer))


@pytest.mark.slow
def test_a_thousand_streams_are_told(served):
    """Each hears of its own subscription, whoever else listens."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most < 4_000:
        pytest.skip(f"this needs 4,000 open files, and {most} are allowed: ulimit -n 4000")
    for n in range(10):
        served.subscribe(f"s{n}", f"SELECT ?d {{ ?d <urn:number> {n} }}")
    place = urlsplit(served.url)

    async def listen(n, opened):
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(f"GET /v1/subscriptions/s{n % 10}/stream HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        await reader.readuntil(b"retry: 2000\n\n")
        opened.release()
        await reader.readuntil(b"data: ")
        told = json.loads(await reader.readline())
        writer.close()
        return told["row"]["d"] == f"<urn:{n % 10}>"

    async def run():
        opened = asyncio.Semaphore(0)
        listening = [asyncio.create_task(listen(n, opened)) for n in range(1_000)]
        for _ in listening:
            await opened.acquire()
        for n in range(10):
            await asyncio.to_thread(served.publish, f"urn:doc:{n}", f"<urn:{n}> <urn:number> {n} .")
        return await asyncio.gather(*listening)

    assert all(asyncio.run(run()))


def test_why_and_why_not_say_what_the_hub_says(served):
    served.subscribe("a", TITLES)
    served.publish("urn:1", title(1))
    row = served.get("/v1/subscriptions/a/rows").json()["rows"][0]
    told = served.post("/v1/subscriptions/a/why", json={"row": row}).json()
    assert told["triples"] == [{"triple": '<urn:1> <urn:title> "x"', "documents": [{"uri": "urn:1", "version": 1}]}]
    assert told["text"] == str(served.hub.why("a", served.hub.rows("a")[0]))
    not_told = served.post("/v1/subscriptions/a/why-not", json={"resource": "urn:2"}).json()
    assert not_told["matches"] is False
    assert not_told["failures"]
    problem(served.post("/v1/subscriptions/a/why", json={"row": {"d": "urn:2", "t": '"x"'}}), 404, "unknown-row")
    problem(served.post("/v1/subscriptions/a/why", json={"row": {"d": "<no iri>"}}), 400, "bad-request")


def test_preview_explain_and_lint_tell_without_registering(served):
    served.publish("urn:1", title(1))
    ahead = served.post("/v1/preview", json={"text": TITLES}).json()
    assert (ahead["count"], ahead["rows"]) == (1, [{"d": "<urn:1>", "t": '"x"'}])
    told = served.post("/v1/explain", json={"text": TITLES}).json()
    assert "?a title ?b" in told["explanation"]
    assert set(told["languages"]) >= {"sparql", "conjunctive"}
    never = "SELECT ?d { ?d <urn:size> ?n FILTER(?n > 3 && ?n < 2) }"
    found = served.post("/v1/lint", json={"text": never}).json()["findings"]
    assert [(each["kind"], each["severity"]) for each in found] == [("never-matches", "error")]
    assert served.get("/v1/subscriptions").json()["subscriptions"] == []
    served.subscribe("a", TITLES)
    assert "?a title ?b" in served.get("/v1/subscriptions/a/explain").json()["explanation"]


def test_rows_come_in_pages_that_a_client_reads_to_the_end(served):
    served.subscribe("all", "SELECT ?s { ?s <urn:p> ?o }")
    served.publish("urn:d", " ".join(f"<urn:s{n}> <urn:p> {n} ." for n in range(2_300)))
    first = served.get("/v1/subscriptions/all/rows", params={"limit": 1_500}).json()
    rest = served.get("/v1/subscriptions/all/rows", params={"limit": 1_500, "after": first["next"]}).json()
    assert (len(first["rows"]), len(rest["rows"]), rest["next"]) == (1_500, 800, None)
    told = {row["s"] for row in [*first["rows"], *rest["rows"]]}
    assert told == {f"<urn:s{n}>" for n in range(2_300)}
    with Client(served.url) as client:
        assert {str(row["s"]) for row in client.rows("all")} == told
        assert len(client.row_page("all", limit=5).rows) == 5
    assert len(served.get("/v1/subscriptions/all/rows").json()["rows"]) == 1_000
    problem(served.get("/v1/subscriptions/all/rows", params={"after": "x"}), 422)
    problem(served.get("/v1/subscriptions/all/rows", params={"limit": 10_001}), 422)
