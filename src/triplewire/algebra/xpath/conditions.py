"""What a document must have so that an expression can be true of it: places, and values that stand there.

A *place* is a path of child and descendant steps from the document to elements, perhaps with an attribute or text at
its end. A *condition* says that something is at a place, or that something with a certain value is. An expression
becomes alternatives, each of them conditions that all hold when the alternative does. Where it is sure that the
expression is true as soon as one alternative holds, the demand is *exact*, and nothing is left to evaluate.

What cannot be said in these words is left out: a demand may ask for too little, never for too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from triplewire.algebra.xpath.numbers import NEAR, number_of
from triplewire.algebra.xpath.syntax import (
    ANYTHING,
    BOOLEAN,
    NODES,
    Binary,
    CoreCall,
    Expression,
    KindTest,
    Name,
    Negative,
    Number,
    Path,
    Several,
    Step,
    TextLiteral,
    is_filter_by_position,
    type_of,
)

MOST_ALTERNATIVES = 16
"""An expression with more alternatives is asked for what all of them share: their places."""

ANY = "*"
TEXT = "text()"
EXISTS, EQUAL, ABOVE, BELOW, SAME, CONTAINS = "exists", "=", ">", "<", "same number", "contains"


class ElementPlace(NamedTuple):
    """Elements: (is it a descendant step?, label) for each step. `leaf`: an attribute's `@label`, or `text()`."""

    steps: tuple[tuple[bool, str], ...]
    leaf: str = ""

    def __str__(self) -> str:
        text = "".join(("//" if is_descendant else "/") + label for is_descendant, label in self.steps)
        return f"{text}/{self.leaf}" if self.leaf else text


class Condition(NamedTuple):
    """Something is at a place, and its value passes a test: `kind` says which, with what.

    ABOVE and BELOW have a number, and whether the number itself passes; CONTAINS has a text that it must contain.
    """

    place: ElementPlace
    kind: str = EXISTS
    value: str | float = ""
    is_inclusive: bool = False
    gram: int | None = None
    """Under which piece of its text a condition waits, once it does."""

    def may_pass(self, text: str) -> bool:
        """False if a value surely does not pass the test."""
        if self.kind in (EXISTS, EQUAL):
            return self.kind == EXISTS or text == self.value
        if isinstance(self.value, str):
            return self.value in text
        found = number_of(text)
        if found is None or not found[1]:
            return found is not None
        number = found[0]
        if number == self.value:
            return self.is_inclusive or self.kind == SAME
        return number > self.value if self.kind == ABOVE else number < self.value and self.kind == BELOW

    def __str__(self) -> str:
        if self.kind == EXISTS:
            return str(self.place)
        if self.kind in (ABOVE, BELOW):
            return f"{self.place} {self.kind}{'=' if self.is_inclusive else ''} {self.value:g}"
        if self.kind == SAME:
            return f"{self.place} = {self.value:g}"
        return f"{self.place} {self.kind} {self.value!r}"


Alternative = frozenset[Condition]


@dataclass(frozen=True, slots=True)
class PathDemand:
    """What an expression asks for: one of these alternatives; no alternative means that it is never true."""

    alternatives: tuple[Alternative, ...]
    is_exact: bool = False


ALWAYS = PathDemand((frozenset(),))
NEVER = PathDemand((), is_exact=True)
_ROOT = ElementPlace(())
_NO_NUMBER = (math.nan, False)


def demand_of(expression: Expression) -> PathDemand:
    """What a document must have so that the expression is true of it."""
    return _truth(expression, _ROOT)


def _truth(expression: Expression, at: ElementPlace | None) -> PathDemand:
    """What must be so that the expression is true of some node at a place; None is a place that is not known."""
    match expression:
        case CoreCall("true", _):
            return replace(ALWAYS, is_exact=at == _ROOT)
        case CoreCall("false", _):
            return NEVER
        case CoreCall("boolean" | "count", (inner,)):
            return _truth(inner, at)
        case CoreCall("contains" | "starts-with" as function, (inner, TextLiteral(value))) if value:
            return _containing(function, inner, value, at)
        case CoreCall("string" | "normalize-space", (inner,)) if type_of(inner) == NODES:
            return replace(_truth(inner, at), is_exact=False)
        case Several("and", parts):
            return _every([_truth(part, at) for part in parts])
        case Several(_, parts):
            return _either([_truth(part, at) for part in parts])
        case Binary("=" | "<" | "<=" | ">" | ">=" | "!=", _, _):
            return _comparison(expression, at)
        case Path():
            return _path(expression, at)[0]
        case _:
            return ALWAYS


# -- combinations


