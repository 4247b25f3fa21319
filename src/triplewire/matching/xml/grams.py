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
_LEAST_MARKS = 1 << 14
_ROOM = 16
"""A filter has so many places for a gram."""


def grams_of(text: str) -> set[int]:
    """All grams of a text."""
    raw = text.encode()
    return {
        int.from_bytes(raw[at : at + size], "little") for size in (_LONG, _SHORT) for at in range(len(raw) - size + 1)
    }


def _number(piece: bytes) -> int:
    return int.from_bytes(piece, "little")


class Grams:
    """The grams that some entry waits under, and which of them a document has."""

    def __init__(self) -> None:
        self._kinds = {size: _Kind() for size in (_LONG, _SHORT)}
        self._found: Array = np.zeros(0, dtype=np.uint64)
        self._places: Array = np.zeros(0, dtype=np.int64)

    def __bool__(self) -> bool:
        return any(kind.counts for kind in self._kinds.values())

    def add(self, text: str) -> int | None:
        """The gram that a text waits under from now on: one that few others have; None if it is too short."""
        raw = text.encode()
        size = _size(raw)
        if len(raw) < size:
            return None
        kind = self._kinds[size]
        pieces = [raw[at : at + size] for at in range(len(raw) - size + 1)]
        # one that goes over the end of a word is rarer in documents than one inside a word
        piece = min(pieces, key=lambda one: (kind.counts.get(_number(one), 0), b" " not in one[1:-1]))
        kind.add(_number(piece))
        return _number(piece)

    def remove(self, text: str, gram: int | None) -> None:
        """A text waits no more."""
        if gram is not None:
            self._kinds[_size(text.encode())].remove(gram)

    def found_in(self, raw: bytes) -> FoundGrams:
        """The grams of a document that somebody waits under."""
        data = np.frombuffer(raw, dtype=np.uint8)
        if len(self._found) < len(raw):
            self._found, self._places = np.zeros(2 * len(raw), np.uint64), np.zeros(2 * len(raw), np.int64)
        met: list[tuple[int, int]] = []
        for size, kind in self._kinds.items():
            if kind.counts:
                number = find_grams(data, size, kind.marks, self._found, self._places)
                found = zip(self._places[:number].tolist(), self._found[:number].tolist(), strict=True)
                met += [pair for pair in found if pair[1] in kind.counts]
        met.sort()
        return FoundGrams(met)


class _Kind:
    """Grams of one size: how many wait under each, and a filter of them that grows with their number."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.marks: Array = np.zeros(_LEAST_MARKS, dtype=np.bool_)

    def add(self, gram: int) -> None:
        self.counts[gram] = self.counts.get(gram, 0) + 1
        if len(self.counts) * _ROOM > self.marks.size:
            self.marks = np.zeros(4 * self.marks.size, dtype=np.bool_)
            for each in self.counts:
                self._mark(each)
        self._mark(gram)

    def remove(self, gram: int) -> None:
        self.counts[gram] -= 1
        if not self.counts[gram]:
            del self.counts[gram]

    def _mark(self, gram: int) -> None:
        self.marks[place_of(np.uint64(gram), self.marks.size)] = True


def _size(raw: bytes) -> int:
    return _LONG if len(raw) >= _LONG else _SHORT


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
