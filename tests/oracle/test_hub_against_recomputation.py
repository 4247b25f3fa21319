"""A hub against recomputation from scratch, over random histories.

Subscriptions are edited, paused, resumed and duplicated on the way. After every step: the rows are those of the
definition (tests/contracts/reference.py), the events of the step are the definition's, each with a derivation that
holds and the documents behind it, the log replayed from zero gives the rows, and the store has no problems. A file or a
server is used by two hubs in turn, and is closed and opened again.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.contracts.listening import replayed
from tests.contracts.reference import Reference

from oracle.histories import batches, documents, queries, schemas, taxonomies, uris
from triplewire import Hub, Publish, Retract
from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.algebra.xpath import PathQuery
from triplewire.errors import TaxonomyError, UnsupportedQuery
from triplewire.model import Row

scopes, starts = st.sampled_from(["document", "graph", "graph"]), st.sampled_from(["now", "ever", "ever"])
MOST = 8
"""Subscriptions at the same time: more of them find nothing more, and each is recomputed after each step."""


class History(RuleBasedStateMachine):
    """What people do to a hub, and what they can see of it."""

    subscriptions = Bundle("subscriptions")
    told_batches = Bundle("batches")

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.is_shared = url, url != ":memory:"
        self.hubs = [Hub(url) for _ in range(2 if self.is_shared else 1)]
        self.reference = Reference()
        self.before = self.reference._state
        self.asked: dict[str, tuple] = {}
        self.heard: dict[str, int] = {}
        self.held: dict[str, list] = {}
        """What paused subscriptions will be told."""
        self.untold: set[tuple[str, str]] = set()
        """Batches that paused subscriptions have not heard of."""
        self.edited: dict[str, tuple] = {}
        """What subscriptions asked before this step."""
        self.batches: dict[str, tuple[list, list]] = {}
        self.numbers = count(1)
        self.turn = 0

    def teardown(self) -> None:
        for hub in self.hubs:
            hub.close()

    @property
    def hub(self) -> Hub:
        """Whose turn it is."""
        return self.hubs[self.turn % len(self.hubs)]

    # -- what people do

    @initialize(target=subscriptions, several=st.lists(st.tuples(queries, scopes, starts), min_size=1, max_size=4))
    def begin(self, several):
        return multiple(*(id for one in several if (id := self._subscribe(*one))))

    @rule(target=subscriptions, query=queries, scope=scopes, start=starts)
    def subscribe(self, query, scope, start):
        id = self._subscribe(query, scope, start)
        return multiple(*([id] if id else []))

    @rule(target=subscriptions, other=subscriptions, start=starts)
    def subscribe_to_the_same(self, other, start):
        query, scope, _ = self.asked[other]
        id = self._subscribe(query, scope, start)
        return multiple(*([id] if id else []))

    @rule(id=subscriptions, query=queries, scope=st.none() | scopes, start=st.none() | starts)
    def edit(self, id, query, scope, start):
        self._edit(id, text=query, scope=scope, start=start)

    @rule(id=subscriptions, other=subscriptions)
    def edit_to_the_same(self, id, other):
        query, scope, _ = self.asked[other]
        self._edit(id, text=query, scope=scope, start=None)

    @rule(id=subscriptions, start=starts, title=st.sampled_from(["", "a title", "another"]))
    def edit_something_else(self, id, start, title):
        self._edit(id, text=None, scope=None, start=start, title=title)
        assert (self.hub.subscription(id).title or "") == title

    @rule(id=subscriptions)
    def pause(self, id):
        self._pass_on()
        self.hub.pause(id)
        self.held.setdefault(id, [])

    @rule(id=subscriptions)
    def resume(self, id):
        self._pass_on()
        self.hub.resume(id)
        missed = self.held.pop(id, [])
        self.untold = {(name, who) for name, who in self.untold if who != id}
        fresh = self.hub.events(id, after=self.heard[id])
        assert [told([event]) for event in told_in_steps(fresh)] == [told([event]) for event in told_in_steps(missed)]
        self.heard[id] = max([self.heard[id], *(event.cursor for event in fresh)])

    @rule(target=subscriptions, id=subscriptions)
    def duplicate(self, id):
        if len(self.asked) >= MOST:
            return multiple()
        self._pass_on()
        made = self.hub.duplicate(id, new_id=f"subscription {next(self.numbers)}")
        query, scope, _ = self.asked[id]
        known, _ = self.reference._subscriptions[id]
        self.reference.subscribe(
            known.pattern, language="sparql", id=made.id, scope=scope, start="now", viewer=known.viewer
        )
        self.asked[made.id], self.heard[made.id] = (query, scope, "now"), 0
        return made.id

    @rule(id=consumes(subscriptions))
    def unsubscribe(self, id):
        self._pass_on()
        self.hub.unsubscribe(id)
        self.reference.unsubscribe(id)
        del self.asked[id], self.heard[id]
        self.held.pop(id, None)

    @rule(document=documents)
    def publish(self, document):
        self._apply([Publish(document)])

    @rule(uri=uris)
    def retract(self, uri):
        self._apply([Retract(uri)])

    @rule(changes=batches)
    def apply(self, changes):
        self._apply(changes)

    @rule(target=told_batches, changes=batches)
    def apply_with_an_id(self, changes):
        name = f"batch {next(self.numbers)}"
        return name if self._apply(changes, name) else multiple()

    @rule(name=told_batches, changes=batches)
    def replay(self, name, changes):
        """Whatever it brings now: what it did is done."""
        self._pass_on()
        events = self.hub.apply(changes, batch=name)
        gave = self.reference.apply(changes, batch=name)
        expected = [e for e in gave if e.subscription in self.asked and (name, e.subscription) not in self.untold]
        assert told(events) == told(expected)

    @rule(triples=taxonomies)
    def set_taxonomy(self, triples):
        self._pass_on()
        if self._is_refused(replace(self.before, given=tuple(triples))):
            with pytest.raises(TaxonomyError):
                self.hub.set_taxonomy(triples)
        else:
            assert told(self.hub.set_taxonomy(triples)) == told(self._unheld(self.reference.set_taxonomy(triples)))

    @rule(schema=schemas)
    def set_schema(self, schema):
        self._pass_on()
        self.hub.set_schema(schema)
        self.reference.set_schema(schema)

    @precondition(lambda self: self.is_shared)
    @rule()
    def reopen(self):
        self._pass_on()
        self.hub.close()
        self.hubs[self.turn % len(self.hubs)] = Hub(self.url)

    @precondition(lambda self: self.is_shared)
    @rule()
    def compact(self):
        self._pass_on()
        self.hub.store.compact()

    def _pass_on(self) -> None:
        self.turn += 1
        self.before = self.reference._state

    def _subscribe(self, query, scope, start, viewer=None) -> str | None:
        if len(self.asked) >= MOST:
            return None
        self._pass_on()
        id = f"subscription {next(self.numbers)}"
        try:
            self.hub.subscribe(query, id=id, scope=scope, start=start, viewer=viewer)
        except UnsupportedQuery:
            return None
        self.reference.subscribe(query, language="sparql", id=id, scope=scope, start=start, viewer=viewer)
        self.asked[id], self.heard[id] = (query, scope, start), 0
        return id

    def _edit(self, id, *, text, scope, start, title=None) -> None:
        self._pass_on()
        before = self.reference._subscriptions[id]
        try:
            self.hub.edit(id, text=text, scope=scope, start=start, title=title)
        except UnsupportedQuery:
            return
        self.reference.edit(id, text=text, scope=scope, start=start)
        query, old_scope, old_start = self.asked[id]
        self.asked[id] = (query if text is None else text, scope or old_scope, start or old_start)
        self.edited[id] = before

    def _unheld(self, events):
        """Those that somebody is told."""
        return [event for event in events if event.subscription not in self.held]

    def _apply(self, changes, name=None) -> bool:
        self._pass_on()
        self.reference._number += 1
        state = self.reference.led_to(changes)
        self.reference._number -= 1
        if self._is_refused(state):
            with pytest.raises(TaxonomyError):
                self.hub.apply(changes, batch=name)
            return False
        outcome = self.hub.apply(changes, batch=name)
        assert not outcome.errors
        assert told(outcome) == told(self._unheld(self.reference.apply(changes, batch=name)))
        self.untold |= {(name, id) for id in self.held if name is not None}
        return True

    def _is_refused(self, state) -> bool:
        try:
            state.taxonomy()
        except TaxonomyError:
            return True
        return False

    # -- what they see

    @invariant()
    def the_store_is_whole(self):
        assert list(self.hub.store.problems()) == []

    @invariant()
    def rows_and_events_are_those_of_the_definition(self):
        for id in self.asked:
            log = self.hub.events(id)
            rows = self.hub.rows(id)
            assert Counter(rows) == Counter(map(Row, self.reference.rows(id))), self.asked[id]
            fresh = [event for event in log if event.cursor > self.heard[id]]
            if id in self.held:
                assert not fresh, "nothing is told of what is paused"
                self.held[id] += self.reference.events(id)
                continue
            assert replayed(log) == set(rows), "the log replayed from zero gives the rows"
            assert list(reversed(self.hub.newest(id, limit=len(log) + 1))) == log
            self._check_news(id, fresh)
            self.heard[id] = max([self.heard[id], *(event.cursor for event in log)])
        for hub in self.hubs:
            if hub is not self.hub:
                assert all(set(hub.rows(id)) == set(self.reference.rows(id)) for id in self.asked)
        self.reference._log, self.edited = [], {}
        self.before = self.reference._state

    def _check_news(self, id, fresh):
        assert told(fresh) == told(self.reference.events(id)), self.asked[id]
        old, new = self.before, self.reference._state
        now = self.reference._subscriptions[id]
        for event in fresh:
            subscription, since = self.edited.get(id, now) if event.kind == "unmatched" else now
            self._check_documents(event, old, new, subscription.viewer)
            if isinstance(subscription.pattern, PathQuery):
                assert event.triples == ()
                continue
            state = old if event.kind == "unmatched" else new
            stated = state.stated(since, subscription.viewer).values()
            one = [set(triples) for triples in stated] if subscription.scope == "document" else [set().union(*stated)]
            assert any(graph.issuperset(event.triples) for graph in one), f"{event} has a derivation that holds"
            required = without_optionals(subscription.pattern)
            found = evaluate(required, event.triples, state.taxonomy())
            assert {name: event.row[name] for name in event.row if name in required.answer} in found, event

    def _check_documents(self, event, old, new, viewer):
        """All that are behind it, and no other that the batch left alone; `before` and `after` as they say.

        What was held by a way that the batch cuts may name a document that changed the far end of that way.
        """
        expected = self.reference._event(type(event), "", event.row, event.batch, event.triples, old, new, viewer)
        assert set(event.documents) >= set(expected.documents), (event, expected.documents)
        others = set(event.documents) - set(expected.documents)
        assert all(document.before != document.after for document in others), (event, others)
        for content, state in ((event.before, old), (event.after, new)):
            expected = self.reference._within(event.row, event.documents, state, event.triples, viewer)
            assert as_set(content) == as_set(expected), event


def told(events) -> list[tuple[str, str, str]]:
    return sorted((event.kind, event.subscription, str(sorted(event.row.items(), key=str))) for event in events)


def told_in_steps(events):
    """Events that may come in any order within their batch, in the order of the batches."""
    batches = list(dict.fromkeys(event.batch for event in events))
    return sorted(events, key=lambda event: (batches.index(event.batch), told([event])))


def as_set(triples):
    return set(triples) if isinstance(triples, tuple) else triples


def without_optionals(pattern: Pattern) -> Pattern:
    """The pattern of the columns that every row has."""
    branches = tuple(Conjunction(b.triples, b.conditions, b.bindings) for b in pattern.branches)
    names = [{*branch.variables, *dict(branch.bindings)} for branch in branches]
    return Pattern(tuple(name for name in pattern.answer if all(name in known for known in names)), branches)


@contextmanager
def small_images():
    """Images of the indexes and sweeps of their leftovers after a few subscriptions, not after hundreds."""
    with patch("triplewire.engine.standing._WORTH_AN_IMAGE", 3):
        yield


def live_through(urls, *, examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    )
    with small_images():
        run_state_machine_as_test(lambda: History(next(urls)), settings=chosen)


@pytest.fixture
def urls(request, tmp_path):
    """Makes urls of empty databases of a kind, without end."""

    def make(kind: str):
        for number in count():
            if kind == "postgresql":
                yield request.getfixturevalue("postgres").url()
            else:
                yield ":memory:" if kind == "memory" else f"sqlite:///{tmp_path}/{number}.db"

    return make


@pytest.mark.parametrize(("kind", "examples", "steps"), [("memory", 10, 14), ("sqlite", 6, 14), ("postgresql", 3, 12)])
def test_a_hub_agrees_with_recomputation_after_every_step(urls, kind, examples, steps):
    """M4, M5, M6, S4, X2, X3."""
    live_through(urls(kind), examples=examples, steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "examples"), [("memory", 150), ("sqlite", 75), ("postgresql", 20)])
def test_a_hub_agrees_with_recomputation_over_longer_histories(urls, kind, examples):
    live_through(urls(kind), examples=examples, steps=30)
