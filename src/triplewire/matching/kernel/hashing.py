"""Hashes and hash tables over flat arrays.

A slot of a string table holds 31 bits of hash above the string's number plus one, so that a probe that misses touches
no text; a probe that hits is verified on the bytes.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled

FNV_START = -3750763034362895579  # the 64-bit FNV-1a offset basis, as a signed number
FNV_PRIME = 1099511628211
_MIX_1 = -4658895280553007687  # splitmix64's multipliers, as signed numbers
_MIX_2 = -7723592293110705685


@compiled
def mix(kind: int, a: int, b: int, c: int) -> int:
    """The access key of a kind and up to three numbers; never 0, which marks an empty slot."""
    h = (a * 4294967311 + b) * 4294967357 + c * 4294967371 + kind * 1000003
    h = (h ^ ((h >> 30) & 0x3FFFFFFFF)) * _MIX_1
    h = (h ^ ((h >> 27) & 0x1FFFFFFFFF)) * _MIX_2
    h ^= (h >> 31) & 0x1FFFFFFFF
    return h if h != 0 else 1


@compiled
def hash_bytes(text: Array, start: int, end: int) -> int:
    """FNV-1a: as fast as the scan that finds a term's end, of which it is part."""
    h = FNV_START
    for i in range(start, end):
        h = (h ^ text[i]) * FNV_PRIME
    return h


@compiled
def tag_of(h: int) -> int:
    return (h >> 33) & 0x7FFFFFFF


@compiled
def find_string(h: int, text: Array, start: int, length: int, slots: Array, starts: Array, strings: Array) -> int:
    """The number of a string in a string table, or -1."""
    mask = slots.size - 1
    tag = tag_of(h)
    i = h & mask
    while True:
        slot = slots[i]
        if slot == 0:
            return -1
        if (slot >> 32) == tag:
            number = (slot & 0xFFFFFFFF) - 1
            at = starts[number]
            if starts[number + 1] - at == length:
                same = True
                for k in range(length):
                    if strings[at + k] != text[start + k]:
                        same = False
                        break
                if same:
                    return number
        i = (i + 1) & mask


@compiled
def put_string(h: int, number: int, slots: Array) -> None:
    """Enter a string that is not in the table; the caller keeps the table at most half full."""
    mask = slots.size - 1
    i = h & mask
    while slots[i] != 0:
        i = (i + 1) & mask
    slots[i] = (tag_of(h) << 32) | (number + 1)


@compiled
def rehash_strings(count: int, slots: Array, starts: Array, strings: Array) -> None:
    """Enter strings 0 to count - 1 in empty slots."""
    for number in range(count):
        put_string(hash_bytes(strings, starts[number], starts[number + 1]), number, slots)


@compiled
def find_key(key: int, keys: Array) -> int:
    """The slot of an access key, or of the empty slot where it would go."""
    mask = keys.size - 1
    i = key & mask
    while keys[i] != 0 and keys[i] != key:
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
