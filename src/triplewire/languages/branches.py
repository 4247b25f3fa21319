"""From formulas to patterns: each alternative becomes one branch, and each comparison an expression of the algebra.

The papers compare text that looks like a number as a number (MDV section 3.3.4 stores constants as strings and converts
them when it joins). So a number that is written bare compares loosely, and so does every order. Equality with a
quoted text, a name or another variable is equality of terms: it can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import (
    IS_A,
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
from triplewire.algebra.substitution import renamed
from triplewire.languages.formula import (
    ORDERS,
    Atom,
    Comparison,
    Embedding,
    Existence,
    Operand,
    PropertyStep,
    Statement,
)
from triplewire.languages.places import TextPlace
from triplewire.model import Term

MOST_TRIPLES = 256
MOST_CONDITIONS = 256
MOST_ANSWERS = 256
_TURNED = ORDERS | {operator: operator for operator in ("=", "!=", "is", "is not")}
"""What an operator is when its sides change places."""


def pattern_of(found: list[tuple[Atom, ...]], answer: Iterable[Operand] | None, at: TextPlace) -> Pattern:
    """The pattern of these alternatives; `answer` None means every variable that the text names, in order."""
    branches = tuple(Branch(at).extended(atoms).conjunction() for atoms in found)
    listed = [Operand(variable(name), at) for name in _named(found)] if answer is None else list(answer)
    if len(listed) > MOST_ANSWERS:
        raise at.refused(f"more than {MOST_ANSWERS} variables are asked for", "Ask for those that you need")
    columns: frozenset[str] = frozenset().union(*map(columns_of, branches))
    for operand in listed:
        if branches and operand.node.value not in columns:
            raise operand.at.wrong(
                f"nothing binds the variable {operand.node.value}", "Use it in a triple, or leave it out"
            )
    return Pattern(tuple(dict.fromkeys(operand.node.value for operand in listed)), branches)


def _named(found: list[tuple[Atom, ...]]) -> list[str]:
    statements = [atom for atoms in found for atom in atoms if isinstance(atom, Statement)]
    nodes = [operand.node for atom in statements for operand in (atom.subject, atom.predicate, atom.object)]
    return list(dict.fromkeys(node.value for node in nodes if isinstance(node, Variable) and "·" not in node.value))


class Branch:
    """One conjunction in the making."""

    def __init__(self, at: TextPlace) -> None:
        self._at = at
        self._triples: dict[TriplePattern, None] = {}
        self._conditions: dict[Expression, TextPlace] = {}
        self._bindings: dict[str, Term] = {}
        self._optionals: list[Optional] = []
        self._steps: dict[tuple[Node, NamedNode], Variable] = {}
        self._count = 0

    def extended(self, atoms: Iterable[Atom]) -> Branch:
        """This branch, with these atoms in it."""
        for atom in atoms:
            match atom:
                case Statement():
                    self._state(atom.at, *(part.node for part in (atom.subject, atom.predicate, atom.object)))
                case Comparison():
                    self._compare(atom)
                case Existence():
                    self._value(atom.path)
                case Embedding():
                    self._embed(atom)
        return self

    def conjunction(self) -> Conjunction:
        """The conjunction; refuses a condition on a variable that nothing binds."""
        if not self._triples:
            raise self._at.refused("there is no triple to wait for", "A query needs at least one triple")
        bound = frozenset(name for triple in self._triples for name in triple.variables)
        self._settle_bindings(bound)
        for condition, at in self._conditions.items():
            missing = variables_of(condition) - bound - self._bindings.keys()
            if missing:
                raise at.wrong(f"nothing binds the variable {min(missing)}", "Use it in a triple as well")
        if len(self._conditions) > MOST_CONDITIONS:
            raise self._at.refused(f"the query has more than {MOST_CONDITIONS} conditions", "Split it into several")
        return Conjunction(
            tuple(self._triples), tuple(self._conditions), tuple(self._bindings.items()), tuple(self._optionals)
        )

    def _settle_bindings(self, bound: frozenset[str]) -> None:
        """A variable that is a constant is a condition if triples bind it, and a fixed binding if none does."""
        for name in self._bindings.keys() & bound:
            self._conditions[Call("same", (variable(name), self._bindings.pop(name)))] = self._at  # type: ignore[arg-type]
        for condition in list(self._conditions):
            match condition:
                case Call("same", (Variable() as left, NamedNode() | Literal() as right)) if left.value not in bound:
                    if self._bindings.setdefault(left.value, right) == right:
                        del self._conditions[condition]

    def _state(self, at: TextPlace, subject: Node, predicate: Node, object: Node) -> None:
        self._triples[TriplePattern(subject, predicate, object)] = None
        if len(self._triples) > MOST_TRIPLES:
            raise at.refused(f"the query has more than {MOST_TRIPLES} triples", "Split it into several subscriptions")

    def _compare(self, atom: Comparison) -> None:
        left, right = self._value(atom.left), self._value(atom.right)
        number = atom.left.number or atom.right.number
        self._conditions.setdefault(expression(atom.operator, left, right, number=number), atom.at)

    def _value(self, operand: Operand) -> Variable | NamedNode | Literal:
        node = operand.node
        for step in operand.steps:
            node = self._step(node, step, operand.at)
        return node

    def _step(self, node: Node, step: PropertyStep, at: TextPlace) -> Variable:
        """A property's value: the same one each time, unless the any-operator gives each use its own."""
        key = (node, step.property)
        if not step.any and key in self._steps:
            return self._steps[key]
        value = self._fresh("step")
        if not step.any:
            self._steps[key] = value
        self._state(at, node, step.property, value)
        return value

    def _fresh(self, stem: str) -> Variable:
        self._count += 1
        return variable(f"{stem}·{self._count}")

    def _embed(self, atom: Embedding) -> None:
        assert isinstance(atom.variable.node, Variable)
        names = {name: self._fresh("rule").value for name in sorted(columns_of(atom.conjunction) - {atom.answer})}
        names[atom.answer] = atom.variable.node.value
        part = renamed(atom.conjunction, names)
        for triple in part.triples:
            self._state(atom.at, *triple)
        for condition in part.conditions:
            self._conditions.setdefault(condition, atom.at)
        for name, term in part.bindings:
            self._bind(name, term, atom.at)
        self._optionals.extend(part.optionals)

    def _bind(self, name: str, term: Term, at: TextPlace) -> None:
        """Fix a variable; one that is fixed already must be the same, which a condition says."""
        if self._bindings.setdefault(name, term) != term:
            self._conditions[Call("same", (variable(name), term))] = at  # type: ignore[arg-type]


