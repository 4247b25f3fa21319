"""Contradictions: a conjunction that no triples can match, and the fewest of its conditions that say why.

What a function makes of a term is a derived value: an unknown of its own, of a sort that the function tells.
`lang(?x) = "en" and lang(?x) = "de"` contradict each other whatever ?x is: with `?l` for `lang(?x)` that is seen
without knowing anything of languages. What the function is applied to must be of a sort that it takes, or the condition
is an error, and an error is not a match.

Invariant: whatever satisfies the conditions satisfies what they become with derived values; so a contradiction there is
one here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.covering.containment import misplaced, side
from triplewire.algebra.covering.demands import demanded
from triplewire.algebra.covering.families import is_family_test
from triplewire.algebra.covering.solver import STEPS, Budget, Places, Solver, TooHard
from triplewire.algebra.covering.sorts import ANY, NUMBERS, RESOURCES, Sort
from triplewire.algebra.pattern import Call, Conjunction, Expression, variables_of
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.values import XSD_INTEGER, XSD_STRING
from triplewire.algebra.wording import word_condition, word_triple
from triplewire.model import RDF

_ALL_CONDITIONS = 10 * STEPS
"""How far one conjunction is looked at: whether it is a contradiction, and which of its conditions say why."""
_LITERALS = ANY - RESOURCES
_TEXTS = frozenset([Sort.STRING, Sort.TAGGED])
_FUNCTIONS: Mapping[str, tuple[frozenset[Sort], frozenset[Sort]]] = {
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


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why nothing matches: a sentence, and the conditions that cannot all hold."""

    reason: str
    conditions: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return self.reason


def satisfiable(conjunction: Conjunction, taxonomy: Taxonomy = EMPTY) -> bool:
    """False only if no set of triples has an answer to the conjunction."""
    return contradiction(conjunction, taxonomy) is None


def contradiction(
    conjunction: Conjunction, taxonomy: Taxonomy = EMPTY, budget: Budget | None = None
) -> Contradiction | None:
    """Why the conjunction can never match; None if it can, or if that is too hard to tell."""
    triple = misplaced(conjunction)
    if triple is not None:
        return Contradiction(
            f"`{word_triple(triple)}` has a literal where no triple has one: only objects are literals"
        )
    seen = side(conjunction, ())
    whole = Budget(_ALL_CONDITIONS, budget)
    if not _contradict(seen.conditions, seen.places, taxonomy, whole):
        return None
    core = _fewest(seen.conditions, seen.places, taxonomy, whole)
    originals = tuple(conjunction.conditions[seen.conditions.index(condition)] for condition in core)
    return Contradiction(_reason(originals, core, seen.places, taxonomy, whole), originals)


def _contradict(conditions: tuple[Expression, ...], places: Places, taxonomy: Taxonomy, budget: Budget) -> bool:
    if not _may_hold(conditions, places, taxonomy, budget):
        return True
    derived = _Derived(conditions, places)
    if derived.is_impossible:
        return True
    return derived.has_any and not _may_hold(derived.conditions, derived.places, taxonomy, budget)


def _may_hold(conditions: tuple[Expression, ...], places: Places, taxonomy: Taxonomy, budget: Budget) -> bool:
    try:
        return Solver(taxonomy, budget.for_one()).satisfiable(demanded(conditions), places)
    except TooHard:
        return True


def _fewest(
    conditions: tuple[Expression, ...], places: Places, taxonomy: Taxonomy, budget: Budget
) -> tuple[Expression, ...]:
    """Leave out one condition after the other, as long as the rest is a contradiction."""
    core = conditions
    for condition in conditions:
        fewer = tuple(other for other in core if other is not condition)
        if _contradict(fewer, places, taxonomy, budget):
            core = fewer
    return core


def _reason(
    shown: tuple[Expression, ...], core: tuple[Expression, ...], places: Places, taxonomy: Taxonomy, budget: Budget
) -> str:
    text = " and ".join(f"`{word_condition(condition)}`" for condition in shown)
    if all(map(is_family_test, core)):
        return f"nothing in the taxonomy passes {text}" + ("" if len(core) == 1 else " at once")
    verb = "can never hold" if len(core) == 1 else "contradict each other"
    if _contradict(core, {}, taxonomy, budget):
        return f"{text} {verb}"
    return f"{text} {verb}, because {_standing(core, places)}"


def _standing(core: tuple[Expression, ...], places: Places) -> str:
    names = sorted({name for condition in core for name in variables_of(condition)} & places.keys())
    words = {1: "a predicate, always an IRI", 2: "a subject, never a literal"}
    return " and ".join(f"?{name} is {words[len(places[name])]}" for name in names if len(places[name]) in words)


class _Derived:
    """Conditions in which unknowns stand for derived values; `places` has the sorts that all variables may have."""

    def __init__(self, conditions: Sequence[Expression], places: Places) -> None:
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

    def _keep(self, variable: Variable, sorts: frozenset[Sort]) -> None:
        self.places[variable.value] = self.places.get(variable.value, ANY) & sorts
