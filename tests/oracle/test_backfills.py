"""Backfills against recomputation, over random histories in which batches come while a backfill looks.

A subscription that waits for its backfill hears nothing. When it is filled, it hears what the definition tells one that
subscribes at that moment; from then on it is like all others. The base class checks all that after every step.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from oracle import test_hub_against_recomputation as recomputation
from oracle.histories import SHAPES, batches, filled, queries, taxonomies
from oracle.test_crowded_histories import Both, Crowd
from triplewire import Hub
from triplewire.engine.backfill.shares import put_off
from triplewire.engine.workers import OneWorker
from triplewire.errors import UnsupportedQuery
from triplewire.matching.finder.finder import RowFinder
from triplewire.model import Row

urls = recomputation.urls


@st.composite
def _steps(draw):
    """What may happen while a backfill looks."""
    kinds = draw(st.lists(st.sampled_from(["batch"] * 6 + ["taxonomy", "compact"]), min_size=1, max_size=6))
    values = {"batch": batches, "taxonomy": taxonomies, "compact": st.none()}
    return [(kind, draw(values[kind])) for kind in kinds]


def waits(hub: Hub, id: str) -> bool:
    """Whether the last subscription waits: where nothing is published, there is nothing to wait for."""
    return id in [record.subscription for record in hub.backfills(limit=1)]


class Interrupted(OneWorker):
    """Looks in this process, and lets something else happen before each share of the work."""

    def __init__(self, store, interrupt) -> None:
        super().__init__(store)
        self._interrupt = interrupt

    def each(self, work, shares):
        yield from super().each(work, self._with_breaks(shares))

    def _with_breaks(self, shares):
        for share in shares:
            self._interrupt()
            yield share
        self._interrupt()


class Backfilled(recomputation.History):
    """A history with subscriptions that are told later what answers them already."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.waiting: dict[str, tuple] = {}

    @rule(query=queries, scope=recomputation.scopes)
    def subscribe_for_later(self, query, scope):
        self._wait_for(query, scope)

    @rule(other=recomputation.History.subscriptions)
    def subscribe_for_later_to_the_same(self, other):
        query, scope, _ = self.asked[other]
        self._wait_for(query, scope)

    def _wait_for(self, query, scope) -> None:
        if len(self.asked) + len(self.waiting) >= recomputation.MOST:
            return
        self._pass_on()
        id = f"subscription {next(self.numbers)}"
        try:
            self.hub.subscribe(query, id=id, scope=scope, start="ever", backfill="later")
        except UnsupportedQuery:
            return
        if waits(self.hub, id):
            self.waiting[id] = query, scope, "ever"
        else:
            self._is_subscribed(id, (query, scope, "ever"))

    def _is_subscribed(self, id, asked) -> None:
        query, scope, start = self.asked[id] = asked
        self.reference.subscribe(query, language="sparql", id=id, scope=scope, start=start)
        self.heard[id] = 0

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def forget_one_that_waits(self, data):
        id = data.draw(st.sampled_from(sorted(self.waiting)))
        self._pass_on()
        self.hub.unsubscribe(id)
        del self.waiting[id]

    @precondition(lambda self: self.waiting)
    @rule(steps=_steps())
    def fill(self, steps):
        self._pass_on()
        left = list(steps)

        def interrupt() -> None:
            if left:
                self._happen(*left.pop())

        filler = self.hub
        filled = filler.backfill(Interrupted(filler.store, interrupt))
        assert filled.failed == {}
        assert {one.subscription for one in filler.backfills(state="done")} >= self.waiting.keys()
        self._pass_on()
        for id, asked in self.waiting.items():
            self._is_subscribed(id, asked)
        self.waiting = {}

    def _happen(self, kind, value) -> None:
        if kind == "compact":
            self.hub.store.compact()
        elif kind == "taxonomy":
            self.set_taxonomy(value)
        else:
            self._apply(value)
        self.rows_and_events_are_those_of_the_definition()

    @invariant()
    def who_waits_hears_nothing(self):
        assert all(self.hub.events(id) == [] for id in self.waiting)


@contextmanager
def small_shares():
    """Pages and shares of two triples, so that a backfill of few triples has many of them."""
    with (
        patch("triplewire.engine.backfill.shares._PAGE", 2),
        patch("triplewire.engine.backfill.shares._SHARE", 2),
        patch("triplewire.engine.backfill.backfills._DOCUMENTS", 1),
    ):
        yield


@contextmanager
def popular_nodes():
    """Whatever leads to a triple that is looked at twice is put off; gives how much was."""
    made: list[int] = []

    def noted(job, fans, *, is_last):
        made.append(len(fans))
        return put_off(job, fans, is_last=is_last)

    with (
        patch("triplewire.engine.backfill.shares.POPULAR", 0),
        patch.dict(RowFinder.__init__.__kwdefaults__, high=0),
        patch("triplewire.engine.backfill.backfills.put_off", noted),
    ):
        yield made


