"""Gathered triples hold every solution that uses a seed: `evaluate` is asked on them and on the whole graph.

The conjunctions are wild on purpose: variables in all places, repeated ones, loops, ground triples, parts that share
nothing. By shape (`high` is 256: nothing is large) and by constants (`high` is 0 or 1: everything is).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.matching.incremental.memory import Memory
from tests.matching.incremental.worlds import (
    Registry,
    as_set,
    dense_graphs,
    fits,
    nodes,
    required_solutions,
    triples_of,
    whole_using,
    wild_conjunctions,
    worlds,
)

from effort import examples
from strategies import graphs, taxonomies
from triplewire.algebra.evaluate import Graph, evaluate, solutions
from triplewire.algebra.pattern import Pattern, columns_of
from triplewire.matching.incremental import atoms_of, gather, solve

relaxed = settings(
    deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
some_graphs = st.one_of(graphs, dense_graphs)


@pytest.mark.parametrize("high", [0, 1, 256])
@relaxed
@given(data=st.data(), world=worlds(), taxonomy=taxonomies())
def test_every_solution_that_uses_a_seed_is_gathered_whole(high, data, world, taxonomy):
    """P1, M5: for each seed, and for all conjunctions of its shape."""
    graph, several = world
    registry, memory = Registry(several), Memory(graph)
    changed = data.draw(st.lists(st.sampled_from(graph), max_size=2, unique=True)) if graph else []
    found = registry.gather(registry.seeds(changed, memory, taxonomy, optional=False), memory, high)
    assert set(found) <= set(graph)
    for conjunction in several:
        for position in range(len(conjunction.triples)):
            for triple in changed:
                expected = whole_using(conjunction, position, triple, Graph(graph), taxonomy)
                assert whole_using(conjunction, position, triple, Graph(found), taxonomy) == expected


@pytest.mark.parametrize("high", [0, 256])
@relaxed
@given(world=worlds(), taxonomy=taxonomies())
def test_one_conjunction_s_seeds_give_all_of_its_rows_and_no_other(high, world, taxonomy):
    graph, (conjunction, *_) = world
    registry, memory = Registry([conjunction]), Memory(graph)
    found = registry.gather(registry.seeds(graph, memory, taxonomy), memory, high)
    pattern = Pattern(tuple(sorted(columns_of(conjunction))), (conjunction,))
    assert as_set(evaluate(pattern, found, taxonomy)) == as_set(evaluate(pattern, graph, taxonomy))


@pytest.mark.parametrize("high", [0, 1, 256])
@relaxed
@given(data=st.data(), world=worlds(), taxonomy=taxonomies())
def test_rows_whose_columns_change_with_optional_triples_are_gathered_in_both_states(high, data, world, taxonomy):
    """M4: an added optional triple ends a row and begins another; both are found from the triple alone."""
    graph, several = world
    changed = set(data.draw(st.lists(st.sampled_from(graph), max_size=3))) if graph else set()
    states = ([triple for triple in graph if triple not in changed], graph)
    registry = Registry(several)
    for state in states:
        memory = Memory(state)
        found = registry.gather(registry.seeds(changed, memory, taxonomy, optional=True), memory, high)
        for conjunction in several:
            required = [as_set(required_solutions(conjunction, one, taxonomy)) for one in states]
            if required[0] == required[1]:  # else required triples changed too, and those are other seeds
                before, after = (as_set(solutions(conjunction, Graph(one), taxonomy)) for one in states)
                here = as_set(solutions(conjunction, Graph(state), taxonomy))
                assert (before ^ after) & here <= as_set(solutions(conjunction, Graph(found), taxonomy))


@pytest.mark.parametrize("high", [0, 256])
@relaxed
@given(data=st.data(), world=worlds(), taxonomy=taxonomies())
def test_solving_gives_the_triples_of_all_solutions_with_these_bindings(high, data, world, taxonomy):
    """X5: survivors, backfill and `why` ask for rows that are known in part."""
    graph, (conjunction, *_) = world
    memory = Memory(graph)
    names = data.draw(st.sets(st.sampled_from(sorted(conjunction.variables)))) if conjunction.variables else set()
    known = {name: data.draw(nodes) for name in sorted(names)}
    gathered = solve([(conjunction, {name: memory.number(term) for name, term in known.items()})], memory, high=high)

    def with_bindings(triples):
        rows = solutions(conjunction, Graph(triples), taxonomy)
        return as_set(row for row in rows if all(row.get(name) == term for name, term in known.items()))

    found = triples_of(gathered.triples, memory)
    assert set(found) <= set(graph)
    assert with_bindings(found) == with_bindings(graph)


@relaxed
@given(data=st.data(), world=worlds(), taxonomy=taxonomies())
def test_seeds_that_are_gathered_together_do_not_disturb_each_other(data, world, taxonomy):
    graph, several = world
    registry, memory = Registry(several), Memory(graph)
    seeds = list(registry.seeds(graph, memory, taxonomy))
    some = data.draw(st.lists(st.sampled_from(seeds), max_size=6)) if seeds else []
    alone = [gather([seed], registry.shapes, memory).triples for seed in some]
    assert gather(some, registry.shapes, memory).triples == set().union(*alone)


@relaxed
@given(conjunction=wild_conjunctions(), graph=some_graphs, taxonomy=taxonomies())
def test_every_triple_of_a_solution_fits_the_atom_of_its_position(conjunction, graph, taxonomy):
    for atom in atoms_of(conjunction):
        if not atom.is_optional:
            for triple in graph:
                used = whole_using(conjunction, atom.position, triple, Graph(graph), taxonomy)
                assert fits(atom, triple, taxonomy) or not used
