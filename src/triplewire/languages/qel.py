"""The subscription language of the peer-to-peer paper: a subset of QEL, datalog over triples (P1).

    ans(X, Y) :- (X, rdf:type, dc:article) ∧ (X, dc:creator, Y) ∧ (X, dc:date, Z)
                 ∧ (Y contains 'Nejdl' or Y contains 'Koubarakis') ∧ Z > 2002

Variables start with a capital letter, or are written `?x`; so a name that starts with a capital has a colon before it,
`:Article`. Definition 2 asks for one resource: all triples have the same variable as their subject, and no object
variable occurs twice. The constraint compares object variables with constants; `and` (`∧`, `&`, `^`, a comma), `or`
(`|`, or the sign of logic) and parentheses put it together. A constant in an object's place is short for a variable
that equals it. Without a head, all variables are the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lark import Token, v_args
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.pattern import Call, Conjunction, Node, Pattern, TriplePattern, variable
from triplewire.algebra.substitution import replace_variables
from triplewire.languages.branches import pattern_of
from triplewire.languages.context import Context
from triplewire.languages.formula import Comparison, Formula, Operand, Statement, alternatives
from triplewire.languages.grammar import FormulaReader, Grammar
from triplewire.languages.rendering import Printer, any_of, checked, fresh_names, printable

LANGUAGE = "qel"
_GRAMMAR = Grammar(LANGUAGE, "ans(X) :- (X, dc:creator, Y) and (X, dc:date, Z) and Y contains 'Nejdl' and Z > 2002")


def compile(text: str, context: Context) -> Pattern:
    """The pattern of a query about one resource."""
    pattern: Pattern = _GRAMMAR.read(text, _Reader(LANGUAGE, context))
    return pattern


@v_args(inline=True)
class _Reader(FormulaReader):
    def name(self, token: Token) -> Operand:
        """A capital letter makes a variable of a bare name."""
        if not token[0].isupper() or ":" in token:
            return super().name(token)
        if "-" in token:
            raise self.at(token).wrong(f"{token} is no variable", f"For the name, write :{token}")
        return self.variable(token)

    def head(self, _: Token, *listed: Operand) -> tuple[Operand, ...]:
        for operand in listed:
            if not isinstance(operand.node, Variable):
                raise operand.at.wrong("a head lists variables", "Variables start with a capital letter, or with ?")
        return listed

    def query(self, *parts: tuple[Operand, ...] | Formula) -> Pattern:
        formula, head = parts[-1], parts[0] if len(parts) > 1 else None
        assert not isinstance(formula, tuple)
        found = alternatives(formula)
        for atoms in found:
            statements = [atom for atom in atoms if isinstance(atom, Statement)]
            _check_one_resource(statements)
            _check_constraint(atom for atom in atoms if isinstance(atom, Comparison))
            if statements != [atom for atom in found[0] if isinstance(atom, Statement)]:
                raise formula.at.refused("triples cannot stand under `or`", "Put the constraint in parentheses")
        return pattern_of(found, head if isinstance(head, tuple) else None, formula.at)


def _check_one_resource(statements: list[Statement]) -> None:
    objects: set[Node] = set()
    for statement in statements:
        subject, object = statement.subject, statement.object
        if not isinstance(subject.node, Variable) or subject.node != statements[0].subject.node:
            raise subject.at.refused(
                "all triples are about one resource, a variable", "Write joins in conjunctive or gql"
            )
        if not isinstance(statement.predicate.node, NamedNode):
            raise statement.predicate.at.refused("predicates are names in this language", "Write it in gql")
        if isinstance(object.node, Variable) and object.node in objects | {subject.node}:
            raise object.at.refused("each object is a variable of its own", "Write joins in conjunctive or gql")
        objects.add(object.node)


def _check_constraint(comparisons: Iterable[Comparison]) -> None:
    for comparison in comparisons:
        if isinstance(comparison.left.node, Variable) and isinstance(comparison.right.node, Variable):
            raise comparison.at.refused(
                "a constraint compares a variable with a constant", "Compare variables in conjunctive or gql"
            )


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """The query of a pattern about one resource, whose branches differ in their conditions only."""
    printer = Printer(LANGUAGE, prefixes, capitals=True, bare=lambda local: not local[0].isupper())
    branches = printable(pattern, printer)
    aligned = _aligned(branches, pattern.answer, printer)
    head = ", ".join(map(printer.variable, pattern.answer))
    formula = printer.triples(aligned[0]) + any_of([printer.conditions(branch) for branch in aligned], printer)
    return checked(f"ans({head}) :- {' and '.join(formula)}", pattern, printer, compile)


def _aligned(branches: list[Conjunction], answer: tuple[str, ...], printer: Printer) -> list[Conjunction]:
    """The branches, all with the same triples.

    Normal form writes `Y = 'a' or Y = 'b'` as two branches with a constant each; here the constants become
    conditions again. Objects of one predicate are paired in their order.
    """
    if any(branch.bindings for branch in branches):
        raise printer.refused("a variable of the answer stands in no triple")
    tables = [
        sorted(branch.triples, key=lambda t: (str(t.predicate), isinstance(t.object, Variable), str(t.object)))
        for branch in branches
    ]
    if len({tuple(triple.predicate for triple in table) for table in tables}) != 1:
        raise printer.refused("the branches of this pattern have different predicates")
    spare = fresh_names("V", answer)
    subject = _one_node([table[0].subject for table in tables], answer, spare)
    triples = tuple(
        TriplePattern(subject, row[0].predicate, _one_node([triple.object for triple in row], answer, spare))
        for row in zip(*tables, strict=True)
    )
    return [_moved(branch, table, triples) for branch, table in zip(branches, tables, strict=True)]


def _one_node(nodes: list[Node], answer: tuple[str, ...], spare: Iterator[str]) -> Node:
    """What stands in one place of all branches: the constant that it is in each, or a variable."""
    if len(set(nodes)) == 1 and not isinstance(nodes[0], Variable):
        return nodes[0]
    listed = [node for node in nodes if isinstance(node, Variable) and node.value in answer]
    return listed[0] if listed else variable(next(spare))


def _moved(branch: Conjunction, table: list[TriplePattern], triples: tuple[TriplePattern, ...]) -> Conjunction:
    """The branch over other triples, place by place; a constant that is a variable there becomes a condition."""
    swap: dict[str, Node] = {}
    constants: list[Call] = []
    for old, new in zip(table, triples, strict=True):
        for before, after in ((old.subject, new.subject), (old.object, new.object)):
            if isinstance(before, Variable):
                swap[before.value] = after
            elif before != after and isinstance(before, NamedNode | Literal) and isinstance(after, Variable):
                constants.append(Call("same", (after, before)))
    moved = [replace_variables(condition, swap) for condition in branch.conditions]
    return Conjunction(triples, (*moved, *constants))
