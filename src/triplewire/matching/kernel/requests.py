"""Requests: what they ask for, and whether there is room for it."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.addresses import bytes_at, floats_at, integers_at, longs_at, rows_at
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.families import room_for_member
from triplewire.matching.kernel.hashing import find_byte, intern_string, same_bytes
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
    Q_COLUMNS,
    Q_ID,
    Q_NUMBERS,
    Q_PLACES,
    Q_RESIDUAL,
    Q_TESTS,
    Q_TRIPLES,
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

_NEWLINE, _QUESTION = 10, 63
"""What ends a place, and what a variable begins with."""


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
    steps = request[Q_TRIPLES] + request[Q_TESTS]
    constants = 3 * request[Q_TRIPLES] + request[Q_TESTS] + 1
    if _lacks_strings(table, A_SLOTS, counts[C_TERMS], constants + 1, _text_size(request)):
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
def _text_at(request: Array) -> int:
    """Where the strings of a request begin."""
    numbers = REQUEST + 4 * request[Q_TESTS] + request[Q_WANTED]
    return 4 * numbers + 8 * request[Q_NUMBERS]


@compiled
def id_at(request: Array) -> int:
    """Where the id of a request begins."""
    return _text_at(request) + _text_size(request)


@compiled
def _text_size(request: Array) -> int:
    """How many bytes the spellings of a branch have together."""
    size = request[Q_PLACES] + request[Q_RESIDUAL] + request[Q_COLUMNS]
    for i in range(request[Q_TESTS]):
        size += request[REQUEST + 4 * i + 2]
    return size


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
    numbers, triples, tests = floats_at(table, A_NUMBERS), request[Q_TRIPLES], request[Q_TESTS]
    at = _text_at(request)
    values = text[at - 8 * request[Q_NUMBERS] : at].view(np.float64)
    body = np.zeros(BODY + 3 * triples + 4 * tests, dtype=np.int16)
    ids = np.empty(3 * triples + tests + 1, dtype=np.int32)
    body[B_TRIPLES], body[B_TESTS] = triples, tests
    count, at = _read_places(table, body, ids), at + request[Q_PLACES]
    compared = 0
    for i in range(tests):
        asked, test = REQUEST + 4 * i, test_at(body, i)
        id = _term(table, text, at, at + request[asked + 2])
        at += request[asked + 2]
        is_number = request[asked] < TEST_FAMILY
        place = -1 if is_number else _index_of(id, ids, count)  # a number is its own: a family takes its threshold out
        if place < 0:
            ids[count], place = id, count
            count += 1
        if is_number:
            numbers[id] = values[compared]
            compared += 1
        body[test], body[test + 1] = request[asked], request[asked + 1]
        body[test + 2], body[test + 3] = -1 - place, request[asked + 3]
    if request[Q_RESIDUAL] > 0:
        body[B_FLAGS] = RESIDUAL
        ids[count] = _term(table, text, at, at + request[Q_RESIDUAL])
        count, at = count + 1, at + request[Q_RESIDUAL]
    body[B_CONSTANTS] = count
    return body, ids[:count], _term(table, text, at, at + request[Q_COLUMNS])


@compiled
def _read_places(table: Array, body: Array, ids: Array) -> int:
    """Number the variables and the constants in the order in which they come; gives how many constants there are."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    places = 3 * request[Q_TRIPLES]
    starts, ends = np.empty(places, dtype=np.int32), np.empty(places, dtype=np.int32)
    at = _text_at(request)
    last = at + request[Q_PLACES]
    variables, count = 0, 0
    for i in range(places):
        end = find_byte(text, at, last, _NEWLINE)
        if text[at] == _QUESTION:
            place = 0
            while place < variables and not _same(text, starts[place], ends[place], at, end):
                place += 1
            if place == variables:
                starts[place], ends[place] = at, end
                variables += 1
        else:
            id = _term(table, text, at, end)
            place = _index_of(id, ids, count)
            if place < 0:
                ids[count], place = id, count
                count += 1
            place = -1 - place
        body[BODY + i] = place
        at = end + 1
    body[B_VARIABLES] = variables
    return count


@compiled
def _same(text: Array, start: int, end: int, at: int, last: int) -> bool:
    return end - start == last - at and same_bytes(text, start, text, at, end - start)


@compiled
def _index_of(id: int, ids: Array, count: int) -> int:
    """Where a number is among the first ones, or -1."""
    for i in range(count):
        if ids[i] == id:
            return i
    return -1


@compiled
def _term(table: Array, text: Array, start: int, end: int) -> int:
    """The number of a term of the index, entered if it is new."""
    counts, starts = longs_at(table, A_COUNTS), longs_at(table, A_STARTS)
    slots, strings = longs_at(table, A_SLOTS), bytes_at(table, A_STRINGS)
    number = intern_string(text, start, end, counts[C_TERMS], slots, starts, strings)
    counts[C_TERMS] = max(counts[C_TERMS], number + 1)
    return number
