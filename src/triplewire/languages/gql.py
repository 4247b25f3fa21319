"""GQL, the subscription language of G-ToPSS (figure 12; G1, G3, G7).

    SELECT ?x, ?page
    WHERE (?page, Project, G-ToPSS), (G-ToPSS, Supervisor, Arno Jacobsen), (G-ToPSS, YEAR, ?x)
    SUCHTHAT (?x > 2000), (?page isa Academia)

A single bare word is a name, several are a text, as in the figure. A number in an object's place stands for every
text that is this number. Nothing or `*` after SELECT asks for all variables. Conditions are joined with commas, `and`,
`or` and `not`. Variables may stand for predicates; the predicate `member` (or `rdf:_*`) is every container membership
property, `rdf:_1`, `rdf:_2` and so on.

Is-a. `?x isa C` (or `descendantOf`, or the paper's `?x <= C`) holds for instances and descendants of the class C, `?x
ancestorOf C` (`>=`) for its ancestors and their instances, `?x instanceOf C` (`=`) for direct instances. The
taxonomy may list the instances, or the document may type them with `rdf:type` (section 3.4); both count, so an is-a
condition has two ways to hold. One that looks only at the taxonomy is `below`, `atOrBelow`, `above` or
`directlyBelow`.
To be a certain resource is `?x is <iri>`, because `=` with a name is is-a. UNION adds another WHERE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lark import Token, v_args
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import Call, Conjunction, Expression, Pattern
from triplewire.errors import UnsupportedQuery
from triplewire.languages.branches import pattern_of
from triplewire.languages.context import Context
from triplewire.languages.formula import (
    ORDERS,
    TYPE,
    Comparison,
    Formula,
    Operand,
    Statement,
    alternatives,
    either,
    every,
)
from triplewire.languages.grammar import FormulaReader, Grammar
from triplewire.languages.rendering import Printer, checked, printable
from triplewire.model import RDF

LANGUAGE = "gql"
_GRAMMAR = Grammar(LANGUAGE, "SELECT ?x WHERE (?page, Project, G-ToPSS), (G-ToPSS, YEAR, ?x) SUCHTHAT (?x > 2000)")
_MEMBERSHIP = Literal(RDF + "_")

_SIGNS = {"<=": "isa", ">=": "ancestorof", "=": "instanceof"}
_BOTH_WAYS = {
    "isa": ("descendant", "descendant-or-self"),
    "descendantof": ("descendant", "descendant-or-self"),
    "ancestorof": ("ancestor", "ancestor"),
    "instanceof": ("child", "is"),
}
"""For each is-a relation: how the taxonomy relates the resource itself, and how the type that the document gives it."""

_ONE_WAY = {
    "below": "descendant",
    "atorbelow": "descendant-or-self",
    "above": "ancestor",
    "directlybelow": "child",
    "is": "is",
}
_PLAIN_WORDS = {"descendant": "below", "descendant-or-self": "atOrBelow", "ancestor": "above", "child": "directlyBelow"}
_IS_A_WORDS = {"descendant": "isa", "ancestor": "ancestorOf", "child": "instanceOf"}


def compile(text: str, context: Context) -> Pattern:
    """The pattern of a GQL query."""
    pattern: Pattern = _GRAMMAR.read(text, _Reader(LANGUAGE, context))
    return pattern


@v_args(inline=True)
class _Reader(FormulaReader):
    def query(self, *parts: tuple[Operand, ...] | Formula) -> Pattern:
        blocks = [part for part in parts if not isinstance(part, tuple)]
        selected = parts[0] if isinstance(parts[0], tuple) else ()
        formula = either(blocks, blocks[0].at)
        return pattern_of(alternatives(formula), selected or None, formula.at)

    def selected(self, *listed: Operand | Token) -> tuple[Operand, ...]:
        return tuple(operand for operand in listed if isinstance(operand, Operand))

    def block(self, *parts: Formula) -> Formula:
        return every(parts, parts[0].at)

    def edge(self, subject: Operand, predicate: Operand | Token, object: Operand) -> Formula:
        if isinstance(predicate, Operand):
            return self.statement(subject, predicate, object)
        property = self.fresh("member", subject.at)
        is_membership = Comparison("starts", property, Operand(_MEMBERSHIP, subject.at), subject.at)
        return every([self.statement(subject, property, object), is_membership], subject.at)

    def member(self, token: Token) -> Token:
        return token

    def words(self, *tokens: Token) -> Operand:
        return Operand(Literal(" ".join(tokens)), self.at(tokens[0]))

    def comparison(self, left: Operand, operator: Token, right: Operand) -> Formula:
        """A comparison; with a name on one side, it is is-a."""
        found = super().comparison(left, operator, right)
        assert isinstance(found, Comparison)
        sign = found.operator
        if isinstance(left.node, NamedNode):
            sign, left, right = ORDERS.get(sign, sign), right, left
        if not isinstance(right.node, NamedNode):
            return found
        if sign not in _SIGNS:
            hint = "To differ from a resource is written: not ?x is <iri>"
            raise found.at.wrong(f"{operator} does not go with a name", hint)
        return self._is_a(_SIGNS[sign], left, right)

    def relation(self, subject: Operand, relation: Token, other: Operand) -> Formula:
        return self._is_a(relation.lower(), subject, other)

    def _is_a(self, relation: str, subject: Operand, other: Operand) -> Formula:
        if relation in _ONE_WAY:
            return Comparison(_ONE_WAY[relation], subject, other, subject.at)
        in_taxonomy, of_type = _BOTH_WAYS[relation]
        kind = self.fresh("type", subject.at)
        typed = Statement(subject, Operand(TYPE, subject.at), kind, subject.at)
        ways = (
            Comparison(in_taxonomy, subject, other, subject.at),
            every([typed, Comparison(of_type, kind, other, subject.at)], subject.at),
        )
        return either(ways, subject.at)


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """The query of a pattern: with is-a where branches are its two ways, and with UNION for other branches.

    Whether they are is found by trying: of the ways of is-a, the branches that ask the taxonomy most are printed.
    """
    shortest = Printer(LANGUAGE, prefixes, sameness="is", relations=_IS_A_WORDS)
    branches = printable(pattern, shortest)
    most = max(map(_questions, branches))
    try:
        chosen = [branch for branch in branches if _questions(branch) == most]
        return checked(_query(pattern, chosen, shortest), pattern, shortest, compile)
    except UnsupportedQuery:
        plain = replace(shortest, relations=_PLAIN_WORDS)
        return checked(_query(pattern, branches, plain), pattern, plain, compile)


def _questions(branch: Conjunction) -> int:
    """How many conditions could be the taxonomy's side of an is-a, which asks about no type that the document gives."""
    types = {triple.object for triple in branch.triples if triple.predicate == TYPE}
    calls = [condition for condition in branch.conditions if isinstance(condition, Call)]
    return sum(call.function in _IS_A_WORDS and call.arguments[0] not in types for call in calls)


def _query(pattern: Pattern, branches: list[Conjunction], printer: Printer) -> str:
    head = ", ".join(map(printer.variable, pattern.answer))
    return f"SELECT {head} {' UNION '.join(_block(branch, printer) for branch in branches)}"


def _block(branch: Conjunction, printer: Printer) -> str:
    memberships = {name: c for c in branch.conditions if (name := _membership(c)) is not None}
    rest = tuple(condition for condition in branch.conditions if condition not in memberships.values())
    triples = replace(printer, paths=dict.fromkeys(memberships, "member")).triples(branch)
    conditions = printer.conditions(replace(branch, conditions=rest))
    such = f" SUCHTHAT {', '.join(f'({condition})' for condition in conditions)}" if conditions else ""
    return f"WHERE {', '.join(triples)}{such}"


def _membership(condition: Expression) -> str | None:
    """The variable that a condition makes a container membership property."""
    match condition:
        case Call("starts", (Call("str", (Variable() as property,)), Literal() as text)) if text == _MEMBERSHIP:
            return property.value
    return None
