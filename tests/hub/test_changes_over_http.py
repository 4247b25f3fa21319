"""Several changes as one request: whole or not at all, told as one, applied once however often they are sent."""

from __future__ import annotations

import random
import threading

import pytest

from hub.serving import problem, serving
from triplewire import Hub
from triplewire.client import Client
from triplewire.documents import parse
from triplewire.errors import DocumentError, VersionConflict
from triplewire.model import Publish, Retract

SIZES = "SELECT ?d ?n { ?d <urn:size> ?n }"


def size(number, n):
    return {"uri": f"urn:{number}", "content": f"<urn:d{number}> <urn:size> {n} ."}


def gone(number):
    return {"uri": f"urn:{number}", "retract": True}


def send(served, *changes, **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.post("/v1/changes", json={"changes": list(changes)}, headers=names)


@pytest.fixture
def sizes(served):
    served.subscribe("sizes", SIZES)
    return served


def documents(served):
    return {each["uri"]: each["version"] for each in served.get("/v1/documents").json()["documents"]}


def test_several_changes_are_one_batch_and_their_events_are_told(sizes):
    sizes.publish("urn:0", "<urn:d0> <urn:size> 0 .")
    answer = send(sizes, size(1, 1), size(2, 2), gone(0), Prefer="wait")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert answer.headers["preference-applied"] == "wait"
    assert sorted((event["kind"], event["row"]["d"]) for event in told["events"]) == [
        ("matched", "<urn:d1>"),
        ("matched", "<urn:d2>"),
        ("unmatched", "<urn:d0>"),
    ]
    assert {event["batch"] for event in told["events"]} == {told["batch"]}
    assert [(each["uri"], each["version"], each["changed"]) for each in told["documents"]] == [
        ("urn:1", 1, True),
        ("urn:2", 1, True),
        ("urn:0", 2, True),
    ]
    assert told["documents"][2]["etag"] is None
    etag = sizes.get("/v1/document", params={"uri": "urn:1"}).headers["etag"]
    assert told["documents"][0]["etag"].strip('"') == etag.strip('"').partition(".")[0]
    assert "events" not in send(sizes, size(3, 3)).json()


def test_what_is_taken_and_given_back_in_one_request_is_no_event(sizes):
    sizes.publish("urn:0", "<urn:d> <urn:size> 1 .")
    told = send(sizes, gone(0), {"uri": "urn:9", "content": "<urn:d> <urn:size> 1 ."}, Prefer="wait").json()
    assert [event["kind"] for event in told["events"] if event["kind"] != "changed"] == []


@pytest.mark.parametrize(
    ("bad", "status", "kind"),
    [
        ({"uri": "urn:bad", "content": "nonsense"}, 400, "document-error"),
        ({"uri": "urn:bad", "content": "x", "media_type": "image/png"}, 415, "unsupported-media-type"),
        ({"uri": "urn:1", "content": "<urn:a> <urn:b> 1 .", "if_none_match": "*"}, 412, "version-conflict"),
        ({"uri": "urn:7", "retract": True, "if_match": "*"}, 412, "version-conflict"),
        ({"uri": "urn:bad", "retract": False}, 422, "bad-request"),
        ({"uri": "urn:bad"}, 422, "bad-request"),
        ({"uri": "urn:bad", "content": "", "more": 1}, 422, "bad-request"),
        ({"uri": "no iri", "content": ""}, 400, "document-error"),
    ],
)
def test_where_one_change_is_refused_none_is_made(sizes, bad, status, kind):
    sizes.publish("urn:1", "<urn:d1> <urn:size> 1 .")
    before = documents(sizes), sizes.events("sizes"), len(sizes.hub.batches())
    told = problem(send(sizes, size(2, 2), gone(1), bad, size(3, 3), Idempotency_Key="k"), status, kind)
    if status in (400, 412):
        assert bad["uri"] in told["detail"]
    assert (documents(sizes), sizes.events("sizes"), len(sizes.hub.batches())) == before
    assert send(sizes, size(2, 2), gone(1), Idempotency_Key="k").status_code == 200, "the key was not used up"


def test_a_document_that_breaks_the_schema_refuses_the_whole(sizes):
    schema = "<urn:size> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> ."
    assert sizes.put("/v1/schema", content=schema, headers={"Content-Type": "text/turtle"}).status_code == 204
    wrong = {"uri": "urn:2", "content": "<urn:d> <urn:size> 'large' ."}
    problem(send(sizes, size(1, 1), wrong), 422, "schema-violation")
    assert documents(sizes) == {}


def test_the_same_request_again_changes_nothing_and_gives_the_same_events(sizes):
    first = send(sizes, size(1, 1), size(2, 2), Prefer="wait", Idempotency_Key="once").json()
    sizes.publish("urn:1", "<urn:d1> <urn:size> 9 .")
    again = send(sizes, size(1, 1), size(2, 2), Prefer="wait", Idempotency_Key="once").json()
    assert again["events"] == first["events"]
    assert again["batch"] == first["batch"]
    assert documents(sizes) == {"urn:1": 2, "urn:2": 1}


def test_quotas_count_the_whole(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", quotas={"documents": 3, "events": 5}) as served:
        served.subscribe("sizes", SIZES)
        assert send(served, size(1, 1), size(2, 2)).status_code == 200
        problem(send(served, size(3, 3), size(4, 4)), 403, "quota-exceeded")
        assert send(served, size(3, 3), size(4, 4), gone(1)).status_code == 200, "one goes, two come"
        problem(send(served, size(4, 5)), 429, "quota-spent")
        assert send(served, gone(2), gone(3)).status_code == 200
        assert documents(served) == {"urn:4": 1}


def test_what_was_acknowledged_before_of_the_same_documents_comes_first(sizes):
    for n in range(20):
        assert sizes.send_in("urn:1", f"<urn:d1> <urn:size> {n} .").status_code == 202
        send(sizes, size(1, 1_000 + n), size(2, n)).raise_for_status()
        assert f" {1_000 + n} " in sizes.get("/v1/document", params={"uri": "urn:1"}).text


def test_clients_that_send_batches_of_the_same_documents_never_see_halves(sizes):
    """Each writes its own number into three documents: whenever one looks, all three have the same."""

    def write(number):
        for _ in range(10):
            send(sizes, *(size(n, number) for n in range(3))).raise_for_status()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        rows = sizes.get("/v1/subscriptions/sizes/rows").json()["rows"]
        assert len({row["n"] for row in rows}) <= 1
    for writer in writers:
        writer.join()


def test_client_applies_batches_as_a_hub_does(served):
    """Against the hub itself: the same random batches, the same events, rows and documents."""
    chance = random.Random(5)
    with Client(served.url) as client, Hub(":memory:") as hub:
        for each in (client, hub):
            each.subscribe(SIZES, id="sizes")
        for number in range(25):
            changes = []
            for _ in range(chance.randint(1, 5)):
                uri = f"urn:{chance.randint(0, 6)}"
                text = f"<urn:d{chance.randint(0, 3)}> <urn:size> {chance.randint(0, 3)} ."
                changes.append(Retract(uri) if chance.random() < 0.4 else Publish(parse(text, uri=uri)))
            told = [each.apply(changes, batch=f"b{number}") for each in (client, hub)]
            plain = [
                [event.as_dict(contents=False) | {"batch": "", "time": ""} for event in outcome] for outcome in told
            ]
            assert plain[0] == plain[1]
            assert set(client.rows("sizes")) == set(hub.rows("sizes"))
        with pytest.raises(DocumentError, match="urn:x"):
            client.apply([Publish(parse("<urn:a> <urn:b> 1 .", uri="urn:ok")), _broken()])
        assert client.document("urn:ok") is None
        assert client.apply([]).batch == ""


def _broken():
    """A document that nobody could have read: what a client of another kind might send."""
    change = Publish(parse("<urn:a> <urn:b> 1 .", uri="urn:x"))
    object.__setattr__(change.document, "ntriples", b"nonsense")
    return change


def test_condition_that_fails_is_raised_by_a_client(served):
    with Client(served.url) as client, pytest.raises(VersionConflict):
        client._ask("POST", "/changes", json={"changes": [size(1, 1) | {"if_match": '"abc"'}]})


def test_batch_over_the_limit_is_refused(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", batch_bytes=1_000) as served:
        problem(send(served, *(size(n, n) for n in range(50))), 413, "request-too-large")
        problem(served.post("/v1/changes", content="{}", headers={"Content-Type": "text/plain"}), 415)
        problem(served.post("/v1/changes", content="{", headers={"Content-Type": "application/json"}), 422)
        assert documents(served) == {}
