"""The one query algebra: what every language compiles to.

A pattern is a union of conjunctions. A conjunction is a set of triple patterns that share variables, conditions that
every answer satisfies, fixed bindings (variables that are constants), and optional parts that add columns without
deciding the match. Nodes are frozen and refuse to be built wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.errors import PatternError
from triplewire.model import Term

Node = NamedNode | Literal | BlankNode | Variable
"""A place of a triple pattern: a constant or a variable."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to expressions; FUNCTIONS lists the names and how many arguments each takes."""

    function: str
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        expected = FUNCTIONS.get(self.function)
        if expected is None:
            raise PatternError(f"there is no function {self.function!r}; there are: {', '.join(sorted(FUNCTIONS))}")
        if len(self.arguments) not in expected:
            raise PatternError(f"{self.function} takes {expected} arguments, not {len(self.arguments)}")

    def __str__(self) -> str:
        return render(self)


Expression = Variable | NamedNode | Literal | Call
"""A value that is computed from a row: a variable, a constant, or a function of these."""

_ONE, _TWO, _MANY = range(1, 2), range(2, 3), range(2, 1_000_000)

STRICT = ("=", "!=", "<", "<=", ">", ">=")
"""Comparisons with SPARQL's typing: values of types that do not compare are an error, and an error is not a match."""

LOOSE = ("~=", "~!=", "~<", "~<=", "~>", "~>=")
"""Comparisons of the older languages: text that looks like a number compares as a number, other text as text."""

IS_A = ("descendant", "descendant-or-self", "ancestor", "child")
"""Tests against the taxonomy: `Call("descendant", (x, C))` holds if x is below C in it."""

FUNCTIONS: dict[str, range] = {
    **dict.fromkeys(STRICT, _TWO),
    **dict.fromkeys(LOOSE, _TWO),
    **dict.fromkeys(IS_A, _TWO),
    "same": _TWO,
    "and": _MANY,
    "or": _MANY,
    "not": _ONE,
    "contains": _TWO,
    "starts": _TWO,
    "ends": _TWO,
    "regex": range(2, 4),
    "lang": _ONE,
    "langmatches": _TWO,
    "datatype": _ONE,
    "str": _ONE,
    "lcase": _ONE,
    "ucase": _ONE,
    "strlen": _ONE,
    "isiri": _ONE,
    "isblank": _ONE,
    "isliteral": _ONE,
    "isnumeric": _ONE,
    "+": _TWO,
    "-": _TWO,
    "*": _TWO,
    "/": _TWO,
    "negate": _ONE,
}


class TriplePattern(NamedTuple):
    """A triple with variables in some places. Subjects may be written as literals; those never match."""

    subject: Node
    predicate: Node
    object: Node

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables' names, in order, each once."""
        return tuple(dict.fromkeys(node.value for node in self if isinstance(node, Variable)))

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class Optional:
    """Triple patterns that add columns to a row where they match (SPARQL's OPTIONAL); `conditions` hold inside."""

    triples: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if not self.triples:
            raise PatternError("an optional part needs at least one triple pattern")


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Triple patterns that must all hold for one row, and the conditions on it."""

    triples: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...] = ()
    bindings: tuple[tuple[str, Term], ...] = ()
    optionals: tuple[Optional, ...] = ()

    def __post_init__(self) -> None:
        for triple in self.triples:
            if any(isinstance(node, BlankNode) for node in triple):
                raise PatternError("a blank node in a pattern is a variable; write it as one")
        bound = self.variables | {name for name, _ in self.bindings}
        for condition in self.conditions:
            missing = variables_of(condition) - bound
            if missing:
                raise PatternError(f"nothing binds ?{min(missing)}, which the condition {render(condition)} needs")
        fixed = [name for name, _ in self.bindings]
        if len(set(fixed)) != len(fixed) or set(fixed) & self.variables:
            raise PatternError("a variable is bound twice")

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that its triple patterns bind."""
        return frozenset(name for triple in self.triples for name in triple.variables)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a subscription compiles to: rows of `answer` variables, from any of the `branches`.

    No answer variable (SPARQL's ASK) means one empty row if anything matches.
    No branch means that it can never match. `is_normal` is set by `normalize`, so that nothing is normalized twice.
    """

    answer: tuple[str, ...]
    branches: tuple[Conjunction, ...]
    is_normal: bool = field(default=False, repr=False, compare=False)
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.answer)) != len(self.answer):
            raise PatternError("an answer variable is named twice")
        for name in self.answer if self.branches else ():
            if not any(name in columns_of(branch) for branch in self.branches):
                raise PatternError(f"nothing binds the answer variable ?{name}")
        object.__setattr__(self, "_hash", hash((self.answer, self.branches)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        head = " ".join(f"?{name}" for name in self.answer) or "ask"
        return f"{head} where " + " or ".join(f"{{ {render_conjunction(b)} }}" for b in self.branches)


def columns_of(conjunction: Conjunction) -> frozenset[str]:
    """The variables that can have a value in a row of this conjunction."""
    optional = (name for part in conjunction.optionals for triple in part.triples for name in triple.variables)
    return conjunction.variables | {name for name, _ in conjunction.bindings} | frozenset(optional)


def variables_of(expression: Expression) -> frozenset[str]:
    """The names of the variables in an expression."""
    return frozenset(_variables(expression))


def _variables(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Variable):
        yield expression.value
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _variables(argument)


def render(expression: Expression) -> str:
    """An expression as a person would write it."""
    if not isinstance(expression, Call):
        return str(expression)
    name, arguments = expression.function, [render(argument) for argument in expression.arguments]
    if name in ("and", "or") or (len(arguments) == 2 and not name.isalpha() and name not in IS_A):
        return "(" + f" {name} ".join(arguments) + ")"
    return f"{name}({', '.join(arguments)})"


def render_conjunction(conjunction: Conjunction) -> str:
    """A conjunction on one line."""
    parts = [str(triple) for triple in conjunction.triples]
    parts += [render(condition) for condition in conjunction.conditions]
    parts += [f"?{name} is {term}" for name, term in conjunction.bindings]
    for optional in conjunction.optionals:
        inner = [str(t) for t in optional.triples] + [render(c) for c in optional.conditions]
        parts.append("optional { " + " . ".join(inner) + " }")
    return " . ".join(parts)


@cache
def variable(name: str) -> Variable:
    """The variable of this name."""
    return Variable(name)
