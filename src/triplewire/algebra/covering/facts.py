"""Facts: the questions that a condition comes down to once the sorts of its variables are known.

`read` turns a condition into a `ConditionReading`: one fact, and which outcomes the condition has when the fact is so
and when it is not. Facts of a comparison speak of places on a *line*: exact numbers, doubles, floats, texts, times,
dates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.covering.demands import ERROR, FALSE, TRUE, UNTRUE, Accepted, Demand, outcome
from triplewire.algebra.covering.sorts import (
    ANY,
    BOOLEANS,
    BY_IDENTITY,
    DATES,
    NUMBERS,
    RESOURCES,
    TIMES,
    Sort,
    TermKind,
    kind_of,
)
from triplewire.algebra.pattern import IS_A, LOOSE, STRICT, Call, Expression, variables_of
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.values import WIDEST_ZONE, loose_number, promote, typed
from triplewire.model.numbers import Single

EXACTLY, AS_DOUBLES, AS_SINGLES = "exact", "double", "single"
TEXT, TIME = "text", "time"


@dataclass(frozen=True, slots=True)
class Point:
    """A known place on a line."""

    value: object


Place = Variable | Call | NamedNode | Literal | Point
"""On a line: a variable's value there, a text that is made from a variable, a constant's value, or a point."""


class Ordering(NamedTuple):
    """`left operator right` on a line; the operator is one of `<`, `<=`, `=`. Of times, `gap` seconds lie between."""

    line: str
    left: Place
    operator: str
    right: Place
    gap: Fraction = Fraction(0)


class SameTerm(NamedTuple):
    """Two places hold the same term."""

    left: Expression
    right: Expression


class Holds(NamedTuple):
    """A text contains, starts or ends with a constant."""

    text: Place
    test: str
    part: str


class Opaque(NamedTuple):
    """A condition that is not looked into; only that it has one outcome for one row is used."""

    expression: Expression


Fact = Ordering | SameTerm | Holds | Opaque


class ConditionReading(NamedTuple):
    """The outcomes of a condition when its fact is so, and when it is not; without a fact `yes` is what it comes to."""

    fact: Fact | None
    yes: Accepted
    no: Accepted = frozenset()

    @property
    def outcomes(self) -> Accepted:
        """All outcomes that it can have."""
        return self.yes | self.no


class Comparand(NamedTuple):
    """One side of a comparison: what it is, and where its text or value is found."""

    place: Expression
    kind: TermKind
    made: bool
    """It is a text that a function made, so it has no term of its own to be the same as."""


def read(condition: Expression, kinds: Mapping[str, TermKind], taxonomy: Taxonomy) -> ConditionReading:
    """What the condition asks when its variables are of these kinds."""
    if not variables_of(condition):
        return ConditionReading(None, frozenset([outcome(condition, taxonomy)]))
    if isinstance(condition, Call):
        name, arguments = condition.function, condition.arguments
        if name in STRICT or name in LOOSE or name == "same":
            return _comparison(condition, kinds)
        if name in ("contains", "starts", "ends"):
            return _text_test(condition, kinds)
        if name in _KIND_TESTS and isinstance(arguments[0], Variable):
            return _decided(kinds[arguments[0].value].sort in _KIND_TESTS[name])
        if name in IS_A and arguments[0] == arguments[1]:
            return _decided(name == "descendant-or-self")
    return _opaque(condition)


_KIND_TESTS: dict[str, frozenset[Sort]] = {
    "isiri": frozenset([Sort.IRI]),
    "isblank": frozenset([Sort.BLANK]),
    "isliteral": frozenset(Sort) - RESOURCES,
    "isnumeric": NUMBERS,
}


def _decided(flag: bool) -> ConditionReading:
    return ConditionReading(None, TRUE if flag else FALSE)


def _opaque(condition: Expression) -> ConditionReading:
    return ConditionReading(Opaque(condition), TRUE, UNTRUE)


def _so(fact: Fact) -> ConditionReading:
    return ConditionReading(fact, TRUE, FALSE)


def _operand(expression: Expression, kinds: Mapping[str, TermKind]) -> Comparand | Accepted | None:
    """The operand; the outcomes of whatever needs it if it is an error; None if it cannot be looked into."""
    if isinstance(expression, Variable):
        return Comparand(expression, kinds[expression.value], False)
    if not isinstance(expression, Call):
        return Comparand(expression, kind_of(expression), False)
    if expression.function not in ("str", "lcase", "ucase"):
        return None
    inner = _operand(expression.arguments[0], kinds)
    if not isinstance(inner, Comparand):
        return inner
    if expression.function == "str":
        if inner.kind.sort is Sort.BLANK:
            return ERROR
        return Comparand(inner.place, TermKind(Sort.STRING, inner.kind.numeric), True)
    if inner.kind.sort not in (Sort.STRING, Sort.TAGGED):
        return ERROR
    return Comparand(Call(expression.function, (inner.place,)), TermKind(inner.kind.sort, None), True)


def _comparison(condition: Call, kinds: Mapping[str, TermKind]) -> ConditionReading:
    left, right = (_operand(argument, kinds) for argument in condition.arguments)
    if left is None or right is None:
        return _opaque(condition)
    if not isinstance(left, Comparand):
        return ConditionReading(None, left)
    if not isinstance(right, Comparand):
        return ConditionReading(None, right)
    if condition.function == "same":
        return _opaque(condition) if left.made or right.made else _identity(left, right, FALSE)
    if condition.function in LOOSE:
        return _loose(condition, left, right)
    return _strict(condition, left, right)


def _identity(left: Comparand, right: Comparand, otherwise: Accepted) -> ConditionReading:
    if left.kind.sort is not right.kind.sort:
        return ConditionReading(None, otherwise)
    return ConditionReading(SameTerm(left.place, right.place), TRUE, otherwise)


def _strict(condition: Call, left: Comparand, right: Comparand) -> ConditionReading:
    """SPARQL's operator mapping, sort by sort (`values.compare`)."""
    operator, a, b = condition.function, left.kind.sort, right.kind.sort
    if a in NUMBERS and b in NUMBERS:
        if Sort.NAN in (a, b):
            return ConditionReading(None, FALSE)
        return _so(Ordering(_number_line(a, b), left.place, operator, right.place))
    if a is b is Sort.STRING:
        return _so(Ordering(TEXT, left.place, operator, right.place))
    if a in BOOLEANS and b in BOOLEANS:
        return _decided({"=": a is b, "<": (a, b) == (Sort.FALSE, Sort.TRUE)}.get(operator, b is Sort.TRUE or a is b))
    if (a in TIMES and b in TIMES) or (a in DATES and b in DATES):
        if a is not b:
            return _across_zones(condition, left, right)
        return _so(Ordering(TIME, left.place, operator, right.place))
    return _equality(condition, left, right) if operator == "=" else ConditionReading(None, ERROR)


