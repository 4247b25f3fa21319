"""Registering: a subscription's branch into the tables, and a subscription out of them, in one call each.

What is asked for is in the *request* (`layout.Q_…`), which Python has written; everything else is found through the
table of addresses.

Invariant: `enter` changes nothing that a second call would do again, before there is room for all of it. So when it
ends for want of room, it is called again with more.
"""

from __future__ import annotations

from triplewire.matching.kernel.addresses import bytes_at, floats_at, integers_at, longs_at, rows_at, shorts_at
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.families import add_member, find_member, remove_member
from triplewire.matching.kernel.hashing import find_string, hash_bytes, intern_string, place_of, tag_of
from triplewire.matching.kernel.planning import deepen_cut, hash_body, test_at, varied_by, varying
from triplewire.matching.kernel.recording import find, give, make, remove, take
from triplewire.matching.kernel.requests import id_at, lacking, lacking_for_member, read_request, wanted_of
from triplewire.matching.layout import (
    A_CODE,
    A_COUNTS,
    A_ENTRIES,
    A_FAMILIES,
    A_ID_SLOTS,
    A_ID_STARTS,
    A_ID_STRINGS,
    A_MEMBERS,
    A_NUMBERS,
    A_POPULARITY,
    A_RECORDS,
    A_REQUEST,
    A_REQUEST_TEXT,
    A_SUBSCRIPTIONS,
    A_THRESHOLDS,
    ABSENT,
    C_ENTRIES,
    C_FREE_ENTRIES,
    C_IDS,
    C_LIVE,
    C_SUBSCRIPTIONS,
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
    LACKS,
    PRESENT,
    Q_ID,
    Q_SIBLING,
    Q_SUBSCRIPTION,
    Q_TRIPLES,
    R_FAMILY,
    R_HEAD,
    RECORD_COLUMNS,
    REFUSED,
)


@compiled
def enter(table: Array) -> int:
    """Enter the requested branch; gives DONE, REFUSED if the id is in use, or LACKS and what there is no room for."""
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    counts, subscriptions = longs_at(table, A_COUNTS), integers_at(table, A_SUBSCRIPTIONS)
    if request[Q_SUBSCRIPTION] < 0 and subscription_of(table) >= 0:
        return REFUSED
    lack = lacking(table)
    if lack >= 0:
        return LACKS + lack
    record, columns, threshold = -1, -1, -1
    if request[Q_TRIPLES] > 0:
        body, ids, columns = read_request(table)
        test = varying(body, ids, integers_at(table, A_POPULARITY))
        if test >= 0:
            constant = -1 - body[test_at(body, test) + 2]
            threshold = ids[constant]
            ids[constant] = -1
            body = varied_by(body, test)
        h = hash_body(body, ids)
        record = find(table, h, body, ids)
        lack = lacking_for_member(table, record)
        if lack >= 0:
            return LACKS + lack
        if record < 0:
            record = make(table, h, body, ids)
    if request[Q_SUBSCRIPTION] < 0:
        at = id_at(request)
        slots, starts = longs_at(table, A_ID_SLOTS), longs_at(table, A_ID_STARTS)
        strings = bytes_at(table, A_ID_STRINGS)
        number = intern_string(text, at, at + request[Q_ID], counts[C_IDS], slots, starts, strings)
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
    request, text = integers_at(table, A_REQUEST), bytes_at(table, A_REQUEST_TEXT)
    slots, starts, strings = longs_at(table, A_ID_SLOTS), longs_at(table, A_ID_STARTS), bytes_at(table, A_ID_STRINGS)
    at, size = id_at(request), request[Q_ID]
    h = hash_bytes(text, at, at + size)
    number = find_string(tag_of(h), place_of(h), text, at, size, slots, starts, strings)
    return number if number >= 0 and integers_at(table, A_SUBSCRIPTIONS)[number] != ABSENT else -1


@compiled
def _add_entry(table: Array, record: int, columns: int, threshold: int) -> int:
    """A new entry of a record, at the head of its chain or of its member's."""
    request, counts = integers_at(table, A_REQUEST), longs_at(table, A_COUNTS)
    records, entries = rows_at(table, A_RECORDS, RECORD_COLUMNS), rows_at(table, A_ENTRIES, ENTRY_COLUMNS)
    families, thresholds = rows_at(table, A_FAMILIES, FAMILY_COLUMNS), floats_at(table, A_THRESHOLDS)
    members, family = integers_at(table, A_MEMBERS), records[record, R_FAMILY]
    entry = take(counts, C_ENTRIES, C_FREE_ENTRIES, entries, E_NEXT)
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
    deepen_cut(record, wanted_of(request), records, shorts_at(table, A_CODE))
    return entry


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
    give(entry, counts, C_FREE_ENTRIES, entries, E_NEXT)


@compiled
def _set_head(table: Array, record: int, threshold: int, head: int) -> None:
    records, families = rows_at(table, A_RECORDS, RECORD_COLUMNS), rows_at(table, A_FAMILIES, FAMILY_COLUMNS)
    thresholds, members = floats_at(table, A_THRESHOLDS), integers_at(table, A_MEMBERS)
    family = records[record, R_FAMILY]
    if family < 0:
        records[record, R_HEAD] = head
        if head < 0:
            remove(table, record)
        return
    member = find_member(family, floats_at(table, A_NUMBERS)[threshold], families, thresholds)
    members[member] = head
    if head < 0:
        remove_member(family, member, families, thresholds, members)
        if families[family, F_SIZE] == 0:
            remove(table, record)
