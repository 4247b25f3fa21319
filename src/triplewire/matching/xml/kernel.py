"""The compiled pass over the tags of a document: which states its elements are in, and which values must be looked at.

It serves what most documents are: canonical XML without namespaces, references, comments and instructions. Values that
nobody can be waiting for are left out here: a filter of the texts that are asked for tells most of them.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled, inlined

EXISTS, VALUES, EQUAL, PIECES, NUMBERS, SAME, ANYTHING = 1, 2, 4, 8, 16, 32, 64
"""What waits at a look: for the place alone; for a value: equal texts, pieces of texts, thresholds, equal numbers."""
OWN, TEXT, ATTRIBUTES = 0, 1, 2
"""A state's look at its element, that at its texts (or NOWHERE), and whether it has any at attributes."""
UNKNOWN, NOWHERE = -1, -2
COLUMNS = 4
"""A value that must be looked at: its look, its first byte, the one after its last, and if elements are inside."""
DONE, NEW_STATE, NEW_LOOK, FULL, DEEP, STRANGE = 0, 1, 2, 3, 4, 5
_NO_NUMBER, _NUMBER, _HARD = 0, 1, 2
_MOST_DIGITS = 15
"""Numbers of so many digits are exact before and after one division, and rounded as Python rounds them."""
_NEAR = 2e-12
_POWERS = np.array([10.0**power for power in range(_MOST_DIGITS + 1)])
_LT, _GT, _SLASH, _SPACE, _QUOTE, _EQUALS, _COLON = 60, 62, 47, 32, 34, 61, 58
_DASH, _DOT, _ZERO, _NINE, _BANG, _QUESTION = 45, 46, 48, 57, 33, 63
_XMLNS = (120, 109, 108, 110, 115)
_EXPONENT = 101
_LOWER = 32
_MOST_COMPARED = 64
"""So many bytes of a piece are compared here, the rest by Python: a long one must not cost its length at every byte."""


@compiled
def hash_of(data: Array, start: int, end: int) -> int:
    """A number for some bytes."""
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return int(np.int64(value >> np.uint64(1)))


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
def label_of(data: Array, start: int, end: int, slots: Array, bounds: Array, names: Array) -> int:
    """The same; names that begin with `xml:`, the only prefix that needs no declaration, have a number for all others.

    It is the one after those of all names.
    """
    label = find_label(data, start, end, slots, bounds, names)
    if label == 0 and end - start > 4 and data[start + 3] == _COLON:
        return bounds.size
    return label


@inlined
def is_marked(marks: Array, place: int) -> bool:
    """True if a bit of a filter is set."""
    return ((marks[place >> 3] >> (place & 7)) & 1) != 0


@compiled
def mark_text(data: Array, size: int, marks: Array) -> None:
    """Mark a text in the filter of those that values are compared with."""
    place = hash_of(data, 0, size) & (8 * marks.size - 1)
    marks[place >> 3] |= np.uint8(1 << (place & 7))


@compiled
def _is_blank(byte: int) -> bool:
    return byte == _SPACE or 9 <= byte <= 10 or byte == 13


@compiled
def number_in(data: Array, start: int, end: int) -> tuple[int, float]:
    """Whether a value is a number, and which; long ones and those with exponents are left to Python."""
    while start < end and _is_blank(data[start]):
        start += 1
    while start < end and _is_blank(data[end - 1]):
        end -= 1
    is_negative = start < end and data[start] == _DASH
    if is_negative:
        start += 1
    whole, digits, decimals, has_dot = 0, 0, 0, False
    for i in range(start, end):
        byte = data[i]
        if _ZERO <= byte <= _NINE:
            digits += 1
            if digits > _MOST_DIGITS:
                return _HARD, 0.0
            whole = 10 * whole + byte - _ZERO
            if has_dot:
                decimals += 1
        elif byte == _DOT and not has_dot:
            has_dot = True
        elif digits and byte | _LOWER == _EXPONENT:
            return _HARD, 0.0
        else:
            return _NO_NUMBER, 0.0
    if digits == 0:
        return _NO_NUMBER, 0.0
    number = whole / _POWERS[decimals]
    return _NUMBER, -number if is_negative else number


