"""Outlines: a pattern as lines for people, and as plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from triplewire.algebra.pattern import Call, Conjunction, Expression, Optional, Pattern, render
from triplewire.algebra.wording import plain, readable
from triplewire.algebra.xpath.query import PathQuery


@singledispatch
def outline(pattern: Pattern) -> str:
    """One condition to a line, branches apart, variables that are not answers named by their use."""
    return plain("\n".join(_lines(readable(pattern))))


@outline.register(PathQuery)
def _outline_of_path(query: PathQuery) -> str:
    answer = " ".join(f"?{name}" for name in query.answer)
    named = [f"  where     {prefix} = {namespace}" for prefix, namespace in query.namespaces.items()]
    return "\n".join([f"answer    {answer}", f"  xpath     {query.text}", *named])


def _lines(pattern: Pattern) -> Iterator[str]:
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


@singledispatch
def plain_pattern(pattern: Pattern) -> dict[str, Any]:
    """The pattern as plain data: terms in N-Triples spelling, variables with a question mark, calls as lists."""
    return {"answer": list(pattern.answer), "branches": [_branch(branch) for branch in pattern.branches]}


@plain_pattern.register(PathQuery)
def _plain_path(query: PathQuery) -> dict[str, Any]:
    return {"answer": list(query.answer), "xpath": query.text, "namespaces": query.namespaces}


def _branch(branch: Conjunction) -> dict[str, Any]:
    bindings = {name: str(term) for name, term in branch.bindings}
    return _part(branch) | {"bindings": bindings, "optionals": [_part(optional) for optional in branch.optionals]}


def _part(part: Conjunction | Optional) -> dict[str, Any]:
    return {
        "triples": [[str(node) for node in triple] for triple in part.triples],
        "conditions": [_expression(condition) for condition in part.conditions],
    }


def _expression(expression: Expression) -> str | list[Any]:
    if isinstance(expression, Call):
        return [expression.function, *(_expression(argument) for argument in expression.arguments)]
    return str(expression)
