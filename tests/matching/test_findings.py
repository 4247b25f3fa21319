"""Findings say what matches say, spelled out or by numbers, and with a derivation."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import documents, patterns
from triplewire import Index, compile, parse
from triplewire.algebra.evaluate import Graph, solutions
from triplewire.matching.pages import page_of
from triplewire.model import parse_term, parse_triple

TWO_NAMES = """
    <urn:1> <urn:p> <urn:2> .
    <urn:2> <urn:name> "n", "m" ; <urn:kind> "x" .
"""


def index_of(*texts):
    index = Index()
    for number, text in enumerate(texts):
        index.add(str(number), compile(text, language="sparql"))
    return index


def numbered(document):
    """The document as a page, and the terms by number."""
    triples = [tuple(map(str, (t.subject, t.predicate, t.object))) for t in document.triples]
    texts = dict(enumerate(sorted({text for triple in triples for text in triple}), 1))
    numbers = {text: number for number, text in texts.items()}
    written = [tuple(numbers[text] for text in triple) for triple in triples]
    page = page_of(written, lambda terms: [texts[term] for term in terms], lambda text: numbers.get(text, -1))
    return page, texts


def test_a_finding_has_the_row_in_the_order_of_the_answer():
    index = index_of("SELECT ?n ?s { ?s <urn:p> ?o . ?o <urn:name> ?n }")
    (found,) = index.find([parse(TWO_NAMES, uri="urn:d")])
    assert sorted(finding.row for finding in found.findings) == [('"m"', "<urn:1>"), ('"n"', "<urn:1>")]


def test_a_finding_has_the_triples_that_made_its_row():
    index = index_of('SELECT ?s { ?s <urn:p> ?o . ?o <urn:kind> "x" }')
    (found,) = index.find([parse(TWO_NAMES, uri="urn:d")])
    (finding,) = found.findings
    assert set(finding.triples) == {("<urn:1>", "<urn:p>", "<urn:2>"), ("<urn:2>", "<urn:kind>", '"x"')}


def test_an_optional_column_without_value_is_none_or_zero():
    index = index_of("SELECT ?s ?z { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?z } }")
    document = parse(TWO_NAMES, uri="urn:d")
    (found,) = index.find([document])
    page, texts = numbered(document)
    assert [finding.row for finding in found.findings] == [("<urn:1>", None)]
    ((_, (subject, nothing), _),), _ = index.find_in(page)
    assert (texts[subject], nothing) == ("<urn:1>", 0)


def test_a_constant_that_stands_in_no_triple_is_numbered_by_whoever_asks():
    index = index_of("SELECT ?c ?s { VALUES ?c { <urn:c> } ?s <urn:p> ?o }")
    page, texts = numbered(parse(TWO_NAMES, uri="urn:d"))
    (((_, (constant, subject), _),), _) = index.find_in(page)
    assert (constant, texts[subject]) == (-1, "<urn:1>")


def test_fitting_tells_every_triple_that_fits_an_atom():
    index = index_of("SELECT ?s ?n { ?s <urn:name> ?n }", 'SELECT ?s { ?s <urn:kind> "x" }')
    page, texts = numbered(parse(TWO_NAMES, uri="urn:d"))
    told = sorted((id, tuple(texts[number] for number in triple)) for id, triple in index.fitting(page))
    assert told == [
        ("0", ("<urn:2>", "<urn:name>", '"m"')),
        ("0", ("<urn:2>", "<urn:name>", '"n"')),
        ("1", ("<urn:2>", "<urn:kind>", '"x"')),
    ]


@given(patterns(), documents)
def test_findings_are_the_rows_of_matches_and_derivations_are_solutions(pattern, document):
    index = Index()
    index.add("one", pattern)
    (found,) = index.find([document])
    rows = {frozenset(row.items()) for match in index.match(document) for row in match.rows}
    told = {_row(index, finding.row) for finding in found.findings}
    assert told == rows
    graph = Graph(document.triples)
    stated = {*document.triples}
    for finding in found.findings:
        made = {parse_triple(*triple) for triple in finding.triples}
        assert made <= stated
        assert any(
            next(solutions(branch, Graph(made), index.taxonomy), None) is not None
            for branch in index.pattern("one").branches
            if len(branch.triples) >= len(made)
        ), graph


@given(patterns(), documents)
def test_findings_by_numbers_are_the_spelled_ones(pattern, document):
    index = Index()
    index.add("one", pattern)
    (found,) = index.find([document])
    page, texts = numbered(document)
    by_number, _ = index.find_in(page)
    known = set(texts.values())
    spelled = {tuple(text if text in known or text is None else "?" for text in f.row) for f in found.findings}
    assert {tuple(texts.get(number, "?") if number else None for number in f.row) for f in by_number} == spelled


def _row(index, row):
    answer = index.pattern("one").answer
    return frozenset((name, parse_term(text)) for name, text in zip(answer, row, strict=True) if text is not None)


@settings(deadline=None)
@given(st.lists(patterns(), min_size=1, max_size=4), st.lists(documents, max_size=3))
def test_answers_are_the_distinct_rows_of_matches(wanted, batch):
    index = Index()
    for number, pattern in enumerate(wanted):
        index.add(str(number), pattern)
    for matches, answers in zip(index.match_many(batch), index.answer(batch), strict=True):
        given = [
            (id, frozenset((name, term) for name, term in zip(names, row, strict=True) if term is not None))
            for id, names, row in answers.rows
        ]
        assert len(set(given)) == len(given)
        assert set(given) == {
            (match.subscription, frozenset((name, str(term)) for name, term in row.items()))
            for match in matches
            for row in match.rows
        }
