"""The normal form of an XPath expression: equivalent spellings become one value (N6).

The context of a subscription is the document, so a path that starts at the context starts at the root. Then, from the
inside out: comparisons have their constant on the right; `and`, `or` and `|` are flat, without repetitions, in one
order; double negations go; predicates that do not look at positions are taken apart at their `and`s and sorted;
`descendant-or-self::node()/child::x` is `descendant::x` where no position is asked; steps that stay where they are go.
Every rule keeps the meaning: a test says so against lxml.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from triplewire.algebra.xpath.syntax import (
    ANYTHING,
    BOOLEAN,
    DOCUMENT,
    NUMBER,
    Binary,
    CoreCall,
    Expression,
    Negative,
    Number,
    Path,
    Several,
    Step,
    TextLiteral,
    is_filter_by_position,
    is_positional,
    render,
    type_of,
)

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_OF_CONTEXT = frozenset({"local-name", "namespace-uri", "name", "string", "string-length", "normalize-space", "number"})
_STAY = Step("self", ANYTHING)
_ANYWHERE = Step("descendant-or-self", ANYTHING)


def normal_form(expression: Expression) -> Expression:
    """The expression in normal form, with the document as its context node."""
    return _normal(_from_document(expression))


def key(expression: Expression) -> str:
    """A text that orders expressions: each has one of its own, because namespaces are in it whole."""
    return render(expression, lambda namespace: f"{{{namespace}}}")


# -- the document as context


def _from_document(expression: Expression) -> Expression:
    """The same, where nothing outside of predicates depends on the context node: there the context is the document."""
    match expression:
        case CoreCall("position" | "last", _):
            return Number("1")
        case CoreCall("lang", _):  # the document has no element around it that could have a language
            return CoreCall("false", ())
        case CoreCall(function, ()) if function in _OF_CONTEXT:
            return CoreCall(function, (DOCUMENT,))
        case CoreCall(function, arguments):
            return CoreCall(function, tuple(map(_from_document, arguments)))
        case Binary(operator, left, right):
            return Binary(operator, _from_document(left), _from_document(right))
        case Negative(operand):
            return Negative(_from_document(operand))
        case Several(operator, parts):
            return Several(operator, tuple(map(_from_document, parts)))
        case Path(_, _, start, _) if start is not None:
            return replace(expression, start=_from_document(start))
        case Path(_, steps, _, _):
            return Path(True, steps)
        case _:
            return expression


# -- inside out


def _normal(expression: Expression) -> Expression:
    match expression:
        case CoreCall(function, arguments):
            return _call(function, tuple(map(_normal, arguments)))
        case Binary(operator, left, right):
            return _binary(operator, _normal(left), _normal(right))
        case Negative(operand):
            return Negative(_normal(operand))
        case Several(operator, parts):
            return _several(operator, map(_normal, parts))
        case Path():
            return _path(expression)
        case _:
            return expression


def _call(function: str, arguments: tuple[Expression, ...]) -> Expression:
    if function in ("not", "boolean"):
        inner = _truth(arguments[0])
        if function == "boolean":
            return inner if type_of(inner) == BOOLEAN else CoreCall("boolean", (inner,))
        if isinstance(inner, CoreCall) and inner.function == "not":
            return _call("boolean", inner.arguments)
        if isinstance(inner, CoreCall) and inner.function in ("true", "false"):
            return CoreCall("false" if inner.function == "true" else "true", ())
        return CoreCall("not", (inner,))
    return CoreCall(function, arguments)


def _truth(expression: Expression) -> Expression:
    """The same truth, where only the truth counts: `boolean` around it says nothing, nor `not` twice."""
    while isinstance(expression, CoreCall) and expression.function == "boolean":
        expression = expression.arguments[0]
    match expression:
        case Binary(">" | "!=", CoreCall("count", (counted,)), Number("0")) | Binary(
            ">=", CoreCall("count", (counted,)), Number("1")
        ):
            return counted
        case CoreCall("count", (counted,)):
            return counted
        case _:
            return expression


def _binary(operator: str, left: Expression, right: Expression) -> Expression:
    if operator in _FLIPPED:
        is_constant = isinstance(left, Number | TextLiteral) and not isinstance(right, Number | TextLiteral)
        both_or_none = isinstance(left, Number | TextLiteral) == isinstance(right, Number | TextLiteral)
        if is_constant or (both_or_none and key(left) > key(right)):
            return Binary(_FLIPPED[operator], right, left)
    elif operator in ("+", "*") and key(left) > key(right):
        return Binary(operator, right, left)
    return Binary(operator, left, right)


def _several(operator: str, parts: Iterable[Expression]) -> Expression:
    flat: dict[Expression, None] = {}
    for part in parts:
        truth = part if operator == "|" else _truth(part)
        if isinstance(truth, Several) and truth.operator == operator:
            flat.update(dict.fromkeys(truth.parts))
        else:
            flat[truth] = None
    ordered = tuple(sorted(flat, key=key))
    if len(ordered) > 1:
        return Several(operator, ordered)
    (only,) = ordered
    return only if operator == "|" else _call("boolean", (only,))


# -- paths


def _path(path: Path) -> Expression:
    start = None if path.start is None else _normal(path.start)
    filters = _predicates(path.filters)
    steps: list[Step] = []
    for step in path.steps:
        own = Step(step.axis, step.test, _predicates(step.predicates)) if step.predicates else step
        if own == _STAY and (steps or path.is_absolute or start is not None or len(path.steps) > 1):
            continue
        if steps and steps[-1] == _ANYWHERE and _joins(own):
            steps[-1] = Step("descendant", own.test, own.predicates)
        else:
            steps.append(own)
    if start is not None and not filters:
        if not steps:
            return start
        if isinstance(start, Path):  # `(a/b)/c` is `a/b/c`
            return _path(Path(start.is_absolute, (*start.steps, *steps), start.start, start.filters))
    if not steps and not path.is_absolute and start is None:
        steps.append(_STAY)
    return Path(path.is_absolute, tuple(steps), start, filters)


def _joins(step: Step) -> bool:
    """True if the step may be taken together with a `//` before it: positions would be counted differently."""
    return step.axis in ("child", "descendant") and not any(map(is_filter_by_position, step.predicates))


def _predicates(predicates: Iterable[Expression]) -> tuple[Expression, ...]:
    """Predicates in one order, as far as their order does not matter."""
    found: list[Expression] = []
    run: dict[Expression, None] = {}

    def settle() -> None:
        found.extend(sorted(run, key=key))
        run.clear()

    for predicate in predicates:
        for part in _conjuncts(_predicate(predicate)):
            if part == CoreCall("true", ()):
                continue
            if is_filter_by_position(part):
                settle()
                found.append(part)
            else:
                run[part] = None
    settle()
    return tuple(found)


def _predicate(predicate: Expression) -> Expression:
    normal = _normal(predicate)
    match normal:
        case Binary("=", CoreCall("position", ()), position) if type_of(position) == NUMBER:
            return position
        case Binary("=", position, CoreCall("position", ())) if type_of(position) == NUMBER:
            return position
        case CoreCall("boolean", (inner,)) if type_of(inner) != NUMBER:
            return inner
        case _:
            return normal if type_of(normal) == NUMBER else _truth_of_predicate(normal)


def _truth_of_predicate(predicate: Expression) -> Expression:
    truth = _truth(predicate)
    return predicate if type_of(truth) == NUMBER else truth


def _conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    if not isinstance(predicate, Several) or predicate.operator != "and" or is_positional(predicate):
        return (predicate,)
    return tuple(_call("boolean", (p,)) if type_of(p) == NUMBER else p for p in predicate.parts)
