"""Bodies: conjunctions from the numbers that the kernel keeps them as.

Conditions that are tests were canonical ones (`algebra.canonical`); the others are one text among the constants, and
Python checks them on the rows that the kernel finds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from triplewire.algebra.canonical import CLASSES, COMPARISONS, TEXTS
from triplewire.algebra.encoding import decode, loads, slot_name
from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, TriplePattern, variable
from triplewire.matching.kernel.planning import B_FLAGS, B_TESTS, B_TRIPLES, B_VARIABLES, BODY
from triplewire.matching.layout import (
    RESIDUAL,
    TEST_CLASS,
    TEST_FAMILY,
    TEST_NUMBER,
    TEST_TEXT,
)
from triplewire.model import parse_term


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
        name = COMPARISONS[comparison] if c else "~" + COMPARISONS[comparison]
        return Call(name, (subject, parse_term(text.decode())))  # type: ignore[arg-type]
    if operation < TEST_CLASS:
        part = Literal(constants[-1 - b][1:].decode())
        inner: Expression = subject if c else Call("str", (subject,))
        return Call(TEXTS[operation - TEST_TEXT], (inner, part))
    return Call(CLASSES[operation - TEST_CLASS], (subject, NamedNode(constants[-1 - b][1:-1].decode())))
