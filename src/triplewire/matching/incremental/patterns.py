"""Patterns as text: what a store keeps of a subscription, and of an atom.

Invariant: equal patterns have equal text, and `load_pattern` gives back what `dump_pattern` was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from triplewire.algebra.encoding import Plain, decode, decode_triple, dumps, encode, loads
from triplewire.algebra.pattern import Conjunction, Expression, Optional, Pattern, TriplePattern
from triplewire.algebra.xpath.query import PathQuery, dump, load
from triplewire.model import parse_term


@singledispatch
def dump_pattern(pattern: Pattern) -> str:
    """The pattern as JSON, in one spelling; whether it is in normal form is told too."""
    branches = [_plain_branch(branch) for branch in pattern.branches]
    return dumps([list(pattern.answer), branches, pattern.is_normal]).decode()


@dump_pattern.register(PathQuery)
def _dump_path(query: PathQuery) -> str:
    return dumps({"xpath": dump(query)}).decode()


def load_pattern(text: str) -> Pattern:
    """The pattern that was dumped."""
    found = loads(text.encode())
    if isinstance(found, dict):
        return load(found["xpath"])
    answer, branches, is_normal = found
    return Pattern(tuple(answer), tuple(map(_branch, branches)), is_normal)


def _plain_branch(branch: Conjunction) -> list[object]:
    optionals = [[_plain_triples(o.triples), _plain_conditions(o.conditions)] for o in branch.optionals]
    bindings = [[name, str(term)] for name, term in branch.bindings]
    return [_plain_triples(branch.triples), _plain_conditions(branch.conditions), bindings, optionals]


def _plain_triples(triples: Iterable[TriplePattern]) -> list[list[Plain]]:
    return [[encode(node, {}) for node in triple] for triple in triples]


def _plain_conditions(conditions: Iterable[Expression]) -> list[Plain]:
    return [encode(condition, {}) for condition in conditions]


def _branch(plain: tuple[list[Plain], list[Plain], list[list[str]], list[list[list[Plain]]]]) -> Conjunction:
    triples, conditions, bindings, optionals = plain
    return Conjunction(
        _triples(triples),
        _conditions(conditions),
        tuple((name, parse_term(text)) for name, text in bindings),
        tuple(Optional(_triples(inner), _conditions(tests)) for inner, tests in optionals),
    )


def _triples(plain: list[Plain]) -> tuple[TriplePattern, ...]:
    return tuple(decode_triple(triple, ()) for triple in plain)


def _conditions(plain: list[Plain]) -> tuple[Expression, ...]:
    return tuple(decode(condition, ()) for condition in plain)
