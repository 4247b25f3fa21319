"""Peers of a ring behind HTTP, used through `Client`: told alike as in simulation, durable, and honest in refusals."""

from __future__ import annotations

import pytest
from tests.network.live.ring.served import ServedPeer, is_ring, served_ring, wait_for
from tests.network.live.ring.test_peers import JOIN, STEPS, expected, simulated, told
from typer.testing import CliRunner

from triplewire import Hub
from triplewire.cli.app import app
from triplewire.errors import (
    BadRequest,
    DuplicateSubscription,
    NetworkError,
    ServiceError,
    ServiceUnavailable,
    UnknownSubscription,
    UnsupportedQuery,
)
from triplewire.network.live.ring import PeerMemory
from triplewire.network.ring import RingSettings
from triplewire.store import Store

TURTLE = "text/turtle"


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Three peers, for all tests that leave them as they are."""
    with served_ring(tmp_path_factory.mktemp("ring"), 3, RingSettings("mqc")) as peers:
        yield peers


def is_quiet(peers: list[ServedPeer]) -> bool:
    return all(not each.client.network().ring.under_way for each in peers)


def play(peers: list[ServedPeer], wanted: int) -> list[tuple[str, str]]:
    """The story of STEPS, through clients; gives what its subscriber was told."""
    clients = [each.client for each in peers]
    clients[2].subscribe(JOIN, id="story", scope="graph")
    wait_for(lambda: is_quiet(peers))
    for at, uri, text in STEPS:
        client = clients[at % 3]
        client.retract(uri) if text is None else client.publish(text, uri=uri, media_type=TURTLE)
        wait_for(lambda: is_quiet(peers))
    wait_for(lambda: len(clients[2].events("story")) >= wanted)
    return told(clients[2].events("story"))


def test_story_through_clients_is_told_as_in_simulation_and_by_one_hub(ring):
    wanted = expected()
    assert simulated("mqc") == wanted
    assert play(ring, len(wanted)) == wanted


def test_client_subscribes_reads_follows_and_ends_as_at_a_hub(ring):
    reader, writer = ring[0].client, ring[1].client
    made = reader.subscribe("SELECT ?s ?o { ?s <urn:one> ?o }", scope="graph", title="One")
    assert made.reach == "network"
    assert [each.id for each in reader.subscriptions()] == [made.id]
    assert reader.subscription(made.id).title == "One"
    with pytest.raises(DuplicateSubscription):
        reader.subscribe("SELECT ?s { ?s <urn:x> ?o }", scope="graph", id=made.id)
    followed = reader.follow(made.id)
    writer.publish("<urn:s> <urn:one> 1 .", uri="urn:followed", media_type=TURTLE)
    assert next(followed).kind == "matched"
    followed.close()
    assert [str(row["s"]) for row in reader.rows(made.id)] == ["<urn:s>"]
    (event,) = reader.events(made.id, wait=30)
    assert [str(triple.subject) for triple in event.after] == ["<urn:s>"]
    assert reader.events(made.id, after=event.cursor) == []
    assert writer.document("urn:followed") is not None
    assert reader.document("urn:followed") is None
    writer.retract("urn:followed")
    writer.retract("urn:followed")
    assert reader.events(made.id, after=event.cursor, wait=30)[0].kind == "unmatched"
    reader.unsubscribe(made.id)
    with pytest.raises(UnknownSubscription):
        reader.events(made.id)


def test_what_a_ring_cannot_do_is_refused_with_what_to_do(ring):
    client = ring[0].client
    refused = [
        (lambda: client.query("SELECT * { ?s ?p ?o }"), ServiceError, "subscribe to the query"),
        (lambda: client.subscribe("//item", language="xpath", scope="graph"), UnsupportedQuery, "Subscribe at a hub"),
        (lambda: client.subscribe("SELECT ?s { ?s <urn:a> 1 }"), UnsupportedQuery, "Say the scope graph"),
        (lambda: client.subscribe("SELECT ?s { ?s <urn:a> 1 }", scope="graph", start="ever"), UnsupportedQuery, "now"),
        (lambda: client.edit("q", title="x"), ServiceError, "unsubscribe and subscribe anew"),
        (lambda: client.inbox(), ServiceError, "read the events of each subscription"),
        (lambda: client.publish("<r><i/></r>", uri="urn:x", media_type="application/xml"), BadRequest, "hub"),
        (lambda: client.expel("peer"), ServiceError, "nobody who decides"),
    ]
    for ask, kind, words in refused:
        with pytest.raises(kind, match=words):
            ask()


def test_network_status_and_map_show_the_ring(ring):
    cli = CliRunner()
    shown = cli.invoke(app, ["network", "status", ring[1].url, "--format", "table"], env={"COLUMNS": "300"})
    assert shown.exit_code == 0, shown.output
    names = [each.live.name for each in ring]
    assert all(name in shown.output for name in names)
    assert "successor 1" in shown.output
    assert "predecessor" in shown.output
    assert "% of the circle" in shown.output
    assert "unanswered" in shown.output
    drawn = cli.invoke(app, ["network", "map", ring[2].url], env={"COLUMNS": "300"})
    assert drawn.exit_code == 0, drawn.output
    assert [sum(name in line for name in names) for line in drawn.output.splitlines()].count(2) == 3
    told_of = ring[0].client.network()
    assert sum(each.client.network().ring.share for each in ring) == pytest.approx(1.0, abs=1e-4)
    assert told_of.network == "ring"
    assert told_of.ring.replicas == 3


def test_peer_that_stops_comes_back_as_itself_with_what_its_clients_have(tmp_path):
    """Invariant of `network.live.ring.peers`: what a peer has acknowledged, it knows when it is back.

    Subscriptions, documents, logs and cursors are those of before; what happened meanwhile is told, once.
    """
    with served_ring(tmp_path, 3, RingSettings("sqc")) as peers:
        reader, writer = peers[1].client, peers[2].client
        name = reader.network().name
        reader.subscribe(JOIN, id="q", scope="graph")
        reader.publish("<urn:s> <urn:r> <urn:t> .", uri="urn:mine", media_type=TURTLE)
        writer.publish("<urn:t> <urn:a> 1 .", uri="urn:other", media_type=TURTLE)
        (before,) = reader.events("q", wait=60)
        peers[1].stop()
        wait_for(lambda: name not in str(peers[0].client.network().ring))
        writer.publish("<urn:t> <urn:b> 2 .", uri="urn:other", media_type=TURTLE)
        peers[1].start()
        reader = peers[1].client
        assert reader.network().name == name
        assert reader.events("q")[:1] == [before]
        (after,) = reader.events("q", after=before.cursor, wait=60)
        assert (after.kind, after.cursor) == ("unmatched", before.cursor + 1)
        wait_for(lambda: is_ring([each.client for each in peers]))
        reader.retract("urn:mine")
        writer.publish("<urn:t> <urn:a> 1 .", uri="urn:other", media_type=TURTLE)
        wait_for(lambda: is_quiet(peers))
        assert [each.kind for each in reader.events("q")] == ["matched", "unmatched"]


def test_peer_that_leaves_takes_back_what_it_told_and_hands_over_what_it_kept(tmp_path):
    with served_ring(tmp_path, 3, RingSettings("mqc", replicas=1)) as peers:
        reader, leaver, writer = (each.client for each in peers)
        reader.subscribe(JOIN, id="q", scope="graph")
        wait_for(lambda: is_quiet(peers))
        leaver.publish("<urn:t> <urn:a> 1 .", uri="urn:leaving", media_type=TURTLE)
        writer.publish("<urn:s> <urn:r> <urn:t> . <urn:u> <urn:r> <urn:v> .", uri="urn:staying", media_type=TURTLE)
        (before,) = reader.events("q", wait=60)
        leaver.leave_network()
        assert reader.events("q", after=before.cursor, wait=60)[0].kind == "unmatched"
        with pytest.raises(ServiceUnavailable):
            wait_for(lambda: leaver.network() is None)
        wait_for(lambda: is_ring([reader, writer]))
        writer.publish("<urn:v> <urn:a> 1 .", uri="urn:new", media_type=TURTLE)
        wait_for(lambda: len(reader.events("q")) == 3)
        assert str(reader.events("q")[2].row["s"]) == "<urn:u>"


def test_store_is_a_hubs_or_a_peers_of_one_kind_of_ring(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/peer.db") as store:
        memory = PeerMemory(store, RingSettings("mqc"))
        with pytest.raises(NetworkError, match="another process"), Store.open(f"sqlite:///{tmp_path}/peer.db") as other:
            PeerMemory(other, RingSettings("mqc"))
        memory.close()
        with pytest.raises(NetworkError, match="say --algorithm"):
            PeerMemory(store, RingSettings("sqc"))
    served = CliRunner().invoke(app, ["serve", str(tmp_path / "peer.db"), "--port", "0"])
    assert served.exit_code == 2
    assert "triplewire peer" in served.output
    with Hub(tmp_path / "hub.db") as hub:
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:d")
    refused = CliRunner().invoke(app, ["peer", str(tmp_path / "hub.db"), "--port", "0"])
    assert refused.exit_code == 2
    assert "is a hub's" in refused.output


def test_peer_is_not_open_to_other_machines_without_identity(tmp_path):
    refused = CliRunner().invoke(app, ["peer", str(tmp_path / "peer.db"), "--host", "0.0.0.0", "--port", "0"])
    assert refused.exit_code == 2
    assert "must have a token" in refused.output
    refused = CliRunner().invoke(app, ["peer", str(tmp_path / "peer.db"), "--join", "http://ring.example"])
    assert refused.exit_code == 2
    assert "nothing on the way there would be encrypted" in refused.output
