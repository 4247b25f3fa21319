"""Lint: what is wrong with a pattern before any document has come (X6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from itertools import permutations
from typing import Literal as OneOf

from pyoxigraph import Variable

from triplewire.algebra.conditions import connected
from triplewire.algebra.covering import Budget, contradiction, covers
from triplewire.algebra.pattern import Call, Conjunction, Expression, Pattern, TriplePattern, columns_of, variables_of
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.wording import word_list, word_triple
from triplewire.algebra.xpath.conditions import demand_of
from triplewire.algebra.xpath.query import PathQuery

Severity = OneOf["error", "warning", "note"]
_NAMED = "named"
"""What joins all that is said of named resources."""
_MOST_TRIPLES = 3
_MOST_STEPS = 500_000
"""About a second, whatever the text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at. `branch` counts from 0; `others` are the subscriptions that it has to do with.

    Kinds: `never-matches`, `cartesian`, `covered`, `equivalent`, `redundant-branch`, `unselective`, `not-decided`.
    """

    kind: str
    message: str
    severity: Severity
    branch: int | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"


@singledispatch
def lint(pattern: Pattern, *, others: Mapping[str, Pattern] | None = None, taxonomy: Taxonomy = EMPTY) -> list[Finding]:
    """What is wrong with the pattern, alone and next to other subscriptions; the worst first.

    It is bounded: a pattern with so many alternatives that not all of them can be compared is told to be one.
    """
    budget = Budget(_MOST_STEPS)
    never = [*_never_matches(pattern, taxonomy, budget)]
    dead = {finding.branch for finding in never}
    findings = [*never]
    for number, branch in enumerate(pattern.branches):
        if number not in dead:
            findings += [*_cartesian(number, branch), *_unselective(number, branch)]
    findings += _redundant_branches(pattern, dead, taxonomy, budget)
    if budget.is_spent:
        findings.append(_not_decided(pattern))
    if len(never) < max(1, len(pattern.branches)):
        findings += _covered(pattern, others or {}, taxonomy)
    return sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))


@lint.register(PathQuery)
def _lint_path(
    query: PathQuery, *, others: Mapping[str, Pattern] | None = None, taxonomy: Taxonomy = EMPTY
) -> list[Finding]:
    return [*_expression_alone(query), *_covered(query, others or {}, taxonomy)]


def _expression_alone(query: PathQuery) -> Iterator[Finding]:
    demand = demand_of(query.expression)
    if not demand.alternatives:
        yield Finding("never-matches", "the expression can never be true of any document", "error")
    elif frozenset() in demand.alternatives:
        message = (
            "nothing that it asks for must be in a document, so it is evaluated on every one; "
            "ask for an element or a value as well"
        )
        yield Finding("unselective", message, "warning")


def _alternative(pattern: Pattern, number: int) -> str:
    return "the pattern" if len(pattern.branches) == 1 else f"alternative {number + 1}"


def _not_decided(pattern: Pattern) -> Finding:
    message = (
        f"its {len(pattern.branches)} alternatives are too many, or too involved, to be looked at one by one and in "
        "pairs: some of them may never match, or add nothing"
    )
    return Finding("not-decided", message, "note")


def _never_matches(pattern: Pattern, taxonomy: Taxonomy, budget: Budget) -> Iterator[Finding]:
    if not pattern.branches:
        yield Finding("never-matches", "the pattern can never match: it has no alternative left", "error")
    found = {i: c for i, b in enumerate(pattern.branches) if (c := contradiction(b, taxonomy, budget)) is not None}
    severity: Severity = "error" if len(found) == len(pattern.branches) else "warning"
    for number, reason in found.items():
        which = "one of them" if len(reason.conditions) > 1 else "it"
        message = f"{_alternative(pattern, number)} can never match: {reason.reason}; change or remove {which}"
        yield Finding("never-matches", message, severity, number)


def _cartesian(number: int, branch: Conjunction) -> Iterator[Finding]:
    groups = parts_of(branch)
    if len(groups) > 1:
        named = " / ".join(word_list((f"`{word_triple(t)}`" for t in group), _MOST_TRIPLES, " . ") for group in groups)
        message = (
            f"{len(groups)} parts share no variable or resource, so every match of one is combined with every match of "
            f"the others: {named}; join them with a variable or a condition, or subscribe to each alone"
        )
        yield Finding("cartesian", message, "warning", number)


def parts_of(branch: Conjunction) -> list[list[TriplePattern]]:
    """The triple patterns in groups that nothing joins: neither a variable, nor a constant, nor a condition.

    What is said of resources that are named is one group, whichever they are: each has few statements. Triple patterns
    without variables are left out.
    """
    links: list[tuple[set[object], TriplePattern | None]] = [
        *((_joints(triple), triple) for triple in branch.triples if triple.variables),
        *((set[object](map(Variable, variables_of(c) & branch.variables)), None) for c in branch.conditions),
    ]
    groups = [[triple for triple in group if triple is not None] for _, group in connected(links)]
    return [triples for triples in groups if triples]


def _joints(triple: TriplePattern) -> set[object]:
    is_of_named = not isinstance(triple.subject, Variable)
    return {*triple.joints, _NAMED} if is_of_named else set(triple.joints)


def _unselective(number: int, branch: Conjunction) -> Iterator[Finding]:
    constants = any(not isinstance(node, Variable) for triple in branch.triples for node in triple)
    if not constants and not branch.bindings and not any(map(_has_constant, branch.conditions)):
        message = "no constant anywhere: every document matches; name at least a predicate or a value"
        yield Finding("unselective", message, "warning", number)


def _has_constant(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return any(map(_has_constant, expression.arguments))
    return not isinstance(expression, Variable)


def _redundant_branches(
    pattern: Pattern, dead: set[int | None], taxonomy: Taxonomy, budget: Budget
) -> Iterator[Finding]:
    alone = {i: _branch_alone(pattern, branch) for i, branch in enumerate(pattern.branches) if i not in dead}
    gone: set[int] = set()
    for one, other in permutations(reversed(alone), 2):
        if budget.is_spent:
            return
        narrow, wide = alone[one], alone[other]
        if not {one, other} & gone and narrow.answer == wide.answer and covers(wide, narrow, taxonomy, budget):
            gone.add(one)
            message = f"alternative {one + 1} adds nothing: alternative {other + 1} has all of its answers; remove it"
            yield Finding("redundant-branch", message, "note", one)


def _branch_alone(pattern: Pattern, branch: Conjunction) -> Pattern:
    """One alternative as a pattern; a column that it does not bind is one that it does not have."""
    return Pattern(tuple(name for name in pattern.answer if name in columns_of(branch)), (branch,))


def _covered(pattern: Pattern, others: Mapping[str, Pattern], taxonomy: Taxonomy) -> Iterator[Finding]:
    for name, other in others.items():
        if covers(other, pattern, taxonomy):
            if covers(pattern, other, taxonomy):
                message = f"it has the same answers as {name!r}; subscribe to that one"
                yield Finding("equivalent", message, "note", others=(name,))
            else:
                message = f"all of its answers are answers of {name!r} too; drop it if you take that one"
                yield Finding("covered", message, "note", others=(name,))
