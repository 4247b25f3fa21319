"""What gathering must not do: expand hubs, look up one by one, do the same twice, let one shape spoil the others."""

from __future__ import annotations

from collections import Counter

import pytest
from pyoxigraph import Literal, Triple
from tests.matching.incremental.memory import Memory

from strategies import iri
from triplewire.algebra.pattern import Conjunction, Optional, TriplePattern, variable
from triplewire.matching.incremental import Seed, gather, shape_of, solve

D, E, P, N, X, Y = map(variable, "depnxy")
TYPE, TITLE, PUBLISHER, NAME, THEME, MEMBER = map(iri, ("type", "title", "publisher", "name", "theme", "member"))
DATASET = iri("Dataset")
MANY = 100_000


class Watched(Memory):
    """Counts the calls and the triples that are looked up, and the keys that are asked."""

    def __init__(self, triples=()):
        super().__init__(triples)
        self.calls, self.keys, self.given = Counter(), [], 0

    def _noted(self, kind, keys, found):
        self.calls[kind] += 1
        self.keys += [(kind, key) for key in keys]
        self.given += sum(map(len, found))
        return found

    def forward(self, keys):
        return self._noted("forward", keys, super().forward(keys))

    def backward(self, keys):
        return self._noted("backward", keys, super().backward(keys))

    def scan(self, predicates):
        return self._noted("scan", predicates, super().scan(predicates))

    def present(self, triples):
        self.calls["present"] += 1
        return super().present(triples)

    def fanouts(self, keys, most):
        self.calls["fanouts"] += 1
        return super().fanouts(keys, most)

    def degrees(self, keys, most):
        self.calls["degrees"] += 1
        return super().degrees(keys, most)


def seeds_of(conjunction, memory, *triples, shape=0):
    """The seeds of triples, at every position of their predicates."""
    return [
        Seed(shape, position, memory.triple(triple), 0)
        for triple in triples
        for position, pattern in enumerate(shape_of(conjunction).triples)
        if pattern.predicate == triple.predicate
    ]


def shapes(conjunction):
    return {0: shape_of(conjunction).shape}


def users(conjunction, memory):
    """One conjunction, which uses every atom."""
    constants = tuple(map(memory.number, shape_of(conjunction).constants))
    return lambda atoms, most: [[constants] for _ in atoms]


@pytest.fixture(scope="module")
def hub_triples():
    """A publisher with very many datasets, of which one has a rare title."""
    hub = iri("hub")
    triples = [Triple(iri(f"d{i}"), PUBLISHER, hub) for i in range(MANY)]
    return [*triples, *common_titles(), Triple(iri("d7"), TITLE, Literal("rare"))]


def common_titles():
    """So many that to scan them is no way out."""
    return [Triple(iri(f"d{i}"), TITLE, Literal(f"common {i}")) for i in range(100, 2_000)]


HUB = Conjunction(
    (TriplePattern(D, PUBLISHER, P), TriplePattern(E, PUBLISHER, P), TriplePattern(E, TITLE, Literal("rare")))
)


def test_hub_is_not_expanded_where_a_constant_leads_there_faster(hub_triples):
    """X8: datasets that share a publisher with the one of a rare title; one more dataset of a large publisher."""
    memory = Watched(hub_triples)
    gathered = gather(seeds_of(HUB, memory, hub_triples[5]), shapes(HUB), memory, users(HUB, memory))
    expected = {hub_triples[5], hub_triples[7], hub_triples[-1]}
    assert {memory.triple(triple) for triple in expected} <= gathered.triples
    assert memory.given < 10


def test_hub_is_expanded_where_the_pattern_needs_it(hub_triples):
    memory = Watched(hub_triples)
    gathered = gather(seeds_of(HUB, memory, hub_triples[-1]), shapes(HUB), memory, users(HUB, memory))
    assert len(gathered.triples) == MANY + 1
    assert memory.calls["backward"] == 1


def test_hub_of_a_subject_is_not_expanded_where_a_constant_leads_there_faster():
    """The same the other way round: a catalogue that lists very many datasets."""
    catalogue = iri("catalogue")
    triples = [Triple(catalogue, MEMBER, iri(f"d{i}")) for i in range(MANY)]
    triples += [*common_titles(), Triple(iri("d7"), TITLE, Literal("rare"))]
    pattern = Conjunction(
        (TriplePattern(X, MEMBER, D), TriplePattern(X, MEMBER, E), TriplePattern(E, TITLE, Literal("rare")))
    )
    memory = Watched(triples)
    gathered = gather(seeds_of(pattern, memory, triples[5]), shapes(pattern), memory, users(pattern, memory))
    assert {memory.triple(triples[i]) for i in (5, 7, -1)} <= gathered.triples
    assert memory.given < 10


