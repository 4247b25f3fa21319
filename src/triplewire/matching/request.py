"""The request: a subscription written down for the kernel, which enters it into the tables in one call.

Python spells a branch's terms, and numbers them within the branch; the numbers that they have in the index, the
record, its plan and where it waits are the kernel's business.
"""

from __future__ import annotations

from functools import lru_cache
from struct import pack
from typing import NamedTuple

import numpy as np

from triplewire.algebra.pattern import Conjunction, Optional
from triplewire.matching.bodies import Body, write_body
from triplewire.matching.encoding import dumps, encode
from triplewire.matching.layout import A_REQUEST, A_REQUEST_NUMBERS, A_REQUEST_TEXT, Q_BODY
from triplewire.matching.room import Addresses

_BRANCH = 4 * Q_BODY
"""Where a branch begins in the code of a request, in bytes."""

_LEAST = 1 << 10


class Branch(NamedTuple):
    """A branch, ready to be entered: nothing can go wrong any more."""

    code: bytes
    """How long its parts are, its body, the lengths of its strings, its wanted variables (`layout.Q_BODY` and on)."""
    text: bytes
    """Its constants and columns."""
    numbers: bytes
    """What its numeric tests compare with."""
    strings: int
    """How many constants and columns there are."""


NEVER = Branch(pack("2i", 0, 0), b"", b"", 0)
"""What a subscription that can never match has instead of branches."""


def prepare(branch: Conjunction, answer: tuple[str, ...]) -> Branch:
    """Encode a branch in normal form, and the columns that its subscription's rows have."""
    body = write_body(branch)
    places, fixed = body.places, dict(branch.bindings)
    columns: list[tuple[str, int | str]] = []
    wanted: list[int] = []
    for name in answer:
        slot = places.get("?" + name)
        if slot is not None:
            columns.append((name, slot))
            wanted.append(slot)
        elif name in fixed:
            text = str(fixed[name])
            columns.append((name, places.get(text, text)))
    if not branch.optionals:
        return _packed(body, _plain_columns(answer, tuple(columns)), wanted)
    slots = body.slots()
    names = {name for part in branch.optionals for triple in part.triples for name in triple.variables}
    wanted += [slots[name] for name in names if name in slots]
    optionals = [_encode_optional(optional, slots) for optional in branch.optionals]
    return _packed(body, b"#" + dumps([answer, columns, optionals]), wanted)


@lru_cache(maxsize=1024)
def _plain_columns(answer: tuple[str, ...], columns: tuple[tuple[str, int | str], ...]) -> bytes:
    """Columns without optional parts: few kinds of them for many subscriptions."""
    return b"#" + dumps([answer, columns, ()])


def _encode_optional(optional: Optional, slots: dict[str, int]) -> object:
    return [
        [[encode(node, slots) for node in triple] for triple in optional.triples],
        [encode(condition, slots) for condition in optional.conditions],
    ]


def _packed(body: Body, columns: bytes, wanted: list[int]) -> Branch:
    strings = [*body.constants, columns]
    code = [len(body.code), len(wanted), *body.code, *map(len, strings), *wanted]
    numbers = pack(f"{len(body.numbers)}d", *body.numbers) if body.numbers else b""
    return Branch(pack(f"{len(code)}i", *code), b"".join(strings), numbers, len(strings))


class Request:
    """The memory in which the kernel finds what it is asked for."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._code = self._make(A_REQUEST, np.int32, _LEAST)
        self._text = self._make(A_REQUEST_TEXT, np.uint8, _LEAST)
        self._numbers = self._make(A_REQUEST_NUMBERS, np.float64, _LEAST)

    def begin(self, id: bytes) -> None:
        """Ask about a subscription."""
        if len(id) > len(self._text):
            self._text = self._make(A_REQUEST_TEXT, np.uint8, len(id))
        self._text[: len(id)] = id
        self._code[:_BRANCH] = pack("3i", -1, -1, len(id))

    def add(self, id: bytes, branch: Branch) -> None:
        """Ask for a branch to be entered, behind what the same request has entered before."""
        code, text, numbers = branch.code, id + branch.text, branch.numbers
        if _BRANCH + len(code) > len(self._code):
            head = self._code[:_BRANCH]
            self._code = self._make(A_REQUEST, np.int32, _BRANCH + len(code))
            self._code[:_BRANCH] = head
        if len(text) > len(self._text):
            self._text = self._make(A_REQUEST_TEXT, np.uint8, len(text))
        self._code[_BRANCH : _BRANCH + len(code)] = code
        self._text[: len(text)] = text
        if numbers:
            if len(numbers) > len(self._numbers):
                self._numbers = self._make(A_REQUEST_NUMBERS, np.float64, len(numbers))
            self._numbers[: len(numbers)] = numbers

    def _make(self, row: int, kind: type[np.generic], size: int) -> bytearray:
        """A new buffer of at least so many bytes."""
        buffer = bytearray(2 * size // _LEAST * _LEAST)
        self._addresses.put(row, np.frombuffer(buffer, dtype=kind))
        return buffer
