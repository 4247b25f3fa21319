"""The request: a subscription as the kernel is told it, which enters it into the tables in one call.

What is asked for is the canonical form of a pattern as it is. To number its terms, to find or make its record, to plan
that and to choose where it waits is the kernel's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, unpack_from

import numpy as np

from triplewire.errors import PatternError
from triplewire.matching.layout import (
    A_REQUEST,
    A_REQUEST_TEXT,
    MOST_STEPS_IN_PROGRAM,
    MOST_VARIABLES,
    Q_CONSTANTS,
    Q_TRIPLES,
    REQUEST,
)
from triplewire.matching.room import Addresses

NEVER = bytes(4 * (REQUEST - Q_TRIPLES))
"""What a subscription that can never match has instead of branches."""

_ABOUT = Struct("=3i")
_SIZES = Struct("=3i")


def check(branches: Iterable[bytes]) -> None:
    """Refuse branches that no record can be made of; what is not refused can be entered."""
    for branch in branches:
        triples, tests, variables = _SIZES.unpack_from(branch)
        if not triples:
            raise PatternError("a pattern needs at least one triple pattern: without one, every document would match")
        if triples + tests > MOST_STEPS_IN_PROGRAM or variables > MOST_VARIABLES:
            raise PatternError("the pattern is too large; split it into several subscriptions")


class Request:
    """The memory in which the kernel finds what it is asked for."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._make(1 << 11)

    def write(self, id: bytes, branch: bytes = NEVER) -> None:
        """Ask about a subscription, or for a new one with its first branch."""
        self._put(0, _ABOUT.pack(-1, -1, len(id)) + branch + id)

    def go_on(self, branch: bytes) -> None:
        """Ask for one more branch, behind the one that was entered last."""
        self._put(4 * Q_TRIPLES, branch)

    @property
    def strings(self) -> int:
        """How many strings what is asked for may bring into the index."""
        (constants,) = unpack_from("=i", self._buffer, 4 * Q_CONSTANTS)
        return int(constants) + 2

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
