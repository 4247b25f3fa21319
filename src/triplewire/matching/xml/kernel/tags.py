"""The pass over the tags of a document: which states its elements are in, and which values must be looked at.

The values are written down as they are meant, without references: all texts one after another, so that the value of an
element is a part of them, whatever elements, comments and instructions are in it; and those of attributes behind.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled, inlined
from triplewire.matching.xml.kernel.names import NO_NAMESPACE, declares, label_of, namespace_of, scope_of
from triplewire.matching.xml.kernel.pieces import find_pieces, has_piece
from triplewire.matching.xml.kernel.values import (
    ABOVE,
    BELOW,
    EXISTS,
    FLAGS,
    GREATEST,
    KEPT,
    LEAST,
    NO,
    SEEN,
    VALUES,
    YES,
    judged,
    read_value,
)

OWN, TEXT, ATTRIBUTES = 0, 1, 2
"""A state's look at its element, that at its texts (or NOWHERE), and whether it has any at attributes."""
UNKNOWN, NOWHERE = -1, -2
STATE, START, BOUND = 0, 1, 2
"""An open element: the state around it, where its value starts, and how many declarations count around it."""
COLUMNS = 4
"""A value that must be looked at: its look, its first byte, the one after its last, and if that is sure."""
DONE, NEW_STATE, NEW_LOOK, FULL, STRANGE = 0, 1, 2, 3, 4
_LT, _GT, _SLASH, _SPACE, _QUOTE, _EQUALS, _COLON, _BANG, _QUESTION, _DASH = 60, 62, 47, 32, 34, 61, 58, 33, 63, 45


@inlined
def _end_of(data: Array, i: int, byte: int) -> int:
    while data[i] != byte:
        i += 1
    return i


@inlined
def _meet(look: int, turn: int, looks: Array, numbers: Array, lists: Array, met: int) -> int:
    """Write down that a look is met, once in a turn; gives how many are."""
    if looks[look, SEEN] != turn:
        looks[look, SEEN] = turn
        numbers[look, LEAST], numbers[look, GREATEST] = np.inf, -np.inf
        lists[0, met] = look
        met += 1
    return met


@compiled
def _end_of_aside(data: Array, i: int) -> int:
    """Where a comment or an instruction ends; -- stands nowhere else in a comment, nor ?> in an instruction."""
    first, second = (_DASH, _DASH) if data[i + 1] == _BANG else (_QUESTION, _GT)
    i += 4 if first == _DASH else 2
    while data[i] != first or data[i + 1] != second:
        i += 1
    return i + 2 if first == _DASH else i + 1


@compiled
def _tell(looks: Array, numbers: Array, lists: Array, met: int) -> int:
    """Write down which of the looks that are met must be told; gives how many."""
    told = 0
    for i in range(met):
        look = lists[0, i]
        least, greatest = numbers[look, LEAST], numbers[look, GREATEST]
        passed = greatest > numbers[look, ABOVE] or -least > numbers[look, BELOW]
        if passed or looks[look, FLAGS] & EXISTS:
            lists[1, told] = look
            told += 1
    return told


@compiled
def _look_at(
    plain: Array,
    start: int,
    end: int,
    look: int,
    looks: Array,
    numbers: Array,
    marks: Array,
    longest: int,
    found: Array,
    count: int,
    kept: Array,
    keeping: int,
) -> tuple[int, int]:
    """Write a value down if it must be looked at, or is kept, and if there is room; gives how many are, of both."""
    flag = looks[look, FLAGS]
    if flag & VALUES:
        wanted = judged(plain, start, end, look, looks, numbers, marks, longest)
        if wanted != NO:
            if count < found.shape[0]:
                found[count, 0], found[count, 1], found[count, 2], found[count, 3] = look, start, end, wanted
            count += 1
    if flag & KEPT:
        if keeping < kept.shape[0]:
            kept[keeping, 0], kept[keeping, 1], kept[keeping, 2] = look, start, end
        keeping += 1
    return count, keeping


@compiled
def _keep(found: Array, count: int, ends: Array, pieces: int) -> int:
    """Leave out the values that were to be looked at if a piece is in them, and none is; gives how many are left."""
    kept = 0
    for i in range(count):
        start, end, wanted = found[i, 1], found[i, 2], found[i, 3]
        if wanted == YES or has_piece(ends, pieces, start, end):
            found[kept, 0], found[kept, 1], found[kept, 2] = found[i, 0], start, end
            kept += 1
    return kept