def expression(operator: str, left: Expression, right: Expression, *, number: bool = False) -> Expression:
    """`left operator right`; `number` says that one of them was written as a bare number.

    A constant on the left changes sides, so that `64 < ?x` is `?x > 64`.
    """
    if not isinstance(left, Variable) and isinstance(right, Variable) and operator in _TURNED:
        operator, left, right = _TURNED[operator], right, left
    if operator in IS_A:
        return Call(operator, (left, right))
    if operator == "starts":
        return Call("starts", (Call("str", (left,)), right))
    if operator == "contains":
        return Call("contains", (Call("str", (left,)), _text(right)))
    if operator == "not contains":
        return Call("not", (expression("contains", left, right),))
    return _ordered_or_equal(operator, left, right, number)


def _ordered_or_equal(operator: str, left: Expression, right: Expression, number: bool) -> Expression:
    if operator == "is" or (operator == "=" and not number):
        return Call("same", (left, right))
    if operator == "is not" or (operator == "!=" and any(isinstance(side, NamedNode) for side in (left, right))):
        return Call("not", (Call("same", (left, right)),))
    return Call("~" + operator, (left, right))


def _text(part: Expression) -> Expression:
    """What is looked for inside a text: only its characters count, not its language or type."""
    return Literal(part.value) if isinstance(part, Literal | NamedNode) else Call("str", (part,))
