"""Expressions and terms as plain JSON values, for what the index keeps as text.

A variable is its number or `"?name"`, a term its N-Triples spelling, a call a list with the function's name first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pyoxigraph import Variable

from triplewire.algebra.pattern import Call, Expression, Node, TriplePattern, variable
from triplewire.model import parse_term

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def slot_name(number: int) -> str:
    """The name of a variable that is known by its number: one that nobody else would choose."""
    return f"__slot{number}"


Plain = int | str | list["Plain"]


def encode(expression: Expression | Node, slots: Mapping[str, int]) -> Plain:
    """The expression with the numbers of its variables; a variable without a number keeps its name."""
    if isinstance(expression, Variable):
        return slots.get(expression.value, str(expression))
    if isinstance(expression, Call):
        return [expression.function, *(encode(argument, slots) for argument in expression.arguments)]
    return str(expression)


def decode(plain: Plain, names: Sequence[str]) -> Expression:
    """The expression again, its numbered variables under these names."""
    if isinstance(plain, int):
        return variable(names[plain])
    if isinstance(plain, list):
        name, *arguments = plain
        return Call(str(name), tuple(decode(argument, names) for argument in arguments))
    return _named(plain)


@lru_cache(maxsize=8192)
def _named(text: str) -> Expression:
    """A variable or a term: patterns have most of them in common."""
    if text.startswith("?"):
        return variable(text[1:])
    return parse_term(text)  # type: ignore[return-value]  # no blank node is ever in a pattern


def decode_triple(plain: Plain, names: Sequence[str]) -> TriplePattern:
    """A triple pattern that was encoded as the list of its places."""
    assert isinstance(plain, list)
    subject, predicate, object = (_named(place) if isinstance(place, str) else decode(place, names) for place in plain)
    return TriplePattern(subject, predicate, object)  # type: ignore[arg-type]  # each was written from its place


def dumps(plain: object) -> bytes:
    """JSON in one spelling, so that equal values are equal bytes."""
    return _JSON.encode(plain).encode()


def loads(text: bytes) -> Any:
    """What `dumps` was given."""
    return json.loads(text)
