"""Portions: documents on their way through Spark, some at a time, bounded by how many they are and what they weigh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def portions(
    items: Iterable[_Item], weigh: Callable[[_Item], int], *, most: int, most_weight: int
) -> Iterator[list[_Item]]:
    """Lists of so many items at most, which weigh so much at most, or are one item.

    >>> [*portions("abc", lambda item: 4, most=9, most_weight=8)]
    [['a', 'b'], ['c']]
    """
    portion: list[_Item] = []
    size = 0
    for item in items:
        weight = weigh(item)
        if portion and (len(portion) == most or size + weight > most_weight):
            yield portion
            portion, size = [], 0
        portion.append(item)
        size += weight
    if portion:
        yield portion
