"""Containment: is every answer of one pattern an answer of another, whatever the triples?

A branch B is covered if in every case in which its conditions hold, some mapping of a covering branch into B's
triples has its own conditions hold. Usually one mapping serves all cases. It need not (Klug 1988): with
`?x p ?y . ?y p ?z`, a comparison of two values may hold for one pair or for the other, depending on the values; so
when no single mapping will do, all of them, those of all branches together, are put to the solver as alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from pyoxigraph import Variable

from triplewire.algebra.covering.demands import UNTRUE, Demand, canonical, conjunction_of, demanded
from triplewire.algebra.covering.facts import identity_of
from triplewire.algebra.covering.mappings import Homomorphism, mappings, same
from triplewire.algebra.covering.solver import STEPS, Budget, Solver, TooHard
from triplewire.algebra.covering.sorts import ANY, RESOURCES, Sort, sort_of
from triplewire.algebra.pattern import (
    Call,
    Conjunction,
    Expression,
    Node,
    Pattern,
    TriplePattern,
    columns_of,
    variable,
    variables_of,
)
from triplewire.algebra.substitution import replace_nodes, replace_variables
from triplewire.algebra.taxonomy import EMPTY, Taxonomy

_ALL_BRANCHES = 10 * STEPS
"""How far the search for mappings and cases goes before the answer is `not known to be covered`; STEPS for a branch."""
_ALTERNATIVES = 48


@dataclass(frozen=True, slots=True)
class Side:
    """A branch as containment sees it: fixed bindings put in, and what stands in each answer column."""

    triples: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...]
    columns: tuple[Node | None, ...]
    optional: frozenset[int]
    branch: Conjunction
    places: dict[str, frozenset[Sort]]


def covers(a: Pattern, b: Pattern, taxonomy: Taxonomy = EMPTY, budget: Budget | None = None) -> bool:
    """True only if every answer of b is an answer of a, over every set of triples.

    Columns correspond by name if both patterns have the same names, else by position. It is also complete (false only
    if some set of triples shows otherwise) for conjunctions with comparisons, `contains`, `starts`, `ends`, `same` and
    is-a, as far as the budget goes. Of XPath it is known only whether both are the same expression.
    """
    if len(a.answer) != len(b.answer):
        return False
    if a.asks_xml or b.asks_xml:
        return a == b
    answer = b.answer if set(a.answer) != set(b.answer) else a.answer
    whole = Budget(_ALL_BRANCHES, budget)
    wider = [side(branch, a.answer) for branch in a.branches]
    return all(_branch_covered(wider, side(branch, answer), taxonomy, whole) for branch in b.branches)


def side(branch: Conjunction, answer: tuple[str, ...]) -> Side:
    """The branch with its bindings put in place of the variables."""
    values: dict[str, Node] = dict(branch.bindings)
    bound = branch.variables | values.keys()
    return Side(
        branch.triples,
        tuple(replace_variables(condition, values) for condition in branch.conditions),
        tuple(values.get(name, variable(name)) if name in columns_of(branch) else None for name in answer),
        frozenset(i for i, name in enumerate(answer) if name in columns_of(branch) and name not in bound),
        branch,
        places_of(branch),
    )


def places_of(branch: Conjunction) -> dict[str, frozenset[Sort]]:
    """The sorts that variables can have because of their places: subjects are resources, predicates are IRIs."""
    places: dict[str, frozenset[Sort]] = {}
    for triple in branch.triples:
        for node, sorts in zip(triple, (RESOURCES, frozenset([Sort.IRI]), ANY), strict=True):
            if isinstance(node, Variable):
                places[node.value] = places.get(node.value, ANY) & sorts
    return places


def misplaced(branch: Conjunction) -> TriplePattern | None:
    """A triple pattern that no triple matches, because of a constant in the wrong place."""
    return next((triple for triple in branch.triples if not triple.is_possible), None)


def _branch_covered(wider: list[Side], narrow: Side, taxonomy: Taxonomy, budget: Budget) -> bool:
    try:
        solver = Solver(taxonomy, budget.for_one())
        if misplaced(narrow.branch) or not solver.satisfiable(demanded(narrow.conditions), narrow.places):
            return True
        target = narrow if narrow.optional else _with_identities(narrow)
        if any(_covered_by_one_mapping(wide, target, solver) for wide in wider):
            return True
        return _covered_case_by_case(wider, narrow, solver)
    except TooHard:
        return False


def _with_identities(narrow: Side) -> Side:
    """The side with what its conditions make one term written as one."""
    current = narrow
    while True:
        demands = map(canonical, demanded(current.conditions))
        found = next((same for demand in demands if (same := identity_of(demand, current.places))), None)
        if found is None:
            return current
        name, new = found[0].value, found[1]
        by: dict[str, Node] = {name: new}  # type: ignore[dict-item]  # never a call
        places = dict(current.places)
        sorts = places.pop(name, ANY)
        if isinstance(new, Variable):
            places[new.value] = places.get(new.value, ANY) & sorts
        current = replace(
            current,
            triples=tuple(replace_nodes(triple, by) for triple in current.triples),
            conditions=tuple(replace_variables(condition, by) for condition in current.conditions),
            columns=tuple(by.get(node.value, node) if isinstance(node, Variable) else node for node in current.columns),
            places=places,
        )


def _covered_by_one_mapping(wide: Side, narrow: Side, solver: Solver) -> bool:
    start = _start(wide, narrow, needs=False)
    if start is None:
        return False

    @cache
    def implied(conclusion: Expression) -> bool:
        return solver.implies(narrow.conditions, conclusion, narrow.places)

    def fits(before: Homomorphism, after: Homomorphism) -> bool:
        """Each condition is looked at as soon as all of its variables are sent somewhere."""
        known, old = after.images.keys(), before.images.keys()
        ripe = (c for c in wide.conditions if (names := variables_of(c)) <= known and not names <= old)
        return all(implied(replace_variables(condition, after.images)) for condition in ripe)

    sent = [c for c in wide.conditions if variables_of(c) <= start.images.keys()]
    if not all(implied(replace_variables(condition, start.images)) for condition in sent):
        return False
    found = mappings(wide.triples, narrow.triples, start, wide=False, spend=solver.spend, fits=fits)
    return any(_optionals_agree(wide, narrow, mapping) for mapping in found)


def _start(wide: Side, narrow: Side, *, needs: bool) -> Homomorphism | None:
    """Answer columns go to answer columns; None if they cannot."""
    if wide.optional != narrow.optional:
        return None
    images: dict[str, Node] = {}
    needed: list[Expression] = []
    for i, (here, there) in enumerate(zip(wide.columns, narrow.columns, strict=True)):
        if i in wide.optional or (here is None and there is None):
            continue
        if here is None or there is None:
            return None
        image = images.setdefault(here.value, there) if isinstance(here, Variable) else here
        if image != there:
            need = same(image, there) if needs else None
            if need is None:
                return None
            needed.append(need)
    return Homomorphism(images, tuple(needed))


def _optionals_agree(wide: Side, narrow: Side, found: Homomorphism) -> bool:
    """Optional parts count only if an answer column comes from one; then they must be the same up to names."""
    if not wide.optional:
        return True
    ours, theirs = wide.branch.optionals, narrow.branch.optionals
    if len(ours) != len(theirs):
        return False
    names: dict[str, Node] = {**dict(wide.branch.bindings), **found.images}
    for one, two in zip(ours, theirs, strict=True):
        if len(one.triples) != len(two.triples) or len(one.conditions) != len(two.conditions):
            return False
        for triple, other in zip(one.triples, two.triples, strict=True):
            for node, there in zip(triple, other, strict=True):
                if (names.setdefault(node.value, there) if isinstance(node, Variable) else node) != there:
                    return False
        for ours_holds, theirs_holds in zip(one.conditions, two.conditions, strict=True):
            if not variables_of(ours_holds) <= names.keys() or replace_variables(ours_holds, names) != theirs_holds:
                return False
    return _one_to_one(wide, narrow, names)


def _one_to_one(wide: Side, narrow: Side, names: dict[str, Node]) -> bool:
    """Each variable of the optional parts alone goes to one of theirs, each to another, columns to columns."""
    bound = wide.branch.variables | {name for name, _ in wide.branch.bindings}
    private = {name: node for name, node in names.items() if name not in bound}
    theirs = narrow.branch.variables | {name for name, _ in narrow.branch.bindings}
    images = [node.value for node in private.values() if isinstance(node, Variable) and node.value not in theirs]
    if len(set(images)) != len(private):
        return False
    columns = [(wide.columns[i], narrow.columns[i]) for i in wide.optional]
    return all(isinstance(here, Variable) and names.get(here.value) == there for here, there in columns)


def _covered_case_by_case(wider: list[Side], narrow: Side, solver: Solver) -> bool:
    """No terms make the narrow side's conditions hold and the alternatives of all mappings fail.

    Without conditions anywhere one mapping serves all cases or none does (Sagiv and Yannakakis 1980).
    """
    if narrow.optional or not any(side.conditions for side in (narrow, *wider)):
        return False
    tried: list[Expression] = []
    for wide in (False, True):
        alternatives = [*islice(_alternatives(wider, narrow, solver, wide), _ALTERNATIVES + 1)]
        if len(alternatives) > _ALTERNATIVES:
            return False
        if len(alternatives) > len(tried):
            tried = alternatives
            failing = [Demand(alternative, UNTRUE) for alternative in dict.fromkeys(alternatives)]
            if not solver.satisfiable([*demanded(narrow.conditions), *failing], narrow.places):
                return True
    return False


def _alternatives(wider: list[Side], narrow: Side, solver: Solver, wide: bool) -> Iterator[Expression]:
    for covering in wider:
        start = None if covering.optional else _start(covering, narrow, needs=wide)
        if start is not None:
            for found in mappings(covering.triples, narrow.triples, start, wide=wide, spend=solver.spend):
                if all(_can_be(need, narrow) for need in found.needs):
                    conditions = (replace_variables(condition, found.images) for condition in covering.conditions)
                    yield conjunction_of((*found.needs, *conditions))


def _can_be(need: Expression, narrow: Side) -> bool:
    """False if the place of a variable rules out that it is the other term."""
    assert isinstance(need, Call)
    sorts = [
        narrow.places.get(part.value, ANY) if isinstance(part, Variable) else frozenset([sort_of(part)])  # type: ignore[arg-type]
        for part in need.arguments
    ]
    return bool(sorts[0] & sorts[1])
