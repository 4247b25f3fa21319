"""From text to a parse tree: an LALR(1) parser of the whole of SPARQL 1.1's query grammar.

Why a grammar of our own: the parsers at hand keep no positions of what they read, rewrite numbers (`01` becomes `1`),
and run out of stack at some sixty triple patterns. This one keeps every place and every lexical form, takes time
linear in the text, and holds no state between calls. The tests compare what it accepts with two other parsers.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from lark import Lark, Token, Tree, UnexpectedToken
from lark.lexer import PatternStr

from triplewire.errors import QueryError
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql.faults import LANGUAGE, place_of, refusal

_UPDATES: Final = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"])
_RENAMED: Final = {"MINUS": "SUBTRACT", **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), "COMPARISON")}
_SPOKEN: Final = {
    "VARIABLE": "a variable",
    **dict.fromkeys(("IRI", "NAME", "NAMESPACE"), "an IRI or a prefixed name"),
    **dict.fromkeys(("NUMBER", "SIGNED"), "a number"),
    **dict.fromkeys(("TRUE", "FALSE"), "a boolean"),
    **dict.fromkeys(("BUILTIN", "AGGREGATE", "EXISTS"), "a function"),
    "STRING": "a string",
    "LANGUAGE": "a language tag",
    "BLANK": "a blank node",
    "A": "'a'",
    "COMPARISON": "a comparison",
    "SUBTRACT": "MINUS",
    "$END": "the end of the query",
}
_MOST_EXPECTED: Final = 8


@cache
def _grammar() -> Lark:
    """Built on first use: it takes a fifth of a second, which a program without SPARQL does not pay."""
    text = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic")


@cache
def _spellings() -> dict[str, str]:
    """From the spelling of a keyword or mark to the terminal's name in the grammar."""
    patterns = [(terminal.pattern, terminal.name) for terminal in _grammar().terminals]
    return {pattern.value: name for pattern, name in patterns if isinstance(pattern, PatternStr)} | _RENAMED


def parse(tokens: list[Token]) -> Tree[Token]:
    """The parse tree of the tokens; raises QuerySyntaxError with what was expected."""
    parser, names = _grammar().parse_interactive(""), _spellings()
    last = Token("START", "", 0, 1, 1)
    try:
        for last in tokens:
            parser.feed_token(last.update(type=names.get(last.type, last.type)))
        tree: Tree[Token] = parser.feed_eof(last)  # type: ignore[no-untyped-call]  # lark's gap
        return tree
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]  # lark's gap
        raise _explained(last, at_end, accepted) from None


def _explained(token: Token, at_end: bool, accepted: set[str]) -> QueryError:
    if not at_end and token.upper() in _UPDATES and "SELECT" in accepted:
        return refusal("an update", place_of(token))
    expected = _expected(accepted)
    if at_end:
        place = TextPlace(LANGUAGE, token.line or 1, (token.column or 1) + len(token))
        return place.wrong("the query ends too early", expected=expected)
    return place_of(token).wrong(f"found {token!s}", expected=expected, hint=_hint(token))


def _expected(accepted: set[str]) -> tuple[str, ...]:
    """What could stand here, in words: marks, then terms, then keywords, and not too many of them."""
    spelled = {name: f"'{spelling}'" for spelling, name in _spellings().items() if not spelling.isalpha()}
    words = {_SPOKEN.get(name) or spelled.get(name, name) for name in accepted}
    found = sorted(words, key=lambda word: (word.isupper(), not word.startswith("'"), word))
    return tuple(found[:_MOST_EXPECTED]) + (("…",) if len(found) > _MOST_EXPECTED else ())


def _hint(token: Token) -> str | None:
    if token.type == "WORD":
        return f"Write ?{token} for a variable, a prefix and a colon before a name, or quotes around a text"
    if token.type in ("VARIABLE", "IRI", "NAME", "STRING", "NUMBER"):
        return "Statements are divided by '.', their objects by ','"
    if token.type in ("PREFIX", "BASE"):
        return f"{token} stands before the query"
    return None
