"""All pairs of nodes: each is told, once, of what each other one publishes, changes and retracts."""

from __future__ import annotations

from triplewire.network import Simulation
from triplewire.network.simulation import SimulatedNetwork

THEME = "urn:theme"
ASKED = "SELECT ?d { ?d <urn:theme> <urn:theme/%d> }"


def all_pairs_are_told_once(sim: Simulation, net: SimulatedNetwork) -> None:
    """Advertise, subscribe, publish, change, retract."""
    clients = [net.client(at=number) for number in net.nodes]
    for number, client in enumerate(clients):
        client.advertise(values={THEME: [f"urn:theme/{number}"]})
    sim.run()
    sids = [[client.subscribe(ASKED % number) for number in net.nodes] for client in clients]
    sim.run()
    for number, client in enumerate(clients):
        client.publish(f"<urn:d{number}> <urn:theme> <urn:theme/{number}> .", uri=f"urn:doc{number}")
    sim.run()
    for number, client in enumerate(clients):
        client.publish(f"<urn:d{number}> <urn:theme> <urn:theme/{number}>, <urn:new> .", uri=f"urn:doc{number}")
    sim.run()
    for number, client in enumerate(clients):
        client.retract(f"urn:doc{number}")
    sim.run()
    for client, own in zip(clients, sids, strict=True):
        for number, sid in enumerate(own):
            told = [(event.kind, event.row["d"].value) for event in client.events(sid)]
            assert told == [(kind, f"urn:d{number}") for kind in ("matched", "changed", "unmatched")]
