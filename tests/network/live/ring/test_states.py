"""What a live peer must not lose is what its store has: random histories in which peers come back from their rows."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ends_as_in_one_hub, is_told_as_by_one_hub
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


class WrittenRing(RingAndHub):
    """A ring whose peers, when they crash, lose everything but the rows of their stores."""

    def network(self, size: int):
        net = super().network(size)
        world = net._world
        written = {name: WrittenPeer(peer) for name, peer in world.nodes.items()}
        add, crash, restart = world.add, world.crash, world.restart
        counts: dict[str, dict[str, int]] = {}

        def added(state, make):
            peer = add(state, make)
            written[peer.name] = WrittenPeer(peer)
            return peer

        def crashed(name: str) -> None:
            for each in written.values():
                if each.peer.name in world.nodes:
                    each.write()
            crash(name)
            _, make = world._down[name]
            state, counts[name] = written[name].read()
            world._down[name] = state, make

        def restarted(name: str):
            peer = restart(name)
            written[name].follow(peer, counts[name])
            return peer

        world.add, world.crash, world.restart = added, crashed, restarted
        return net


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
