"""The taxonomy in the kernel: a walk up from a class, over an array of parents.

A class that something is an *instance* of is written as its complement: such a step is only ever the first one.
"""

from __future__ import annotations

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.layout import BELOW_OR_SELF, CHILD


@compiled
def ancestors(number: int, parent_starts: Array, parents: Array, queue: Array, marks: Array) -> int:
    """Write the terms above this one to the queue, nearest first; gives how many.

    `marks` holds the number of the walk that met a term last; its place 0 counts the walks.
    """
    if number < 0 or number + 1 >= parent_starts.size:
        return 0
    marks[0] += 1
    walk = marks[0]
    marks[number + 1] = walk
    found, at, current = 0, 0, number
    while True:
        for i in range(parent_starts[current], parent_starts[current + 1]):
            parent = parents[i]
            if parent < 0:
                if current != number:
                    continue
                parent = ~parent
            if marks[parent + 1] != walk:
                marks[parent + 1] = walk
                queue[found] = parent
                found += 1
        if at == found:
            return found
        current = queue[at]
        at += 1


@compiled
def is_below(
    relation: int,
    number: int,
    wanted: int,
    parent_starts: Array,
    parents: Array,
    queue: Array,
    marks: Array,
) -> bool:
    """True if the term has this relation to the wanted class."""
    if relation == BELOW_OR_SELF and number == wanted:
        return True
    if number < 0 or number + 1 >= parent_starts.size:
        return False
    if relation == CHILD:
        for i in range(parent_starts[number], parent_starts[number + 1]):
            if parents[i] == wanted or ~parents[i] == wanted:
                return True
        return False
    for i in range(ancestors(number, parent_starts, parents, queue, marks)):
        if queue[i] == wanted:
            return True
    return False
