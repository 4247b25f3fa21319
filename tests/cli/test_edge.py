"""`triplewire edge`: rules are followed, synced and let go, and the command says what is kept and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.serving import serving
from triplewire.network.channels.identities import kept_identity

RULE = "search <urn:Berth> b register b"


@pytest.fixture
def harbour(tmp_path, monkeypatch):
    """A served hub with two berths, and a folder with a rule."""
    monkeypatch.chdir(tmp_path)
    Path("berths.rules").write_text(RULE)
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        served.publish("urn:a", "<urn:berth/1> a <urn:Berth> .")
        served.publish("urn:b", "<urn:berth/2> a <urn:Berth> .")
        yield served


def test_rules_are_followed_synced_and_let_go(harbour, call, call_for_rows):
    assert call("edge", "follow", "edge.db", "berths.rules", "--of", harbour.url).stdout == "berths\n"
    synced = call("edge", "sync", "edge.db")
    assert synced.exit_code == 0
    assert "2 resources told" in synced.stderr
    (rule,) = call_for_rows("edge", "status", "edge.db", "--json")
    assert (rule["id"], rule["state"], rule["resources"]) == ("berths", "kept", 2)
    assert call("edge", "cause", "edge.db", "urn:berth/1").stdout == "<urn:berth/1>: rule berths\n"
    assert call("edge", "unfollow", "edge.db", "berths").exit_code == 0
    assert "0 cached documents" in call("edge", "status", "edge.db").stderr


def test_documents_that_are_published_at_an_edge_are_private(harbour, call):
    call("edge", "follow", "edge.db", "berths.rules", "--of", harbour.url)
    Path("note.ttl").write_text("<urn:n> <urn:about> <urn:berth/9> .")
    assert call("publish", "edge.db", "note.ttl").exit_code == 0
    assert "1 private one" in call("edge", "status", "edge.db").stderr
    assert "no rule brings" in call("edge", "cause", "edge.db", "urn:berth/9").stdout


def test_hub_that_cannot_be_reached_is_said(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    Path("berths.rules").write_text(RULE)
    call("edge", "follow", "edge.db", "berths.rules", "--of", "http://127.0.0.1:9")
    failed = call("edge", "sync", "edge.db")
    assert failed.exit_code == 1
    assert "cannot be reached" in failed.stderr


def test_edge_without_a_hub_is_refused(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    refused = call("edge", "status", "edge.db")
    assert refused.exit_code == 2
    assert "which hub it follows" in refused.stderr


def test_edge_says_its_key_and_which_one_its_hub_must_have(call, harbour):
    """P8: for an account at the hub, and for an edge before it dials."""
    assert call("edge", "follow", "edge.db", "berths.rules", "--of", harbour.url).exit_code == 0
    key = call("edge", "identity", "edge.db").stdout.strip()
    assert len(bytes.fromhex(key)) == 32
    assert call("edge", "identity", "edge.db").stdout.strip() == key
    assert call("edge", "trust", "edge.db", "ab" * 32).exit_code == 0
    refused = call("edge", "sync", "edge.db")
    assert refused.exit_code == 1
    assert f"and had {'ab' * 32}" in refused.stderr
    own = kept_identity(harbour.hub.store, "hub").public_key
    assert call("edge", "trust", "edge.db", own).exit_code == 0
    assert call("edge", "sync", "edge.db").exit_code == 0
    assert "64 hexadecimal digits" in call("edge", "trust", "edge.db", "abc").stderr
