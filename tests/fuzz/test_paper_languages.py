"""Any text at all: a language gives a pattern, or one of the project's own errors."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts.examples import EXAMPLES

from effort import examples
from triplewire.algebra.pattern import Pattern
from triplewire.errors import QueryError, UnsupportedQuery
from triplewire.languages import compile, render
from triplewire.languages.context import Context
from triplewire.languages.rules import compile_rules

LANGUAGES = ("rules", "gql", "qel", "conjunctive")
_TEXTS = {name: sorted({e.text for e in EXAMPLES if e.language == name}) for name in LANGUAGES}
_PIECES = (
    *("search", "register", "where", "select", "suchthat", "union", "member", "and", "or", "not", "contains", "isa"),
    *(
        "(",
        ")",
        ",",
        ".",
        "?",
        ":",
        ";",
        ":-",
        "^",
        "^^",
        "∧",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "*",
        "@en",
        "&",
        "|",
        "!",
    ),
    *(
        "c",
        "X",
        "?x",
        "p",
        "dc:date",
        "no:where",
        "<urn:a>",
        "<",
        "'",
        '"',
        "'text'",
        "\\u",
        "5",
        "1e999",
        "\n",
        "\ud800",
        "·",
    ),
)


def _check(text: str, language: str) -> None:
    with suppress(QueryError):
        pattern = compile(text, language=language)
        assert isinstance(pattern, Pattern)
        with suppress(UnsupportedQuery):
            assert compile(render(pattern, language=language), language=language) == pattern


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(st.characters(), max_size=60))
def test_random_characters_give_a_pattern_or_an_error_of_ours(language: str, text: str) -> None:
    _check(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=30), glue=st.sampled_from(["", " "]))
def test_random_words_give_a_pattern_or_an_error_of_ours(language: str, pieces: list[str], glue: str) -> None:
    _check(glue.join(pieces), language)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=examples(200))
@given(seed=st.integers(0, 2**32))
def test_mutated_examples_give_a_pattern_or_an_error_of_ours(language: str, seed: int) -> None:
    """Most mutants are nearly right, so they reach further in than random text."""
    chance = random.Random(seed)
    text = chance.choice(_TEXTS[language])
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        piece = chance.choice((*_PIECES, text[place : place + 10]))
        text = text[:place] + piece + text[place + chance.choice((0, 0, 1, len(piece))) :]
    _check(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("piece", ["(", "not ", "c.p.", "?x, ", "'", "search A c, ", "(X, p, Y) and ", "?x = 1 or "])
def test_long_repetitions_neither_overflow_the_stack_nor_hang(language: str, piece: str) -> None:
    _check(piece * (99_000 // len(piece)), language)


@given(
    pieces=st.lists(
        st.sampled_from((*_PIECES, "search A c register c", "One:", "search One d register d")), max_size=12
    )
)
def test_random_rulebooks_give_patterns_or_an_error_of_ours(pieces: list[str]) -> None:
    with suppress(QueryError):
        assert all(isinstance(pattern, Pattern) for pattern in compile_rules(" ".join(pieces), Context()).values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prefix_of_an_example_is_told_where_it_stops(language: str) -> None:
    errors = [_error(text[:end], language) for text in _TEXTS[language] for end in range(len(text))]
    told = [error for error in errors if error is not None]
    assert told
    assert all(error.line is not None and error.column is not None and error.hint for error in told)


def _error(text: str, language: str) -> QueryError | None:
    try:
        compile(text, language=language)
    except QueryError as error:
        return error
    return None