@pytest.mark.parametrize(("kind", "seeds"), [("memory", 3), ("postgresql", 1)])
def test_what_is_put_off_and_filled_while_much_happens_agrees_with_recomputation(urls, kind, seeds):
    with small_shares(), popular_nodes() as made:
        for seed, url in zip(range(50, 50 + seeds), urls(kind), strict=False):
            live_through(seed, url)
    assert sum(made) > 2 * seeds, "something was put off"


def test_the_datasets_of_a_popular_publisher_are_filled_in_even_shares(urls):
    class Noting(OneWorker):
        def each(self, work, shares):
            for given in super().each(work, shares):
                sizes.append(len(given.rows))
                yield given

    sizes: list[int] = []
    with Hub(next(urls("sqlite"))) as hub, patch("triplewire.engine.backfill.shares._PAGE", 500):
        lines = [f'<urn:d{n}> <urn:by> <urn:p> ; <urn:title> "{n}" .' for n in range(3_000)]
        hub.publish("".join(lines) + '<urn:p> <urn:name> "X" .', uri="urn:d")
        text = "SELECT ?d ?t { ?d <urn:by> ?p . ?p <urn:name> 'X' . ?d <urn:title> ?t }"
        hub.subscribe(text, id="x", scope="graph", start="ever", backfill="later")
        assert hub.backfill(Noting(hub.store)).rows == 3_000
        assert len(hub.rows("x")) == 3_000
    assert sizes[0] == 0, "the publisher's name"
    assert len(sizes) == 1 + 7
    assert max(sizes) < 2 * sum(sizes) / (len(sizes) - 1)


class Filling(Both):
    """A crowded history in which subscriptions wait, and much happens while they are filled."""

    def __init__(self, crowd: Crowd, hub: Hub) -> None:
        super().__init__(crowd, hub)
        self.waiting: dict[str, tuple[str, str, str]] = {}
        self.waiting_for: dict[str, str | None] = {}

    def wait_for(self, id: str) -> None:
        chance = self.crowd.chance
        text, scope = filled(chance.choice(SHAPES), chance), chance.choice(("graph", "graph", "document"))
        viewer = self.viewer()
        with suppress(UnsupportedQuery):
            self.hub.subscribe(text, id=id, scope=scope, start="ever", viewer=viewer, backfill="later")
            if waits(self.hub, id):
                self.waiting[id], self.waiting_for[id] = (text, scope, "ever"), viewer
            else:
                self.reference.subscribe(text, language="sparql", id=id, scope=scope, start="ever", viewer=viewer)
                self.asked[id] = text, scope, "ever"

    def fill(self) -> int:
        """Let them hear what answers already; gives how many rows that were."""
        chance = self.crowd.chance
        interrupted = Interrupted(self.hub.store, lambda: self.step() if chance.random() < 0.15 else None)
        told = self.hub.backfill(interrupted)
        assert (told.subscriptions, told.failed) == (len(self.waiting), {})
        for id, (text, scope, start) in self.waiting.items():
            viewer = self.waiting_for[id]
            self.reference.subscribe(text, language="sparql", id=id, scope=scope, start=start, viewer=viewer)
            events = [(event.kind, event.row) for event in self.hub.events(id)]
            expected = [(event.kind, Row(event.row)) for event in self.reference.events(id)]
            assert Counter(events) == Counter(expected), (id, text, scope)
        self.asked |= self.waiting
        self.waiting = {}
        return told.rows


def live_through(seed: int, url: str) -> int:
    """Live through the history of a seed; gives how many rows were told by backfills."""
    return live_with(Filling(Crowd(seed), Hub(url)))


def live_with(world: Filling) -> int:
    """The whole of a history."""
    rows = 0
    for number in range(4):
        world.subscribe(f"old {number}")
    for number in range(3):
        batch = world.crowd.batch()
        world._same(lambda hub, batch=batch: hub.apply(batch))
        for other in range(6):
            world.wait_for(f"new {number} {other}")
        rows += world.fill()
        for _ in range(3):
            world.step()
    assert list(world.hub.check()) == []
    world.hub.close()
    return rows


@pytest.mark.parametrize(("kind", "seeds"), [("memory", 4), ("sqlite", 1), ("postgresql", 1)])
def test_what_is_filled_while_much_happens_agrees_with_recomputation(urls, kind, seeds):
    """Invariant of `engine.backfill.shares`: pages need not see one state of the store."""
    with small_shares():
        assert sum(live_through(seed, url) for seed, url in zip(range(seeds), urls(kind), strict=False)) > 10 * seeds


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seeds"), [("memory", 200), ("sqlite", 60), ("postgresql", 20)])
def test_what_is_filled_in_many_crowded_histories_agrees_with_recomputation(urls, kind, seeds):
    with small_shares():
        for seed, url in zip(range(1000, 1000 + seeds), urls(kind), strict=False):
            live_through(seed, url)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "examples"), [("memory", 150), ("sqlite", 50), ("postgresql", 10)])
def test_what_is_filled_in_random_histories_agrees_with_recomputation(urls, kind, examples):
    """The smallest histories that go wrong, if there are any."""
    chosen = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    made = urls(kind)
    with recomputation.small_images(), small_shares():
        run_state_machine_as_test(lambda: Backfilled(next(made)), settings=chosen)
