"""Registering: a subscription's branch into the tables, and a subscription out of them, in one call each.

What is asked for is in the *request* (`layout.Q_…`), which Python has written; everything else is found through the
table of addresses.

Invariant: `enter` changes nothing that a second call would do again, before there is room for all of it. So when it
ends for want of room, it is called again with more.
"""

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
from triplewire.matching.kernel.families import add_member, find_member, new_family, remove_member, room_for_member
from triplewire.matching.kernel.hashing import find_key, find_string, hash_bytes, intern_string, place_of, tag_of
from triplewire.matching.kernel.placing import drop_record, find_record, note_gram, put_record, wait
from triplewire.matching.kernel.planning import (
    B_CONSTANTS,
    B_TESTS,
    B_TRIPLES,
    BODY,
    body_of,
    choose_access,
    deepen_cut,
    design,
    hash_body,
    varied_by,
)
from triplewire.matching.layout import (
    A_BITS,
    A_CODE,
    A_CONSTANTS,
    A_COUNTS,
    A_ENTRIES,
    A_FAMILIES,
    A_FLAGS,
    A_GRAMS,
    A_ID_SLOTS,
    A_ID_STARTS,
    A_ID_STRINGS,
    A_KEYS,
    A_MEMBERS,
    A_NUMBERS,
    A_POPULARITY,
    A_PROGRAM_SLOTS,
    A_PROGRAM_STARTS,
    A_PROGRAM_STRINGS,
    A_RECORD_SLOTS,
    A_RECORDS,
    A_REQUEST,
    A_REQUEST_NUMBERS,
    A_REQUEST_TEXT,
    A_SLOTS,
    A_STARTS,
    A_STRINGS,
    A_SUBSCRIPTIONS,
    A_THRESHOLDS,
    ABSENT,
    C_CONSTANTS,
    C_ENTERED,
    C_ENTRIES,
    C_FAMILIES,
    C_FREE_ENTRIES,
    C_FREE_FLAGS,
    C_FREE_RECORDS,
    C_GRAM_RECORDS,
    C_IDS,
    C_KEYS,
    C_LIVE,
    C_PROGRAMS,
    C_RECORDS,
    C_SUBSCRIPTIONS,
    C_TERMS,
    C_THRESHOLDS,
    DONE,
    E_COLUMNS,
    E_NEXT,
    E_PREVIOUS,
    E_RECORD,
    E_SIBLING,
    E_SUBSCRIPTION,
    E_THRESHOLD,
    ENTRY_COLUMNS,
    F_SIZE,
    FAMILY_COLUMNS,
    FREE_SO,
    H_CONSTANTS,
    HEADER,
    LACKS,
    LT,
    PRESENT,
    Q_BODY,
    Q_ID,
    Q_SIBLING,
    Q_SUBSCRIPTION,
    Q_WANTED,
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
    REFUSED,
    REQUEST,
    STEP,
    TEST_FAMILY,
    TEST_NUMBER,
)

MOST_COUNTERS = 1 << 22
"""How far the counters of keys' popularity grow."""


