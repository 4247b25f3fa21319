"""Names of elements and attributes as numbers: a table of those that places have, and the namespaces at a tag.

An entry of the table is a namespace, or a name in one. The number of a name that no place has is that of its namespace,
so that a wildcard for all names of it can be told; where no place has the namespace either, it is 0.
"""

from __future__ import annotations

from triplewire.matching.kernel.compiled import Array, compiled, inlined
from triplewire.matching.xml.kernel.values import hash_of

NO_NAMESPACE, XML_NAMESPACE, STRANGE_NAMESPACE = 0, 1, -1
"""Namespaces have the numbers of their entries; the one of `xml:`, which nobody declares, is the first."""
A_NAMESPACE = -2
"""What an entry has in place of its namespace if it is one itself."""
FIRST, END, OWNER = 0, 1, 2
"""An entry: where its name begins and ends, and the number of its namespace. That with the number 0 is none."""
_COLON, _EQUALS = 58, 61
_XMLNS = (120, 109, 108, 110, 115)


@compiled
def slot_of_name(data: Array, start: int, end: int, owner: int, slots: Array, entries: Array, names: Array) -> int:
    """Where the number of a name in a namespace is, or would be."""
    mask = slots.size - 1
    at = hash_of(data, start, end, owner) & mask
    while slots[at] != 0:
        entry = slots[at]
        first = entries[entry, FIRST]
        if entries[entry, OWNER] == owner and entries[entry, END] - first == end - start:
            i = 0
            while i < end - start and names[first + i] == data[start + i]:
                i += 1
            if i == end - start:
                return at
        at = (at + 1) & mask
    return at


@compiled
def label_of(data: Array, start: int, end: int, owner: int, slots: Array, entries: Array, names: Array) -> int:
    """The number of a name in a namespace."""
    if owner == STRANGE_NAMESPACE:
        return 0
    label = slots[slot_of_name(data, start, end, owner, slots, entries, names)]
    return label if label != 0 else owner


@compiled
def namespace_of(data: Array, start: int, end: int, slots: Array, entries: Array, names: Array) -> int:
    """The number of a namespace as it is declared; one that is empty is none."""
    if start == end:
        return NO_NAMESPACE
    number = slots[slot_of_name(data, start, end, A_NAMESPACE, slots, entries, names)]
    return number if number != 0 else STRANGE_NAMESPACE


@inlined
def declares(data: Array, name: int) -> bool:
    """True if an attribute declares a namespace."""
    return (
        data[name] == _XMLNS[0]
        and data[name + 1] == _XMLNS[1]
        and data[name + 2] == _XMLNS[2]
        and data[name + 3] == _XMLNS[3]
        and data[name + 4] == _XMLNS[4]
        and (data[name + 5] == _COLON or data[name + 5] == _EQUALS)
    )


@compiled
def scope_of(data: Array, start: int, end: int, scopes: Array, bound: int) -> int:
    """The namespace of a prefix, which may be empty, by the declarations that count: the last one does."""
    size = end - start
    if size == 3 and data[start] == _XMLNS[0] and data[start + 1] == _XMLNS[1] and data[start + 2] == _XMLNS[2]:
        return XML_NAMESPACE
    for at in range(bound - 1, -1, -1):
        first = scopes[at, 0]
        if scopes[at, 1] - first == size:
            i = 0
            while i < size and data[first + i] == data[start + i]:
                i += 1
            if i == size:
                return scopes[at, 2]
    return NO_NAMESPACE
