"""`triplewire deliver`: the same on a store and on an address."""

from __future__ import annotations

import json

import pytest
from standardwebhooks import Webhook

from deliver.receiving import Says, receiving
from hub.serving import serving

QUERY = "SELECT ?d { ?d <urn:size> ?n }"


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


@pytest.fixture(params=["store", "address"])
def place(request, play, call):
    """A hub with a subscription, as a store and at an address; nobody delivers."""
    if request.param == "store":
        assert call("subscribe", "own.db", "-l", "sparql", QUERY, "--id", "sizes").exit_code == 0
        yield "own.db"
        return
    with serving("sqlite:///served.db", deliver=False, reach="127.0.0.0/8") as served:
        served.subscribe("sizes", QUERY)
        yield served.url


def test_a_delivery_is_made_listed_tried_paused_and_removed(place, call, call_for_rows, receiver):
    added = call("deliver", "add", place, "sizes", receiver.url())
    assert added.exit_code == 0, added.stderr
    secret = added.stdout.strip()
    (told,) = call_for_rows("deliver", "list", place, "--json")
    assert (told["subscription"], told["kind"], told["state"]) == ("sizes", "webhook", "active")
    assert told["id"] in added.stderr
    reach = () if place.startswith("http") else ("--reach", "127.0.0.0/8")
    assert call("deliver", "ping", place, told["id"], *reach).exit_code == 0
    (got,) = receiver.posts()
    Webhook(secret).verify(got.body, got.headers)
    receiver.says["/hook"] = lambda _: Says(500)
    away = call("deliver", "ping", place, told["id"], *reach)
    assert away.exit_code == 1
    assert "says 500" in away.stderr
    assert call("deliver", "secret", place, told["id"]).stdout.startswith("whsec_")
    call("deliver", "pause", place, told["id"])
    assert call_for_rows("deliver", "list", place, "--subscription", "sizes", "--json")[0]["state"] == "paused"
    call("deliver", "resume", place, told["id"])
    assert call_for_rows("deliver", "dead", place, told["id"], "--json") == []
    assert "0 messages" in call("deliver", "replay", place, told["id"]).stderr
    assert "0 messages" in call("deliver", "drop", place, told["id"], "1", "2").stderr
    call("deliver", "remove", place, told["id"])
    assert call_for_rows("deliver", "list", place, "--json") == []
    gone = call("deliver", "pause", place, told["id"])
    assert gone.exit_code == 1
    assert "there is no delivery" in gone.stderr


def test_a_digest_is_daily_if_nothing_is_said(place, call):
    made = call("deliver", "add", place, "sizes", "https://a.example/", "--kind", "digest", "--json")
    assert json.loads(made.stdout)["every"] == "daily"
    wrong = call("deliver", "add", place, "sizes", "https://a.example/", "--every", "hourly")
    assert wrong.exit_code == 1
    assert "digest" in wrong.stderr


def test_what_cannot_be_says_what_to_do(place, call):
    assert call("deliver", "add", place, "nobody", "https://a.example/").exit_code == 1
    assert "no address to send to" in call("deliver", "add", place, "sizes", "mailto:me@a.example").stderr
    bad = call("deliver", "run", "none.db", "--reach", "everywhere")
    assert bad.exit_code == 2