@compiled
def first_from(ends: Array, count: int, start: int) -> int:
    """Which of so many ascending numbers is the first that is not below another."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _is_wanted(
    data: Array, start: int, end: int, look: int, flag: int, marks: Array, ends: Array, count: int, extremes: Array
) -> bool:
    """True if somebody may wait for this value; numbers are only noted, where there are just thresholds."""
    if flag & ANYTHING:
        return True
    if flag & (NUMBERS | SAME):
        kind, number = number_in(data, start, end)
        if kind == _HARD or (kind == _NUMBER and flag & SAME):
            return True
        if kind == _NUMBER:
            extremes[look, 0] = min(extremes[look, 0], number)
            extremes[look, 1] = max(extremes[look, 1], number)
    if flag & PIECES and count:
        at = first_from(ends, count, start)
        if at < count and ends[at] < end:
            return True
    return flag & EQUAL != 0 and is_marked(marks, hash_of(data, start, end) & (8 * marks.size - 1))


@inlined
def _declares(data: Array, name: int) -> bool:
    """True if an attribute's name begins as those do that declare namespaces."""
    return (
        data[name] == _XMLNS[0]
        and data[name + 1] == _XMLNS[1]
        and data[name + 2] == _XMLNS[2]
        and data[name + 3] == _XMLNS[3]
        and data[name + 4] == _XMLNS[4]
    )


@compiled
def _passes(number: float, edge: float) -> bool:
    return number + abs(number) * _NEAR + 5e-324 >= edge


