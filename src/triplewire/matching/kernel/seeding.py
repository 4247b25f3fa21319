"""Seeding: which records wait for a triple of this document.

A triple is looked up in each way that some record with its predicate waits in (a bit of the predicate's flags says
so); a term that the index does not know cannot be part of any key. The cost is that of the triples and of the
candidates found, not of the records there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from triplewire.matching.kernel.classes import ancestors
from triplewire.matching.kernel.compiled import Array, compiled, inlined
from triplewire.matching.kernel.hashing import (
    find_key,
    gram_bits,
    gram_length,
    gram_word,
    has_bit,
    hash_gram,
    mix,
    same_bytes,
    second_hash,
    word,
)
from triplewire.matching.kernel.numbers import LOOSE, LOOSE_EXACT, SEEN, STRICT, STRICT_EXACT, read_number, single_bits
from triplewire.matching.layout import (
    FREE_ALL,
    FREE_O,
    FREE_S,
    FREE_SO,
    NUMBER,
    OBJECT_BELOW,
    OBJECT_BELOW_OR_SELF,
    OBJECT_CHILD,
    PO,
    PS,
    PSO,
    R_NEXT,
    R_OFFSET,
    R_TEXT,
    R_TEXT_LENGTH,
    SUBJECT_BELOW_OR_SELF,
    SUBJECT_CHILD,
    T_GLOBAL,
    T_LENGTH,
    T_NUMBER,
    T_START,
    T_SUFFIX,
    T_TEXT,
    T_TEXT_LENGTH,
    TEXT_1,
    TEXT_8,
    W_KEYS,
    W_OBJECT,
    W_PREDICATE,
    W_SUBJECT,
    P,
)

_TEXTS = (1 << (TEXT_8 + 1)) - (1 << TEXT_1)
_OBJECT_CLASSES = (1 << OBJECT_BELOW_OR_SELF) | (1 << OBJECT_BELOW) | (1 << OBJECT_CHILD)
_SMALL = 24
_SUBJECT_CLASSES = _OBJECT_CLASSES << (SUBJECT_BELOW_OR_SELF - OBJECT_BELOW_OR_SELF)


@compiled
def _note_keys(triples: int, work: Array, unit: int) -> None:
    """Set a bit for each key of the document that a record may have as its second one.

    A small document wakes so few records that this does not pay: all bits are set.
    """
    base, mask, small = W_KEYS * unit, 128 * unit - 1, triples < _SMALL
    for i in range(4 * unit):
        work[base + i] = -1 if small else 0
    if small:
        return
    for triple in range(triples):
        predicate = work[T_GLOBAL * unit + work[W_PREDICATE * unit + triple]]
        if predicate < 0:
            continue
        subject = work[T_GLOBAL * unit + work[W_SUBJECT * unit + triple]]
        object_ = work[T_GLOBAL * unit + work[W_OBJECT * unit + triple]]
        for kind in range(4):
            if kind == PSO:
                key = mix(PSO, predicate, subject, object_)
            elif kind == PO:
                key = mix(PO, predicate, object_, 0)
            elif kind == PS:
                key = mix(PS, predicate, subject, 0)
            else:
                key = mix(P, predicate, 0, 0)
            bit = second_hash(key) & mask
            work[base + (bit >> 5)] |= np.int32(1 << (bit & 31))


@inlined
def _put(candidates: Array, at: int, record: int, triple: int, place: int) -> int:
    """Write a candidate; gives the row behind it."""
    candidates[at, 0] = record
    candidates[at, 1] = triple
    candidates[at, 2] = place
    return at + 1


@compiled
def _wake(key: int, triple: int, keys: Array, candidates: Array, found: int) -> int:
    """Note the first record under a key as a candidate; gives the new number of candidates, -1 if there is no room."""
    if found < 0:
        return found
    slot = find_key(key, keys)
    if keys[slot, 0] == 0 or keys[slot, 1] < 0:
        return found
    if found == len(candidates):
        return -1
    return _put(candidates, found, keys[slot, 1], triple, -1)


@inlined
def _look_up(key: int, triple: int, keys: Array, bits: Array, candidates: Array, found: int) -> int:
    """Wake what waits under a key; most keys are none, which one read of the bitmap tells."""
    return _wake(key, triple, keys, candidates, found) if has_bit(key, bits) else found


@compiled
def _woken(found: int, records: Array, work: Array, unit: int, candidates: Array) -> int:
    """Follow the chains of the candidates; a record whose second key the document does not have is passed over.

    In a loop of its own, so short that the waits for memory of one record and the next overlap: what follows in a
    chain is put at the end.
    """
    kept, candidate, base, mask = 0, 0, W_KEYS * unit, 128 * unit - 1
    while candidate < found:
        record, triple = candidates[candidate, 0], candidates[candidate, 1]
        candidate += 1
        after, second = records[record, R_NEXT], records[record, R_OFFSET]
        if after >= 0:
            if found == len(candidates):
                return -1
            found = _put(candidates, found, after, triple, -1)
        bit = second & mask
        if second < 0 or (work[base + (bit >> 5)] >> (bit & 31)) & 1:
            kept = _put(candidates, kept, record, triple, -1)
    return kept


@compiled
def _seed_texts(
    triples: int,
    text: Array,
    strings: Array,
    flags: Array,
    grams: Array,
    keys: Array,
    records: Array,
    work: Array,
    unit: int,
    candidates: Array,
    found: int,
) -> int:
    """Look up every gram of every text, in each length that some record waits for.

    In three loops, each so short that the waits for memory of one gram and the next overlap: which grams pass the
    filter, which record waits for each, whether its whole text stands there.
    """
    hits = found
    for triple in range(triples):
        predicate = work[T_GLOBAL * unit + work[W_PREDICATE * unit + triple]]
        if predicate < 0 or flags[predicate] & _TEXTS == 0:
            continue
        start = work[T_TEXT * unit + work[W_OBJECT * unit + triple]]
        if start < 0:
            continue
        end = start + work[T_TEXT_LENGTH * unit + work[W_OBJECT * unit + triple]]
        for kind in range(TEXT_1, TEXT_8 + 1):
            if flags[predicate] & (1 << kind):
                hits = _filter(kind, predicate, triple, text, start, end, grams, candidates, hits)
                if hits < 0:
                    return -1
    for hit in range(found, hits):
        predicate = work[T_GLOBAL * unit + work[W_PREDICATE * unit + candidates[hit, 1]]]
        gram = _gram(text, uint64(candidates[hit, 2]), _gram_mask(candidates[hit, 0]))
        slot = find_key(mix(candidates[hit, 0], predicate, int(np.int64(gram)), 0), keys)
        candidates[hit, 0] = keys[slot, 1] if keys[slot, 0] != 0 else -1
    return _standing(found, hits, text, strings, records, work, unit, candidates)


@inlined
def _gram_mask(kind: int) -> Any:
    return ~uint64(0) >> uint64(64 - 8 * gram_length(kind))


@inlined
def _gram(text: Array, i: Any, mask: Any) -> Any:
    """The bytes from a place on as one number; there are always eight more in the array."""
    return word(text, i) & mask


@compiled
def _filter(
    kind: int,
    predicate: int,
    triple: int,
    text: Array,
    start: int,
    end: int,
    grams: Array,
    candidates: Array,
    found: int,
) -> int:
    """Note kind, triple and place of each gram that passes the filter, which nearly all of them do not."""
    mask = _gram_mask(kind)
    for i in range(uint64(start), uint64(max(start, end - gram_length(kind) + 1))):
        h = hash_gram(predicate, _gram(text, i, mask))
        noted = gram_bits(h)
        if grams[gram_word(h, grams.size)] & noted == noted:
            if found == len(candidates):
                return -1
            found = _put(candidates, found, kind, triple, i)
    return found


@compiled
def _standing(
    before: int,
    found: int,
    text: Array,
    strings: Array,
    records: Array,
    work: Array,
    unit: int,
    candidates: Array,
) -> int:
    """Keep those of the new candidates whose whole text stands where their gram does; others may wait behind them."""
    kept, candidate = before, before
    while candidate < found:
        record, triple, place = candidates[candidate, 0], candidates[candidate, 1], candidates[candidate, 2]
        candidate += 1
        if record < 0:
            continue
        after = records[record, R_NEXT]
        if after >= 0:
            if found == len(candidates):
                return -1
            found = _put(candidates, found, after, triple, place)
        term = work[W_OBJECT * unit + triple]
        start = work[T_TEXT * unit + term]
        here = place - records[record, R_OFFSET]
        first, length = records[record, R_TEXT], records[record, R_TEXT_LENGTH]
        if here < start or here + length > start + work[T_TEXT_LENGTH * unit + term]:
            continue
        if same_bytes(strings, first, text, here, length):
            kept = _put(candidates, kept, record, triple, here)
    return kept


@compiled
def _seed_number(
    state: int,
    value: float,
    predicate: int,
    triple: int,
    keys: Array,
    bits: Array,
    candidates: Array,
    found: int,
) -> int:
    """Look up a number by its single-precision bits, and their neighbours where it was read inexactly."""
    single = single_bits(value)
    exact = state & LOOSE_EXACT and (state & STRICT == 0 or state & STRICT_EXACT)
    around = 0 if exact else 1
    for bits_near in range(single - around, single + around + 1):
        found = _look_up(mix(NUMBER, predicate, bits_near, 0), triple, keys, bits, candidates, found)
    return found


@compiled
def _seed_class(
    kind: int,
    node: int,
    predicate: int,
    triple: int,
    parent_starts: Array,
    parents: Array,
    queue: Array,
    marks: Array,
    keys: Array,
    bits: Array,
    candidates: Array,
    found: int,
) -> int:
    """Look up a node and all that is above it in the taxonomy; `kind` is BELOW_OR_SELF of its place."""
    found = _look_up(mix(kind, predicate, node, 0), triple, keys, bits, candidates, found)
    for i in range(ancestors(node, parent_starts, parents, queue, marks)):
        for relation in range(2):
            found = _look_up(mix(kind + relation, predicate, queue[i], 0), triple, keys, bits, candidates, found)
    if node + 1 < parent_starts.size:
        child = kind + SUBJECT_CHILD - SUBJECT_BELOW_OR_SELF
        for i in range(parent_starts[node], parent_starts[node + 1]):
            found = _look_up(
                mix(child, predicate, max(parents[i], ~parents[i]), 0), triple, keys, bits, candidates, found
            )
    return found


@compiled
def _seed_free(
    flags: int,
    subject: int,
    object_: int,
    triple: int,
    keys: Array,
    bits: Array,
    candidates: Array,
    found: int,
) -> int:
    """Look up what does not depend on the predicate, for records with a variable in its place."""
    if flags & (1 << FREE_SO) and subject >= 0 and object_ >= 0:
        found = _look_up(mix(FREE_SO, subject, object_, 0), triple, keys, bits, candidates, found)
    if flags & (1 << FREE_S) and subject >= 0:
        found = _look_up(mix(FREE_S, subject, 0, 0), triple, keys, bits, candidates, found)
    if flags & (1 << FREE_O) and object_ >= 0:
        found = _look_up(mix(FREE_O, object_, 0, 0), triple, keys, bits, candidates, found)
    if flags & (1 << FREE_ALL):
        found = _look_up(mix(FREE_ALL, 0, 0, 0), triple, keys, bits, candidates, found)
    return found


@compiled
def number_of(term: int, text: Array, work: Array, unit: int, values: Array) -> int:
    """The state of a term as a number (flags of `numbers`); its value is in `values` then."""
    state = work[T_NUMBER * unit + term]
    if state == 0:
        suffix = work[T_SUFFIX * unit + term]
        state = SEEN
        if suffix >= 0:
            at = work[T_TEXT * unit + term]
            last = work[T_START * unit + term] + work[T_LENGTH * unit + term]
            state, value = read_number(text, at, at + work[T_TEXT_LENGTH * unit + term], suffix, last)
            values[term] = value
        work[T_NUMBER * unit + term] = state
    return state


@compiled
def seed(
    triples: int,
    text: Array,
    strings: Array,
    flags: Array,
    free_flags: int,
    keys: Array,
    bits: Array,
    grams: Array,
    records: Array,
    parent_starts: Array,
    parents: Array,
    work: Array,
    unit: int,
    values: Array,
    queue: Array,
    marks: Array,
    candidates: Array,
) -> int:
    """Fill the candidates with record, triple and place in its text; gives how many, -1 if there is no room."""
    found, texts = 0, 0
    _note_keys(triples, work, unit)
    for triple in range(triples):
        subject = work[T_GLOBAL * unit + work[W_SUBJECT * unit + triple]]
        predicate = work[T_GLOBAL * unit + work[W_PREDICATE * unit + triple]]
        term = work[W_OBJECT * unit + triple]
        object_ = work[T_GLOBAL * unit + term]
        ways = flags[predicate] if predicate >= 0 else 0
        if ways & (1 << PSO) and subject >= 0 and object_ >= 0:
            found = _look_up(mix(PSO, predicate, subject, object_), triple, keys, bits, candidates, found)
        if ways & (1 << PO) and object_ >= 0:
            found = _look_up(mix(PO, predicate, object_, 0), triple, keys, bits, candidates, found)
        if ways & (1 << PS) and subject >= 0:
            found = _look_up(mix(PS, predicate, subject, 0), triple, keys, bits, candidates, found)
        if ways & (1 << P):
            found = _look_up(mix(P, predicate, 0, 0), triple, keys, bits, candidates, found)
        if ways & (1 << NUMBER):
            state = number_of(term, text, work, unit, values)
            if state & (LOOSE | STRICT):
                found = _seed_number(state, values[term], predicate, triple, keys, bits, candidates, found)
        texts |= ways & _TEXTS
        for side in range(2):
            node = object_ if side == 0 else subject
            if node >= 0 and ways & (_OBJECT_CLASSES if side == 0 else _SUBJECT_CLASSES):
                kind = OBJECT_BELOW_OR_SELF if side == 0 else SUBJECT_BELOW_OR_SELF
                found = _seed_class(
                    kind,
                    node,
                    predicate,
                    triple,
                    parent_starts,
                    parents,
                    queue,
                    marks,
                    keys,
                    bits,
                    candidates,
                    found,
                )
        if free_flags:
            found = _seed_free(free_flags, subject, object_, triple, keys, bits, candidates, found)
        if found < 0:
            return -1
    found = _woken(found, records, work, unit, candidates)
    if texts and found >= 0:
        found = _seed_texts(triples, text, strings, flags, grams, keys, records, work, unit, candidates, found)
    return found