def _number_line(a: Sort, b: Sort) -> str:
    if Sort.DOUBLE in (a, b):
        return AS_DOUBLES
    return AS_SINGLES if Sort.SINGLE in (a, b) else EXACTLY


def _equality(condition: Call, left: Comparand, right: Comparand) -> ConditionReading:
    """RDFterm-equal: literals of a type that we do not know are equal to themselves, and else an error."""
    a, b = left.kind.sort, right.kind.sort
    unknown = Sort.OTHER in (a, b) and not RESOURCES & {a, b}
    if left.made or right.made:
        return ConditionReading(None, ERROR if unknown else FALSE) if a is not b else _opaque(condition)
    return _identity(left, right, ERROR if unknown else FALSE)


def _across_zones(condition: Call, left: Comparand, right: Comparand) -> ConditionReading:
    """Never equal; before or after each other only for every zone, that is, more than the widest zone apart."""
    if condition.function == "=":
        return ConditionReading(None, FALSE)
    return ConditionReading(Ordering(TIME, left.place, "<", right.place, WIDEST_ZONE), TRUE, UNTRUE)


def _loose(condition: Call, left: Comparand, right: Comparand) -> ConditionReading:
    """The papers' comparison: two numbers, two texts, or one of each (`values.compare_loosely`)."""
    operator = condition.function[1:]
    if Sort.BLANK in (left.kind.sort, right.kind.sort):
        return ConditionReading(None, ERROR)
    a, b = left.kind.numeric, right.kind.numeric
    if a is None or b is None:
        return _opaque(condition)
    if a != b:
        return ConditionReading(None, FALSE if operator == "=" else ERROR)
    return _so(Ordering(EXACTLY if a else TEXT, left.place, operator, right.place))


def _text_test(condition: Call, kinds: Mapping[str, TermKind]) -> ConditionReading:
    """`contains`, `starts`, `ends` with a constant without a language; with another one it is left alone."""
    text, part = _operand(condition.arguments[0], kinds), condition.arguments[1]
    if text is None or not isinstance(part, Literal) or kind_of(part).sort is not Sort.STRING:
        return _opaque(condition)
    if not isinstance(text, Comparand):
        return ConditionReading(None, text)
    if text.kind.sort not in (Sort.STRING, Sort.TAGGED):
        return ConditionReading(None, ERROR)
    return _so(Holds(text.place, condition.function, part.value))


def position(line: str, term: Expression) -> Any:
    """Where a constant is on a line; None if it is not on it."""
    assert not isinstance(term, Variable | Call)
    if line == TEXT:
        return getattr(term, "value", None)
    known = typed(term)
    if line == TIME:
        return known[1][0] if known is not None and known[0] in ("time", "date") else None
    if line == EXACTLY:
        return loose_number(term.value) if isinstance(term, Literal) else None
    number = known[1] if known is not None and known[0] == "number" else position(EXACTLY, term)
    return None if number is None else float(promote(number, 0.0 if line == AS_DOUBLES else Single(0))[0])


def identity_of(demand: Demand, places: Mapping[str, frozenset[Sort]]) -> tuple[Variable, Expression] | None:
    """A variable, and the other place that it must have the same term as, if that is what is demanded."""
    expression, accepted = demand
    if accepted != TRUE or not isinstance(expression, Call) or expression.function not in ("same", "="):
        return None
    left, right = expression.arguments
    if not isinstance(left, Variable):
        left, right = right, left
    if not isinstance(left, Variable) or isinstance(right, Call) or left == right:
        return None
    if isinstance(right, Variable):
        is_identity = any(places.get(name, ANY) <= RESOURCES for name in (left.value, right.value))
    else:
        is_identity = kind_of(right).sort in BY_IDENTITY
    return (left, right) if is_identity or expression.function == "same" else None
