"""From a pattern back to SPARQL text: compiling it again gives the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.algebra.pattern import (
    LOOSE,
    STRICT,
    Call,
    Conjunction,
    Expression,
    Node,
    Pattern,
    TriplePattern,
    columns_of,
)
from triplewire.errors import UnsupportedQuery
from triplewire.languages.sparql.faults import LANGUAGE
from triplewire.languages.sparql.operations import SERVED
from triplewire.languages.sparql.tokens import LOCAL_NAME, VARIABLE_NAME
from triplewire.model import RDF, RDFS, XSD, Term

_ASCENTS: Final = {"descendant-or-self": "*", "descendant": "+"}
_INFIX: Final = {name: name for name in (*STRICT, "+", "-", "*", "/")} | {"and": "&&", "or": "||"}
_PREFIX: Final = {"not": "!", "negate": "-"}
_FUNCTIONS: Final = {function: name for name, function in reversed(SERVED.items())}
_PLAIN: Final = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?([0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """SPARQL that means the pattern, with names shortened; UnsupportedQuery if SPARQL cannot say it."""
    writer = _Writer(pattern, prefixes)
    groups = [list(writer.group(branch)) for branch in pattern.branches]
    head = "SELECT " + " ".join(writer.variable(name) for name in pattern.answer) if pattern.answer else "ASK"
    lines = [f"{head} WHERE {{", *_indented(_united(groups)), "}"]
    return "\n".join([*writer.prologue(), *lines]) + "\n"


def _united(groups: list[list[str]]) -> list[str]:
    if not groups:
        return ["FILTER(false)"]
    if len(groups) == 1:
        return groups[0]
    lines = [line for group in groups for line in ("} UNION {", *_indented(group))]
    return ["{", *lines[1:], "}"]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _cannot(what: str) -> UnsupportedQuery:
    return UnsupportedQuery(
        f"{what} cannot be said in SPARQL", language=LANGUAGE, hint="Print the pattern in the language it came from"
    )


class _Writer:
    """Writes terms with the prefixes that help, and remembers which of them did."""

    def __init__(self, pattern: Pattern, prefixes: Mapping[str, str]) -> None:
        self._namespaces = sorted(((space, prefix) for prefix, space in prefixes.items()), key=lambda p: -len(p[0]))
        self._used: dict[str, str] = {}
        self._variables = _spellings(pattern)

    def prologue(self) -> list[str]:
        return [f"PREFIX {prefix}: <{space}>" for prefix, space in sorted(self._used.items())]

    def group(self, branch: Conjunction) -> Iterator[str]:
        """A conjunction's lines. VALUES come first and OPTIONAL last, because SPARQL reads them in order."""
        if branch.bindings:
            names = " ".join(self.variable(name) for name, _ in branch.bindings)
            yield f"VALUES ({names}) {{ ({' '.join(self.node(term) for _, term in branch.bindings)}) }}"
        yield from self._body(branch.triples, branch.conditions)
        for optional in branch.optionals:
            yield f"OPTIONAL {{ {' '.join(self._body(optional.triples, optional.conditions))} }}"

    def _body(self, triples: tuple[TriplePattern, ...], conditions: tuple[Expression, ...]) -> Iterator[str]:
        yield from (self._triple(triple) for triple in triples)
        yield from (self._condition(condition) for condition in conditions)

    def _triple(self, triple: TriplePattern) -> str:
        if isinstance(triple.predicate, Literal):
            raise _cannot("a literal as a predicate")
        verb = "a" if triple.predicate == NamedNode(RDF + "type") else self.node(triple.predicate)
        return f"{self.node(triple.subject)} {verb} {self.node(triple.object)} ."

    def _condition(self, condition: Expression) -> str:
        if isinstance(condition, Call) and condition.function in _ASCENTS:
            below, above = condition.arguments
            if isinstance(below, Call) or isinstance(above, Call | Variable):
                raise _cannot(f"{condition}")
            path = self.node(NamedNode(RDFS + "subClassOf")) + _ASCENTS[condition.function]
            return f"{self.node(below)} {path} {self.node(above)} ."
        return f"FILTER({self._expression(condition)})"

    def _expression(self, expression: Expression) -> str:
        if not isinstance(expression, Call):
            return self.node(expression)
        name, arguments = expression.function, expression.arguments
        if name in _INFIX:
            return f" {_INFIX[name]} ".join(self._operand(argument) for argument in arguments)
        if name in _PREFIX:
            return f"{_PREFIX[name]}({self._expression(arguments[0])})"
        if name in _FUNCTIONS:
            return f"{_FUNCTIONS[name]}({', '.join(self._expression(argument) for argument in arguments)})"
        raise _cannot("a comparison of text as numbers" if name in LOOSE else f"{name} inside an expression")

    def _operand(self, expression: Expression) -> str:
        text = self._expression(expression)
        return f"({text})" if isinstance(expression, Call) and expression.function in _INFIX else text

    def node(self, node: Node | Term) -> str:
        if isinstance(node, Variable):
            return self.variable(node.value)
        if isinstance(node, NamedNode):
            return self._name(node)
        if isinstance(node, BlankNode):
            raise _cannot("one particular blank node")
        return self._literal(node)

    def variable(self, name: str) -> str:
        """A variable, under a name that SPARQL takes."""
        return "?" + self._variables[name]

    def _name(self, node: NamedNode) -> str:
        for space, prefix in self._namespaces:
            local = node.value[len(space) :]
            if node.value.startswith(space) and (not local or LOCAL_NAME.fullmatch(local)):
                self._used[prefix] = space
                return f"{prefix}:{local}"
        return str(node)

    def _literal(self, literal: Literal) -> str:
        if literal.direction is not None:
            raise _cannot("a text with a base direction")
        plain = _PLAIN.get(literal.datatype.value)
        if plain is not None and plain.fullmatch(literal.value):
            return literal.value
        if literal.language is not None or literal.datatype == NamedNode(XSD + "string"):
            return str(literal)
        return f"{Literal(literal.value)}^^{self._name(literal.datatype)}"


def _spellings(pattern: Pattern) -> dict[str, str]:
    """A name for each variable: its own where SPARQL takes it; hidden variables may get another one."""
    names = dict.fromkeys(name for branch in pattern.branches for name in sorted(columns_of(branch)))
    names |= dict.fromkeys(pattern.answer)
    fresh = (name for name in (f"v{n}" for n in count(1)) if name not in names)
    for name in pattern.answer:
        if not VARIABLE_NAME.fullmatch(name):
            raise _cannot(f"the column {name!r}")
    return {name: name if VARIABLE_NAME.fullmatch(name) else next(fresh) for name in names}
