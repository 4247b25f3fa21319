"""Clients and hubs that are away: what waits, what falls off, and that nothing is missed silently (P4, P7, P8)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, is_told_as_by_one_hub
from tests.network.test_moves import Moving

from effort import MANY, examples
from triplewire.errors import NetworkError, UnknownDocument
from triplewire.network import Simulation

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"
AWAY = st.tuples(st.sampled_from(["offline", "return"]), st.integers(0, 10), st.integers(0, 3))
MOVES = st.tuples(st.just("move"), st.integers(0, 10), st.integers(0, 10))


def published(client, number: int) -> None:
    client.publish(f"<urn:d{number}> <urn:theme> <urn:water> .", uri=f"urn:doc{number}")


@pytest.fixture
def sim() -> Simulation:
    return Simulation(seed=3, loss=0.1, duplication=0.1, patience=5.0)


@pytest.fixture
def net(sim):
    return sim.hypercube(8)


def cursors(client, sid: str) -> list[int]:
    return [event.cursor for event in client.events(sid)]


def test_client_that_was_offline_is_told_what_waited_when_it_is_back(sim, net):
    """P7: the hub keeps what comes meanwhile."""
    reader, writer = net.client(at=1), net.client(at=6)
    sid = reader.subscribe(WATER)
    sim.run()
    reader.go_offline(limit=10, seconds=60)
    for number in range(3):
        published(writer, number)
    sim.run()
    with pytest.raises(NetworkError, match="offline"):
        reader.events(sid)
    reader.come_back()
    assert (cursors(reader, sid), reader.missed(sid)) == ([1, 2, 3], [])


def test_what_falls_off_a_full_queue_is_told_as_missed_with_its_cursors(sim, net):
    """P7: a bounded queue, and no silent gap."""
    reader, writer = net.client(at=1), net.client(at=6)
    sid = reader.subscribe(WATER)
    published(writer, 0)
    sim.run()
    reader.go_offline(limit=2, seconds=60)
    for number in range(1, 6):
        published(writer, number)
    sim.run()
    assert len(net.hub(1).subscription(sid).log) == 1 + 2, "the queue is bounded while the client is away"
    reader.come_back()
    [missed] = reader.missed(sid)
    assert (cursors(reader, sid), missed.after, missed.until) == ([1, 5, 6], 1, 4)
    assert "more than 2" in missed.reason
    assert len(reader.rows(sid)) == 6, "what there is now can be asked"


def test_client_that_stays_away_for_too_long_is_told_from_where_it_missed_everything(sim, net):
    """P7: a time limit."""
    reader, writer = net.client(at=1), net.client(at=6)
    sid = reader.subscribe(WATER)
    reader.go_offline(limit=10, seconds=30)
    published(writer, 0)
    sim.run(seconds=40)
    published(writer, 1)
    sim.run()
    reader.come_back()
    [missed] = reader.missed(sid)
    assert (cursors(reader, sid), missed.after, missed.until) == ([], 0, 2)
    assert "too long" in missed.reason
    published(writer, 2)
    sim.run()
    assert cursors(reader, sid) == [3]


def test_client_that_moved_while_it_was_offline_comes_back_at_the_other_hub(sim, net):
    """P7, P8: the queue follows the client, with what has fallen off."""
    reader, writer = net.client(at=1), net.client(at=6)
    sid = reader.subscribe(WATER)
    reader.go_offline(limit=2, seconds=60)
    for number in range(3):
        published(writer, number)
    sim.run()
    reader.move(to=4)
    published(writer, 3)
    sim.run()
    reader.come_back()
    assert [(each.after, each.until) for each in reader.missed(sid)] == [(0, 2)]
    assert cursors(reader, sid) == [3, 4]


def test_resource_is_fetched_from_the_hub_while_its_owner_is_offline_until_the_owner_takes_it_back(sim, net):
    """P7: rendezvous at the hub; on return the owner retracts, and the subscriber is told."""
    reader, owner, stranger = net.client(at=1), net.client(at=6), net.client(at=1)
    sid = reader.subscribe(WATER)
    published(owner, 1)
    sim.run()
    owner.go_offline(seconds=10_000)
    assert "urn:water" in str(reader.fetch("urn:doc1").triples)
    with pytest.raises(UnknownDocument):
        stranger.fetch("urn:doc1")
    owner.come_back()
    owner.retract("urn:doc1")
    sim.run()
    assert [event.kind for event in reader.events(sid)] == ["matched", "unmatched"]
    with pytest.raises(UnknownDocument):
        reader.fetch("urn:doc1")


def is_advertised(net) -> bool:
    """Whether the neighbour of the hub at corner 5 knows what is advertised there."""
    return any(item.name == "urn:only" for item in net.hub(4).state.heard_items["corner-5"])


def test_hub_that_is_silent_beyond_its_lease_is_withdrawn_and_comes_back_with_all_that_it_missed(sim, net):
    """P4: the neighbours' patience is the lease of what a hub has told them."""
    reader, writer = net.client(at=5), net.client(at=2)
    sid = reader.subscribe(WATER)
    net.client(at=5).advertise(properties=["urn:only"])
    published(writer, 0)
    sim.run()
    asked = net.hub(2).state.heard_interests["corner-3"]
    assert is_advertised(net)
    assert asked, "the interest has come by corners 1 and 3"
    net.crash(5)
    sim.run(seconds=2)
    assert is_advertised(net), "the lease has not ended"
    sim.run(seconds=20)
    assert not is_advertised(net)
    assert not asked, "nobody asks any more for those who are away"
    published(writer, 1)
    writer.retract("urn:doc0")
    sim.run()
    net.restart(5)
    sim.run()
    told = [event.kind for event in reader.events(sid)]
    assert (told[0], sorted(told[1:])) == ("matched", ["matched", "unmatched"])
    [missed] = reader.missed(sid)
    assert missed.after == missed.until == 1
    assert "stood in for" in missed.reason


