"""The simulation: networks of hubs with clients, in virtual time; what a program can do with it (X13).

>>> sim = Simulation(seed=7, delay=(1, 50), loss=0.05, duplication=0.02)
>>> net = sim.hypercube(8)
>>> reader, writer = net.client(at=3), net.client(at=6)
>>> sid = reader.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql")
>>> writer.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")
>>> sim.run()
>>> [event.kind for event in reader.events(sid)]
['matched']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from triplewire.network.ring import Algorithm, RingSettings
from triplewire.network.simulation.cubes import CubeNetwork
from triplewire.network.simulation.edges import EdgeNetwork
from triplewire.network.simulation.hierarchies import HierarchyNetwork
from triplewire.network.simulation.rings import RingNetwork
from triplewire.network.simulation.traces import Hops, Trace
from triplewire.network.simulation.wirings import Wire
from triplewire.network.simulation.world import World


class Simulation:
    """One seed, one run: virtual time, and faults. `delay` is in milliseconds, from the least to the most.

    Clocks of nodes differ by at most `skew` milliseconds: what is published so soon after a subscription, elsewhere,
    may count as published before it, or the other way round.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        delay: tuple[float, float] = (1, 50),
        loss: float = 0.0,
        duplication: float = 0.0,
        patience: float = 5.0,
        skew: float = 0.0,
    ) -> None:
        self._world = World(seed, delay=delay, loss=loss, duplication=duplication, patience=patience, skew=skew)
        self.loads: Counter[int] = Counter()
        """What each node has done, by its number: messages taken in; in a ring, the paper's query processing load."""

    @property
    def messages(self) -> Counter[str]:
        """How many messages were sent between nodes, by kind."""
        return self._world.messages

    @property
    def now(self) -> float:
        """Seconds of virtual time."""
        return self._world.now

    def run(self, seconds: float | None = None) -> None:
        """Go on until nothing moves, or for so many seconds."""
        self._world.run(seconds)

    def trace(self, uri: str) -> Trace:
        """Follow a document from now on: what nodes tell each other of it, in plain words."""
        return Trace(self._world, uri)

    def hops(self) -> Hops:
        """Count from now on how far documents, or the parcels of a ring, go."""
        return Hops(self._world)

    def hypercube(self, nodes: int, *, links: Sequence[Wire] | None = None) -> CubeNetwork:
        """A network of so many super-peers; with `links`, only those that are linked can speak to each other."""
        return CubeNetwork(self._world, self.loads, nodes, links=links)

    def hierarchy(
        self,
        clusters: Sequence[int],
        *,
        links: Sequence[Wire] | None = None,
        standbys: bool = True,
        short_cut: bool = True,
        answers: int = 1_000,
    ) -> HierarchyNetwork:
        """A network of brokers: (4, 3, 2) has 4 super-clusters of 3 clusters of 2 brokers, which have numbers in order.

        It has 1 to 4 levels, and at most 32 sub-units in each unit. With `links`, such as (0, 1) or, with its cost in
        milliseconds, (0, 1, 5.0), only brokers that are linked can speak to each other, and their routers find the
        way to the others. Each hub keeps at most so many `answers` to queries. What it does without standbys and
        short-cut, `HierarchyNetwork` says.
        """
        return HierarchyNetwork(
            self._world, self.loads, clusters, links=links, standbys=standbys, short_cut=short_cut, answers=answers
        )

    def edges(
        self, edges: int, *, hubs: int = 1, heartbeat: float | None = None, account: str | None = None
    ) -> EdgeNetwork:
        """So many edges of a hub, or of several hubs of one backbone; edges ask as an `account`, if one is named.

        With a `heartbeat` (in seconds) links tell of silence, and nothing ever comes to rest: run for some seconds.
        """
        return EdgeNetwork(self._world, self.loads, edges, hubs, heartbeat, account)

    def ring(
        self,
        nodes: int,
        *,
        algorithm: Algorithm = "mqc",
        settings: RingSettings | None = None,
    ) -> RingNetwork:
        """A ring of so many peers; with `settings`, these say the algorithm, too."""
        return RingNetwork(self._world, self.loads, nodes, settings or RingSettings(algorithm))
