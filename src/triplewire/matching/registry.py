"""The registry: puts conjunctions into the image's tables, and takes them out again.

Invariant: equal conjunctions are one record with many entries (M5: equal rules are kept and evaluated once).
Invariant: a record is in exactly one chain, that of its access key; every entry is in exactly one chain of its record
or of a member of its record's family.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from triplewire.algebra.pattern import Conjunction, Optional, Pattern
from triplewire.algebra.substitution import renamed
from triplewire.matching import families
from triplewire.matching.bodies import Body, read_body, write_body
from triplewire.matching.encoding import decode, decode_triple, dumps, encode, loads, slot_name
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.hashing import find_key, set_bit
from triplewire.matching.kernel.planning import (
    BODY,
    body_of,
    choose_access,
    drop_record,
    find_record,
    hash_body,
    last_binding,
    note_gram,
    order_steps,
    put_record,
    rehash_grams,
    rehash_records,
    varied_by,
)
from triplewire.matching.layout import (
    E_COLUMNS,
    E_NEXT,
    E_PREVIOUS,
    E_RECORD,
    E_SIBLING,
    E_THRESHOLD,
    F_SIZE,
    FREE_SO,
    H_CONSTANTS,
    R_CONSTANTS,
    R_CUT,
    R_FAMILY,
    R_HEAD,
    R_KEY_HIGH,
    R_KEY_LOW,
    R_NEXT,
    R_PREVIOUS,
    R_PROGRAM,
)
from triplewire.model import parse_term

_PRESENT, _ABSENT = -1, 0
"""In `subscriptions`: there, but it can never match; not there. Otherwise its first entry, plus one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A branch, ready to be entered: nothing can go wrong any more."""

    body: Body
    columns: bytes
    answer: tuple[int, ...]


def prepare(branch: Conjunction, answer: tuple[str, ...]) -> Prepared:
    """Encode a branch in normal form, and the columns that its subscription's rows have."""
    body = write_body(branch)
    fixed = dict(branch.bindings)
    columns: list[object] = []
    for name in answer:
        if name in body.slots:
            columns.append([name, body.slots[name]])
        elif name in fixed:
            text = str(fixed[name])
            known = text.encode() in body.constants
            columns.append([name, -1 - body.constants.index(text.encode()) if known else text])
    optionals = [_encode_optional(optional, body.slots) for optional in branch.optionals]
    wanted = {body.slots[name] for name in answer if name in body.slots}
    for optional in branch.optionals:
        wanted |= {body.slots[n] for t in optional.triples for n in t.variables if n in body.slots}
    return Prepared(body, b"#" + dumps([list(answer), columns, optionals]), tuple(wanted))


def _encode_optional(optional: Optional, slots: dict[str, int]) -> object:
    return [
        [[encode(node, slots) for node in triple] for triple in optional.triples],
        [encode(condition, slots) for condition in optional.conditions],
    ]


