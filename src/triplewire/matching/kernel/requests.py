"""Requests: what they ask for, and whether there is room for it."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.addresses import bytes_at, floats_at, integers_at, longs_at, rows_at
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.families import room_for_member
from triplewire.matching.kernel.hashing import intern_string
from triplewire.matching.kernel.planning import B_CONSTANTS, B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY, test_at
from triplewire.matching.layout import (
    A_CONSTANTS,
    A_COUNTS,
    A_ENTRIES,
    A_FAMILIES,
    A_FLAGS,
    A_GRAMS,
    A_ID_SLOTS,
    A_KEYS,
    A_MEMBERS,
    A_NUMBERS,
    A_POPULARITY,
    A_PROGRAM_SLOTS,
    A_RECORD_SLOTS,
    A_RECORDS,
    A_REQUEST,
    A_REQUEST_TEXT,
    A_SLOTS,
    A_STARTS,
    A_STRINGS,
    A_SUBSCRIPTIONS,
    A_THRESHOLDS,
    C_CONSTANTS,
    C_ENTERED,
    C_ENTRIES,
    C_FAMILIES,
    C_GRAM_RECORDS,
    C_IDS,
    C_KEYS,
    C_PROGRAMS,
    C_RECORDS,
    C_TERMS,
    C_THRESHOLDS,
    FAMILY_COLUMNS,
    HEADER,
    OPERATIONS,
    Q_AMOUNTS,
    Q_COLUMNS,
    Q_CONDITIONS,
    Q_CONSTANTS,
    Q_ID,
    Q_TESTS,
    Q_TEXT,
    Q_TRIPLES,
    Q_VARIABLES,
    Q_WANTED,
    R_FAMILY,
    RECORD_COLUMNS,
    REQUEST,
    RESIDUAL,
    STEP,
    TEST_FAMILY,
)

_MOST_COUNTERS = 1 << 22
"""How far the counters of keys' popularity grow."""


