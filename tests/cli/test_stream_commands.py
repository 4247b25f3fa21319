"""The commands around a stream that need no Spark: publish --queue, retract --queue, status, rejected."""

from __future__ import annotations

import json

from triplewire import Hub
from triplewire.intake.entries import Handled
from triplewire.store import RETRACT, UNREAD, NewEntry, NewRejection, Store

HUB = "hub.db"


def waiting() -> list[tuple[int, str]]:
    with Store.open(f"sqlite:///{HUB}", create=False) as store, store.reading() as reader:
        return [(one.entry.kind, one.entry.uri) for one in reader.intake.entries(0, 1 << 60)]


def test_documents_are_queued_as_they_are(play, call):
    result = call("publish", HUB, "catalogue/parking.ttl", "broken/lost-and-found.ttl", "--queue", "--create")
    assert result.exit_code == 0
    assert "2 changes on the intake log" in result.stderr
    uris = [(play / name).as_uri() for name in ("catalogue/parking.ttl", "broken/lost-and-found.ttl")]
    assert waiting() == [(UNREAD, uri) for uri in uris], "nobody has looked into them yet"


def test_one_document_is_queued_under_another_uri(play, call):
    assert call("publish", HUB, "catalogue/parking.ttl", "--queue", "--uri", "urn:parking", "--create").exit_code == 0
    assert waiting() == [(UNREAD, "urn:parking")]


def test_retractions_are_queued(play, call):
    call("subscribe", HUB, "subscriptions/maja.rq")
    result = call("retract", HUB, "urn:a", "catalogue/parking.ttl", "--queue")
    assert "2 changes on the intake log" in result.stderr
    assert waiting() == [(RETRACT, "urn:a"), (RETRACT, (play / "catalogue/parking.ttl").as_uri())]


def test_what_a_queue_does_not_do_is_refused(play, call):
    for command in (("publish", HUB, "catalogue"), ("retract", HUB, "urn:a")):
        result = call(*command, "--queue", "--batch", "monday")
        assert result.exit_code == 2
        assert "--batch" in result.stderr


def test_status_tells_what_waits_before_any_stream_has_run(play, call):
    call("publish", HUB, "catalogue", "--queue", "--create")
    result = call("status", HUB)
    assert "none has run" in result.stdout
    assert "waiting now" in result.stdout
    told = json.loads(call("status", "--store", HUB, "--json").stdout)
    assert told["stream"] is None
    assert told["waiting"] == len(list((play / "catalogue").iterdir()))
    assert told["rejected"] == 0


def test_what_was_set_aside_is_shown_and_forgotten_when_asked(play, call, call_for_rows):
    with Hub(f"sqlite:///{HUB}") as hub:
        bad = [NewRejection(NewEntry(UNREAD, f"urn:{n}", None, b"junk"), "not Turtle") for n in range(2)]
        hub.apply([], handled=Handled(rejected=bad))
    told = call_for_rows("rejected", "--store", HUB, "--json")
    assert [(each["number"], each["uri"], each["reason"], each["bytes"]) for each in told] == [
        (1, "urn:0", "not Turtle", 4),
        (2, "urn:1", "not Turtle", 4),
    ]
    assert "not Turtle" in call("rejected", "--store", HUB, "-f", "table").stdout
    assert len(call_for_rows("rejected", "--store", HUB, "--json", "--limit", "1", "--forget")) == 1
    assert [each["uri"] for each in call_for_rows("rejected", "--store", HUB, "--json")] == ["urn:1"]


def test_a_stream_that_cannot_run_is_refused_before_spark_starts(play, call):
    for arguments, reason in (
        (("--store", ":memory:", "--checkpoint", "here"), "seen by one process only"),
        (("--store", HUB, "--source", "nowhere"), "there is no such folder"),
        (("--store", HUB, "--source", "kafka://host"), "write kafka://host:port/topic"),
        (("--store", "postgresql://me@host/hub"), "--checkpoint"),
        (("--store", HUB, "--conf", "nonsense"), "KEY=VALUE"),
    ):
        result = call("run", *arguments)
        assert result.exit_code == 2
        assert reason in result.stderr