class Registry:
    """Adds and removes subscriptions in an image."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._free: dict[str, list[int]] = {}

    @property
    def code(self) -> Array:
        """The programs, as the kernel reads them."""
        text = self.image.programs.text
        return text[: len(text) // 2 * 2].view(np.int16)

    def number_of(self, id: str) -> int:
        """The number of a subscription, or -1 if it is not there."""
        number = self.image.ids.find(id.encode())
        return number if number >= 0 and self.image["subscriptions"][number] != _ABSENT else -1

    def add(self, id: str, branches: list[Prepared], answer: tuple[str, ...]) -> None:
        """Enter a subscription that is not there yet."""
        number = int(self.image.ids.intern([id.encode()])[0])
        subscriptions = self.image.reserve("subscriptions", number + 1)
        self.image.used["subscriptions"] = max(self.image.used["subscriptions"], number + 1)
        subscriptions[number] = _PRESENT
        self.image.used["live"] += 1
        sibling = -1
        for branch in branches:
            sibling = self._add_entry(number, branch, sibling)
            subscriptions[number] = sibling + 1

    def remove(self, number: int) -> None:
        """Take a subscription out."""
        entry = int(self.image["subscriptions"][number]) - 1
        self.image["subscriptions"][number] = _ABSENT
        self.image.used["live"] -= 1
        while entry >= 0:
            following = int(self.image["entries"][entry, E_SIBLING])
            self._remove_entry(entry)
            entry = following

    def entries(self, number: int) -> list[int]:
        """The entries of a subscription, one for each branch."""
        found, entry = [], int(self.image["subscriptions"][number]) - 1
        while entry >= 0:
            found.append(entry)
            entry = int(self.image["entries"][entry, E_SIBLING])
        return found[::-1]

    def pattern(self, number: int) -> Pattern:
        """The pattern of a subscription, in normal form but for the names of variables that are not answers."""
        answer: tuple[str, ...] = ()
        branches = []
        for entry in self.entries(number):
            answer, branch = self._named(entry)
            branches.append(branch)
        return Pattern(answer, tuple(branches))

    def conjunction(self, entry: int) -> Conjunction:
        """What an entry's record means, its variables named by their numbers (`slot_name`)."""
        record, threshold = self.image["entries"][entry, [E_RECORD, E_THRESHOLD]].tolist()
        constants = [self.image.terms.get(number) for number in self.constants(record).tolist()]
        text = self.image.terms.get(threshold) if threshold >= 0 else None
        return read_body(body_of(self.code, int(self.image["records"][record, R_PROGRAM])), constants, text)

    def constants(self, record: int) -> Array:
        """The numbers of a record's constants."""
        program, at = self.image["records"][record, [R_PROGRAM, R_CONSTANTS]].tolist()
        return self.image["constants"][at : at + int(self.code[program + H_CONSTANTS])]

    def _named(self, entry: int) -> tuple[tuple[str, ...], Conjunction]:
        """The answer's names, and the conjunction with the names of the subscription's columns."""
        record = int(self.image["entries"][entry, E_RECORD])
        answer, slots, optionals = loads(self.image.terms.get(int(self.image["entries"][entry, E_COLUMNS]))[1:])
        inner = self.conjunction(entry)
        names = {slot_name(slot): name for name, slot in slots if isinstance(slot, int) and slot >= 0}
        constants = self.constants(record).tolist()
        fixed = []
        for name, slot in slots:
            if isinstance(slot, str):
                fixed.append((name, parse_term(slot)))
            elif slot < 0:
                fixed.append((name, parse_term(self.image.terms.get(constants[-1 - slot]).decode())))
        kept = [slot_name(i) for i in range(len(inner.variables))]
        parts = tuple(
            Optional(tuple(decode_triple(t, kept) for t in triples), tuple(decode(c, kept) for c in conditions))
            for triples, conditions in optionals
        )
        whole = Conjunction(inner.triples, inner.conditions, tuple(fixed), parts)
        return tuple(answer), renamed(whole, names)

    def _add_entry(self, number: int, branch: Prepared, sibling: int) -> int:
        image, body = self.image, branch.body
        ids = image.terms.intern([*body.constants, branch.columns])
        ids, columns = ids[:-1], int(ids[-1])
        image.reserve("numbers", image.terms.count)
        image.reserve("flags", image.terms.count)
        self._note_numbers(body, ids)
        code, threshold = body.code, -1
        if body.thresholds:
            test, constant = self._varied(body, ids)
            code, threshold = varied_by(code, test), int(ids[constant])
            ids = ids.copy()
            ids[constant] = -1
        record = self._record(code, ids)
        entry = self._new_row("entries")
        image["entries"][entry] = (number, columns, -1, -1, sibling, record, threshold)
        self._link_entry(entry, record, threshold)
        wanted = np.zeros(max(1, len(body.slots)), dtype=np.uint8)
        wanted[list(branch.answer)] = 1
        row = image["records"][record]
        row[R_CUT] = max(row[R_CUT], last_binding(self.code, row[R_PROGRAM], wanted))
        return entry

    def _note_numbers(self, body: Body, ids: Array) -> None:
        numbers = self.image["numbers"]
        for constant in body.numbers:
            text = body.constants[constant]
            numbers[ids[constant]] = float(text[1 : text.rindex(b'"')])

    def _varied(self, body: Body, ids: Array) -> tuple[int, int]:
        """Of several inequalities the one whose family is the largest, as far as its popularity tells."""
        if len(body.thresholds) == 1:
            return body.thresholds[0]
        popularity = self.image["popularity"]
        best, most = body.thresholds[0], -1
        for test, constant in body.thresholds:
            without = ids.copy()
            without[constant] = -1
            slot = (hash_body(varied_by(body.code, test), without) >> 16) & (popularity.size - 1)
            popularity[slot] += 1
            if popularity[slot] > most:
                best, most = (test, constant), int(popularity[slot])
        return best

    def _record(self, code: Array, ids: Array) -> int:
        """The record of a body, made if it is not there yet."""
        image = self.image
        h = hash_body(code, ids)
        found = find_record(h, code, ids, image["record_slots"], image["records"], image["constants"], self.code)
        if found >= 0:
            return int(found)
        if 2 * image.used["records"] > image["popularity"].size and image["popularity"].size < 1 << 22:
            image.arrays["popularity"] = np.concatenate([image["popularity"]] * 2)
        triple, kind, key, part, offset = choose_access(
            code, ids, image.terms.starts, image.terms.text, image["numbers"], image["popularity"], 1
        )
        program = int(image.programs.starts[int(image.programs.intern([order_steps(code, triple).tobytes()])[0])]) // 2
        at = image.used["constants"]
        image.reserve("constants", at + len(ids) + 1)[at : at + len(ids)] = ids
        image.used["constants"] = at + len(ids)
        record = self._new_row("records")
        family = families.new_family(image) if -1 in ids else -1
        low, high = _halves(int(key))
        image["records"][record] = (program, at, -1, -1, -1, family, 0, kind, low, high, part, offset)
        self._enter_record(h, record)
        if part >= 0:
            self._note_gram(record)
        self._wait(record, int(key), int(kind), int(code[BODY + 3 * triple + 1]), ids)
        return record

    def _enter_record(self, h: int, record: int) -> None:
        image = self.image
        image.used["entered"] += 1
        if 2 * image.used["entered"] <= image["record_slots"].size:
            put_record(h, record, image["record_slots"])
            return
        live = image.used["records"] - len(self._rows("records"))
        size = 1 << (4 * live).bit_length()
        slots = image.arrays["record_slots"] = np.zeros(size, dtype=np.int64)
        rehash_records(image.used["records"], slots, image["records"], image["constants"], self.code)
        image.used["entered"] = live

    def _note_gram(self, record: int) -> None:
        """Note in the bitmap of grams what a record waits for; with four bytes a record, most other grams miss."""
        image = self.image
        image.used["gram_records"] += 1
        if 4 * image.used["gram_records"] > image["grams"].size:
            image.arrays["grams"] = np.zeros(2 * image["grams"].size, dtype=np.uint8)
            rehash_grams(
                image.used["records"],
                image["records"],
                image["constants"],
                self.code,
                image.terms.starts,
                image.terms.text,
                image["grams"],
            )
        else:
            note_gram(
                record,
                image["records"],
                image["constants"],
                self.code,
                image.terms.starts,
                image.terms.text,
                image["grams"],
            )

    def _wait(self, record: int, key: int, kind: int, predicate: int, ids: Array) -> None:
        """Put a record into the chain of its access key."""
        image = self.image
        if 2 * (image.used["keys"] + 1) > image["keys"].size:
            self._grow_keys()
        slot = find_key(key, image["keys"])
        if image["keys"][slot] == 0:
            image["keys"][slot] = key
            image.used["keys"] += 1
            set_bit(key, image["bits"])
        head = int(image["heads"][slot])
        image["records"][record, R_NEXT] = head
        if head >= 0:
            image["records"][head, R_PREVIOUS] = record
        image["heads"][slot] = record
        if kind >= FREE_SO:
            image.used["free_flags"] |= 1 << kind
        else:
            image["flags"][ids[-1 - predicate]] |= 1 << kind

    def _grow_keys(self) -> None:
        """Twice the room; keys without records are left behind."""
        image = self.image
        held = np.flatnonzero((image["keys"] != 0) & (image["heads"] >= 0))
        old = image["keys"][held], image["heads"][held]
        size = image["keys"].size * (2 if 4 * held.size >= image["keys"].size else 1)
        image.arrays["keys"] = np.zeros(size, dtype=np.int64)
        image.arrays["heads"] = np.full(size, -1, dtype=np.int32)
        image.arrays["bits"] = np.zeros(2 * size, dtype=np.uint8)
        for key, head in zip(*old, strict=True):
            slot = find_key(key, image["keys"])
            image["keys"][slot] = key
            image["heads"][slot] = head
            set_bit(key, image["bits"])
        image.used["keys"] = held.size

    def _link_entry(self, entry: int, record: int, threshold: int) -> None:
        image = self.image
        family = int(image["records"][record, R_FAMILY])
        if family < 0:
            head = int(image["records"][record, R_HEAD])
            image["records"][record, R_HEAD] = entry
        else:
            value = float(image["numbers"][threshold])
            member = families.find_member(image, family, value)
            if member < 0:
                member = families.add_member(image, family, value)
            head = int(image["members"][member])
            image["members"][member] = entry
        image["entries"][entry, E_NEXT] = head
        if head >= 0:
            image["entries"][head, E_PREVIOUS] = entry

    def _remove_entry(self, entry: int) -> None:
        image = self.image
        row = image["entries"][entry].tolist()
        following, previous, record, threshold = row[E_NEXT], row[E_PREVIOUS], row[E_RECORD], row[E_THRESHOLD]
        if following >= 0:
            image["entries"][following, E_PREVIOUS] = previous
        if previous >= 0:
            image["entries"][previous, E_NEXT] = following
        else:
            self._set_head(record, threshold, following)
        self._rows("entries").append(entry)

    def _set_head(self, record: int, threshold: int, head: int) -> None:
        """The first entry of a chain has gone; without any, the member or the record goes too."""
        image = self.image
        family = int(image["records"][record, R_FAMILY])
        if family < 0:
            image["records"][record, R_HEAD] = head
            if head < 0:
                self._remove_record(record)
            return
        member = families.find_member(image, family, float(image["numbers"][threshold]))
        image["members"][member] = head
        if head < 0:
            families.remove_member(image, family, member)
            if image["families"][family, F_SIZE] == 0:
                self._remove_record(record)

    def _remove_record(self, record: int) -> None:
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
            image["heads"][find_key(key, image["keys"])] = row[R_NEXT]
        image["records"][record, R_PROGRAM] = -1
        self._rows("records").append(record)

    def _rows(self, table: str) -> list[int]:
        """The rows of a table that were given back in this process."""
        return self._free.setdefault(table, [])

    def _new_row(self, table: str) -> int:
        if self._rows(table):
            return self._rows(table).pop()
        row = self.image.used[table]
        self.image.reserve(table, row + 1)
        self.image.used[table] = row + 1
        return row


def _halves(key: int) -> tuple[int, int]:
    """A 64-bit key as two signed 32-bit numbers."""
    low, high = key & 0xFFFFFFFF, key >> 32
    return low - (1 << 32) if low >= 1 << 31 else low, high
