"""The kernel's working memory: kept between documents, made larger when one needs it; and where its arrays are."""

from __future__ import annotations

import numpy as np

from triplewire.matching import layout
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.telling import TOLD

_LEAST_UNIT = 64


class Addresses:
    """The table that tells the kernel where all arrays are."""

    def __init__(self) -> None:
        self.table = np.zeros((layout.ADDRESSES, 2), dtype=np.int64)
        self._held: dict[int, Array] = {}

    def put(self, row: int, array: Array) -> None:
        """Tell the kernel where an array is, and keep it there; one that it knows already costs nothing."""
        if self._held.get(row) is not array:
            self._held[row] = array
            self.table[row] = array.ctypes.data, len(array)


class Room(Addresses):
    """Arrays for one document at a time, and where all arrays are.

    `text` shows the bytes of `buffer`, half of which is for unescaped text.
    """

    capacity = 0

    def __init__(self) -> None:
        super().__init__()
        self.one = np.zeros(2, dtype=np.int64)
        self._ends = np.zeros(2, dtype=np.int64)
        self.unit = self._capacity = _LEAST_UNIT // 2
        self.out, self.told = np.zeros(1 << 12, dtype=np.int32), np.zeros((1 << 8, TOLD), dtype=np.int32)
        self.candidates = np.zeros((1 << 9, 3), dtype=np.int32)
        self.make_text(1 << 11)
        for status in range(layout.NEED_LINES, layout.NEED_LINES + 4):
            self.make(status)
        self.for_one()

    def for_one(self) -> None:
        """Take one document at a time."""
        self.put(layout.A_BOUNDS, self.one)
        self.put(layout.A_ENDS, self._ends)

    def for_many(self, bounds: Array) -> Array:
        """Take the documents between these bounds; gives where the ends of their matches will be."""
        ends = np.zeros_like(bounds)
        self.put(layout.A_BOUNDS, bounds)
        self.put(layout.A_ENDS, ends)
        return ends

    def expect(self, lines: int) -> None:
        """Lay the working memory out for documents of at most so many lines: what is cleared is no more than needed."""
        unit = max(_LEAST_UNIT, 1 << (lines - 1).bit_length() if lines > 1 else 1)
        if unit > self._capacity:
            self._make_lines(unit)
        elif unit != self.unit:
            self.unit = unit
            self.table[layout.A_UNIT, 0] = unit

    def _make_lines(self, unit: int) -> None:
        self.unit = self._capacity = unit
        self.put(layout.A_WORK, np.zeros(unit * layout.W_UNITS + layout.W_STACK, dtype=np.int32))
        self.put(layout.A_VALUES, np.zeros(3 * unit, dtype=np.float64))
        self.table[layout.A_UNIT, 0] = unit

    def make_text(self, size: int) -> None:
        """Make sure that there is room for documents of this many bytes together."""
        if 2 * size > self.capacity:
            self.capacity = 4 * size + 64
            self.buffer = bytearray(self.capacity)
            self.put(layout.A_TEXT, np.frombuffer(self.buffer, dtype=np.uint8))

    def make(self, status: int) -> None:
        """Make more of what the kernel ran out of."""
        if status == layout.NEED_LINES:
            self._make_lines(2 * self.unit)
        elif status == layout.NEED_CANDIDATES:
            self.candidates = np.zeros((4 * len(self.candidates), 3), dtype=np.int32)
            self.put(layout.A_CANDIDATES, self.candidates)
            self.put(layout.A_SPENT, np.zeros((2 * len(self.candidates), layout.SPENT_COLUMNS), dtype=np.int32))
        elif status == layout.NEED_OUTPUT:
            self.out = np.zeros(4 * self.out.size, dtype=np.int32)
            self.put(layout.A_OUT, self.out)
        else:
            self.told = np.zeros((4 * len(self.told), TOLD), dtype=np.int32)
            self.put(layout.A_TOLD, self.told)
