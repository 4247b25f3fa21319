"""The registry: puts conjunctions into the image's tables, and takes them out again.

Invariant: equal conjunctions are one record with many entries (M5: equal rules are kept and evaluated once).
Invariant: a record is in exactly one chain, that of its access key; every entry is in exactly one chain of its record
or of a member of its record's family.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct, unpack_from

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from triplewire.algebra.canonical import CLASSES, COMPARISONS, TEXTS
from triplewire.algebra.encoding import decode, loads, slot_name
from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, Pattern, TriplePattern, variable
from triplewire.algebra.substitution import renamed
from triplewire.errors import PatternError
from triplewire.matching import layout
from triplewire.matching.image import Image
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.kernel.planning import B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY, body_of
from triplewire.matching.kernel.registering import enter, leave, subscription_of
from triplewire.matching.matches import columns_of
from triplewire.matching.strings import Strings
from triplewire.matching.tables import Addresses, Tables
from triplewire.model import parse_term

NEVER = bytes(4 * (layout.REQUEST - layout.Q_TRIPLES))
"""What a subscription that can never match has instead of branches."""
_THREE = Struct("=3i")


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
        while (status := enter(self._addresses.table)) >= layout.LACKS:
            self._tables.make_room(status - layout.LACKS, self._request.strings, self._request.size)
            self.line_up()
        return bool(status == layout.DONE)

    def remove(self, id: bytes) -> bool:
        """Take a subscription out; False if it is not there."""
        self._request.write(id)
        return bool(leave(self._addresses.table) == layout.DONE)

    def entries(self, number: int) -> list[int]:
        """The entries of a subscription, one for each branch."""
        found, entry = [], int(self.image["subscriptions"][number]) - 1
        while entry >= 0:
            found.append(entry)
            entry = int(self.image["entries"][entry, layout.E_SIBLING])
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
        record, threshold = self.image["entries"][entry, [layout.E_RECORD, layout.E_THRESHOLD]].tolist()
        constants = [self.image.terms.get(number) for number in self.constants(record).tolist()]
        text = self.image.terms.get(threshold) if threshold >= 0 else None
        return read_body(body_of(self.code, int(self.image["records"][record, layout.R_PROGRAM])), constants, text)

    def constants(self, record: int) -> Array:
        """The numbers of a record's constants."""
        program, at = self.image["records"][record, [layout.R_PROGRAM, layout.R_CONSTANTS]].tolist()
        return self.image["constants"][at : at + int(self.code[program + layout.H_CONSTANTS])]

    def _named(self, entry: int) -> tuple[tuple[str, ...], Conjunction]:
        record = int(self.image["entries"][entry, layout.E_RECORD])
        answer, slots, parts = columns_of(self.image.terms.get(int(self.image["entries"][entry, layout.E_COLUMNS])))
        inner = self.conjunction(entry)
        names = {slot_name(slot): name for name, slot in slots if isinstance(slot, int) and slot >= 0}
        constants = self.constants(record).tolist()
        fixed = []
        for name, slot in slots:
            if isinstance(slot, str):
                fixed.append((name, parse_term(slot)))
            elif slot < 0:
                fixed.append((name, parse_term(self.image.terms.get(constants[-1 - slot]).decode())))
        whole = Conjunction(inner.triples, inner.conditions, tuple(fixed), parts)
        return tuple(answer), renamed(whole, names)


# -- conjunctions from the numbers that the kernel keeps them as


def read_body(code: NDArray[np.int16], constants: list[bytes], threshold: bytes | None) -> Conjunction:
    """The conjunction of a body, its variables named by their numbers; `threshold` is that of a family's member.

    Conditions that are tests were canonical ones (`algebra.canonical`); the others are one text among the constants,
    and Python checks them on the rows that the kernel finds.
    """
    names = [slot_name(i) for i in range(int(code[B_VARIABLES]))]

    def node(place: int) -> Node:
        return variable(names[place]) if place >= 0 else parse_term(constants[-1 - place].decode())

    count = int(code[B_TRIPLES])
    places = code[BODY : BODY + 3 * count].reshape(-1, 3).tolist()
    triples = tuple(TriplePattern(*(node(place) for place in triple)) for triple in places)
    tests = code[BODY + 3 * count :].reshape(-1, 4).tolist()
    assert len(tests) == int(code[B_TESTS])
    conditions: list[Expression] = [_condition(test, names, constants, threshold) for test in tests]
    if code[B_FLAGS] & layout.RESIDUAL:
        plain = loads(next(text for text in constants if text.startswith(b"!"))[1:])
        conditions += [decode(condition, names) for condition in plain]
    return Conjunction(triples, tuple(conditions))


def _condition(test: list[int], names: list[str], constants: list[bytes], threshold: bytes | None) -> Call:
    operation, a, b, c = test
    subject = variable(names[a])
    if operation < layout.TEST_TEXT:
        family = operation >= layout.TEST_FAMILY
        comparison = operation - (layout.TEST_FAMILY if family else layout.TEST_NUMBER)
        text = threshold if family else constants[-1 - b]
        assert text is not None
        name = COMPARISONS[comparison] if c else "~" + COMPARISONS[comparison]
        return Call(name, (subject, parse_term(text.decode())))  # type: ignore[arg-type]  # a constant is no blank node
    if operation < layout.TEST_CLASS:
        part = Literal(constants[-1 - b][1:].decode())
        inner: Expression = subject if c else Call("str", (subject,))
        return Call(TEXTS[operation - layout.TEST_TEXT], (inner, part))
    return Call(CLASSES[operation - layout.TEST_CLASS], (subject, NamedNode(constants[-1 - b][1:-1].decode())))


# -- what the kernel is asked for


def check(branches: Iterable[bytes]) -> None:
    """Refuse branches that no record can be made of; what is not refused can be entered."""
    for branch in branches:
        triples, tests, variables = _THREE.unpack_from(branch)
        if not triples:
            raise PatternError("a pattern needs at least one triple pattern: without one, every document would match")
        if triples + tests > layout.MOST_STEPS_IN_PROGRAM or variables > layout.MOST_VARIABLES:
            raise PatternError("the pattern is too large; split it into several subscriptions")


class Request:
    """The memory in which the kernel finds what it is asked for: a subscription, in the canonical form of its pattern.

    To number its terms, to find or make its record, to plan that and to choose where it waits is the kernel's business.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._make(1 << 11)

    def write(self, id: bytes, branch: bytes = NEVER) -> None:
        """Ask about a subscription, or for a new one with its first branch."""
        self._put(0, _THREE.pack(-1, -1, len(id)) + branch + id)

    def go_on(self, branch: bytes) -> None:
        """Ask for one more branch, behind the one that was entered last."""
        self._put(4 * layout.Q_TRIPLES, branch)

    @property
    def strings(self) -> int:
        """How many strings what is asked for may bring into the index."""
        (constants,) = unpack_from("=i", self._buffer, 4 * layout.Q_CONSTANTS)
        return int(constants) + 2

    @property
    def size(self) -> int:
        """How many bytes these have at most."""
        return len(self._buffer)

    def _put(self, at: int, data: bytes) -> None:
        end = at + len(data)
        if end > len(self._buffer):
            before = self._buffer[:at]
            self._make(2 * end)
            self._buffer[:at] = before
        self._buffer[at:end] = data

    def _make(self, size: int) -> None:
        self._buffer = bytearray(size // 8 * 8)
        self._addresses.put(layout.A_REQUEST, np.frombuffer(self._buffer, dtype=np.int32))
        self._addresses.put(layout.A_REQUEST_TEXT, np.frombuffer(self._buffer, dtype=np.uint8))
