"""The arrays of the kernel: the image's tables, with more room in those that get full, and its working memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplewire.matching import layout
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.placing import move_keys, rehash_grams, rehash_records
from triplewire.matching.kernel.telling import TOLD

_ARRAYS = {
    layout.A_NUMBERS: "numbers",
    layout.A_FLAGS: "flags",
    layout.A_KEYS: "keys",
    layout.A_BITS: "bits",
    layout.A_GRAMS: "grams",
    layout.A_RECORDS: "records",
    layout.A_CONSTANTS: "constants",
    layout.A_FAMILIES: "families",
    layout.A_THRESHOLDS: "thresholds",
    layout.A_PARENT_STARTS: "parent_starts",
    layout.A_PARENTS: "parents",
    layout.A_MEMBERS: "members",
    layout.A_ENTRIES: "entries",
    layout.A_POPULARITY: "popularity",
    layout.A_RECORD_SLOTS: "record_slots",
    layout.A_SUBSCRIPTIONS: "subscriptions",
}


class Tables:
    """The tables of an image, at the addresses that the kernel is told."""

    def __init__(self, image: Image, addresses: Addresses) -> None:
        self.image, self._addresses = image, addresses
        self._programs: tuple[Array, Array] | None = None
        self._strings = {
            layout.A_SLOTS: image.terms,
            layout.A_ID_SLOTS: image.ids,
            layout.A_PROGRAM_SLOTS: image.programs,
        }
        self._growing: dict[int, Callable[[], None]] = {
            layout.A_KEYS: self._grow_keys,
            layout.A_RECORD_SLOTS: self._grow_record_slots,
            layout.A_GRAMS: self._grow_grams,
            layout.A_POPULARITY: self._grow_popularity,
        }

    @property
    def code(self) -> Array:
        """The programs, as the kernel reads them."""
        text = self.image.programs.text
        if self._programs is None or self._programs[0] is not text:
            self._programs = text, text[: len(text) // 2 * 2].view(np.int16)
        return self._programs[1]

    def line_up(self) -> None:
        """Tell the kernel where the arrays are."""
        put = self._addresses.put
        for row, name in _ARRAYS.items():
            put(row, self.image[name])
        for row, strings in self._strings.items():
            for part, array in enumerate((strings.slots, strings.starts, strings.text)):
                put(row + part, array)
        put(layout.A_CODE, self.code)
        put(layout.A_COUNTS, self.image.used.array)

    def make_room(self, row: int, strings: int, size: int) -> None:
        """Make an array larger that the kernel found too small, for a request of so many strings and bytes."""
        if row in self._strings:
            self._strings[row].reserve(strings, size)
        elif row in self._growing:
            self._growing[row]()
        else:
            name = _ARRAYS[row]
            self.image.reserve(name, len(self.image[name]) + strings)

    def _grow_keys(self) -> None:
        """Keys without records are left behind."""
        image = self.image
        old = image["keys"]
        held = int(np.sum((old[:, 0] != 0) & (old[:, 1] >= 0)))
        size = len(old) * (2 if 4 * held >= len(old) else 1)
        image.arrays["keys"] = np.zeros((size, 2), dtype=np.int64)
        image.arrays["bits"] = np.zeros(2 * size, dtype=np.uint8)
        move_keys(old, image["keys"], image["bits"])
        image.used["keys"] = held

    def _grow_record_slots(self) -> None:
        """Slots of records that have gone are left behind."""
        image = self.image
        held = int(np.sum(self._live_records()))
        slots = image.arrays["record_slots"] = np.zeros(max(64, 1 << (4 * held).bit_length()), dtype=np.int64)
        rehash_records(image.used["records"], slots, image["records"], image["constants"], self.code)
        image.used["entered"] = held

    def _grow_grams(self) -> None:
        """With two bytes a record nearly all grams of others miss; those of records that have gone are left behind."""
        image, terms = self.image, self.image.terms
        old = image["grams"]
        parts = image["records"][: image.used["records"], layout.R_PART]
        held = int(np.sum(self._live_records() & (parts >= 0)))
        size = len(old) * (2 if held >= 2 * len(old) else 1)
        grams = image.arrays["grams"] = np.zeros(size, dtype=np.uint64)
        tables = image["records"], image["constants"], self.code, terms.starts, terms.text
        rehash_grams(image.used["records"], *tables, grams)
        image.used["gram_records"] = held

    def _grow_popularity(self) -> None:
        """Each counter becomes two with its count: still upper bounds."""
        self.image.arrays["popularity"] = np.concatenate([self.image["popularity"]] * 2)

    def _live_records(self) -> Array:
        live: Array = self.image["records"][: self.image.used["records"], layout.R_PROGRAM] >= 0
        return live


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
