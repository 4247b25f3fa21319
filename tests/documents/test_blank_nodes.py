"""Equal graphs give equal documents, whatever their labels and order; what cannot be named in time is refused."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat
from pyoxigraph import parse as parse_rdf

from effort import examples
from triplewire.documents import Limits, blank_nodes, effort, parse
from triplewire.documents.refinement import order_of
from triplewire.documents.surroundings import surroundings
from triplewire.errors import DocumentTooLarge
from triplewire.model import Document

URI = "http://example.org/a"
Edges = Iterable[tuple[str, str, str]]


def ntriples(edges: Edges) -> bytes:
    return "".join(f"{subject} {predicate} {value} .\n" for subject, predicate, value in edges).encode()


def read(lines: bytes, limits: Limits | None = None) -> Document:
    return parse(lines, uri=URI, media_type="application/n-triples", limits=limits or Limits())


def disguised(lines: bytes, seed: int) -> bytes:
    """The same graph with other labels in another order."""
    chance = random.Random(seed)
    graph = surroundings(lines)
    labels = [b"_:n%d" % number for number in range(len(graph))]
    chance.shuffle(labels)
    names = dict(zip(graph.names, labels, strict=True))
    rows = [line[:-2].split(b" ", 2) for line in lines.splitlines()]
    chance.shuffle(rows)
    return b"".join(b"%b %b %b .\n" % (names.get(s, s), p, names.get(o, o)) for s, p, o in rows)


def by_rdfc(lines: bytes) -> Dataset:
    dataset = Dataset(parse_rdf(lines, format=RdfFormat.N_TRIPLES))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return dataset


NODES = st.sampled_from(["_:a", "_:b", "_:c", "_:d", "_:e", "_:f", "<a:x>"])
GRAPHS = st.lists(
    st.tuples(NODES, st.sampled_from(["<a:p>", "<a:q>"]), NODES | st.sampled_from(['"1"', '"_:a ."'])), max_size=12
).map(ntriples)


@settings(max_examples=examples(150), deadline=None)
@given(GRAPHS, st.integers(0, 2**32))
def test_equal_graphs_give_equal_documents(lines: bytes, seed: int) -> None:
    """Invariant of `documents.blank_nodes`: names do not depend on labels or order."""
    assert read(disguised(lines, seed)) == read(lines)


@settings(max_examples=examples(150), deadline=None)
@given(GRAPHS)
def test_the_names_are_those_of_rdfc(lines: bytes) -> None:
    assert {str(triple) for triple in read(lines).triples} == {str(quad.triple) for quad in by_rdfc(lines)}


@settings(max_examples=examples(100), deadline=None)
@given(GRAPHS, GRAPHS)
def test_documents_are_equal_only_if_their_graphs_are(one: bytes, other: bytes) -> None:
    assert (read(one) == read(other)) == (by_rdfc(one) == by_rdfc(other))


def refined(lines: bytes) -> Document | None:
    graph = surroundings(lines)
    order = order_of(graph)
    return None if order is None else Document.from_lines(URI, blank_nodes.renamed(lines, graph, order))


@settings(max_examples=examples(300), deadline=None)
@given(GRAPHS, st.integers(0, 2**32))
def test_refinement_gives_equal_graphs_equal_names(lines: bytes, seed: int) -> None:
    document = refined(lines)
    assert refined(disguised(lines, seed)) == document
    assume(document is not None)
    assert document is not None
    assert by_rdfc(document.ntriples) == by_rdfc(lines)


FORESTS = st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["<a:p>", "<a:q>"])), min_size=1, max_size=20).map(
    lambda parents: ntriples(
        (f"_:t{parent % number}", predicate, f"_:t{number}") for number, (parent, predicate) in enumerate(parents, 1)
    )
)


@settings(max_examples=examples(200), deadline=None)
@given(FORESTS, st.integers(0, 2**32))
def test_refinement_names_every_forest(lines: bytes, seed: int) -> None:
    twice = lines + lines.replace(b"_:t", b"_:u")
    document = refined(twice)
    assert document is not None
    assert refined(disguised(twice, seed)) == document


@settings(max_examples=examples(100), deadline=None)
@given(GRAPHS, st.integers(0, 2**32), st.integers(1, 2000))
def test_the_price_of_a_graph_does_not_depend_on_labels_or_order(lines: bytes, seed: int, ceiling: int) -> None:
    assert effort.is_within(surroundings(lines), ceiling) == effort.is_within(
        surroundings(disguised(lines, seed)), ceiling
    )


@settings(max_examples=examples(50), deadline=None)
@given(GRAPHS, st.integers(1, 1000))
def test_a_limit_decides_between_a_name_and_a_refusal_but_never_on_the_name(lines: bytes, limit: int) -> None:
    """Invariant of `documents.blank_nodes`: names do not depend on limits."""
    try:
        document = read(lines, Limits(effort=limit))
    except DocumentTooLarge:
        return
    assert document == read(lines)


def test_blank_nodes_that_a_literal_imitates_are_none() -> None:
    lines = b'<a:s> <a:p> "_:a <a:p> _:b ." .\n<a:s> <a:p> " _:x" .\n'
    assert read(lines).ntriples == b"".join(sorted(lines.splitlines(keepends=True)))


def test_one_blank_node_in_two_graphs_is_one() -> None:
    assert parse("<a:g> { _:x <a:p> 1 } <a:h> { _:x <a:q> 2 }", uri=URI) == parse("[ <a:p> 1 ; <a:q> 2 ] .", uri=URI)


# Graphs by name. What a publisher may well write has to pass; what only an attacker writes has to end in time.


def clique(size: int) -> Edges:
    return ((f"_:n{i}", "<a:p>", f"_:n{j}") for i in range(size) for j in range(size) if i != j)


def cycle(size: int) -> Edges:
    return ((f"_:n{i}", "<a:p>", f"_:n{(i + 1) % size}") for i in range(size))


def grid(size: int) -> Edges:
    for i in range(size):
        for j in range(size):
            yield f"_:n{i}x{j}", "<a:p>", f"_:n{(i + 1) % size}x{j}"
            yield f"_:n{i}x{j}", "<a:p>", f"_:n{i}x{(j + 1) % size}"


def bipartite(size: int) -> Edges:
    return ((f"_:l{i}", "<a:p>", f"_:r{j}") for i in range(size) for j in range(size))


def chain(size: int) -> Edges:
    return ((f"_:n{i}", "<a:p>", f"_:n{i + 1}") for i in range(size))


def same_children(size: int) -> Edges:
    return ((f"_:p{parent}", "<a:p>", f"_:p{parent}c{child}") for parent in range(3) for child in range(size))


def leaves(size: int) -> Edges:
    return (("<a:s>", "<a:p>", f"_:n{i}") for i in range(size))


def list_of(item: Callable[[int], str], size: int) -> Edges:
    for i in range(size):
        yield f"_:l{i}", "<a:first>", item(i)
        yield f"_:l{i}", "<a:rest>", f"_:l{i + 1}" if i + 1 < size else "<a:nil>"


def list_of_zeros(size: int) -> Edges:
    return list_of(lambda _: '"0"', size)


def list_of_pairs(size: int) -> Edges:
    yield from list_of(lambda i: f"_:pair{i}", size)
    for i in range(size):
        yield f"_:pair{i}", "<a:x>", f'"{i % 7}"'
        yield f"_:pair{i}", "<a:y>", f'"{i % 11}"'


def catalogue(size: int) -> Edges:
    for i in range(size):
        yield f"<a:dataset{i}>", "<a:distribution>", f"_:d{i}"
        yield f"_:d{i}", "<a:licence>", '"CC0"'
        yield f"<a:dataset{i}>", "<a:publisher>", f"_:p{i}"
        yield f"_:p{i}", "<a:address>", f"_:a{i}"
        yield f"_:a{i}", "<a:city>", '"Rome"'


def tree(size: int) -> Edges:
    return ((f"_:n{i // 2}", "<a:p>", f"_:n{i}") for i in range(2, size))


ORDINARY = [catalogue, leaves, list_of_zeros, list_of_pairs, same_children, chain, tree]


@pytest.mark.parametrize("graph", ORDINARY)
@pytest.mark.parametrize("size", [10, 120, 2000])
def test_ordinary_documents_are_named_soon_and_alike(graph: Callable[[int], Edges], size: int) -> None:
    lines = ntriples(graph(size))
    start = time.process_time()
    document = read(lines)
    assert time.process_time() - start < 2
    assert read(disguised(lines, size)) == document


@pytest.mark.parametrize(("graph", "size"), [(clique, 4), (clique, 6), (cycle, 60), (grid, 3), (bipartite, 4)])
def test_small_symmetric_documents_are_named_alike(graph: Callable[[int], Edges], size: int) -> None:
    lines = ntriples(graph(size))
    assert read(disguised(lines, size)) == read(lines)


HOSTILE = [*((clique, size) for size in range(8, 13)), (cycle, 1000), (cycle, 20_000), (grid, 20), (bipartite, 30)]


@pytest.mark.parametrize(("graph", "size"), HOSTILE)
def test_hostile_documents_are_refused_soon(graph: Callable[[int], Edges], size: int) -> None:
    lines = ntriples(graph(size))
    start = time.process_time()
    with pytest.raises(DocumentTooLarge, match=r"too symmetric .* raise Limits\(effort="):
        read(lines)
    assert time.process_time() - start < 3


def test_the_limit_can_be_lowered_and_raised() -> None:
    lines = ntriples(clique(7))
    with pytest.raises(DocumentTooLarge):
        read(lines, Limits(effort=100_000))
    assert len(read(lines, Limits(effort=2_000_000))) == 42
    with pytest.raises(DocumentTooLarge):
        read(ntriples(clique(4)), Limits(effort=10))
