"""Reading the leaves of the parse tree: IRIs, literals, variables, blank nodes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from lark import Token
from lark.visitors import Transformer_NonRecursive
from pyoxigraph import Literal, NamedNode, Variable

from triplewire.errors import QueryError
from triplewire.languages.sparql import names
from triplewire.model import RDF, XSD


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
        self._names = names.Names(prefixes)

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
        return names.string(children[0])

    def text(self, children: list[Any]) -> Literal:
        """A quoted text with its language or datatype."""
        value, *rest = children
        if not rest:
            return Literal(value)
        return names.tagged(value, rest[0]) if isinstance(rest[0], Token) else Literal(value, datatype=rest[0])

    def number(self, children: list[Any]) -> Literal:
        """A number."""
        return names.number(children[0])

    signed = number

    def boolean(self, children: list[Any]) -> Literal:
        """`true` or `false`, in any case."""
        return Literal(str(children[0]).lower(), datatype=NamedNode(XSD + "boolean"))
