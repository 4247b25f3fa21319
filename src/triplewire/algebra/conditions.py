"""Conditions in one spelling: flattened, split at `or`, with the constant on the right, without what follows anyway."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable
from decimal import Decimal
from itertools import chain, product
from typing import NamedTuple, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.algebra.expressions import truth, value
from triplewire.algebra.pattern import IS_A, LOOSE, STRICT, Call, Expression, render_call, variables_of
from triplewire.algebra.values import XSD_DECIMAL, XSD_INTEGER, Incomparable, loose_number
from triplewire.model import XSD
from triplewire.model.numbers import number

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "same": "same"}
_FLIPPED |= {"~" + op: "~" + other for op, other in _FLIPPED.items() if op != "same"}
_OTHER = {"and": "or", "or": "and"}
_NEGATED = {"=": "!=", "!=": "=", "~=": "~!=", "~!=": "~="}
_LOWER, _UPPER = (">", ">="), ("<", "<=")
SYMMETRIC = ("=", "!=", "~=", "~!=", "same")
"""Comparisons whose sides may change places."""

_BOOLEAN = {*STRICT, *LOOSE, *IS_A, "same", "and", "or", "not", "contains", "starts", "ends", "regex", "langmatches"}
"""Functions whose value is true or false, so that asking for its truth changes nothing."""

_PLAIN = re.compile(r"[^\\^$.|?*+()\[\]{}]*\Z")
_WHOLE_TYPES = frozenset(
    f"{XSD}{name}" for name in ("integer", "decimal", "int", "long", "short", "byte", "nonNegativeInteger")
)


def flattened(conditions: Iterable[Expression]) -> tuple[Expression, ...]:
    """The conditions, spelled, with negations pushed down to the tests and without `and` around them; each once."""
    return _operands("and", [arranged(spelled(_pushed(condition))) for condition in dict.fromkeys(conditions)])


def connected(items: Iterable[tuple[Collection[Key], Item]]) -> list[tuple[set[Key], list[Item]]]:
    """The items in groups that share no key, each with its keys; the last one has the last item at its end."""
    groups: list[tuple[set[Key], list[Item]]] = []
    for keys, item in items:
        apart = [group for group in groups if group[0].isdisjoint(keys)]
        joined = [group for group in groups if not group[0].isdisjoint(keys)]
        shared = set(keys).union(*(others for others, _ in joined))
        groups = [*apart, (shared, [*chain.from_iterable(others for _, others in joined), item])]
    return groups


class SplitWays(NamedTuple):
    """What splitting would come to."""

    number: int
    """How many conjunctions there would be."""
    widest: int
    """The most ways of an `or` that is split for it."""
    size: int
    """How many triple patterns and operations one of them would have, on average."""


def ways_to_split(conditions: Iterable[Expression], triples: int, most: int, most_atoms: int) -> SplitWays:
    """How far flattened conditions can be split into at most `most` conjunctions, of `most_atoms` in all.

    Narrow ones go first; of several that are equally wide all are split, or none: their order must not count.
    """
    sizes: dict[int, list[int]] = {}
    for condition in conditions:
        sizes.setdefault(_ways(condition, most), []).append(_operations(condition))
    found = SplitWays(1, 1, triples + sum(map(sum, sizes.values())))
    for width, alike in sorted(sizes.items()):
        if width == 1:
            continue
        count = found.number * width ** min(len(alike), most)
        size = found.size - sum(alike) + sum(alike) // width
        if count > most or count * size > most_atoms:
            break
        found = SplitWays(count, width, size)
    return found


def _operations(condition: Expression) -> int:
    return 1 + sum(map(_operations, condition.arguments)) if isinstance(condition, Call) else 0


def split(conditions: Iterable[Expression], widest: int) -> list[tuple[Expression, ...]]:
    """The conjunctions whose union says the same as flattened conditions; an `or` of more than `widest` ways stays."""
    parts = [_disjuncts(c) if 1 < _ways(c, widest) <= widest else [(c,)] for c in conditions]
    return [tuple(c for part in choice for c in part) for choice in product(*parts)]


def _ways(condition: Expression, most: int) -> int:
    """In how many disjuncts a condition falls; counting ends above `most`, so that nothing is built in vain."""
    if not isinstance(condition, Call) or condition.function not in ("and", "or"):
        return 1
    found = 0 if condition.function == "or" else 1
    for argument in condition.arguments:
        width = _ways(argument, most)
        found = found + width if condition.function == "or" else found * width
        if found > most:
            return most + 1
    return found


def _disjuncts(condition: Expression) -> list[tuple[Expression, ...]]:
    """Disjunctive normal form, one tuple a disjunct; as in SPARQL, an error does not spoil a true one beside it."""
    if isinstance(condition, Call) and condition.function == "or":
        return [way for argument in condition.arguments for way in _disjuncts(argument)]
    if isinstance(condition, Call) and condition.function == "and":
        parts = [_disjuncts(argument) for argument in condition.arguments]
        return [tuple(c for way in choice for c in way) for choice in product(*parts)]
    return [(condition,)]


def _pushed(condition: Expression, negative: bool = False) -> Expression:
    """Negation pushed down to the tests (De Morgan holds with errors too: both sides are errors together)."""
    if not isinstance(condition, Call):
        return Call("not", (condition,)) if negative else condition
    name, arguments = condition.function, condition.arguments
    if name == "not":
        return _pushed(arguments[0], not negative)
    if name in ("and", "or"):
        return _connected(_OTHER[name] if negative else name, [_pushed(argument, negative) for argument in arguments])
    if not negative:
        return condition
    return Call(_NEGATED[name], arguments) if name in _NEGATED else Call("not", (condition,))


def _connected(name: str, arguments: Iterable[Expression]) -> Expression:
    """`and` or `or` of the arguments, each once; what is connected alike inside becomes part of it.

    The operands' order does not count, also with errors: one that decides wins over any number of errors.
    """
    distinct = _operands(name, arguments)
    return Call(name, distinct) if len(distinct) > 1 else distinct[0]


def _operands(name: str, arguments: Iterable[Expression]) -> tuple[Expression, ...]:
    found: dict[Expression, None] = {}
    for argument in arguments:
        if isinstance(argument, Call) and argument.function == name:
            found.update(dict.fromkeys(argument.arguments))
        else:
            found[argument] = None
    return tuple(found)


def arranged(condition: Expression) -> Expression:
    """The condition with everything whose order does not count in the order of its text."""
    return _arranged(condition)[0] if isinstance(condition, Call) else condition


def _arranged(condition: Expression) -> tuple[Expression, str]:
    """The condition arranged, and its text, so that no level has to write down again what is below it."""
    if not isinstance(condition, Call):
        return condition, str(condition)
    name, parts = condition.function, [_arranged(argument) for argument in condition.arguments]
    if name in ("and", "or") or (name in SYMMETRIC and all(variables_of(argument) for argument, _ in parts)):
        distinct = dict(parts)
        parts = sorted(distinct.items(), key=lambda part: part[1]) if len(distinct) > 1 else parts
    arguments = tuple([argument for argument, _ in parts])
    text = render_call(name, [text for _, text in parts])
    return (condition if arguments == condition.arguments else Call(name, arguments)), text


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
    found: dict[Expression, None] = {}
    for condition in conditions:
        canonical = arranged(spelled(condition))
        decided = True if _is_tautology(canonical) else is_decided(canonical)
        if decided is False:
            return None
        if decided is None:
            found[canonical] = None
    return tuple(_tightest(found) if len(found) > 1 else found)


def _is_tautology(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.function == "same" and len(set(condition.arguments)) == 1


def spelled(condition: Expression) -> Expression:
    """The condition in one spelling: constants computed and on the right, numbers and searches alike."""
    if not isinstance(condition, Call):
        return condition
    arguments = tuple([_folded(spelled(a)) if type(a) is Call else a for a in condition.arguments])
    call = condition if arguments == condition.arguments else Call(condition.function, arguments)
    if call.function == "regex":
        return _plain_regex(call)
    if call.function in ("and", "or"):
        connected = _connected(call.function, call.arguments)
        return connected if isinstance(connected, Call) and connected.function in _BOOLEAN else call
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
    sides = (_number_spelled(name, left), _number_spelled(name, right))
    return call if name == call.function and sides == call.arguments else Call(name, sides)


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
        if known is None or _is_tighter(amount, open_end, known[0], from_below=key[1]):
            best[key] = (amount, open_end, condition)
    return others + [condition for _, _, condition in best.values()]


def _is_tighter(amount: Decimal, open_end: bool, than: Decimal, *, from_below: bool) -> bool:
    if amount == than:
        return open_end
    return (amount > than) is from_below


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
