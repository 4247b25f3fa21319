"""Messages: what a network sends to tell everybody, next to flooding events or subscriptions, and to one hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.network.demand import Demand
from triplewire.network import Simulation
from triplewire.network.simulation import HierarchyNetwork, SimulatedClient, SimulatedNetwork

BODIES = ("advertise", "subscribe", "event")
"""The kinds of messages that count; what links say to each other comes on top for all alternatives alike."""

EVERYTHING = "SELECT ?d { ?d ?p ?x }"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one alternative sent: while subscriptions were made, and while documents were published."""

    part: str = field(default="traffic", init=False)
    topology: str
    nodes: int
    levels: int
    alternative: str
    subscriptions: int
    documents: int
    subscribing: int
    publishing: int
    told: int
    idle: int | None
    """Messages with documents that brokers took in without wanting them, and without a unit to control."""
    seconds: float


Shape = int | Sequence[int]
"""Hubs of a hypercube, or sub-units at each level of a hierarchy."""

ALTERNATIVES = {
    "hypercube": ("triplewire", "flood-subscriptions", "flood-events", "one-hub"),
    "hierarchy": ("triplewire", "no-short-cut", "flood-events", "one-hub"),
}


def built(sim: Simulation, shape: Shape, alternative: str) -> SimulatedNetwork:
    """The network; standbys are left out, because they cost the same whatever is sent."""
    if isinstance(shape, int):
        return sim.hypercube(shape)
    return sim.hierarchy(shape, standbys=False, short_cut=alternative != "no-short-cut")


def measure_traffic(shape: Shape, wanted: Demand, alternative: str, expected: int | None, seed: int) -> Traffic:
    """Let the same happen in an alternative, and count; what is told must be as `expected`."""
    started = perf_counter()
    sim = Simulation(seed)
    net = built(sim, shape, alternative)
    counted = _one_hub(wanted, expected or 0) if alternative == "one-hub" else _spread(sim, net, wanted, alternative)
    subscribing, publishing, told, idle = counted
    if expected is not None and told != expected:
        raise AssertionError(f"{alternative} told {told:,} events, and not {expected:,}")
    return Traffic(
        "hypercube" if isinstance(shape, int) else "hierarchy",
        len(net.nodes),
        1 if isinstance(shape, int) else len(shape),
        alternative,
        wanted.subscriptions,
        len(wanted.documents),
        subscribing,
        publishing,
        told,
        idle,
        perf_counter() - started,
    )


def _one_hub(wanted: Demand, told: int) -> tuple[int, int, int, None]:
    """Each subscription, each document and each event is one message between a client and the hub."""
    return wanted.subscriptions, len(wanted.documents) + told, told, None


def _spread(sim: Simulation, net: SimulatedNetwork, wanted: Demand, alternative: str) -> tuple[int, int, int, int]:
    clients = {node: net.client(at=node) for node in net.nodes}
    for client in clients.values():
        if alternative == "flood-events":
            client.subscribe(EVERYTHING)
        if alternative == "flood-subscriptions":
            client.advertise(schemas=["urn:"])
    sim.run()
    for topic in wanted.topics:
        for node in topic.publishers:
            clients[node].advertise(**topic.advertisement)
    sim.run()
    sids = [(clients[node], clients[node].subscribe(text)) for topic in wanted.topics for node, text in topic.asked]
    sim.run()
    before, loads = Counter(sim.messages), Counter(sim.loads)
    for node, number, text in wanted.documents:
        clients[node].publish(text, uri=f"urn:document/{number}")
    sim.run()
    after = sim.messages - before
    told = sum(len(client.events(sid)) for client, sid in sids)
    idle = _idle(net, wanted, sids, sim.loads - loads)
    return sum(before[kind] for kind in BODIES), sum(after[kind] for kind in BODIES), told, idle


def _idle(
    net: SimulatedNetwork, wanted: Demand, sids: Sequence[tuple[SimulatedClient, str]], loads: Counter[int]
) -> int:
    """What brokers took in that control no unit, but for the documents that their clients were told of."""
    if not isinstance(net, HierarchyNetwork):
        return 0
    homes = {f"urn:document/{number}": node for node, number, _ in wanted.documents}
    due = {
        (client.at, behind.uri)
        for client, sid in sids
        for event in client.events(sid)
        for behind in event.documents
        if homes[behind.uri] != client.at
    }
    counted = Counter(node for node, _ in due)
    brokers = set(net.nodes) - {net.controller(*unit) for unit in net.units}
    return sum(loads[node] - counted[node] for node in brokers)
