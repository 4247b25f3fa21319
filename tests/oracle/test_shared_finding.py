"""Rows that are found in shares, by others who read only what is committed, are those of a hub that finds by itself.

The others are in this process here, each with a connection of its own to the store, and know the uncommitted batch only
by its changes; what they are told goes through pickle, as it does on a cluster.
"""

from __future__ import annotations

import pickle
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.oracle.test_crowded_histories import follow_with

from triplewire import Hub, Subscription
from triplewire.engine.batch.overlays import Changes
from triplewire.engine.workers import Beginnings, SharedFinder, Worker
from triplewire.errors import MatchLimitExceeded, StoreError
from triplewire.matching.finder.finder import RowFinder
from triplewire.matching.incremental.fans import POPULAR
from triplewire.store import Store


class Neighbours:
    """Three who share the work, whatever there is of it; `asked` counts what they were given."""

    def __init__(
        self,
        url: str,
        small: int = 0,
        most_triples: int = 1_000_000,
        images: Path | None = None,
        popular: int = POPULAR,
    ) -> None:
        self.finder = SharedFinder(self, small, shares=3, popular=popular)
        self.stores = [Store.open(url, create=False) for _ in range(3)]
        self.workers = [Worker(store, most_triples=most_triples, images=images) for store in self.stores]
        self.asked: Counter[str] = Counter()
        self.sizes: list[list[int]] = []
        """How many rows each share of what was put off had."""

    def each(self, work, shares):
        if work is Worker.find:
            self.asked["documents"] += sum(map(len, shares))
        else:
            self.asked["seeds"] += sum(len(share.seeds) for share in shares)
            self.asked["pieces"] += sum(len(share.pieces) for share in shares)
        told = [pickle.dumps((work, share)) for share in shares]
        found = [self.done(self.workers[number % 3], *pickle.loads(one)) for number, one in enumerate(told)]
        if work is not Worker.find and shares[0].pieces:
            self.sizes.append([len(one.rows) for one in found])
        return found

    def done(self, worker, work, share):
        return pickle.loads(pickle.dumps(work(worker, share)))

    def close(self) -> None:
        for store in self.stores:
            store.close()


@pytest.fixture
def shared(new_url):
    """Makes hubs whose batches are found in shares."""
    made: list[Neighbours] = []

    def make(kind: str = "sqlite", **about: int) -> tuple[Hub, Neighbours]:
        url = new_url(kind)
        Hub(url).close()
        made.append(Neighbours(url, **about))
        return Hub(url, finder=made[-1].finder), made[-1]

    yield make
    for neighbours in made:
        neighbours.close()


def test_crowded_histories_found_in_shares_are_those_of_the_definition(shared):
    kinds: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for seed in range(200, 208):
        hub, neighbours = shared()
        kinds += follow_with(hub, seed)
        asked += neighbours.asked
    assert min(kinds[kind] for kind in ("matched", "changed", "unmatched")) > 30, "there was something to compare"
    assert min(asked[what] for what in ("seeds", "documents")) > 100, "the others were asked"


def test_a_crowded_history_found_in_shares_on_a_server(shared):
    hub, neighbours = shared("postgresql")
    follow_with(hub, 210)
    assert neighbours.asked["seeds"]


@pytest.mark.slow
def test_many_crowded_histories_found_in_shares_are_those_of_the_definition(shared):
    for seed in range(2000, 2060):
        follow_with(shared()[0], seed)


@contextmanager
def all_wide():
    """Everything is large, so that every way is looked at twice, and what has two triples is put off."""
    with patch.dict(RowFinder.__init__.__kwdefaults__, high=0):
        yield


def test_crowded_histories_with_popular_nodes_put_off_are_those_of_the_definition(shared):
    asked: Counter[str] = Counter()
    with all_wide():
        for seed in range(300, 306):
            hub, neighbours = shared(popular=seed % 2, small=seed % 3)
            follow_with(hub, seed)
            asked += neighbours.asked
    assert asked["pieces"] > 50, "much was put off"


