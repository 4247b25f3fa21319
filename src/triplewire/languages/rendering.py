"""From patterns back to text: what the printers of the papers' languages share.

A language prints what it can and refuses the rest with a reason. Every text is compiled again before it is given out
(`checked`), so a text that means anything else than its pattern is never shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import (
    LOOSE,
    Call,
    Conjunction,
    Expression,
    Node,
    Pattern,
    TriplePattern,
    columns_of,
    variable,
)
from triplewire.algebra.pattern import render as spelled
from triplewire.algebra.substitution import renamed
from triplewire.errors import QueryError, UnsupportedQuery
from triplewire.languages.context import Context, namespaces
from triplewire.languages.formula import TYPE
from triplewire.model import XSD, Term

_KEYWORDS = frozenset(
    ("and", "or", "not", "contains", "search", "register", "where", "select", "suchthat", "union", "member")
)
_WORD = re.compile(r"[^\W\d]\w*\Z")
_LOCAL = re.compile(r"\w[\w-]*\Z")
_NAME = re.compile(r"[^\W\d][\w-]*\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\Z")
_NUMERIC = frozenset(XSD + kind for kind in ("integer", "decimal", "double"))


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes terms, triples and conditions as one language does.

    `bare` says which names may stand without a colon as operands; `sameness` is the word for being a certain resource;
    `capitals` that a variable with a capital needs no question mark; `relations` are words for functions of two
    arguments; `paths` has the texts of variables that are not written by their names.
    """

    language: str
    prefixes: Mapping[str, str]
    bare: Callable[[str], bool] = lambda local: True
    sameness: str = "="
    capitals: bool = False
    relations: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    def refused(self, reason: str) -> UnsupportedQuery:
        """The error for a pattern that the language cannot say."""
        return UnsupportedQuery(reason, language=self.language, hint="Every pattern can be written in sparql")

    def variable(self, name: str) -> str:
        """A variable, or the path that it is the value of."""
        if name in self.paths:
            return self.paths[name]
        if not _WORD.match(name):
            raise self.refused(f"?{name} cannot be the name of a variable in this language")
        return name if self.capitals and name[0].isupper() else f"?{name}"

    def name(self, iri: NamedNode, bare: Callable[[str], bool] | None = None) -> str:
        """An IRI as shortly as the prefixes allow."""
        for prefix, namespace in sorted(namespaces(self.prefixes).items(), key=lambda pair: -len(pair[1])):
            local = iri.value.removeprefix(namespace)
            if iri.value != local and _LOCAL.match(local) and (prefix == "" or _NAME.match(prefix)):
                if prefix == "" and _NAME.match(local) and not is_keyword(local) and (bare or self.bare)(local):
                    return local
                return f"{prefix}:{local}"
        return str(iri)

    def literal(self, literal: Literal) -> str:
        """A literal as exactly this term."""
        datatype = literal.datatype
        if literal.language is not None or datatype.value == XSD + "string":
            return str(literal)
        return f"{Literal(literal.value)}^^{self.name(datatype)}"

    def operand(self, node: Node | Expression, loose: bool = False) -> str:
        """A place of a triple, or a side of a comparison; `loose` writes numbers bare."""
        if isinstance(node, Variable):
            return self.variable(node.value)
        if isinstance(node, NamedNode):
            return self.name(node)
        if isinstance(node, Literal):
            return node.value if loose and _is_number(node) else self.literal(node)
        raise self.refused(f"{node} is nothing that this language can compare")

    def triples(self, branch: Conjunction) -> list[str]:
        """All triples of a branch, each in parentheses."""
        return [f"({', '.join(map(self.operand, triple))})" for triple in branch.triples]

    def conditions(self, branch: Conjunction) -> list[str]:
        """All conditions of a branch, fixed bindings among them."""
        fixed = [Call("same", (variable(name), term)) for name, term in _constants(branch)]
        return [self.condition(condition) for condition in (*branch.conditions, *fixed)]

    def condition(self, condition: Expression) -> str:
        """A condition, the inverse of `branches.expression`."""
        match condition:
            case Call("not", (Call("contains") as inner,)):
                return f"not {self.condition(inner)}"
            case Call("not", (Call("same", (left, NamedNode() as right)),)):
                if self.sameness == "=":
                    return f"{self.operand(left)} != {self.operand(right)}"
                return f"not {self.operand(left)} {self.sameness} {self.operand(right)}"
            case Call("same", (left, right)):
                sign = self.sameness if isinstance(right, NamedNode) else "="
                return f"{self.operand(left)} {sign} {self.operand(right)}"
            case Call("contains", (Literal() | Call("str") as left, Literal() | Call("str") as right)):
                return f"{self.operand(_inside(left))} contains {self.operand(_inside(right))}"
            case Call(function, (left, right)) if function in self.relations:
                return f"{self.operand(left)} {self.relations[function]} {self.operand(right)}"
            case Call(function, (left, right)) if function in LOOSE:
                return f"{self.operand(left, True)} {function[1:]} {self.operand(right, True)}"
        raise self.refused(f"this language has no words for {spelled(condition)}")


