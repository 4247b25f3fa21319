"""Sorts of terms: inside one sort a comparison is a plain order, an identity, or always the same outcome.

SPARQL's comparisons look at the types of both sides, so what `?x > 5` says depends on what ?x is. Reasoning goes
through the sorts one by one; every term has exactly one. Exact numbers, doubles and floats are apart because a
comparison between them rounds, and rounding breaks transitivity: 2**53 + 1 equals the double 2**53, that equals 2**53.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.algebra.values import loose_number, typed
from triplewire.model import Term
from triplewire.model.numbers import Single


class Sort(StrEnum):
    """Where a term stands in comparisons."""

    IRI = "iri"
    BLANK = "blank node"
    STRING = "string"
    TAGGED = "text with a language"
    EXACT = "integer or decimal"
    DOUBLE = "double"
    SINGLE = "float"
    NAN = "not a number"
    TRUE = "true"
    FALSE = "false"
    ZONED_TIME = "time with a zone"
    LOCAL_TIME = "time without a zone"
    ZONED_DATE = "date with a zone"
    LOCAL_DATE = "date without a zone"
    OTHER = "literal of another type"


ANY = frozenset(Sort)
RESOURCES = frozenset([Sort.IRI, Sort.BLANK])
NUMBERS = frozenset([Sort.EXACT, Sort.DOUBLE, Sort.SINGLE, Sort.NAN])
TIMES = frozenset([Sort.ZONED_TIME, Sort.LOCAL_TIME])
DATES = frozenset([Sort.ZONED_DATE, Sort.LOCAL_DATE])
BOOLEANS = frozenset([Sort.TRUE, Sort.FALSE])
BY_IDENTITY = frozenset([Sort.IRI, Sort.BLANK, Sort.STRING, Sort.TAGGED, Sort.OTHER])
"""The sorts in which `=` is true of a term and itself, and of no other pair."""
BY_TEXT = frozenset([Sort.IRI, Sort.STRING])
"""The sorts in which the text is the whole term."""

_WHITE, _DIGITS = " \t\r\n", "0123456789"
NUMERALS = frozenset(_DIGITS + "+-.eE" + _WHITE)
"""The characters of a text that looks like a number."""

ALPHABETS: dict[Sort, frozenset[str]] = {
    sort: frozenset(characters + _WHITE)
    for sort, characters in {
        Sort.EXACT: _DIGITS + "+-.",
        Sort.DOUBLE: _DIGITS + "+-.eEINF",
        Sort.SINGLE: _DIGITS + "+-.eEINF",
        Sort.NAN: "Na",
        Sort.TRUE: "true1",
        Sort.FALSE: "false0",
        **dict.fromkeys(TIMES, _DIGITS + "+-:.TZ"),
        **dict.fromkeys(DATES, _DIGITS + "+-:Z"),
    }.items()
}
"""The characters of a term's text, for the sorts whose texts are not free."""

_NEVER_NUMERIC = RESOURCES | TIMES | DATES | {Sort.NAN}


class TermKind(NamedTuple):
    """The sort of a term, and whether its text looks like a number (None where nobody asks)."""

    sort: Sort
    numeric: bool | None


def sort_of(term: Term) -> Sort:
    """The sort of a term."""
    if isinstance(term, NamedNode):
        return Sort.IRI
    if isinstance(term, BlankNode):
        return Sort.BLANK
    known = typed(term)
    if known is None:
        return Sort.OTHER if term.language is None else Sort.TAGGED
    name, value = known
    if name == "string":
        return Sort.STRING
    if name == "boolean":
        return Sort.TRUE if value else Sort.FALSE
    if name == "number":
        return _number_sort(value)
    zoned = value[1]
    if name == "time":
        return Sort.ZONED_TIME if zoned else Sort.LOCAL_TIME
    return Sort.ZONED_DATE if zoned else Sort.LOCAL_DATE


def _number_sort(value: object) -> Sort:
    if value != value:
        return Sort.NAN
    if isinstance(value, Single):
        return Sort.SINGLE
    return Sort.DOUBLE if isinstance(value, float) else Sort.EXACT


def kind_of(term: Term) -> TermKind:
    """The kind of a term."""
    looks = isinstance(term, Literal | NamedNode) and loose_number(term.value) is not None
    return TermKind(sort_of(term), looks)


def kinds_of(sort: Sort, *, asked: bool) -> list[TermKind]:
    """The kinds that a sort has, apart by how the text looks only if `asked`."""
    if not asked:
        return [TermKind(sort, None)]
    if sort in _NEVER_NUMERIC:
        return [TermKind(sort, False)]
    return [TermKind(sort, True)] if sort is Sort.EXACT else [TermKind(sort, True), TermKind(sort, False)]
