"""Reading: the bytes of a document become numbered terms and triples.

Lines are sorted, so the triples of a subject stand together, and within them those of a predicate: a subject is found
by its first line, and the end of each run of equal subject and predicate is noted. Objects and predicates are chained.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import find_byte, find_string, hash_bytes, place_of, same_bytes, tag_of
from triplewire.matching.layout import (
    T_FIRST,
    T_GLOBAL,
    T_HEAD_O,
    T_HEAD_P,
    T_LENGTH,
    T_NUMBER,
    T_START,
    T_SUFFIX,
    T_TAG,
    T_TEXT,
    T_TEXT_LENGTH,
    W_KNOWN,
    W_NEXT_O,
    W_NEXT_P,
    W_OBJECT,
    W_PREDICATE,
    W_RUN_END,
    W_SLOTS,
    W_SUBJECT,
)

QUOTE, BACKSLASH, LESS, GREATER, SPACE, UNDERSCORE, NEWLINE, DOT = 34, 92, 60, 62, 32, 95, 10, 46


@compiled
def _known_slot(number: int, mask: int) -> int:
    return ((number * 2654435769) >> 7) & mask


@compiled
def find_known(number: int, work: Array, unit: int) -> int:
    """The document's own number of a term of the index, or -1 if the document does not have it."""
    mask = 8 * unit - 1
    i = _known_slot(number, mask)
    while True:
        local = work[W_KNOWN * unit + i]
        if local == 0:
            return -1
        if work[T_GLOBAL * unit + local - 1] == number:
            return local - 1
        i = (i + 1) & mask


@compiled
def _unescape(text: Array, start: int, end: int, tail: int) -> int:
    """Copy a literal's text without its escapes to `tail`; gives the end of the copy.

    Canonical N-Triples escapes only ASCII characters, so each escape is one byte.
    """
    i = start
    while i < end:
        c = text[i]
        if c == BACKSLASH and i + 1 < end:
            i += 1
            c = text[i]
            if c == 110:
                c = np.uint8(10)
            elif c == 116:
                c = np.uint8(9)
            elif c == 114:
                c = np.uint8(13)
            elif c == 98:
                c = np.uint8(8)
            elif c == 102:
                c = np.uint8(12)
            elif c == 117 and i + 4 < end:
                code = 0
                for k in range(1, 5):
                    digit = text[i + k]
                    code = code * 16 + (digit - 48 if digit < 58 else (digit & 0xDF) - 55)
                c = np.uint8(code & 0x7F)
                i += 4
        text[tail] = c
        tail += 1
        i += 1
    return tail


@compiled
def _literal_quote(text: Array, at: int, end: int) -> tuple[int, bool]:
    """The closing quote of the literal that opens at `at` (or the end), and whether it has escapes."""
    i = find_byte(text, at + 1, end, QUOTE)
    if i == end or find_byte(text, at + 1, i, BACKSLASH) == i:
        return i, False
    i = at + 1
    while i < end and text[i] != QUOTE:
        i += 2 if text[i] == BACKSLASH else 1
    return i, True


@compiled
def _term_end(text: Array, at: int, end: int) -> int:
    """The end of the IRI, blank node or rest of a literal at `at`: where the space behind it is, or -1."""
    at = find_byte(text, at, end, GREATER) + 1 if text[at] == LESS else find_byte(text, at, end, SPACE)
    return at if at < end and text[at] == SPACE else -1


@compiled
def _enter(
    text: Array,
    begin: int,
    length: int,
    terms: int,
    work: Array,
    unit: int,
) -> int:
    """The document's own number of a term: an old one, or `terms` if it is new."""
    h = hash_bytes(text, begin, begin + length)
    mask, table, tag = 8 * unit - 1, W_SLOTS * unit, tag_of(h)
    i = h & mask
    while True:
        local = work[table + i] - 1
        if local < 0:
            break
        if work[T_TAG * unit + local] == tag and work[T_LENGTH * unit + local] == length:  # noqa: SIM102
            if same_bytes(text, work[T_START * unit + local], text, begin, length):
                return local
        i = (i + 1) & mask
    work[table + i] = terms + 1
    work[T_TAG * unit + terms] = tag
    work[T_START * unit + terms] = begin
    work[T_LENGTH * unit + terms] = length
    work[T_FIRST * unit + terms] = -1
    work[T_HEAD_P * unit + terms] = -1
    work[T_HEAD_O * unit + terms] = -1
    work[T_NUMBER * unit + terms] = 0
    work[T_SUFFIX * unit + terms] = -1
    work[T_TEXT * unit + terms] = begin + 1 if text[begin] == LESS else -1
    work[T_TEXT_LENGTH * unit + terms] = length - 2
    work[T_GLOBAL * unit + terms] = place_of(h)
    return terms


