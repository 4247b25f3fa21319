"""Bodies: conjunctions as numbers, and back.

Conditions that the kernel can test become tests; the others stay behind as one residual text among the constants,
and Python checks them on the rows that the kernel finds.

The strings of constants are marked by their first byte: `<`, `"` a term; `'` raw text to search for; `!` residual
conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, TriplePattern, variable
from triplewire.algebra.values import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, XSD_STRING, loose_number
from triplewire.errors import PatternError
from triplewire.matching.encoding import decode, dumps, encode, loads, slot_name
from triplewire.matching.kernel.planning import B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY
from triplewire.matching.layout import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    MOST_STEPS_IN_PROGRAM,
    MOST_VARIABLES,
    RESIDUAL,
    TEST_CLASS,
    TEST_FAMILY,
    TEST_NUMBER,
    TEST_TEXT,
)
from triplewire.model import parse_term

_COMPARISONS = {"=": EQ, "<": LT, "<=": LE, ">": GT, ">=": GE}
_COMPARISON_NAMES = {number: name for name, number in _COMPARISONS.items()}
_TEXTS = ("contains", "starts", "ends")
_CLASSES = ("descendant-or-self", "descendant", "child")
_EXACT_TYPES = (XSD_INTEGER, XSD_DECIMAL, XSD_DOUBLE)


@dataclass(slots=True)
class Body:
    """A conjunction as numbers: `code` for the kernel, the constants that it speaks of, its variables' names."""

    code: NDArray[np.int16]
    constants: list[bytes]
    slots: dict[str, int]
    numbers: list[int]
    """Which constants are numbers to compare with."""
    thresholds: list[tuple[int, int]] = field(default_factory=list)
    """The tests that could be a family's, as (number of the test, number of its constant)."""


