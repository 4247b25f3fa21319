"""Derived values: what a function makes of a term, as an unknown of its own, of a sort that the function tells.

`lang(?x) = "en" and lang(?x) = "de"` contradict each other whatever ?x is: with `?l` for `lang(?x)` that is seen by
who knows nothing of languages. What the function is applied to must be of a sort that it takes, or the condition is an
error, and an error is not a match.

Invariant: whatever satisfies the conditions satisfies what they become here; so a contradiction there is one here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.covering.sorts import ANY, NUMBERS, RESOURCES, Sort
from triplewire.algebra.pattern import Call, Expression
from triplewire.algebra.values import XSD_INTEGER, XSD_STRING
from triplewire.model import RDF

_Sorts = frozenset[Sort]
_LITERALS = ANY - RESOURCES
_TEXTS = frozenset([Sort.STRING, Sort.TAGGED])
_FUNCTIONS: Mapping[str, tuple[_Sorts, _Sorts]] = {
    "lang": (_LITERALS, frozenset([Sort.STRING])),
    "datatype": (_LITERALS, frozenset([Sort.IRI])),
    "strlen": (_TEXTS, frozenset([Sort.EXACT])),
    **dict.fromkeys(("+", "-", "*", "/", "negate"), (NUMBERS, NUMBERS)),
}
"""The sorts that a function takes, and those that it gives."""
_OF_DATATYPE = {
    XSD_STRING: Sort.STRING,
    NamedNode(f"{RDF}langString"): Sort.TAGGED,
    NamedNode(f"{RDF}dirLangString"): Sort.TAGGED,
}
_ZERO = Literal("0", datatype=XSD_INTEGER)


class Derived:
    """Conditions in which unknowns stand for derived values; `places` has the sorts that all variables may have."""

    def __init__(self, conditions: Sequence[Expression], places: Mapping[str, _Sorts]) -> None:
        self.places = dict(places)
        self._unknowns: dict[Call, Variable] = {}
        for condition in conditions:
            self._narrow(condition)
        made = [self._replaced(condition) for condition in conditions]
        lengths = [unknown for call, unknown in self._unknowns.items() if call.function == "strlen"]
        self.conditions = (*made, *(Call("<=", (_ZERO, length)) for length in lengths))
        self.has_any = bool(self._unknowns)
        self.is_impossible = not all(self.places.values())

    def _replaced(self, expression: Expression) -> Expression:
        if not isinstance(expression, Call):
            return expression
        if expression.function not in _FUNCTIONS:
            return Call(expression.function, tuple(map(self._replaced, expression.arguments)))
        unknown = self._unknowns.setdefault(expression, Variable(f"derived{len(self._unknowns)}"))
        self.places[unknown.value] = _FUNCTIONS[expression.function][1]
        return unknown

    def _narrow(self, condition: Expression) -> None:
        """Of a condition that must hold by itself, the variables that functions are applied to are what these take."""
        is_denied = False
        while isinstance(condition, Call) and condition.function == "not":
            condition, is_denied = condition.arguments[0], True
        if not isinstance(condition, Call) or condition.function in ("and", "or"):
            return
        self._narrow_arguments(condition)
        if condition.function in ("=", "same") and not is_denied:
            left, right = condition.arguments
            self._narrow_by_value(left, right)
            self._narrow_by_value(right, left)

    def _narrow_arguments(self, expression: Call) -> None:
        taken = _FUNCTIONS[expression.function][0] if expression.function in _FUNCTIONS else ANY
        for argument in expression.arguments:
            if isinstance(argument, Variable):
                self._keep(argument, taken)
            elif isinstance(argument, Call):
                self._narrow_arguments(argument)

    def _narrow_by_value(self, call: Expression, value: Expression) -> None:
        if not isinstance(call, Call) or not isinstance(call.arguments[0], Variable):
            return
        if call.function == "lang" and isinstance(value, Literal):
            self._keep(call.arguments[0], frozenset([Sort.TAGGED]) if value.value else _LITERALS - {Sort.TAGGED})
        elif call.function == "datatype" and isinstance(value, NamedNode):
            named = _OF_DATATYPE.get(value)
            self._keep(call.arguments[0], _LITERALS - _TEXTS if named is None else frozenset([named]))

    def _keep(self, variable: Variable, sorts: _Sorts) -> None:
        self.places[variable.value] = self.places.get(variable.value, ANY) & sorts
