"""Putting nodes in the place of variables, and other names for them."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import Variable

from triplewire.algebra.pattern import (
    Call,
    Conjunction,
    Expression,
    Node,
    Optional,
    Pattern,
    TriplePattern,
    columns_of,
    variable,
    variables_of,
)


def replace_nodes(triple: TriplePattern, swap: Mapping[str, Node]) -> TriplePattern:
    """The triple pattern with nodes in place of some variables."""
    subject, predicate, object = triple
    if type(subject) is Variable:
        subject = swap.get(subject.value, subject)
    if type(predicate) is Variable:
        predicate = swap.get(predicate.value, predicate)
    if type(object) is Variable:
        object = swap.get(object.value, object)
    if subject is triple[0] and predicate is triple[1] and object is triple[2]:
        return triple
    return TriplePattern(subject, predicate, object)


def replace_variables(expression: Expression, swap: Mapping[str, Node]) -> Expression:
    """The expression with nodes in place of some variables."""
    if isinstance(expression, Variable):
        return swap.get(expression.value, expression)  # type: ignore[return-value]  # no blank node is ever swapped in
    if isinstance(expression, Call) and not variables_of(expression).isdisjoint(swap):
        return Call(expression.function, tuple(replace_variables(a, swap) for a in expression.arguments))
    return expression


def replace_in_optional(optional: Optional, swap: Mapping[str, Node]) -> Optional:
    """The optional part with nodes in place of some variables."""
    return Optional(
        tuple(replace_nodes(triple, swap) for triple in optional.triples),
        tuple(replace_variables(condition, swap) for condition in optional.conditions),
    )


def renamed(conjunction: Conjunction, names: Mapping[str, str]) -> Conjunction:
    """The conjunction with other names for some variables; the new names must not be in use."""
    swap: dict[str, Node] = {old: variable(new) for old, new in names.items()}
    return Conjunction(
        tuple(replace_nodes(triple, swap) for triple in conjunction.triples),
        tuple(replace_variables(condition, swap) for condition in conjunction.conditions),
        tuple((names.get(name, name), term) for name, term in conjunction.bindings),
        tuple(replace_in_optional(optional, swap) for optional in conjunction.optionals),
    )


def rename(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """The pattern with other variable names; other variables that would clash step aside."""
    others = {name for branch in pattern.branches for name in columns_of(branch)} - names.keys()
    full = dict(names)
    for name in sorted(others & set(names.values())):
        fresh = name
        while fresh in others or fresh in full.values():
            fresh += "_"
        full[name] = fresh
    branches = tuple(renamed(branch, full) for branch in pattern.branches)
    return Pattern(tuple(full.get(name, name) for name in pattern.answer), branches)
