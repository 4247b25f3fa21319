"""The one query algebra: what every language compiles to.

A pattern is a union of conjunctions. A conjunction is a set of triple patterns that share variables, conditions that
every answer satisfies, fixed bindings (variables that are constants), and optional parts that add columns without
deciding the match. Nodes are frozen and refuse to be built wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.errors import PatternError
from triplewire.model import RDF, Document, Term

if TYPE_CHECKING:
    from triplewire.algebra.explain import PatternWhyNot, Reason
    from triplewire.algebra.taxonomy import Taxonomy

Node = NamedNode | Literal | BlankNode | Variable
"""A place of a triple pattern: a constant or a variable."""

_TYPE = NamedNode(RDF + "type")


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to expressions; FUNCTIONS lists the names and how many arguments each takes.

    Its variables and its hash are found once, when it is built: expressions nest, and each level would ask again.
    """

    function: str
    arguments: tuple[Expression, ...]
    _variables: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expected = FUNCTIONS.get(self.function)
        if expected is None:
            raise PatternError(f"there is no function {self.function!r}; there are: {', '.join(sorted(FUNCTIONS))}")
        if len(self.arguments) not in expected:
            raise PatternError(f"{self.function} takes {expected} arguments, not {len(self.arguments)}")
        object.__setattr__(self, "_variables", _united([variables_of(a) for a in self.arguments]))
        object.__setattr__(self, "_hash", hash((self.function, self.arguments)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Hashes of text differ between processes: the other one finds its own."""
        return Call, (self.function, self.arguments)

    def __str__(self) -> str:
        return render(self)


Expression = Variable | NamedNode | Literal | Call
"""A value that is computed from a row: a variable, a constant, or a function of these."""

_ONE, _TWO = range(1, 2), range(2, 3)

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
    **dict.fromkeys(("and", "or"), range(2, 1_000_000)),
    **dict.fromkeys(("same", "contains", "starts", "ends", "langmatches", "+", "-", "*", "/"), _TWO),
    **dict.fromkeys(("not", "negate", "lang", "datatype", "str", "lcase", "ucase", "strlen"), _ONE),
    **dict.fromkeys(("isiri", "isblank", "isliteral", "isnumeric"), _ONE),
    "regex": range(2, 4),
}


class TriplePattern(NamedTuple):
    """A triple with variables in some places. Subjects may be written as literals; those never match."""

    subject: Node
    predicate: Node
    object: Node

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables' names, in order, each once."""
        names = [node.value for node in self if type(node) is Variable]
        return tuple(dict.fromkeys(names)) if len(names) > 1 else tuple(names)

    @property
    def joints(self) -> frozenset[Node]:
        """What ties it to other triple patterns: variables, and constants in place of a resource or a value.

        A class is no such constant: what has nothing in common but a class has nothing in common.
        """
        object = () if self.predicate == _TYPE and type(self.object) is not Variable else (self.object,)
        predicate = (self.predicate,) if type(self.predicate) is Variable else ()
        return frozenset((self.subject, *predicate, *object))

    @property
    def is_possible(self) -> bool:
        """False if it has a literal where no triple has one: only objects are literals."""
        return type(self.subject) is not Literal and type(self.predicate) is not Literal

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
        for subject, predicate, object in self.triples:
            if type(subject) is BlankNode or type(predicate) is BlankNode or type(object) is BlankNode:
                raise PatternError("a blank node in a pattern is a variable; write it as one")
        if self.conditions or self.bindings:
            self._check_bound(self.variables, [name for name, _ in self.bindings])

    def _check_bound(self, variables: frozenset[str], fixed: list[str]) -> None:
        bound = variables.union(fixed)
        for condition in self.conditions:
            missing = variables_of(condition) - bound
            if missing:
                raise PatternError(f"nothing binds ?{min(missing)}, which the condition {render(condition)} needs")
        if len(set(fixed)) != len(fixed) or not variables.isdisjoint(fixed):
            raise PatternError("a variable is bound twice")

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that its triple patterns bind."""
        return frozenset([node.value for triple in self.triples for node in triple if type(node) is Variable])


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a subscription compiles to: rows of `answer` variables, from any of the `branches`.

    No answer variable (SPARQL's ASK) means one empty row if anything matches.
    No branch means that it can never match. `is_normal` is set by `normalize`, so that nothing is normalized twice;
    `canonical` keeps the bytes of the normal form with it. These are left behind when a pattern is copied or pickled.
    """

    answer: tuple[str, ...]
    branches: tuple[Conjunction, ...]
    is_normal: bool = field(default=False, repr=False, compare=False)
    _canonical: tuple[bytes, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.answer)) != len(self.answer):
            raise PatternError("an answer variable is named twice")
        if self.answer and self.branches:
            bound = frozenset().union(*map(columns_of, self.branches))
            for name in self.answer:
                if name not in bound:
                    raise PatternError(f"nothing binds the answer variable ?{name}")
        object.__setattr__(self, "_hash", hash((self.answer, self.branches)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Hashes of text differ between processes: the other one finds its own."""
        return Pattern, (self.answer, self.branches, self.is_normal)

    @property
    def asks_xml(self) -> bool:
        """Whether its rows come from the XML of single documents; else they come from triples."""
        return False

    def rows_in(self, document: Document, taxonomy: Taxonomy) -> list[dict[str, Term]]:
        """The rows that a document gives alone, by definition."""
        from triplewire.algebra.evaluate import evaluate

        return evaluate(self, document.triples, taxonomy)

    def why(self, document: Document, taxonomy: Taxonomy) -> list[Reason]:
        """A reason for each row that a document gives alone."""
        from triplewire.algebra.explain import why

        return why(self, document.triples, taxonomy)

    def why_not(self, document: Document, taxonomy: Taxonomy) -> PatternWhyNot:
        """What keeps a document from giving a row."""
        from triplewire.algebra.explain import why_not

        return why_not(self, document.triples, taxonomy)

    def __str__(self) -> str:
        head = " ".join(f"?{name}" for name in self.answer) or "ask"
        return f"{head} where " + " or ".join(f"{{ {render_conjunction(b)} }}" for b in self.branches)


def columns_of(conjunction: Conjunction) -> frozenset[str]:
    """The variables that can have a value in a row of this conjunction."""
    found = conjunction.variables
    if not conjunction.bindings and not conjunction.optionals:
        return found
    optional = (name for part in conjunction.optionals for triple in part.triples for name in triple.variables)
    return found.union((name for name, _ in conjunction.bindings), optional)


def variables_of(expression: Expression) -> frozenset[str]:
    """The names of the variables in an expression."""
    if isinstance(expression, Call):
        return expression._variables
    return frozenset((expression.value,)) if isinstance(expression, Variable) else _NONE


_NONE: frozenset[str] = frozenset()


def _united(sets: list[frozenset[str]]) -> frozenset[str]:
    """The union; one of the sets themselves where it is enough, because most expressions have one variable."""
    widest = max(sets, key=len, default=_NONE)
    return widest if all(found <= widest for found in sets) else widest.union(*sets)


def render(expression: Expression) -> str:
    """An expression as a person would write it."""
    if not isinstance(expression, Call):
        return str(expression)
    return render_call(expression.function, [render(argument) for argument in expression.arguments])


def render_call(name: str, arguments: list[str]) -> str:
    """A function of arguments that are rendered already."""
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
