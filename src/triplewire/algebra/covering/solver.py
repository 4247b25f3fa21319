"""The solver: can all demands be met at once, by some terms in the variables' places?

It goes through the cases: an alternative of each choice, a member of each small family, a kind for each variable;
each case is settled by `cases.consistent`. The number of cases is exponential in the worst case, so a budget bounds
it: beyond it `TooHard` is raised, and the caller takes the safe side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import starmap
from typing import Final

from pyoxigraph import Variable

from triplewire.algebra.conditions import connected
from triplewire.algebra.covering.cases import Assertion, consistent
from triplewire.algebra.covering.demands import UNTRUE, Accepted, Demand, canonical, demanded, outcome
from triplewire.algebra.covering.facts import identity_of, read
from triplewire.algebra.covering.families import FEW, Families, is_family_test
from triplewire.algebra.covering.sorts import ANY, Sort, TermKind, kinds_of, sort_of
from triplewire.algebra.pattern import LOOSE, Call, Expression, Node, variables_of
from triplewire.algebra.substitution import replace_variables
from triplewire.algebra.taxonomy import Taxonomy

Places = Mapping[str, frozenset[Sort]]
"""The sorts that a variable can have because of where it stands; any, for one that is not listed."""

Atoms = dict[Expression, Accepted]

STEPS: Final = 50_000
"""The steps of one question."""
_ASKING: Final = 50
"""What a question costs before its first step, in steps of about two microseconds."""
_STEPS_OF_A_CASE = 20
"""What a case costs, in comparisons of two triple patterns."""
_ASSERTIONS_PER_STEP = 60
"""To put n comparisons on a line, with all that follows, takes about n⁴ operations; so many of them are a step."""


class TooHard(Exception):
    """The budget is spent, and nothing is proved."""


class Budget:
    """Steps that are left, of this budget and of the one that it is part of; beyond them, nothing is decided.

    One question has a budget of its own, so that it cannot take long; a caller with many has one for all: a short text
    can have hundreds of alternatives, and tens of thousands of pairs of them.
    """

    def __init__(self, steps: int = STEPS, whole: Budget | None = None) -> None:
        self._steps, self._whole = steps, whole

    @property
    def is_spent(self) -> bool:
        """Whether something was not decided for lack of steps."""
        return self._steps < 0

    def spend(self, steps: int) -> None:
        """Take some steps; TooHard when there were too many."""
        self._steps -= steps
        if self._whole is not None:
            self._whole.spend(steps)
        if self._steps < 0:
            raise TooHard

    def for_one(self) -> Budget:
        """The budget of one question out of this; TooHard if there is nothing left for it."""
        self.spend(_ASKING)
        return Budget(STEPS, self)


@dataclass
class State:
    """What is assumed: atoms with their accepted outcomes, choices still open, the sorts left to each variable."""

    places: dict[str, frozenset[Sort]]
    atoms: Atoms = field(default_factory=dict)
    choices: list[Demand] = field(default_factory=list)


class Solver:
    """Decides demands against one taxonomy, within one budget."""

    def __init__(self, taxonomy: Taxonomy, budget: Budget) -> None:
        self._taxonomy = taxonomy
        self._families = Families(taxonomy)
        self.spend = budget.spend

    def implies(self, premises: Iterable[Expression], conclusion: Expression, places: Places) -> bool:
        """True if the conclusion holds whenever all premises do."""
        if not variables_of(conclusion):
            return outcome(conclusion, self._taxonomy) is True
        relevant = _connected(premises, conclusion)
        return conclusion in relevant or not self.satisfiable([*demanded(relevant), Demand(conclusion, UNTRUE)], places)

    def satisfiable(self, demands: Iterable[Demand], places: Places) -> bool:
        """False only if no terms meet all demands."""
        self.spend(_STEPS_OF_A_CASE)
        state = self._assume(demands, places)
        if state is None or not all(self._possible(atoms, state.places) for atoms in _components(state.atoms)):
            return False
        if not state.choices:
            return True
        choice = min(state.choices, key=lambda demand: len(demand.parts()))
        atoms = starmap(Demand, state.atoms.items())
        rest = [*atoms, *(other for other in state.choices if other is not choice)]
        return any(self.satisfiable([part, *rest], state.places) for part in choice.parts())

    def _assume(self, demands: Iterable[Demand], places: Places) -> State | None:
        """Take compound demands apart, put identities in; None if that alone is contradictory."""
        state = State(dict(places))
        pending = [*demands]
        while pending:
            demand = canonical(pending.pop())
            expression = demand.expression
            if isinstance(expression, Call) and expression.function in ("and", "or"):
                if demand.is_choice:
                    state.choices.append(demand)
                else:
                    pending.extend(demand.parts())
            elif not variables_of(expression):
                if outcome(expression, self._taxonomy) not in demand.accepted:
                    return None
            elif not (merged := identity_of(demand, state.places)):
                accepted = state.atoms.get(expression, demand.accepted) & demand.accepted
                if not accepted:
                    return None
                state.atoms[expression] = accepted
            elif not _substitute(state, pending, *merged):
                return None
        return state

    def _possible(self, atoms: Atoms, places: Places) -> bool:
        names = sorted({name for atom in atoms for name in variables_of(atom)})
        if len(names) == 1 and all(map(is_family_test, atoms)) and self._families.some_member(names[0], atoms, places):
            return True
        narrowed = dict(places)
        for name in names:
            family = self._families.of(name, atoms)
            if family is not None:
                members = [term for term in family if sort_of(term) in places.get(name, ANY)]
                if len(members) <= FEW:
                    return any(self.satisfiable(_replaced(atoms.items(), {name: term}), places) for term in members)
                narrowed[name] = frozenset(map(sort_of, members))
        return self._some_kinds(names, atoms, narrowed)

    def _some_kinds(self, names: list[str], atoms: Atoms, places: Places) -> bool:
        """Try the kinds of the variables, each first by what is demanded of it alone."""
        options = {name: [*self._kinds(name, atoms, places)] for name in names}
        shared = {atom: accepted for atom, accepted in atoms.items() if len(variables_of(atom)) > 1}
        if not shared:
            return all(options.values())
        order = sorted(names, key=lambda name: len(options[name]))
        return any(self._fits(atoms, kinds) for kinds in self._assignments(order, options, shared, {}))

    def _kinds(self, name: str, atoms: Atoms, places: Places) -> Iterator[TermKind]:
        alone = {atom: accepted for atom, accepted in atoms.items() if variables_of(atom) == {name}}
        asked = any(_is_loose(atom) and name in variables_of(atom) for atom in atoms)
        sorts = places.get(name, ANY)
        if Sort.OTHER in sorts and not any(_is_more_than_text(name, atom) for atom in atoms):
            sorts = _JUST_TEXT
        for sort in sorted(sorts):
            for kind in kinds_of(sort, asked=asked):
                if self._fits(alone, {name: kind}):
                    yield kind

    def _assignments(
        self, names: list[str], options: Mapping[str, list[TermKind]], shared: Atoms, kinds: dict[str, TermKind]
    ) -> Iterator[dict[str, TermKind]]:
        if len(kinds) == len(names):
            yield dict(kinds)
            return
        name = names[len(kinds)]
        for kind in options[name]:
            wider = {**kinds, name: kind}
            known = {a: acc for a, acc in shared.items() if name in (v := variables_of(a)) and v <= wider.keys()}
            if self._assertions(known, wider) is not None:
                yield from self._assignments(names, options, shared, wider)

    def _fits(self, atoms: Atoms, kinds: Mapping[str, TermKind]) -> bool:
        self.spend(_STEPS_OF_A_CASE + len(atoms))
        assertions = self._assertions(atoms, kinds)
        if assertions is None:
            return False
        self.spend(len(assertions) ** 4 // _ASSERTIONS_PER_STEP)
        return consistent(assertions, kinds, self._taxonomy)

    def _assertions(self, atoms: Atoms, kinds: Mapping[str, TermKind]) -> list[Assertion] | None:
        """The facts that the atoms' accepted outcomes ask for; None if one cannot have any of its outcomes."""
        assertions: list[Assertion] = []
        for atom, accepted in atoms.items():
            reading = read(atom, kinds, self._taxonomy)
            yes, no = bool(reading.yes & accepted), bool(reading.no & accepted)
            if not yes and not no:
                return None
            if reading.fact is not None and yes is not no:
                assertions.append((reading.fact, yes))
        return assertions


