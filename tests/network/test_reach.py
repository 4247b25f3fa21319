"""Reach: subscriptions, advertisements and documents that are kept inside a unit (N4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, SIZES, Both, ends_as_in_one_hub, is_told_as_by_one_hub
from tests.network.pairs import ASKED, THEME

from effort import examples
from triplewire import Hub
from triplewire.network import Simulation

REACHES = ["hub", "cluster", "super-cluster", "network"]


class Reaching(Both):
    """Each subscription has one hub that saw what it can be told of."""

    def __init__(self, seed: int, size: int | tuple[int, ...], reaches: list[str], **faults) -> None:
        super().__init__(seed, size, **faults)
        words = [reach for reach in reaches if not isinstance(size, int) or reach in ("hub", "network")]
        self.next = iter((words or ["network"]) * 1000)
        self.heights = {"hub": 0, "cluster": 1, "super-cluster": 2, "network": 9}
        self.oracles: dict[str, tuple[Hub, int, int]] = {}

    def distance(self, a: int, b: int) -> int:
        """The height of the smallest unit around two nodes."""
        if not self.net.has_units:
            return 0 if a == b else 9
        paths = zip(self.net.path(a), self.net.path(b), strict=True)
        levels = len(self.net.path(a))
        return next((levels - i for i, (one, other) in enumerate(paths) if one != other), 0)

    def subscribe(self, at, query):
        reach = next(self.next)
        sid = self.clients[at].subscribe(query, reach=reach)
        self.sids[sid] = at
        self.oracles[sid] = Hub(":memory:"), at, self.heights[reach]
        for uri, (home, text, height) in self.texts().items():
            if self.distance(home, at) <= min(height, self.heights[reach]):
                self.oracles[sid][0].publish(text, uri=uri)
        self.oracles[sid][0].subscribe(query, id=sid)

    def texts(self) -> dict[str, tuple[int, str, int]]:
        return self.__dict__.setdefault("published", {})

    def publish(self, at, uri, text):
        reach = next(self.next)
        self.clients[at].publish(text, uri=uri, reach=reach)
        before = self.texts().get(uri)
        self.texts()[uri] = at, text, self.heights[reach]
        for hub, home, height in self.oracles.values():
            if self.distance(at, home) <= min(height, self.heights[reach]):
                hub.publish(text, uri=uri)
            elif before is not None and self.distance(at, home) <= min(height, before[2]):
                hub.retract(uri)

    def retract(self, at, uri):
        self.clients[at].retract(uri)
        _, _, reach = self.texts().pop(uri)
        for hub, home, height in self.oracles.values():
            if self.distance(at, home) <= min(height, reach):
                hub.retract(uri)

    def oracle_of(self, sid):
        return self.oracles[sid][0]


WORDS = st.lists(st.sampled_from(REACHES), min_size=1, max_size=8)


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), WORDS, st.lists(ACTIONS, max_size=15))
def test_each_event_is_told_inside_its_reach_as_by_one_hub(seed, size, reaches, actions):
    is_told_as_by_one_hub(Reaching(seed, size, reaches, loss=0.1), actions)


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), WORDS, st.lists(ACTIONS, max_size=20))
def test_rows_end_as_those_of_one_hub_that_saw_what_is_in_reach(seed, size, reaches, actions):
    ends_as_in_one_hub(Reaching(seed, size, reaches, loss=0.1), actions)


@pytest.mark.parametrize(("reach", "told"), [("hub", 1), ("cluster", 2), ("super-cluster", 4), ("network", 8)])
@pytest.mark.parametrize("kept", ["subscription", "document"])
def test_what_is_kept_inside_a_unit_is_not_told_outside(kept, reach, told):
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    clients = [net.client(at=node) for node in net.nodes]
    limited = {"reach": reach}
    sids = [client.subscribe(ASKED % 1, **(limited if kept == "subscription" else {})) for client in clients]
    clients[0].publish(f"<urn:d> <{THEME}> <urn:theme/1> .", uri="urn:doc", **(limited if kept == "document" else {}))
    sim.run()
    assert [len(client.events(sid)) for client, sid in zip(clients, sids, strict=True)] == [1] * told + [0] * (8 - told)


def test_what_is_kept_inside_a_cluster_takes_no_message_outside():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(4, 4, 4))
    sim.run()
    before = sim.loads.copy()
    net.client(at=1).advertise(properties=[THEME], reach="cluster")
    net.client(at=2).subscribe(ASKED % 1, reach="cluster")
    net.client(at=3).publish(f"<urn:d> <{THEME}> <urn:theme/1> .", uri="urn:doc", reach="cluster")
    sim.run()
    assert set(sim.loads - before) <= {0, 1, 2, 3}


def test_document_that_is_published_again_with_a_shorter_reach_ends_outside():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2))
    near, far = net.client(at=1), net.client(at=3)
    sids = [client.subscribe(ASKED % 1) for client in (near, far)]
    writer = net.client(at=0)
    for reach in ("network", "cluster", "network"):
        writer.publish(f"<urn:d> <{THEME}> <urn:theme/1> .", uri="urn:doc", reach=reach)
        sim.run()
    assert [event.kind for event in near.events(sids[0])] == ["matched"]
    assert [event.kind for event in far.events(sids[1])] == ["matched", "unmatched", "matched"]


def test_network_without_units_has_two_reaches():
    sim = Simulation()
    net = sim.hypercube(4)
    with pytest.raises(ValueError, match="one of hub, network here"):
        net.client(at=0).subscribe(ASKED % 1, reach="cluster")
    here, there = net.client(at=0), net.client(at=3)
    sids = [client.subscribe(ASKED % 1, reach="hub") for client in (here, there)]
    here.publish(f"<urn:d> <{THEME}> <urn:theme/1> .", uri="urn:doc")
    sim.run()
    assert [len(client.events(sid)) for client, sid in zip((here, there), sids, strict=True)] == [1, 0]
