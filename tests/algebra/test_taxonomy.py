"""Taxonomies: several parents, instances, cycles, size (G3)."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from effort import examples
from strategies import CLASSES, NODES, iri, taxonomies
from triplewire.algebra.pattern import IS_A
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.errors import TaxonomyError
from triplewire.model import RDF, RDFS, Document

SUB_CLASS, SUB_PROPERTY, TYPE = (
    NamedNode(RDFS + "subClassOf"),
    NamedNode(RDFS + "subPropertyOf"),
    NamedNode(RDF + "type"),
)

ANIMALS = Taxonomy(
    [
        (iri("cat"), iri("mammal")),
        (iri("bat"), iri("mammal")),
        (iri("bat"), iri("flier")),
        (iri("mammal"), iri("animal")),
    ],
    [(iri("tom"), iri("cat"))],
)


def test_a_class_with_two_parents_is_below_both_and_what_is_above_them():
    """G3: multiple inheritance."""
    assert set(ANIMALS.ancestors(iri("bat"))) == {iri("mammal"), iri("flier"), iri("animal")}
    assert ANIMALS.relates("descendant", iri("bat"), iri("flier"))
    assert ANIMALS.relates("descendant", iri("bat"), iri("animal"))


def test_an_instance_is_a_child_of_its_class_and_a_descendant_of_the_classes_above():
    assert ANIMALS.relates("child", iri("tom"), iri("cat"))
    assert not ANIMALS.relates("child", iri("tom"), iri("mammal"))
    assert ANIMALS.relates("descendant", iri("tom"), iri("animal"))
    assert ANIMALS.relates("ancestor", iri("animal"), iri("tom"))
    assert iri("tom") in set(ANIMALS.descendants(iri("animal")))


def test_a_node_is_itself_and_not_its_own_descendant():
    assert ANIMALS.relates("descendant-or-self", iri("cat"), iri("cat"))
    assert not ANIMALS.relates("descendant", iri("cat"), iri("cat"))
    assert ANIMALS.relates("descendant-or-self", iri("unknown"), iri("unknown"))
    assert not EMPTY.relates("descendant", iri("cat"), iri("mammal"))


def test_ancestors_and_descendants_come_nearest_first():
    assert [*ANIMALS.ancestors(iri("tom"))] == [iri("cat"), iri("mammal"), iri("animal")]
    assert [*ANIMALS.descendants(iri("animal"))] == [iri("mammal"), iri("cat"), iri("bat"), iri("tom")]


def test_what_is_an_instance_of_an_instance_is_not_below_its_class():
    """A species is an instance of `species`; an animal of that species is not."""
    taxonomy = Taxonomy((), [(iri("eagle"), iri("species")), (iri("harry"), iri("eagle"))])
    assert taxonomy.relates("descendant", iri("harry"), iri("eagle"))
    assert not taxonomy.relates("descendant", iri("harry"), iri("species"))
    assert [*taxonomy.descendants(iri("species"))] == [iri("eagle")]


def test_broader_leaves_types_out():
    taxonomy = Taxonomy([(iri("eagle"), iri("bird"))], [(iri("eagle"), iri("species"))])
    assert [*taxonomy.broader(iri("eagle"))] == [iri("bird")]
    assert set(taxonomy.ancestors(iri("eagle"))) == {iri("bird"), iri("species")}


def test_a_cycle_is_refused_and_named():
    with pytest.raises(TaxonomyError, match="cycle") as caught:
        Taxonomy([(iri("lead-in"), iri("a")), (iri("a"), iri("b")), (iri("b"), iri("c")), (iri("c"), iri("a"))])
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[:-1]) == [iri(name).value for name in "abc"]
    assert all(name in str(caught.value) for name in cycle)


def test_a_diamond_is_not_a_cycle():
    edges = [("d", "b"), ("d", "c"), ("b", "a"), ("c", "a")]
    diamond = Taxonomy((iri(low), iri(high)) for low, high in edges)
    assert [*diamond.ancestors(iri("d"))].count(iri("a")) == 1


def test_that_a_node_is_below_itself_says_nothing():
    assert Taxonomy([(iri("a"), iri("a"))], [(iri("b"), iri("b"))]) == EMPTY


STATED = [
    Triple(iri("cat"), SUB_CLASS, iri("mammal")),
    Triple(iri("title"), SUB_PROPERTY, iri("label")),
    Triple(iri("tom"), TYPE, iri("cat")),
    Triple(iri("cat"), TYPE, NamedNode(RDFS + "Class")),
    Triple(iri("title"), TYPE, NamedNode(RDF + "Property")),
    Triple(iri("tom"), iri("likes"), iri("fish")),
]


def test_rdfs_triples_state_a_taxonomy_and_the_rest_is_passed_over():
    """Classes, properties and instances count; that a class is a class, and other triples, do not."""
    expected = Taxonomy([(iri("cat"), iri("mammal")), (iri("title"), iri("label"))], [(iri("tom"), iri("cat"))])
    assert Taxonomy.from_triples(STATED) == expected
    assert Taxonomy.from_triples(Quad(*triple, iri("graph")) for triple in STATED) == expected
    assert Taxonomy.from_triples(Document.from_triples("http://example.org/doc", STATED).triples) == expected


def test_blank_nodes_are_passed_over():
    """OWL's restrictions are blank nodes: no subscription can name them."""
    restricted = [Triple(iri("cat"), SUB_CLASS, BlankNode("b")), Triple(BlankNode("b"), TYPE, iri("restriction"))]
    assert Taxonomy.from_triples(restricted) == EMPTY


