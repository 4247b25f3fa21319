"""Brokers and whole units join and leave (N2)."""

from __future__ import annotations

import pytest
from tests.network.pairs import ASKED, THEME

from triplewire.errors import NetworkError, UnitFull
from triplewire.network import Simulation


def published(client, number: int) -> None:
    client.publish(f"<urn:d{number}> <{THEME}> <urn:theme/1> .", uri=f"urn:doc{number}")


def test_unit_that_joins_is_told_of_what_others_publish_and_tells_them():
    sim = Simulation(seed=1, loss=0.1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    old = net.client(at=0)
    first = old.subscribe(ASKED % 1)
    sim.run()
    brokers = net.join_unit((), clusters=(2, 3))
    assert [net.path(node) for node in brokers] == [(2, a, b) for a in range(2) for b in range(3)]
    new = net.client(at=brokers[4])
    second = new.subscribe(ASKED % 1)
    sim.run()
    published(old, 1)
    published(new, 2)
    sim.run()
    for client, sid in ((old, first), (new, second)):
        assert sorted(event.row["d"].value for event in client.events(sid)) == ["urn:d1", "urn:d2"]


def test_clients_of_a_unit_that_leaves_are_served_by_others():
    sim = Simulation(seed=2, loss=0.1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    stays, goes = net.client(at=0), net.client(at=7)
    sids = [client.subscribe(ASKED % 1) for client in (stays, goes)]
    published(goes, 1)
    sim.run()
    net.leave_unit(1)
    assert net.nodes == (0, 1, 2, 3)
    published(goes, 2)
    published(stays, 3)
    goes.retract("urn:doc1")
    sim.run()
    for client, sid in zip((stays, goes), sids, strict=True):
        told = sorted((event.kind, event.row["d"].value) for event in client.events(sid))
        assert told == [*(("matched", f"urn:d{n}") for n in (1, 2, 3)), ("unmatched", "urn:d1")]
    assert {net.controller(*unit) for unit in net.units} <= {0, 1, 2, 3}


def test_units_that_have_no_place_are_refused_with_the_reason():
    net = Simulation().hierarchy(clusters=(32, 1))
    with pytest.raises(UnitFull, match="put the next one into another unit"):
        net.join_unit((), clusters=(2,))
    with pytest.raises(NetworkError, match="no place inside"):
        net.join_unit((0,), clusters=(2,))
    with pytest.raises(NetworkError, match="no brokers in unit"):
        net.leave_unit(40)
    with pytest.raises(NetworkError, match="no broker outside"):
        net.leave_unit()


def test_33rd_broker_of_a_cluster_is_refused_and_changes_nothing():
    net = Simulation().hierarchy(clusters=(2, 32))
    with pytest.raises(UnitFull):
        net.join(cluster=(1,))
    assert len(net.nodes) == 64
