"""Comparisons of values: SPARQL's, checked against pyoxigraph, and the papers' looser ones."""

from __future__ import annotations

import operator as operators

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Store

from effort import examples
from strategies import LITERALS, iri, typed
from triplewire.algebra.values import (
    XSD_BOOLEAN,
    Incomparable,
    compare,
    compare_loosely,
    is_string,
    loose_number,
    text_of,
)
from triplewire.model.numbers import LONGEST_NUMBER, Single, number

OPERATORS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
STORE = Store()


def outcome(operator: str, left, right) -> bool | None:
    """True, false, or None for an error."""
    try:
        return compare(operator, left, right)
    except Incomparable:
        return None


def oxigraph(operator: str, left, right) -> bool | None:
    """What pyoxigraph says to the same comparison."""
    (row,) = STORE.query(f"SELECT ({left} {operator} {right} AS ?outcome) {{}}")
    return None if row["outcome"] is None else row["outcome"].value == "true"


_whole = st.integers(-(2**60), 2**60)
_small = st.integers(-3, 3)
_decimals = st.decimals(-1000, 1000, places=3).map(lambda d: format(d, "f"))
_floats = st.floats(width=32, allow_nan=False).map(lambda f: {"inf": "INF", "-inf": "-INF"}.get(repr(f), repr(f)))
_zones = st.sampled_from(["", "Z", "+02:00", "-05:00", "+14:00"])
_days = st.builds("2020-{:02}-{:02}".format, st.integers(1, 3), st.integers(1, 30))
_moments = st.builds(
    "{}T{:02}:{:02}:00{}".format, _days, st.integers(0, 24), st.sampled_from([0, 30]), st.sampled_from(["", ".5"])
)
_words = st.text("abé1 ", max_size=3)


def _of(text: st.SearchStrategy[object], *datatypes: str) -> st.SearchStrategy[Literal]:
    return st.builds(lambda t, d: typed(str(t), d), text, st.sampled_from(datatypes))


NUMBERS = st.one_of(
    _of(st.one_of(_small, _whole), "integer", "long", "decimal"),
    _of(_small, "integer", "byte", "nonNegativeInteger", "double", "float", "decimal"),
    _of(_decimals, "decimal", "double", "float"),
    _of(_floats, "double", "float"),
)
KNOWN = st.one_of(
    NUMBERS,
    st.builds(Literal, _words),
    _of(st.sampled_from(["true", "false", "1", "0"]), "boolean"),
    _of(st.builds("{}{}".format, _moments, _zones), "dateTime"),
    _of(st.builds("{}{}".format, _days, _zones), "date"),
)
ODD = st.one_of(
    st.builds(lambda text, tag: Literal(text, language=tag), _words, st.sampled_from(["en", "fr"])),
    _of(_words, "integer", "boolean", "dateTime"),
    st.builds(lambda text: Literal(text, datatype=iri("type")), _words),
    st.sampled_from([iri("n1"), iri("n2")]),
)


def _is_known(term) -> bool:
    """True for a value of a type that has an order, valid in it."""
    return outcome("<=", term, term) is not None


@settings(max_examples=examples(600), deadline=None)
@given(st.sampled_from([*OPERATORS]), KNOWN, KNOWN)
def test_values_of_known_types_compare_as_in_pyoxigraph(operator, left, right):
    """Except for the order of booleans, which SPARQL has and pyoxigraph has not."""
    assume(_is_known(left) and _is_known(right))
    assume(operator in ("=", "!=") or not left.datatype == right.datatype == XSD_BOOLEAN)
    assert outcome(operator, left, right) == oxigraph(operator, left, right)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(["=", "!="]), st.one_of(KNOWN, ODD), st.one_of(KNOWN, ODD))
def test_where_both_decide_about_equality_they_decide_the_same(operator, left, right):
    """Of types that it does not know pyoxigraph sometimes knows more, so only its errors may differ from ours."""
    ours, theirs = outcome(operator, left, right), oxigraph(operator, left, right)
    assert ours == theirs or ours is None or theirs is None


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(["<", "<=", ">", ">="]), ODD, st.one_of(KNOWN, ODD))
def test_what_has_no_order_is_an_error(operator, left, right):
    assume(not _is_known(left))
    assert outcome(operator, left, right) is None
    assert outcome(operator, right, left) is None


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(KNOWN, ODD), st.one_of(KNOWN, ODD))
def test_comparisons_of_one_pair_agree_with_each_other(left, right):
    """`!=` is the opposite of `=`, turning a comparison round changes nothing, and one of three holds."""
    outcomes = {operator: outcome(operator, left, right) for operator in OPERATORS}
    assert outcomes["!="] == (None if outcomes["="] is None else not outcomes["="])
    for operator, turned in (("<", ">"), ("<=", ">="), ("=", "=")):
        assert outcomes[operator] == outcome(turned, right, left)
    if outcomes["<"] is not None:
        assert outcomes["<"] + outcomes[">"] + bool(outcomes["="]) == 1
        assert outcomes["<="] == (outcomes["<"] or outcomes["="])


def test_not_a_number_is_unlike_anything_also_itself():
    nan = typed("NaN", "double")
    assert {o: outcome(o, nan, nan) for o in OPERATORS} == {**dict.fromkeys(OPERATORS, False), "!=": True}
    assert outcome("<", nan, typed("1", "integer")) is False


def test_false_is_before_true():
    assert outcome("<", typed("false", "boolean"), typed("1", "boolean")) is True
    assert outcome("<=", typed("true", "boolean"), typed("0", "boolean")) is False