def _inside(text: Literal | Call) -> Expression:
    """What a text is of: normal form has taken `str` from constants already."""
    return text.arguments[0] if isinstance(text, Call) else text


def is_keyword(word: str) -> bool:
    """True for a word that a language may read as its own."""
    return word.lower() in _KEYWORDS


def _is_number(literal: Literal) -> bool:
    return literal.datatype.value in _NUMERIC and _NUMBER.match(literal.value) is not None


def any_of(alternatives: list[list[str]], printer: Printer) -> list[str]:
    """Conditions that say: all of at least one of these lists. What all lists share is said once."""
    if len(alternatives) == 1:
        return alternatives[0]
    shared = [part for part in alternatives[0] if all(part in other for other in alternatives)]
    rest = [[part for part in other if part not in shared] for other in alternatives]
    if not all(rest):
        shared, rest = [], alternatives
    if not all(rest):
        raise printer.refused("one branch of this pattern has no condition")
    groups = [parts[0] if len(parts) == 1 else f"({' and '.join(parts)})" for parts in rest]
    return [*shared, f"({' or '.join(groups)})"]


def printable(pattern: Pattern, printer: Printer) -> list[Conjunction]:
    """The branches with names that can be written, and with conditions in place of fixed bindings."""
    if not pattern.branches:
        raise printer.refused("this pattern can never match")
    if not all(branch.triples for branch in pattern.branches):
        raise printer.refused("this pattern has a branch without triples")
    if any(branch.optionals for branch in pattern.branches):
        raise printer.refused("this language has no optional parts")
    if not pattern.answer:
        raise printer.refused("a query of this language asks for at least one variable")
    return [unbound(_writable(branch, pattern.answer)) for branch in pattern.branches]


def _writable(branch: Conjunction, answer: Iterable[str]) -> Conjunction:
    columns = columns_of(branch)
    spare = fresh_names("v", columns | set(answer))
    names = {name: next(spare) for name in sorted(columns - set(answer)) if not _WORD.match(name)}
    return renamed(branch, names) if names else branch


def fresh_names(stem: str, taken: Iterable[str]) -> Iterator[str]:
    """stem1, stem2, … without those that are taken."""
    used = frozenset(taken)
    return (name for number in count(1) if (name := f"{stem}{number}") not in used)


def unbound(branch: Conjunction) -> Conjunction:
    """The same conjunction with variables in the triples, and conditions that say which constants they are.

    A binding whose constant is in no triple stays one.
    """
    triples = branch.triples
    for name, term in branch.bindings:
        triples = _lifted(triples, term, variable(name))
    placed = {name for triple in triples for name in triple.variables}
    same = tuple(Call("same", (variable(name), term)) for name, term in _constants(branch) if name in placed)
    kept = tuple(pair for pair in branch.bindings if pair[0] not in placed)
    return Conjunction(triples, branch.conditions + same, kept, branch.optionals)


def _constants(branch: Conjunction) -> list[tuple[str, NamedNode | Literal]]:
    return [(name, term) for name, term in branch.bindings if isinstance(term, NamedNode | Literal)]


def _lifted(triples: tuple[TriplePattern, ...], term: Term, name: Variable) -> tuple[TriplePattern, ...]:
    """The triples with the variable for the constant: wherever it is a resource, or the first time it is a value.

    As a class it stays, because a rule searches classes by their names.
    """
    subjects = {i for i, triple in enumerate(triples) if triple.subject == term}
    objects = [i for i, triple in enumerate(triples) if triple.object == term]
    values = {i for i in objects if triples[i].predicate != TYPE} if subjects else set(objects[:1])
    return tuple(
        TriplePattern(name if i in subjects else subject, predicate, name if i in values else object)
        for i, (subject, predicate, object) in enumerate(triples)
    )


def checked(text: str, pattern: Pattern, printer: Printer, compile: Callable[[str, Context], Pattern]) -> str:
    """The text, once compiling it has given the pattern again."""
    try:
        again = compile(text, Context(prefixes=dict(printer.prefixes)))
    except QueryError as error:
        raise printer.refused(error.reason) from None
    if normalize(again) != normalize(pattern):
        raise printer.refused("this language has no words for this pattern")
    return text