def test_the_datasets_of_a_popular_publisher_are_shared_out_evenly(shared):
    """One seed, the publisher's name; and the same where the hub would have found it by itself."""
    for small in (0, 400):
        hub, neighbours = shared(small=small, popular=300)
        with hub:
            hub.subscribe(
                "SELECT ?d ?t { ?d <urn:by> ?p . ?p <urn:name> 'X' . ?d <urn:title> ?t }", id="x", scope="graph"
            )
            lines = [f'<urn:d{n}> <urn:by> <urn:p> ; <urn:title> "{n}" .' for n in range(600)]
            hub.publish("".join(lines), uri="urn:d")
            neighbours.sizes.clear()
            assert len(hub.publish('<urn:p> <urn:name> "X" .', uri="urn:p")) == 600
            (sizes,) = neighbours.sizes
            assert sum(sizes) == 600
            assert max(sizes) < 300
            hub.retract("urn:p")
            assert len(neighbours.sizes) == 2, "what may have ended is looked for in the same way"
            assert hub.rows("x") == []
            assert list(hub.check()) == []


def test_what_is_small_is_found_by_the_hub_itself(shared):
    hub, neighbours = shared(small=5)
    with hub:
        hub.subscribe("SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z }", id="a", scope="graph")
        hub.publish("<urn:1> <urn:p> <urn:2> . <urn:2> <urn:q> <urn:3> .", uri="urn:d")
        assert not neighbours.asked
        hub.publish(" . ".join(f"<urn:{n}> <urn:p> <urn:2>" for n in range(6)) + " .", uri="urn:e")
        assert neighbours.asked["seeds"] == 6
        assert len(hub.rows("a")) == 6


def test_a_query_that_fails_at_others_fails_alone(shared):
    hub, _ = shared(most_triples=20)
    text = "SELECT ?x ?z { ?x <urn:q> ?y . ?z <urn:q> ?y . ?z <urn:r> ?w . ?w <urn:r> ?v }"
    with hub:
        hub.subscribe(text, id="many", scope="graph")
        hub.subscribe("SELECT ?x { ?x <urn:q> <urn:hub> }", id="few", scope="graph")
        crowd = "".join(f"<urn:{n}> <urn:q> <urn:hub> . <urn:{n}> <urn:r> <urn:b> . " for n in range(30))
        outcome = hub.publish(crowd + "<urn:b> <urn:r> <urn:c> .", uri="urn:crowd")
        assert [(type(error), error.subscription) for error in outcome.errors] == [(MatchLimitExceeded, "many")]
        assert len(hub.rows("few")) == 30


def test_whoever_comes_too_late_is_told_that_the_batch_is_over(new_url):
    url = new_url("sqlite")
    with Hub(url) as hub:
        hub.publish("<urn:1> <urn:p> <urn:2> .", uri="urn:d")
    with closing(Store.open(url)) as store, pytest.raises(StoreError, match="the batch is over"):
        Worker(store).around(Beginnings(), changes=Changes(after=0))


def test_workers_share_the_files_of_saved_indexes(new_url, tmp_path):
    url = new_url("sqlite")
    text = "SELECT ?x {{ ?x <urn:p> <urn:{}> . ?x <urn:q> ?z }}"
    with Hub(url) as hub:
        hub.subscribe_many(Subscription(str(n), text.format(n), "sparql", "graph") for n in range(600))
    folder = tmp_path / "images"
    folder.mkdir()
    neighbours = Neighbours(url, images=folder)
    with Hub(url, finder=neighbours.finder) as hub:
        hub.subscribe(text.format("late"), id="late", scope="graph")
        lines = [f"<urn:{n}> <urn:p> <urn:{n}> . <urn:{n}> <urn:q> 1 ." for n in (3, 70, 599, "late")]
        told = hub.publish("".join(lines), uri="urn:d")
        assert {event.subscription for event in told} == {"3", "70", "599", "late"}
        assert list(hub.check(sample=20)) == []
    files = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert {name.split("-")[0] for name in files} == {"documents", "graph", "seeds"}
    assert len(files) == 3, "each was written once"
    neighbours.close()
