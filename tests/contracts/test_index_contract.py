"""The same examples through every engine: the index and the naive loop give what the papers say.

`Naive` is the do-nothing baseline of the contract: each subscription evaluated on its own.
"""

from __future__ import annotations

import pytest
from tests.contracts.examples import EQUIVALENT, EXAMPLES, MDV
from tests.contracts.test_paper_examples import pattern_of

from triplewire import Index, Pattern, Taxonomy, compile, evaluate
from triplewire.model import Document


class Naive:
    """Every subscription by itself, as `evaluate` says."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._patterns: dict[str, Pattern] = {}

    def add(self, id: str, pattern: Pattern) -> None:
        self._patterns[id] = pattern

    def rows(self, id: str, document: Document) -> list:
        return evaluate(self._patterns[id], document.triples, self._taxonomy)


class Shared:
    """The index, asked for one subscription among all."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._index = Index(taxonomy)
        self.add = self._index.add

    def rows(self, id: str, document: Document) -> list:
        found = {match.subscription: match.rows for match in self._index.match(document)}
        return found.get(id, [])


def spelled(rows) -> set:
    return {frozenset((name, str(term)) for name, term in row.items()) for row in rows}


@pytest.mark.parametrize("engine", [Naive, Shared])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_every_engine_finds_the_rows_of_the_papers_examples(engine, example):
    """M3, G1, G2, G3, P1, S2: all examples of one taxonomy are subscribed to at once; each finds its own rows."""
    taxonomy = Taxonomy.from_triples(example.taxonomy.triples()) if example.taxonomy else Taxonomy()
    subject = engine(taxonomy)
    for other in EXAMPLES:
        if other.taxonomy == example.taxonomy:
            subject.add(other.id, pattern_of(other))
    document = Document.from_triples(example.source.uri, example.source.triples())
    expected = {frozenset(row.items()) for row in example.rows}
    assert spelled(subject.rows(example.id, document)) == expected


@pytest.mark.parametrize("group", EQUIVALENT)
def test_equivalent_examples_are_one_record(group):
    """N6, M5: what is written in several languages is evaluated once."""
    index = Index()
    for number, (language, text) in enumerate(EQUIVALENT[group]):
        index.add(str(number), compile(text, language=language, prefixes={"": MDV}))
    for id in index:
        assert [branch.equal for branch in index.explain(id).branches] == [len(index)] * len(index.explain(id).branches)
