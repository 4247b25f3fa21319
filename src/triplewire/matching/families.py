"""Families: conjunctions that differ only in one threshold, kept sorted by it.

Thousands of matches are then one bisection and a slice (MDV's COMP rules). New members wait in a short unsorted tail,
so that adding one is cheap; the tail is merged when it gets long.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from triplewire.matching.image import Image
from triplewire.matching.layout import F_CAPACITY, F_SIZE, F_SORTED, F_START


def new_family(image: Image) -> int:
    """An empty family."""
    number = image.used["families"]
    families = image.reserve("families", number + 1)
    families[number] = (image.used["thresholds"], 0, 0, 0)
    image.used["families"] = number + 1
    return number


def find_member(image: Image, family: int, threshold: float) -> int:
    """The place of the member with this threshold, or -1."""
    start, ordered, size, _ = image["families"][family].tolist()
    thresholds = image["thresholds"]
    at = start + int(np.searchsorted(thresholds[start : start + ordered], threshold))
    if at < start + ordered and thresholds[at] == threshold:
        return at
    tail = np.flatnonzero(thresholds[start + ordered : start + size] == threshold)
    return start + ordered + int(tail[0]) if tail.size else -1


def add_member(image: Image, family: int, threshold: float) -> int:
    """A new member without entries; gives its place, which later changes to the family may move."""
    start, ordered, size, capacity = image["families"][family].tolist()
    if size == capacity:
        start, capacity = _move(image, family, max(4, 2 * size))
    image["thresholds"][start + size] = threshold
    image["members"][start + size] = -1
    size += 1
    image["families"][family] = (start, ordered, size, capacity)
    if size - ordered > 16 + 2 * isqrt(ordered):
        _merge(image, family)
        return find_member(image, family, threshold)
    return int(start + size - 1)


def remove_member(image: Image, family: int, place: int) -> None:
    """Take a member out; those behind it move up."""
    start, ordered, size, _ = image["families"][family].tolist()
    for name in ("thresholds", "members"):
        array = image[name]
        array[place : start + size - 1] = array[place + 1 : start + size].copy()
    image["families"][family, F_SIZE] = size - 1
    if place < start + ordered:
        image["families"][family, F_SORTED] = ordered - 1


def _move(image: Image, family: int, capacity: int) -> tuple[int, int]:
    """Give a family room at the end of the pool; its old place is lost until the index is built anew."""
    start, _, size, _ = image["families"][family].tolist()
    fresh = image.used["thresholds"]
    for name in ("thresholds", "members"):
        array = image.reserve(name, fresh + capacity)
        array[fresh : fresh + size] = array[start : start + size]
    image.used["thresholds"] = fresh + capacity
    image["families"][family, F_START] = fresh
    image["families"][family, F_CAPACITY] = capacity
    return fresh, capacity


def _merge(image: Image, family: int) -> None:
    start, _, size, _ = image["families"][family].tolist()
    part = slice(start, start + size)
    order = np.argsort(image["thresholds"][part], kind="stable")
    image["thresholds"][part] = image["thresholds"][part][order]
    image["members"][part] = image["members"][part][order]
    image["families"][family, F_SORTED] = size
