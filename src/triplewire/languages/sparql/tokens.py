"""SPARQL text as tokens, each with its place: section 19.8 of the recommendation, longest match first.

The terminals are read here and not by the parser generator, because SPARQL wants the longest match (`<?b&&?c>` is an
IRI, `ab:c` is not the keyword `a`), and because nesting is bounded before any parser sees the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lark import Token

from triplewire.languages.places import TextPlace
from triplewire.languages.sparql.faults import LANGUAGE, place_of

MOST_NESTED: Final = 64
"""Brackets inside brackets: what people write stays under ten; the bound keeps every later walk shallow."""

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_START = f"{_BASE}_0-9"
_CHARACTER = f"{_START}\u00b7\u0300-\u036f\u203f-\u2040\\-"
_VARIABLE = f"[{_START}][{_START}\u00b7\u0300-\u036f\u203f-\u2040]*"
_ESCAPE = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[{_START}:]|{_ESCAPE})(?:\.*(?:[{_CHARACTER}:]|{_ESCAPE}))*"
_PREFIX = rf"[{_BASE}](?:\.*[{_CHARACTER}]){{0,63}}"  # bounded: without a colon at its end, it is read in vain
_EXPONENT = r"[eE][+-]?[0-9]+"
_NUMBER = rf"(?:[0-9]+(?:\.[0-9]*)?{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?|[0-9]*\.[0-9]+|[0-9]+)"

VARIABLE_NAME: Final = re.compile(_VARIABLE)
LOCAL_NAME: Final = re.compile(rf"[{_START}](?:\.*[{_CHARACTER}])*")

_TOKENS: Final = re.compile(
    rf"""(?P<SPACE>(?:[ \t\r\n]++|\#[^\r\n]*+)++)
    |(?P<IRI><(?:[^<>"{{}}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}})*>)
    |(?P<NAME>(?:{_PREFIX})?:{_LOCAL})
    |(?P<NAMESPACE>(?:{_PREFIX})?:)
    |(?P<BLANK>_:[{_START}](?:\.*[{_CHARACTER}])*)
    |(?P<VARIABLE>[?$]{_VARIABLE})
    |(?P<LANGUAGE>@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*)
    |(?P<SIGNED>[+-]{_NUMBER})
    |(?P<NUMBER>{_NUMBER})
    |(?P<STRING>'''(?:'{{0,2}}(?:[^'\\]|\\.))*'''|\"\"\"(?:"{{0,2}}(?:[^"\\]|\\.))*\"\"\"
      |'(?:[^'\\\r\n]|\\[^\r\n])*'|"(?:[^"\\\r\n]|\\[^\r\n])*")
    |(?P<WORD>[A-Za-z][A-Za-z0-9_]*)
    |(?P<MARK>\^\^|&&|\|\||!=|<=|>=|[{{}}()\[\].,;*/|^?+\-!=<>])""",
    re.VERBOSE | re.DOTALL,
)


_words: Final = str.split
KEYWORDS: Final = frozenset(
    _words(
        """BASE PREFIX SELECT DISTINCT REDUCED AS WHERE FROM NAMED ASK CONSTRUCT DESCRIBE GROUP BY HAVING ORDER ASC DESC
    LIMIT OFFSET VALUES UNDEF OPTIONAL GRAPH SERVICE SILENT BIND MINUS UNION FILTER IN NOT EXISTS TRUE FALSE
    SEPARATOR"""
    )
)
AGGREGATES: Final = frozenset(_words("COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT"))
BUILTINS: Final = {
    **dict.fromkeys(_words("RAND NOW UUID STRUUID"), range(1)),
    **dict.fromkeys(_words("BNODE"), range(2)),
    **dict.fromkeys(_words("STR LANG DATATYPE BOUND IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE"), range(1, 2)),
    **dict.fromkeys(_words("ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ"), range(1, 2)),
    **dict.fromkeys(_words("MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC"), range(1, 2)),
    **dict.fromkeys(_words("LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER"), range(2, 3)),
    **dict.fromkeys(_words("STRLANG STRDT SAMETERM"), range(2, 3)),
    **dict.fromkeys(_words("REGEX SUBSTR"), range(2, 4)),
    **dict.fromkeys(_words("REPLACE"), range(3, 5)),
    **dict.fromkeys(_words("IF"), range(3, 4)),
    **dict.fromkeys(_words("CONCAT COALESCE"), range(1_000_000)),
}
"""SPARQL 1.1's functions and how many arguments each takes."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OPENING: Final = {"(": ")", "{": "}", "[": "]"}


def tokenize(text: str) -> list[Token]:
    """The tokens of the text; raises QuerySyntaxError where there is none, UnsupportedQuery if it nests too deeply."""
    tokens = list(_read(text))
    _check_nesting(tokens)
    return tokens


def _read(text: str) -> Iterator[Token]:
    at, line, start = 0, 1, 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            raise _no_token(text, at, TextPlace(LANGUAGE, line, at - start + 1))
        kind, value = match.lastgroup or "", match[0]
        if not value.isascii() and (alone := _SURROGATE.search(value)):
            raise TextPlace(LANGUAGE, line, at + alone.start() - start + 1).wrong(f"{alone[0]!r} is half a character")
        if kind != "SPACE":
            yield Token(_kind(kind, value), value, at, line, at - start + 1, end_pos=match.end())
        breaks = value.count("\n")
        if breaks:
            line, start = line + breaks, at + value.rindex("\n") + 1
        at = match.end()


def _kind(kind: str, value: str) -> str:
    """The terminal's name in the grammar; marks stand for themselves until the parser looks them up."""
    if kind == "MARK":
        return value
    if kind != "WORD":
        return kind
    word = value.upper()
    if value == "a":
        return "A"
    if word in KEYWORDS:
        return word
    if word in AGGREGATES:
        return "AGGREGATE"
    return "BUILTIN" if word in BUILTINS else "WORD"


def _no_token(text: str, at: int, place: TextPlace) -> Exception:
    character = text[at]
    if character in "'\"":
        return place.wrong(
            "this string does not end, or has an escape that SPARQL does not know",
            hint=f"Close it with {character} on the same line, or use {character * 3} for a text of several lines",
        )
    hint = "A variable is written ?name" if character in "?$" else None
    return place.wrong(f"the character {character!r} means nothing here", hint=hint)


def _check_nesting(tokens: list[Token]) -> None:
    """Refuse nesting over the bound, and brackets that do not pair, where a parser could only say 'unexpected'."""
    open_ones: list[Token] = []
    for token in tokens:
        if token.type in _OPENING:
            open_ones.append(token)
            if len(open_ones) > MOST_NESTED:
                raise place_of(token).refused(
                    f"brackets are nested more than {MOST_NESTED} deep",
                    hint="Take out brackets that are not needed, or split the query into several subscriptions",
                )
        elif token.type in _OPENING.values():
            _close(token, open_ones)
    if open_ones:
        token = open_ones[-1]
        raise place_of(token).wrong(f"this {token} is never closed", expected=(f"'{_OPENING[token.type]}'",))


def _close(token: Token, open_ones: list[Token]) -> None:
    if not open_ones:
        raise place_of(token).wrong(f"this {token} closes nothing", hint="Take it out, or open it earlier")
    opened = open_ones.pop()
    wanted = _OPENING[opened.type]
    if token.type != wanted:
        raise place_of(token).wrong(
            f"found {token}",
            expected=(f"'{wanted}'",),
            hint=f"The {opened} at line {opened.line}, column {opened.column} is still open",
        )
