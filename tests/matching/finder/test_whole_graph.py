"""Rows found in shares are the rows of the definition, over the union of the documents."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Triple
from tests.matching.finder.process import Process, distinct, expected_rows, served, sparql, union_of

from effort import examples
from oracle.histories import documents, queries
from strategies import iri, taxonomies
from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import Document

relaxed = settings(
    deadline=None, max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@relaxed
@given(
    several=st.lists(documents, max_size=4),
    texts=st.lists(queries, min_size=1, max_size=5),
    taxonomy=taxonomies(),
    shares=st.integers(1, 3),
    high=st.sampled_from([0, 1, 256]),
    popular=st.sampled_from([None, 0, 1]),
    saved=st.booleans(),
)
def test_rows_in_shares_are_those_of_the_definition(several, texts, taxonomy, shares, high, popular, saved):
    """M5, M6, G2, S3: joins over documents, optional columns, unions, bindings, is-a; by shape and by constants."""
    patterns, several = served(texts), distinct(several)
    found = Process(several, patterns, taxonomy, shares=shares, high=high, popular=popular, saved=saved)
    graph = union_of(several)
    assert not found.errors
    for id, pattern in patterns.items():
        assert found.rows[id].keys() == expected_rows(pattern, graph, taxonomy)


@relaxed
@given(several=st.lists(documents, min_size=1, max_size=4), texts=st.lists(queries, min_size=1, max_size=3))
def test_documents_of_a_row_are_enough_to_make_it(several, texts):
    """X5: without optional parts, a row is an answer over the documents that are told for it."""
    patterns = {id: one for id, one in served(texts).items() if not any(b.optionals for b in one.branches)}
    several = distinct(several)
    found = Process(several, patterns, EMPTY)
    for id, rows in found.rows.items():
        for row, uris in rows.items():
            assert uris
            part = union_of([document for document in several if document.uri in uris])
            assert row in expected_rows(patterns[id], part)


SIZE, KIND, PART, NAME = map(iri, ("size", "kind", "part", "name"))


def test_row_without_an_optional_column_counts_only_around_its_seed():
    """The chain b, c, d is gathered by chance with the chains of the seeds before and behind it, without d's name."""
    knows = iri("knows")
    nodes = [iri(f"n{i}") for i in range(6)]
    triples = [Triple(one, knows, other) for one, other in itertools.pairwise(nodes)]
    triples += [Triple(node, NAME, Literal(f"name of {node.value[-1]}")) for node in nodes]
    document = Document.from_triples("urn:d", triples)
    pattern = sparql("SELECT ?x ?n { ?x :knows ?y . ?y :knows ?z OPTIONAL { ?z :name ?n } }")
    for shares in range(1, 7):
        found = Process([document], {"q": pattern}, EMPTY, shares=shares)
        assert found.rows["q"].keys() == expected_rows(pattern, triples)


def population(count):
    """Things of one kind, each with a part that has a size, and a few with a mark."""
    triples = []
    for i in range(count):
        thing, part = iri(f"t{i}"), iri(f"p{i}")
        triples += [Triple(thing, KIND, iri("Thing")), Triple(thing, PART, part), Triple(part, SIZE, Literal(i))]
    return triples


def test_a_conjunction_is_seeded_at_its_rarest_atom():
    triples = [*population(300), Triple(iri("t7"), NAME, Literal("seven"))]
    pattern = sparql('SELECT ?x ?v { ?x :kind :Thing . ?x :part ?p . ?p :size ?v . ?x :name "seven" }')
    found = Process([Document.from_triples("urn:d", triples)], {"q": pattern}, EMPTY)
    assert found.seeds == 1
    assert found.rows["q"].keys() == expected_rows(pattern, triples)


def test_what_fits_no_atom_is_not_kept():
    triples = [*population(5), Triple(iri("t1"), NAME, Literal("one"))]
    pattern = sparql("SELECT ?x { ?x :kind :Thing . ?x :name ?n }")
    found = Process([Document.from_triples("urn:d", triples)], {"q": pattern}, EMPTY)
    assert len(found.triples) == 6


def test_query_with_more_triples_than_the_limit_is_served_in_halves():
    triples = population(200)
    pattern = sparql("SELECT ?x ?v { ?x :kind :Thing . ?x :part ?p . ?p :size ?v }")
    found = Process([Document.from_triples("urn:d", triples)], {"q": pattern}, EMPTY, most_triples=40)
    assert not found.errors
    assert len(found.rows["q"]) == 200


def test_query_with_more_rows_than_the_limit_is_served_in_halves():
    triples = population(200)
    patterns = {"q": sparql("SELECT ?x ?v { ?x :part ?p . ?p :size ?v }"), "r": sparql("SELECT ?x { ?x :part :p7 }")}
    found = Process([Document.from_triples("urn:d", triples)], patterns, EMPTY, max_rows=30)
    assert not found.errors
    assert [len(found.rows[id]) for id in patterns] == [200, 1]


@pytest.mark.parametrize("limits", [{"most_triples": 300}, {"max_rows": 300}])
def test_query_that_one_triple_takes_over_a_limit_fails_alone(limits):
    """One hub: all that share it are joined with each other, so each seed alone has too many rows."""
    triples = [*population(400), Triple(iri("x"), NAME, Literal("x"))]
    patterns = {
        "pairs": sparql("SELECT ?x ?y { ?x :kind ?k . ?y :kind ?k }"),
        "named": sparql("SELECT ?x { ?x :name ?n }"),
        "sized": sparql("SELECT ?x { ?x :kind :Thing . ?x :part ?p }"),
    }
    found = Process([Document.from_triples("urn:d", triples)], patterns, EMPTY, **limits)
    assert found.errors.keys() == {"pairs"}
    assert "300" in found.errors["pairs"]
    assert len(found.rows["named"]) == 1
    assert len(found.rows["sized"]) == 400


def test_row_by_chance_around_the_seed_of_another_query_does_not_count():
    """Two queries of one shape begin at one triple, and at a hub each goes on by its own constant.

    A third one brings along what the second needs for a row, but not the row's optional column.
    """
    triples = [Triple(iri(f"y{i}"), PART, iri("hub")) for i in range(400)]
    triples += [Triple(iri(f"y{i}"), KIND, iri(f"k{i % 100}")) for i in range(400)]
    triples += [Triple(iri(f"y{i}"), SIZE, Literal(i)) for i in range(400)]
    triples += [Triple(iri("x"), NAME, Literal("ab")), Triple(iri("x"), PART, iri("hub"))]
    text = (
        'SELECT ?x ?l {{ ?x :name ?n FILTER(CONTAINS(?n, "{}")) ?x :part ?h . ?y :part ?h . ?y :kind :k{}'
        " OPTIONAL {{ ?y :size ?l }} }}"
    )
    patterns = {
        "one": sparql(text.format("a", 1)),
        "other": sparql(text.format("b", 2)),
        "along": sparql("SELECT ?y ?h { ?y :kind :k2 OPTIONAL { ?y :part ?h } }"),
    }
    document = Document.from_triples("urn:d", triples)
    for shares in range(1, 7):
        found = Process([document], patterns, EMPTY, shares=shares)
        for id, pattern in patterns.items():
            assert found.rows[id].keys() == expected_rows(pattern, triples)
