"""From text to formulas: the grammars of the papers' languages, and the errors that a person can act on.

A grammar is `formula.lark` followed by the language's own file, parsed with LALR(1) and a contextual lexer: linear in
the text, and no depth of nesting is too deep for it. Nothing that lark raises leaves this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer_NonRecursive, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from pyoxigraph import BaseDirection, Literal, NamedNode, Variable

from triplewire.algebra.pattern import variable
from triplewire.errors import QuerySyntaxError
from triplewire.languages.context import Context, namespaces
from triplewire.languages.formula import Comparison, Formula, Operand, Statement, either, every, negation
from triplewire.languages.places import TextPlace
from triplewire.model import XSD, parse_term
from triplewire.model.prefixes import how_to_give

_SPELLINGS = {"≠": "!=", "≤": "<=", "≥": ">=", "⊒": "contains"}
"""The printed signs of the papers, and what is typed for them."""
_WORDS = {
    "OPERATOR": "a comparison (= != < <= > >= contains)",
    "RELATION": "an is-a relation (isa, instanceOf, ancestorOf)",
    "_COMMA": "a comma",
    "_OPEN": "an opening parenthesis",
    "_CLOSE": "a closing parenthesis",
    "_TYPED": "^^ and a type",
    "NAME": "a name",
    "PREFIXED": "a name",
    "IRI": "a name",
    "VARIABLE": "a variable such as ?x",
    "STRING": "a quoted text",
    "LANGUAGE": "a language such as @en",
    "NUMBER": "a number",
    "_COLON": "a colon",
    "_SEMICOLON": "a semicolon",
    "_DOT": "a dot and a property",
    "ANY": "the any-operator ?",
    "ALL": "*",
    "_IF": ":-",
    "$END": "the end",
}
_HINTS = {
    "==": "Equality is written with one sign: =",
    "<>": "Inequality is written !=",
    "'": "This text has no closing quote",
    '"': "This text has no closing quote",
    "“": "This text has no closing quote",
    "<": "A name in angle brackets has no spaces and ends with >",
    "?": "A variable is a question mark and a word, such as ?x",
    "{": "Triples are written (subject, predicate, object)",
    ";": "One query at a time",
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language's grammar; `example` is a sentence of it for the hints of its errors."""

    language: str
    example: str
    starts: tuple[str, ...] = ("query",)

    def read(self, text: str, reader: FormulaReader, start: str | None = None) -> Any:
        """What the reader makes of the text; QueryError and nothing else if it is no sentence, or is refused."""
        try:
            tree = _parser(self.language, self.starts).parse(text, start=start or self.starts[0])
            return reader.transform(tree)
        except VisitError as error:
            raise error.orig_exc from None
        except UnexpectedInput as error:
            raise self._explained(error, text) from None

    def _explained(self, error: UnexpectedInput, text: str) -> QuerySyntaxError:
        ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        position = len(text) if ended else (error.pos_in_stream or 0)
        reason = "the text ends too early" if ended else f"did not expect {_found(text[position:])}"
        hint = _hint(text, position) or f"For example: {self.example}"
        return TextPlace.at(self.language, text, position).wrong(reason, hint, _expected(error))


def _found(rest: str) -> str:
    word = rest.split(maxsplit=1)[0] if rest.strip() else rest
    return f"`{word[:30]}…`" if len(word) > 30 else f"`{word}`"


def _hint(text: str, position: int) -> str | None:
    """A hint for a sign that other languages have; one sign of `==` and `<>` may have been read already."""
    around = (text[position : position + 2], text[max(position - 1, 0) : position + 1], text[position : position + 1])
    return next((_HINTS[sign] for sign in around if sign in _HINTS), None)


def _expected(error: UnexpectedInput) -> tuple[str, ...]:
    if isinstance(error, UnexpectedToken):
        terminals: Iterable[str] = error.accepts or error.expected
    else:
        terminals = error.allowed if isinstance(error, UnexpectedCharacters) else ()
    return tuple(sorted({_WORDS.get(name, name.strip("_").lower()) for name in terminals or ()}))


