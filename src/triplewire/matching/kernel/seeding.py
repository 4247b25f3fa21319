"""Seeding: which records wait for a triple of this document.

A triple is looked up in each way that some record with its predicate waits in (a bit of the predicate's flags says
so); a term that the index does not know cannot be part of any key. The cost is that of the triples and of the
candidates found, not of the records there are.
"""

from __future__ import annotations

from triplewire.matching.kernel.classes import ancestors
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import find_key, has_bit, mix
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
    TEXT_4,
    W_OBJECT,
    W_PREDICATE,
    W_SUBJECT,
    P,
)

_TEXTS = (1 << TEXT_1) | (1 << (TEXT_1 + 1)) | (1 << (TEXT_1 + 2)) | (1 << TEXT_4)
_OBJECT_CLASSES = (1 << OBJECT_BELOW_OR_SELF) | (1 << OBJECT_BELOW) | (1 << OBJECT_CHILD)
_SUBJECT_CLASSES = _OBJECT_CLASSES << (SUBJECT_BELOW_OR_SELF - OBJECT_BELOW_OR_SELF)
_FREE = (1 << FREE_SO) | (1 << FREE_S) | (1 << FREE_O) | (1 << FREE_ALL)


@compiled
def wake(
    key: int,
    triple: int,
    keys: Array,
    heads: Array,
    bits: Array,
    records: Array,
    candidates: Array,
    found: int,
) -> int:
    """Note the records under a key as candidates; gives the new number of candidates, -1 if there is no room."""
    if not has_bit(key, bits):
        return found
    slot = find_key(key, keys)
    if keys[slot] == 0:
        return found
    record = heads[slot]
    while record >= 0:
        if 2 * found + 2 > candidates.size:
            return -1
        candidates[2 * found] = record
        candidates[2 * found + 1] = triple
        found += 1
        record = records[record, R_NEXT]
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
    flags: Array,
    free_flags: int,
    keys: Array,
    heads: Array,
    bits: Array,
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
    """Fill the candidates with pairs of record and triple; gives how many, -1 if there is no room for them."""
    found = 0
    for triple in range(triples):
        subject = work[T_GLOBAL * unit + work[W_SUBJECT * unit + triple]]
        predicate = work[T_GLOBAL * unit + work[W_PREDICATE * unit + triple]]
        term = work[W_OBJECT * unit + triple]
        object_ = work[T_GLOBAL * unit + term]
        ways = flags[predicate] if predicate >= 0 else 0
        if ways & (1 << PSO) and subject >= 0 and object_ >= 0:
            key = mix(PSO, predicate, subject, object_)
            found = wake(key, triple, keys, heads, bits, records, candidates, found)
        if ways & (1 << PO) and object_ >= 0 and found >= 0:
            found = wake(mix(PO, predicate, object_, 0), triple, keys, heads, bits, records, candidates, found)
        if ways & (1 << PS) and subject >= 0 and found >= 0:
            found = wake(mix(PS, predicate, subject, 0), triple, keys, heads, bits, records, candidates, found)
        if ways & (1 << P) and found >= 0:
            found = wake(mix(P, predicate, 0, 0), triple, keys, heads, bits, records, candidates, found)
        if ways & (1 << NUMBER) and found >= 0:
            state = number_of(term, text, work, unit, values)
            if state & (LOOSE | STRICT):
                single = single_bits(values[term])
                exact = state & LOOSE_EXACT and (state & STRICT == 0 or state & STRICT_EXACT)
                around = 0 if exact else 1
                for near in range(-around, around + 1):
                    if found >= 0:
                        key = mix(NUMBER, predicate, single + near, 0)
                        found = wake(key, triple, keys, heads, bits, records, candidates, found)
        if ways & _TEXTS and work[T_TEXT * unit + term] >= 0 and found >= 0:
            start = work[T_TEXT * unit + term]
            end = start + work[T_TEXT_LENGTH * unit + term]
            for size in range(1, 5):
                if ways & (1 << (TEXT_1 + size - 1)) == 0:
                    continue
                gram, last = 0, (1 << (8 * size)) - 1
                for i in range(start, end):
                    gram = ((gram << 8) | text[i]) & last
                    if i - start >= size - 1 and found >= 0:
                        key = mix(TEXT_1 + size - 1, predicate, gram, 0)
                        found = wake(key, triple, keys, heads, bits, records, candidates, found)
        for side in range(2):
            if found < 0 or ways & (_OBJECT_CLASSES if side == 0 else _SUBJECT_CLASSES) == 0:
                continue
            node = object_ if side == 0 else subject
            if node < 0:
                continue
            kind = OBJECT_BELOW_OR_SELF if side == 0 else SUBJECT_BELOW_OR_SELF
            key = mix(kind, predicate, node, 0)
            found = wake(key, triple, keys, heads, bits, records, candidates, found)
            above = ancestors(node, parent_starts, parents, queue, marks)
            for i in range(above):
                for relation in range(2):
                    if found >= 0:
                        key = mix(kind + relation, predicate, queue[i], 0)
                        found = wake(key, triple, keys, heads, bits, records, candidates, found)
            if node + 1 < parent_starts.size:
                child = OBJECT_CHILD if side == 0 else SUBJECT_CHILD
                for i in range(parent_starts[node], parent_starts[node + 1]):
                    if found >= 0:
                        key = mix(child, predicate, max(parents[i], ~parents[i]), 0)
                        found = wake(key, triple, keys, heads, bits, records, candidates, found)
        if free_flags & _FREE and found >= 0:
            if free_flags & (1 << FREE_SO) and subject >= 0 and object_ >= 0:
                key = mix(FREE_SO, subject, object_, 0)
                found = wake(key, triple, keys, heads, bits, records, candidates, found)
            if free_flags & (1 << FREE_S) and subject >= 0 and found >= 0:
                found = wake(mix(FREE_S, subject, 0, 0), triple, keys, heads, bits, records, candidates, found)
            if free_flags & (1 << FREE_O) and object_ >= 0 and found >= 0:
                found = wake(mix(FREE_O, object_, 0, 0), triple, keys, heads, bits, records, candidates, found)
            if free_flags & (1 << FREE_ALL) and found >= 0:
                found = wake(mix(FREE_ALL, 0, 0, 0), triple, keys, heads, bits, records, candidates, found)
        if found < 0:
            return -1
    return found
