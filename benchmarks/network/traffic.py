"""Messages: what a network sends to tell everybody, next to flooding events or subscriptions, and to one hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from time import process_time
from typing import NamedTuple

from benchmarks.measure import undisturbed
from benchmarks.network.demand import Demand
from triplewire.network import Simulation
from triplewire.network.simulation import HierarchyNetwork, SimulatedClient, SimulatedNetwork

BODIES = ("advertise", "subscribe", "event")
"""The kinds of messages that count; what links say to each other comes on top for all alternatives alike."""

EVERYTHING = "SELECT ?d { ?d ?p ?x }"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one alternative sent: while hubs advertised and subscribed, and while documents were published."""

    part: str = field(default="traffic", init=False)
    topology: str
    nodes: int
    levels: int
    alternative: str
    subscriptions: int
    documents: int
    advertising: int
    subscribing: int
    publishing: int
    told: int
    idle: int | None
    """Messages with documents that brokers took in without wanting them, and without a unit to control."""
    seconds: float
    concerned: float = 0.0
    """Hubs that a document concerns, on average: those with subscriptions to it, but for the one that publishes it."""
    in_turn: int | None = None
    """The messages of advertising, if each hub of a cube waits until the one before it is known everywhere."""


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


def measure_traffic(
    shape: Shape, wanted: Demand, alternative: str, seed: int, tell: Callable[[str], None] = lambda text: None
) -> Traffic:
    """Let the same happen in an alternative, and count; what is told must be what the demand says."""
    started = process_time()
    with undisturbed():  # what a network knows has no cycles, and is too much to be looked through again and again
        sent = _sent(shape, wanted, alternative, seed, tell)
    if sent.told != wanted.told:
        raise AssertionError(f"{alternative} told {sent.told:,} events, and not {wanted.told:,}")
    return Traffic(
        "hypercube" if isinstance(shape, int) else "hierarchy",
        shape if isinstance(shape, int) else prod(shape),
        1 if isinstance(shape, int) else len(shape),
        alternative,
        wanted.subscriptions,
        len(wanted.documents),
        sent.advertising,
        sent.subscribing,
        sent.publishing,
        sent.told,
        sent.idle,
        process_time() - started,
        concerned(wanted),
        advertised_in_turn(shape, wanted) if isinstance(shape, int) and alternative == "triplewire" else None,
    )


def concerned(wanted: Demand) -> float:
    """How many other hubs a document concerns, on average."""
    others = [{asked.node for asked in each.told} - {each.node} for each in wanted.documents]
    return sum(map(len, others)) / max(1, len(others))


class Sent(NamedTuple):
    """The messages of each stage, the events that were told, and what hubs took in that wanted nothing."""

    advertising: int
    subscribing: int
    publishing: int
    told: int
    idle: int | None = None


def _sent(shape: Shape, wanted: Demand, alternative: str, seed: int, tell: Callable[[str], None]) -> Sent:
    if alternative == "one-hub":
        return _one_hub(wanted)
    if isinstance(shape, int) and alternative in FLOODS:
        return FLOODS[alternative](shape, wanted)
    sim = Simulation(seed)
    return spread(sim, built(sim, shape, alternative), wanted, alternative, tell)


def _one_hub(wanted: Demand) -> Sent:
    """Each subscription, each document and each event is one message between a client and the hub."""
    return Sent(0, wanted.subscriptions, len(wanted.documents) + wanted.told, wanted.told)


# -- flooding a cube: each message goes to every other hub once, by the tree of its origin


def _flood_subscriptions(nodes: int, wanted: Demand) -> Sent:
    """Every hub knows every subscription, and a document goes by the tree to those that want it."""
    publishing = sum(_on_the_way(each.node, {asked.node for asked in each.told}) for each in wanted.documents)
    return Sent(0, wanted.subscriptions * (nodes - 1), publishing, wanted.told)


def _flood_events(nodes: int, wanted: Demand) -> Sent:
    """Nobody knows of subscriptions."""
    return Sent(0, 0, len(wanted.documents) * (nodes - 1), wanted.told)


def _on_the_way(origin: int, hubs: Iterable[int]) -> int:
    """How many hubs the ways from one to others lead to, the lowest dimension first."""
    found: set[int] = set()
    for hub in hubs:
        at, left = origin, origin ^ hub
        while left:
            at ^= left & -left
            left &= left - 1
            found.add(at)
    return len(found)


def advertised_in_turn(nodes: int, wanted: Demand) -> int:
    """The messages of advertising, one hub after the other: each goes by its tree, as far as it says anything new.

    The simulation lets all hubs advertise at once, which then share messages.
    """
    told: dict[tuple[int, int], set[object]] = {}
    return sum(_spread(node, 0, items, nodes, told) for node, items in _items(wanted).items())


def _items(wanted: Demand) -> dict[int, set[object]]:
    """By hub, what it advertises: a topic is advertised in one way by all."""
    found: dict[int, set[object]] = {}
    for topic in wanted.topics:
        for node in topic.publishers:
            found.setdefault(node, set()).add(topic.name)
    return found


def _spread(at: int, dimension: int, items: set[object], nodes: int, told: dict[tuple[int, int], set[object]]) -> int:
    """How many messages carry on what came to a hub by dimensions below one; what a link has carried it need not."""
    count = 0
    for above in range(dimension, (nodes - 1).bit_length()):
        known = told.setdefault((at, above), set())
        new = items - known
        if new:
            known |= new
            count += 1 + _spread(at ^ (1 << above), above + 1, new, nodes, told)
    return count


FLOODS: Mapping[str, Callable[[int, Demand], Sent]] = {
    "flood-subscriptions": _flood_subscriptions,
    "flood-events": _flood_events,
}
"""In a cube they are counted, which takes no simulation: a test compares both."""


# -- in a simulation


def spread(
    sim: Simulation,
    net: SimulatedNetwork,
    wanted: Demand,
    alternative: str,
    tell: Callable[[str], None] = lambda text: None,
) -> Sent:
    """What the simulation of an alternative sends."""
    tell(f"{alternative}: hubs advertise")
    clients = {node: net.client(at=node) for node in net.nodes}
    for client in clients.values():
        if alternative == "flood-events":
            client.subscribe(EVERYTHING)
        if alternative == "flood-subscriptions":
            client.advertise(schemas=["urn:"])
    sim.run()
    for node, said in wanted.advertisements.items():
        clients[node].advertise(**said)
    sim.run()
    advertised = _bodies(sim)
    tell(f"{alternative}: {wanted.subscriptions:,} subscriptions")
    sids = [
        (clients[asked.node], clients[asked.node].subscribe(asked.text)) for t in wanted.topics for asked in t.asked
    ]
    sim.run()
    subscribed, loads = _bodies(sim), Counter(sim.loads)
    tell(f"{alternative}: {len(wanted.documents):,} documents")
    for each in wanted.documents:
        clients[each.node].publish(each.text, uri=each.uri)
    sim.run()
    told = sum(len(client.events(sid)) for client, sid in sids)
    idle = _idle(net, wanted, sids, sim.loads - loads)
    return Sent(advertised, subscribed - advertised, _bodies(sim) - subscribed, told, idle)


def _bodies(sim: Simulation) -> int:
    return sum(sim.messages[kind] for kind in BODIES)


def _idle(
    net: SimulatedNetwork, wanted: Demand, sids: Sequence[tuple[SimulatedClient, str]], loads: Counter[int]
) -> int:
    """What brokers took in that control no unit, but for the documents that their clients were told of."""
    if not isinstance(net, HierarchyNetwork):
        return 0
    homes = {each.uri: each.node for each in wanted.documents}
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
