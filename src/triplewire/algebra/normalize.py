"""The normal form of a pattern: equivalent queries become the same pattern (N6).

The stages, in order, each a function from branches to branches (or from one branch to one):

    split       conditions are flattened, negations pushed down, `or` becomes several branches
    tidy        each condition in one spelling; bounds that follow from tighter ones go
    substitute  variables that must be one constant, or one other variable, are replaced
    fold        triple patterns that follow from others go (the query's core)
    label       variables that are not answers get canonical names; everything is put in order

A branch that can never hold is dropped on the way. Every stage keeps the meaning: a test says so against `evaluate`.
"""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra import core, labels
from triplewire.algebra.conditions import SplitWays, arranged, connected, flattened, spelled, split, tidy, ways_to_split
from triplewire.algebra.core import fold
from triplewire.algebra.labels import label
from triplewire.algebra.pattern import (
    Call,
    Conjunction,
    Expression,
    Node,
    Optional,
    Pattern,
    columns_of,
    render_conjunction,
    variable,
    variables_of,
)
from triplewire.algebra.substitution import rename, replace_in_optional, replace_nodes, replace_variables
from triplewire.algebra.values import XSD_STRING

MOST_BRANCHES = 256
"""How many branches `or` may be split into; beyond, it stays a condition, which costs speed and not meaning."""

MOST_ATOMS = 16_384
"""How many triple patterns and operations those branches may have together."""


def normalize(pattern: Pattern) -> Pattern:
    """The pattern in normal form: the same rows over any triples, one spelling for what is equivalent.

    Answer variables keep their names and order, because rows are told in them; one that no branch is left to bind goes.
    The work is bounded: a pattern that would take more keeps its meaning, but may miss some that are equivalent.
    """
    if pattern.is_normal:
        return pattern
    answer = frozenset(pattern.answer)
    parts = _split_branches(pattern.branches)
    branches: dict[Conjunction, None] = {}
    for part in parts:
        normal = _normalize_branch(part, answer, len(parts))
        if normal is not None:
            branches[normal] = None
    ordered = tuple(sorted(branches, key=render_conjunction) if len(branches) > 1 else branches)
    bound = frozenset().union(*map(columns_of, ordered))
    return Pattern(tuple(name for name in pattern.answer if name in bound), ordered, is_normal=True)


def _split_branches(branches: tuple[Conjunction, ...]) -> list[Conjunction]:
    """The branches without `or`, those first that fall into few; of equally many all are split, or none."""
    if not any(branch.conditions for branch in branches):
        return list(branches)
    flat = [replace(branch, conditions=flattened(branch.conditions)) for branch in branches]
    ways = [ways_to_split(part.conditions, len(part.triples), MOST_BRANCHES, MOST_ATOMS) for part in flat]
    few = _affordable(ways)
    found = []
    for branch, way in zip(flat, ways, strict=True):
        if 1 < way.number <= few:
            found += [replace(branch, conditions=conditions) for conditions in split(branch.conditions, way.widest)]
        else:
            found.append(branch)
    return found


def _affordable(ways: list[SplitWays]) -> int:
    """The largest number of branches that one branch may become, so that all together stay within the limits."""
    branches, atoms, few = len(ways), 0, 1
    for count in sorted({way.number for way in ways}):
        alike = [way.size for way in ways if way.number == count]
        branches += (count - 1) * len(alike)
        atoms += count * sum(alike)
        if branches > MOST_BRANCHES or atoms > MOST_ATOMS:
            break
        few = count
    return few


