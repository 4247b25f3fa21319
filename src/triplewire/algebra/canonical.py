"""The canonical form of a pattern: each branch of its normal form as bytes, as a document is canonical N-Triples.

A matcher enters a subscription from these bytes, without a Python object for each term. They say all of the pattern and
nothing else: no taxonomy, no limit, no index has a part in them, so a pattern has one form for as long as it lives.

A branch is numbers, and behind them texts:

    HEAD          as its names say
    places        three for each triple: a variable (0, 1, …) or a constant (-1, -2, …: the first, the second, …)
    tests         four numbers for each: which of TESTS, the variable, the constant, 1 if types must agree
    wanted        the variables that rows depend on
    lengths       the bytes of each constant
    amounts       what the tests of numbers compare with, as floating point
    constants     as the index keeps them; then the columns of the rows

Conditions that are no tests are one more constant, the last. What a constant is, its first byte says: `<` and `"` a
term, `'` text to search for, `!` conditions. The columns begin with `#`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import pack
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.encoding import dumps, encode
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Call, Conjunction, Expression, Optional, Pattern
from triplewire.algebra.values import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, XSD_STRING, loose_number

HEAD = ("triples", "tests", "variables", "constants", "conditions", "wanted", "amounts", "text", "columns")
"""How many of each; of conditions that are no tests one or none; of text and of columns the bytes."""

COMPARISONS = ("=", "<", "<=", ">", ">=")
TEXTS = ("contains", "starts", "ends")
CLASSES = ("descendant-or-self", "descendant", "child")
TESTS = (*COMPARISONS, *TEXTS, *CLASSES)
"""What a test may ask of a variable and a constant; a condition that asks anything else is no test."""

_NUMBER_OF = {name: number for number, name in enumerate(TESTS)} | {
    "~" + name: number for number, name in enumerate(COMPARISONS)
}
_FIRST_TEXT, _FIRST_CLASS = len(COMPARISONS), len(COMPARISONS) + len(TEXTS)
_EXACT_TYPES = (XSD_INTEGER, XSD_DECIMAL, XSD_DOUBLE)


def canonical(pattern: Pattern) -> tuple[bytes, ...]:
    """The branches of the pattern's normal form as bytes; found once, and kept with the pattern."""
    if pattern._canonical is None:
        normal = normalize(pattern)
        found = tuple([_write(branch, normal.answer) for branch in normal.branches])
        object.__setattr__(pattern, "_canonical", found)
        return found
    return pattern._canonical


def prepared(pattern: Pattern) -> Pattern:
    """The pattern in normal form, its bytes with it."""
    normal = normalize(pattern)
    canonical(normal)
    return normal


def _write(branch: Conjunction, answer: tuple[str, ...]) -> bytes:
    body = _Body(branch)
    fixed = tuple([(name, body.place(str(term))) for name, term in branch.bindings])
    columns, wanted = _columns(answer, tuple(body.variables), fixed, branch.optionals)
    others = [condition for condition in branch.conditions if not body.add_test(condition)]
    texts = [text.encode() for text in body.constants]
    if others:
        texts.append(b"!" + dumps([encode(condition, _slots(body.variables)) for condition in others]))
    lengths = [*map(len, texts)]
    head = (
        len(branch.triples),
        len(body.tests) // 4,
        len(body.variables),
        len(texts),
        bool(others),
        len(wanted),
        len(body.amounts),
        sum(lengths),
        len(columns),
    )
    numbers = (*head, *body.places, *body.tests, *wanted, *lengths)
    return pack(f"={len(numbers)}i{len(body.amounts)}d", *numbers, *body.amounts) + b"".join((*texts, columns))