def _every(demands: list[PathDemand]) -> PathDemand:
    found: list[Alternative] = [frozenset()]
    for demand in demands:
        if len(found) * len(demand.alternatives) <= MOST_ALTERNATIVES:
            found = [one | other for one in found for other in demand.alternatives]
        elif demand.alternatives:
            shared = frozenset[Condition].intersection(*demand.alternatives)
            found = [one | shared for one in found]
    is_exact = len(demands) == 1 and demands[0].is_exact
    return PathDemand(tuple(dict.fromkeys(map(_without_implied, found))), is_exact or not found)


def _either(demands: list[PathDemand]) -> PathDemand:
    found = tuple(dict.fromkeys(one for demand in demands for one in demand.alternatives))
    if len(found) > MOST_ALTERNATIVES:
        return ALWAYS
    return PathDemand(found, all(demand.is_exact for demand in demands))


def _without_implied(alternative: Alternative) -> Alternative:
    """That something is at a place follows from what is below it."""
    if len(alternative) < 2:
        return alternative
    return frozenset(
        one
        for one in alternative
        if one.kind != EXISTS or not any(other != one and _implies(other, one.place) for other in alternative)
    )


def _implies(condition: Condition, place: ElementPlace) -> bool:
    steps = condition.place.steps
    if place.leaf:
        return condition.place == place
    return steps[: len(place.steps)] == place.steps


# -- values


def _constant(expression: Expression) -> str | float | None:
    match expression:
        case TextLiteral(value):
            return value
        case Number() | Negative(Number()):
            return _number(expression)[0]
        case _:
            return None


def _number(expression: Expression) -> tuple[float, bool]:
    """A constant as a number, and whether it is known exactly; NaN for what is none."""
    match expression:
        case Negative(Number(digits)):
            return number_of(f"-{digits}") or _NO_NUMBER
        case Number(text) | TextLiteral(text):
            return number_of(text) or _NO_NUMBER
        case _:
            return _NO_NUMBER


def _comparison(comparison: Binary, at: ElementPlace | None) -> PathDemand:
    operator, left, right = comparison.operator, comparison.left, comparison.right
    value = _constant(right)
    match left:
        case CoreCall("count", (counted,)) if isinstance(value, float):
            needs_one = value > 0 if operator in ("=", ">=") else operator == ">" and value >= 0
            return replace(_truth(counted, at), is_exact=False) if needs_one else ALWAYS
        case CoreCall("string" | "normalize-space", (inner,)) if value and type_of(inner) == NODES and operator == "=":
            return replace(_truth(inner, at), is_exact=False)
    if BOOLEAN in (type_of(left), type_of(right)):
        return ALWAYS
    if value is not None and isinstance(left, Path):
        return _valued(left, operator, right, at)
    # a comparison with a node-set needs a node of it, whatever is on the other side
    sides = [_truth(side, at) for side in (left, right) if type_of(side) == NODES]
    return replace(_every(sides), is_exact=False) if sides else ALWAYS


def _valued(path: Path, operator: str, constant: Expression, at: ElementPlace | None) -> PathDemand:
    """Some node of the path has a value."""
    demand, place = _path(path, at)
    if place is None or place == _ROOT or operator == "!=":
        return replace(demand, is_exact=False)
    if operator == "=" and isinstance(constant, TextLiteral):
        return _with(demand, Condition(place, EQUAL, constant.value))
    number, is_exact = _number(constant)
    if not math.isfinite(number) or (operator == "=" and not is_exact):
        return replace(demand, is_exact=False)
    kind = {"=": SAME, "<": BELOW, "<=": BELOW, ">": ABOVE, ">=": ABOVE}[operator]
    if is_exact:
        return _with(demand, Condition(place, kind, number, operator in ("<=", ">=")))
    wider = number - abs(number) * NEAR if kind == ABOVE else number + abs(number) * NEAR
    return replace(_with(demand, Condition(place, kind, wider, is_inclusive=True)), is_exact=False)


def _containing(function: str, inner: Expression, value: str, at: ElementPlace | None) -> PathDemand:
    if not isinstance(inner, Path):
        return ALWAYS
    demand, place = _path(inner, at)
    if place is None or place == _ROOT:
        return replace(demand, is_exact=False)
    found = _with(demand, Condition(place, CONTAINS, value))
    # the text of a node-set is that of its first node: here, there is only one
    is_one = all(
        step.axis == "self" or (step.axis == "attribute" and isinstance(step.test, Name) and step.test.local != ANY)
        for step in inner.steps
    )
    return replace(found, is_exact=found.is_exact and is_one and function == "contains" and not inner.is_absolute)


