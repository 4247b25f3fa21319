"""The compiled pass over the tags of a document: which states its elements are in, and which values must be looked at.

It serves what most documents are: canonical XML without namespaces, references, comments and instructions. Values that
nobody can be waiting for are left out here: a filter of the texts that are asked for tells most of them.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled

WATCHED, VALUES, TEXT, ATTRIBUTES, ANY_VALUE, NUMBERS, ANY_TEXT, TEXT_NUMBERS = 1, 2, 4, 8, 16, 32, 64, 128
ELEMENT, TEXT_NODE, ATTRIBUTE = 0, 1, 2
COLUMNS = 6
DONE, UNKNOWN, FULL, DEEP = 0, 1, 2, 3
FILTER_BITS = 16
_LT, _GT, _SLASH, _SPACE, _QUOTE, _EQUALS, _DASH, _DOT, _ZERO, _NINE = 60, 62, 47, 32, 34, 61, 45, 46, 48, 57


@compiled
def hash_of(data: Array, start: int, end: int) -> np.int64:
    """A number for some bytes."""
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64(value >> np.uint64(1))


@compiled
def find_label(data: Array, start: int, end: int, slots: Array, bounds: Array, names: Array) -> int:
    """The number of a name; 0 if no place has it."""
    mask = slots.size - 1
    at = hash_of(data, start, end) & mask
    while slots[at] != 0:
        label = slots[at]
        first = bounds[label - 1]
        if bounds[label] - first == end - start:
            same = True
            for i in range(end - start):
                if names[first + i] != data[start + i]:
                    same = False
                    break
            if same:
                return label
        at = (at + 1) & mask
    return 0


@compiled
def _may_count(data: Array, start: int, end: int, anything: bool, numbers: bool, marks: Array) -> bool:
    """True if somebody may wait for this value."""
    if anything:
        return True
    if numbers and end > start:
        first = data[start]
        if first <= _SPACE or first in (_DASH, _DOT) or _ZERO <= first <= _NINE:
            return True
    return marks[hash_of(data, start, end) & (marks.size - 1)]


@compiled
def scan(
    data: Array,
    transitions: Array,
    flags: Array,
    slots: Array,
    bounds: Array,
    names: Array,
    marks: Array,
    visited: Array,
    heard: Array,
    turn: int,
    met: Array,
    found: Array,
    stack: Array,
) -> tuple[int, int, int]:
    """Go through the tags from the state 0 on; writes the states that are met, each once in a turn, and the values.

    Gives a status, and how many values and states there are; or the state and the label whose following state is not
    known yet.
    """
    depth, state, count, i, size = 0, 0, 0, 0, data.size
    states = 0
    while i < size:
        if data[i + 1] == _SLASH:
            if flags[state] & VALUES:
                start = stack[depth, 1]
                split = stack[depth, 2]
                flag = flags[state]
                if split or _may_count(data, start, i, flag & ANY_VALUE != 0, flag & NUMBERS != 0, marks):
                    if count >= found.shape[0]:
                        return FULL, 0, 0
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = ELEMENT, state, start, i
                    found[count, 4] = split
                    count += 1
            i += 2
            while data[i] != _GT:
                i += 1
            state = stack[depth, 0]
            depth -= 1
        else:
            end = i + 1
            while data[end] != _SPACE and data[end] != _GT:
                end += 1
            label = find_label(data, i + 1, end, slots, bounds, names)
            following = transitions[state, label]
            if following < 0:
                return UNKNOWN, state, label
            stack[depth, 2] = 1
            depth += 1
            if depth >= stack.shape[0]:
                return DEEP, 0, 0
            stack[depth, 0] = state
            state = following
            if visited[state] != turn:
                visited[state] = turn
                met[states] = state
                states += 1
            i = end
            while data[i] == _SPACE:
                name = i + 1
                i = name
                while data[i] != _EQUALS:
                    i += 1
                name_end = i
                start = i + 2
                i = start
                while data[i] != _QUOTE:
                    i += 1
                if flags[state] & ATTRIBUTES:
                    if count >= found.shape[0]:
                        return FULL, 0, 0
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = ATTRIBUTE, state, start, i
                    found[count, 4], found[count, 5] = name, name_end
                    count += 1
                i += 1
            stack[depth, 1] = i + 1
            stack[depth, 2] = 0
        i += 1
        start = i
        while i < size and data[i] != _LT:
            i += 1
        if i > start and flags[state] & TEXT:
            flag = flags[state]
            is_first = heard[state] != turn  # that there is a text counts as well, whatever it says
            if is_first or _may_count(data, start, i, flag & ANY_TEXT != 0, flag & TEXT_NUMBERS != 0, marks):
                heard[state] = turn
                if count >= found.shape[0]:
                    return FULL, 0, 0
                found[count, 0], found[count, 1], found[count, 2], found[count, 3] = TEXT_NODE, state, start, i
                count += 1
    return DONE, count, states


@compiled
def place_of(gram: np.uint64, size: int) -> np.int64:
    """Where a gram is marked in a filter of some size, a power of two."""
    mixed = gram * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(size - 1))


@compiled
def find_grams(data: Array, width: int, marks: Array, found: Array, places: Array) -> int:
    """Write the grams of so many bytes that are marked, and where they begin; gives how many."""
    gram, count = np.uint64(0), 0
    top = np.uint64(8 * (width - 1))
    for i in range(data.size):
        gram = (gram >> np.uint64(8)) | (np.uint64(data[i]) << top)
        if i >= width - 1 and marks[place_of(gram, marks.size)]:
            found[count] = gram
            places[count] = i - width + 1
            count += 1
    return count
