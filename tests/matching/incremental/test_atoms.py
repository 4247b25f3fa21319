"""Atoms: what seeds a conjunction, through the same index that matches documents."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from pyoxigraph import Literal, Triple
from tests.matching.incremental.worlds import fits, populations

from effort import examples
from strategies import CLASSES, NODES, VARIABLES, call, graphs, integer, iri, taxonomies
from triplewire import Index
from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Optional, Pattern, TriplePattern
from triplewire.matching.incremental import atoms_of, dump_pattern, load_pattern
from triplewire.model import Document

X, Y, Z, W = VARIABLES
P, Q, R = iri("p"), iri("q"), iri("r")


@settings(deadline=None, max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(populations(), graphs, taxonomies())
def test_index_of_atoms_finds_the_seeds_of_a_triple(several, graph, taxonomy):
    index = Index(taxonomy)
    atoms = {f"{i}/{atom.position}": atom for i, one in enumerate(several) for atom in atoms_of(one)}
    for id, atom in atoms.items():
        index.add(id, atom.pattern)
    documents = [Document.from_triples("urn:triple", [triple]) for triple in graph]
    for triple, matches in zip(graph, index.match_many(documents), strict=True):
        assert set(matches.subscriptions) == {id for id, atom in atoms.items() if fits(atom, triple, taxonomy)}


@settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(populations(), graphs, taxonomies())
def test_atoms_of_a_normal_form_need_no_second_one(several, graph, taxonomy):
    """What is left out of the work must not be left out of the answers, in the index neither."""
    index = Index(taxonomy)
    expected = {}
    for i, one in enumerate(several):
        for k, branch in enumerate(normalize(Pattern((), (one,))).branches):
            for slow, fast in zip(atoms_of(branch), atoms_of(branch, is_normal=True), strict=True):
                assert (slow.position, slow.is_optional) == (fast.position, fast.is_optional)
                assert load_pattern(fast.definition) == fast.pattern
                assert fast.pattern.is_normal
                expected[f"{i}/{k}/{slow.position}"] = slow
                index.add(f"{i}/{k}/{slow.position}", fast.pattern)
    documents = [Document.from_triples("urn:triple", [triple]) for triple in graph]
    for triple, matches in zip(graph, index.match_many(documents), strict=True):
        assert set(matches.subscriptions) == {id for id, atom in expected.items() if fits(atom, triple, taxonomy)}


def texts_of(conjunction):
    return [dump_pattern(atom.pattern) for atom in atoms_of(conjunction)]


def test_inequalities_are_left_to_the_index_of_whole_patterns():
    """Thousands of thresholds are one atom, not thousands that fire for each number."""
    several = [Conjunction((TriplePattern(X, P, Y),), (call(">", Y, integer(i)),)) for i in range(5)]
    assert len({text for one in several for text in texts_of(one)}) == 1


def test_names_of_variables_make_no_other_atom():
    assert texts_of(Conjunction((TriplePattern(X, P, Y),))) == texts_of(Conjunction((TriplePattern(Z, P, W),)))
    assert texts_of(Conjunction((TriplePattern(X, P, X),))) != texts_of(Conjunction((TriplePattern(Z, P, W),)))


def test_conditions_that_the_index_tests_itself_are_part_of_the_atom():
    conditions = {
        call("contains", Y, Literal("ab")): (Literal("cab"), Literal("b")),
        call("starts", call("str", Y), Literal("ab")): (Literal("abc"), Literal("cab")),
        call("=", Y, integer(3)): (integer(3), integer(4)),
        call("descendant-or-self", Y, CLASSES[0]): (CLASSES[0], CLASSES[1]),
    }
    for condition, (good, bad) in conditions.items():
        (atom,) = atoms_of(Conjunction((TriplePattern(X, P, Y),), (condition,)))
        assert evaluate(atom.pattern, [Triple(NODES[0], P, good)])
        assert not evaluate(atom.pattern, [Triple(NODES[0], P, bad)])


def test_conditions_between_triples_and_those_for_python_are_not():
    both = call("=", X, Z)
    slow = call("regex", Y, Literal("a+b"))
    atoms = atoms_of(Conjunction((TriplePattern(X, P, Y), TriplePattern(Z, Q, Y)), (both, slow)))
    assert all(not atom.pattern.branches[0].conditions for atom in atoms)


def test_triple_that_widens_a_row_fits_its_optional_atom():
    lab = Literal("lab")
    part = Optional((TriplePattern(X, Q, Y), TriplePattern(Y, R, Z)), (call("contains", Z, lab),))
    atoms = atoms_of(Conjunction((TriplePattern(X, P, NODES[0]),), (), (), (part,)))
    assert [atom.is_optional for atom in atoms] == [False, True, True]
    assert evaluate(atoms[1].pattern, [Triple(NODES[1], Q, NODES[2])])
    assert evaluate(atoms[2].pattern, [Triple(NODES[2], R, lab)])
    assert not evaluate(atoms[2].pattern, [Triple(NODES[2], R, Literal("other"))])


def test_position_that_can_never_match_has_an_atom_without_branches():
    (atom,) = atoms_of(Conjunction((TriplePattern(Literal("text"), P, Y),)))
    assert atom.pattern.branches == ()
