"""Grams: eight bytes of a text, or four of a shorter one, as numbers.

A text that `contains` asks for waits under one gram. Which of these a whole document has is found by a few operations
over all of its bytes; most documents have none, and then no text is looked at.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.kernel import find_grams, place_of

_LONG, _SHORT = 8, 4
_BITS = 16


def grams_of(text: str) -> set[int]:
    """All grams of a text."""
    raw = text.encode()
    return {
        int.from_bytes(raw[at : at + size], "little") for size in (_LONG, _SHORT) for at in range(len(raw) - size + 1)
    }


class Grams:
    """The grams that some entry waits under, and which of them a document has."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._sizes = {_LONG: 0, _SHORT: 0}
        self._marks: dict[int, Array] = {}
        self._found: Array = np.zeros(0, dtype=np.uint64)
        self._places: Array = np.zeros(0, dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, text: str) -> int | None:
        """The gram that a text waits under from now on: one that few others have; None if it is too short."""
        raw = text.encode()
        size = _LONG if len(raw) >= _LONG else _SHORT
        if len(raw) < size:
            return None
        grams = [int.from_bytes(raw[at : at + size], "little") for at in range(len(raw) - size + 1)]
        gram = min(grams, key=lambda one: self._counts.get(one, 0))
        self._counts[gram] = self._counts.get(gram, 0) + 1
        self._sizes[size] += 1
        marks = self._marks.setdefault(size, np.zeros(1 << _BITS, dtype=np.bool_))
        marks[place_of(np.uint64(gram), marks.size)] = True
        return gram

    def remove(self, text: str, gram: int | None) -> None:
        """A text waits no more."""
        if gram is None:
            return
        self._counts[gram] -= 1
        self._sizes[_LONG if len(text.encode()) >= _LONG else _SHORT] -= 1
        if not self._counts[gram]:
            del self._counts[gram]

    def found_in(self, raw: bytes) -> FoundGrams:
        """The grams of a document that somebody waits under."""
        data = np.frombuffer(raw, dtype=np.uint8)
        if len(self._found) < len(raw):
            self._found, self._places = np.zeros(2 * len(raw), np.uint64), np.zeros(2 * len(raw), np.int64)
        met: list[tuple[int, int]] = []
        for size, count in self._sizes.items():
            if count:
                number = find_grams(data, size, self._marks[size], self._found, self._places)
                found = zip(self._places[:number].tolist(), self._found[:number].tolist(), strict=True)
                met += [pair for pair in found if pair[1] in self._counts]
        if self._sizes[_LONG] and self._sizes[_SHORT]:
            met.sort()
        return FoundGrams(met)


class FoundGrams:
    """Grams of a document, and where they are in it."""

    __slots__ = ("_places", "everywhere")

    def __init__(self, met: list[tuple[int, int]]) -> None:
        self._places = [place for place, _ in met]
        self.everywhere = [gram for _, gram in met]

    def between(self, start: int, end: int) -> list[int]:
        """The grams that begin in a part of the document."""
        return self.everywhere[bisect_left(self._places, start) : bisect_left(self._places, end)]


NO_GRAMS = FoundGrams([])
