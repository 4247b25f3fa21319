"""Names and literals as terms: prefixes, relative references, escapes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from lark import Token
from pyoxigraph import Literal, NamedNode

from triplewire.errors import QuerySyntaxError
from triplewire.languages.sparql.faults import place_of
from triplewire.model import XSD
from triplewire.model.flat import resolved
from triplewire.model.prefixes import KNOWN_PREFIXES, how_to_give

_ESCAPES: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Names:
    """The prefixes and the base that hold at a place of the text; its own come before the caller's, then the known."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = {**KNOWN_PREFIXES, **prefixes}
        self._base: str | None = None

    def declare_base(self, token: Token) -> None:
        """`BASE <…>`: what relative references are relative to from here on."""
        self._base = self.reference(token).value

    def declare_prefix(self, prefix: Token, namespace: Token) -> None:
        """`PREFIX name: <…>`."""
        self._prefixes[str(prefix)[:-1]] = self.reference(namespace).value

    def term(self, token: Token) -> NamedNode:
        """The IRI that a reference or a prefixed name stands for."""
        if token.type == "IRI":
            return self.reference(token)
        prefix, _, local = str(token).partition(":")
        namespace = self._prefixes.get(prefix)
        if namespace is None:
            raise undeclared(prefix, token)
        return _iri(namespace + re.sub(r"\\(.)", r"\1", local), token)

    def reference(self, token: Token) -> NamedNode:
        """The IRI between angle brackets, resolved against the base."""
        text = unescape(token, str(token)[1:-1])
        if _SCHEME.match(text):
            return _iri(text, token)
        if self._base is None:
            reason = f"<{text}> is relative, and the query has no base"
            raise place_of(token).wrong(reason, hint="Write BASE <…> before it")
        return _resolve(text, self._base, token)


def _iri(text: str, token: Token) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise place_of(token).wrong(f"<{text}> is not an IRI: {error}") from None


def _resolve(text: str, base: str, token: Token) -> NamedNode:
    """As documents resolve theirs: the same code reads both, so both mean the same IRI."""
    try:
        return resolved(text, base)
    except (SyntaxError, ValueError) as error:
        raise place_of(token).wrong(f"<{text}> is not a reference: {error}") from None


def undeclared(prefix: str, token: Token) -> QuerySyntaxError:
    """The error for a prefix that stands for nothing."""
    hint = f"Write PREFIX {prefix}: <...> before the query, or {how_to_give(prefix)}"
    return place_of(token).wrong(f"the prefix {prefix}: is not declared", hint=hint)


def first_undeclared(tokens: Iterable[Token], prefixes: Collection[str]) -> QuerySyntaxError | None:
    """The error for the first name whose prefix neither the text nor the caller declares; None if there is none."""
    known, before = {*prefixes}, ""
    for token in tokens:
        prefix = str(token).partition(":")[0]
        if token.type == "NAMESPACE" and before.upper() == "PREFIX":
            known.add(prefix)
        elif token.type in ("NAME", "NAMESPACE") and prefix not in known:
            return undeclared(prefix, token)
        before = str(token)
    return None


def unescape(token: Token, text: str) -> str:
    """The text with its escapes resolved."""
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None and match[3] in _ESCAPES:
            return _ESCAPES[match[3]]
        if code is None or 0xD800 <= int(code, 16) <= 0xDFFF or int(code, 16) > 0x10FFFF:
            raise place_of(token).wrong(f"{match[0]} is not an escape", hint="Write \\\\ for a backslash in a text")
        return chr(int(code, 16))

    return _ESCAPE.sub(character, text)


def string(token: Token) -> str:
    """The text that a quoted string stands for."""
    quote = 3 if str(token)[:3] in ("'''", '"""') else 1
    return unescape(token, str(token)[quote:-quote])


def tagged(text: str, token: Token) -> Literal:
    """A text with a language."""
    try:
        return Literal(text, language=str(token)[1:])
    except ValueError as error:
        raise place_of(token).wrong(f"{token} is not a language tag: {error}") from None


def number(token: Token) -> Literal:
    """A number as it is written: `01` and `1` are different terms with one value."""
    text = str(token)
    kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
    return Literal(text, datatype=NamedNode(XSD + kind))
