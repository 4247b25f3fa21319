"""The leaves of the parse tree as terms: names with prefixes, relative references, literals, variables, blank nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import count
from typing import Any, Final

from lark import Token
from lark.visitors import Transformer_NonRecursive
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.errors import QueryError, QuerySyntaxError
from triplewire.languages.sparql.faults import place_of
from triplewire.model import RDF, XSD
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


class SparqlTermReader(Transformer_NonRecursive[Token, Any]):
    """Every method reads the grammar's rule of its name, children first, in the order of the text.

    `refusals` collects what is valid and not served, so that a text with a syntax error is told that first;
    `used` has the variables of the text, `hidden` those that no column shows, `labelled` their blank node
    labels, where they have one.
    """

    def __init__(self, tokens: list[Token], prefixes: Mapping[str, str]) -> None:
        super().__init__(visit_tokens=False)
        self.refusals: list[QueryError] = []
        self.hidden: set[str] = set()
        self.labelled: dict[str, str] = {}
        self._labels: dict[str, Variable] = {}
        self.used = frozenset(str(token)[1:] for token in tokens if token.type == "VARIABLE")
        self._fresh = (name for name in (f"_{number}" for number in count(1)) if name not in self.used)
        self._names = Names(prefixes)

    def base(self, children: list[Any]) -> None:
        """`BASE <…>`."""
        self._names.declare_base(children[0])

    def prefix(self, children: list[Any]) -> None:
        """`PREFIX name: <…>`."""
        self._names.declare_prefix(*children)

    def iri(self, children: list[Any]) -> NamedNode:
        """A reference or a prefixed name."""
        return self._names.term(children[0])

    def type(self, children: list[Any]) -> NamedNode:
        """`a`."""
        return NamedNode(RDF + "type")

    def nil(self, children: list[Any]) -> NamedNode:
        """`()`."""
        return NamedNode(RDF + "nil")

    def variable(self, children: list[Any]) -> Variable:
        """`?name` or `$name`, which are the same."""
        return Variable(str(children[0])[1:])

    def blank(self, children: list[Any]) -> Variable:
        """`_:label`: a variable that no column shows (section 4.1.4)."""
        label = str(children[0])
        if label not in self._labels:
            self._labels[label] = self.fresh()
            self.labelled[self._labels[label].value] = label
        return self._labels[label]

    def anonymous(self, children: list[Any]) -> Variable:
        """`[]`."""
        return self.fresh()

    def fresh(self) -> Variable:
        """A variable that the text does not use and no column shows."""
        name = next(self._fresh)
        self.hidden.add(name)
        return Variable(name)

    def string(self, children: list[Any]) -> str:
        """A quoted text."""
        token = children[0]
        quote = 3 if str(token)[:3] in ("'''", '"""') else 1
        return unescape(token, str(token)[quote:-quote])

    def text(self, children: list[Any]) -> Literal:
        """A quoted text with its language or datatype."""
        value, *rest = children
        if not rest:
            return Literal(value)
        if not isinstance(rest[0], Token):
            return Literal(value, datatype=rest[0])
        try:
            return Literal(value, language=str(rest[0])[1:])
        except ValueError as error:
            raise place_of(rest[0]).wrong(f"{rest[0]} is not a language tag: {error}") from None

    def number(self, children: list[Any]) -> Literal:
        """A number as it is written: `01` and `1` are different terms with one value."""
        text = str(children[0])
        kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
        return Literal(text, datatype=NamedNode(XSD + kind))

    signed = number

    def boolean(self, children: list[Any]) -> Literal:
        """`true` or `false`, in any case."""
        return Literal(str(children[0]).lower(), datatype=NamedNode(XSD + "boolean"))
