"""Bodies: conjunctions as numbers, and back.

Conditions that the kernel can test become tests; the others stay behind as one residual text among the constants,
and Python checks them on the rows that the kernel finds.

The strings of constants are marked by their first byte: `<`, `"` a term; `'` raw text to search for; `!` residual
conditions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, TriplePattern, variable
from triplewire.algebra.values import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, XSD_STRING, loose_number
from triplewire.errors import PatternError
from triplewire.matching.encoding import decode, dumps, encode, loads, slot_name
from triplewire.matching.kernel.planning import B_CONSTANTS, B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY
from triplewire.matching.layout import (
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

_COMPARISONS = ("=", "<", "<=", ">", ">=")
_TEXTS = ("contains", "starts", "ends")
_CLASSES = ("descendant-or-self", "descendant", "child")
_OPERATIONS = (
    {name: TEST_NUMBER + i for i, name in enumerate(_COMPARISONS)}
    | {"~" + name: TEST_NUMBER + i for i, name in enumerate(_COMPARISONS)}
    | {name: TEST_TEXT + i for i, name in enumerate(_TEXTS)}
    | {name: TEST_CLASS + i for i, name in enumerate(_CLASSES)}
)
"""The conditions that the kernel may be able to test."""

_EXACT_TYPES = (XSD_INTEGER, XSD_DECIMAL, XSD_DOUBLE)
_Test = tuple[int, int, int, int]


class Body(NamedTuple):
    """A conjunction as numbers (`kernel.planning` says how), and the constants that these speak of."""

    code: list[int]
    constants: list[bytes]
    places: dict[str, int]
    """Where its variables and terms are, as they are spelled."""
    numbers: list[float]
    """What its numeric tests compare with, in their order."""

    @property
    def is_residual(self) -> bool:
        """True if some conditions are left to Python."""
        return bool(self.code[B_FLAGS] & RESIDUAL)

    @property
    def has_inequality(self) -> bool:
        """True if a test could be a family's."""
        operations = self.code[BODY + 3 * self.code[B_TRIPLES] :: 4]
        return any(TEST_NUMBER + LT <= operation < TEST_FAMILY for operation in operations)

    def slots(self) -> dict[str, int]:
        """The numbers of its variables, by name."""
        return {text[1:]: place for text, place in self.places.items() if place >= 0}


class _Tester:
    """Makes tests of conditions, and numbers the constants that these bring."""

    def __init__(self, places: dict[str, int], constants: list[bytes], numbers: list[float]) -> None:
        self._places, self._constants, self._numbers = places, constants, numbers

    def test(self, condition: Expression) -> _Test | None:
        """The condition as a test of the kernel, if it is one that the kernel knows."""
        if type(condition) is not Call or len(condition.arguments) != 2:
            return None
        operation = _OPERATIONS.get(condition.function)
        if operation is None:
            return None
        subject, constant = condition.arguments
        if operation < TEST_TEXT:
            return self._number_test(operation, condition.function[0] != "~", subject, constant)
        if operation < TEST_CLASS:
            return self._text_test(operation, subject, constant)
        if type(subject) is not Variable or type(constant) is not NamedNode:
            return None
        return operation, self._places[str(subject)], self._shared(str(constant)), 0

    def _number_test(self, operation: int, strict: bool, subject: Expression, constant: Expression) -> _Test | None:
        if type(subject) is not Variable or type(constant) is not Literal:
            return None
        if (strict and constant.datatype not in _EXACT_TYPES) or not is_simple_number(constant.value):
            return None
        self._numbers.append(float(constant.value))
        self._constants.append(str(constant).encode())  # its own, because a family takes its threshold out
        return operation, self._places[str(subject)], -len(self._constants), int(strict)

    def _text_test(self, operation: int, subject: Expression, part: Expression) -> _Test | None:
        strict = type(subject) is Variable
        inner = subject.arguments[0] if type(subject) is Call and subject.function == "str" else subject
        if type(inner) is not Variable or type(part) is not Literal or part.datatype != XSD_STRING:
            return None
        return operation, self._places[str(inner)], self._shared("'" + part.value), int(strict)

    def _shared(self, text: str) -> int:
        """The place of a constant that others may speak of too."""
        place = self._places.get(text)
        if place is None:
            self._constants.append(text.encode())
            place = self._places[text] = -len(self._constants)
        return place


def is_simple_number(text: str) -> bool:
    """True if the kernel can compare with this number exactly: few digits, small exponent."""
    if len(text) <= 15 and text.isascii() and text.isdigit():
        return True
    found = loose_number(text)
    if found is None:
        return False
    digits = str(found.as_tuple().digits).replace(", ", "").strip("(),0") if found else ""
    return len(digits) <= 15 and (found == 0 or abs(found.adjusted()) <= 15)


def write_body(conjunction: Conjunction) -> Body:
    """The conjunction, which is in normal form, as numbers."""
    if not conjunction.triples:
        raise PatternError("a pattern needs at least one triple pattern: without one, every document would match")
    texts = [str(node) for triple in conjunction.triples for node in triple]
    places = dict.fromkeys(texts, 0)
    constants: list[bytes] = []
    variables = 0
    for text in places:
        if text[0] == "?":
            places[text] = variables
            variables += 1
        else:
            constants.append(text.encode())
            places[text] = -len(constants)
    code = [variables, len(conjunction.triples), 0, 0, 0]
    code += [places[text] for text in texts]
    body = Body(code, constants, places, [])
    if conjunction.conditions:
        _write_conditions(conjunction.conditions, body)
    code[B_CONSTANTS] = len(constants)
    if code[B_TRIPLES] + code[B_TESTS] > MOST_STEPS_IN_PROGRAM or variables > MOST_VARIABLES:
        raise PatternError("the pattern is too large; split it into several subscriptions")
    return body


def _write_conditions(conditions: tuple[Expression, ...], body: Body) -> None:
    """Add the conditions to a body that has its triples: as tests, or as one residual text."""
    tester = _Tester(body.places, body.constants, body.numbers)
    residual: list[Expression] = []
    for condition in conditions:
        test = tester.test(condition)
        if test is None:
            residual.append(condition)
        else:
            body.code.extend(test)
            body.code[B_TESTS] += 1
    if residual:
        slots = body.slots()
        body.constants.append(b"!" + dumps([encode(condition, slots) for condition in residual]))
        body.code[B_FLAGS] = RESIDUAL


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
        name = _COMPARISONS[comparison] if c else "~" + _COMPARISONS[comparison]
        return Call(name, (subject, parse_term(text.decode())))  # type: ignore[arg-type]
    if operation < TEST_CLASS:
        part = Literal(constants[-1 - b][1:].decode())
        inner: Expression = subject if c else Call("str", (subject,))
        return Call(_TEXTS[operation - TEST_TEXT], (inner, part))
    return Call(_CLASSES[operation - TEST_CLASS], (subject, NamedNode(constants[-1 - b][1:-1].decode())))