@compiled
def scan(
    data: Array,
    plain: Array,
    moves: Array,
    places: Array,
    looks: Array,
    numbers: Array,
    lists: Array,
    slots: Array,
    entries: Array,
    names: Array,
    marks: Array,
    longest: int,
    uses: Array,
    gram_marks: Array,
    keys: Array,
    heads: Array,
    pieces: Array,
    texts: Array,
    grams: Array,
    ends: Array,
    found: Array,
    kept: Array,
    stack: Array,
    scopes: Array,
    turn: int,
) -> tuple[int, int, int, int, int, int, int, int]:
    """Go through the tags from the state 0 on; writes the looks that are met, each once in a turn, and the values.

    `plain` has room for the data twice: texts are written from its beginning, attributes from its middle. Of the looks,
    those are told where an entry waits for the place, or for a number that was passed. Gives a status, and how many
    values, looks, told ones and grams there are, how many nodes at most, how many levels, and how many values are
    kept; or the state and the label whose following state or look is not known.
    """
    depth, state, bound, count, met, i, size = 0, 0, 0, 0, 0, 0, data.size
    used, valued, nodes, deepest, keeping = 0, size, 1, 0, 0
    while i < size:
        kind = data[i + 1]
        nodes += 2
        if kind == _SLASH:
            look, start = places[state, OWN], stack[depth, START]
            count, keeping = _look_at(
                plain, start, used, look, looks, numbers, marks, longest, found, count, kept, keeping
            )
            i = _end_of(data, i + 2, _GT)
            state, bound = stack[depth, STATE], stack[depth, BOUND]
            depth -= 1
        elif kind in (_BANG, _QUESTION):
            i = _end_of_aside(data, i)
        else:
            name, colon, end = i + 1, -1, i + 1
            while data[end] != _SPACE and data[end] != _GT:
                if data[end] == _COLON:
                    colon = end
                end += 1
            depth += 1
            deepest = max(deepest, depth)
            if depth >= stack.shape[0]:
                return STRANGE, 0, 0, 0, 0, 0, 0, 0
            stack[depth, STATE], stack[depth, START], stack[depth, BOUND] = state, used, bound
            i = end
            while data[i] == _SPACE and declares(data, i + 1):
                prefix = i + 6 + (data[i + 6] == _COLON)
                prefix_end = _end_of(data, prefix, _EQUALS)
                i = _end_of(data, prefix_end + 2, _QUOTE) + 1
                if bound >= scopes.shape[0]:
                    return STRANGE, 0, 0, 0, 0, 0, 0, 0
                scopes[bound, 0], scopes[bound, 1] = prefix, prefix_end
                scopes[bound, 2] = namespace_of(data, prefix_end + 2, i - 1, slots, entries, names)
                bound += 1
                nodes += 1
            owner = scope_of(data, name, max(colon, name), scopes, bound) if bound or colon > 0 else NO_NAMESPACE
            label = label_of(data, max(colon + 1, name), end, owner, slots, entries, names)
            following = moves[0, state, label]
            if following == UNKNOWN:
                return NEW_STATE, state, label, 0, 0, 0, 0, 0
            state = following
            met = _meet(places[state, OWN], turn, looks, numbers, lists, met)
            while data[i] == _SPACE:
                name, colon, end = i + 1, -1, i + 1
                while data[end] != _EQUALS:
                    if data[end] == _COLON:
                        colon = end
                    end += 1
                nodes += 1
                look = NOWHERE
                if places[state, ATTRIBUTES]:
                    owner = scope_of(data, name, colon, scopes, bound) if colon > 0 else NO_NAMESPACE
                    label = label_of(data, max(colon + 1, name), end, owner, slots, entries, names)
                    look = moves[1, state, label]
                    if look == UNKNOWN:
                        return NEW_LOOK, state, label, 0, 0, 0, 0, 0
                if look == NOWHERE:
                    i = _end_of(data, end + 2, _QUOTE) + 1
                else:
                    met = _meet(look, turn, looks, numbers, lists, met)
                    start = valued
                    i, valued = read_value(data, end + 2, _QUOTE, plain, valued)
                    i += 1
                    count, keeping = _look_at(
                        plain, start, valued, look, looks, numbers, marks, longest, found, count, kept, keeping
                    )
        start = used
        i, used = read_value(data, i + 1, _LT, plain, used)
        if used > start and places[state, TEXT] != NOWHERE:
            look = places[state, TEXT]
            met = _meet(look, turn, looks, numbers, lists, met)
            count, keeping = _look_at(
                plain, start, used, look, looks, numbers, marks, longest, found, count, kept, keeping
            )
    if count > found.shape[0] or keeping > kept.shape[0]:
        return FULL, 0, 0, 0, 0, 0, 0, 0
    hits = 0
    if np.any(found[:count, 3] != YES):
        hits = find_pieces(plain, 0, used, uses, gram_marks, keys, heads, pieces, texts, grams, ends, hits)
        hits = find_pieces(plain, size, valued, uses, gram_marks, keys, heads, pieces, texts, grams, ends, hits)
        count = _keep(found, count, ends, hits)
    return DONE, count, met, _tell(looks, numbers, lists, met), hits, nodes, deepest, keeping
