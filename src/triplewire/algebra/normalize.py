"""The normal form of a pattern: equivalent queries become the same pattern (N6).

The stages, in order, each a function from branches to branches (or from one branch to one):

    split       conditions are flattened, negations pushed down, `or` becomes several branches
    substitute  variables that must be one constant, or one other variable, are replaced
    tidy        each condition in one spelling; bounds that follow from tighter ones go
    fold        triple patterns that follow from others go (the query's core)
    label       variables that are not answers get canonical names; everything is put in order

A branch that can never hold is dropped on the way. Every stage keeps the meaning: a test says so against `evaluate`.
"""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.conditions import is_decided, split, tidy
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
)
from triplewire.algebra.substitution import rename, replace_in_optional, replace_nodes, replace_variables
from triplewire.algebra.values import XSD_STRING
from triplewire.model import Term

MOST_BRANCHES = 256
"""How many branches `or` may be split into; beyond, it stays a condition, which costs speed and not meaning."""


def normalize(pattern: Pattern) -> Pattern:
    """The pattern in normal form: the same rows over any triples, one spelling for what is equivalent.

    Answer variables keep their names and order, because rows are told in them; one that no branch is left to bind goes.
    """
    if pattern.is_normal:
        return pattern
    answer = frozenset(pattern.answer)
    branches: dict[Conjunction, None] = {}
    for branch in pattern.branches:
        for part in _split_branch(branch, MOST_BRANCHES - len(pattern.branches) + 1):
            normal = _normalize_branch(part, answer)
            if normal is not None:
                branches[normal] = None
    ordered = tuple(sorted(branches, key=str) if len(branches) > 1 else branches)
    bound = frozenset(name for branch in ordered for name in columns_of(branch))
    return Pattern(tuple(name for name in pattern.answer if name in bound), ordered, is_normal=True)


def _split_branch(branch: Conjunction, most: int) -> list[Conjunction]:
    return [replace(branch, conditions=conditions) for conditions in split(branch.conditions, max(1, most))]


def _normalize_branch(branch: Conjunction, answer: frozenset[str]) -> Conjunction | None:
    branch = _without_idle_optionals(branch, answer)
    if branch.conditions or branch.bindings:
        substituted = _substitute(branch, answer)
        if substituted is None:
            return None
        conditions = tidy(substituted.conditions)
        if conditions is None:
            return None
        branch = replace(substituted, conditions=conditions)
    if any(isinstance(triple.subject, Literal) or isinstance(triple.predicate, Literal) for triple in branch.triples):
        return None
    return label(fold(branch, answer), answer)


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
    """Replace variables by what they must be, until no condition says so any more."""
    bindings = dict(branch.bindings)
    triples, conditions, optionals = branch.triples, branch.conditions, branch.optionals
    while True:
        remaining = [c for c in (_fold_bindings(c, bindings) for c in conditions) if is_decided(c) is not True]
        if any(is_decided(c) is False for c in remaining):
            return None
        found = next(((c, pair) for c in remaining if (pair := _equality(c, answer)) is not None), None)
        if found is None:
            break
        condition, (name, node) = found
        remaining.remove(condition)
        swap = {name: node}
        triples = tuple(replace_nodes(triple, swap) for triple in triples)
        optionals = tuple(replace_in_optional(optional, swap) for optional in optionals)
        conditions = tuple(replace_variables(c, swap) for c in remaining)
        if not isinstance(node, Variable):
            bindings[name] = node
    swaps: dict[str, Node] = dict(bindings)
    optionals = tuple(replace_in_optional(optional, swaps) for optional in optionals)
    if any(_is_broken(optional) for optional in optionals):
        optionals = tuple(o for o in optionals if not _is_broken(o))
    kept = tuple(sorted(((n, t) for n, t in bindings.items() if n in answer), key=lambda pair: pair[0]))
    return Conjunction(triples, tuple(remaining), kept, optionals)


def _fold_bindings(condition: Expression, bindings: dict[str, Term]) -> Expression:
    return replace_variables(condition, dict(bindings)) if bindings else condition


def _equality(condition: Expression, answer: frozenset[str]) -> tuple[str, Node] | None:
    """The variable that a condition fixes, and what to; None if it fixes none."""
    if not isinstance(condition, Call) or condition.function not in ("same", "="):
        return None
    left, right = condition.arguments
    if not isinstance(left, Variable):
        left, right = right, left
    if not isinstance(left, Variable) or isinstance(right, Call):
        return None
    if isinstance(right, Variable):
        return _unification(condition.function, left, right, answer)
    if condition.function == "same" or isinstance(right, NamedNode) or _equal_only_to_itself(right):
        return left.value, right
    return None


def _unification(function: str, left: Variable, right: Variable, answer: frozenset[str]) -> tuple[str, Node] | None:
    """Two variables become one, unless both are columns of the answer, or equality is of values only."""
    if function != "same" or left == right:
        return None
    if left.value not in answer:
        return left.value, right
    return None if right.value in answer else (right.value, left)


def _equal_only_to_itself(literal: Literal) -> bool:
    """Text has one spelling: `= "x"` and sameTerm say the same. Numbers and times have many."""
    return literal.language is not None or literal.datatype == XSD_STRING


def _is_broken(optional: Optional) -> bool:
    return any(isinstance(t.subject, Literal) or isinstance(t.predicate, Literal) for t in optional.triples)


def equivalent(first: Pattern, second: Pattern) -> bool:
    """True if both have the same normal form, answer columns matched by position."""
    if len(first.answer) != len(second.answer):
        return False
    return normalize(first) == normalize(rename(second, dict(zip(second.answer, first.answer, strict=True))))
