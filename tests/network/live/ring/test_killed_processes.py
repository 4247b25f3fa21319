"""Peers of a ring in processes of their own, killed one after the other under load, end as one hub (S1 to S5, X8)."""

from __future__ import annotations

import random
import time
from contextlib import suppress

import pytest
from tests.network.live.ring.served import PeerProcess, is_ring, peer_processes, wait_for

from triplewire import Hub
from triplewire.errors import ServiceUnavailable

JOIN = "SELECT ?s ?t ?x { ?s <urn:r> ?t . ?t <urn:a> ?x }"
TURTLE = "text/turtle"


def insist(send) -> None:
    """Send until it is answered: a document is what it was sent last."""

    def is_done() -> bool:
        with suppress(ServiceUnavailable):
            send()
            return True
        return False

    wait_for(is_done)


def change(peers: list[PeerProcess], one: Hub, chance: random.Random) -> None:
    """A client of a peer publishes, changes or retracts a document; so does one of the hub."""
    at, which = chance.randrange(len(peers)), chance.randrange(4)
    uri = f"urn:doc{at}-{which}"
    if chance.random() < 0.25:
        insist(lambda: peers[at].client.retract(uri))
        one.retract(uri)
        return
    subject, object = chance.randrange(5), chance.randrange(5)
    text = f"<urn:s{subject}> <urn:r> <urn:s{object}> ; <urn:a> {chance.randrange(3)} ."
    insist(lambda: peers[at].client.publish(text, uri=uri, media_type=TURTLE))
    one.publish(text, uri=uri)


def replayed(events) -> set[str]:
    """What the events of a log lead to; each must follow from the one before it: nothing twice, nothing missing."""
    found: set[str] = set()
    for number, event in enumerate(events, 1):
        row = str(event.row)
        assert event.cursor == number, "a cursor is missing, or there twice"
        assert (row in found) == (event.kind != "matched"), f"{event} does not follow from what was told before"
        found = found | {row} if event.kind == "matched" else found - {row} if event.kind == "unmatched" else found
    return found


def reconcile(peers: list[PeerProcess], wanted: set[str]) -> None:
    """Every peer's subscriber was told what leads to the rows of one hub."""

    def told(peer: PeerProcess) -> set[str]:
        return {*map(str, peer.client.rows("q"))}

    try:
        wait_for(lambda: all(told(each) == wanted for each in peers), 240)
    except AssertionError:
        different = [
            f"{each.url} misses {sorted(wanted - told(each))}, has {sorted(told(each) - wanted)} too: "
            f"{each.client.network().ring} {[*map(str, each.client.events('q'))]} {each.heard[-20:]}"
            for each in peers
        ]
        pytest.fail("the subscribers do not have what one hub would give them:\n" + "\n".join(different))
    for each in peers:
        assert replayed(each.client.events("q")) == wanted
    faults = [line for each in peers for line in each.heard if "failed" in line or "Traceback" in line]
    assert not faults


def run_load(peers: list[PeerProcess], seed: int, *, kills: int, changes: int, away: float = 0.0) -> set[str]:
    """Change documents at all peers while one after the other is killed and comes back; gives one hub's rows.

    `away`: so many seconds pass until it does, between changes.
    """
    chance = random.Random(seed)
    with Hub(":memory:") as one:
        one.subscribe(JOIN, id="q", scope="graph")
        for each in peers:
            each.client.subscribe(JOIN, id="q", scope="graph")
        for number in range(kills):
            for _ in range(changes):
                change(peers, one, chance)
            victim = peers[number % len(peers)]
            victim.kill()
            others = [each for each in peers if each is not victim]
            for _ in range(changes // 2):
                change_elsewhere(others, peers, one, chance)
                time.sleep(away / (changes // 2))
            victim.start()
        return {*map(str, one.rows("q"))}


def change_elsewhere(others: list[PeerProcess], peers: list[PeerProcess], one: Hub, chance: random.Random) -> None:
    """A change while one peer is down: its own clients wait for it."""
    at = peers.index(chance.choice(others))
    uri, value = f"urn:doc{at}-0", chance.randrange(3)
    text = f"<urn:s{at % 5}> <urn:r> <urn:s{value}> ; <urn:a> {value} ."
    insist(lambda: peers[at].client.publish(text, uri=uri, media_type=TURTLE))
    one.publish(text, uri=uri)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "algorithm"), [(8, "mqc"), (8, "sqc"), (16, "mqc")])
def test_peers_that_are_killed_one_after_the_other_under_load_end_as_one_hub(tmp_path, size, algorithm):
    with peer_processes(tmp_path, size, "--algorithm", algorithm, "--patience", "10") as peers:
        wanted = run_load(peers, seed=size, kills=size, changes=6)
        reconcile(peers, wanted)
        wait_for(lambda: is_ring([each.client for each in peers]), 240)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "algorithm", "seed"), [(4, "sqc", 1), (8, "mqc", 2), (8, "sqc", 3)])
def test_peers_that_are_stood_in_for_until_they_come_back_under_load_end_as_one_hub(tmp_path, size, algorithm, seed):
    """What was told while another peer stood in is changed when the first one is back, before it has its keys again."""
    with peer_processes(tmp_path, size, "--algorithm", algorithm, "--patience", "1") as peers:
        wanted = run_load(peers, seed=seed, kills=size, changes=12, away=4.0)
        reconcile(peers, wanted)
        wait_for(lambda: is_ring([each.client for each in peers]), 240)


@pytest.mark.slow
def test_peer_that_is_killed_and_one_that_is_stopped_come_back_with_what_their_clients_have(tmp_path):
    """What was told while they were away is told when they are back, once, after the cursor of before."""
    with peer_processes(tmp_path, 4, "--patience", "5") as peers:
        reader, writer = peers[1], peers[3].client
        reader.client.subscribe(JOIN, id="q", scope="graph")
        for number, end in enumerate([PeerProcess.kill, PeerProcess.terminate, PeerProcess.kill]):
            end(reader)
            writer.publish(f"<urn:s> <urn:r> <urn:t> . <urn:t> <urn:a> {number} .", uri="urn:d", media_type=TURTLE)
            reader.start()
            told = reader.client.events("q", after=max(0, 2 * number - 1), wait=60)
            wait_for(lambda known=number: len(reader.client.events("q")) == 2 * known + 1)
            assert told
        assert len(replayed(reader.client.events("q"))) == 1
