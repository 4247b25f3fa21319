"""What a text of the papers' languages says, before it is a pattern: atoms, put together with and, or and not.

All four languages are read into this one shape, so that a condition means the same in each of them. `alternatives`
gives the disjunctive normal form: one list of atoms for each branch of the pattern to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import Conjunction
from triplewire.languages.places import TextPlace
from triplewire.model import RDF

TYPE = NamedNode(RDF + "type")
MOST_BRANCHES = 256
MOST_DEPTH = 100
MOST_ATOMS = 512


@dataclass(frozen=True, slots=True)
class PropertyStep:
    """One property of a path expression; `any` says that each use ranges over its own element (MDV's `?`)."""

    property: NamedNode
    any: bool


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable or a constant, perhaps followed by a path; `number` marks a constant that was written bare."""

    node: Variable | NamedNode | Literal
    at: TextPlace
    number: bool = False
    steps: tuple[PropertyStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple that must be there."""

    subject: Operand
    predicate: Operand
    object: Operand
    at: TextPlace


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`; the operators are those of `branches.expression`."""

    operator: str
    left: Operand
    right: Operand
    at: TextPlace


@dataclass(frozen=True, slots=True)
class Existence:
    """A path that must have a value, whatever it is."""

    path: Operand
    at: TextPlace


@dataclass(frozen=True, slots=True)
class Embedding:
    """One branch of a named rule, whose registered variable `answer` is `variable` here."""

    conjunction: Conjunction
    answer: str
    variable: Operand
    at: TextPlace


Atom = Statement | Comparison | Existence | Embedding


@dataclass(frozen=True, slots=True)
class FormulaGroup:
    """Parts of which `every` one holds, or at least one (`either`), or that one of which does not hold (`not`)."""

    kind: str
    parts: tuple[Formula, ...]
    at: TextPlace
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        depth = 1 + max((part.depth for part in self.parts if isinstance(part, FormulaGroup)), default=0)
        if depth > MOST_DEPTH:
            raise self.at.refused(
                f"conditions are nested more than {MOST_DEPTH} deep", "Write it with fewer parentheses"
            )
        object.__setattr__(self, "depth", depth)


Formula = Atom | FormulaGroup

_NEGATED = {"=": "!=", "<": ">=", "<=": ">", "contains": "not contains", "is": "is not"}
NEGATED = _NEGATED | {negative: positive for positive, negative in _NEGATED.items()}
"""The operator that holds where another one does not."""
ORDERS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The order that says the same when its sides change places."""


def every(parts: Iterable[Formula], at: TextPlace) -> Formula:
    """A formula that holds if all of these do."""
    return FormulaGroup("every", tuple(parts), at)


def either(parts: Iterable[Formula], at: TextPlace) -> Formula:
    """At least one of these; of none, nothing can match."""
    return FormulaGroup("either", tuple(parts), at)


def negation(part: Formula, at: TextPlace) -> Formula:
    """Not this one."""
    return FormulaGroup("not", (part,), at)


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """All atoms of a formula, whatever they stand under."""
    if isinstance(formula, FormulaGroup):
        for part in formula.parts:
            yield from atoms_of(part)
    else:
        yield formula


def alternatives(formula: Formula, positive: bool = True) -> list[tuple[Atom, ...]]:
    """The disjunctive normal form: the formula holds where all atoms of at least one alternative hold."""
    if not isinstance(formula, FormulaGroup):
        return [(formula if positive else _negated(formula),)]
    if formula.kind == "not":
        return alternatives(formula.parts[0], not positive)
    found = [alternatives(part, positive) for part in formula.parts]
    if (formula.kind == "either") is positive:
        _check_alternatives(sum(map(len, found)), formula.at)
        return [atoms for part in found for atoms in part]
    product: list[tuple[Atom, ...]] = [()]
    for part in found:
        _check_alternatives(len(product) * len(part), formula.at)
        product = [_joined(left, right, formula.at) for left in product for right in part]
    return product


def _joined(left: tuple[Atom, ...], right: tuple[Atom, ...], at: TextPlace) -> tuple[Atom, ...]:
    if len(left) + len(right) > MOST_ATOMS:
        raise at.refused(f"the query has more than {MOST_ATOMS} triples and conditions", "Split it into several")
    return left + right


def _check_alternatives(count: int, at: TextPlace) -> None:
    if count > MOST_BRANCHES:
        reason = f"written out, the query has more than {MOST_BRANCHES} alternatives"
        raise at.refused(reason, "Split it into several subscriptions")


def _negated(atom: Atom) -> Atom:
    if not isinstance(atom, Comparison):
        raise atom.at.refused("a standing query cannot wait for a triple that is absent", "Take the `not` away")
    operator = NEGATED.get(atom.operator)
    if operator is None:
        raise atom.at.refused("`not` is not served for is-a", "Say which classes are wanted")
    if any(step.any for operand in (atom.left, atom.right) for step in operand.steps):
        raise atom.at.refused(
            "`not` with the any-operator would have to look at all elements", "Negate the comparison itself"
        )
    return replace(atom, operator=operator)