@compiled
def lacking(table: Array) -> int:
    """An array that may be too small for what is requested, as its row of the table, or -1."""
    request, counts = integers_at(table, A_REQUEST), longs_at(table, A_COUNTS)
    if _lacks_strings(table, A_ID_SLOTS, counts[C_IDS], 1, request[Q_ID]):
        return A_ID_SLOTS
    if table[A_SUBSCRIPTIONS, 1] <= counts[C_IDS]:
        return A_SUBSCRIPTIONS
    if request[Q_TRIPLES] == 0:
        return -1
    steps, constants = request[Q_TRIPLES] + request[Q_TESTS], request[Q_CONSTANTS]
    if _lacks_strings(table, A_SLOTS, counts[C_TERMS], constants + 1, request[Q_TEXT] + request[Q_COLUMNS]):
        return A_SLOTS
    if _lacks_strings(table, A_PROGRAM_SLOTS, counts[C_PROGRAMS], 1, 2 * (HEADER + STEP * steps)):
        return A_PROGRAM_SLOTS
    for row, used in (
        (A_NUMBERS, counts[C_TERMS] + constants),
        (A_FLAGS, counts[C_TERMS] + constants),
        (A_CONSTANTS, counts[C_CONSTANTS] + constants),
        (A_RECORDS, counts[C_RECORDS]),
        (A_ENTRIES, counts[C_ENTRIES]),
        (A_FAMILIES, counts[C_FAMILIES]),
        (A_KEYS, 2 * counts[C_KEYS] + 1),
        (A_RECORD_SLOTS, 2 * counts[C_ENTERED] + 1),
        (A_GRAMS, counts[C_GRAM_RECORDS] // 4),
    ):
        if table[row, 1] <= used:
            return row
    if 2 * counts[C_RECORDS] > table[A_POPULARITY, 1] and table[A_POPULARITY, 1] < _MOST_COUNTERS:
        return A_POPULARITY
    return -1


@compiled
def _lacks_strings(table: Array, slots: int, count: int, more: int, size: int) -> bool:
    """True if a table of strings, whose arrays are three rows from `slots` on, has no room for so many more."""
    used = longs_at(table, slots + 1)[count] if table[slots + 1, 1] > count else 0
    return (
        table[slots + 1, 1] < count + more + 2
        or table[slots + 2, 1] < used + size + 1
        or table[slots, 1] < 2 * (count + more)
    )


@compiled
def wanted_of(request: Array) -> Array:
    """The variables that the rows of a request depend on."""
    at = _places_end(request) + 4 * request[Q_TESTS]
    return request[at : at + request[Q_WANTED]]


@compiled
def id_at(request: Array) -> int:
    """Where the id of a request begins."""
    return _text_at(request) + request[Q_TEXT] + request[Q_COLUMNS]


@compiled
def _places_end(request: Array) -> int:
    return REQUEST + 3 * request[Q_TRIPLES]


@compiled
def _lengths_at(request: Array) -> int:
    return _places_end(request) + 4 * request[Q_TESTS] + request[Q_WANTED]


@compiled
def _amounts_at(request: Array) -> int:
    return 4 * (_lengths_at(request) + request[Q_CONSTANTS])


@compiled
def _text_at(request: Array) -> int:
    return _amounts_at(request) + 8 * request[Q_AMOUNTS]


@compiled
def lacking_for_member(table: Array, record: int) -> int:
    """As `lacking`, for one more member of a record's family; a new record's is new."""
    family = rows_at(table, A_RECORDS, RECORD_COLUMNS)[record, R_FAMILY] if record >= 0 else -1
    if record >= 0 and family < 0:
        return -1
    needed = room_for_member(family, rows_at(table, A_FAMILIES, FAMILY_COLUMNS))
    needed += longs_at(table, A_COUNTS)[C_THRESHOLDS]
    if table[A_THRESHOLDS, 1] < needed:
        return A_THRESHOLDS
    return A_MEMBERS if table[A_MEMBERS, 1] < needed else -1


@compiled
def read_request(table: Array) -> tuple[Array, Array, int]:
    """The requested body, the numbers of its constants, and that of its columns; all are terms of the index then."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    ids = np.empty(request[Q_CONSTANTS], dtype=np.int32)
    at, lengths = _text_at(request), _lengths_at(request)
    for i in range(ids.size):
        end = at + request[lengths + i]
        ids[i] = _term(table, text, at, end)
        at = end
    return _body(table, ids), ids, _term(table, text, at, at + request[Q_COLUMNS])


@compiled
def _body(table: Array, ids: Array) -> Array:
    """The requested body; what its tests of numbers compare with is noted."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    body = np.empty(BODY + 3 * request[Q_TRIPLES] + 4 * request[Q_TESTS], dtype=np.int16)
    body[B_VARIABLES], body[B_TRIPLES], body[B_TESTS] = request[Q_VARIABLES], request[Q_TRIPLES], request[Q_TESTS]
    body[B_FLAGS], body[B_CONSTANTS] = RESIDUAL * request[Q_CONDITIONS], request[Q_CONSTANTS]
    body[BODY:] = request[REQUEST : REQUEST + body.size - BODY]
    amounts = text[_amounts_at(request) : _text_at(request)].view(np.float64)
    numbers, compared = floats_at(table, A_NUMBERS), 0
    for i in range(body[B_TESTS]):
        test = test_at(body, i)
        body[test] = OPERATIONS[body[test]]
        if body[test] < TEST_FAMILY:
            numbers[ids[-1 - body[test + 2]]] = amounts[compared]
            compared += 1
    return body


@compiled
def _term(table: Array, text: Array, start: int, end: int) -> int:
    """The number of a term of the index, entered if it is new."""
    counts, starts = longs_at(table, A_COUNTS), longs_at(table, A_STARTS)
    slots, strings = longs_at(table, A_SLOTS), bytes_at(table, A_STRINGS)
    number = intern_string(text, start, end, counts[C_TERMS], slots, starts, strings)
    counts[C_TERMS] = max(counts[C_TERMS], number + 1)
    return number
