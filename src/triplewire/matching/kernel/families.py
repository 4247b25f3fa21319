"""Families: conjunctions that differ only in one threshold, kept sorted by it.

Thousands of matches are then one bisection and a slice (MDV's COMP rules). New members wait in a short unsorted tail,
so that adding one is cheap; the tail is merged when it gets long.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.layout import C_FAMILIES, C_THRESHOLDS, F_CAPACITY, F_SIZE, F_SORTED, F_START

_LEAST = 4
"""How many members a family has room for at first."""


@compiled
def new_family(counts: Array, families: Array) -> int:
    """An empty family."""
    number = counts[C_FAMILIES]
    counts[C_FAMILIES] += 1
    families[number, F_START] = counts[C_THRESHOLDS]
    families[number, F_SORTED] = families[number, F_SIZE] = families[number, F_CAPACITY] = 0
    return number


@compiled
def find_member(family: int, threshold: float, families: Array, thresholds: Array) -> int:
    """The place of the member with this threshold, or -1."""
    start = families[family, F_START]
    ordered, end = start + families[family, F_SORTED], start + families[family, F_SIZE]
    at = start + np.searchsorted(thresholds[start:ordered], threshold)
    if at < ordered and thresholds[at] == threshold:
        return at
    for place in range(ordered, end):
        if thresholds[place] == threshold:
            return place
    return -1


@compiled
def room_for_member(family: int, families: Array) -> int:
    """How many more thresholds there must be room for, so that a family can have one more member."""
    if family >= 0 and families[family, F_SIZE] < families[family, F_CAPACITY]:
        return 0
    return _LEAST if family < 0 else max(_LEAST, 2 * families[family, F_SIZE])


@compiled
def add_member(family: int, threshold: float, counts: Array, families: Array, thresholds: Array, members: Array) -> int:
    """A new member without entries; gives its place, which later changes to the family may move."""
    more = room_for_member(family, families)
    if more > 0:
        _move(family, more, counts, families, thresholds, members)
    place = families[family, F_START] + families[family, F_SIZE]
    thresholds[place] = threshold
    members[place] = -1
    families[family, F_SIZE] += 1
    ordered, size = families[family, F_SORTED], families[family, F_SIZE]
    if size - ordered > 16 + 2 * int(np.sqrt(ordered)):
        _merge(family, families, thresholds, members)
        return find_member(family, threshold, families, thresholds)
    return place


@compiled
def remove_member(family: int, place: int, families: Array, thresholds: Array, members: Array) -> None:
    """Take a member out; those behind it move up."""
    start, ordered, size = families[family, F_START], families[family, F_SORTED], families[family, F_SIZE]
    for i in range(place, start + size - 1):
        thresholds[i] = thresholds[i + 1]
        members[i] = members[i + 1]
    families[family, F_SIZE] = size - 1
    if place < start + ordered:
        families[family, F_SORTED] = ordered - 1


@compiled
def _move(family: int, capacity: int, counts: Array, families: Array, thresholds: Array, members: Array) -> None:
    """Give a family room at the end of the pool; its old place is lost until the index is built anew."""
    start, fresh = families[family, F_START], counts[C_THRESHOLDS]
    for i in range(families[family, F_SIZE]):
        thresholds[fresh + i] = thresholds[start + i]
        members[fresh + i] = members[start + i]
    counts[C_THRESHOLDS] = fresh + capacity
    families[family, F_START] = fresh
    families[family, F_CAPACITY] = capacity


@compiled
def _merge(family: int, families: Array, thresholds: Array, members: Array) -> None:
    """Sort the tail, and merge it into the sorted part from behind, where there is room for the larger one."""
    start, ordered, size = families[family, F_START], families[family, F_SORTED], families[family, F_SIZE]
    tail = thresholds[start + ordered : start + size].copy()
    wanting = members[start + ordered : start + size].copy()
    order = np.argsort(tail)
    left, right = ordered - 1, tail.size - 1
    for place in range(start + size - 1, start - 1, -1):
        if right < 0:
            break
        if left >= 0 and thresholds[start + left] > tail[order[right]]:
            thresholds[place], members[place] = thresholds[start + left], members[start + left]
            left -= 1
        else:
            thresholds[place], members[place] = tail[order[right]], wanting[order[right]]
            right -= 1
    families[family, F_SORTED] = size