@compiled
def enter(table: Array) -> int:
    """Enter the requested branch; gives DONE, REFUSED if the id is in use, or LACKS and what there is no room for."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    counts, subscriptions = longs_at(table, A_COUNTS), integers_at(table, A_SUBSCRIPTIONS)
    if request[Q_SUBSCRIPTION] < 0 and subscription_of(table) >= 0:
        return REFUSED
    lacking = _lacking(table)
    if lacking >= 0:
        return LACKS + lacking
    record, columns, threshold = -1, -1, -1
    if request[Q_BODY] > 0:
        body, ids, columns = _read_request(table)
        test = _varying(body, ids, integers_at(table, A_POPULARITY))
        if test >= 0:
            constant = -1 - body[_test(body, test) + 2]
            threshold = ids[constant]
            ids[constant] = -1
            body = varied_by(body, test)
        h = hash_body(body, ids)
        record = _find(table, h, body, ids)
        lacking = _lacking_for_member(table, record)
        if lacking >= 0:
            return LACKS + lacking
        if record < 0:
            record = _make(table, h, body, ids)
    if request[Q_SUBSCRIPTION] < 0:
        starts, strings = longs_at(table, A_ID_STARTS), bytes_at(table, A_ID_STRINGS)
        number = intern_string(text, 0, request[Q_ID], counts[C_IDS], longs_at(table, A_ID_SLOTS), starts, strings)
        counts[C_IDS] = max(counts[C_IDS], number + 1)
        counts[C_SUBSCRIPTIONS] = max(counts[C_SUBSCRIPTIONS], number + 1)
        counts[C_LIVE] += 1
        request[Q_SUBSCRIPTION], subscriptions[number] = number, PRESENT
    if record >= 0:
        entry = _add_entry(table, record, columns, threshold)
        request[Q_SIBLING], subscriptions[request[Q_SUBSCRIPTION]] = entry, entry + 1
    return DONE


@compiled
def leave(table: Array) -> int:
    """Take the requested subscription out; gives DONE, or REFUSED if it is not there."""
    number = subscription_of(table)
    if number < 0:
        return REFUSED
    subscriptions, entries = integers_at(table, A_SUBSCRIPTIONS), rows_at(table, A_ENTRIES, ENTRY_COLUMNS)
    entry = subscriptions[number] - 1
    subscriptions[number] = ABSENT
    longs_at(table, A_COUNTS)[C_LIVE] -= 1
    while entry >= 0:
        following = entries[entry, E_SIBLING]
        _remove_entry(table, entry)
        entry = following
    return DONE


@compiled
def subscription_of(table: Array) -> int:
    """The number of the requested subscription, or -1 if it is not there."""
    text, size = bytes_at(table, A_REQUEST_TEXT), integers_at(table, A_REQUEST)[Q_ID]
    slots, starts, strings = longs_at(table, A_ID_SLOTS), longs_at(table, A_ID_STARTS), bytes_at(table, A_ID_STRINGS)
    h = hash_bytes(text, 0, size)
    number = find_string(tag_of(h), place_of(h), text, 0, size, slots, starts, strings)
    return number if number >= 0 and integers_at(table, A_SUBSCRIPTIONS)[number] != ABSENT else -1


# -- room


@compiled
def _lacking(table: Array) -> int:
    """An array that may be too small for what is requested, as its row of the table, or -1."""
    request, counts = integers_at(table, A_REQUEST), longs_at(table, A_COUNTS)
    if _lacks_strings(table, A_ID_SLOTS, counts[C_IDS], 1, request[Q_ID]):
        return A_ID_SLOTS
    if table[A_SUBSCRIPTIONS, 1] <= counts[C_IDS]:
        return A_SUBSCRIPTIONS
    if request[Q_BODY] == 0:
        return -1
    constants = request[REQUEST + B_CONSTANTS]
    steps = request[REQUEST + B_TRIPLES] + request[REQUEST + B_TESTS]
    size = 0
    for i in range(constants + 1):
        size += request[REQUEST + request[Q_BODY] + i]
    if _lacks_strings(table, A_SLOTS, counts[C_TERMS], constants + 1, size):
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
    if 2 * counts[C_RECORDS] > table[A_POPULARITY, 1] and table[A_POPULARITY, 1] < MOST_COUNTERS:
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
def _lacking_for_member(table: Array, record: int) -> int:
    """As `_lacking`, for one more member of a record's family; a new record's is new."""
    family = rows_at(table, A_RECORDS, RECORD_COLUMNS)[record, R_FAMILY] if record >= 0 else -1
    if record >= 0 and family < 0:
        return -1
    needed = room_for_member(family, rows_at(table, A_FAMILIES, FAMILY_COLUMNS))
    needed += longs_at(table, A_COUNTS)[C_THRESHOLDS]
    if table[A_THRESHOLDS, 1] < needed:
        return A_THRESHOLDS
    return A_MEMBERS if table[A_MEMBERS, 1] < needed else -1


# -- entering


@compiled
def _read_request(table: Array) -> tuple[Array, Array, int]:
    """The requested body, the numbers of its constants, and that of its columns."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    counts, numbers, values = (
        longs_at(table, A_COUNTS),
        floats_at(table, A_NUMBERS),
        floats_at(table, A_REQUEST_NUMBERS),
    )
    slots, starts, strings = longs_at(table, A_SLOTS), longs_at(table, A_STARTS), bytes_at(table, A_STRINGS)
    body = np.empty(request[Q_BODY], dtype=np.int16)
    for i in range(body.size):
        body[i] = request[REQUEST + i]
    ids = np.empty(body[B_CONSTANTS], dtype=np.int32)
    at, columns = request[Q_ID], -1
    for i in range(ids.size + 1):
        end = at + request[REQUEST + body.size + i]
        number = intern_string(text, at, end, counts[C_TERMS], slots, starts, strings)
        counts[C_TERMS] = max(counts[C_TERMS], number + 1)
        if i < ids.size:
            ids[i] = number
        else:
            columns = number
        at = end
    count = 0
    for i in range(body[B_TESTS]):
        test = _test(body, i)
        if TEST_NUMBER <= body[test] < TEST_FAMILY:
            numbers[ids[-1 - body[test + 2]]] = values[count]
            count += 1
    return body, ids, columns