def _normalize_branch(branch: Conjunction, answer: frozenset[str], siblings: int) -> Conjunction | None:
    """The branch in normal form, None if it can never hold; its siblings share the steps that may be spent."""
    branch = _without_idle_optionals(branch, answer)
    if branch.conditions or branch.bindings or branch.optionals:
        substituted = _substitute(branch, answer)
        if substituted is None:
            return None
        branch = substituted
    if not all(triple.is_possible for triple in branch.triples):
        return None
    return label(fold(branch, answer, core.MOST_STEPS // siblings), answer, labels.MOST_STEPS // siblings)


def _without_idle_optionals(branch: Conjunction, answer: frozenset[str]) -> Conjunction:
    """An optional part that adds no answer column, and nothing that a later one needs, says nothing."""
    if not branch.optionals:
        return branch
    wanted, kept = set(answer), []
    required = branch.variables | {name for name, _ in branch.bindings}
    for optional in reversed(branch.optionals):
        names = {name for triple in optional.triples for name in triple.variables}
        if (names - required) & wanted:
            kept.append(optional)
            wanted |= names
    return replace(branch, optionals=tuple(reversed(kept)))


def _substitute(branch: Conjunction, answer: frozenset[str]) -> Conjunction | None:
    """Replace variables by what they must be, until no condition says so any more; None if it can never hold."""
    fixed = dict(branch.bindings)
    triples, conditions, optionals = branch.triples, branch.conditions, branch.optionals
    swap: dict[str, Node] = dict(fixed)
    while True:
        if swap:
            triples = tuple([replace_nodes(triple, swap) for triple in triples])
            conditions = tuple([replace_variables(condition, swap) for condition in conditions])
            optionals = tuple([replace_in_optional(optional, swap) for optional in optionals])
        tidied = tidy(conditions)
        if tidied is None:
            return None
        swap, conditions = _equalities(tidied, answer)
        if not swap:
            break
        fixed.update((name, node) for name, node in swap.items() if not isinstance(node, Variable))
    kept = tuple((name, fixed[name]) for name in sorted(fixed.keys() & answer))
    possible = tuple(
        _tidy_optional(optional) for optional in optionals if all(triple.is_possible for triple in optional.triples)
    )
    return Conjunction(triples, conditions, kept, possible)


def _equalities(
    conditions: tuple[Expression, ...], answer: frozenset[str]
) -> tuple[dict[str, Node], tuple[Expression, ...]]:
    """What variables must be, and the conditions without what that makes superfluous.

    Variables that are the same become one: an answer before others, because answers keep their names. Two constants
    for one variable are left to the conditions, which are then decided.
    """
    constants = dict(reversed([found for c in conditions if (found := _constant(c)) is not None]))
    if constants:
        return constants, conditions
    same = [c for c in conditions if _is_same_variable(c)]
    if not same:
        return {}, conditions
    swap: dict[str, Node] = {}
    kept: dict[Expression, None] = dict.fromkeys(c for c in conditions if c not in same)
    for group, _ in connected((variables_of(c), c) for c in same):
        chosen, *others = sorted(group, key=lambda name: (name not in answer, name))
        for name in others:
            if name in answer:
                kept[Call("same", (variable(chosen), variable(name)))] = None
            else:
                swap[name] = variable(chosen)
    return swap, tuple(kept)


def _constant(condition: Expression) -> tuple[str, Node] | None:
    """The variable that a tidy condition fixes, and what to; None if it fixes none."""
    if not isinstance(condition, Call) or condition.function not in ("same", "="):
        return None
    left, right = condition.arguments
    if not isinstance(left, Variable) or isinstance(right, Call | Variable):
        return None
    if condition.function == "same" or isinstance(right, NamedNode) or _equal_only_to_itself(right):
        return left.value, right
    return None


def _is_same_variable(condition: Expression) -> bool:
    if not isinstance(condition, Call) or condition.function != "same":
        return False
    return all(isinstance(argument, Variable) for argument in condition.arguments)


def _equal_only_to_itself(literal: Literal) -> bool:
    """Text has one spelling: `= "x"` and sameTerm say the same. Numbers and times have many."""
    return literal.language is not None or literal.datatype == XSD_STRING


def _tidy_optional(optional: Optional) -> Optional:
    conditions = dict.fromkeys(arranged(spelled(condition)) for condition in optional.conditions)
    return Optional(tuple(dict.fromkeys(optional.triples)), tuple(conditions))


def equivalent(first: Pattern, second: Pattern) -> bool:
    """True if both have the same normal form, answer columns matched by position."""
    if len(first.answer) != len(second.answer):
        return False
    return normalize(first) == normalize(rename(second, dict(zip(second.answer, first.answer, strict=True))))
