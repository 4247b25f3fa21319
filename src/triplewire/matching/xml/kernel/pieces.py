"""Pieces of texts that `contains` asks for, found in the values of a document by the grams that they wait under."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled, inlined

_MOST_COMPARED = 64
"""So many bytes of a piece are compared here, the rest by Python: a long one must not cost its length at every byte."""


@compiled
def has_piece(ends: Array, count: int, start: int, end: int) -> bool:
    """True if one of so many places, which ascend, is in a value."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low < count and ends[low] < end


@inlined
def wide_gram(first: np.uint64, second: np.uint64) -> np.uint64:
    """A number for sixteen bytes, from those of both halves."""
    return first * np.uint64(0xC2B2AE3D27D4EB4F) + second


@inlined
def mixed(gram: np.uint64) -> int:
    """A number for a gram, of which any bits will do: each of them depends on all bytes."""
    first = gram * np.uint64(0x9E3779B97F4A7C15)
    second = (first ^ (first >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return int(np.int64(second >> np.uint64(20)))


@compiled
def shift_of(marks: Array) -> int:
    """By how many bits a number of 64 is shifted to say a place in a filter."""
    shift, size = 64, 8 * marks.size
    while size > 1:
        shift, size = shift - 1, size >> 1
    return shift


@inlined
def mark_of(gram: np.uint64, shift: np.uint64) -> np.uint64:
    """The place of a gram in the filter: the uppermost bits of a product depend on all bytes."""
    return (gram * np.uint64(0x9E3779B97F4A7C15)) >> shift


@inlined
def _may_be(gram: np.uint64, shift: np.uint64, marks: Array) -> bool:
    """True if an entry may wait under a gram."""
    place = mark_of(gram, shift)
    return ((marks[place >> np.uint64(3)] >> (place & np.uint64(7))) & np.uint64(1)) != 0


@compiled
def slot_of(gram: np.uint64, keys: Array, heads: Array) -> int:
    """The place of a gram in the table, or the empty one where it would be."""
    at = mixed(gram) & (keys.size - 1)
    while heads[at] != 0 and keys[at] != gram:
        at = (at + 1) & (keys.size - 1)
    return at


@compiled
def link_piece(gram: np.uint64, piece: int, marks: Array, keys: Array, heads: Array, pieces: Array) -> None:
    """Let a piece of text wait under a gram, before those that do already."""
    place = np.int64(mark_of(gram, np.uint64(shift_of(marks))))
    marks[place >> 3] |= np.uint8(1 << (place & 7))
    at = slot_of(gram, keys, heads)
    pieces[piece, 3] = heads[at]
    keys[at] = gram
    heads[at] = piece + 1


@compiled
def _is_there(data: Array, at: int, gram: np.uint64, keys: Array, heads: Array, pieces: Array, texts: Array) -> bool:
    """True if one of the pieces that wait under a gram, which begins here, stands here; of long ones, the beginning."""
    piece = heads[slot_of(gram, keys, heads)]
    while piece != 0:
        offset, first, length = pieces[piece - 1, 0], pieces[piece - 1, 1], pieces[piece - 1, 2]
        start = at - offset
        if start >= 0 and start + length <= data.size:
            i, compared = 0, min(length, _MOST_COMPARED)
            while i < compared and data[start + i] == texts[first + i]:
                i += 1
            if i == compared:
                return True
        piece = pieces[piece - 1, 3]
    return False


@compiled
def find_pieces(
    data: Array,
    start: int,
    end: int,
    uses: Array,
    marks: Array,
    keys: Array,
    heads: Array,
    pieces: Array,
    texts: Array,
    found: Array,
    ends: Array,
    count: int,
) -> int:
    """Write the grams under which a piece waits that is in a part of the data, and where they end; gives how many.

    They come after those of earlier parts. Nothing is called before the filter has been asked: what a call costs would
    be paid for every byte. `uses` says how many pieces wait under grams of sixteen, of eight and of four bytes.
    """
    has_wide, has_long, has_short = uses[0] > 0, uses[1] > 0, uses[2] > 0
    before, gram, shift = np.uint64(0), np.uint64(0), np.uint64(shift_of(marks))
    for i in range(start, end):
        before = (before >> np.uint64(8)) | (gram << np.uint64(56))
        gram = (gram >> np.uint64(8)) | (np.uint64(data[i]) << np.uint64(56))
        if has_wide and i >= start + 15:
            wide = wide_gram(before, gram)
            if _may_be(wide, shift, marks) and _is_there(data, i - 15, wide, keys, heads, pieces, texts):
                found[count], ends[count] = wide, i
                count += 1
        is_long = has_long and i >= start + 7 and _may_be(gram, shift, marks)
        if is_long and _is_there(data, i - 7, gram, keys, heads, pieces, texts):
            found[count], ends[count] = gram, i
            count += 1
        if has_short and i >= start + 3:
            short = gram >> np.uint64(32)
            if _may_be(short, shift, marks) and _is_there(data, i - 3, short, keys, heads, pieces, texts):
                found[count], ends[count] = short, i
                count += 1
    return count
