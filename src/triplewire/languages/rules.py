"""MDV's rule language (section 2.3; M3).

    search    CycleProvider c, ServerInformation s
    register  c
    where     c.serverHost contains 'uni-passau.de'
              and c.serverInformation = s and (s.memory > 64 or s.cpu >= 600)

An extension is a class, or the name of another rule, whose resources are taken. `register` lists the answer.
Predicates compare paths, variables and constants with `= != < <= > >= contains`; `and`, `or`, `not` and parentheses
put them together; a path alone asks for any value. A variable that is compared with a quoted text is meant by its
URI: `c = 'http://example.org/doc.rdf#host'`.

Paths. Without `?`, a property has one value, as in MDV's schema: all uses of `c.serverInformation` in one rule mean
the same resource. With the any-operator, `c.keyword? = 'rdf' and c.keyword? = 'xml'`, each use ranges over the
property's values by itself. A constant that is a name is written with its colon or brackets (`:Linux`, `<urn:x>`),
because a bare word is a variable.

Several rules in one text are named, `RuleA: search …; RuleB: search RuleA a …`, for `compile_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lark import Token, v_args
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Pattern
from triplewire.languages.branches import pattern_of
from triplewire.languages.context import Context
from triplewire.languages.formula import (
    TYPE,
    Comparison,
    Embedding,
    Existence,
    Formula,
    Operand,
    PropertyStep,
    Statement,
    alternatives,
    atoms_of,
    either,
    every,
)
from triplewire.languages.grammar import FormulaReader, Grammar
from triplewire.languages.paths import rule_text
from triplewire.languages.places import TextPlace
from triplewire.languages.rendering import Printer, checked
from triplewire.model import XSD

LANGUAGE = "rules"
_EXAMPLE = "search CycleProvider c register c where c.serverInformation.memory > 64"
_GRAMMAR = Grammar(LANGUAGE, _EXAMPLE, starts=("rule", "rulebook"))


def compile(text: str, context: Context) -> Pattern:
    """The pattern of one rule."""
    rule: _Rule = _GRAMMAR.read(text, _Reader(LANGUAGE, context))
    return rule.pattern(context.named)


def compile_rules(text: str, context: Context) -> dict[str, Pattern]:
    """The patterns of several named rules, in normal form; each may use those before it, and the context's."""
    context.check(text, LANGUAGE)
    named: dict[str, Pattern] = {}
    for label, rule in _GRAMMAR.read(text, _Reader(LANGUAGE, context), "rulebook"):
        if label in named:
            raise rule.at.wrong(f"there are two rules named {label}", "Give each rule a name of its own")
        named[label] = normalize(rule.pattern({**context.named, **named}))
    return named


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """The rule of a pattern whose answers have classes, and whose other variables are reached by paths."""
    printer = Printer(LANGUAGE, prefixes, bare=lambda local: False)
    return checked(rule_text(pattern, printer), pattern, printer, compile)


@dataclass(frozen=True, slots=True)
class _Extension:
    name: str
    iri: Operand | None
    variable: Operand

    def formula(self, named: Mapping[str, Pattern]) -> Formula:
        """What makes a resource an element of the extension: its class, or being an answer of the other rule."""
        variable, at = self.variable, self.variable.at
        if self.name not in named:
            assert self.iri is not None
            return Statement(variable, Operand(TYPE, at), self.iri, at)
        pattern = named[self.name]
        if len(pattern.answer) != 1 and pattern.branches:
            raise at.refused(f"the rule {self.name} registers several variables", "Use a rule that registers one")
        return either([Embedding(branch, pattern.answer[0], variable, at) for branch in pattern.branches], at)


@dataclass(frozen=True, slots=True)
class _Rule:
    extensions: tuple[_Extension, ...]
    registered: tuple[Operand, ...]
    where: Formula | None
    at: TextPlace

    def pattern(self, named: Mapping[str, Pattern]) -> Pattern:
        searched = [extension.variable.node for extension in self.extensions]
        if len(set(searched)) < len(searched):
            raise self.at.wrong("a variable is searched twice", "Give each extension a variable of its own")
        used = [*self.registered, *(_variables(self.where) if self.where else ())]
        for operand in used:
            if operand.node not in searched:
                names = ", ".join(node.value for node in searched)
                raise operand.at.wrong(
                    f"`{operand.node.value}` is not searched; the variables are {names}",
                    f"For the name, write :{operand.node.value}",
                )
        parts = [extension.formula(named) for extension in self.extensions]
        formula = every([*parts, *([self.where] if self.where else [])], self.at)
        return pattern_of(alternatives(formula), self.registered, self.at)


def _variables(where: Formula) -> list[Operand]:
    sides = [
        operand
        for atom in atoms_of(where)
        for operand in ((atom.left, atom.right) if isinstance(atom, Comparison) else (getattr(atom, "path", None),))
    ]
    return [operand for operand in sides if operand is not None and isinstance(operand.node, Variable)]


@v_args(inline=True)
class _Reader(FormulaReader):
    def rulebook(self, *rules: tuple[str, _Rule]) -> tuple[tuple[str, _Rule], ...]:
        return rules

    def labelled(self, label: Token, rule: _Rule) -> tuple[str, _Rule]:
        return str(label), rule

    def rule(self, *parts: _Extension | tuple[Operand, ...] | Formula) -> _Rule:
        extensions = tuple(part for part in parts if isinstance(part, _Extension))
        registered = next(part for part in parts if isinstance(part, tuple))
        where = None if isinstance(parts[-1], tuple | _Extension) else parts[-1]
        return _Rule(extensions, registered, where, extensions[0].variable.at)

    def extension(self, token: Token, variable: Operand) -> _Extension:
        iri = None if token in self.context.named else self.name(token)
        return _Extension(str(token), iri, variable)

    def registered(self, *variables: Operand) -> tuple[Operand, ...]:
        return variables

    def root(self, token: Token) -> Operand:
        return self.variable(token)

    def step(self, property: Operand, any: Token | None = None) -> PropertyStep:
        assert isinstance(property.node, NamedNode)
        return PropertyStep(property.node, any is not None)

    def path(self, root: Operand, *steps: PropertyStep) -> Operand:
        return replace(root, steps=steps)

    def exists(self, path: Operand) -> Formula:
        if not path.steps:
            raise path.at.wrong(f"`{path.node.value}` alone says nothing", "Compare it, or give it a property")
        return Existence(path, path.at)

    def comparison(self, left: Operand, operator: Token, right: Operand) -> Formula:
        """A comparison; a resource is compared with a quoted text by its URI (the OID rules of figure 10)."""
        if operator in ("=", "!=", "≠"):
            left, right = _as_resource(left, right), _as_resource(right, left)
        return super().comparison(left, operator, right)


def _as_resource(operand: Operand, other: Operand) -> Operand:
    node = operand.node
    if not isinstance(node, Literal) or node.datatype.value != XSD + "string" or operand.number:
        return operand
    if not isinstance(other.node, Variable) or other.steps:
        return operand
    try:
        return replace(operand, node=NamedNode(node.value))
    except ValueError as error:
        raise operand.at.wrong(f"{node.value!r} is not an IRI: {error}", "Write the whole IRI") from None
