"""The request: a subscription written down for the kernel, which enters it into the tables in one call.

Python only spells what a branch consists of. To number its terms, to find or make its record, to plan that and to
choose where it waits is the kernel's business.
"""

from __future__ import annotations

from functools import lru_cache
from struct import pack, unpack_from

import numpy as np

from triplewire.algebra.pattern import Conjunction, Optional
from triplewire.matching.bodies import write_body
from triplewire.matching.encoding import dumps, encode
from triplewire.matching.layout import A_REQUEST, A_REQUEST_TEXT, Q_COLUMNS, Q_ID, Q_TRIPLES
from triplewire.matching.room import Addresses

NEVER = pack(f"={Q_COLUMNS - Q_ID}i", *([0] * (Q_COLUMNS - Q_ID)))
"""What a subscription that can never match has instead of branches."""


def prepare(branch: Conjunction, answer: tuple[str, ...]) -> bytes:
    """A branch in normal form, with the columns of its subscription's rows, as `layout.Q_TRIPLES` and on say.

    Whatever can go wrong does it here: what is prepared can be entered.
    """
    body = write_body(branch)
    fixed = tuple([(name, body.place(str(term))) for name, term in branch.bindings])
    columns, wanted = _columns(answer, body.variables, fixed, branch.optionals)
    places, _, tests, constants, numbers, residual = body
    spelled = "\n".join(places).encode()
    code = [len(branch.triples), len(constants), len(numbers), len(wanted), len(spelled), len(residual), len(columns)]
    numerals = pack(f"={len(code) + len(tests) + len(wanted)}i{len(numbers)}d", *code, *tests, *wanted, *numbers)
    return b"".join((numerals, spelled, *constants, residual, columns))


_Fixed = tuple[tuple[str, int | str], ...]
"""The variables that are constants, and where: a place of the body, or the term itself."""


@lru_cache(maxsize=1024)
def _columns(
    answer: tuple[str, ...], variables: tuple[str, ...], fixed: _Fixed, optionals: tuple[Optional, ...]
) -> tuple[bytes, list[int]]:
    """The columns' text, and the numbers of the variables that rows depend on: few kinds for many subscriptions."""
    slots = {text[1:]: number for number, text in enumerate(variables)}
    places = slots | dict(fixed)
    named = [(name, places[name]) for name in answer if name in places]
    inner = {name for part in optionals for triple in part.triples for name in triple.variables}
    wanted = [slots[name] for name in slots if name in answer or name in inner]
    return b"#" + dumps([answer, named, [_encode_optional(part, slots) for part in optionals]]), wanted


def _encode_optional(optional: Optional, slots: dict[str, int]) -> object:
    return [
        [[encode(node, slots) for node in triple] for triple in optional.triples],
        [encode(condition, slots) for condition in optional.conditions],
    ]


class Request:
    """The memory in which the kernel finds what it is asked for."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._make(1 << 11)

    def write(self, id: bytes, branch: bytes = NEVER) -> None:
        """Ask about a subscription, or for a new one with its first branch."""
        self._put(0, pack("=3i", -1, -1, len(id)) + branch + id)

    def go_on(self, id: bytes, branch: bytes) -> None:
        """Ask for one more branch, behind the one that was entered last."""
        self._put(4 * Q_ID, pack("=i", len(id)) + branch + id)

    @property
    def strings(self) -> int:
        """How many strings what is asked for may bring into the index."""
        triples, tests = unpack_from("=2i", self._buffer, 4 * Q_TRIPLES)
        return 3 * int(triples) + int(tests) + 3

    @property
    def size(self) -> int:
        """How many bytes these have at most."""
        return len(self._buffer)

    def _put(self, at: int, data: bytes) -> None:
        end = at + len(data)
        if end > len(self._buffer):
            before = self._buffer[:at]
            self._make(2 * end)
            self._buffer[:at] = before
        self._buffer[at:end] = data

    def _make(self, size: int) -> None:
        self._buffer = bytearray(size // 8 * 8)
        self._addresses.put(A_REQUEST, np.frombuffer(self._buffer, dtype=np.int32))
        self._addresses.put(A_REQUEST_TEXT, np.frombuffer(self._buffer, dtype=np.uint8))
