"""Contradictions: a conjunction that no triples can match, and the fewest of its conditions that say why."""

from __future__ import annotations

from dataclasses import dataclass

from triplewire.algebra.covering.budget import STEPS, Budget, TooHard
from triplewire.algebra.covering.containment import misplaced, side
from triplewire.algebra.covering.demands import demanded
from triplewire.algebra.covering.derived import Derived
from triplewire.algebra.covering.families import is_family_test
from triplewire.algebra.covering.solver import Places, Solver
from triplewire.algebra.pattern import Conjunction, Expression, variables_of
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.wording import word_condition, word_triple

_ALL_CONDITIONS = 10 * STEPS
"""How far one conjunction is looked at: whether it is a contradiction, and which of its conditions say why."""


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
    derived = Derived(conditions, places)
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
