"""Values of a document: read without references, told from those that no entry can be waiting for."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled, inlined

EXISTS, VALUES, EQUAL, PIECES, NUMBERS, SAME, ANYTHING, KEPT = 1, 2, 4, 8, 16, 32, 64, 128
"""What waits at a look: for the place alone; for a value: equal texts, pieces of texts, thresholds, equal numbers.

KEPT: no entry is woken by a value there, but some that are woken elsewhere have a condition on it.
"""
NO, YES, IF_A_PIECE_IS_IN_IT = 0, 1, 2
"""Whether a value must be looked at."""
FLAGS, SEEN = 0, 1
"""A look: what waits there, and the turn that met it last."""
ABOVE, BELOW, LEAST, GREATEST = 0, 1, 2, 3
"""Numbers of a look: the thresholds that are passed first, and the extremes of a turn; the wrong way round if none."""
_NO_NUMBER, _NUMBER, _HARD = 0, 1, 2
_MOST_DIGITS = 15
_MOST_BLANKS = 64
_MOST_HASHED = 4_096
"""Python looks at longer values, which may be inside each other, as long as it has room for them."""
_POWERS = np.array([10.0**power for power in range(_MOST_DIGITS + 1)])
_SPACE, _DASH, _DOT, _ZERO, _NINE = 32, 45, 46, 48, 57
_EXPONENT, _LOWER = 101, 32
_AMPERSAND, _LT, _GT, _QUOTE, _HASH = 38, 60, 62, 34, 35
_A, _L, _G, _CAPITAL_A, _CAPITAL_D = 97, 108, 103, 65, 68


@compiled
def hash_of(data: Array, start: int, end: int, owner: int) -> int:
    """A number for some bytes that belong to something with a number."""
    value = np.uint64(14695981039346656037) ^ np.uint64(owner)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return int(np.int64(value >> np.uint64(1)))


@inlined
def _is_marked_text(data: Array, start: int, end: int, marks: Array) -> bool:
    """False if no entry waits for a value."""
    place = hash_of(data, start, end, 0) & (8 * marks.size - 1)
    return ((marks[place >> 3] >> (place & 7)) & 1) != 0


@compiled
def mark_text(data: Array, size: int, marks: Array) -> None:
    """Mark a text in the filter of those that values are compared with."""
    place = hash_of(data, 0, size, 0) & (8 * marks.size - 1)
    marks[place >> 3] |= np.uint8(1 << (place & 7))


@compiled
def _is_blank(byte: int) -> bool:
    return byte == _SPACE or 9 <= byte <= 10 or byte == 13


@compiled
def number_in(data: Array, start: int, end: int) -> tuple[int, float]:
    """Whether a value is a number, and which, as `algebra.xpath.numbers` says; inexact ones are left to Python."""
    blanks = start + _MOST_BLANKS
    while start < end and _is_blank(data[start]):
        start += 1
        if start > blanks:
            return _HARD, 0.0
    blanks = end - _MOST_BLANKS
    while start < end and _is_blank(data[end - 1]):
        end -= 1
        if end < blanks:
            return _HARD, 0.0
    is_negative = start < end and data[start] == _DASH
    if is_negative:
        start += 1
    whole, fraction, digits, decimals, has_dot = 0, 0, 0, 0, False
    for i in range(start, end):
        byte = data[i]
        if _ZERO <= byte <= _NINE:
            digits += 1
            if digits > _MOST_DIGITS:
                return _HARD, 0.0
            if has_dot:
                fraction = 10 * fraction + byte - _ZERO
                decimals += 1
            else:
                whole = 10 * whole + byte - _ZERO
        elif byte == _DOT and not has_dot:
            has_dot = True
        elif digits and byte | _LOWER == _EXPONENT:
            return _HARD, 0.0
        else:
            return _NO_NUMBER, 0.0
    if digits == 0:
        return _NO_NUMBER, 0.0
    number = whole + fraction / _POWERS[decimals]
    return _NUMBER, -number if is_negative else number


@compiled
def _referred(data: Array, at: int) -> tuple[int, int]:
    """What a reference of canonical XML stands for, and where it ends: it has but seven of them."""
    kind = data[at + 1]
    if kind == _A:
        return _AMPERSAND, at + 4
    if kind == _L:
        return _LT, at + 3
    if kind == _G:
        return _GT, at + 3
    if kind == _HASH:
        digit = data[at + 3]
        return (10 if digit == _CAPITAL_A else 13 if digit == _CAPITAL_D else 9), at + 4
    return _QUOTE, at + 5


@compiled
def read_value(data: Array, i: int, stop: int, plain: Array, used: int) -> tuple[int, int]:
    """Copy what is before a byte, or before the end, without references; gives where both are then."""
    while i < data.size and data[i] != stop:
        byte = int(data[i])
        if byte == _AMPERSAND:
            byte, i = _referred(data, i)
        plain[used] = byte
        used += 1
        i += 1
    return i, used


@compiled
def judged(
    plain: Array, start: int, end: int, look: int, looks: Array, numbers: Array, marks: Array, longest: int
) -> int:
    """Whether an entry may wait for this value; numbers are only noted, where there are just thresholds."""
    flag = looks[look, FLAGS]
    if flag & ANYTHING:
        return YES
    if flag & (NUMBERS | SAME):
        kind, number = number_in(plain, start, end)
        if kind == _HARD or (kind == _NUMBER and flag & SAME):
            return YES
        if kind == _NUMBER:
            numbers[look, LEAST] = min(numbers[look, LEAST], number)
            numbers[look, GREATEST] = max(numbers[look, GREATEST], number)
    size = end - start
    if flag & EQUAL and size <= longest and (size > _MOST_HASHED or _is_marked_text(plain, start, end, marks)):
        return YES
    return IF_A_PIECE_IS_IN_IT if flag & PIECES else NO