def _with(demand: PathDemand, condition: Condition) -> PathDemand:
    """The demand of a path whose nodes must pass a test too."""
    bare = Condition(condition.place)
    if demand.alternatives == (frozenset({bare}),):
        return PathDemand((frozenset({condition}),), demand.is_exact)
    return replace(_every([demand, PathDemand((frozenset({condition}),))]), is_exact=False)


# -- paths


def _path(path: Path, at: ElementPlace | None) -> tuple[PathDemand, ElementPlace | None]:
    """What a path needs to select a node, and the place of the nodes that it selects, if it is known."""
    walk = _Walk(_ROOT if path.is_absolute else at)
    if path.start is not None:
        walk.needs.append(_truth(path.start, at))
        walk.place, walk.is_exact = None, False
        if path.filters:
            walk.filter(path.filters, is_last=False)
    for number, step in enumerate(path.steps):
        walk.step(step, is_last=number + 1 == len(path.steps))
    return walk.demand(), walk.place


class _Walk:
    def __init__(self, place: ElementPlace | None) -> None:
        self.place = place
        self.needs: list[PathDemand] = []
        self.is_exact = place is not None
        self._is_loose = False
        """True after a step to any node below or here."""
        self._settled: PathDemand | None = None

    def step(self, step: Step, *, is_last: bool) -> None:
        if step.axis == "descendant-or-self" and step.test == ANYTHING and not step.predicates and not is_last:
            self._is_loose = True
            return
        self._move(step)
        self._is_loose = False
        if step.predicates:
            self.filter(step.predicates, is_last=is_last)

    def filter(self, predicates: tuple[Expression, ...], *, is_last: bool) -> None:
        demands = [_truth(predicate, self.place) for predicate in predicates if not is_filter_by_position(predicate)]
        is_alone = len(demands) == len(predicates) == 1 and is_last and self.is_exact and not self.needs
        if is_alone and demands[0].is_exact and self._is_implied_by(demands[0]):
            self._settled = demands[0]
        self.is_exact = False
        self.needs += demands

    def _is_implied_by(self, demand: PathDemand) -> bool:
        """True if each alternative says that something is at the place, or below it."""
        place = self.place
        return place is not None and all(
            any(_implies(condition, place) for condition in alternative) for alternative in demand.alternatives
        )

    def demand(self) -> PathDemand:
        if self._settled is not None:
            return self._settled
        if self.place == _ROOT and not self.needs:
            return replace(ALWAYS, is_exact=self.is_exact)
        here = [] if self.place in (None, _ROOT) else [PathDemand((frozenset({Condition(self.place)}),))]
        return replace(_every([*self.needs, *here]), is_exact=self.is_exact and not self.needs)

    def _move(self, step: Step) -> None:
        axis, test, place = step.axis, step.test, self.place
        if axis == "self" and test == ANYTHING and not self._is_loose:
            return
        if place is not None and not place.leaf:
            if axis in ("child", "descendant") and isinstance(test, Name):
                is_descendant = axis == "descendant" or self._is_loose
                self.place = ElementPlace((*place.steps, (is_descendant, label_of(test))))
                return
            if axis == "attribute" and isinstance(test, Name):
                self._to_leaf(place, f"@{label_of(test)}", is_below=self._is_loose)
                return
            if axis in ("child", "descendant") and test == KindTest("text"):
                self._to_leaf(place, TEXT, is_below=self._is_loose or axis == "descendant")
                return
        self._lose(test if axis not in ("attribute", "namespace") else None)

    def _to_leaf(self, place: ElementPlace, leaf: str, *, is_below: bool) -> None:
        """An attribute or text of the elements at a place, or of any below too."""
        if not is_below:
            if place == _ROOT:
                self._lose(None)
            else:
                self.place = ElementPlace(place.steps, leaf)
            return
        if place != _ROOT:
            self._need_place()
        self.is_exact = self.is_exact and place == _ROOT
        self.place = ElementPlace(((True, ANY),), leaf)

    def _lose(self, test: Name | KindTest | None) -> None:
        """The next nodes may be anywhere; their name is known, if it is one of elements."""
        self._need_place()
        self.is_exact = False
        self.place = ElementPlace(((True, label_of(test)),)) if isinstance(test, Name) and test.local != ANY else None

    def _need_place(self) -> None:
        if self.place not in (None, _ROOT):
            self.needs.append(PathDemand((frozenset({Condition(self.place)}),)))


def label_of(test: Name) -> str:
    """A name test as the automaton has it: `name`, `{namespace}name`, `{namespace}*` or `*`."""
    return f"{{{test.namespace}}}{test.local}" if test.namespace else test.local