def test_class_is_not_scanned_when_another_triple_of_an_instance_changed():
    """X8: `?d a :Dataset` with very many datasets, one of which has a new title."""
    triples = [Triple(iri(f"d{i}"), TYPE, DATASET) for i in range(MANY)]
    title = Triple(iri("d7"), TITLE, Literal("new"))
    pattern = Conjunction((TriplePattern(D, TYPE, DATASET), TriplePattern(D, TITLE, N)))
    memory = Watched([*triples, title])
    gathered = gather(seeds_of(pattern, memory, title), shapes(pattern), memory, users(pattern, memory))
    assert gathered.triples == {memory.triple(title), memory.triple(triples[7])}
    assert memory.given == 1
    assert solve([(pattern, {"d": memory.number(iri("d7"))})], memory).triples == gathered.triples
    assert memory.given < 5


def test_solving_begins_with_the_rarest_constant():
    triples = [Triple(iri(f"d{i}"), TYPE, DATASET) for i in range(MANY)]
    triples += [Triple(iri(f"d{i}"), THEME, iri("sea" if i < 3 else "land")) for i in range(MANY)]
    pattern = Conjunction((TriplePattern(D, TYPE, DATASET), TriplePattern(D, THEME, iri("sea"))))
    memory = Watched(triples)
    assert len(solve([(pattern, {})], memory).triples) == 6
    assert memory.given == 3


def chain(depth):
    return Conjunction(
        tuple(TriplePattern(variable(f"v{i}"), iri(f"p{i}"), variable(f"v{i + 1}")) for i in range(depth))
    )


def links(number, depth):
    return [Triple(iri(f"n{number}_{i}"), iri(f"p{i}"), iri(f"n{number}_{i + 1}")) for i in range(depth)]


def calls_for(count, depth, first=0):
    memory = Watched(triple for number in range(count) for triple in links(number, depth))
    seeds = seeds_of(chain(depth), memory, *(links(number, depth)[first] for number in range(count)))
    gathered = gather(seeds, shapes(chain(depth)), memory)
    assert len(gathered.triples) == count * depth
    return sum(memory.calls.values())


@pytest.mark.parametrize("first", [0, 2, 4])
def test_number_of_lookups_follows_the_depth_and_not_the_number_of_seeds(first):
    assert calls_for(1, 5, first) == calls_for(300, 5, first) <= 10


def test_what_hangs_from_one_subject_takes_one_lookup():
    star = Conjunction(tuple(TriplePattern(X, iri(f"p{i}"), variable(f"v{i}")) for i in range(6)))
    memory = Watched(Triple(iri(f"s{j}"), iri(f"p{i}"), iri(f"o{j}")) for i in range(6) for j in range(50))
    seeds = seeds_of(star, memory, *(Triple(iri(f"s{j}"), iri("p3"), iri(f"o{j}")) for j in range(50)))
    assert len(gather(seeds, shapes(star), memory).triples) == 300
    assert memory.calls == {"fanouts": 1, "forward": 1}


def test_equal_partial_matches_are_extended_once():
    """Every triple of a star is a seed: after a step they are the same partial matches, and no key is asked twice."""
    pattern = Conjunction((TriplePattern(X, PUBLISHER, P), TriplePattern(P, NAME, N), TriplePattern(X, TITLE, Y)))
    publisher = Triple(iri("p"), NAME, Literal("P"))
    triples = [Triple(iri(f"d{i}"), PUBLISHER, iri("p")) for i in range(20)]
    triples += [Triple(iri(f"d{i}"), TITLE, Literal(f"{i}")) for i in range(20)]
    memory = Watched([*triples, publisher])
    gathered = gather(seeds_of(pattern, memory, *triples, publisher), shapes(pattern), memory)
    assert len(gathered.triples) == 41
    assert max(Counter(memory.keys).values()) == 1
    again = Watched([*triples, publisher])
    twice = seeds_of(pattern, again, *triples, publisher) * 2
    assert gather(twice, shapes(pattern), again).triples == gathered.triples
    assert again.keys == memory.keys


def test_optional_part_of_several_triples_is_gathered_whole():
    part = Optional((TriplePattern(X, PUBLISHER, P), TriplePattern(P, NAME, N)))
    pattern = Conjunction((TriplePattern(X, TITLE, Y),), (), (), (part,))
    title, published, named = (
        Triple(iri("d"), TITLE, Literal("t")),
        Triple(iri("d"), PUBLISHER, iri("p")),
        Triple(iri("p"), NAME, Literal("P")),
    )
    memory = Watched([title, published, named])
    for changed in (title, published, named):
        assert gather(seeds_of(pattern, memory, changed), shapes(pattern), memory).triples == {
            memory.triple(t) for t in (title, published, named)
        }
    without = Watched([title])
    assert gather(seeds_of(pattern, without, title), shapes(pattern), without).triples == {without.triple(title)}