@compiled
def scan(
    data: Array,
    transitions: Array,
    attributes: Array,
    places: Array,
    flags: Array,
    edges: Array,
    slots: Array,
    bounds: Array,
    names: Array,
    marks: Array,
    ends: Array,
    pieces: int,
    seen: Array,
    turn: int,
    extremes: Array,
    met: Array,
    told: Array,
    found: Array,
    stack: Array,
) -> tuple[int, int, int, int]:
    """Go through the tags from the state 0 on; writes the looks that are met, each once in a turn, and the values.

    Of the looks, those are told where somebody waits for the place, or for a number that was passed. `ends` is where
    pieces of text were found. Gives a status, and how many values, looks and told ones there are; or the state and the
    label whose following state or look is not known yet.
    """
    depth, state, count, i, size, looks = 0, 0, 0, 0, data.size, 0
    while i < size:
        if data[i + 1] == _SLASH:
            look = places[state, OWN]
            flag = flags[look]
            if flag & VALUES:
                start, split = stack[depth, 1], stack[depth, 2]
                if split or _is_wanted(data, start, i, look, flag, marks, ends, pieces, extremes):
                    if count >= found.shape[0]:
                        return FULL, 0, 0, 0
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = look, start, i, split
                    count += 1
            i += 2
            while data[i] != _GT:
                i += 1
            state = stack[depth, 0]
            depth -= 1
        elif data[i + 1] in (_BANG, _QUESTION):
            return STRANGE, 0, 0, 0
        else:
            end = i + 1
            while data[end] != _SPACE and data[end] != _GT:
                end += 1
            label = label_of(data, i + 1, end, slots, bounds, names)
            following = transitions[state, label]
            if following == UNKNOWN:
                return NEW_STATE, state, label, 0
            stack[depth, 2] = 1
            depth += 1
            if depth >= stack.shape[0]:
                return DEEP, 0, 0, 0
            stack[depth, 0] = state
            state = following
            look = places[state, OWN]
            if seen[look] != turn:
                seen[look] = turn
                extremes[look, 0], extremes[look, 1] = np.inf, -np.inf
                met[looks] = look
                looks += 1
            i = end
            while data[i] == _SPACE:
                name = i + 1
                i = name
                while data[i] != _EQUALS:
                    i += 1
                name_end = i
                if name_end - name >= 5 and _declares(data, name):
                    return STRANGE, 0, 0, 0
                start = i + 2
                i = start
                while data[i] != _QUOTE:
                    i += 1
                if places[state, ATTRIBUTES]:
                    label = label_of(data, name, name_end, slots, bounds, names)
                    look = attributes[state, label]
                    if look == UNKNOWN:
                        return NEW_LOOK, state, label, 0
                    if look != NOWHERE:
                        if seen[look] != turn:
                            seen[look] = turn
                            extremes[look, 0], extremes[look, 1] = np.inf, -np.inf
                            met[looks] = look
                            looks += 1
                        flag = flags[look]
                        if flag & VALUES and _is_wanted(data, start, i, look, flag, marks, ends, pieces, extremes):
                            if count >= found.shape[0]:
                                return FULL, 0, 0, 0
                            found[count, 0], found[count, 1], found[count, 2], found[count, 3] = look, start, i, 0
                            count += 1
                i += 1
            stack[depth, 1] = i + 1
            stack[depth, 2] = 0
        i += 1
        start = i
        while i < size and data[i] != _LT:
            i += 1
        if i > start and places[state, TEXT] != NOWHERE:
            look = places[state, TEXT]
            if seen[look] != turn:
                seen[look] = turn
                extremes[look, 0], extremes[look, 1] = np.inf, -np.inf
                met[looks] = look
                looks += 1
            flag = flags[look]
            if flag & VALUES and _is_wanted(data, start, i, look, flag, marks, ends, pieces, extremes):
                if count >= found.shape[0]:
                    return FULL, 0, 0, 0
                found[count, 0], found[count, 1], found[count, 2], found[count, 3] = look, start, i, 0
                count += 1
    tellings = 0
    for j in range(looks):
        look = met[j]
        least, greatest = extremes[look, 0], extremes[look, 1]
        passed = least <= greatest and (_passes(greatest, edges[look, 0]) or _passes(-least, edges[look, 1]))
        if passed or flags[look] & EXISTS:
            told[tellings] = look
            tellings += 1
    return DONE, count, looks, tellings


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
    """True if somebody may wait under a gram."""
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
    uses: Array,
    marks: Array,
    keys: Array,
    heads: Array,
    pieces: Array,
    texts: Array,
    found: Array,
    ends: Array,
) -> int:
    """Write the grams under which a piece waits that is in the document, and where they end; gives how many.

    Nothing is called before the filter has been asked: what a call costs would be paid for every byte.

    `uses` says how many pieces wait under grams of sixteen, of eight and of four bytes.
    """
    has_wide, has_long, has_short = uses[0] > 0, uses[1] > 0, uses[2] > 0
    before, gram, count, shift = np.uint64(0), np.uint64(0), 0, np.uint64(shift_of(marks))
    for i in range(data.size):
        before = (before >> np.uint64(8)) | (gram << np.uint64(56))
        gram = (gram >> np.uint64(8)) | (np.uint64(data[i]) << np.uint64(56))
        if has_wide and i >= 15:
            wide = wide_gram(before, gram)
            if _may_be(wide, shift, marks) and _is_there(data, i - 15, wide, keys, heads, pieces, texts):
                found[count], ends[count] = wide, i
                count += 1
        is_long = has_long and i >= 7 and _may_be(gram, shift, marks)
        if is_long and _is_there(data, i - 7, gram, keys, heads, pieces, texts):
            found[count], ends[count] = gram, i
            count += 1
        if has_short and i >= 3:
            short = gram >> np.uint64(32)
            if _may_be(short, shift, marks) and _is_there(data, i - 3, short, keys, heads, pieces, texts):
                found[count], ends[count] = short, i
                count += 1
    return count
