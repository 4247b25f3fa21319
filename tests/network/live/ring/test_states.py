"""What a live peer must not lose is what its store has: random histories in which peers come back from their rows.

As a live one does, a peer takes steps and sends nothing until they are written, all at once; what a crash finds not
written is lost, with what it would have sent.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ends_as_in_one_hub, is_told_as_by_one_hub
from tests.network.ring.loads import JoinedRing, check_load, check_many_loads
from tests.network.ring.test_histories import ACTIONS, HOW, RingAndHub

from effort import MANY, examples
from triplewire.network.live.ring.records import PeerRecords
from triplewire.network.live.ring.states import PeerBook, digest
from triplewire.network.ring import PeerState, RingPeer
from triplewire.store import Store
from triplewire.wire.events import EventTold
from triplewire.wire.messages import read


class WrittenPeer:
    """A simulated peer, and the store that it is written to."""

    def __init__(self, peer: RingPeer) -> None:
        self.peer, self.store = peer, Store.open(":memory:")
        self.book = PeerBook(peer, {})
        self.begins = True

    def follow(self, peer: RingPeer, messages: dict[str, int]) -> None:
        self.peer, self.book = peer, PeerBook(peer, messages)

    def write(self) -> None:
        home = self.peer.state.homes[self.peer.name]
        logs = {id: [*each.log] for id, each in home.subscriptions.items()}
        changes = self.book.difference()
        with self.store.writing() as writer:
            changes.write(writer.network)
        for id, log in logs.items():  # a simulated client reads it there
            home.subscriptions[id].log = log

    def read(self) -> tuple[PeerState, dict[str, int]]:
        with self.store.reading() as reader:
            state, messages = PeerRecords(reader.network).read(self.peer.name, self.peer.settings)
            for id, each in state.homes[self.peer.name].subscriptions.items():
                rows = reader.network.state_from("event", f"{digest(id)} ", f"{digest(id)}!", 1_000)
                told = [read(EventTold, json.loads(text)) for _, text in rows]
                each.log = [one.event(lambda one=one: one) for one in told]
        return state, messages


class WrittenPeers:
    """Peers that, when they crash, lose everything but the rows of their stores; for a ring beside a hub."""

    LONGEST = 0.5
    """Seconds after a step until it is written, at most."""

    def network(self, size: int):
        net = super().network(size)
        self.world = world = net._world
        self.written = {name: WrittenPeer(peer) for name, peer in world.nodes.items()}
        for each in self.written.values():
            each.write()
        self.held: dict[str, list] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.really = world.add, world.crash, world.restart, world.carry
        world.add, world.crash, world.restart, world.carry = self.add, self.crash, self.restart_peer, self.hold
        return net

    def add(self, state, make):
        peer = self.really[0](state, make)
        self.written[peer.name] = WrittenPeer(peer)
        return peer

    def crash(self, name: str) -> None:
        self.held.pop(name, None)
        self.really[1](name)
        _, make = self.world._down[name]
        state, self.counts[name] = self.written[name].read()
        self.world._down[name] = state, make

    def restart_peer(self, name: str):
        peer = self.really[2](name)
        self.written[name].follow(peer, self.counts[name])
        return peer

    def hold(self, sender: str, frames) -> None:
        """What a step has led to waits until it is written; timers are set at once."""
        if sender not in self.held and sender in self.world.nodes:
            self.held[sender] = []
            self.world.at(self.world.now + self.world.chance.uniform(0, self.LONGEST), self.flush, sender)
        self.held.get(sender, []).extend(frames)
        self.really[3](sender, [])

    def flush(self, name: str) -> None:
        if name in self.held and name in self.world.nodes:
            self.written[name].write()
            self.really[3](name, self.held.pop(name))

    def act(self, what: str, who: int, which: int) -> None:
        """What a client asks is answered when it is written; and a peer has come when it has asked for its place."""
        super().act(what, who, which)
        if what in ("subscribe", "unsubscribe", "publish", "retract", "join"):
            for name in [*self.held]:
                self.flush(name)


class WrittenRing(WrittenPeers, RingAndHub):
    """Random histories."""


class WrittenJoinedRing(WrittenPeers, JoinedRing):
    """Loads."""


STAYING = ACTIONS.filter(lambda action: action[0] != "leave")
"""Peers of a process do not hand their clients to others."""


@settings(max_examples=examples(15), deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([3, 6]), st.lists(STAYING, max_size=25))
def test_peers_that_come_back_from_their_rows_end_as_one_hub(how, seed, size, actions):
    """Invariant of `network.live.ring.states`: the state that is read is the one that was written."""
    ends_as_in_one_hub(WrittenRing(how, seed, size, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(15), deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([1, 3]), st.lists(STAYING, max_size=20))
def test_peers_that_come_back_from_their_rows_tell_what_one_hub_tells(how, seed, size, actions):
    is_told_as_by_one_hub(WrittenRing(how, seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([3, 6, 12]), st.lists(STAYING, max_size=40))
def test_many_histories_of_peers_that_come_back_from_their_rows_end_as_one_hub(how, seed, size, actions):
    ends_as_in_one_hub(WrittenRing(how, seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.parametrize("seed", range(examples(20)))
def test_load_on_a_slow_ring_whose_peers_come_back_from_their_rows_ends_as_one_hub(seed):
    check_load(seed, WrittenJoinedRing)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(3552349809, id="a second document states a triple while one peer passes on that it has ended"),
        pytest.param(1218, id="a key is split by one peer while another is responsible, too"),
    ],
)
def test_load_that_once_ended_otherwise_ends_as_one_hub(seed):
    check_load(seed, WrittenJoinedRing)


@pytest.mark.slow
def test_many_loads_on_slow_rings_whose_peers_come_back_from_their_rows_end_as_one_hub():
    check_many_loads(WrittenJoinedRing)
