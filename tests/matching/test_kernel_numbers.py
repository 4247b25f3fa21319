"""The kernel's numbers against exact arithmetic: what it calls exact is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from effort import examples
from triplewire.algebra.canonical import is_simple_number
from triplewire.algebra.values import loose_number
from triplewire.matching.kernel.numbers import LOOSE, LOOSE_EXACT, STRICT, STRICT_EXACT, read_number
from triplewire.model import XSD
from triplewire.model.numbers import number

texts = st.one_of(
    st.from_regex(r"\A[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,4})?\Z"),
    st.from_regex(r"\A0{0,20}[0-9]{1,5}(\.[0-9]{1,3}0{0,25})?\Z"),
    st.text("0123456789+-.eE INFNaN", max_size=12),
)
types = st.sampled_from(["", "integer", "decimal", "double", "float", "byte", "gYear", "string"])


def read(literal: Literal) -> tuple[int, float]:
    spelled = str(literal).encode()
    quote = spelled.rindex(b'"')
    return read_number(np.frombuffer(spelled, dtype=np.uint8), 1, quote, quote + 1, len(spelled))


@settings(deadline=None, max_examples=examples(800))
@given(texts, types)
def test_the_kernel_reads_numbers_as_exact_arithmetic_does(text, kind):
    literal = Literal(text, datatype=NamedNode(XSD + kind)) if kind else Literal(text)
    state, value = read(literal)
    loose = loose_number(literal.value)
    assert bool(state & LOOSE) == (loose is not None)
    if loose is not None and state & LOOSE_EXACT:
        assert value == float(loose)
        assert is_simple_number(literal.value) or loose == 0 or abs(loose.adjusted()) > 15
    strict = number(literal)
    if strict is not None and strict == strict:
        assert state & STRICT
    if state & STRICT_EXACT:
        assert strict is not None
        assert value == float(strict)


@settings(deadline=None, max_examples=examples(400))
@given(texts, texts)
def test_two_exact_readings_compare_as_the_decimals_do(first, second):
    a, b = loose_number(first), loose_number(second)
    (state_a, x), (state_b, y) = read(Literal(first)), read(Literal(second))
    if a is None or b is None or not state_a & LOOSE_EXACT or not state_b & LOOSE_EXACT:
        return
    assert (x < y, x == y) == (a < b, a == b)


@pytest.mark.parametrize(
    "text", ["9007199254740993", "0.1234567890123456789", "1e400", "123456789012345678901234567890"]
)
def test_what_floating_point_cannot_hold_is_not_called_exact(text):
    state, _ = read(Literal(text))
    assert state & LOOSE
    assert not state & LOOSE_EXACT
