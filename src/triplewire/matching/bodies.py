"""Bodies: conjunctions as the kernel is told them, and back from the numbers that it keeps them as.

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
from triplewire.matching.kernel.planning import B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY
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


class Body(NamedTuple):
    """A conjunction as the kernel is told it: places as they are spelled, which it numbers, and tests."""

    places: list[str]
    """Three for each triple."""
    variables: tuple[str, ...]
    """As they are spelled, in the order of their first places, which is that of their numbers."""
    tests: list[int]
    """Operation, variable, bytes of its constant, strictness, for each."""
    constants: list[bytes]
    """Those of the tests."""
    numbers: list[float]
    """What the tests of numbers compare with."""
    residual: bytes
    """The conditions that are left to Python."""

    @property
    def has_inequality(self) -> bool:
        """True if a test could be a family's."""
        return any(TEST_NUMBER + LT <= operation < TEST_FAMILY for operation in self.tests[::4])

    def place(self, term: str) -> int | str:
        """Where a term is among the constants of the triples, as -1, -2, …; the term itself if it is not there."""
        found = [text for text in dict.fromkeys(self.places) if text[0] != "?"]
        return -1 - found.index(term) if term in found else term


def _add_test(condition: Expression, body: Body) -> bool:
    """Add the condition as a test, if it is one that the kernel knows."""
    if type(condition) is not Call or condition.function not in _OPERATIONS:
        return False
    operation = _OPERATIONS[condition.function]
    subject, constant = condition.arguments
    strict = operation < TEST_CLASS and condition.function[0] != "~"
    if TEST_TEXT <= operation < TEST_CLASS and type(subject) is Call and subject.function == "str":
        subject, strict = subject.arguments[0], False
    text = _constant(operation, constant, strict)
    if text is None or type(subject) is not Variable:
        return False
    spelled = text.encode()
    body.tests.extend((operation, body.variables.index(str(subject)), len(spelled), int(strict)))
    body.constants.append(spelled)
    if operation < TEST_TEXT and type(constant) is Literal:
        body.numbers.append(float(constant.value))
    return True


def _constant(operation: int, constant: Expression, strict: bool) -> str | None:
    """How the constant of a test is spelled in the index; None if the kernel cannot test against it."""
    if operation >= TEST_CLASS:
        return str(constant) if type(constant) is NamedNode else None
    if type(constant) is not Literal:
        return None
    if operation >= TEST_TEXT:
        return "'" + constant.value if constant.datatype == XSD_STRING else None
    if (strict and constant.datatype not in _EXACT_TYPES) or not is_simple_number(constant.value):
        return None
    return str(constant)


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
    """The conjunction, which is in normal form, as the kernel is told it."""
    triples = conjunction.triples
    if not triples:
        raise PatternError("a pattern needs at least one triple pattern: without one, every document would match")
    places = [str(node) for triple in triples for node in triple]
    variables = tuple(dict.fromkeys([text for text in places if text[0] == "?"]))
    body = Body(places, variables, [], [], [], b"")
    if conjunction.conditions:
        residual = [condition for condition in conjunction.conditions if not _add_test(condition, body)]
        if residual:
            slots = {text[1:]: number for number, text in enumerate(variables)}
            body = body._replace(residual=b"!" + dumps([encode(condition, slots) for condition in residual]))
    if len(triples) + len(body.constants) > MOST_STEPS_IN_PROGRAM or len(variables) > MOST_VARIABLES:
        raise PatternError("the pattern is too large; split it into several subscriptions")
    return body


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
