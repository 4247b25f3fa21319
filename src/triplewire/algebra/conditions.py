"""Conditions in one spelling: flattened, split at `or`, with the constant on the right, without what follows anyway."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import product

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.algebra.expressions import truth, value
from triplewire.algebra.pattern import IS_A, Call, Expression, render, variables_of
from triplewire.algebra.values import XSD_DECIMAL, XSD_INTEGER, Incomparable, loose_number, number
from triplewire.model import XSD

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "same": "same"}
_FLIPPED |= {"~" + op: "~" + other for op, other in _FLIPPED.items() if op != "same"}
_NEGATED = {"=": "!=", "!=": "=", "~=": "~!=", "~!=": "~="}
_LOWER, _UPPER = (">", ">="), ("<", "<=")
SYMMETRIC = ("=", "!=", "~=", "~!=", "same")
"""Comparisons whose sides may change places."""

_PLAIN = re.compile(r"[^\\^$.|?*+()\[\]{}]*\Z")
_WHOLE_TYPES = frozenset(
    f"{XSD}{name}" for name in ("integer", "decimal", "int", "long", "short", "byte", "nonNegativeInteger")
)


def split(conditions: Iterable[Expression], most: int) -> list[tuple[Expression, ...]]:
    """The conjunctions whose union says the same; an `or` that would make more than `most` of them stays whole."""
    ways: list[list[tuple[Expression, ...]]] = []
    count = 1
    for condition in conditions:
        flat = _disjuncts(_pushed(condition))
        if count * len(flat) > most:
            flat = [(_pushed(condition),)]
        count *= len(flat)
        ways.append(flat)
    return [tuple(c for part in choice for c in part) for choice in product(*ways)]


def _disjuncts(condition: Expression) -> list[tuple[Expression, ...]]:
    """Disjunctive normal form, one tuple a disjunct; as in SPARQL, an error does not spoil a true one beside it."""
    if isinstance(condition, Call) and condition.function == "or":
        return [way for argument in condition.arguments for way in _disjuncts(argument)]
    if isinstance(condition, Call) and condition.function == "and":
        parts = [_disjuncts(argument) for argument in condition.arguments]
        size = 1
        for part in parts:
            size *= len(part)
        if size > 1024:
            return [(condition,)]
        return [tuple(c for way in choice for c in way) for choice in product(*parts)]
    return [(condition,)]


def _pushed(condition: Expression, negative: bool = False) -> Expression:
    """Negation pushed down to the tests (De Morgan holds with errors too: both sides are errors together)."""
    if isinstance(condition, Call):
        name, arguments = condition.function, condition.arguments
        if name == "not":
            return _pushed(arguments[0], not negative)
        if name in ("and", "or"):
            other = {"and": "or", "or": "and"}[name] if negative else name
            return Call(other, tuple(_pushed(argument, negative) for argument in arguments))
        if negative and name in _NEGATED:
            return Call(_NEGATED[name], arguments)
    return Call("not", (condition,)) if negative else condition


def is_decided(condition: Expression) -> bool | None:
    """What a condition without variables comes to, if the taxonomy has no say in it; an error is false."""
    if variables_of(condition) or _asks_taxonomy(condition):
        return None
    try:
        return truth(value(condition, {}))
    except Incomparable:
        return False


def _asks_taxonomy(condition: Expression) -> bool:
    if not isinstance(condition, Call):
        return False
    return condition.function in IS_A or any(_asks_taxonomy(argument) for argument in condition.arguments)


def tidy(conditions: Iterable[Expression]) -> tuple[Expression, ...] | None:
    """The conditions, each in one spelling and once; None if one of them can never hold."""
    spelled: dict[Expression, None] = {}
    for condition in conditions:
        canonical = _spelled(condition)
        decided = True if _is_tautology(canonical) else is_decided(canonical)
        if decided is False:
            return None
        if decided is None:
            spelled[canonical] = None
    return tuple(sorted(_tightest(spelled), key=render))


def _is_tautology(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.function == "same" and len(set(condition.arguments)) == 1


def _spelled(condition: Expression) -> Expression:
    if not isinstance(condition, Call):
        return condition
    call = Call(condition.function, tuple(_folded(_spelled(argument)) for argument in condition.arguments))
    if call.function == "regex":
        return _plain_regex(call)
    if call.function in ("and", "or"):
        distinct = sorted(set(call.arguments), key=render)
        return Call(call.function, tuple(distinct)) if len(distinct) > 1 else distinct[0]
    if call.function in _FLIPPED:
        return _comparison(call)
    return call


def _folded(argument: Expression) -> Expression:
    """What an argument without variables comes to; itself if that is an error, or for the taxonomy to say."""
    if not isinstance(argument, Call) or variables_of(argument) or _asks_taxonomy(argument):
        return argument
    try:
        found = value(argument, {})
    except Incomparable:
        return argument
    return argument if isinstance(found, BlankNode) else found


def _comparison(call: Call) -> Call:
    """The constant on the right; between two values always `<` or `<=`, never the other way round."""
    left, right = call.arguments
    name = call.function
    if (not variables_of(left) and variables_of(right)) or (variables_of(right) and name.removeprefix("~") in _LOWER):
        name, left, right = _FLIPPED[name], right, left
    return Call(name, (_number_spelled(name, left), _number_spelled(name, right)))


def _number_spelled(name: str, argument: Expression) -> Expression:
    """One spelling for numbers of one value: 64.0 and 64 compare alike."""
    if not isinstance(argument, Literal) or name == "same":
        return argument
    if name.startswith("~"):
        found = loose_number(argument.value)
        return argument if found is None else _whole_or_decimal(found)
    exact = number(argument)
    if exact is None or isinstance(exact, float) or argument.datatype.value not in _WHOLE_TYPES:
        return argument
    return _whole_or_decimal(Decimal(exact))


def _whole_or_decimal(amount: Decimal) -> Literal:
    if amount == amount.to_integral_value() and abs(amount) < Decimal(10) ** 40:
        return Literal(str(int(amount)), datatype=XSD_INTEGER)
    text = format(amount.normalize(), "f") if abs(amount.adjusted()) < 400 else str(amount)
    return Literal(text, datatype=XSD_DECIMAL)


def _plain_regex(call: Call) -> Call:
    """A regular expression without special characters is a search for text, which has an index."""
    if len(call.arguments) != 2 or not isinstance(call.arguments[1], Literal):
        return call
    subject, text = call.arguments[0], call.arguments[1].value
    if _PLAIN.match(text):
        return Call("contains", (subject, Literal(text)))
    if text.startswith("^") and _PLAIN.match(text[1:]):
        return Call("starts", (subject, Literal(text[1:])))
    return call


def _tightest(conditions: Iterable[Expression]) -> list[Expression]:
    """Of several numeric bounds on one value from one side, only the tightest counts."""
    best: dict[tuple[Expression, bool, bool], tuple[Decimal, bool, Expression]] = {}
    others: list[Expression] = []
    for condition in conditions:
        bound = _bound(condition)
        if bound is None:
            others.append(condition)
            continue
        key, amount, open_end = bound
        known = best.get(key)
        tighter = amount > known[0] if known and key[1] else bool(known) and amount < known[0]  # type: ignore[index]
        if known is None or tighter or (amount == known[0] and open_end):
            best[key] = (amount, open_end, condition)
    return others + [condition for _, _, condition in best.values()]


def _bound(condition: Expression) -> tuple[tuple[Expression, bool, bool], Decimal, bool] | None:
    """(what is bounded, from below?, loosely?), by how much, without the end itself?"""
    if not isinstance(condition, Call):
        return None
    name = condition.function.removeprefix("~")
    if name not in (*_LOWER, *_UPPER) or not isinstance(condition.arguments[1], Literal):
        return None
    subject, constant = condition.arguments
    loose = condition.function.startswith("~")
    assert isinstance(constant, Literal)
    if loose:
        amount = loose_number(constant.value)
    else:
        exact = number(constant)
        amount = None if exact is None or isinstance(exact, float) else Decimal(exact)
    if amount is None or not isinstance(subject, Variable | Call | NamedNode):
        return None
    return (subject, name in _LOWER, loose), amount, name in ("<", ">")
