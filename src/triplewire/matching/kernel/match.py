"""The whole of the kernel for a batch of documents: read, seed, run, one document after the other."""

from __future__ import annotations

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
from triplewire.matching.kernel.reading import read
from triplewire.matching.kernel.running import run, touch
from triplewire.matching.kernel.seeding import seed
from triplewire.matching.kernel.telling import TOLD, tell
from triplewire.matching.layout import (
    A_BITS,
    A_BOUNDS,
    A_CANDIDATES,
    A_CODE,
    A_CONSTANTS,
    A_COUNTS,
    A_ENDS,
    A_ENTRIES,
    A_FAMILIES,
    A_FLAGS,
    A_GRAMS,
    A_KEYS,
    A_LIMITS,
    A_MARKS,
    A_MEMBERS,
    A_NUMBERS,
    A_OUT,
    A_PARENT_STARTS,
    A_PARENTS,
    A_QUEUE,
    A_RECORDS,
    A_SLOTS,
    A_SPENT,
    A_STARTS,
    A_STRINGS,
    A_TEXT,
    A_THRESHOLDS,
    A_TOLD,
    A_UNIT,
    A_VALUES,
    A_WORK,
    C_FREE_FLAGS,
    DONE,
    ENTRY_COLUMNS,
    FAMILY_COLUMNS,
    MALFORMED,
    NEED_CANDIDATES,
    NEED_LINES,
    NEED_OUTPUT,
    NEED_TOLD,
    RECORD_COLUMNS,
    SPENT_COLUMNS,
)


@compiled
def match(table: Array) -> tuple[int, int, int, int]:
    """Match the documents bounds[i]..bounds[i + 1] of the text; the table says where all arrays are.

    Gives how it ended, how much output there is, how many rows of `told`, and the flags of all matches together. When
    it ends for want of room, call again with more.
    """
    text, bounds, ends = bytes_at(table, A_TEXT), longs_at(table, A_BOUNDS), longs_at(table, A_ENDS)
    slots, starts, strings = longs_at(table, A_SLOTS), longs_at(table, A_STARTS), bytes_at(table, A_STRINGS)
    numbers, flags = floats_at(table, A_NUMBERS), integers_at(table, A_FLAGS)
    keys, bits, grams = pairs_at(table, A_KEYS), bytes_at(table, A_BITS), words_at(table, A_GRAMS)
    records, constants = rows_at(table, A_RECORDS, RECORD_COLUMNS), integers_at(table, A_CONSTANTS)
    code, families = shorts_at(table, A_CODE), rows_at(table, A_FAMILIES, FAMILY_COLUMNS)
    thresholds, members = floats_at(table, A_THRESHOLDS), integers_at(table, A_MEMBERS)
    entries = rows_at(table, A_ENTRIES, ENTRY_COLUMNS)
    parent_starts, parents = integers_at(table, A_PARENT_STARTS), integers_at(table, A_PARENTS)
    queue, marks = integers_at(table, A_QUEUE), integers_at(table, A_MARKS)
    work, values = integers_at(table, A_WORK), floats_at(table, A_VALUES)
    candidates, spent = rows_at(table, A_CANDIDATES, 3), rows_at(table, A_SPENT, SPENT_COLUMNS)
    out, told = integers_at(table, A_OUT), rows_at(table, A_TOLD, TOLD)
    unit, free_flags = table[A_UNIT, 0], longs_at(table, A_COUNTS)[C_FREE_FLAGS]
    most_rows, most_steps = table[A_LIMITS, 0], table[A_LIMITS, 1]
    used, count, met = 0, 0, 0
    ends[0] = 0
    last = bounds[bounds.size - 1]
    for document in range(bounds.size - 1):
        start, end = bounds[document], bounds[document + 1]
        triples, _ = read(text, start, end, last, slots, starts, strings, work, unit)
        if triples == -2:
            return NEED_LINES, 0, 0, 0
        if triples < 0:
            return MALFORMED, document, 0, 0
        found = seed(
            triples,
            text,
            strings,
            flags,
            free_flags,
            keys,
            bits,
            grams,
            records,
            parent_starts,
            parents,
            work,
            unit,
            values,
            queue,
            marks,
            candidates,
        )
        if found < 0:
            return NEED_CANDIDATES, 0, 0, 0
        if found > 0:
            before = used
            touch(found, candidates, records, constants, code, entries, marks)
            used = run(
                document,
                triples,
                found,
                candidates,
                text,
                starts,
                strings,
                numbers,
                records,
                constants,
                code,
                families,
                thresholds,
                parent_starts,
                parents,
                work,
                unit,
                values,
                queue,
                marks,
                spent,
                most_rows,
                most_steps,
                out,
                used,
            )
            if used < 0:
                return NEED_OUTPUT, 0, 0, 0
            count, flags_met = tell(out, before, used, records, members, entries, told, count)
            if count < 0:
                return NEED_TOLD, 0, 0, 0
            met |= flags_met
        ends[document + 1] = count
    return DONE, used, count, met
