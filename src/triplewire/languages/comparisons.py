"""What a comparison of the papers' languages means, as an expression of the algebra.

The papers compare text that looks like a number as a number (MDV section 3.3.4 stores constants as strings and converts
them when it joins). So a number that is written bare compares loosely, and so does every order. Equality with a
quoted text, a name or another variable is equality of terms: it can be looked up.
"""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import IS_A, Call, Expression

SPELLINGS = {"≠": "!=", "≤": "<=", "≥": ">=", "⊒": "contains"}
"""The printed signs of the papers, and what is typed for them."""

ORDERS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TURNED = ORDERS | {operator: operator for operator in ("=", "!=", "is", "is not")}
"""What an operator is when its sides change places."""


def expression(operator: str, left: Expression, right: Expression, *, number: bool = False) -> Expression:
    """`left operator right`; `number` says that one of them was written as a bare number.

    A constant on the left changes sides, so that `64 < ?x` is `?x > 64`.
    """
    if not isinstance(left, Variable) and isinstance(right, Variable) and operator in _TURNED:
        operator, left, right = _TURNED[operator], right, left
    if operator in IS_A:
        return Call(operator, (left, right))
    if operator == "starts":
        return Call("starts", (Call("str", (left,)), right))
    if operator == "contains":
        return Call("contains", (Call("str", (left,)), _text(right)))
    if operator == "not contains":
        return Call("not", (expression("contains", left, right),))
    return _ordered_or_equal(operator, left, right, number)


def _ordered_or_equal(operator: str, left: Expression, right: Expression, number: bool) -> Expression:
    if operator == "is" or (operator == "=" and not number):
        return Call("same", (left, right))
    if operator == "is not" or (operator == "!=" and any(isinstance(side, NamedNode) for side in (left, right))):
        return Call("not", (Call("same", (left, right)),))
    return Call("~" + operator, (left, right))


def _text(part: Expression) -> Expression:
    """What is looked for inside a text: only its characters count, not its language or type."""
    return Literal(part.value) if isinstance(part, Literal | NamedNode) else Call("str", (part,))
