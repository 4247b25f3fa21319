"""A table of byte strings in flat arrays: each string once, found by its bytes, known by a number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import intern_string, rehash_strings


def grown(array: Array, needed: int) -> Array:
    """The array, or a copy with room for `needed` rows and as many again; new places are zero."""
    if needed <= len(array):
        return array
    larger = np.zeros((max(needed, 2 * len(array), 16), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def _intern(
    blob: Array,
    bounds: Array,
    count: int,
    slots: Array,
    starts: Array,
    text: Array,
    numbers: Array,
) -> int:
    """Enter the strings of a blob; writes their numbers, gives the new count."""
    for i in range(bounds.size - 1):
        numbers[i] = intern_string(blob, bounds[i], bounds[i + 1], count, slots, starts, text)
        count = max(count, numbers[i] + 1)
    return count


class Strings:
    """The table; `slots`, `starts` and `text` are its arrays, and `counter` holds how many strings there are.

    The kernel reads them, and enters strings of its own.
    """

    __slots__ = ("_counter", "slots", "starts", "text")

    def __init__(self, counter: Array, arrays: tuple[Array, Array, Array] | None = None) -> None:
        self._counter = counter
        self.slots, self.starts, self.text = arrays or (
            np.zeros(64, dtype=np.int64),
            np.zeros(33, dtype=np.int64),
            np.zeros(1024, dtype=np.uint8),
        )

    @property
    def count(self) -> int:
        """How many strings there are."""
        return int(self._counter[0])

    def intern(self, strings: Sequence[bytes]) -> Array:
        """The numbers of the strings; those that are not in the table yet are entered."""
        joined = b"".join(strings) + b"\0"  # NumPy makes no array of nothing
        bounds = np.array([0, *accumulate(map(len, strings))], dtype=np.int64)
        self.reserve(len(strings), len(joined))
        numbers = np.empty(len(strings), dtype=np.int32)
        blob = np.frombuffer(joined, dtype=np.uint8)
        self._counter[0] = _intern(blob, bounds, self.count, self.slots, self.starts, self.text, numbers)
        return numbers

    def get(self, number: int) -> bytes:
        """The string of a number."""
        return self.text[self.starts[number] : self.starts[number + 1]].tobytes()

    def get_many(self, numbers: Array) -> list[bytes]:
        """The strings of numbers: one look into the arrays for all, which is most of what a single one costs."""
        text = self.text.data
        bounds = zip(self.starts[numbers].tolist(), self.starts[numbers + 1].tolist(), strict=True)
        return [bytes(text[start:end]) for start, end in bounds]

    def reserve(self, more: int, size: int) -> None:
        """Make sure that there is room for so many more strings of so many bytes together."""
        if self.count + more + 2 > len(self.starts):
            self.starts = grown(self.starts, self.count + more + 2)
        end = int(self.starts[self.count]) + size + 1
        if end > len(self.text):
            self.text = grown(self.text, end)
        if 2 * (self.count + more) > len(self.slots):
            capacity = 1 << (2 * (self.count + more)).bit_length()
            self.slots = np.zeros(capacity, dtype=np.int64)
            rehash_strings(self.count, self.slots, self.starts, self.text)
