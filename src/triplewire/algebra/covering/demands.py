"""Demands: what is asked of a condition, and how a demand on a compound condition becomes demands on its parts.

A condition is true, false or an error (None). That a row is an answer demands `true` of each condition; that it is
not an answer of another pattern demands `false or an error` of one of that pattern's conditions. `and`, `or` and
`not` carry these two and their opposites down to the parts exactly (SPARQL 1.1 section 17.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from triplewire.algebra import expressions
from triplewire.algebra.pattern import LOOSE, Call, Expression
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.values import Incomparable

Outcome = bool | None
Accepted = frozenset[Outcome]

TRUE: Accepted = frozenset([True])
UNTRUE: Accepted = frozenset([False, None])
FALSE: Accepted = frozenset([False])
ERROR: Accepted = frozenset([None])


class Demand(NamedTuple):
    """An expression, and the outcomes of it that will do."""

    expression: Expression
    accepted: Accepted

    @property
    def is_choice(self) -> bool:
        """True if one of its parts decides it: a true one an `or` to be true, one that is not an `and` not to be."""
        decisive = "or" if True in self.accepted else "and"
        return isinstance(self.expression, Call) and self.expression.function == decisive

    def parts(self) -> list[Demand]:
        """The demands on the parts of an `and`/`or`: all of them, or for a choice any one of them."""
        assert isinstance(self.expression, Call)
        return [Demand(argument, self.accepted) for argument in self.expression.arguments]


def flipped(accepted: Accepted) -> Accepted:
    """What `c` may be for `not c` to be accepted."""
    return frozenset(None if outcome is None else not outcome for outcome in accepted)


def demanded(conditions: Iterable[Expression]) -> list[Demand]:
    """The demand that each of these holds."""
    return [Demand(condition, TRUE) for condition in conditions]


def conjunction_of(conditions: Iterable[Expression]) -> Expression:
    """One condition that holds if all of these do."""
    parts = tuple(dict.fromkeys(conditions))
    if len(parts) == 1:
        return parts[0]
    return Call("and", parts) if parts else expressions.TRUE


def outcome(expression: Expression, taxonomy: Taxonomy) -> Outcome:
    """What an expression without variables comes to."""
    try:
        return expressions.truth(expressions.value(expression, {}, taxonomy))
    except Incomparable:
        return None


_TURNED = {">": "<", ">=": "<=", "~>": "~<", "~>=": "~<=", "ancestor": "descendant"}
_OPPOSITE = {"!=": "=", "~!=": "~="}
_SYMMETRIC = ("=", "~=", "same")


def canonical(demand: Demand) -> Demand:
    """The same demand with `not` taken in, and each comparison in one of its spellings."""
    expression, accepted = demand
    while isinstance(expression, Call) and (expression.function == "not" or expression.function in _OPPOSITE):
        accepted = flipped(accepted)
        name, arguments = expression.function, expression.arguments
        expression = arguments[0] if name == "not" else Call(_OPPOSITE[name], arguments)
    if not isinstance(expression, Call):
        return Demand(expression, accepted)
    name, arguments = expression.function, expression.arguments
    if name in LOOSE:
        arguments = tuple(_without_str(argument) for argument in arguments)
    if name in _TURNED or (name in _SYMMETRIC and str(arguments[1]) < str(arguments[0])):
        arguments = (arguments[1], arguments[0])
    return Demand(Call(_TURNED.get(name, name), arguments), accepted)


def _without_str(expression: Expression) -> Expression:
    """A loose comparison looks at the text anyway."""
    while isinstance(expression, Call) and expression.function == "str":
        expression = expression.arguments[0]
    return expression
