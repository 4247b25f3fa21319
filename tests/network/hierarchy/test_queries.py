"""Queries over stored documents climb, skip the unit that they came from, and stop when there are enough (N3)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.pairs import ASKED, THEME

from effort import examples
from triplewire.network import Simulation

HEIGHTS = {"hub": 0, "cluster": 1, "super-cluster": 2, "network": 3}
CLUSTERS = (2, 2, 3)


def published(net, at: int, theme: int, number: int = 0, **options) -> str:
    uri = f"urn:doc/{at}/{number}"
    net.client(at=at).publish(f"<{uri}#it> <{THEME}> <urn:theme/{theme}> .", uri=uri, **options)
    return uri


def distance(net, a: int, b: int) -> int:
    pairs = enumerate(zip(net.path(a), net.path(b), strict=True))
    return next((3 - i for i, (one, other) in pairs if one != other), 0)


@settings(max_examples=examples(25))
@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 1), st.sampled_from(sorted(HEIGHTS))), max_size=12),
    st.integers(0, 11),
    st.sampled_from(sorted(HEIGHTS)),
    st.one_of(st.none(), st.integers(1, 5)),
)
def test_query_finds_each_document_in_its_reach_once_and_not_more_than_wanted(seed, stored, at, reach, limit):
    sim = Simulation(seed=seed, loss=0.1, duplication=0.1)
    net = sim.hierarchy(clusters=CLUSTERS)
    expected = {}
    for number, (home, theme, height) in enumerate(stored):
        uri = published(net, home, theme, number, reach=height)
        if theme == 1 and distance(net, home, at) <= min(HEIGHTS[height], HEIGHTS[reach]):
            expected[uri] = distance(net, home, at)
    sim.run()
    query = net.client(at=at).find(ASKED % 1, reach=reach, limit=limit)
    sim.run()
    found = [document.uri for document in query.found.documents]
    assert query.found.is_done
    assert query.found.silent == ()
    assert len(found) == len(set(found)) == min(len(expected), limit or len(expected))
    assert set(found) <= set(expected)
    nearest = sorted(expected.values())[: len(found)]
    assert sorted(expected[uri] for uri in found) == nearest, "what is near is found first"


def test_query_stops_where_there_is_enough_and_skips_the_unit_that_it_came_from():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(4, 4, 4), standbys=False)
    near, far = published(net, 1, 1), [published(net, node, 1) for node in (20, 40, 60)]
    sim.run()
    sim.messages.clear()
    query = net.client(at=2).find(ASKED % 1, limit=1)
    sim.run()
    assert [document.uri for document in query.found.documents] == [near]
    assert sim.messages["query"] == 2, "to the controller of the cluster, and to the broker that has it"
    sim.messages.clear()
    query = net.client(at=2).find(ASKED % 1)
    sim.run()
    assert {document.uri for document in query.found.documents} == {near, *far}
    assert sim.messages["query"] <= 4 + 3 * 3, "only to units that have advertised something for it"


@pytest.mark.parametrize("limit", [None, 10])
def test_answer_names_the_units_that_did_not_answer(limit):
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=CLUSTERS)
    uris = [published(net, node, 1) for node in (1, 5, 11)]
    sim.run()
    net.crash(5)
    query = net.client(at=2).find(ASKED % 1, limit=limit)
    sim.run()
    assert query.found.is_done
    assert {document.uri for document in query.found.documents} == {uris[0], uris[2]}
    assert query.found.silent == ("unit-0.1.2",)
    later = net.client(at=2).find(ASKED % 1, limit=limit)
    sim.run()
    assert later.found.silent == ("unit-0.1.2",), "also when it has been silent for long"
    net.restart(5)
    sim.run()
    whole = net.client(at=2).find(ASKED % 1, limit=limit)
    sim.run()
    assert whole.found.silent == ()
    assert len(whole.found.documents) == 3


@pytest.mark.parametrize("standbys", [True, False])
@pytest.mark.parametrize("moment", [0.0, 0.02, 0.05, 0.08, 0.12])
def test_query_ends_also_when_a_controller_goes_down_under_it(standbys, moment):
    sim = Simulation(seed=7)
    net = sim.hierarchy(clusters=(2, 2, 3), standbys=standbys)
    uris = {published(net, node, 1) for node in (2, 5, 11)}
    sim.run()
    query = net.client(at=2).find(ASKED % 1)
    sim.run(seconds=moment)
    net.crash(net.controller(0))
    sim.run()
    found = {document.uri for document in query.found.documents}
    assert query.found.is_done
    assert found == uris or (found < uris and query.found.silent)


def test_limit_that_wants_nothing_is_refused():
    net = Simulation().hierarchy(clusters=(2,))
    with pytest.raises(ValueError, match="limit must be above 0"):
        net.client(at=0).find(ASKED % 1, limit=0)
