"""Patterns, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from triplewire.cli.terms import short

if TYPE_CHECKING:
    from triplewire.algebra.pattern import Conjunction, Expression, Optional, Pattern
    from triplewire.algebra.xpath.query import PathQuery


def as_text(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """One condition to a line, branches apart, variables that are not answers named by their use."""
    from triplewire.algebra.wording import plain, readable
    from triplewire.algebra.xpath.query import PathQuery

    if isinstance(pattern, PathQuery):
        return "\n".join(_path_lines(pattern))
    return short(plain("\n".join(_lines(readable(pattern)))), prefixes)


def _path_lines(query: PathQuery) -> Iterator[str]:
    yield "answer    " + " ".join(f"?{name}" for name in query.answer)
    yield f"  xpath     {query.text}"
    yield from (f"  where     {prefix} = {namespace}" for prefix, namespace in query.namespaces.items())


def _lines(pattern: Pattern) -> Iterator[str]:
    from triplewire.algebra.pattern import render

    yield "answer    " + (" ".join(f"?{name}" for name in pattern.answer) or "yes or no")
    if not pattern.branches:
        yield "never     no document can match this"
    for number, branch in enumerate(pattern.branches):
        if number:
            yield "or"
        yield from (f"  triple    {triple}" for triple in branch.triples)
        yield from (f"  if        {render(condition)}" for condition in branch.conditions)
        yield from (f"  always    ?{name} = {term}" for name, term in branch.bindings)
        for optional in branch.optionals:
            yield from (f"  perhaps   {triple}" for triple in optional.triples)
            yield from (f"    if      {render(condition)}" for condition in optional.conditions)


def as_json(pattern: Pattern) -> dict[str, Any]:
    """The pattern as plain data: terms in N-Triples spelling, variables with a question mark, calls as lists."""
    from triplewire.algebra.xpath.query import PathQuery

    if isinstance(pattern, PathQuery):
        return {"answer": list(pattern.answer), "xpath": pattern.text, "namespaces": pattern.namespaces}
    return {"answer": list(pattern.answer), "branches": [_branch(branch) for branch in pattern.branches]}


def _branch(branch: Conjunction) -> dict[str, Any]:
    bindings = {name: str(term) for name, term in branch.bindings}
    return _part(branch) | {"bindings": bindings, "optionals": [_part(optional) for optional in branch.optionals]}


def _part(part: Conjunction | Optional) -> dict[str, Any]:
    return {
        "triples": [[str(node) for node in triple] for triple in part.triples],
        "conditions": [_expression(condition) for condition in part.conditions],
    }


def _expression(expression: Expression) -> str | list[Any]:
    from triplewire.algebra.pattern import Call

    if isinstance(expression, Call):
        return [expression.function, *(_expression(argument) for argument in expression.arguments)]
    return str(expression)
