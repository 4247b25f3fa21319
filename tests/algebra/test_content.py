"""Contents of resources, and who holds them (M6, M7)."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, Triple

from effort import examples
from strategies import PREDICATES, graphs, iri
from triplewire.algebra.content import climb, content, contents, holders

STRONG = iri("part")
PARTS = frozenset([STRONG.value])


def about(triples):
    """The lookup of a graph, and the rounds that it was asked for."""
    rounds = []

    def lookup(subjects):
        rounds.append([*subjects])
        return [triple for triple in triples if triple.subject in subjects]

    lookup.rounds = rounds
    return lookup


CAR = [
    Triple(iri("car"), STRONG, iri("engine")),
    Triple(iri("engine"), STRONG, iri("piston")),
    Triple(iri("engine"), iri("maker"), iri("firm")),
    Triple(iri("piston"), iri("size"), Literal("9")),
    Triple(iri("firm"), iri("name"), Literal("Diesel")),
    Triple(iri("car"), iri("address"), BlankNode("b")),
    Triple(BlankNode("b"), iri("town"), Literal("Passau")),
]


def test_content_has_what_is_referenced_strongly_and_nothing_that_is_referenced_weakly():
    """M7: the firm is referenced weakly."""
    found = content(iri("car"), about(CAR), PARTS)
    assert set(found) == set(CAR) - {CAR[4]}
    assert set(content(iri("car"), about(CAR), frozenset())) == {CAR[0], CAR[5], CAR[6]}


def test_content_comes_in_one_order_whatever_the_order_of_the_lookup():
    assert content(iri("car"), about(CAR), PARTS) == content(iri("car"), about(CAR[::-1]), PARTS)


def test_one_lookup_serves_a_whole_round():
    lookup = about(CAR)
    content(iri("car"), lookup, PARTS)
    assert [set(found) for found in lookup.rounds] == [{iri("car")}, {iri("engine"), BlankNode("b")}, {iri("piston")}]


def test_a_cycle_of_strong_references_ends_and_every_node_is_asked_for_once():
    ring = [Triple(iri(str(i)), STRONG, iri(str((i + 1) % 3))) for i in range(3)]
    lookup = about(ring)
    assert set(content(iri("0"), lookup, PARTS)) == set(ring)
    assert len(lookup.rounds) == 3


def test_a_literal_and_a_resource_that_nobody_describes_have_no_content():
    lookup = about(CAR)
    assert content(Literal("9"), lookup, PARTS) == ()
    assert lookup.rounds == []
    assert content(iri("unknown"), lookup, PARTS) == ()


def test_contents_of_several_resources_are_united():
    assert set(contents([iri("piston"), iri("firm")], about(CAR), PARTS)) == {CAR[3], CAR[4]}


def test_climbing_a_wide_and_deep_graph_asks_once_for_each_level():
    rounds = []

    def above(nodes):
        rounds.append(len(nodes))
        return [node // 10 for node in nodes if node]

    assert climb(range(1000, 2000), above) == {*range(1000, 2000), *range(100, 200), *range(10, 20), 1, 0}
    assert rounds == [1000, 100, 10, 1, 1]


class Numbered:
    """A graph as a store has it: terms by number, backward lookups in batches."""

    def __init__(self, triples, terms):
        self.terms = [None, *dict.fromkeys([*terms, *(term for triple in triples for term in triple)])]
        self.ids = {term: number for number, term in enumerate(self.terms)}
        self._by_key = defaultdict(list)
        for triple in triples:
            s, p, o = (self.ids[term] for term in triple)
            for predicate in (0, p):
                self._by_key[predicate, o].append((s, p, o))

    def backward(self, keys):
        return [self._by_key[key] for key in keys]

    def blank(self, numbers):
        return [number for number in numbers if isinstance(self.terms[number], BlankNode)]


def test_without_strong_properties_only_blank_nodes_are_climbed_from():
    graph = Numbered(CAR, PARTS)
    found = holders({graph.ids[BlankNode("b")], graph.ids[iri("piston")]}, graph.backward, (), graph.blank)
    assert {graph.terms[number] for number in found} == {BlankNode("b"), iri("piston"), iri("car")}


@settings(max_examples=examples(300), deadline=None)
@given(graphs, st.sets(st.sampled_from(PREDICATES)))
def test_a_resource_holds_another_exactly_if_its_content_has_the_triples_of_that(triples, strong):
    """Invariant of `algebra.content`: r is among holders({x}) if and only if the triples of x are in content(r)."""
    graph = Numbered(triples, PREDICATES)
    subjects = {triple.subject for triple in triples}
    names = frozenset(predicate.value for predicate in strong)
    inside = {r: set(content(r, about(triples), names)) for r in subjects}
    for x in subjects:
        found = holders([graph.ids[x]], graph.backward, {graph.ids[p] for p in strong}, graph.blank)
        own = {triple for triple in triples if triple.subject == x}
        assert {graph.terms[number] for number in found} == {r for r in subjects if own <= inside[r]}
