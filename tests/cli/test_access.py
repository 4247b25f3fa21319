"""`triplewire access`, and the options of publish and subscribe that go with it."""

from __future__ import annotations

import json

import pytest

from hub.serving import serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

HUB, URI = "hub.db", "http://example.org/parking"
THINGS = "SELECT ?s { ?s <urn:p> ?o }"


@pytest.fixture
def listed(call, tmp_path, monkeypatch):
    """A document that is for Ada."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parking.ttl").write_text("<urn:a> <urn:p> 1 .")
    for viewer in ("ada", "bob"):
        assert call("subscribe", HUB, "-l", "sparql", THINGS, "--id", viewer, "--viewer", viewer).exit_code == 0
    assert call("publish", HUB, "parking.ttl", "--uri", URI, "--reader", "ada").exit_code == 0


def test_a_document_is_published_with_its_list(call, listed):
    assert [len(call("rows", HUB, viewer, "--json").stdout.splitlines()) for viewer in ("ada", "bob")] == [1, 0]
    told = call("access", HUB, URI, "--json").stdout.splitlines()
    assert [json.loads(line) for line in told] == [{"account": "ada", "may": "read"}]


def test_a_list_is_changed_and_taken_away(call, listed):
    result = call("access", HUB, URI, "--reader", "bob", "--writer", "eve")
    assert "2 events" in result.stderr
    assert "read by bob; changed by eve" in result.stderr
    assert [len(call("rows", HUB, viewer, "--json").stdout.splitlines()) for viewer in ("ada", "bob")] == [0, 1]
    assert "1 event" in call("access", HUB, URI, "--everybody").stderr
    assert "is for everybody" in call("access", HUB, URI).stderr
    assert "2 events" in call("access", HUB, URI, "--nobody").stderr


def test_what_cannot_be_is_said(call, listed):
    assert call("access", HUB, "urn:nothing").exit_code == 1
    assert call("access", HUB, URI, "--everybody", "--reader", "ada").exit_code == 2
    assert call("publish", HUB, "parking.ttl", "--queue", "--reader", "ada").exit_code == 2


def test_the_same_at_the_address_of_a_hub(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parking.ttl").write_text("<urn:a> <urn:p> 1 .")
    store = f"sqlite:///{tmp_path}/served.db"
    with Store.open(store) as opened:
        made = {name: Accounts(opened).create_token(name, role="publisher") for name in ("ada", "bob")}
    with serving(store, identity=True) as served:
        monkeypatch.setenv("TRIPLEWIRE_TOKEN", made["ada"][1])
        assert call("publish", served.url, "parking.ttl", "--uri", URI, "--reader", "bob").exit_code == 0
        told = {(each["account"], each["may"]) for each in map(json.loads, _lines(call, served.url))}
        assert told == {(made["ada"][0].id, "change"), (made["bob"][0].id, "read")}
        assert call("access", served.url, URI, "--nobody").exit_code == 0
        monkeypatch.setenv("TRIPLEWIRE_TOKEN", made["bob"][1])
        assert "there is no document" in call("access", served.url, URI).stderr


def _lines(call, url: str) -> list[str]:
    return call("access", url, URI, "--json").stdout.splitlines()