class Leaving(Moving):
    """Clients go offline and return."""

    def __init__(self, *about, **faults) -> None:
        super().__init__(*about, **faults)
        self.away: set[int] = set()

    def act(self, what: str, who: int, which: int) -> None:
        if what not in ("offline", "return"):
            return super().act(what, who, which)
        at = [*self.clients][who % len(self.clients)]
        with suppress(NetworkError):  # its hub is down, or what it has is on its way
            if what == "offline":
                self.clients[at].go_offline(limit=which, seconds=1_000.0)
                self.away.add(at)
            else:
                self.clients[at].come_back()
                self.away.discard(at)
        return None

    def come_back(self) -> None:
        for at in sorted(self.away):
            self.clients[at].come_back()
        self.away.clear()

    def told(self, sid: str):
        self.come_back()
        return super().told(sid)


def tells_or_says_what_is_missed(both: Leaving, actions) -> None:
    for what, who, which in actions:
        both.act(what, who, which)
    both.settle()
    both.come_back()
    for sid, home in both.sids.items():
        client = both.clients[home]
        told, missed = cursors(client, sid), client.missed(sid)
        lacking = [cursor for each in missed for cursor in range(each.after + 1, each.until + 1)]
        newest = both.net.hub(client.at).subscription(sid).cursor
        assert sorted([*told, *lacking]) == [*range(1, newest + 1)], "each is told, or said to be missed, once"
        assert set(client.rows(sid)) == set(both.oracle_of(sid).rows(sid))


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from([2, 5, 8]), st.lists(st.one_of(ACTIONS, AWAY, AWAY, MOVES), max_size=25))
def test_each_event_is_told_or_said_to_be_missed_in_random_histories(seed, size, actions):
    """Invariant of `network.routing.absences`: what was told and what was missed are all cursors there were."""
    tells_or_says_what_is_missed(Leaving(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from([2, 5, 8]), st.lists(st.one_of(ACTIONS, AWAY, AWAY, MOVES), max_size=40))
def test_many_histories_tell_each_event_or_say_that_it_is_missed(seed, size, actions):
    tells_or_says_what_is_missed(Leaving(seed, size, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32), st.lists(st.one_of(ACTIONS, AWAY), max_size=15))
def test_client_that_has_room_for_all_is_told_as_by_one_hub_wherever_it_was(seed, actions):
    roomy = [(what, who, 1_000 if what == "offline" else which) for what, who, which in actions]
    is_told_as_by_one_hub(Leaving(seed, 5, loss=0.1, duplication=0.1), roomy)
