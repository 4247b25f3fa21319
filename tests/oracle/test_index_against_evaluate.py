"""Agreement with recomputation from scratch, and agreement of implementations, kept apart.

`evaluate` is the definition, so agreement with it is correctness. pyoxigraph is another implementation of what SPARQL
can say: agreement with it guards the definition itself. The first would not notice a mistake that `evaluate` and the
index share (they share the expressions); the second would not notice one outside SPARQL (loose comparisons, is-a).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad, Store, Triple

from effort import examples
from strategies import graphs, iri, patterns, taxonomies
from triplewire import Index, UnsupportedQuery, compile, evaluate, normalize, render
from triplewire.algebra.pattern import Call, Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import XSD, Document

relaxed = settings(
    deadline=None, max_examples=examples(80), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def as_set(rows):
    return {frozenset(row.items()) for row in rows}


FILLER = [Triple(iri(f"filler{i}"), iri("filler"), iri(f"filler{i + 1}")) for i in range(30)]
"""Makes a document large enough for what the kernel does only for large ones."""


def document_of(graph: list[Triple]) -> Document:
    return Document.from_triples("urn:example:document", graph)


def assert_agreement(index: Index, wanted: dict[str, Pattern], documents: list[Document], taxonomy: Taxonomy) -> None:
    documents = [*documents, document_of([*documents[0].triples, *FILLER])]
    for document, matches in zip(documents, index.match_many(documents), strict=True):
        assert not matches.errors
        found = {match.subscription: as_set(match.rows) for match in matches}
        expected = {id: as_set(evaluate(p, document.triples, taxonomy)) for id, p in wanted.items()}
        assert found == {id: rows for id, rows in expected.items() if rows}
        assert index.match(document) == matches


@relaxed
@given(st.lists(patterns(), min_size=1, max_size=12), st.lists(graphs, min_size=1, max_size=4), taxonomies())
def test_the_index_finds_exactly_the_rows_of_evaluate(subscriptions, data, taxonomy):
    """G2, G3, X1: many patterns at once mean what each means alone."""
    index = Index(taxonomy)
    wanted = {f"s{i}": pattern for i, pattern in enumerate(subscriptions)}
    for id, pattern in wanted.items():
        index.add(id, pattern)
    assert_agreement(index, wanted, [document_of(graph) for graph in data], taxonomy)


@relaxed
@given(st.data(), st.lists(patterns(), min_size=2, max_size=8), taxonomies())
def test_any_history_of_adding_removing_saving_and_loading_leaves_the_index_exact(
    tmp_path_factory, data, pool, taxonomy
):
    index, wanted = Index(taxonomy), {}
    path = tmp_path_factory.mktemp("index") / "saved.index"
    for step in range(data.draw(st.integers(2, 14))):
        action = data.draw(st.sampled_from(["add", "add", "remove", "save"]))
        if action == "add":
            id, pattern = f"s{step}", data.draw(st.sampled_from(pool))
            index.add(id, pattern)
            wanted[id] = pattern
        elif action == "remove" and wanted:
            id = data.draw(st.sampled_from(sorted(wanted)))
            index.remove(id)
            del wanted[id]
        elif action == "save":
            index.save(path)
            index = Index.load(path, verify=True)
    assert len(index) == len(wanted)
    assert sorted(index) == sorted(wanted)
    assert_agreement(index, wanted, [document_of(data.draw(graphs)) for _ in range(2)], taxonomy)


@relaxed
@given(patterns(), graphs, taxonomies())
def test_the_normal_form_means_the_same(pattern, graph, taxonomy):
    """N6: normalisation changes no answer."""
    assert as_set(evaluate(normalize(pattern), graph, taxonomy)) == as_set(evaluate(pattern, graph, taxonomy))


@relaxed
@given(patterns())
def test_normalizing_twice_changes_nothing(pattern):
    once = normalize(pattern)
    again = normalize(Pattern(once.answer, once.branches))
    assert again == once


@relaxed
@given(patterns(), taxonomies())
def test_the_index_gives_back_the_pattern_that_was_added(pattern, taxonomy):
    index = Index(taxonomy)
    index.add("one", pattern)
    assert index.pattern("one") == normalize(pattern)
    index.explain("one")


@relaxed
@given(patterns(), graphs)
def test_pyoxigraph_agrees_where_sparql_can_say_it(pattern, graph):
    """X1: SPARQL is printed from the pattern, run by pyoxigraph, and compared with the index."""
    try:
        text = render(normalize(pattern), language="sparql")
    except UnsupportedQuery:
        return
    if "subClassOf" in text or "subPropertyOf" in text:
        return  # pyoxigraph has no taxonomy but the data's
    graph = [triple for triple in graph if _is_common_ground(triple.object)]
    parts = list(_parts(normalize(pattern)))
    if not all(_is_common_ground(part) for part in parts) or any(_is_disputed_order(part) for part in parts):
        return
    document = document_of(graph)
    store = Store()
    store.bulk_extend([_quad(triple) for triple in document.triples])
    answer = store.query(text)
    index = Index()
    index.add("one", pattern)
    rows = [row for match in index.match(document) for row in match.rows]
    if not normalize(pattern).answer:
        assert bool(rows) == bool(answer)
        return
    names = [v.value for v in answer.variables]
    expected = [{n: s[n] for n in names if s[n] is not None} for s in answer]
    assert as_set(rows) == as_set(expected)
    assert compile(text, language="sparql") == normalize(pattern)


_COMMON_TYPES = tuple(f"{XSD}{name}" for name in ("string", "integer", "decimal", "double"))


def _is_common_ground(term) -> bool:
    """False for literals that pyoxigraph's store respells (02 becomes 2) or orders otherwise (booleans, NaN, dates)."""
    if not isinstance(term, Literal) or term.language:
        return True
    if term.datatype.value not in _COMMON_TYPES or term.value in ("NaN", "INF", "-INF"):
        return False
    store = Store()
    store.add(Quad(iri("s"), iri("p"), term))
    return next(iter(store)).object == term and term.value.strip() == term.value


def _is_disputed_order(part) -> bool:
    """pyoxigraph says that `x <= x` for any term; SPARQL has no order but on numbers, strings and the like."""
    if not isinstance(part, Call) or part.function not in ("<", "<=", ">", ">="):
        return False
    constant = part.arguments[1]
    return not isinstance(constant, Literal) or constant.language is not None


def _parts(pattern: Pattern):
    """Every node and expression of a pattern."""
    for branch in pattern.branches:
        yield from (term for _, term in branch.bindings)
        for part in (branch, *branch.optionals):
            yield from (node for triple in part.triples for node in triple)
            pending = list(part.conditions)
            while pending:
                expression = pending.pop()
                pending += expression.arguments if isinstance(expression, Call) else ()
                yield expression


def _quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(800), suppress_health_check=list(HealthCheck))
@given(st.lists(patterns(3, 5, 4), min_size=1, max_size=30), st.lists(graphs, min_size=1, max_size=6), taxonomies())
def test_the_index_finds_exactly_the_rows_of_evaluate_at_length(subscriptions, data, taxonomy):
    index = Index(taxonomy)
    wanted = {f"s{i}": pattern for i, pattern in enumerate(subscriptions)}
    for id, pattern in wanted.items():
        index.add(id, pattern)
    assert_agreement(index, wanted, [document_of(graph) for graph in data], taxonomy)
