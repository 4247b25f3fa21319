"""Hashes and hash tables over flat arrays.

A slot of a string table holds 31 bits of hash above the string's number plus one, so that a probe that misses touches
no text; a probe that hits is verified on the bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.layout import TEXT_1

_FIRST, _SECOND = uint64(1099511628211), uint64(0x9E3779B97F4A7C15)
_ONES, _TOPS, _COUNT = uint64(0x0101010101010101), uint64(0x8080808080808080), uint64(0x0001020304050607)
_A, _B, _C, _D, _E = 4294967311, -7046029254386353131, 5700357409661599241, 2862933555777941757, -4658895280553007687


@compiled
def mix(kind: int, a: int, b: int, c: int) -> int:
    """The access key of a kind and up to three numbers; never 0, which marks an empty slot.

    The products do not wait for each other, which matters: this is the most frequent thing that the kernel does.
    """
    h = a * _B + b * _C + c * _D + (kind + 1) * _A
    h ^= (h >> 32) & 0xFFFFFFFF
    h *= _E
    h ^= (h >> 29) & 0x7FFFFFFFF
    return h if h != 0 else 1


@compiled
def second_hash(key: int) -> int:
    """What a record remembers of a key besides the one that it waits under."""
    return (key >> 12) & 0x7FFFFFFF


@compiled
def gram_length(kind: int) -> int:
    """How many bytes the grams of a kind of access have."""
    return kind - TEXT_1 + 1


@compiled
def hash_gram(predicate: int, gram: int) -> Any:
    """What the filter of grams knows one by: cheaper than a key, because every position of every text asks.

    The last bytes are folded onto the first, because only what is below a bit of a product has a say in it.
    """
    x = uint64(gram) ^ (uint64(predicate) * _FIRST)
    return (x ^ (x >> uint64(32))) * _SECOND


@compiled
def gram_bits(h: Any) -> Any:
    """The two bits that note a gram in its word of the filter: one memory access, and few grams pass by accident."""
    return (uint64(1) << ((h >> uint64(34)) & uint64(63))) | (uint64(1) << ((h >> uint64(28)) & uint64(63)))


@compiled
def gram_word(h: Any, size: int) -> Any:
    """Which word of the filter notes a gram."""
    return (h >> uint64(40)) & uint64(size - 1)


@compiled
def word(text: Array, i: Any) -> Any:
    """Eight bytes as one number. With unsigned places the compiler makes a single read of it."""
    return (
        uint64(text[i])
        | (uint64(text[i + uint64(1)]) << uint64(8))
        | (uint64(text[i + uint64(2)]) << uint64(16))
        | (uint64(text[i + uint64(3)]) << uint64(24))
        | (uint64(text[i + uint64(4)]) << uint64(32))
        | (uint64(text[i + uint64(5)]) << uint64(40))
        | (uint64(text[i + uint64(6)]) << uint64(48))
        | (uint64(text[i + uint64(7)]) << uint64(56))
    )


@compiled
def find_byte(text: Array, at: int, end: int, wanted: int) -> int:
    """The first place from `at` on that holds a byte, or `end`; eight bytes at a time, some of them behind the end."""
    i, n = uint64(at), uint64(end)
    pattern = uint64(wanted) * _ONES
    while i < n:
        x = word(text, i) ^ pattern
        zeros = (x - _ONES) & ~x & _TOPS  # the top bit of each byte that is zero; the lowest is right
        if zeros != uint64(0):
            lowest = zeros & (~zeros + uint64(1))
            found = int(np.int64(i + (((lowest >> uint64(7)) * _COUNT) >> uint64(56))))
            return min(found, end)
        i += uint64(8)
    return end


@compiled
def hash_bytes(text: Array, start: int, end: int) -> int:
    """A hash in the manner of FNV-1a, eight bytes at a time."""
    h = uint64(end - start) * _FIRST
    i, n = uint64(start), uint64(end)
    while i + uint64(8) <= n:
        h = (h ^ word(text, i)) * _SECOND
        h ^= h >> uint64(32)
        i += uint64(8)
    while i < n:
        h = (h ^ uint64(text[i])) * _FIRST
        i += uint64(1)
    h ^= h >> uint64(29)
    h *= _SECOND
    h ^= h >> uint64(32)
    return np.int64(h)  # type: ignore[return-value]  # the same bits, as the signed number that keys are


@compiled
def same_bytes(first: Array, at: int, second: Array, there: int, length: int) -> bool:
    i, j, n = uint64(at), uint64(there), uint64(at + length)
    while i + uint64(8) <= n:
        if word(first, i) != word(second, j):
            return False
        i += uint64(8)
        j += uint64(8)
    while i < n:
        if first[i] != second[j]:
            return False
        i += uint64(1)
        j += uint64(1)
    return True


@compiled
def tag_of(h: int) -> int:
    return (h >> 33) & 0x7FFFFFFF


@compiled
def place_of(h: int) -> int:
    """Where the probing for a string begins, in a table of any size."""
    return h & 0x7FFFFFFF


@compiled
def find_string(
    tag: int, place: int, text: Array, start: int, length: int, slots: Array, starts: Array, strings: Array
) -> int:
    """The number of a string in a string table, or -1; `tag_of` and `place_of` its hash say where to look."""
    mask = slots.size - 1
    i = place & mask
    while True:
        slot = slots[i]
        if slot == 0:
            return -1
        if (slot >> 32) == tag:
            number = (slot & 0xFFFFFFFF) - 1
            at = starts[number]
            if starts[number + 1] - at == length and same_bytes(strings, at, text, start, length):
                return number
        i = (i + 1) & mask


@compiled
def put_string(h: int, number: int, slots: Array) -> None:
    """Enter a string that is not in the table; the caller keeps the table at most half full."""
    mask = slots.size - 1
    i = place_of(h) & mask
    while slots[i] != 0:
        i = (i + 1) & mask
    slots[i] = (tag_of(h) << 32) | (number + 1)


@compiled
def intern_string(blob: Array, start: int, end: int, count: int, slots: Array, starts: Array, strings: Array) -> int:
    """The number of the string at start..end of a blob; it is entered as number `count` if it is new."""
    h = hash_bytes(blob, start, end)
    number = find_string(tag_of(h), place_of(h), blob, start, end - start, slots, starts, strings)
    if number >= 0:
        return number
    at = starts[count]
    for k in range(start, end):
        strings[at + k - start] = blob[k]
    starts[count + 1] = at + end - start
    put_string(h, count, slots)
    return count


@compiled
def rehash_strings(count: int, slots: Array, starts: Array, strings: Array) -> None:
    """Enter strings 0 to count - 1 in empty slots."""
    for number in range(count):
        put_string(hash_bytes(strings, starts[number], starts[number + 1]), number, slots)


@compiled
def find_key(key: int, keys: Array) -> int:
    """The slot of an access key, or of the empty slot where it would go."""
    mask = len(keys) - 1
    i = key & mask
    while keys[i, 0] != 0 and keys[i, 0] != key:
        i = (i + 1) & mask
    return i


@compiled
def set_bit(key: int, bits: Array) -> None:
    """Note in the bitmap that a key is in use; the bitmap makes most misses one cheap read."""
    i = (key >> 20) & (bits.size * 8 - 1)
    bits[i >> 3] |= np.uint8(1 << (i & 7))


@compiled
def has_bit(key: int, bits: Array) -> bool:
    i = (key >> 20) & (bits.size * 8 - 1)
    return (bits[i >> 3] >> (i & 7)) & 1 != 0
