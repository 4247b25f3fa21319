"""The tokens of XPath 1.0 (section 3.7), with the rule that tells a name from an operator."""

from __future__ import annotations

import re
from typing import NamedTuple

from triplewire.languages.places import TextPlace

LANGUAGE = "xpath"
_FIRST = (
    r"A-Za-z_\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_NAME = rf"[{_FIRST}][-.0-9\u00B7\u0300-\u036F\u203F\u2040{_FIRST}]*"
_TOKEN = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<variable>\$[ \t\r\n]*{_NAME}(?::{_NAME})?)
    | (?P<wild>{_NAME}:\*)
    | (?P<name>{_NAME}(?::(?!:){_NAME})?)
    | (?P<sign>::|//|\.\.|!=|<=|>=|[()\[\].@,/|+\-=<>*])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_OPERATOR_NAMES = frozenset({"and", "or", "mod", "div", "*"})
_BEFORE_NAMES = frozenset({"@", "::", "(", "[", ",", "/", "//", "|", "+", "-", "=", "!=", "<", "<=", ">", ">="})
_HINTS = {
    "'": "This text has no closing quote",
    '"': "This text has no closing quote",
    "{": "A name in a namespace is written prefix:name, with the prefix given to compile",
    "&": "Write `and`; a < is written as it is",
    "!": "Inequality is written !=, negation not(...)",
    ":": "A name in a namespace is written prefix:name, without spaces",
    "$": "There are no variables",
}


class Token(NamedTuple):
    """A piece of the text; `kind` is number, text, variable, wild, name, sign, operator or end."""

    kind: str
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, the last one its end."""
    found: list[Token] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
            raise TextPlace.at(LANGUAGE, text, at).wrong(f"did not expect `{text[at]}`", _HINTS.get(text[at]))
        kind, at = match.lastgroup or "end", match.end()
        text_of = match[kind]
        if text_of in _OPERATOR_NAMES and _ends_operand(found):
            kind = "operator"
        found.append(Token(kind, text_of, at - len(text_of)))
        if kind == "end":
            return found


def _ends_operand(before: list[Token]) -> bool:
    """True if what follows must be an operator: then * multiplies, and a name such as `and` is one."""
    if not before or before[-1].kind == "operator":
        return False
    return before[-1].kind in ("text", "number") or before[-1].text not in _BEFORE_NAMES
