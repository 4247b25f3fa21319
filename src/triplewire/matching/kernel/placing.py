"""Placing: records in their hash table, in the chains of their access keys, and in the filter of grams."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import find_key, gram_bits, gram_length, gram_word, hash_gram, set_bit, tag_of
from triplewire.matching.kernel.planning import body_of, hash_body, same_body
from triplewire.matching.layout import (
    H_CONSTANTS,
    HEADER,
    R_CONSTANTS,
    R_KIND,
    R_NEXT,
    R_OFFSET,
    R_PART,
    R_PREVIOUS,
    R_PROGRAM,
)


@compiled
def wait(record: int, key: int, keys: Array, bits: Array, records: Array) -> int:
    """Put a record at the head of its key's chain; gives 1 if the key is new."""
    slot = find_key(key, keys)
    new = 1 if keys[slot, 0] == 0 else 0
    if new:
        keys[slot, 0] = key
        keys[slot, 1] = -1
        set_bit(key, bits)
    head = keys[slot, 1]
    records[record, R_NEXT] = head
    if head >= 0:
        records[head, R_PREVIOUS] = record
    keys[slot, 1] = record
    return new


@compiled
def move_keys(old_keys: Array, keys: Array, bits: Array) -> None:
    """Enter the keys that have records in empty tables."""
    for i in range(len(old_keys)):
        if old_keys[i, 0] != 0 and old_keys[i, 1] >= 0:
            slot = find_key(old_keys[i, 0], keys)
            keys[slot, 0] = old_keys[i, 0]
            keys[slot, 1] = old_keys[i, 1]
            set_bit(old_keys[i, 0], bits)


@compiled
def find_record(
    h: int,
    body: Array,
    ids: Array,
    slots: Array,
    records: Array,
    constants: Array,
    code: Array,
) -> int:
    """The record of a conjunction, or -1. In its slots 0 is empty, -1 was taken once."""
    mask = slots.size - 1
    tag = tag_of(h)
    i = h & mask
    while slots[i] != 0:
        if slots[i] > 0 and (slots[i] >> 32) == tag:
            record = (slots[i] & 0xFFFFFFFF) - 1
            at = records[record, R_CONSTANTS]
            same = True
            for k in range(ids.size):
                if constants[at + k] != ids[k]:
                    same = False
                    break
            if same and same_body(body, code, records[record, R_PROGRAM]):
                return record
        i = (i + 1) & mask
    return -1


@compiled
def put_record(h: int, record: int, slots: Array) -> None:
    """Enter a record that is not there yet; the caller keeps the table at most half full."""
    mask = slots.size - 1
    i = h & mask
    while slots[i] > 0:
        i = (i + 1) & mask
    slots[i] = (tag_of(h) << 32) | (record + 1)


@compiled
def drop_record(h: int, record: int, slots: Array) -> None:
    """Take a record out again."""
    mask = slots.size - 1
    i = h & mask
    while slots[i] != 0:
        if slots[i] > 0 and (slots[i] & 0xFFFFFFFF) - 1 == record:
            slots[i] = -1
            return
        i = (i + 1) & mask


@compiled
def rehash_records(count: int, slots: Array, records: Array, constants: Array, code: Array) -> None:
    """Enter all records in empty slots."""
    for record in range(count):
        program = records[record, R_PROGRAM]
        if program >= 0:
            at = records[record, R_CONSTANTS]
            ids = constants[at : at + code[program + H_CONSTANTS]]
            put_record(hash_body(body_of(code, program), ids), record, slots)


@compiled
def note_gram(
    record: int, records: Array, constants: Array, code: Array, starts: Array, strings: Array, grams: Array
) -> None:
    """Note the gram that a record waits for in the filter."""
    program, base = records[record, R_PROGRAM], records[record, R_CONSTANTS]
    predicate = constants[base - code[program + HEADER + 2] - 1]
    first = starts[records[record, R_PART]] + 1 + records[record, R_OFFSET]
    gram = np.int64(0)
    for i in range(gram_length(records[record, R_KIND])):
        gram |= np.int64(strings[first + i]) << (8 * i)
    h = hash_gram(predicate, int(gram))
    grams[gram_word(h, grams.size)] |= gram_bits(h)


@compiled
def rehash_grams(
    count: int, records: Array, constants: Array, code: Array, starts: Array, strings: Array, grams: Array
) -> None:
    """Note the grams of all records in an empty filter."""
    for record in range(count):
        if records[record, R_PROGRAM] >= 0 and records[record, R_PART] >= 0:
            note_gram(record, records, constants, code, starts, strings, grams)
