"""Conjunctive queries over triples (the continuous queries of the structured overlay paper, section 2; S2).

    ?x, ?y : (?x, author, "Smith") ^ (?x, topic, "P2P") ^ (?x, citation, ?y) ^ ?year > 2003

The variables before the colon are the answer. Conjuncts are joined with `^`, `∧`, `and` or a comma. The paper asks for
one subject that all triples share; here any join is served. There is no `or`: that is what makes it conjunctive.
"""

from __future__ import annotations

from collections.abc import Mapping

from lark import v_args

from triplewire.algebra.pattern import Pattern
from triplewire.languages.branches import pattern_of
from triplewire.languages.context import Context
from triplewire.languages.formula import Formula, Operand, alternatives
from triplewire.languages.grammar import FormulaReader, Grammar
from triplewire.languages.rendering import Printer, checked, printable

LANGUAGE = "conjunctive"
_GRAMMAR = Grammar(LANGUAGE, '?x, ?y : (?x, author, "Smith") ^ (?x, citation, ?y)')


def compile(text: str, context: Context) -> Pattern:
    """The pattern of a conjunctive query."""
    pattern: Pattern = _GRAMMAR.read(text, _Reader(LANGUAGE, context))
    return pattern


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """The query of a pattern that is one conjunction."""
    printer = Printer(LANGUAGE, prefixes)
    branches = printable(pattern, printer)
    if len(branches) != 1:
        raise printer.refused("a conjunctive query has no `or`, and this pattern has several branches")
    head = ", ".join(map(printer.variable, pattern.answer))
    body = printer.triples(branches[0]) + printer.conditions(branches[0])
    return checked(f"{head} : {' ^ '.join(body)}", pattern, printer, compile)


@v_args(inline=True)
class _Reader(FormulaReader):
    def query(self, *parts: Operand | Formula) -> Pattern:
        *answer, formula = parts
        assert not isinstance(formula, Operand)
        found = alternatives(formula)
        if len(found) > 1:
            raise formula.at.refused("a conjunctive query has no `or`", "Subscribe twice, or write it in gql or qel")
        return pattern_of(found, [operand for operand in answer if isinstance(operand, Operand)], formula.at)