def test_nodes_lists_each_node_once():
    assert sorted(node.value for node in ANIMALS.nodes()) == sorted(
        iri(name).value for name in ("cat", "bat", "mammal", "flier", "animal", "tom")
    )
    assert len(ANIMALS) == 6
    assert len(EMPTY) == 0


def test_equality_is_that_of_the_statements():
    turned = Taxonomy(reversed([(iri("a"), iri("b")), (iri("a"), iri("c"))]))
    assert turned == Taxonomy([(iri("a"), iri("b")), (iri("a"), iri("c"))])
    assert hash(turned) == hash(Taxonomy([(iri("a"), iri("c")), (iri("a"), iri("b"))]))
    assert turned != Taxonomy([(iri("a"), iri("b"))])
    assert turned != Taxonomy((), [(iri("a"), iri("b")), (iri("a"), iri("c"))])


@settings(max_examples=examples(150), deadline=None)
@given(taxonomies())
def test_what_is_above_and_what_is_below_agree(taxonomy):
    """Invariant of `algebra.taxonomy`: x is among the descendants of y if and only if y is among the ancestors of x."""
    nodes = [*NODES, *CLASSES]
    above = {(x, y) for x in nodes for y in taxonomy.ancestors(x)}
    assert {(x, y) for y in nodes for x in taxonomy.descendants(y)} == above
    for x in nodes:
        assert {y for y in nodes if taxonomy.relates("child", x, y)} == set(taxonomy.parents(x))
        assert all((x in taxonomy.children(y)) == (y in taxonomy.parents(x)) for y in nodes)
    related = {(relation, x, y) for relation in IS_A for x in nodes for y in nodes if taxonomy.relates(relation, x, y)}
    assert {(x, y) for relation, x, y in related if relation == "descendant"} == above
    assert {(y, x) for relation, x, y in related if relation == "ancestor"} == above
    assert {(x, y) for r, x, y in related if r == "descendant-or-self"} == above | {(x, x) for x in nodes}


SIZE = 100_000
NAMES = [iri(f"class/{i}") for i in range(SIZE)]
_random = random.Random(1)
SHAPES = {
    "deep": lambda: [(NAMES[i + 1], NAMES[i]) for i in range(SIZE - 1)],
    "wide": lambda: [(name, NAMES[0]) for name in NAMES[1:]],
    "tangled": lambda: [(NAMES[i], NAMES[_random.randrange(i)]) for i in range(1, SIZE) for _ in range(2)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_taxonomy_of_100_000_classes_is_built_in_seconds(shape):
    """A hundred thousand classes are fine, however they hang together; the bound leaves room for a busy machine."""
    pairs = SHAPES[shape]()
    begun = time.process_time()
    taxonomy = Taxonomy(pairs)
    took = time.process_time() - begun
    assert len(taxonomy) == SIZE
    assert sum(1 for _ in taxonomy.descendants(NAMES[0])) == SIZE - 1
    assert took < 5


def test_a_cycle_at_the_bottom_of_a_deep_taxonomy_is_found():
    pairs = [(NAMES[i + 1], NAMES[i]) for i in range(20_000)] + [(NAMES[19_990], NAMES[20_000])]
    with pytest.raises(TaxonomyError) as caught:
        Taxonomy(pairs)
    assert len(caught.value.cycle) == 12
