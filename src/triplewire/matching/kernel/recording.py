"""Recording: every conjunction once, as a record that waits under one of its access keys."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.addresses import (
    bytes_at,
    floats_at,
    integers_at,
    longs_at,
    pairs_at,
    rows_at,
    shorts_at,
    words_at,
)
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.families import new_family
from triplewire.matching.kernel.hashing import find_key, intern_string
from triplewire.matching.kernel.placing import drop_record, find_record, note_gram, put_record, wait
from triplewire.matching.kernel.planning import body_of, choose_access, design, hash_body
from triplewire.matching.layout import (
    A_BITS,
    A_CODE,
    A_CONSTANTS,
    A_COUNTS,
    A_FAMILIES,
    A_FLAGS,
    A_GRAMS,
    A_KEYS,
    A_NUMBERS,
    A_POPULARITY,
    A_PROGRAM_SLOTS,
    A_PROGRAM_STARTS,
    A_PROGRAM_STRINGS,
    A_RECORD_SLOTS,
    A_RECORDS,
    A_STARTS,
    A_STRINGS,
    C_CONSTANTS,
    C_ENTERED,
    C_FREE_FLAGS,
    C_FREE_RECORDS,
    C_GRAM_RECORDS,
    C_KEYS,
    C_PROGRAMS,
    C_RECORDS,
    FAMILY_COLUMNS,
    FREE_SO,
    H_CONSTANTS,
    R_CONSTANTS,
    R_CUT,
    R_FAMILY,
    R_HEAD,
    R_KEY_HIGH,
    R_KEY_LOW,
    R_KIND,
    R_NEXT,
    R_OFFSET,
    R_PART,
    R_PREVIOUS,
    R_PROGRAM,
    R_TEXT,
    R_TEXT_LENGTH,
    RECORD_COLUMNS,
)


@compiled
def find(table: Array, h: int, body: Array, ids: Array) -> int:
    """The record of a conjunction, or -1."""
    records, constants = rows_at(table, A_RECORDS, RECORD_COLUMNS), integers_at(table, A_CONSTANTS)
    return find_record(h, body, ids, longs_at(table, A_RECORD_SLOTS), records, constants, shorts_at(table, A_CODE))


@compiled
def make(table: Array, h: int, body: Array, ids: Array) -> int:
    """A new record, which waits under the access key that the fewest others have."""
    counts, starts, strings = longs_at(table, A_COUNTS), longs_at(table, A_STARTS), bytes_at(table, A_STRINGS)
    records, constants = rows_at(table, A_RECORDS, RECORD_COLUMNS), integers_at(table, A_CONSTANTS)
    numbers, popularity = floats_at(table, A_NUMBERS), integers_at(table, A_POPULARITY)
    steps, predicate, kind, key, part, offset = design(body, ids, starts, strings, numbers, popularity)
    record = take(counts, C_RECORDS, C_FREE_RECORDS, records, R_NEXT)
    row = records[record]
    row[R_PROGRAM] = _program(table, steps)
    row[R_CONSTANTS] = counts[C_CONSTANTS]
    row[R_NEXT] = row[R_PREVIOUS] = row[R_HEAD] = row[R_CUT] = -1
    row[R_FAMILY] = -1
    for i in range(ids.size):
        constants[counts[C_CONSTANTS] + i] = ids[i]
        if ids[i] < 0:
            row[R_FAMILY] = new_family(counts, rows_at(table, A_FAMILIES, FAMILY_COLUMNS))
    counts[C_CONSTANTS] += ids.size
    row[R_KIND], row[R_KEY_LOW], row[R_KEY_HIGH] = kind, key & 0xFFFFFFFF, key >> 32
    row[R_PART], row[R_OFFSET] = part, offset
    row[R_TEXT], row[R_TEXT_LENGTH] = -1, 0
    if part >= 0:  # a literal's text stands behind its quotation mark
        row[R_TEXT], row[R_TEXT_LENGTH] = starts[part] + 1, starts[part + 1] - starts[part] - 1
        counts[C_GRAM_RECORDS] += 1
        note_gram(record, records, constants, shorts_at(table, A_CODE), starts, strings, words_at(table, A_GRAMS))
    put_record(h, record, longs_at(table, A_RECORD_SLOTS))
    counts[C_ENTERED] += 1
    counts[C_KEYS] += wait(record, key, pairs_at(table, A_KEYS), bytes_at(table, A_BITS), records)
    if kind >= FREE_SO:
        counts[C_FREE_FLAGS] |= 1 << kind
    else:
        integers_at(table, A_FLAGS)[predicate] |= 1 << kind
    return record


@compiled
def _program(table: Array, steps: Array) -> int:
    """Where a program stands in the code, entered if it is new: patterns of one shape share it."""
    counts, starts = longs_at(table, A_COUNTS), longs_at(table, A_PROGRAM_STARTS)
    slots, strings = longs_at(table, A_PROGRAM_SLOTS), bytes_at(table, A_PROGRAM_STRINGS)
    blob = steps.view(np.uint8)
    number = intern_string(blob, 0, blob.size, counts[C_PROGRAMS], slots, starts, strings)
    counts[C_PROGRAMS] = max(counts[C_PROGRAMS], number + 1)
    return starts[number] // 2


@compiled
def remove(table: Array, record: int) -> None:
    """Take a record out that no subscription wants any more."""
    records, code = rows_at(table, A_RECORDS, RECORD_COLUMNS), shorts_at(table, A_CODE)
    row, keys = records[record], pairs_at(table, A_KEYS)
    ids = integers_at(table, A_CONSTANTS)[row[R_CONSTANTS] : row[R_CONSTANTS] + code[row[R_PROGRAM] + H_CONSTANTS]]
    body = body_of(code, row[R_PROGRAM])
    drop_record(hash_body(body, ids), record, longs_at(table, A_RECORD_SLOTS))
    starts, strings, numbers = longs_at(table, A_STARTS), bytes_at(table, A_STRINGS), floats_at(table, A_NUMBERS)
    choose_access(body, ids, starts, strings, numbers, integers_at(table, A_POPULARITY), -1)
    if row[R_NEXT] >= 0:
        records[row[R_NEXT], R_PREVIOUS] = row[R_PREVIOUS]
    if row[R_PREVIOUS] >= 0:
        records[row[R_PREVIOUS], R_NEXT] = row[R_NEXT]
    else:
        keys[find_key((row[R_KEY_HIGH] << 32) | (row[R_KEY_LOW] & 0xFFFFFFFF), keys), 1] = row[R_NEXT]
    row[R_PROGRAM] = -1
    give(record, longs_at(table, A_COUNTS), C_FREE_RECORDS, records, R_NEXT)


@compiled
def take(counts: Array, used: int, free: int, rows: Array, following: int) -> int:
    """A row that is not in use: the one that was given back last, or a new one."""
    row = counts[free] - 1
    if row >= 0:
        counts[free] = rows[row, following] + 1
        return row
    counts[used] += 1
    return counts[used] - 1


@compiled
def give(row: int, counts: Array, free: int, rows: Array, following: int) -> None:
    """Give a row back."""
    rows[row, following] = counts[free] - 1
    counts[free] = row + 1