@compiled
def _test(body: Array, number: int) -> int:
    """Where a test is in a body."""
    return BODY + 3 * body[B_TRIPLES] + 4 * number


@compiled
def _varying(body: Array, ids: Array, popularity: Array) -> int:
    """The inequality that becomes a family's, or -1.

    Of several it is the one whose family is the largest, as far as its popularity tells.
    """
    best, most, candidates = -1, -1, 0
    for i in range(body[B_TESTS] - 1, -1, -1):
        if _is_inequality(body[_test(body, i)]):
            best, candidates = i, candidates + 1
    if candidates < 2:
        return best
    for i in range(body[B_TESTS]):
        if _is_inequality(body[_test(body, i)]):
            without = ids.copy()
            without[-1 - body[_test(body, i) + 2]] = -1
            slot = (hash_body(varied_by(body, i), without) >> 16) & (popularity.size - 1)
            popularity[slot] += 1
            if popularity[slot] > most:
                best, most = i, popularity[slot]
    return best


@compiled
def _is_inequality(operation: int) -> bool:
    return TEST_NUMBER + LT <= operation < TEST_FAMILY


@compiled
def _find(table: Array, h: int, body: Array, ids: Array) -> int:
    """The record of a conjunction, or -1."""
    records, constants = rows_at(table, A_RECORDS, RECORD_COLUMNS), integers_at(table, A_CONSTANTS)
    return find_record(h, body, ids, longs_at(table, A_RECORD_SLOTS), records, constants, shorts_at(table, A_CODE))


