"""A hub against recomputation where documents have access lists: given with them, changed, and withdrawn.

Subscriptions look on behalf of several viewers. After every step their rows, their events and what is behind these are
those of the definition, in which a document that a viewer may not read is not there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from oracle import test_backfills as backfills
from oracle import test_crowded_histories as crowded
from oracle import test_hub_against_recomputation as recomputation
from oracle.histories import documents, queries, uris
from oracle.test_shared_finding import Neighbours
from triplewire import Access, Hub, Publish, Restrict, Retract

urls, two_are_a_crowd, hubs_are_high = recomputation.urls, crowded.two_are_a_crowd, crowded.hubs_are_high
NAMES = ("ada", "bob", "eve")
VIEWERS = (None, "", *NAMES)
_viewers = st.sampled_from(VIEWERS)
_accesses = st.builds(Access, st.sets(st.sampled_from(NAMES), max_size=2), st.sets(st.sampled_from(NAMES), max_size=1))
_publications = st.builds(Publish, documents, access=st.one_of(st.none(), _accesses))


class Listed(recomputation.History):
    """A history in which documents are not for everybody."""

    @rule(query=queries, scope=recomputation.scopes, start=recomputation.starts, viewer=_viewers)
    def subscribe_for_a_viewer(self, query, scope, start, viewer):
        self._subscribe(query, scope, start, viewer)

    @rule(other=recomputation.History.subscriptions, start=recomputation.starts, viewer=_viewers)
    def subscribe_to_the_same_for_a_viewer(self, other, start, viewer):
        query, scope, _ = self.asked[other]
        self._subscribe(query, scope, start, viewer)

    @rule(change=_publications)
    def publish_with_a_list(self, change):
        self._apply([change])

    @rule(uri=uris, access=st.one_of(st.none(), _accesses))
    def restrict(self, uri, access):
        if uri in self.reference._state.versions:
            self._apply([Restrict(uri, access)])

    @rule(
        changes=st.lists(st.one_of(_publications, _publications, st.builds(Retract, uris)), max_size=4), data=st.data()
    )
    def apply_with_lists(self, changes, data):
        there = sorted({*self.reference._state.versions, *(c.uri for c in changes if isinstance(c, Publish))})
        if there:
            relisted = st.builds(Restrict, st.sampled_from(there), st.one_of(st.none(), _accesses))
            changes = [*changes, *data.draw(st.lists(relisted, max_size=3))]
        self._apply(changes)

    @invariant()
    def what_is_seen_is_what_may_be_read(self):
        """Documents, resources and SPARQL, for every viewer."""
        state = self.reference._state
        for viewer in VIEWERS:
            stated = state.stated(viewer=viewer)
            assert [version.uri for version in self.hub.documents(viewer=viewer)] == sorted(stated)
            assert {u for u in state.versions if self.hub.document(u, viewer=viewer) is not None} == stated.keys()
            asked = self.hub.query("SELECT ?s ?p ?o { ?s ?p ?o }", viewer=viewer)
            assert Counter(str([*one]) for one in asked) == Counter(str([*t]) for t in state.triples(viewer))


class ListedCrowd(crowded.Both):
    """A crowded history in which half of the documents have lists."""

    def __init__(self, crowd, hub: Hub) -> None:
        super().__init__(crowd, hub)
        self.viewers = [*VIEWERS, *NAMES]

    def access(self) -> Access:
        chance = self.crowd.chance
        return Access(chance.sample(NAMES, chance.choice((0, 1, 1, 2))), chance.sample(NAMES, chance.choice((0, 0, 1))))

    def step(self) -> None:
        chance = self.crowd.chance
        if chance.random() < 0.3:
            super().step()
            return
        batch = [
            replace(one, access=self.access()) if isinstance(one, Publish) and chance.random() < 0.4 else one
            for one in self.crowd.batch()
        ]
        there = {*self.reference._state.versions, *(one.uri for one in batch if isinstance(one, Publish))}
        relisted = [uri for uri in sorted(there) if chance.random() < 0.3]
        batch += [Restrict(uri, chance.choice((None, self.access(), self.access()))) for uri in relisted]
        self._same(lambda hub: hub.apply(batch))


class ListedFilling(ListedCrowd, backfills.Filling):
    """The same, with subscriptions that are told later what answers them already."""


def test_crowded_histories_with_lists_are_those_of_the_definition():
    kinds: Counter[str] = Counter()
    for seed in range(312, 317):
        kinds += crowded.live(ListedCrowd(crowded.Crowd(seed), Hub(":memory:")))
    assert min(kinds[kind] for kind in ("matched", "changed", "unmatched")) > 20, "there was something to compare"
    assert kinds["shared"] > 0, "queries of one viewer were told some of it together"


def test_a_crowded_history_with_lists_in_a_file_and_on_a_server(new_url):
    for number, kind in enumerate(("sqlite", "postgresql")):
        crowded.live(ListedCrowd(crowded.Crowd(330 + number), Hub(new_url(kind))))


def test_a_crowded_history_with_lists_found_in_shares_is_that_of_the_definition(new_url):
    url = new_url("sqlite")
    Hub(url).close()
    neighbours = Neighbours(url)
    crowded.live(ListedCrowd(crowded.Crowd(340), Hub(url, finder=neighbours.finder)))
    assert neighbours.asked["seeds"]
    neighbours.close()


def live_through(urls, *, examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
    with recomputation.small_images():
        run_state_machine_as_test(lambda: Listed(next(urls)), settings=chosen)


@pytest.mark.parametrize(("kind", "examples"), [("memory", 8), ("sqlite", 2), ("postgresql", 1)])
def test_a_hub_with_lists_agrees_with_recomputation_after_every_step(urls, kind, examples):
    live_through(urls(kind), examples=examples, steps=12)


@pytest.mark.parametrize(("kind", "seeds"), [("memory", 1), ("postgresql", 1)])
def test_what_is_filled_where_there_are_lists_agrees_with_recomputation(urls, kind, seeds):
    with backfills.small_shares():
        for seed, url in zip(range(seeds), urls(kind), strict=False):
            assert fill_through(seed, url) > 0


def fill_through(seed: int, url: str) -> int:
    """A history of a seed, with backfills; how many rows these told."""
    return backfills.live_with(ListedFilling(crowded.Crowd(seed), Hub(url)))


@pytest.mark.slow
def test_many_crowded_histories_with_lists_are_those_of_the_definition(hubs_are_high):
    for seed in range(3000, 3100):
        crowded.live(ListedCrowd(crowded.Crowd(seed), Hub(":memory:")))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "examples"), [("memory", 150), ("sqlite", 60), ("postgresql", 20)])
def test_a_hub_with_lists_agrees_with_recomputation_over_longer_histories(urls, kind, examples):
    live_through(urls(kind), examples=examples, steps=30)


@pytest.mark.slow
def test_what_is_filled_in_many_histories_with_lists_agrees_with_recomputation():
    with backfills.small_shares():
        for seed in count(4000):
            if seed == 4100:
                break
            fill_through(seed, ":memory:")
