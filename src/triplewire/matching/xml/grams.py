"""Grams: sixteen bytes of a text, or eight or four of a shorter one, as numbers.

A text that `contains` asks for waits under one gram. Where a document has this gram, the whole text is compared, all of
it compiled; so most documents have none of them, and then no value is looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.kernel.pieces import find_pieces, link_piece

Tables = tuple[Array, Array, Array, Array, Array, Array, Array, Array]

_SIZES = (16, 8, 4)
_WIDE, _ALL_BITS = 0xC2B2AE3D27D4EB4F, (1 << 64) - 1
_LEAST = 1 << 10
_ROOM = 16
"""A filter has so many bits for a gram."""
_NOWHERE = 1 << 62
"""The length of a piece that no entry waits for any more: it is in no document."""


def _number(piece: bytes) -> int:
    """The number of a gram, as the kernel has it; grams of two sizes may be the same number, texts are compared."""
    if len(piece) < _SIZES[0]:
        return int.from_bytes(piece, "little")
    before, after = np.frombuffer(piece, dtype="<u8").tolist()
    return (before * _WIDE + after) & _ALL_BITS


def _kind(raw: bytes) -> int:
    return next(kind for kind, size in enumerate(_SIZES) if len(raw) >= size)


@dataclass(slots=True)
class _Piece:
    """A text that entries wait for: its row in the table, its gram, where this begins in it, and how many wait."""

    row: int
    gram: int
    offset: int
    uses: int = 0


class Grams:
    """The grams that some entry waits under, and which of them a document has."""

    def __init__(self) -> None:
        self._pieces: dict[bytes, _Piece] = {}
        self._counts: dict[int, int] = {}
        self._rows = 0
        self._uses: Array = np.zeros(len(_SIZES), dtype=np.int64)
        self._make(_LEAST)
        self._found: Array = np.zeros(0, dtype=np.uint64)
        self._ends: Array = np.zeros(0, dtype=np.int64)

    def add(self, text: str) -> int | None:
        """The gram that a text waits under from now on: one that few others have; None if it is too short."""
        raw = text.encode()
        if len(raw) < _SIZES[-1]:
            return None
        piece = self._pieces.get(raw)
        if piece is None:
            if self._rows == len(self._table):
                self._make(4 * len(self._pieces) + _LEAST)
            gram, offset = self._choose(raw)
            piece = self._pieces[raw] = _Piece(0, gram, offset)
            self._counts[gram] = self._counts.get(gram, 0) + 1
            self._uses[_kind(raw)] += 1
            self._enter(raw, piece)
        piece.uses += 1
        return piece.gram

    def _choose(self, raw: bytes) -> tuple[int, int]:
        """A gram of a text, and where it begins; one that goes over the end of a word is rarer than one inside."""
        size = _SIZES[_kind(raw)]
        pieces = [(at, raw[at : at + size]) for at in range(len(raw) - size + 1)]
        at, piece = min(pieces, key=lambda one: (self._counts.get(_number(one[1]), 0), b" " not in one[1][1:-1]))
        return _number(piece), at

    def remove(self, text: str, gram: int | None) -> None:
        """A text waits no more."""
        if gram is None:
            return
        raw = text.encode()
        piece = self._pieces[raw]
        piece.uses -= 1
        if not piece.uses:
            del self._pieces[raw]
            self._table[piece.row, 2] = _NOWHERE
            self._uses[_kind(raw)] -= 1
            self._counts[gram] -= 1
            if not self._counts[gram]:
                del self._counts[gram]

    def _make(self, room: int) -> None:
        size = 1 << room.bit_length()
        self._marks: Array = np.zeros(size * _ROOM // 8, dtype=np.uint8)
        self._keys: Array = np.zeros(2 * size, dtype=np.uint64)
        self._heads: Array = np.zeros(2 * size, dtype=np.int64)
        self._table: Array = np.zeros((size, 4), dtype=np.int64)
        self._texts: Array = np.zeros(16 * size, dtype=np.uint8)
        self._rows = self._used = 0
        for raw, piece in self._pieces.items():
            self._enter(raw, piece)

    def _enter(self, raw: bytes, piece: _Piece) -> None:
        end = self._used + len(raw)
        if end > len(self._texts):
            self._texts = np.concatenate([self._texts, np.zeros(end, dtype=np.uint8)])
        self._texts[self._used : end] = np.frombuffer(raw, dtype=np.uint8)
        piece.row = self._rows
        self._table[piece.row] = piece.offset, self._used, len(raw), 0
        self._rows, self._used = self._rows + 1, end
        link_piece(np.uint64(piece.gram), piece.row, self._marks, self._keys, self._heads, self._table)

    def tables(self, size: int) -> Tables:
        """What the kernel reads of them, and where it writes what it finds in so many bytes."""
        if len(self._found) < 3 * size:
            self._found, self._ends = np.zeros(4 * size, np.uint64), np.zeros(4 * size, np.int64)
        return (
            self._uses,
            self._marks,
            self._keys,
            self._heads,
            self._table,
            self._texts,
            self._found,
            self._ends,
        )

    def found(self, number: int) -> FoundGrams:
        """So many grams, as the kernel has written them."""
        return FoundGrams(self._ends[:number].tolist(), self._found[:number].tolist()) if number else NO_GRAMS

    def found_in(self, raw: bytes) -> FoundGrams:
        """The grams in some bytes under which an entry waits for a text."""
        if not self._pieces:
            return NO_GRAMS
        return self.found(find_pieces(np.frombuffer(raw, dtype=np.uint8), 0, len(raw), *self.tables(len(raw)), 0))


class FoundGrams:
    """Grams of a document, and where they end in it."""

    __slots__ = ("_ends", "everywhere")

    def __init__(self, ends: list[int], grams: list[int]) -> None:
        self._ends = ends
        self.everywhere = grams

    def __len__(self) -> int:
        return len(self._ends)

    def between(self, start: int, end: int) -> list[int]:
        """The grams that end in a part of the document."""
        return self.everywhere[bisect_left(self._ends, start) : bisect_left(self._ends, end)]


NO_GRAMS = FoundGrams([], [])
