"""A hub against recomputation over crowded histories: many subscriptions, and documents that share their triples.

Hypothesis (test_hub_against_recomputation) looks for the smallest history that goes wrong, and most of what it tries
is small: little happens there. These are drawn so that much happens at once; a seed gives the same history every time.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.contracts.reference import Reference

from oracle.histories import SHAPES, filled
from triplewire import Hub, Publish, Retract, Schema, TaxonomyError, UnsupportedQuery
from triplewire.matching.finder.finder import RowFinder
from triplewire.matching.incremental import solve
from triplewire.model import RDF, RDFS, Document, Row
from triplewire.schema import SCHEMA
from triplewire.store import crowds

EXAMPLE = "http://example.org/"
TYPE, BELOW = NamedNode(RDF + "type"), NamedNode(RDFS + "subClassOf")
STRONG = NamedNode(SCHEMA + "StrongReference")
PREDICATES = [NamedNode(EXAMPLE + name) for name in "pqr"]
CLASSES = [NamedNode(EXAMPLE + name) for name in "ABCD"]
VALUES = [*(Literal(number) for number in (1, 2, 3)), *map(Literal, ("a", "ab", "b")), Literal("a", language="en")]
STEPS = 14


class Crowd:
    """Draws triples, documents and batches; half of a document's triples stand in others already."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(f"crowd {seed}")
        count = self.chance.choice((3, 5, 9))
        self.things = [*(NamedNode(f"{EXAMPLE}n{i}") for i in range(1, count + 1)), BlankNode("b1"), BlankNode("b2")]
        self.uris = [f"urn:document:{i}" for i in range(self.chance.choice((3, 6, 10)))]
        self.pool: list[Triple] = []

    def triple(self) -> Triple:
        chance, kind = self.chance, self.chance.random()
        if kind < 0.5:
            return Triple(chance.choice(self.things), chance.choice(PREDICATES), chance.choice(self.things))
        if kind < 0.75:
            return Triple(chance.choice(self.things), chance.choice(PREDICATES), chance.choice(VALUES))
        if kind < 0.95:
            return Triple(chance.choice(self.things), TYPE, chance.choice(CLASSES))
        return self.order()

    def order(self) -> Triple:
        narrow, broad = sorted(self.chance.sample(range(len(CLASSES)), 2), reverse=self.chance.random() < 0.95)
        return Triple(CLASSES[narrow], BELOW, CLASSES[broad])

    def document(self) -> Document:
        chance = self.chance
        size = chance.choice((0, 2, 4, 8, 12))
        triples = [
            chance.choice(self.pool) if self.pool and chance.random() < 0.5 else self.triple() for _ in range(size)
        ]
        self.pool += triples[:8]
        return Document.from_triples(chance.choice(self.uris), triples)

    def batch(self) -> list[Publish | Retract]:
        chance = self.chance
        return [
            Publish(self.document()) if chance.random() < 0.75 else Retract(chance.choice(self.uris))
            for _ in range(chance.choice((1, 1, 2, 5, 12)))
        ]


class Both:
    """A hub and its definition, which are told the same and must say the same."""

    def __init__(self, crowd: Crowd, hub: Hub) -> None:
        self.crowd, self.hub, self.reference = crowd, hub, Reference()
        self.asked: dict[str, tuple[str, str, str]] = {}
        self.viewers: list[str | None] = [None]
        self.kinds: Counter[str] = Counter()

    def subscribe(self, id: str) -> None:
        chance = self.crowd.chance
        text = filled(chance.choice(SHAPES), chance)
        scope, start = chance.choice(("graph", "graph", "document")), chance.choice(("now", "ever"))
        viewer = self.viewer()
        try:
            self.hub.subscribe(text, id=id, scope=scope, start=start, viewer=viewer)
        except UnsupportedQuery:
            return
        self.reference.subscribe(text, language="sparql", id=id, scope=scope, start=start, viewer=viewer)
        self.asked[id] = (text, scope, start)

    def viewer(self) -> str | None:
        """On whose behalf the next subscription looks."""
        return None if len(self.viewers) == 1 else self.crowd.chance.choice(self.viewers)

    def step(self) -> None:
        kind = self.crowd.chance.random()
        if kind < 0.08:
            id = self.crowd.chance.choice(sorted(self.asked))
            self.hub.unsubscribe(id)
            self.reference.unsubscribe(id)
            del self.asked[id]
        elif kind < 0.16:
            strong = self.crowd.chance.sample(PREDICATES, self.crowd.chance.choice((0, 1, 2)))
            schema = Schema.from_triples(Triple(predicate, TYPE, STRONG) for predicate in strong)
            self.hub.set_schema(schema)
            self.reference.set_schema(schema)
        elif kind < 0.26:
            taxonomy = [self.crowd.order() for _ in range(self.crowd.chance.choice((0, 1, 3)))]
            self._same(lambda hub: hub.set_taxonomy(taxonomy))
        else:
            batch = self.crowd.batch()
            self._same(lambda hub: hub.apply(batch))

    def _same(self, act) -> None:
        try:
            found = act(self.hub)
        except TaxonomyError:
            return
        assert not found.errors
        expected = act(self.reference)
        assert _told(found) == _told(expected)
        self.kinds.update(event.kind for event in found)
        for id, asked in self.asked.items():
            assert Counter(self.hub.rows(id)) == Counter(map(Row, self.reference.rows(id))), asked


def _told(events) -> Counter[tuple[str, str, str]]:
    return Counter((event.kind, event.subscription, str(sorted(event.row.items(), key=str))) for event in events)


def follow(seed: int, url: str = ":memory:") -> Counter[str]:
    """Live through the history of a seed; gives how many events of each kind there were."""
    return follow_with(Hub(url), seed)


def follow_with(hub: Hub, seed: int) -> Counter[str]:
    """The same with a hub that is made already; it is closed."""
    return live(Both(Crowd(seed), hub))


def live(both: Both) -> Counter[str]:
    """The whole of a history; gives how many events of each kind there were. The hub is closed."""
    try:
        for step in range(STEPS):
            for number in range(6 if step == 0 else both.crowd.chance.choice((0, 1, 2))):
                both.subscribe(f"subscription {step} {number}")
            both.step()
        assert list(both.hub.check()) == []
        with both.hub.store._database.reading() as sql:
            both.kinds["shared"] = sql.number("SELECT count(*) FROM events WHERE crowd <> 0")
    finally:
        both.hub.close()
    return both.kinds


@pytest.fixture(autouse=True)
def two_are_a_crowd(monkeypatch):
    """So that records are shared in histories as small as these."""
    monkeypatch.setattr(crowds, "FEWEST", 2)


@pytest.fixture(params=[256, 1], ids=["by shape", "by constants"])
def hubs_are_high(request, monkeypatch):
    """Where a node counts as a hub, which decides how gathering goes on from it."""
    for function in (RowFinder.__init__, solve):
        monkeypatch.setitem(function.__kwdefaults__, "high", request.param)


def test_crowded_histories_are_those_of_the_definition(hubs_are_high):
    kinds: Counter[str] = Counter()
    for seed in range(12):
        kinds += follow(seed)
    assert min(kinds[kind] for kind in ("matched", "changed", "unmatched", "shared")) > 50, (
        "there was something to compare"
    )


def test_a_crowded_history_in_a_file_and_on_a_server(new_url):
    for number, kind in enumerate(("sqlite", "postgresql")):
        follow(100 + number, new_url(kind))


@pytest.mark.slow
def test_many_crowded_histories_are_those_of_the_definition(hubs_are_high):
    for seed in range(1000, 1100):
        follow(seed)