class _Writer:
    """Numbers variables and constants in the order in which they come."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self.constants: list[bytes] = []
        self.numbers: list[int] = []
        self._seen: dict[bytes, int] = {}
        self._places: dict[Node, int] = {}

    def constant(self, text: bytes) -> int:
        number = self._seen.setdefault(text, len(self.constants))
        if number == len(self.constants):
            self.constants.append(text)
        return -1 - number

    def place(self, node: Node) -> int:
        found = self._places.get(node)
        if found is None:
            if isinstance(node, Variable):
                found = self.slots.setdefault(node.value, len(self.slots))
            else:
                found = self.constant(str(node).encode())
            self._places[node] = found
        return found

    def test(self, condition: Expression) -> tuple[int, int, int, int] | None:
        """The condition as a test of the kernel, if it is one that the kernel knows."""
        if not isinstance(condition, Call) or len(condition.arguments) != 2:
            return None
        name = condition.function
        subject, constant = condition.arguments
        if name.removeprefix("~") in _COMPARISONS and isinstance(subject, Variable):
            return self._number_test(name, subject, constant)
        if name in _TEXTS and isinstance(constant, Literal) and constant.datatype == XSD_STRING:
            return self._text_test(name, subject, constant)
        if name in _CLASSES and isinstance(subject, Variable) and isinstance(constant, NamedNode):
            return TEST_CLASS + _CLASSES.index(name), self.slots[subject.value], self.place(constant), 0
        return None

    def _number_test(self, name: str, subject: Variable, constant: Expression) -> tuple[int, int, int, int] | None:
        strict = not name.startswith("~")
        if not isinstance(constant, Literal) or (strict and constant.datatype not in _EXACT_TYPES):
            return None
        if not is_simple_number(constant.value):
            return None
        self.numbers.append(len(self.constants))
        self.constants.append(str(constant).encode())  # its own, because a family takes its threshold out
        comparison = _COMPARISONS[name.removeprefix("~")]
        return TEST_NUMBER + comparison, self.slots[subject.value], -len(self.constants), int(strict)

    def _text_test(self, name: str, subject: Expression, part: Literal) -> tuple[int, int, int, int] | None:
        strict = isinstance(subject, Variable)
        inner = subject.arguments[0] if isinstance(subject, Call) and subject.function == "str" else subject
        if not isinstance(inner, Variable):
            return None
        reference = self.constant(b"'" + part.value.encode())
        return TEST_TEXT + _TEXTS.index(name), self.slots[inner.value], reference, int(strict)


def is_simple_number(text: str) -> bool:
    """True if the kernel can compare with this number exactly: few digits, small exponent."""
    found = loose_number(text)
    if found is None:
        return False
    digits = str(found.as_tuple().digits).replace(", ", "").strip("(),0") if found else ""
    return len(digits) <= 15 and (found == 0 or abs(found.adjusted()) <= 15)


def write_body(conjunction: Conjunction) -> Body:
    """The conjunction, which is in normal form, as numbers."""
    if not conjunction.triples:
        raise PatternError("a pattern needs at least one triple pattern: without one, every document would match")
    writer = _Writer()
    triples = [writer.place(node) for triple in conjunction.triples for node in triple]
    tests: list[int] = []
    thresholds: list[tuple[int, int]] = []
    residual: list[Expression] = []
    for condition in conjunction.conditions:
        test = writer.test(condition)
        if test is None:
            residual.append(condition)
            continue
        if TEST_NUMBER + LT <= test[0] < TEST_FAMILY:
            thresholds.append((len(tests) // 4, -1 - test[2]))
        tests += test
    if residual:
        writer.constant(b"!" + dumps([encode(condition, writer.slots) for condition in residual]))
    if len(triples) // 3 + len(tests) // 4 > MOST_STEPS_IN_PROGRAM or len(writer.slots) > MOST_VARIABLES:
        raise PatternError("the pattern is too large; split it into several subscriptions")
    head = [len(writer.slots), len(triples) // 3, len(tests) // 4, RESIDUAL if residual else 0, len(writer.constants)]
    code = np.array(head + triples + tests, dtype=np.int16)
    return Body(code, writer.constants, writer.slots, writer.numbers, thresholds)


def read_body(code: NDArray[np.int16], constants: list[bytes], threshold: bytes | None) -> Conjunction:
    """The conjunction of a body, its variables named by their numbers; `threshold` is that of a family's member."""
    names = [slot_name(i) for i in range(int(code[B_VARIABLES]))]

    def node(place: int) -> Node:
        return variable(names[place]) if place >= 0 else parse_term(constants[-1 - place].decode())

    count = int(code[B_TRIPLES])
    places = code[BODY : BODY + 3 * count].reshape(-1, 3).tolist()
    triples = tuple(TriplePattern(*(node(place) for place in triple)) for triple in places)
    tests = code[BODY + 3 * count :].reshape(-1, 4).tolist()
    assert len(tests) == int(code[B_TESTS])
    conditions: list[Expression] = [_condition(test, names, constants, threshold) for test in tests]
    if code[B_FLAGS] & RESIDUAL:
        plain = loads(next(text for text in constants if text.startswith(b"!"))[1:])
        conditions += [decode(condition, names) for condition in plain]
    return Conjunction(triples, tuple(conditions))


def _condition(test: list[int], names: list[str], constants: list[bytes], threshold: bytes | None) -> Call:
    operation, a, b, c = test
    subject = variable(names[a])
    if operation < TEST_TEXT:
        family = operation >= TEST_FAMILY
        comparison = operation - (TEST_FAMILY if family else TEST_NUMBER)
        text = threshold if family else constants[-1 - b]
        assert text is not None
        name = _COMPARISON_NAMES[comparison] if c else "~" + _COMPARISON_NAMES[comparison]
        return Call(name, (subject, parse_term(text.decode())))  # type: ignore[arg-type]
    if operation < TEST_CLASS:
        part = Literal(constants[-1 - b][1:].decode())
        inner: Expression = subject if c else Call("str", (subject,))
        return Call(_TEXTS[operation - TEST_TEXT], (inner, part))
    return Call(_CLASSES[operation - TEST_CLASS], (subject, NamedNode(constants[-1 - b][1:-1].decode())))