def test_a_float_rounds_what_it_is_compared_with():
    assert outcome("=", typed("0.1", "float"), typed("0.1", "decimal")) is True
    assert outcome("=", typed("0.1", "float"), typed("0.1", "double")) is False
    assert outcome("=", typed("9007199254740993", "integer"), typed("9007199254740992", "double")) is True
    assert outcome("=", typed("9007199254740993", "integer"), typed("9007199254740992", "integer")) is False


def test_numbers_too_big_for_a_double_are_infinite_there():
    assert outcome("=", typed("1" + "0" * 400, "integer"), typed("INF", "double")) is True
    assert outcome("<", typed("-1" + "0" * 400, "integer"), typed("1", "float")) is True
    assert Single("1e300") == float("inf")


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("abc", "integer"),
        ("1.5", "integer"),
        ("1e2", "decimal"),
        ("300", "byte"),
        ("-1", "unsignedInt"),
        ("", "double"),
    ],
)
def test_ill_typed_numbers_are_not_numbers(text, datatype):
    assert number(typed(text, datatype)) is None


def test_numbers_with_absurdly_many_digits_are_not_read():
    for datatype in ("integer", "decimal"):
        assert number(typed("1" * LONGEST_NUMBER, datatype)) is not None
        assert number(typed("1" * (LONGEST_NUMBER + 1), datatype)) is None
    assert loose_number("1" * (LONGEST_NUMBER + 1)) is None


def test_white_space_around_a_value_does_not_count():
    assert outcome("=", typed(" 5 ", "integer"), typed("5.0", "decimal")) is True


def test_times_compare_as_moments_whatever_their_zone():
    assert (
        outcome("=", typed("2020-01-01T12:00:00+02:00", "dateTime"), typed("2020-01-01T10:00:00Z", "dateTime")) is True
    )
    assert outcome("=", typed("2020-01-01T24:00:00Z", "dateTime"), typed("2020-01-02T00:00:00Z", "dateTime")) is True
    assert (
        outcome("<", typed("2020-01-01T00:00:00.25Z", "dateTime"), typed("2020-01-01T00:00:00.5Z", "dateTime")) is True
    )


def test_days_begin_where_their_zone_says():
    assert outcome("<", typed("2020-01-01+10:00", "date"), typed("2020-01-01+02:00", "date")) is True
    assert outcome("=", typed("2020-01-01Z", "date"), typed("2020-01-01+00:00", "date")) is True


def test_without_a_zone_on_one_side_only_what_holds_in_every_zone_is_decided():
    local, near, far = (
        typed(text, "dateTime") for text in ("2020-01-02T00:00:00", "2020-01-02T14:00:00Z", "2020-01-02T14:00:00.1Z")
    )
    assert outcome("<", local, near) is None
    assert outcome("<", local, far) is True
    assert outcome("=", local, near) is False


@pytest.mark.parametrize("text", ["2020-02-30T00:00:00Z", "2020-01-01T25:00:00Z", "2020-01-01", "0000-01-01T00:00:00Z"])
def test_moments_that_are_none_have_no_order(text):
    assert outcome("<", typed(text, "dateTime"), typed("2020-01-01T00:00:00Z", "dateTime")) is None


def test_values_of_unknown_types_are_equal_to_themselves_and_else_an_error():
    one, two = (Literal(text, datatype=iri("type")) for text in "12")
    assert outcome("=", one, one) is True
    assert outcome("=", one, two) is None
    assert outcome("!=", one, two) is None
    assert outcome("=", one, NamedNode("http://example.org/1")) is False


LOOSELY = [
    ("=", "5", "5.0", True),
    ("<", "9", "10", True),
    ("<", "nine", "ten", True),
    (">", " 1e3 ", "999.5", True),
    ("=", "5", "five", False),
    ("!=", "5", "five", True),
    ("<", "5", "five", None),
    ("<", "INF", "5", None),
    ("=", "", "", True),
]


@pytest.mark.parametrize(("operator", "left", "right", "expected"), LOOSELY)
def test_text_that_looks_like_a_number_compares_as_one(operator, left, right, expected):
    """M3, G1, P1: the papers compare what is written, whatever its type."""
    for first in (Literal(left), Literal(left, language="en"), Literal(left, datatype=iri("type"))):
        try:
            found = compare_loosely(operator, first, Literal(right))
        except Incomparable:
            found = None
        assert found is expected


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from([*OPERATORS]), st.decimals(-99, 99, places=2), st.decimals(-99, 99, places=2))
def test_loose_numbers_are_exact(operator, left, right):
    found = compare_loosely(operator, Literal(format(left, "f")), Literal(format(right, "f")))
    assert found is OPERATORS[operator](left, right)


def test_a_blank_node_has_no_text():
    with pytest.raises(Incomparable):
        text_of(BlankNode("b"))
    with pytest.raises(Incomparable):
        compare_loosely("=", BlankNode("b"), BlankNode("b"))
    assert text_of(iri("n1")) == iri("n1").value


def test_strings_are_plain_or_have_a_language():
    assert [
        is_string(term) for term in (Literal("a"), Literal("a", language="en"), typed("1", "integer"), iri("n1"))
    ] == [
        True,
        True,
        False,
        False,
    ]


def test_every_literal_of_the_strategies_compares_with_every_other_without_a_crash():
    for operator in OPERATORS:
        for left in LITERALS:
            for right in LITERALS:
                assert outcome(operator, left, right) in (True, False, None)