_JUST_TEXT = frozenset([Sort.OTHER, Sort.BLANK])
"""Where only the text of a term counts, any text can be had from a literal of some unknown type."""


def _is_more_than_text(name: str, expression: Expression) -> bool:
    """True if the variable occurs where more than its text counts."""
    if isinstance(expression, Variable):
        return expression.value == name
    if not isinstance(expression, Call):
        return False
    inner = expression.arguments
    if expression.function in LOOSE or expression.function == "str":
        inner = tuple(argument for argument in inner if isinstance(argument, Call))
    return any(_is_more_than_text(name, argument) for argument in inner)


def _is_loose(atom: Expression) -> bool:
    return isinstance(atom, Call) and (atom.function in LOOSE or any(map(_is_loose, atom.arguments)))


def _replaced(demands: Iterable[tuple[Expression, Accepted]], values: Mapping[str, Node]) -> list[Demand]:
    return [Demand(replace_variables(expression, values), accepted) for expression, accepted in demands]


def _substitute(state: State, pending: list[Demand], old: Variable, new: Expression) -> bool:
    """Put one place for the other everywhere; False if the other cannot stand there."""
    name = old.value
    sorts = state.places.pop(name, ANY)
    if isinstance(new, Variable):
        state.places[new.value] = state.places.get(new.value, ANY) & sorts
    elif sort_of(new) not in sorts:  # type: ignore[arg-type]  # what is no variable here is a term
        return False
    again = [*state.atoms.items(), *state.choices, *pending]
    state.atoms.clear()
    state.choices.clear()
    pending[:] = _replaced(again, {name: new})  # type: ignore[dict-item]  # never a call
    return True


def _components(atoms: Atoms) -> list[Atoms]:
    """The atoms in groups that share no variable."""
    return [dict(group) for _, group in connected((variables_of(atom[0]), atom) for atom in atoms.items())]


def _connected(premises: Iterable[Expression], conclusion: Expression) -> list[Expression]:
    """The premises that have to do with the conclusion, over any number of shared variables."""
    *near, _ = connected((variables_of(one), one) for one in (*premises, conclusion))[-1][1]
    return near