@compiled
def _make(table: Array, h: int, body: Array, ids: Array) -> int:
    """A new record, which waits under the access key that the fewest others have."""
    counts, starts, strings = longs_at(table, A_COUNTS), longs_at(table, A_STARTS), bytes_at(table, A_STRINGS)
    records, constants = rows_at(table, A_RECORDS, RECORD_COLUMNS), integers_at(table, A_CONSTANTS)
    numbers, popularity = floats_at(table, A_NUMBERS), integers_at(table, A_POPULARITY)
    steps, predicate, kind, key, part, offset = design(body, ids, starts, strings, numbers, popularity)
    record = _take(counts, C_RECORDS, C_FREE_RECORDS, records, R_NEXT)
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
def _add_entry(table: Array, record: int, columns: int, threshold: int) -> int:
    """A new entry of a record, at the head of its chain or of its member's."""
    request, counts = integers_at(table, A_REQUEST), longs_at(table, A_COUNTS)
    records, entries = rows_at(table, A_RECORDS, RECORD_COLUMNS), rows_at(table, A_ENTRIES, ENTRY_COLUMNS)
    families, thresholds = rows_at(table, A_FAMILIES, FAMILY_COLUMNS), floats_at(table, A_THRESHOLDS)
    members, family = integers_at(table, A_MEMBERS), records[record, R_FAMILY]
    entry = _take(counts, C_ENTRIES, C_FREE_ENTRIES, entries, E_NEXT)
    if family < 0:
        head = records[record, R_HEAD]
        records[record, R_HEAD] = entry
    else:
        value = floats_at(table, A_NUMBERS)[threshold]
        member = find_member(family, value, families, thresholds)
        if member < 0:
            member = add_member(family, value, counts, families, thresholds, members)
        head = members[member]
        members[member] = entry
    if head >= 0:
        entries[head, E_PREVIOUS] = entry
    row = entries[entry]
    row[E_SUBSCRIPTION], row[E_COLUMNS], row[E_SIBLING] = request[Q_SUBSCRIPTION], columns, request[Q_SIBLING]
    row[E_NEXT], row[E_PREVIOUS], row[E_RECORD], row[E_THRESHOLD] = head, -1, record, threshold
    first = REQUEST + request[Q_BODY] + request[REQUEST + B_CONSTANTS] + 1
    wanted = request[first : first + request[Q_WANTED]]
    deepen_cut(record, wanted, records, shorts_at(table, A_CODE))
    return entry


@compiled
def _take(counts: Array, used: int, free: int, rows: Array, following: int) -> int:
    """A row that is not in use: the one that was given back last, or a new one."""
    row = counts[free] - 1
    if row >= 0:
        counts[free] = rows[row, following] + 1
        return row
    counts[used] += 1
    return counts[used] - 1


@compiled
def _give(row: int, counts: Array, free: int, rows: Array, following: int) -> None:
    """Give a row back."""
    rows[row, following] = counts[free] - 1
    counts[free] = row + 1


# -- leaving


@compiled
def _remove_entry(table: Array, entry: int) -> None:
    """Take an entry out of its chain; without any, its member or its record goes too."""
    counts, entries = longs_at(table, A_COUNTS), rows_at(table, A_ENTRIES, ENTRY_COLUMNS)
    following, previous = entries[entry, E_NEXT], entries[entry, E_PREVIOUS]
    if following >= 0:
        entries[following, E_PREVIOUS] = previous
    if previous >= 0:
        entries[previous, E_NEXT] = following
    else:
        _set_head(table, entries[entry, E_RECORD], entries[entry, E_THRESHOLD], following)
    entries[entry, E_SUBSCRIPTION] = -1
    _give(entry, counts, C_FREE_ENTRIES, entries, E_NEXT)


@compiled
def _set_head(table: Array, record: int, threshold: int, head: int) -> None:
    records, families = rows_at(table, A_RECORDS, RECORD_COLUMNS), rows_at(table, A_FAMILIES, FAMILY_COLUMNS)
    thresholds, members = floats_at(table, A_THRESHOLDS), integers_at(table, A_MEMBERS)
    family = records[record, R_FAMILY]
    if family < 0:
        records[record, R_HEAD] = head
        if head < 0:
            _remove_record(table, record)
        return
    member = find_member(family, floats_at(table, A_NUMBERS)[threshold], families, thresholds)
    members[member] = head
    if head < 0:
        remove_member(family, member, families, thresholds, members)
        if families[family, F_SIZE] == 0:
            _remove_record(table, record)


@compiled
def _remove_record(table: Array, record: int) -> None:
    """Take a record out that nobody wants any more."""
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
    _give(record, longs_at(table, A_COUNTS), C_FREE_RECORDS, records, R_NEXT)
