"""Grams: eight bytes of a text, or four of a shorter one, as numbers.

A text that `contains` asks for waits under one gram. Which of these a whole document has is found by a few operations
over all of its bytes at once; most documents have none, and then no text is looked at.
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array

_LONG, _SHORT = 8, 4
_BITS = 18
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - _BITS)


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
        marks[_place(np.array([gram], dtype=np.uint64))] = True
        return gram

    def remove(self, text: str, gram: int | None) -> None:
        """A text waits no more."""
        if gram is None:
            return
        self._counts[gram] -= 1
        self._sizes[_LONG if len(text.encode()) >= _LONG else _SHORT] -= 1
        if not self._counts[gram]:
            del self._counts[gram]

    def found_in(self, raw: bytes) -> set[int]:
        """The grams of a text that somebody waits under."""
        found: set[int] = set()
        for size, kind in ((_LONG, "<u8"), (_SHORT, "<u4")):
            if self._sizes[size] and len(raw) >= size:
                grams = np.ndarray((len(raw) - size + 1,), kind, raw, strides=(1,)).astype(np.uint64)
                found.update(grams[self._marks[size][_place(grams)]].tolist())
        return {gram for gram in found if gram in self._counts}


def _place(grams: Array) -> Array:
    return (grams * _FACTOR) >> _SHIFT
