"""The kernel's working memory: kept between documents, made larger when one needs it."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.telling import TOLD
from triplewire.matching.layout import NEED_CANDIDATES, NEED_LINES, NEED_OUTPUT, W_STACK, W_UNITS


class Room:
    """Arrays for one document at a time. `text` shows the bytes of `buffer`, half of which is for unescaped text."""

    def __init__(self) -> None:
        self.make_text(1 << 11)
        self.unit = 32
        self.make(NEED_LINES)
        self.candidates = np.zeros((1 << 11, 3), dtype=np.int32)
        self.out = np.zeros(1 << 14, dtype=np.int32)
        self.told = np.zeros((1 << 10, TOLD), dtype=np.int32)

    capacity = 0

    def make_text(self, size: int) -> None:
        """Make sure that there is room for documents of this many bytes together."""
        if 2 * size > self.capacity:
            self.capacity = 4 * size + 64
            self.buffer = bytearray(self.capacity)
            self.text = np.frombuffer(self.buffer, dtype=np.uint8)

    def make(self, status: int) -> None:
        """Make more of what the kernel ran out of."""
        if status == NEED_LINES:
            self.unit *= 2
            self.work = np.zeros(self.unit * W_UNITS + W_STACK, dtype=np.int32)
            self.values = np.zeros(3 * self.unit, dtype=np.float64)
        elif status == NEED_CANDIDATES:
            self.candidates = np.zeros((4 * len(self.candidates), 3), dtype=np.int32)
        elif status == NEED_OUTPUT:
            self.out = np.zeros(4 * self.out.size, dtype=np.int32)
        else:
            self.told = np.zeros((4 * len(self.told), TOLD), dtype=np.int32)
