"""Edges and their hub as processes that are killed again and again at work: nothing is lost, nothing doubled (M1)."""

from __future__ import annotations

import random
from contextlib import ExitStack, suppress

import httpx
import pytest

from backbone.served import free_ports, wait_for
from edge.worlds import held_by, replayed, strong, to_hold
from hub.processes import put, running
from triplewire import Edge, Hub
from triplewire.store import EVERYBODY

RULES = {
    "classes": ("SELECT ?x { ?x a <urn:C> }", "sparql", ()),
    "large": ("SELECT ?x { ?x <urn:p> ?v FILTER(?v > 500) }", "sparql", ()),
}
LOCAL = "SELECT ?x ?v { ?x <urn:p> ?v }"
SCHEMA = strong("urn:s")


class Harbour:
    """A hub, an edge that is served and one that only follows: three processes, and what was said to them."""

    def __init__(self, folder, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.ports = dict(zip(("hub", "served"), free_ports(2), strict=True))
        self.urls = {name: f"http://127.0.0.1:{port}" for name, port in self.ports.items()}
        with Hub(folder / "hub.db") as hub:
            hub.set_schema(SCHEMA)
        for name in ("served", "runs"):
            with Edge(folder / f"{name}.db", hub=self.urls["hub"]) as edge:
                for id, (text, language, _) in RULES.items():
                    edge.follow(text, language=language, id=id)
                edge.subscribe(LOCAL, id="local", start="ever")
        self.alive: dict[str, ExitStack] = {}
        self.private: dict[str, set[int]] = {}
        self.version = self.kills = 0
        self.client = httpx.Client(timeout=20, trust_env=False)

    def start(self, name: str) -> None:
        stack = self.alive[name] = ExitStack()
        if name == "runs":
            stack.enter_context(running(self.folder, "runs.db", words=("edge", "run")))
            return
        more = ["--edge-of", self.urls["hub"]] if name == "served" else []
        found = stack.enter_context(running(self.folder, f"{name}.db", "--port", str(self.ports[name]), *more))
        found.heard(r"https?://")

    def kill(self, name: str) -> None:
        """SIGKILL, in the middle of whatever it does."""
        self.alive.pop(name).close()
        self.kills += 1

    # -- load

    def publish(self) -> None:
        self.version += 1
        number, above = self.chance.randrange(12), self.chance.randrange(12)
        text = f"<urn:r{number}> a <urn:C> ; <urn:p> {self.version} ; <urn:s> <urn:r{above}> ."
        if self.chance.random() < 0.3:
            text = f"<urn:r{number}> <urn:p> {self.version % 1000} ; <urn:s> [ <urn:p> {self.version} ] ."
        with suppress(httpx.HTTPError):  # it may have been applied, or not
            put(self.client, self.urls["hub"], f"urn:doc/{number}", text)

    def keep(self) -> None:
        self.version += 1
        uri, version = f"urn:own/{self.chance.randrange(3)}", self.version
        text = f"<{uri}> <urn:p> {version} ."
        try:
            answer = put(self.client, self.urls["served"], uri, text)
        except httpx.HTTPError:
            self.private.setdefault(uri, set()).add(version)
        else:
            assert answer.status_code < 300, answer.text
            self.private[uri] = {version}

    def work(self, steps: int) -> None:
        for _ in range(steps):
            self.chance.choice([self.publish, self.publish, self.keep])()

    # -- the end

    def has_caught_up(self) -> bool:
        """Whether both edges are as of the hub's last batch, by what their stores say."""
        with Hub(self.folder / "hub.db") as hub, hub.store.reading() as reader:
            last = reader.batches.last()
        positions = []
        for name in ("served", "runs"):
            with Edge(self.folder / f"{name}.db") as edge:
                positions.append(edge.as_of.position)
        return positions == [last, last]

    def check(self) -> None:
        with Hub(self.folder / "hub.db") as hub:
            documents = {v.uri: (hub.document(v.uri), None) for v in hub.documents(limit=1_000)}
        for name in ("served", "runs"):
            with Edge(self.folder / f"{name}.db") as edge:
                assert held_by(edge) == to_hold(documents, RULES, SCHEMA, None)
                assert replayed(edge, "local") == set(edge.rows("local"))
                assert [*edge.check()] == []
                own = {v.uri for v in edge.documents(limit=1_000)} - {
                    v.uri for v in edge.documents(limit=1_000, viewer=EVERYBODY)
                }
                self._check_private(name, edge, own)

    def _check_private(self, name: str, edge: Edge, own: set[str]) -> None:
        if name == "runs":
            assert own == set()
            return
        certain = {uri for uri, some in self.private.items() if len(some) == 1}
        assert certain <= own <= self.private.keys()
        for uri in own:
            (triple,) = edge.document(uri).triples
            assert int(triple.object.value) in self.private[uri]


def live(folder, seed: int, kills: int) -> None:
    harbour = Harbour(folder, seed)
    with ExitStack() as end:
        end.callback(harbour.client.close)
        end.callback(lambda: [stack.close() for stack in harbour.alive.values()])
        for name in ("hub", "served", "runs"):
            harbour.start(name)
        while harbour.kills < kills:
            harbour.work(8)
            name = ("served", "runs", "hub")[harbour.kills % 3]
            harbour.kill(name)
            harbour.work(3)
            harbour.start(name)
        harbour.work(8)
        wait_for(harbour.has_caught_up, 180)
        assert harbour.alive.keys() == {"hub", "served", "runs"}
        for name in list(harbour.alive):
            harbour.kill(name)
    harbour.check()


def test_edges_and_their_hub_that_are_killed_at_work_lose_nothing_and_double_nothing(tmp_path):
    live(tmp_path, 1, 3)


@pytest.mark.slow
def test_edges_and_their_hub_that_are_killed_50_times_lose_nothing_and_double_nothing(tmp_path):
    live(tmp_path, 2, 50)
