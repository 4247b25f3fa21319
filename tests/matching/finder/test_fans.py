"""What a popular node leads to is put off, shared out evenly, and found whole."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Literal, Triple
from tests.matching.finder.process import Process, expected_rows, sparql

from strategies import iri
from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import Document

BY, NAME, PART, SIZE, OWNS = map(iri, ("by", "name", "part", "size", "owns"))


def found_in(triples, patterns, **about):
    return Process([Document.from_triples("urn:d", triples)], patterns, EMPTY, **about)


def publisher(datasets=1_000):
    """One publisher of many datasets, each with a part, every other with a size; and the publisher's name."""
    triples = [Triple(iri("p"), NAME, Literal("X"))]
    for i in range(datasets):
        triples += [Triple(iri(f"d{i}"), BY, iri("p")), Triple(iri(f"d{i}"), PART, iri(f"part{i}"))]
        if i % 2:
            triples.append(Triple(iri(f"d{i}"), SIZE, Literal(i)))
    return triples


@pytest.mark.parametrize(
    "text",
    [
        'SELECT ?d ?q { ?p :name "X" . ?d :by ?p . ?d :part ?q }',
        'SELECT ?d { ?p :name "X" . ?d :by ?p }',
        'SELECT ?d ?s { ?p :name "X" . ?d :by ?p OPTIONAL { ?d :size ?s } }',
    ],
)
def test_the_datasets_of_one_publisher_are_shared_out_evenly(text):
    pattern = sparql(text)
    found = found_in(publisher(), {"q": pattern}, shares=8, popular=300)
    assert found.seeds == 1, "the publisher's name"
    assert found.pieces == [[125] * 8]
    assert found.rows["q"].keys() == expected_rows(pattern, publisher())


def test_a_popular_node_may_be_a_subject():
    triples = [Triple(iri("p"), NAME, Literal("X"))]
    triples += [Triple(iri("p"), OWNS, iri(f"d{i}")) for i in range(600)]
    triples += [Triple(iri(f"d{i}"), SIZE, Literal(i)) for i in range(600)]
    pattern = sparql('SELECT ?d ?s { ?p :name "X" . ?p :owns ?d . ?d :size ?s }')
    found = found_in(triples, {"q": pattern}, shares=3, popular=500)
    assert found.pieces == [[200] * 3]
    assert found.rows["q"].keys() == expected_rows(pattern, triples)


def test_a_popular_node_behind_another_is_put_off_again():
    triples = publisher(400) + [Triple(iri(f"f{i}"), iri("of"), iri("d7")) for i in range(400)]
    pattern = sparql('SELECT ?d ?f { ?p :name "X" . ?d :by ?p . ?f :of ?d }')
    found = found_in(triples, {"q": pattern}, shares=4, popular=300)
    assert found.pieces == [[100] * 4, found.pieces[1]]
    assert sum(found.pieces[1]) == 400
    assert max(found.pieces[1]) < 200, "cut by numbers, not by places: about even"
    assert found.rows["q"].keys() == expected_rows(pattern, triples)


def test_a_publisher_of_more_than_a_share_may_gather_is_served():
    """What was refused as a whole, because one triple leads to too many others."""
    pattern = sparql('SELECT ?d ?q { ?p :name "X" . ?d :by ?p . ?d :part ?q }')
    assert found_in(publisher(), {"q": pattern}, most_triples=700).errors.keys() == {"q"}
    found = found_in(publisher(), {"q": pattern}, most_triples=700, shares=4, popular=500)
    assert not found.errors
    assert len(found.rows["q"]) == 1_000


def test_rows_with_an_optional_column_that_are_there_by_chance_do_not_count():
    """Each share has all datasets, as ?e, and the sizes of its own only: those of others would seem to have none."""
    triples = publisher(60)
    pattern = sparql('SELECT ?d ?s { ?p :name "X" . ?d :by ?p . ?e :by ?p . ?e :part ?q OPTIONAL { ?d :size ?s } }')
    for shares in range(1, 5):
        found = found_in(triples, {"q": pattern}, shares=shares, high=20, popular=30)
        assert found.pieces
        assert found.rows["q"].keys() == expected_rows(pattern, triples)


