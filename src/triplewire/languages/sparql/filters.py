"""Expressions for one branch: which variables are bound is known there, so BOUND and unbound variables fold away.

SPARQL's logic has three values (section 17.2): an unbound variable is an error, an error is not true, and `||` and `&&`
may recover from it. What is constant is computed here, with the algebra's own functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.algebra.expressions import FALSE, MOST_REGEX, TRUE, truth, value
from triplewire.algebra.pattern import IS_A, STRICT, Call, Expression
from triplewire.algebra.values import Incomparable
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql import syntax
from triplewire.model import Term

ERROR: Final = Call("negate", (Literal(""),))
"""An expression that is always an error: the algebra has no name for it, and needs none."""

_TESTS: Final = (
    frozenset(STRICT)
    | {"same", "and", "or", "not", "contains", "starts", "ends", "regex", "langmatches"}
    | {"isiri", "isblank", "isliteral", "isnumeric"}
)
"""The functions that give a boolean."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a filter sees: variables that are bound, and variables that only an OPTIONAL binds.

    `inside` is true for a filter of an OPTIONAL, which may look at an earlier OPTIONAL's variables: it decides
    a column, not the match.
    """

    certain: frozenset[str]
    perhaps: frozenset[str]
    inside: bool = False


def conditions(expression: syntax.Expression, scope: Scope, place: TextPlace) -> tuple[Expression, ...] | None:
    """The conditions that together say the expression is true; None if it never is."""
    return _split(_fold(expression, scope, place))


def fixed(condition: Expression, terms: Mapping[str, Term]) -> tuple[Expression, ...] | None:
    """The conditions that are left of one when some variables are known terms; None if it never holds then."""
    return _split(_fix(condition, terms))


def united(parts: Iterable[tuple[Expression, ...] | None]) -> tuple[Expression, ...] | None:
    """The conditions of all parts together; None if one of them never holds."""
    found: list[Expression] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return tuple(found)


def _fix(expression: Expression, terms: Mapping[str, Term]) -> Expression:
    if isinstance(expression, Variable):
        term = terms.get(expression.value, expression)
        assert not isinstance(term, BlankNode), "VALUES has no blank nodes"
        return term
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(_fix(argument, terms) for argument in expression.arguments)
    if expression.function in ("and", "or"):
        return _connected(expression.function, arguments)
    return _applied(Call(expression.function, arguments))


def _split(expression: Expression) -> tuple[Expression, ...] | None:
    found: list[Expression] = []
    for part in _conjuncts(expression):
        constant = _truth(part)
        if constant is None:
            found.append(part)
        elif constant is not TRUE:
            return None
    return tuple(found)


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "and":
        for argument in expression.arguments:
            yield from _conjuncts(argument)
    else:
        yield expression


def _truth(expression: Expression) -> Expression | None:
    """TRUE, FALSE or ERROR if the expression's truth is known; None if it depends on the row."""
    if expression == ERROR:
        return ERROR
    if isinstance(expression, Variable | Call):
        return None
    try:
        return TRUE if truth(expression) else FALSE
    except Incomparable:
        return ERROR


def _fold(expression: syntax.Expression, scope: Scope, place: TextPlace) -> Expression:
    if isinstance(expression, Variable):
        return _variable(expression, scope, place)
    if not isinstance(expression, syntax.Operation):
        return expression
    if expression.function == "bound":
        return _bound(expression, scope)
    arguments = tuple(_fold(argument, scope, place) for argument in expression.arguments)
    if expression.function in ("and", "or"):
        return _connected(expression.function, arguments)
    if expression.function == "regex":
        _check_regex(arguments, expression.place)
    return _applied(Call(expression.function, arguments))


def _variable(variable: Variable, scope: Scope, place: TextPlace) -> Expression:
    if variable.value in scope.certain:
        return variable
    if variable.value not in scope.perhaps:
        return ERROR
    if not scope.inside:
        raise _decides(variable.value, place)
    return variable


def _bound(expression: syntax.Operation, scope: Scope) -> Expression:
    (variable,) = expression.arguments
    assert isinstance(variable, Variable)
    if variable.value in scope.perhaps:
        raise _decides(variable.value, expression.place)
    return TRUE if variable.value in scope.certain else FALSE


def _decides(name: str, place: TextPlace) -> Exception:
    return place.refused(
        f"?{name} is bound by an OPTIONAL only, and this FILTER would make it decide the match",
        hint="Move the FILTER into the OPTIONAL, or the OPTIONAL's triples into the group",
    )


def _connected(name: str, arguments: tuple[Expression, ...]) -> Expression:
    """`and`/`or` without the arguments that change nothing; an error stays, because another argument may win."""
    neutral, decisive = (TRUE, FALSE) if name == "and" else (FALSE, TRUE)
    truths = [_truth(argument) for argument in arguments]
    if decisive in truths:
        return decisive
    if all(found is ERROR or found is neutral for found in truths):
        return ERROR if ERROR in truths else neutral
    known = zip(arguments, truths, strict=True)
    left = tuple(dict.fromkeys(argument if t is None else t for argument, t in known if t is not neutral))
    if len(left) > 1:
        return Call(name, left)
    (only,) = left
    return only if isinstance(only, Call) and only.function in _TESTS else Call(name, (only, neutral))


def _applied(call: Call) -> Expression:
    """The call, or what it gives if that is known: functions other than `and` and `or` pass an error on."""
    if ERROR in call.arguments:
        return ERROR
    if call.function in IS_A or any(isinstance(argument, Variable | Call) for argument in call.arguments):
        return call
    try:
        result = value(call, {})
    except Incomparable:
        return ERROR
    assert isinstance(result, Literal | NamedNode)
    return result


def _check_regex(arguments: tuple[Expression, ...], place: TextPlace) -> None:
    """A regular expression that cannot be read would only ever be an error: better said now than never matched."""
    if not all(isinstance(argument, Literal) for argument in arguments[1:]):
        return
    try:
        value(Call("regex", (Literal(""), *arguments[1:])), {})
    except Incomparable:
        raise place.refused(
            "this regular expression cannot be read",
            hint=f"It is RE2's syntax, without back-references and look-around, of up to {MOST_REGEX} characters; "
            "the flags are i, s, m and x",
        ) from None
