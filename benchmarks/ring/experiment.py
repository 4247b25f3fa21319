"""One run: a ring is made, queries are installed, triples are inserted in steps, and it is counted what that took."""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass, field
from random import Random
from time import process_time
from typing import Literal

from benchmarks.report import Progress
from benchmarks.ring.workload import RingSchema, RingWorkload
from triplewire.errors import NetworkError
from triplewire.matching import Index
from triplewire.model import Document, Row
from triplewire.network import Simulation
from triplewire.network.ring import Algorithm, RingSettings, ideal
from triplewire.network.ring.identifiers import SIZE
from triplewire.network.simulation import SimulatedClient

PAPER_KINDS = ("index-triple", "extend-matching", "notification")
"""The messages that the paper counts as hops: to insert triples, and to create and deliver notifications."""

SPLIT_KINDS = ("split", "hand over")
"""What it takes to split keys; without churn nothing else is handed over."""


@dataclass(frozen=True, slots=True)
class RingRun:
    """What is run: the peers, the algorithm, and the workload."""

    name: str
    algorithm: Algorithm
    nodes: int = 1000
    learns: bool = True
    steps: tuple[int, ...] = (1000, 2000, 4000, 8000)
    workload: RingWorkload = field(default_factory=RingWorkload)
    replicas: int = 1
    hot: float | None = None
    """From how many times the usual load of a peer on keys are split; None: never, as in the paper."""
    rewriter: Literal["rarest", "any"] = "any"
    """Which subquery a query of MQC is indexed by; the paper takes any."""
    churn: int = 0
    """How many peers leave, crash for good and join, each, while triples are inserted."""
    retracted: float = 0.0
    """The share of documents that are retracted afterwards."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class RingPoint:
    """What was counted after so many triples."""

    run: str
    algorithm: str
    learns: bool
    hot: float | None
    nodes: int
    triples: int
    hops: int
    load: int
    at_work: int
    bound: float
    """How many peers keep something on average, if K keys fall on N peers: N·K / (N + K - 1)."""
    busiest: int
    told: int
    seconds: float
    loads: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return asdict(self)


class RingExperiment:
    """A run in progress."""

    def __init__(self, run: RingRun, progress: Progress) -> None:
        self._run, self._progress = run, progress
        self._began, self._chance = process_time(), Random(run.seed)
        self._sim = Simulation(run.seed)
        settings = RingSettings(
            run.algorithm, replicas=run.replicas, learns=run.learns, is_wide=False, hot=run.hot, rewriter=run.rewriter
        )
        self._net = self._sim.ring(run.nodes, settings=settings)
        self._clients = [self._net.client(at=node) for node in self._net.nodes]
        self._schema = RingSchema(run.workload, run.seed)
        self._asked: list[tuple[SimulatedClient, str, str]] = []
        self._inserted: dict[str, tuple[SimulatedClient, Document]] = {}
        self._before = 0
        self._hub: Index | None = None

    def points(self) -> list[RingPoint]:
        """Run it; a point for each step."""
        gc.disable()  # millions of small values stay, and nothing of it is a cycle
        try:
            return self._points()
        finally:
            gc.enable()

    def _points(self) -> list[RingPoint]:
        self._install()
        points = []
        for number in range(1, max(self._run.steps) + 1):
            self._insert(number)
            if number in self._run.steps:
                self._sim.run()
                points.append(self._point(self._run.name, number))
        if self._run.retracted:
            self._retract()
            points.append(self._point(f"{self._run.name}, after retraction", number))
        return points

    def _install(self) -> None:
        for number in range(self._run.workload.queries):
            client, text = self._chance.choice(self._clients), self._schema.query()
            self._asked.append((client, client.subscribe(text, language="conjunctive"), text))
            self._progress(f"{self._run.name} {self._run.algorithm}: {number:,} queries")
        self._sim.run()
        self._sim.loads.clear()
        self._before = self._hops()

    def _insert(self, number: int) -> None:
        triple, uri = self._schema.triple(), f"urn:document/{number}"
        client = self._chance.choice([each for each in self._clients if self._is_up(each.at)])
        document = Document.from_triples(uri, [triple])
        client.publish(document, uri=uri)
        self._inserted[uri] = client, document
        every = max(1, max(self._run.steps) // (self._run.churn + 1))
        if self._run.churn and not number % every:
            self._change()
        if not number % 20:
            self._sim.run()
            self._progress(f"{self._run.name} {self._run.algorithm}: {number:,} triples")

    def _is_up(self, node: int) -> bool:
        try:
            return bool(self._net.peer(node))
        except NetworkError:
            return False

    def _change(self) -> None:
        """A peer crashes and is back much later, one leaves, one joins."""
        publishers = {client.at for client, _ in self._inserted.values()} | {client.at for client, _, _ in self._asked}
        idle = [node for node in self._net.nodes if node not in publishers and self._is_up(node)]
        crashed, left = self._chance.sample(idle or [*self._net.nodes], 2)
        self._net.crash(crashed)
        self._sim.run(seconds=30)
        if self._is_up(left):
            self._net.leave(left)
        self._net.join()
        self._net.restart(crashed)

    def _retract(self) -> None:
        gone = self._chance.sample([*self._inserted], round(self._run.retracted * len(self._inserted)))
        for uri in gone:
            client, _ = self._inserted.pop(uri)
            client.retract(uri)
        self._sim.run()

    def _hops(self) -> int:
        kinds = PAPER_KINDS if self._run.hot is None else (*PAPER_KINDS, *SPLIT_KINDS)
        return sum(self._sim.messages[kind] for kind in kinds)

    def _point(self, name: str, number: int) -> RingPoint:
        run, loads = self._run, sorted(self._sim.loads.values(), reverse=True)
        up = [self._net.peer(node) for node in self._net.nodes if self._is_up(node)]
        nodes, keys = len(up), len({key for peer in up for key in peer.state.keys})
        told = self._check()
        return RingPoint(
            name,
            run.algorithm,
            run.learns,
            run.hot,
            run.nodes,
            number,
            self._hops() - self._before,
            sum(loads),
            len(loads),
            nodes * keys / (nodes + keys - 1),
            loads[0] if loads else 0,
            told,
            process_time() - self._began,
            tuple(loads),
        )

    def _check(self) -> int:
        """The rows of every query are those of one hub: of an index with all queries, over all that is stated."""
        stated = Document.from_triples(
            "urn:all", [t for _, document in self._inserted.values() for t in document.triples]
        )
        if self._hub is None:
            self._hub = Index()
            for number, (client, sid, _) in enumerate(self._asked):
                self._hub.add(str(number), self._net.hub(client.at).subscription(sid).pattern)
        expected = {match.subscription: {Row(row) for row in match.rows} for match in self._hub.match(stated)}
        for number, (client, sid, text) in enumerate(self._asked):
            rows = {*self._net.hub(client.at).subscription(sid).told}
            if rows != expected.get(str(number), set()):
                raise AssertionError(f"{text} has {len(rows)} rows on the ring, and one hub has others")
        return sum(map(len, expected.values()))


def lookup(nodes: int, *, successors: int, seed: int = 1, count: int = 20_000) -> float:
    """How many hops it takes on average to get from a peer to the one that is responsible for a place.

    With one successor a peer goes by its fingers alone, as Chord has it: ½·log2 N hops to the peer before the place,
    and one to its successor.
    """
    views, chance = ideal((f"peer-{number}" for number in range(nodes)), length=successors), Random(seed)
    names, hops = [*views], 0
    for _ in range(count):
        at, place = chance.choice(names), chance.randrange(SIZE)
        while not views[at].owns(place):
            at, hops = views[at].hop(place)[0], hops + 1
    return hops / count
