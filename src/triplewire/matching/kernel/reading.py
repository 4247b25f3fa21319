"""Reading: the bytes of a document become numbered terms and triples.

Lines are sorted, so the triples of a subject stand together, and within them those of a predicate: a subject is found
by its first line, and the end of each run of equal subject and predicate is noted. Objects and predicates are chained.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import FNV_PRIME, FNV_START, find_string, tag_of
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
def count_lines(text: Array, start: int, end: int) -> int:
    lines = 0
    for i in range(start, end):
        lines += text[i] == NEWLINE
    return lines


@compiled
def known_slot(number: int, mask: int) -> int:
    return ((number * 2654435769) >> 7) & mask


@compiled
def find_known(number: int, work: Array, unit: int) -> int:
    """The document's own number of a term of the index, or -1 if the document does not have it."""
    mask = 8 * unit - 1
    i = known_slot(number, mask)
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
) -> tuple[int, int, int]:
    """Read the lines start..end of the text; gives how many triples and terms there are, and the new tail.

    (-1, position, tail) if the text is not canonical N-Triples.
    """
    mask = 8 * unit - 1
    table = W_SLOTS * unit
    for i in range(16 * unit):
        work[table + i] = 0
    terms, triples, run, at = 0, 0, 0, start
    place_s, place_p, place_o = -1, -1, -1
    while at < end:
        for place in range(3):
            if at >= end:
                return -1, at, tail
            begin, h, first = at, FNV_START, text[at]
            quote, escaped = -1, False
            if first == LESS:
                while at < end and text[at] != GREATER:
                    h = (h ^ text[at]) * FNV_PRIME
                    at += 1
                h = (h ^ GREATER) * FNV_PRIME
                at += 1
            elif first == UNDERSCORE:
                while at < end and text[at] != SPACE:
                    h = (h ^ text[at]) * FNV_PRIME
                    at += 1
            elif first == QUOTE and place == 2:
                h = (h ^ QUOTE) * FNV_PRIME
                at += 1
                while at < end:
                    c = text[at]
                    h = (h ^ c) * FNV_PRIME
                    at += 1
                    if c == BACKSLASH and at < end:
                        h = (h ^ text[at]) * FNV_PRIME
                        at += 1
                        escaped = True
                    elif c == QUOTE:
                        break
                quote = at - 1
                while at < end and text[at] != SPACE:
                    h = (h ^ text[at]) * FNV_PRIME
                    at += 1
            else:
                return -1, at, tail
            if at >= end or text[at] != SPACE:
                return -1, at, tail
            length = at - begin
            # the document's own number of the term
            tag = tag_of(h)
            i = h & mask
            term = -1
            while True:
                local = work[table + i]
                if local == 0:
                    break
                local -= 1
                if work[T_TAG * unit + local] == tag and work[T_LENGTH * unit + local] == length:
                    other = work[T_START * unit + local]
                    same = True
                    for k in range(length):
                        if text[other + k] != text[begin + k]:
                            same = False
                            break
                    if same:
                        term = local
                        break
                i = (i + 1) & mask
            if term < 0:
                term = terms
                terms += 1
                work[table + i] = term + 1
                work[T_TAG * unit + term] = tag
                work[T_START * unit + term] = begin
                work[T_LENGTH * unit + term] = length
                number = find_string(h, text, begin, length, slots, starts, strings)
                work[T_GLOBAL * unit + term] = number
                work[T_FIRST * unit + term] = -1
                work[T_HEAD_P * unit + term] = -1
                work[T_HEAD_O * unit + term] = -1
                work[T_NUMBER * unit + term] = 0
                if quote >= 0:
                    work[T_SUFFIX * unit + term] = quote + 1
                    work[T_TEXT * unit + term] = begin + 1
                    work[T_TEXT_LENGTH * unit + term] = quote - begin - 1
                    if escaped:
                        work[T_TEXT * unit + term] = tail
                        grown = _unescape(text, begin + 1, quote, tail)
                        work[T_TEXT_LENGTH * unit + term] = grown - tail
                        tail = grown
                else:
                    work[T_SUFFIX * unit + term] = -1
                    work[T_TEXT * unit + term] = begin + 1 if first == LESS else -1
                    work[T_TEXT_LENGTH * unit + term] = length - 2
                if number >= 0:
                    j = known_slot(number, mask)
                    while work[W_KNOWN * unit + j] != 0:
                        j = (j + 1) & mask
                    work[W_KNOWN * unit + j] = term + 1
            if place == 0:
                place_s = term
            elif place == 1:
                place_p = term
            else:
                place_o = term
            at += 1
        if at + 1 >= end or text[at] != DOT or text[at + 1] != NEWLINE:
            return -1, at, tail
        at += 2
        if triples > 0 and (place_s != work[W_SUBJECT * unit + run] or place_p != work[W_PREDICATE * unit + run]):
            work[W_RUN_END * unit + run] = triples
            run = triples
        work[W_SUBJECT * unit + triples] = place_s
        work[W_PREDICATE * unit + triples] = place_p
        work[W_OBJECT * unit + triples] = place_o
        if work[T_FIRST * unit + place_s] < 0:
            work[T_FIRST * unit + place_s] = triples
        work[W_NEXT_P * unit + triples] = work[T_HEAD_P * unit + place_p]
        work[T_HEAD_P * unit + place_p] = triples
        work[W_NEXT_O * unit + triples] = work[T_HEAD_O * unit + place_o]
        work[T_HEAD_O * unit + place_o] = triples
        triples += 1
    if triples > 0:
        work[W_RUN_END * unit + run] = triples
    return triples, terms, tail
