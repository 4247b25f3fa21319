"""The registry: puts conjunctions into the image's tables, and takes them out again.

Invariant: equal conjunctions are one record with many entries (M5: equal rules are kept and evaluated once).
Invariant: a record is in exactly one chain, that of its access key; every entry is in exactly one chain of its record
or of a member of its record's family.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from triplewire.algebra.pattern import Conjunction, Optional, Pattern
from triplewire.algebra.substitution import renamed
from triplewire.matching import families
from triplewire.matching.bodies import Body, read_body, write_body
from triplewire.matching.encoding import decode, decode_triple, dumps, encode, loads, slot_name
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.planning import (
    body_of,
    deepen_cut,
    hash_body,
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
    R_FAMILY,
    R_HEAD,
    R_PROGRAM,
)
from triplewire.matching.records import Records, Rows
from triplewire.model import parse_term

_PRESENT, _ABSENT = -1, 0
"""In `subscriptions`: there, but it can never match; not there. Otherwise its first entry, plus one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A branch, ready to be entered: nothing can go wrong any more."""

    body: Body
    columns: bytes
    wanted: Array
    """Marks the variables that the subscription's rows depend on."""


def prepare(branch: Conjunction, answer: tuple[str, ...]) -> Prepared:
    """Encode a branch in normal form, and the columns that its subscription's rows have."""
    body = write_body(branch)
    fixed = dict(branch.bindings)
    columns: list[tuple[str, int | str]] = []
    for name in answer:
        if name in body.slots:
            columns.append((name, body.slots[name]))
        elif name in fixed:
            text = str(fixed[name])
            known = text.encode() in body.constants
            columns.append((name, -1 - body.constants.index(text.encode()) if known else text))
    wanted = np.zeros(max(1, len(body.slots)), dtype=np.uint8)
    for name in (*answer, *(n for o in branch.optionals for t in o.triples for n in t.variables)):
        if name in body.slots:
            wanted[body.slots[name]] = 1
    if branch.optionals:
        optionals = [_encode_optional(optional, body.slots) for optional in branch.optionals]
        return Prepared(body, b"#" + dumps([answer, columns, optionals]), wanted)
    return Prepared(body, _plain_columns(answer, tuple(columns)), wanted)


@lru_cache(maxsize=1024)
def _plain_columns(answer: tuple[str, ...], columns: tuple[tuple[str, int | str], ...]) -> bytes:
    """Columns without optional parts: few kinds of them for many subscriptions."""
    return b"#" + dumps([answer, columns, ()])


def _encode_optional(optional: Optional, slots: dict[str, int]) -> object:
    return [
        [[encode(node, slots) for node in triple] for triple in optional.triples],
        [encode(condition, slots) for condition in optional.conditions],
    ]


class Registry:
    """Adds and removes subscriptions in an image."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.records = Records(image)
        self._entry_rows = Rows(image, "entries")

    @property
    def code(self) -> Array:
        """The programs, as the kernel reads them."""
        return self.records.code

    def number_of(self, id: str) -> int:
        """The number of a subscription, or -1 if it is not there."""
        number = self.image.ids.find(id.encode("utf-8", "surrogatepass"))
        return number if number >= 0 and self.image["subscriptions"][number] != _ABSENT else -1

    def add(self, id: str, branches: list[Prepared], answer: tuple[str, ...]) -> int:
        """Enter a subscription that is not there yet; gives its number."""
        number = self.image.ids.intern_one(id.encode())
        subscriptions = self.image.reserve("subscriptions", number + 1)
        self.image.reserve("paths", number + 1)
        self.image.used["subscriptions"] = max(self.image.used["subscriptions"], number + 1)
        subscriptions[number] = _PRESENT
        self.image.used["live"] += 1
        sibling = -1
        for branch in branches:
            sibling = self._add_entry(number, branch, sibling)
            subscriptions[number] = sibling + 1
        return number

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
        return self.records.constants(record)

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
        if image.terms.count > len(image["flags"]):
            image.reserve("numbers", image.terms.count)
            image.reserve("flags", image.terms.count)
        self._note_numbers(body, ids)
        code, threshold = body.code, -1
        if body.thresholds:
            test, constant = self._varied(body, ids)
            code, threshold = varied_by(code, test), int(ids[constant])
            ids = ids.copy()
            ids[constant] = -1
        record = self.records.enter(code, ids)
        entry = self._entry_rows.take()
        image["entries"][entry] = (number, columns, -1, -1, sibling, record, threshold)
        self._link_entry(entry, record, threshold)
        deepen_cut(record, branch.wanted, image["records"], self.code)
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
        self._entry_rows.give(entry)

    def _set_head(self, record: int, threshold: int, head: int) -> None:
        """The first entry of a chain has gone; without any, the member or the record goes too."""
        image = self.image
        family = int(image["records"][record, R_FAMILY])
        if family < 0:
            image["records"][record, R_HEAD] = head
            if head < 0:
                self.records.remove(record)
            return
        member = families.find_member(image, family, float(image["numbers"][threshold]))
        image["members"][member] = head
        if head < 0:
            families.remove_member(image, family, member)
            if image["families"][family, F_SIZE] == 0:
                self.records.remove(record)
