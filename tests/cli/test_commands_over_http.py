"""The commands on a hub at an address: what they print is what they print on a store."""

from __future__ import annotations

import re

import pytest

from hub.serving import serving

FOLDERS = ("subscriptions", "catalogue")


@pytest.fixture
def address(tmp_path, play):
    with serving(f"sqlite:///{tmp_path}/served.db") as served:
        yield served.url


def test_commands_say_the_same_of_a_store_and_of_an_address(play, call, call_for_rows, address):
    def both(*arguments):
        name, *rest = arguments
        return [call_for_rows(name, place, *rest) for place in ("hub.db", address)]

    for place in ("hub.db", address):
        registered = call("subscribe", place, "subscriptions", "--scope", "graph", "--start", "ever")
        assert registered.exit_code == 0, registered.stderr
        assert call("publish", place, "catalogue", "--taxonomy", "themes.ttl").exit_code == 0
    ids = [line.strip() for line in registered.stdout.splitlines()]
    for id in ids:
        rows = both("rows", id, "--json")
        assert sorted(map(str, rows[0])) == sorted(map(str, rows[1]))
        kinds = [[(event["kind"], event["row"]) for event in told] for told in both("events", id, "--json")]
        assert kinds[1]
        assert {str(row) for _, row in kinds[0]} <= {str(row) for _, row in kinds[1]}
    assert ids
    told = [call("preview", place, "subscriptions/maja.rq").stdout.splitlines()[0] for place in ("hub.db", address)]
    assert told[0] == told[1]
    counted = both("query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--json")
    assert counted[0] == counted[1]
    file = "catalogue/parking.ttl"
    gone = both("retract", file, "--json")
    assert sorted(str(event["row"]) for event in gone[0]) == sorted(str(event["row"]) for event in gone[1])
    assert both("unsubscribe", ids[0]) == [[], []]


def test_followed_events_are_printed_as_they_come(play, call, call_for_rows, address):
    text = "SELECT ?s { ?s <http://purl.org/dc/terms/title> ?t }"
    for place in ("hub.db", address):
        call("subscribe", place, "-l", "sparql", text, "--id", "titles")
        call("publish", place, "catalogue")
        told = call_for_rows("events", place, "titles", "--follow", "--limit", "3")
        assert [event["kind"] for event in told] == ["matched"] * 3


@pytest.mark.parametrize("format", ["atom", "jsonfeed"])
def test_feed_is_written_from_an_address_as_from_a_store(play, call, address, format):
    feeds = []
    for place in ("hub.db", address):
        text = "SELECT ?s { ?s <http://purl.org/dc/terms/title> ?t }"
        call("subscribe", place, "-l", "sparql", text, "--id", "titles")
        call("publish", place, "catalogue/parking.ttl")
        written = call("events", place, "titles", "--format", format)
        assert written.exit_code == 0, written.stderr
        assert call("events", place, "titles", "--format", format).stdout == written.stdout
        feeds.append(re.findall(r"https?://[^\s\"<>]*parking[^\s\"<>]*|urn:uuid:[0-9a-f-]+", written.stdout))
    assert feeds[0][0] != feeds[1][0]
    assert len(feeds[0]) == len(feeds[1])


def test_what_only_a_store_can_do_is_refused_at_an_address(play, call, address):
    assert call("publish", address, "catalogue", "--queue").exit_code == 2
    assert call("publish", address, "catalogue", "--drop-missing").exit_code == 2
    later = call("subscribe", address, "subscriptions", "--backfill", "later")
    assert later.exit_code == 2
    assert "decided by the hub" in later.stderr


def test_a_subscription_that_the_service_refuses_does_not_stop_the_others(play, call, address):
    """What is wrong with one source says nothing of the options that all have."""
    text = (play / "subscriptions" / "maja.rq").read_text()
    names = [f"{'x' * 230}.rq", "good.rq"]
    for name in names:
        (play / name).write_text(text)
    told = call("subscribe", address, *names)
    assert told.exit_code == 1
    assert told.stdout.split() == ["good"]
    assert names[0] in told.stderr


def test_bad_address_and_bad_use_of_one_say_what_to_do(play, call, address):
    away = call("rows", "http://127.0.0.1:9", "x")
    assert away.exit_code == 1
    assert "is the hub running" in away.stderr
    several = call("publish", address, "catalogue", "--batch", "monday")
    assert several.exit_code == 2
    assert "one by one" in several.stderr
    assert call("retract", address, "urn:a", "urn:b", "--batch", "monday").exit_code == 2
    assert call("store", "info", address).exit_code == 2


def test_hub_may_be_named_by_an_option_anywhere(play, call, call_for_rows, address):
    text = "SELECT ?s { ?s <http://purl.org/dc/terms/title> ?t }"
    assert call("subscribe", "-l", "sparql", text, "--id", "titles", f"--hub={address}").exit_code == 0
    assert call("publish", "catalogue", "--hub", address).exit_code == 0
    named, placed = call_for_rows("rows", "titles", "--hub", address), call_for_rows("rows", address, "titles")
    assert named == placed
    assert named
    assert call("rows", "titles", "--hub").exit_code == 2
