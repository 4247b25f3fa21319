"""Numbers in text, as the kernel reads them.

The kernel decides a comparison only where binary floating point is exact: at most 15 significant digits and a small
exponent, so that equal doubles are equal decimals and order is kept. Everything else is marked to be checked again
with exact arithmetic (`algebra.values`), which is rare.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.layout import EQ, GE, GT, LE, LT

SEEN, LOOSE, LOOSE_EXACT, STRICT, STRICT_EXACT = 1, 2, 4, 8, 16
_TYPE_PREFIX = np.frombuffer(b"^^<http://www.w3.org/2001/XMLSchema#", dtype=np.uint8)
_POWERS = np.array([10.0**i for i in range(23)])
SLACK = 1e-6
"""How near two numbers must be, relatively, for an inexact comparison to need checking: single precision is coarser
than anything else that occurs."""

_OTHER, _INTEGER, _DECIMAL, _DOUBLE = range(4)


@compiled
def _type_of(text: Array, suffix: int, end: int) -> int:
    """0: not an XML Schema type; else 1 + which of the kinds above."""
    size = _TYPE_PREFIX.size
    if end - suffix <= size:
        return 0
    for i in range(size):
        if text[suffix + i] != _TYPE_PREFIX[i]:
            return 0
    first, length = text[suffix + size], end - suffix - size - 1
    if length == 7 and first == 105 and text[suffix + size + 3] == 101:  # integer
        return 1 + _INTEGER
    if length == 7 and first == 100:  # decimal
        return 1 + _DECIMAL
    if length == 6 and first == 100:  # double
        return 1 + _DOUBLE
    return 1 + _OTHER


@compiled
def read_number(text: Array, start: int, end: int, suffix: int, last: int) -> tuple[int, float]:
    """What the literal at start..end is as a number: the flags above, and its value.

    `suffix..last` is what follows its closing quote: a language, a type or nothing.
    """
    while start < end and (text[start] == 32 or 9 <= text[start] <= 10 or text[start] == 13):
        start += 1
    while end > start and (text[end - 1] == 32 or 9 <= text[end - 1] <= 10 or text[end - 1] == 13):
        end -= 1
    kind = _type_of(text, suffix, last)
    i = start
    negative = False
    if i < end and (text[i] == 45 or text[i] == 43):
        negative = text[i] == 45
        i += 1
    mantissa, digits, zeros, places, seen, dropped = 0, 0, 0, 0, 0, 0
    point = False
    while i < end:
        c = text[i]
        if c == 46 and not point:
            point = True
        elif 48 <= c <= 57:
            seen += 1
            if point:
                places += 1
            if digits + zeros >= 17:
                dropped += 1
                if c != 48:
                    digits = 99  # too long to be exact
            elif c == 48:
                if digits > 0:
                    zeros += 1
            else:
                for _ in range(zeros + 1):
                    mantissa *= 10
                mantissa += c - 48
                digits += zeros + 1
                zeros = 0
        else:
            break
        i += 1
    if seen == 0:
        return _special(text, start, end, kind)
    exponent, exponent_digits = 0, 0
    has_exponent = False
    if i < end and (text[i] == 101 or text[i] == 69):
        has_exponent = True
        i += 1
        down = False
        if i < end and (text[i] == 45 or text[i] == 43):
            down = text[i] == 45
            i += 1
        while i < end and 48 <= text[i] <= 57:
            exponent_digits += 1
            exponent = min(exponent * 10 + (text[i] - 48), 100000)
            i += 1
        if exponent_digits == 0:
            return SEEN, 0.0
        if down:
            exponent = -exponent
    if i < end:
        return SEEN, 0.0
    power = exponent - places + zeros + dropped
    value, exact = _scaled(mantissa, power, digits)
    if negative:
        value = -value
    state = SEEN
    if exponent_digits <= 3 and end - start <= 4000:
        state |= LOOSE
        if exact:
            state |= LOOSE_EXACT
    if kind == 1 + _INTEGER and (point or has_exponent):
        return state, value
    if kind == 1 + _DECIMAL and has_exponent:
        return state, value
    if kind != 0:
        state |= STRICT
        if exact and kind != 1 + _OTHER:
            state |= STRICT_EXACT
    return state, value


@compiled
def _special(text: Array, start: int, end: int, kind: int) -> tuple[int, float]:
    """Infinity and not-a-number of xsd:double and xsd:float."""
    if kind != 1 + _DOUBLE and kind != 1 + _OTHER:
        return SEEN, 0.0
    i = start
    if i < end and (text[i] == 45 or text[i] == 43):
        i += 1
    if end - i == 3 and text[i] == 73 and text[i + 1] == 78 and text[i + 2] == 70:
        return SEEN | STRICT, (-np.inf if text[start] == 45 else np.inf)
    return SEEN, 0.0


@compiled
def _scaled(mantissa: int, power: int, digits: int) -> tuple[float, bool]:
    if mantissa == 0:
        return 0.0, True
    if digits <= 15 and -22 <= power <= 22:
        if power >= 0:
            return mantissa * _POWERS[power], True
        return mantissa / _POWERS[-power], True
    if power > 400:
        return np.inf, False
    if power < -400:
        return 0.0, False
    return float(mantissa) * 10.0 ** float(power), False


@compiled
def near(value: float, other: float) -> bool:
    """Too near for an inexact comparison."""
    return not abs(value - other) > SLACK * max(abs(value), abs(other), 1e-300)


@compiled
def compare(comparison: int, value: float, other: float) -> bool:
    if comparison == EQ:
        return value == other
    if comparison == LT:
        return value < other
    if comparison == LE:
        return value <= other
    if comparison == GT:
        return value > other
    return comparison == GE and value >= other


@compiled
def single_bits(value: float) -> int:
    """The bits of a number rounded to single precision: numbers that can be equal in any type share them, or are
    neighbours where the reading was inexact."""
    rounded = np.float32(value + 0.0)
    if rounded == 0:
        return 0
    return int(rounded.view(np.int32))
