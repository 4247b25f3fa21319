"""The registry: puts conjunctions into the image's tables, and takes them out again.

Invariant: equal conjunctions are one record with many entries (M5: equal rules are kept and evaluated once).
Invariant: a record is in exactly one chain, that of its access key; every entry is in exactly one chain of its record
or of a member of its record's family.
"""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.algebra.encoding import decode, decode_triple, loads, slot_name
from triplewire.algebra.pattern import Conjunction, Optional, Pattern
from triplewire.algebra.substitution import renamed
from triplewire.matching.bodies import read_body
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.planning import body_of
from triplewire.matching.kernel.registering import enter, leave, subscription_of
from triplewire.matching.layout import (
    DONE,
    E_COLUMNS,
    E_RECORD,
    E_SIBLING,
    E_THRESHOLD,
    H_CONSTANTS,
    LACKS,
    R_CONSTANTS,
    R_PROGRAM,
)
from triplewire.matching.request import NEVER, Request
from triplewire.matching.room import Addresses
from triplewire.matching.strings import Strings
from triplewire.matching.tables import Tables
from triplewire.model import parse_term


class Registry:
    """Adds and removes subscriptions in an image."""

    def __init__(self, image: Image, addresses: Addresses) -> None:
        self.image, self._addresses = image, addresses
        self._request = Request(addresses)
        self._tables = Tables(image, addresses)
        self.line_up()

    @property
    def code(self) -> Array:
        """The programs, as the kernel reads them."""
        return self._tables.code

    def line_up(self) -> None:
        """Tell the kernel where the image's arrays are; to be done whenever one was replaced."""
        self._tables.line_up()
        self.spelled: tuple[Strings, Strings, Array] = self.image.ids, self.image.terms, self.image["constants"]
        """The ids, the terms and the records' constants: what is found is spelled with these, also after changes."""

    def number_of(self, id: bytes) -> int:
        """The number of a subscription, or -1 if it is not there."""
        self._request.write(id)
        return int(subscription_of(self._addresses.table))

    def add(self, id: bytes, branches: Sequence[bytes]) -> bool:
        """Enter a subscription of canonical branches, which are checked; False if its id is in use."""
        first, *others = branches or (NEVER,)
        self._request.write(id, first)
        if not self._enter():
            return False
        for branch in others:
            self._request.go_on(branch)
            self._enter()
        return True

    def _enter(self) -> bool:
        """Have the kernel do what is requested, with all the room that it needs; False if the id is in use."""
        while (status := enter(self._addresses.table)) >= LACKS:
            self._tables.make_room(status - LACKS, self._request.strings, self._request.size)
            self.line_up()
        return bool(status == DONE)

    def remove(self, id: bytes) -> bool:
        """Take a subscription out; False if it is not there."""
        self._request.write(id)
        return bool(leave(self._addresses.table) == DONE)

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