@cache
def _parser(language: str, starts: tuple[str, ...]) -> Lark:
    folder = files("triplewire.languages")
    grammar = "\n".join(folder.joinpath(f"{name}.lark").read_text("utf-8") for name in ("formula", language))
    return Lark(grammar, parser="lalr", start=list(starts), maybe_placeholders=False)


@v_args(inline=True)
class FormulaReader(Transformer_NonRecursive[Token, Any]):
    """Turns a parse into formulas: what the languages share. One reader reads one text."""

    def __init__(self, language: str, context: Context) -> None:
        super().__init__()
        self.language = language
        self.context = context
        self._count = 0

    def at(self, token: Token) -> TextPlace:
        """The place of a token."""
        return TextPlace.of(self.language, token)

    def fresh(self, stem: str, at: TextPlace) -> Operand:
        """A variable that no text can name: the middle dot is no word character."""
        self._count += 1
        return Operand(variable(f"{stem}·{self._count}"), at)

    def either(self, *parts: Formula) -> Formula:
        return either(parts, parts[0].at)

    def every(self, *parts: Formula) -> Formula:
        return every(parts, parts[0].at)

    def negated(self, part: Formula) -> Formula:
        return negation(part, part.at)

    def comparison(self, left: Operand, operator: Token, right: Operand) -> Formula:
        return Comparison(_SPELLINGS.get(operator, operator.lower()), left, right, left.at)

    def statement(self, subject: Operand, predicate: Operand, object: Operand) -> Formula:
        """A triple; a bare number as its object stands for every text that is this number."""
        if not isinstance(predicate.node, NamedNode | Variable):
            raise predicate.at.wrong("the predicate of a triple is a name or a variable, not a value")
        if isinstance(subject.node, Literal):
            raise subject.at.wrong("the subject of a triple is a name or a variable, not a value")
        if not object.number:
            return Statement(subject, predicate, object, subject.at)
        value = self.fresh("value", object.at)
        parts = (Statement(subject, predicate, value, subject.at), Comparison("=", value, object, object.at))
        return every(parts, subject.at)

    def name(self, token: Token) -> Operand:
        place = self.at(token)
        try:
            found = NamedNode(token[1:-1]) if token.startswith("<") else self.context.name(token)
        except ValueError as error:
            raise place.wrong(f"{token} is not an IRI: {error}", "Write the whole IRI in angle brackets") from None
        if found is None:
            prefix = token.partition(":")[0]
            known = ", ".join(sorted(filter(None, namespaces(self.context.prefixes))))
            hint = f"Known prefixes are {known}; {how_to_give(prefix)}"
            raise place.wrong(f"the prefix `{prefix}:` is not known", hint)
        return Operand(found, place)

    def variable(self, token: Token) -> Operand:
        name = token.removeprefix("?")
        try:
            return Operand(Variable(name), self.at(token))
        except ValueError:
            raise self.at(token).wrong(f"{token} cannot be the name of a variable", "Use letters and digits") from None

    def literal(self, token: Token) -> Operand:
        return Operand(self._literal(token), self.at(token))

    def tagged(self, token: Token, tag: Token) -> Operand:
        language, _, direction = tag[1:].partition("--")
        text = self._literal(token).value
        try:
            found = Literal(text, language=language, direction=BaseDirection(direction) if direction else None)
        except ValueError as error:
            raise self.at(tag).wrong(f"{tag} is not a language: {error}") from None
        return Operand(found, self.at(token))

    def typed(self, token: Token, datatype: Operand) -> Operand:
        assert isinstance(datatype.node, NamedNode)
        return Operand(Literal(self._literal(token).value, datatype=datatype.node), self.at(token))

    def number(self, token: Token) -> Operand:
        kind = "double" if "e" in token.lower() else "decimal" if "." in token else "integer"
        return Operand(Literal(str(token), datatype=NamedNode(XSD + kind)), self.at(token), number=True)

    def _literal(self, token: Token) -> Literal:
        try:
            found = parse_term(f'"{token[1:-1]}"')
        except (ValueError, OverflowError):
            raise self.at(token).wrong("this text has an escape or a character that is none") from None
        assert isinstance(found, Literal)
        return found
