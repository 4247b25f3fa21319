"""Advertisements that come at about the same time go in few messages, and nothing of them is lost (P4)."""

from __future__ import annotations

from triplewire.network import Simulation
from triplewire.network.simulation import CubeNetwork

ASKED = "SELECT ?d { ?d <urn:p%d> ?x }"


def is_told_everywhere(sim: Simulation, net: CubeNetwork, names: list[int]) -> None:
    """Each node is told of what each other one publishes of what it has advertised."""
    clients = [net.client(at=node) for node in net.nodes]
    sids = [[(client, client.subscribe(ASKED % name)) for name in names] for client in clients]
    sim.run()
    for node, client in zip(net.nodes, clients, strict=True):
        client.publish(f"<urn:d{node}> <urn:p{names[node % len(names)]}> 1 .", uri=f"urn:doc{node}")
    sim.run()
    for own in sids:
        told = [event.row["d"].value for client, sid in own for event in client.events(sid)]
        assert sorted(told) == sorted(f"urn:d{node}" for node in net.nodes)


def test_hubs_that_advertise_at_the_same_time_share_messages():
    sim = Simulation(seed=1)
    net = sim.hypercube(16)
    sim.run()
    for node in net.nodes:
        net.client(at=node).advertise(properties=[f"urn:p{node}"])
    sim.run()
    links = 16 * 4
    assert sim.messages["advertise"] <= 4 * links < 16 * 15 * 2
    in_turn = Simulation(seed=1)
    other = in_turn.hypercube(16)
    for node in other.nodes:
        other.client(at=node).advertise(properties=[f"urn:p{node}"])
        in_turn.run()
    assert in_turn.messages["advertise"] == 16 * 15 > sim.messages["advertise"]
    is_told_everywhere(sim, net, list(net.nodes))


def test_what_comes_and_goes_before_a_neighbour_has_heeded_the_last_is_never_said():
    sim = Simulation(seed=1)
    net = sim.hypercube(2)
    sim.run()
    client = net.client(at=0)
    client.advertise(properties=["urn:p0"])
    passing = client.advertise(properties=["urn:p1"])
    client.withdraw(passing)
    sim.run()
    assert sim.messages["advertise"] == 1
    assert not net.hub(0).state.gathered
    assert not net.hub(0).state.unheeded


def test_what_was_gathered_while_a_neighbour_was_away_is_said_when_it_is_back():
    sim = Simulation(seed=1, patience=1000)
    net = sim.hypercube(4)
    sim.run()
    client = net.client(at=0)
    net.partition([0], [1, 2, 3])
    for name in range(3):
        client.advertise(properties=[f"urn:p{name}"])
    sim.run(seconds=5)
    assert set(net.hub(0).state.gathered) == {"corner-1", "corner-2"}
    net.crash(0)
    net.restart(0)
    net.heal()
    sim.run()
    assert not net.hub(0).state.gathered
    is_told_everywhere(sim, net, list(range(3)))


def test_neighbour_that_is_told_everything_anew_is_told_what_was_gathered():
    """A node that stands in for one that is down begins with nothing, and has what was gathered for that one."""
    sim = Simulation(seed=1, patience=2)
    net = sim.hypercube(4)
    sim.run()
    net.crash(1)
    for name in range(3):
        net.client(at=0).advertise(properties=[f"urn:p{name}"])
    sim.run(seconds=10)
    net.restart(1)
    sim.run()
    is_told_everywhere(sim, net, list(range(3)))


def test_document_that_came_for_a_younger_interest_is_told_to_an_older_one_that_comes_later():
    """P5: the hub on the way had passed over it, and has to be told of it again."""
    sim = Simulation(seed=854, loss=0.1, duplication=0.1)
    net = sim.hypercube(8)
    older = net.client(at=7).subscribe(ASKED % 0, id="older")
    net.client(at=4).publish("<urn:d> <urn:p0> 1 .", uri="urn:doc")
    younger = net.client(at=5).subscribe(ASKED % 0, id="younger")
    sim.run()
    assert [event.kind for event in net.hub(7).subscription(older).log] == ["matched"]
    assert not net.hub(5).subscription(younger).log