@compiled
def _recognise(terms: int, text: Array, slots: Array, starts: Array, strings: Array, work: Array, unit: int) -> None:
    """Find the document's terms among those of the index, where T_GLOBAL says that their probing begins.

    In a loop of its own, so that the waits for memory of one term and the next overlap.
    """
    mask = 8 * unit - 1
    for term in range(terms):
        begin, length = work[T_START * unit + term], work[T_LENGTH * unit + term]
        tag, place = work[T_TAG * unit + term], work[T_GLOBAL * unit + term]
        number = find_string(tag, place, text, begin, length, slots, starts, strings)
        work[T_GLOBAL * unit + term] = number
        if number >= 0:
            j = _known_slot(number, mask)
            while work[W_KNOWN * unit + j] != 0:
                j = (j + 1) & mask
            work[W_KNOWN * unit + j] = term + 1


@compiled
def read(
    text: Array,
    start: int,
    end: int,
    tail: int,
    slots: Array,
    starts: Array,
    strings: Array,
    work: Array,
    unit: int,
) -> tuple[int, int]:
    """Read the lines start..end of the text; gives how many triples and terms there are.

    (-1, position) if the text is not canonical N-Triples, (-2, position) if there are more lines than there is room.
    Unescaped text goes behind `tail`.
    """
    for i in range(16 * unit):
        work[W_SLOTS * unit + i] = 0
    terms, triples, run, at = 0, 0, 0, start
    subject, subject_at, subject_length = -1, 0, 0
    while at < end:
        if triples == unit:
            return -2, at
        if not (
            subject >= 0
            and at + subject_length < end
            and text[at + subject_length] == SPACE
            and same_bytes(text, subject_at, text, at, subject_length)
        ):
            stop = _term_end(text, at, end)
            if stop < 0 or (text[at] != LESS and text[at] != UNDERSCORE):
                return -1, at
            subject_at, subject_length = at, stop - at
            subject = _enter(text, at, subject_length, terms, work, unit)
            terms = max(terms, subject + 1)
        at += subject_length + 1
        stop = _term_end(text, at, end) if at < end else -1
        if stop < 0 or text[at] != LESS:
            return -1, at
        predicate = _enter(text, at, stop - at, terms, work, unit)
        terms = max(terms, predicate + 1)
        at = stop + 1
        if at >= end:
            return -1, at
        quote, escaped = -1, False
        if text[at] == QUOTE:
            quote, escaped = _literal_quote(text, at, end)
        elif text[at] != LESS and text[at] != UNDERSCORE:
            return -1, at
        stop = _term_end(text, max(at, quote), end) if quote < end else -1
        if stop < 0 or stop + 2 >= end or text[stop + 1] != DOT or text[stop + 2] != NEWLINE:
            return -1, at
        object_ = _enter(text, at, stop - at, terms, work, unit)
        if object_ == terms:
            terms += 1
            if quote >= 0:
                work[T_SUFFIX * unit + object_] = quote + 1
                work[T_TEXT * unit + object_] = tail if escaped else at + 1
                grown = _unescape(text, at + 1, quote, tail) if escaped else tail
                work[T_TEXT_LENGTH * unit + object_] = grown - tail if escaped else quote - at - 1
                tail = grown
        at = stop + 3
        if triples > 0 and (subject != work[W_SUBJECT * unit + run] or predicate != work[W_PREDICATE * unit + run]):
            work[W_RUN_END * unit + run] = triples
            run = triples
        _chain(subject, predicate, object_, triples, work, unit)
        triples += 1
    if triples > 0:
        work[W_RUN_END * unit + run] = triples
    _recognise(terms, text, slots, starts, strings, work, unit)
    return triples, terms


@compiled
def _chain(subject: int, predicate: int, object_: int, triple: int, work: Array, unit: int) -> None:
    """Enter a triple, and find it by each of its places."""
    work[W_SUBJECT * unit + triple] = subject
    work[W_PREDICATE * unit + triple] = predicate
    work[W_OBJECT * unit + triple] = object_
    if work[T_FIRST * unit + subject] < 0:
        work[T_FIRST * unit + subject] = triple
    work[W_NEXT_P * unit + triple] = work[T_HEAD_P * unit + predicate]
    work[T_HEAD_P * unit + predicate] = triple
    work[W_NEXT_O * unit + triple] = work[T_HEAD_O * unit + object_]
    work[T_HEAD_O * unit + object_] = triple
