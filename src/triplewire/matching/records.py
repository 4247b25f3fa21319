"""The records: every conjunction once, waiting under one of its access keys."""

from __future__ import annotations

import numpy as np

from triplewire.matching import families
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.hashing import find_key
from triplewire.matching.kernel.placing import (
    drop_record,
    identify,
    move_keys,
    note_gram,
    put_record,
    rehash_grams,
    rehash_records,
    wait,
)
from triplewire.matching.kernel.planning import body_of, choose_access, design, hash_body
from triplewire.matching.layout import (
    FREE_SO,
    H_CONSTANTS,
    R_CONSTANTS,
    R_KEY_HIGH,
    R_KEY_LOW,
    R_NEXT,
    R_PREVIOUS,
    R_PROGRAM,
)

_MOST_COUNTERS = 1 << 22


class Rows:
    """The rows of a table: those that were given back in this process are taken first."""

    def __init__(self, image: Image, table: str) -> None:
        self._image, self._table = image, table
        self._free: list[int] = []

    def take(self) -> int:
        """A row that is not in use."""
        if self._free:
            return self._free.pop()
        row = self._image.used[self._table]
        if row == len(self._image[self._table]):
            self._image.reserve(self._table, row + 1)
        self._image.used[self._table] = row + 1
        return row

    def give(self, row: int) -> None:
        """Give a row back."""
        self._free.append(row)

    @property
    def live(self) -> int:
        """How many rows are in use, as far as this process knows."""
        return self._image.used[self._table] - len(self._free)


class Records:
    """Finds, makes and removes records, and keeps the tables that lead to them at most half full."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._rows = Rows(image, "records")
        self._programs: tuple[Array, Array] | None = None

    @property
    def code(self) -> Array:
        """The programs, as the kernel reads them."""
        text = self.image.programs.text
        if self._programs is None or self._programs[0] is not text:
            self._programs = text, text[: len(text) // 2 * 2].view(np.int16)
        return self._programs[1]

    def constants(self, record: int) -> Array:
        """The numbers of a record's constants."""
        program, at = self.image["records"][record, [R_PROGRAM, R_CONSTANTS]].tolist()
        return self.image["constants"][at : at + int(self.code[program + H_CONSTANTS])]

    def enter(self, body: Array, ids: Array) -> int:
        """The record of a body, made if it is not there yet."""
        image = self.image
        arrays = image["record_slots"], image["records"], image["constants"]
        h, found = identify(body, ids, *arrays, self.code)
        return int(found) if found >= 0 else self._make(int(h), body, ids)

    def _make(self, h: int, body: Array, ids: Array) -> int:
        image = self.image
        if 2 * image.used["records"] > image["popularity"].size and image["popularity"].size < _MOST_COUNTERS:
            image.arrays["popularity"] = np.concatenate([image["popularity"]] * 2)
        steps, predicate, kind, key, part, offset = design(
            body, ids, image.terms.starts, image.terms.text, image["numbers"], image["popularity"]
        )
        program = int(image.programs.starts[image.programs.intern_one(steps.tobytes())]) // 2
        at, end = image.used["constants"], image.used["constants"] + len(ids)
        image.reserve("constants", end + 1)[at:end] = ids
        image.used["constants"] = end
        record = self._rows.take()
        family = families.new_family(image) if (ids < 0).any() else -1
        low, high = _halves(int(key))
        text, length = self._text(part)
        row = (program, at, -1, -1, -1, family, -1, kind, low, high, part, offset, text, length)
        image["records"][record, : len(row)] = row
        self._put(h, record)
        if part >= 0:
            self._note_gram(record)
        self._wait(record, int(key))
        if kind >= FREE_SO:
            image.used["free_flags"] |= 1 << kind
        else:
            image["flags"][predicate] |= 1 << kind
        return record

    def _text(self, part: int) -> tuple[int, int]:
        """Where the text of a literal stands among the strings, behind its quotation mark."""
        if part < 0:
            return -1, 0
        first, end = self.image.terms.starts[part : part + 2].tolist()
        return first + 1, end - first - 1

    def _put(self, h: int, record: int) -> None:
        """Make the record be found by its content."""
        image = self.image
        image.used["entered"] += 1
        if 2 * image.used["entered"] <= image["record_slots"].size:
            put_record(h, record, image["record_slots"])
            return
        size = 1 << (4 * self._rows.live).bit_length()
        slots = image.arrays["record_slots"] = np.zeros(size, dtype=np.int64)
        rehash_records(image.used["records"], slots, image["records"], image["constants"], self.code)
        image.used["entered"] = self._rows.live

    def _note_gram(self, record: int) -> None:
        """Note in the filter of grams what a record waits for; with two bytes a record, nearly all other grams miss."""
        image = self.image
        image.used["gram_records"] += 1
        tables = image["records"], image["constants"], self.code, image.terms.starts, image.terms.text
        if 2 * image.used["gram_records"] <= image["grams"].nbytes:
            note_gram(record, *tables, image["grams"])
            return
        grams = image.arrays["grams"] = np.zeros(2 * image["grams"].size, dtype=np.uint64)
        rehash_grams(image.used["records"], *tables, grams)

    def _wait(self, record: int, key: int) -> None:
        """Put a record into the chain of its access key."""
        image = self.image
        if 2 * (image.used["keys"] + 1) > len(image["keys"]):
            self._grow_keys()
        image.used["keys"] += wait(record, key, image["keys"], image["bits"], image["records"])

    def _grow_keys(self) -> None:
        """More room; keys without records are left behind."""
        image = self.image
        old = image["keys"]
        held = int(np.sum((old[:, 0] != 0) & (old[:, 1] >= 0)))
        size = len(old) * (2 if 4 * held >= len(old) else 1)
        image.arrays["keys"] = np.zeros((size, 2), dtype=np.int64)
        image.arrays["bits"] = np.zeros(2 * size, dtype=np.uint8)
        move_keys(old, image["keys"], image["bits"])
        image.used["keys"] = held

    def remove(self, record: int) -> None:
        """Take a record out that nobody wants any more."""
        image = self.image
        row = image["records"][record].tolist()
        ids = self.constants(record)
        body = body_of(self.code, row[R_PROGRAM])
        drop_record(hash_body(body, ids), record, image["record_slots"])
        choose_access(body, ids, image.terms.starts, image.terms.text, image["numbers"], image["popularity"], -1)
        if row[R_NEXT] >= 0:
            image["records"][row[R_NEXT], R_PREVIOUS] = row[R_PREVIOUS]
        if row[R_PREVIOUS] >= 0:
            image["records"][row[R_PREVIOUS], R_NEXT] = row[R_NEXT]
        else:
            key = (row[R_KEY_HIGH] << 32) | (row[R_KEY_LOW] & 0xFFFFFFFF)
            image["keys"][find_key(key, image["keys"]), 1] = row[R_NEXT]
        image["records"][record, R_PROGRAM] = -1
        self._rows.give(record)


def _halves(key: int) -> tuple[int, int]:
    """A 64-bit key as two signed 32-bit numbers."""
    low, high = key & 0xFFFFFFFF, key >> 32
    return low - (1 << 32) if low >= 1 << 31 else low, high
