"""Ranges of sorted columns: which rows begin with a key, by binary search."""

from __future__ import annotations

from triplewire.matching.kernel.compiled import Array, compiled


@compiled
def find_ranges(first: Array, second: Array, third: Array, keys: Array, width: int, ranges: Array) -> None:
    """Write the first row of each key and the row after its last; a key is `width` values of the columns, in order."""
    for number in range(keys.shape[0]):
        low = 0
        for side in range(2):  # the first row that is not before the key, then the first that is behind it
            high = first.size
            while low < high:
                middle = (low + high) >> 1
                order = 0
                for place in range(width):
                    if place == 0:
                        value = first[middle]
                    elif place == 1:
                        value = second[middle]
                    else:
                        value = third[middle]
                    if value != keys[number, place]:
                        order = -1 if value < keys[number, place] else 1
                        break
                if order < side:
                    low = middle + 1
                else:
                    high = middle
            ranges[number, side] = low
