"""`triplewire network`: members, links and the way of an event, asked of any hub."""

from __future__ import annotations

import pytest
from tests.network.live.federations import WATER, about, federation, hierarchy, kinds, wait_for


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two hubs; the first has been told of a document of the second."""
    monkeypatch.chdir(tmp_path)
    with federation(tmp_path, 2) as hubs:
        hubs[0].subscribe("water", WATER, reach="network")
        hubs[1].publish("urn:doc", about(1))
        wait_for(lambda: kinds(hubs[0]) == ["matched <urn:d1>"])
        yield hubs


def test_status_map_and_trace_say_who_is_there_and_what_flows(pair, call, call_for_rows):
    (told,) = call_for_rows("network", "status", pair[0].url, "--json")
    assert [member["corner"] for member in told["members"]] == [0, 1]
    said = call("network", "status", pair[0].url, "--format", "table")
    assert "corner 0 to corner 1" in said.stdout
    assert "open, 0 waiting, lag 0" in said.stdout
    assert "decides who is a member" in said.stderr
    drawn = call("network", "map", pair[1].url).stdout.splitlines()
    assert [line.split(":")[0] for line in drawn if line.startswith("corner")] == ["corner 0", "corner 1"]
    traced = call("network", "trace", pair[0].url, "water").stdout.splitlines()
    assert traced[0].startswith("urn:doc was published at corner 1")
    assert traced[-1].startswith("water was told")
    went = call("network", "spread", pair[1].url, "urn:doc").stdout.splitlines()
    assert [line.split(",")[0] for line in went] == [
        "urn:doc was published at corner 1",
        "urn:doc came to corner 0",
    ]
    assert "no event with the cursor 99" in call("network", "trace", pair[0].url, "water", "99").stderr


def test_identity_of_a_store_is_its_name_and_its_public_key(pair, call):
    name, key = call("network", "identity", "1.db").stdout.split()
    assert name == pair[1].hub.identity.name
    assert key == pair[1].hub.identity.public_key


def test_subscriptions_reach_into_the_network_from_the_command_line(pair, call):
    made = call("subscribe", pair[0].url, "-l", "sparql", WATER, "--id", "far", "--reach", "network")
    assert made.stdout == "far\n"
    pair[1].publish("urn:more", about(2))
    wait_for(lambda: kinds(pair[0], "far") == ["matched <urn:d2>"])
    assert "<urn:d2>" in call("events", pair[0].url, "far").stdout


def test_documents_stay_at_their_hub_from_the_command_line(pair, call, tmp_path):
    """N4: to a store, and to an address."""
    for number in (5, 6):
        (tmp_path / f"{number}.ttl").write_text(about(number))
    call("publish", pair[1].url, "5.ttl", "--uri", "urn:five", "--reach", "hub")
    call("publish", "1.db", "6.ttl", "--uri", "urn:six", "--reach", "hub")
    pair[1].publish("urn:seven", about(7))
    wait_for(lambda: kinds(pair[0]) == ["matched <urn:d1>", "matched <urn:d7>"])
    assert "has no units" in call("publish", "1.db", "6.ttl", "--uri", "urn:six", "--reach", "cluster").stderr


def test_hubs_of_a_unit_leave_together(tmp_path, monkeypatch, call):
    """N2: what they published is gone for the others; the unit is there for who comes next."""
    monkeypatch.chdir(tmp_path)
    clusters = ["aster/mill", "lindhaven/harbour", "lindhaven/hill", "lindhaven/harbour"]
    with hierarchy(tmp_path, clusters) as hubs:
        hubs[0].subscribe("water", WATER, reach="network")
        for number, each in enumerate(hubs):
            each.publish(f"urn:doc{number}", about(number))
        wait_for(lambda: len(kinds(hubs[0])) == 4)
        assert "no hub of this network is in it" in call("network", "leave", hubs[0].url, "--unit", "lind").stderr
        done = call("network", "leave", hubs[3].url, "--unit", "lindhaven/harbour")
        names = [each.hub.identity.name for each in hubs]
        assert done.stdout.splitlines() == [f"{names[1]} has left", f"{names[3]} leaves"]
        wait_for(lambda: len(hubs[0].get("/v1/network").json()["members"]) == 2)
        assert call("network", "leave", hubs[0].url, "--unit", "lindhaven").stdout == f"{names[2]} has left\n"
        wait_for(lambda: sorted(kinds(hubs[0])[4:]) == [f"unmatched <urn:d{number}>" for number in (1, 2, 3)])
        assert "the last one cannot leave" in call("network", "leave", hubs[0].url, "--unit", "aster").stderr


def test_what_is_no_network_is_said_in_words(tmp_path, call):
    assert "over HTTP" in call("network", "status", str(tmp_path / "hub.db")).stderr
    call("subscribe", str(tmp_path / "hub.db"), "-l", "sparql", WATER, "--id", "near")
    assert "has no key yet" in call("network", "identity", str(tmp_path / "hub.db")).stderr
    refused = call("subscribe", str(tmp_path / "hub.db"), "-l", "sparql", WATER, "--reach", "network")
    assert "--network hypercube" in refused.stderr
