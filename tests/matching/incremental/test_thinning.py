"""Seeds that are left out: what they would find is found from others (P1)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Triple
from tests.matching.incremental.memory import Memory
from tests.matching.incremental.worlds import Registry, whole_using, worlds

from effort import examples
from strategies import iri, taxonomies
from triplewire.algebra.evaluate import Graph
from triplewire.algebra.pattern import Conjunction, TriplePattern, variable
from triplewire.algebra.taxonomy import EMPTY
from triplewire.matching.incremental import thinned

D, P = variable("d"), variable("p")
TYPE, THEME, PUBLISHER, NAME = map(iri, ("type", "theme", "publisher", "name"))
PUBLISHED = Conjunction(
    (
        TriplePattern(D, TYPE, iri("Dataset")),
        TriplePattern(D, THEME, iri("water")),
        TriplePattern(D, PUBLISHER, P),
        TriplePattern(P, NAME, Literal("Office")),
    )
)


@pytest.mark.parametrize("high", [0, 1, 256])
@settings(deadline=None, max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(data=st.data(), world=worlds(), taxonomy=taxonomies())
def test_every_solution_with_a_new_subject_is_gathered_whole_from_what_is_left(high, data, world, taxonomy):
    graph, several = world
    registry, memory = Registry(several), Memory(graph)
    last_known = data.draw(st.integers(0, len(graph)))
    coming = [triple for triple in graph if memory.number(triple.subject) > last_known]
    seeds = thinned(list(registry.seeds(coming, memory, taxonomy)), registry.shapes, last_known)
    found = Graph(registry.gather(seeds, memory, high))
    for conjunction in several:
        for position in range(len(conjunction.triples)):
            for triple in coming:
                expected = whole_using(conjunction, position, triple, Graph(graph), taxonomy)
                assert whole_using(conjunction, position, triple, found, taxonomy) == expected


def dataset(name: str, theme: str) -> list[Triple]:
    me = iri(name)
    return [
        Triple(me, TYPE, iri("Dataset")),
        Triple(me, THEME, iri(theme)),
        Triple(me, PUBLISHER, iri("office")),
    ]


def left(triples: list[Triple], last_known: int) -> list[Triple]:
    registry, memory = Registry([PUBLISHED]), Memory(triples)
    known = {memory.triple(triple): triple for triple in triples}
    seeds = thinned(list(registry.seeds(triples, memory, EMPTY)), registry.shapes, last_known)
    return [known[seed.triple] for seed in seeds]


def test_of_a_new_resource_only_the_rarest_property_is_begun_with():
    assert left([*dataset("a", "water"), *dataset("b", "air")], 0) == [Triple(iri("a"), THEME, iri("water"))]


def test_a_new_resource_that_lacks_a_property_is_not_begun_with():
    assert left(dataset("a", "air"), 0) == []


def test_a_resource_that_was_known_may_have_said_the_rest_before():
    assert set(left(dataset("a", "air"), 1_000)) == {dataset("a", "air")[0], dataset("a", "air")[2]}


def test_what_stands_alone_about_its_subject_is_always_begun_with():
    named = Triple(iri("office"), NAME, Literal("Office"))
    assert left([named], 0) == [named]