def test_shape_that_takes_too_many_triples_is_refused_alone(hub_triples):
    """An error belongs to one shape, never to the batch."""
    small = Conjunction((TriplePattern(E, TITLE, N),))
    memory = Watched(hub_triples)
    rare = hub_triples[-1]
    seeds = seeds_of(HUB, memory, rare, shape=1) + seeds_of(small, memory, rare, shape=2)
    found = gather(seeds, {1: shape_of(HUB).shape, 2: shape_of(small).shape}, memory, most_triples=1_000)
    assert found.triples == {memory.triple(rare)}
    assert list(found.refused) == [1]
    assert "1,000 triples" in found.refused[1]
    assert memory.given < 1_000
    one = {"e": memory.number(iri("d7"))}
    answers = solve([(small, one), (HUB, one), (small, one)], memory, most_triples=1_000)
    assert list(answers.refused) == [1]
    assert answers.triples == {memory.triple(rare)}


def test_properties_with_several_values_do_not_multiply():
    """Six properties with a hundred values each would be 10^10 partial matches; they are 600 triples."""
    triples = [Triple(iri("s"), iri(f"p{i}"), iri(f"o{j}")) for i in range(6) for j in range(100)]
    star = Conjunction(tuple(TriplePattern(X, iri(f"p{i}"), variable(f"v{i}")) for i in range(6)))
    memory = Watched(triples)
    found = gather(seeds_of(star, memory, triples[0]), shapes(star), memory, most_triples=1_000)
    assert not found.refused
    assert len(found.triples) == 501


def test_partial_matches_that_multiply_are_refused_before_they_are_made():
    """No key is large, their product is: everything is linked to everything."""
    triples = [Triple(iri(f"n{i}"), MEMBER, iri(f"n{j}")) for i in range(60) for j in range(60)]
    path = Conjunction(tuple(TriplePattern(variable(f"v{i}"), MEMBER, variable(f"v{i + 1}")) for i in range(6)))
    memory = Watched(triples)
    found = gather(seeds_of(path, memory, triples[0])[:1], shapes(path), memory, most_triples=50_000)
    assert list(found.refused) == [0]


def test_row_is_found_where_two_triples_of_its_optional_part_are_missing():
    """Both were added: before, the row has no such columns, and must be found from either triple all the same."""
    part = Optional((TriplePattern(X, PUBLISHER, P), TriplePattern(P, MEMBER, E), TriplePattern(E, NAME, N)))
    pattern = Conjunction((TriplePattern(X, TITLE, Y),), (), (), (part,))
    title, published = Triple(iri("d"), TITLE, Literal("t")), Triple(iri("d"), PUBLISHER, iri("p"))
    added = (Triple(iri("p"), MEMBER, iri("e")), Triple(iri("e"), NAME, Literal("E")))
    before = Watched([title, published])
    found = gather(seeds_of(pattern, before, *added), shapes(pattern), before)
    assert before.triple(title) in found.triples


def test_optional_part_is_looked_up_from_what_the_row_binds():
    part = Optional((TriplePattern(P, NAME, N),))
    pattern = Conjunction((TriplePattern(X, PUBLISHER, P), TriplePattern(X, TITLE, Y)), (), (), (part,))
    triples = [Triple(iri("d"), PUBLISHER, iri("p7")), Triple(iri("d"), TITLE, Literal("t"))]
    memory = Watched([*triples, *(Triple(iri(f"p{i}"), NAME, Literal("P")) for i in range(1_000))])
    found = gather(seeds_of(pattern, memory, triples[1]), shapes(pattern), memory)
    assert len(found.triples) == 3
    assert memory.given == 2
    assert not memory.calls["scan"]


def test_constants_that_were_passed_by_are_not_taken_for_triples(hub_triples):
    """A triple pattern that was matched by any value stays so when the constants are filled in behind it."""
    themed = Conjunction((*HUB.triples, TriplePattern(D, THEME, iri("sea"))))
    memory = Watched([*hub_triples, Triple(iri("d5"), THEME, iri("land"))])
    found = gather(seeds_of(themed, memory, hub_triples[5]), shapes(themed), memory, users(themed, memory))
    assert all(memory.present(list(found.triples)))


def test_conjunctions_that_take_too_much_together_are_solved_one_by_one():
    """And of these only the one that is too large is refused."""

    def about(name):
        return Conjunction((TriplePattern(D, PUBLISHER, iri(name)), TriplePattern(D, TITLE, X)))

    def stated(name, count):
        datasets = [iri(f"{name}{number}") for number in range(count)]
        return [t for d in datasets for t in (Triple(d, PUBLISHER, iri(name)), Triple(d, TITLE, Literal("a")))]

    memory = Memory([triple for name, count in (("a", 60), ("b", 60), ("c", 300)) for triple in stated(name, count)])
    found = solve([(about(name), {}) for name in ("a", "b", "c", "c")], memory, most_triples=100)
    assert set(found.refused) == {2, 3}
    assert {memory.triple(triple) for name in "ab" for triple in stated(name, 60)} <= found.triples
    alone = solve([(about("c"), {})], memory, most_triples=100)
    assert set(alone.refused) == {0}
