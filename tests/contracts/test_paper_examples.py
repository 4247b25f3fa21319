"""The papers' worked examples, evaluated from scratch; the index runs the same list in its own contract test."""

from __future__ import annotations

import pytest
from tests.contracts.examples import EQUIVALENT, EXAMPLES, MDV, RULE_D, RULE_F, RULEBOOK, SECTION_331, Example

from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.languages import compile, render
from triplewire.languages.context import Context
from triplewire.languages.rules import compile_rules

_BY_ID = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)


def pattern_of(example: Example) -> Pattern:
    """The example's pattern."""
    named = compile_rules(example.rulebook, Context(prefixes=example.prefixes)) if example.rulebook else {}
    return compile(example.text, language=example.language, prefixes=example.prefixes, named=named)


def found(pattern: Pattern, example: Example) -> set[frozenset[tuple[str, str]]]:
    """The rows of a pattern over the example's document."""
    taxonomy = Taxonomy.from_triples(example.taxonomy.triples()) if example.taxonomy else EMPTY
    rows = evaluate(pattern, example.source.triples(), taxonomy)
    return {frozenset((name, str(term)) for name, term in row.items()) for row in rows}


@_BY_ID
def test_example_has_the_rows_that_its_paper_gives(example: Example) -> None:
    """M3, G1, G3, G7, P1, S2."""
    assert found(pattern_of(example), example) == {frozenset(row.items()) for row in example.rows}


@_BY_ID
def test_example_is_printed_back_with_the_same_meaning(example: Example) -> None:
    pattern = pattern_of(example)
    text = render(pattern, language=example.language, prefixes=example.prefixes)
    assert compile(text, language=example.language, prefixes=example.prefixes) == pattern


@pytest.mark.parametrize("group", EQUIVALENT.values(), ids=EQUIVALENT)
def test_equivalent_queries_of_different_languages_are_one_pattern(group: tuple[tuple[str, str], ...]) -> None:
    """N6."""
    patterns = {compile(text, language=language, prefixes={"": MDV}) for language, text in group}
    assert len(patterns) == 1


def test_rule_of_section_331_is_the_rule_of_its_atomic_rules() -> None:
    """M5: the decomposition loses nothing."""
    named = compile_rules(RULEBOOK, Context(prefixes={"": MDV}))
    whole = compile(SECTION_331, language="rules", prefixes={"": MDV})
    for text in (RULE_D, RULE_F):
        assert compile(text, language="rules", prefixes={"": MDV}, named=named) == whole
