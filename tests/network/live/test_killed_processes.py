"""Hubs of a network in processes of their own, killed under load (P3 to P7, X8)."""

from __future__ import annotations

import random

import httpx
import pytest
from tests.network.live.federations import WATER, Process, about, kinds, processes, wait_for

from backbone.served import free_ports
from triplewire import Hub


def settled(hubs: list[Process], wanted: set[str]) -> bool:
    """Whether every hub's subscriber has the rows that one hub would give it."""
    return all(rows(each) == wanted for each in hubs)


def rows(hub: Process) -> set[str]:
    found = hub.get("/v1/subscriptions/water/rows").json()["rows"]
    return {row["d"] for row in found}


def replayed(told: list[str]) -> set[str]:
    """What the events of a log lead to; each must follow from the one before it: nothing twice, nothing missing."""
    found: set[str] = set()
    for line in told:
        kind, row = line.split(" ")
        assert (row in found) == (kind != "matched"), f"{line} does not follow from what was told before"
        found = found | {row} if kind == "matched" else found - {row} if kind == "unmatched" else found
    return found


def run_load(hubs: list[Process], rounds: int, changes: int, seed: int) -> set[str]:
    """Publish, change and retract at every hub while one after the other is killed; gives the rows in the end.

    What was sent to a hub that was killed meanwhile is sent again: a document is what it was sent last.
    """
    chance, one = random.Random(seed), Hub(":memory:")
    one.subscribe(WATER, id="water")
    with one:
        for number in range(rounds):
            for _ in range(changes):
                at, which = chance.randrange(len(hubs)), chance.randrange(6)
                uri, is_gone = f"urn:doc{at}-{which}", chance.random() < 0.25
                text = about(100 * at + which, f" ; <urn:depth> {chance.randrange(4)}")
                if is_gone:
                    insist(lambda at=at, uri=uri: hubs[at].retract(uri), missing=404)
                    one.retract(uri)
                else:
                    insist(lambda at=at, uri=uri, text=text: hubs[at].publish(uri, text))
                    one.publish(text, uri=uri)
            victim = hubs[number % len(hubs)]
            victim.kill()
            victim.start()
        return {str(row["d"]) for row in one.rows("water")}


def insist(send, missing: int = 0) -> None:
    """Send until it is answered."""

    def is_done() -> bool:
        try:
            answer = send()
        except httpx.HTTPError:
            return False
        return answer.status_code < 300 or answer.status_code == missing

    wait_for(is_done)


def reconcile(hubs: list[Process], wanted: set[str]) -> None:
    try:
        wait_for(lambda: settled(hubs, wanted), 180)
    except AssertionError:
        told = [f"{each.number}: {sorted(rows(each) ^ wanted)} {each.links()} {each.said[-20:]}" for each in hubs]
        pytest.fail("the subscribers do not have what one hub would give them:\n" + "\n".join(told))
    for each in hubs:
        assert replayed(kinds(each)) == wanted


def test_hub_that_is_killed_comes_back_with_all_that_it_knew(tmp_path):
    """Invariant of `network.link.state`: what a node does and the position that says so survive a SIGKILL together.

    Invariant of `network.live.hub`: the node's state and the documents that came with it are of one transaction.
    """
    with processes(tmp_path, 3, free_ports(3)) as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        hubs[2].publish("urn:doc", about(1))
        for each in hubs:
            wait_for(lambda each=each: kinds(each) == ["matched <urn:d1>"])
        hubs[1].kill()
        hubs[2].publish("urn:doc", about(1, " ; <urn:depth> 3"))
        hubs[2].publish("urn:more", about(2))
        hubs[1].start()
        wanted = ["matched <urn:d1>", "changed <urn:d1>", "matched <urn:d2>"]
        for each in hubs:
            wait_for(lambda each=each: len(kinds(each)) >= 3)
            assert kinds(each) == wanted


@pytest.mark.slow
def test_eight_processes_killed_one_after_the_other_end_as_one_hub_would(tmp_path):
    with processes(tmp_path, 8, free_ports(8)) as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        reconcile(hubs, run_load(hubs, rounds=16, changes=10, seed=8))


@pytest.mark.slow
def test_sixteen_processes_form_a_cube(tmp_path):
    with processes(tmp_path, 16, free_ports(16)) as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        for number, each in enumerate(hubs):
            assert each.publish(f"urn:doc{number}", about(number)).status_code < 300
        reconcile(hubs, {f"<urn:d{number}>" for number in range(16)})


@pytest.mark.slow
def test_hub_that_stays_away_is_stood_in_for_and_comes_back_to_its_corner(tmp_path):
    """P3: crash, take over; what the hub missed it is told when it is back, also what was retracted meanwhile."""
    with processes(tmp_path, 5, free_ports(5), TRIPLEWIRE_NETWORK_PATIENCE="3") as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        for number, each in enumerate(hubs):
            each.publish(f"urn:doc{number}", about(number))
        every = {f"<urn:d{number}>" for number in range(5)}
        reconcile(hubs, every)
        hubs[1].kill()
        others = [each for each in hubs if each is not hubs[1]]
        wait_for(lambda: away(others[0]) == 1, 60)
        others[1].retract("urn:doc2")
        others[2].publish("urn:new", about(77))
        wanted = every - {"<urn:d2>"} | {"<urn:d77>"}
        reconcile(others, wanted)
        hubs[1].start()
        wait_for(lambda: away(others[0]) == 0, 60)
        reconcile(hubs, wanted)


@pytest.mark.slow
def test_when_the_decider_stays_away_another_one_decides(tmp_path):
    ports = free_ports(5)
    with processes(tmp_path, 4, ports, TRIPLEWIRE_NETWORK_PATIENCE="3") as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        first = hubs[0].get("/v1/network").json()["decider"]
        hubs[0].kill()
        others = hubs[1:]
        wait_for(lambda: all(each.get("/v1/network").json()["decider"] != first for each in others), 120)
        wait_for(lambda: away(others[0]) == 1, 60)
        late = Process(tmp_path, 9, ports[4], others[0].url, TRIPLEWIRE_NETWORK_PATIENCE="3")
        try:
            late.start()
            wait_for(lambda: len(others[0].get("/v1/network").json()["members"]) == 5, 60)
            late.subscribe("water", WATER, reach="network")
            late.publish("urn:late", about(5))
            others[2].publish("urn:other", about(6))
            reconcile([*others, late], {"<urn:d5>", "<urn:d6>"})
            hubs[0].start()
            reconcile([*hubs, late], {"<urn:d5>", "<urn:d6>"})
        finally:
            late.close()


def away(hub: Process) -> int:
    return sum(each["is_away"] for each in hub.get("/v1/network").json()["members"])
