"""Respelling: a SPARQL query as the engine is given it, without a word that would make it ask another server.

The engine (pyoxigraph) has no switch against SERVICE and reads SPARQL in its own way: `1<2)SERVICE#>` is a comparison
and a SERVICE to it, and an IRI to the recommendation's longest match. To look for the word as we read a text would be
to guess how the engine does. So the letters themselves go: in IRIs and strings they are spelled with an escape, which
means the same there and nothing anywhere else; comments go altogether; and a keyword SERVICE is refused. What may keep
the letters is a name (`dcat:service`, `?service`), in which no reading ends a token before them.

Invariant: in what the engine gets, `service` stands in no place where a keyword could begin, in any reading.
"""

from __future__ import annotations

import re
from typing import Final

from lark import Token

from triplewire.errors import UnsupportedQuery
from triplewire.languages.sparql.tokens import tokenize

_WORD: Final = re.compile("service", re.IGNORECASE)
_IN_IRI: Final = re.compile("[()]|s(?=ervice)", re.IGNORECASE)  # brackets, too: they would nest without a bound
_NAMES: Final = frozenset(["NAME", "NAMESPACE", "BLANK", "VARIABLE", "LANGUAGE"])


def respelled(text: str, tokens: list[Token] | None = None) -> str:
    """The same query for the engine; UnsupportedQuery for SERVICE, and where its letters cannot be told from it."""
    parts, at = [], 0
    for token in tokenize(text) if tokens is None else tokens:
        start, end = token.start_pos or 0, token.end_pos or 0
        parts += [_blank(text[at:start]), _spelled(token)]
        at = end
    return "".join([*parts, _blank(text[at:])])


def _spelled(token: Token) -> str:
    spelling = str(token)
    if token.type == "IRI":
        return _IN_IRI.sub(_escaped, spelling)
    if not _WORD.search(spelling):
        return spelling
    if token.type == "STRING":
        return _WORD.sub(_escaped, spelling)
    if token.type in _NAMES and "\\" not in spelling and "%" not in spelling:
        return spelling
    hint = "Publish what the other server has, and ask for it here."
    reason = "SERVICE asks another server, which a hub never does"
    raise UnsupportedQuery(reason, language="sparql", line=token.line, column=token.column, hint=hint)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0][0]):04X}{found[0][1:]}"


def _blank(space: str) -> str:
    """What is between two tokens, without its comments; lines and columns stay."""
    return re.sub(r"[^\r\n]", " ", space)