def test_rows_with_an_optional_column_do_not_count_where_their_seed_was_put_off():
    """Another query brings along a dataset of the publisher, and its name, but not the dataset's size."""
    triples = publisher(60)
    patterns = {
        "sizes": sparql('SELECT ?d ?s { ?p :name "X" . ?d :by ?p OPTIONAL { ?d :size ?s } }'),
        "along": sparql("SELECT ?d ?o { ?d :part :part7 . ?d :by ?p . ?p :name ?n OPTIONAL { ?d :owns ?o } }"),
    }
    found = found_in(triples, patterns, high=20, popular=30)
    assert found.pieces
    for id, pattern in patterns.items():
        assert found.rows[id].keys() == expected_rows(pattern, triples)


def test_a_seed_that_leads_to_a_popular_node_and_elsewhere_keeps_its_optional_columns():
    triples = [*publisher(60), Triple(iri("e"), BY, iri("p2")), Triple(iri("e"), SIZE, Literal(5))]
    triples += [Triple(iri(publisher), iri("in"), iri("c")) for publisher in ("p", "p2")]
    triples.append(Triple(iri("c"), NAME, Literal("Y")))
    patterns = {
        "sizes": sparql('SELECT ?d ?s { ?c :name "Y" . ?p :in ?c . ?d :by ?p OPTIONAL { ?d :size ?s } }'),
        "along": sparql("SELECT ?d ?o { ?d :part :part7 . ?d :by ?p . ?p :in ?c OPTIONAL { ?d :owns ?o } }"),
    }
    found = found_in(triples, patterns, high=20, popular=30)
    for id, pattern in patterns.items():
        assert found.rows[id].keys() == expected_rows(pattern, triples)


QUERIES = [
    'SELECT ?d { ?p :name "name 1" . ?d :by ?p }',
    'SELECT ?d ?q { ?p :name "name 1" . ?d :by ?p . ?d :part ?q }',
    'SELECT ?d ?e { ?p :name "name 2" . ?d :by ?p . ?p :owns ?e }',
    "SELECT ?d ?e { ?d :by ?p . ?e :part ?d . ?p :owns :n3 }",
    'SELECT ?d ?s { ?p :name "name 1" . ?d :by ?p OPTIONAL { ?d :size ?s } }',
    "SELECT ?d ?s { ?p :name ?n . ?d :by ?p . ?d :part :n1 OPTIONAL { ?d :size ?s . ?d :owns ?o } }",
    'SELECT ?a ?s { ?a :by ?p . ?b :by ?p . ?p :name "name 2" OPTIONAL { ?b :size ?s } }',
    "SELECT ?d ?any { ?d ?any ?p . ?p :owns :n2 }",
]


def test_rows_of_random_graphs_with_hubs_are_those_of_the_definition():
    """Invariant of `matching.incremental.fans`: the triples of a fan as seeds find all that was put off."""
    put_off = [_compared(random.Random(seed)) for seed in range(40)]
    assert sum(map(bool, put_off)) > 20, "something was put off"
    assert sum(rounds > 1 for rounds in put_off) > 3, "and again"


def _compared(chance):
    """How often something was put off in a graph with hubs."""
    nodes = [iri(f"n{i}") for i in range(12)]
    hubs = nodes[:2]
    triples = {Triple(node, NAME, Literal(f"name {chance.randrange(3)}")) for node in nodes}
    triples |= {Triple(chance.choice(nodes), SIZE, Literal(chance.randrange(5))) for _ in range(8)}
    for _ in range(70):
        one, other = chance.choice(nodes), chance.choice(hubs if chance.random() < 0.6 else nodes)
        if chance.random() < 0.3:
            one, other = other, one
        triples.add(Triple(one, chance.choice((BY, BY, PART, OWNS)), other))
    patterns = {text: sparql(text) for text in chance.sample(QUERIES, 4)}
    popular, high = chance.choice((2, 3, 5)), chance.choice((0, 1, 4))
    found = found_in(sorted(triples, key=str), patterns, shares=3, popular=popular, high=min(high, popular))
    assert not found.errors
    for id, pattern in patterns.items():
        assert found.rows[id].keys() == expected_rows(pattern, triples)
    return len(found.pieces)