class _Body:
    """A conjunction, its variables and constants numbered in the order in which they come."""

    def __init__(self, branch: Conjunction) -> None:
        variables: dict[str, int] = {}
        known: dict[str, int] = {}
        self.places = [
            variables.setdefault(text, len(variables))
            if (text := str(node))[0] == "?"
            else known.setdefault(text, -1 - len(known))
            for triple in branch.triples
            for node in triple
        ]
        self.variables, self._known, self.constants = variables, known, list(known)
        self.tests: list[int] = []
        self.amounts: list[float] = []

    def place(self, term: str) -> int | str:
        """Which constant a term is; the term itself if it is none."""
        return self._known.get(term, term)

    def add_test(self, condition: Expression) -> bool:
        """Add the condition as a test, if it is one."""
        test = simple_test(condition)
        if test is None:
            return False
        place = self._known.get(test.constant)
        if place is None or test.amount is not None:  # a number is its own: a matcher may keep many in one order
            self.constants.append(test.constant)
            place = -len(self.constants)
            if test.amount is None:
                self._known[test.constant] = place
            else:
                self.amounts.append(test.amount)
        self.tests += (test.number, self.variables[test.variable], place, test.is_strict)
        return True


class Test(NamedTuple):
    """A condition that compares a variable with a constant, in a way that needs nothing but the two."""

    number: int
    """Which of TESTS."""
    variable: str
    """As it is spelled."""
    constant: str
    """As it is spelled in the index."""
    is_strict: bool
    amount: float | None
    """Of a number, what it is."""

    @property
    def is_inequality(self) -> bool:
        return 0 < self.number < _FIRST_TEXT


def simple_test(condition: Expression) -> Test | None:
    """The condition as a test, if it is one."""
    if type(condition) is not Call or (number := _NUMBER_OF.get(condition.function)) is None:
        return None
    subject, constant = condition.arguments
    strict = number < _FIRST_CLASS and condition.function[0] != "~"
    if _FIRST_TEXT <= number < _FIRST_CLASS and type(subject) is Call and subject.function == "str":
        subject, strict = subject.arguments[0], False
    text = _constant(number, constant, strict)
    if text is None or type(subject) is not Variable:
        return None
    amount = float(constant.value) if number < _FIRST_TEXT and type(constant) is Literal else None
    return Test(number, str(subject), text, strict, amount)


def _constant(number: int, constant: Expression, strict: bool) -> str | None:
    """How the constant of a test is spelled; None if there is no test against it."""
    if number >= _FIRST_CLASS:
        return str(constant) if type(constant) is NamedNode else None
    if type(constant) is not Literal:
        return None
    if number >= _FIRST_TEXT:
        return "'" + constant.value if constant.datatype == XSD_STRING else None
    if (strict and constant.datatype not in _EXACT_TYPES) or not is_simple_number(constant.value):
        return None
    return str(constant)


def is_simple_number(text: str) -> bool:
    """True if floating point compares with this number exactly: few digits, small exponent."""
    if len(text) <= 15 and text.isascii() and text.isdigit():
        return True
    found = loose_number(text)
    if found is None:
        return False
    digits = str(found.as_tuple().digits).replace(", ", "").strip("(),0") if found else ""
    return len(digits) <= 15 and (found == 0 or abs(found.adjusted()) <= 15)


_Fixed = tuple[tuple[str, int | str], ...]
"""The variables that are constants, and which: a constant of the triples by its place, or the term itself."""


@lru_cache(maxsize=1024)
def _columns(
    answer: tuple[str, ...], variables: tuple[str, ...], fixed: _Fixed, optionals: tuple[Optional, ...]
) -> tuple[bytes, list[int]]:
    """The columns' text, and the numbers of the variables that rows depend on: few kinds for many subscriptions."""
    slots = _slots(variables)
    places = slots | dict(fixed)
    named = [(name, places[name]) for name in answer if name in places]
    inner = {name for part in optionals for triple in part.triples for name in triple.variables}
    wanted = [slots[name] for name in slots if name in answer or name in inner]
    return b"#" + dumps([answer, named, [_encode_optional(part, slots) for part in optionals]]), wanted


def _encode_optional(optional: Optional, slots: dict[str, int]) -> object:
    return [
        [[encode(node, slots) for node in triple] for triple in optional.triples],
        [encode(condition, slots) for condition in optional.conditions],
    ]


def _slots(variables: Iterable[str]) -> dict[str, int]:
    """The numbers of variables, which are spelled with their question mark, by their names."""
    return {text[1:]: number for number, text in enumerate(variables)}
