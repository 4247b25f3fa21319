"""Workloads: many clients on a network, with interests that overlap, drawn from the seed of the simulation.

Each publisher advertises a few of the properties, and publishes documents of them. Half of the subscriptions, or as
many as are wanted, ask for less than another one does, which covers them; some ask for what nobody advertises.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from triplewire.network.simulation.hierarchies import HierarchyNetwork
from triplewire.network.simulation.networks import SimulatedClient, SimulatedNetwork
from triplewire.network.simulation.simulation import Simulation
from triplewire.network.simulation.traces import ToldEvent

_PROPERTY = "urn:property/{}"


@dataclass(frozen=True, slots=True)
class Workload:
    """How many subscriptions and documents there are, and shares: of nodes that publish, of subscriptions that others
    cover, and of subscriptions that nothing advertised could match. In the end so many `queries` look for documents,
    one after the other, in a hierarchy."""

    subscriptions: int = 100
    documents: int = 100
    publishers: float = 0.25
    covered: float = 0.5
    uncovered: float = 0.1
    properties: int = 20
    queries: int = 0

    def __post_init__(self) -> None:
        for name in ("publishers", "covered", "uncovered"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share from 0 to 1, and is {getattr(self, name)}")
        for name in ("subscriptions", "documents", "queries"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be below 0, and is {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Played:
    """What a workload has led to: the events that were told, and the messages of each stage by kind."""

    events: tuple[ToldEvent, ...]
    stages: dict[str, dict[str, int]]
    seconds: float
    hops: tuple[int, ...]
    """Of each document to each hub that it came to; of each parcel on a ring."""
    found: int = 0
    """How many documents queries have found, all together."""

    @property
    def told(self) -> int:
        """How many events were told."""
        return len(self.events)


def play(sim: Simulation, net: SimulatedNetwork, workload: Workload, chance: Random) -> Played:
    """Publishers advertise, clients subscribe, documents are published, queries asked; each time it comes to rest."""
    if workload.queries and not isinstance(net, HierarchyNetwork):
        raise ValueError("queries are asked in a hierarchy, and not elsewhere")
    stages: dict[str, dict[str, int]] = {}
    hops = sim.hops()
    counted: Counter[str] = Counter()

    def rest(stage: str) -> None:
        sim.run()
        stages[stage] = dict(sorted((sim.messages - counted).items()))
        counted.update(stages[stage])

    rest("greeting")
    publishers = _advertised(net, workload, chance)
    rest("advertising")
    subscribed = _subscribed(net, workload, chance)
    rest("subscribing")
    for number in range(workload.documents if publishers else 0):
        client, properties = chance.choice(publishers)
        said = " ; ".join(f"<{_PROPERTY.format(p)}> {chance.randrange(100)}" for p in properties)
        uri = document_uri(number)
        client.publish(f"<{uri}#it> {said} .", uri=uri)
    rest("publishing")
    events = [ToldEvent(client.name, client.at, event) for client, sid in subscribed for event in client.events(sid)]
    found = _found(sim, net, workload, chance) if isinstance(net, HierarchyNetwork) and workload.queries else 0
    if workload.queries:
        rest("asking")
    return Played(tuple(events), stages, sim.now, tuple(hops.counts), found)


def _found(sim: Simulation, net: HierarchyNetwork, workload: Workload, chance: Random) -> int:
    """Ask queries, one after the other."""
    found = 0
    for _ in range(workload.queries):
        name = _PROPERTY.format(chance.randrange(workload.properties))
        query = net.client(at=chance.choice(net.nodes)).find(f"SELECT ?d {{ ?d <{name}> ?x }}")
        sim.run()
        found += len(query.found.documents)
    return found


def document_uri(number: int) -> str:
    """The uri of a document of a workload."""
    return f"urn:document/{number}"


def _advertised(net: SimulatedNetwork, workload: Workload, chance: Random) -> list[tuple[SimulatedClient, list[int]]]:
    count = max(1, round(workload.publishers * len(net.nodes)))
    found = []
    for node in chance.sample(net.nodes, count):
        properties = chance.sample(range(workload.properties), 2)
        client = net.client(at=node)
        client.advertise(properties=[_PROPERTY.format(p) for p in properties])
        found.append((client, properties))
    return found


def _subscribed(net: SimulatedNetwork, workload: Workload, chance: Random) -> list[tuple[SimulatedClient, str]]:
    found = []
    for _ in range(workload.subscriptions):
        client = net.client(at=chance.choice(net.nodes))
        which = chance.randrange(workload.properties)
        if chance.random() < workload.uncovered:
            which += workload.properties
        name = _PROPERTY.format(which)
        condition = f" FILTER(?x > {chance.randrange(1, 99)})" if chance.random() < workload.covered else ""
        found.append((client, client.subscribe(f"SELECT ?d ?x {{ ?d <{name}> ?x{condition} }}")))
    return found
