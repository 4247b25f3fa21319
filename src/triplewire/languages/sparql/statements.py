"""Reading triple patterns: `;` and `,`, `[ … ]`, `( … )`, and property paths."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from lark import Token
from pyoxigraph import NamedNode, Variable

from triplewire.languages.sparql import syntax
from triplewire.languages.sparql.faults import place_of
from triplewire.languages.sparql.terms import SparqlTermReader
from triplewire.model import RDF, RDFS

_FIRST, _REST, _NIL = (NamedNode(RDF + name) for name in ("first", "rest", "nil"))
_TAXONOMIC: Final = frozenset([NamedNode(RDFS + "subClassOf"), NamedNode(RDFS + "subPropertyOf")])


class _Described(NamedTuple):
    """A node written as `[ … ]` or `( … )`, and the statements that this stands for."""

    node: syntax.Node
    statements: tuple[syntax.PathPattern, ...]


class _Property(NamedTuple):
    """A predicate and one of its objects, with the statements about that object."""

    path: syntax.Path | Variable
    object: syntax.Node
    statements: tuple[syntax.PathPattern, ...]


def _described(node: syntax.Node | _Described) -> _Described:
    return node if isinstance(node, _Described) else _Described(node, ())


def _about(subject: syntax.Node, properties: list[_Property]) -> tuple[syntax.PathPattern, ...]:
    found: list[syntax.PathPattern] = []
    for path, node, statements in properties:
        found += [syntax.PathPattern(subject, path, node), *statements]
    return tuple(found)


class StatementReader(SparqlTermReader):
    """The rules from `triples` down to paths."""

    def triples(self, children: list[Any]) -> syntax.Triples:
        """Statements about several subjects."""
        return syntax.Triples(tuple(statement for statements in children for statement in statements))

    def statements(self, children: list[Any]) -> tuple[syntax.PathPattern, ...]:
        """Statements about one subject."""
        node, own = _described(children[0])
        return own + _about(node, children[1] if len(children) > 1 else [])

    def properties(self, children: list[Any]) -> list[_Property]:
        """`predicate objects; predicate objects`."""
        return [found for group in children for found in group]

    def verb_objects(self, children: list[Any]) -> list[_Property]:
        """One predicate and its objects."""
        path, nodes = children
        return [_Property(path, *_described(node)) for node in nodes]

    def objects(self, children: list[Any]) -> list[Any]:
        """`one, other`."""
        return children

    def description(self, children: list[Any]) -> _Described:
        """`[ predicate object ]`."""
        node = self.fresh()
        return _Described(node, _about(node, children[0]))

    def collection(self, children: list[Any]) -> _Described:
        """`( one other )`: an RDF list."""
        cells: list[syntax.Node] = [self.fresh() for _ in children]
        statements: list[syntax.PathPattern] = []
        for cell, following, item in zip(cells, [*cells[1:], _NIL], children, strict=True):
            node, own = _described(item)
            statements += [syntax.PathPattern(cell, _FIRST, node), *own, syntax.PathPattern(cell, _REST, following)]
        return _Described(cells[0], tuple(statements))

    def alternative(self, children: list[Any]) -> syntax.Path:
        """`one|other`."""
        return syntax.Alternatives(tuple(children))

    def sequence(self, children: list[Any]) -> syntax.Path:
        """`first/second`."""
        return syntax.Sequence(tuple(children))

    def inverse(self, children: list[Any]) -> syntax.Path:
        """`^path`."""
        return syntax.Inverse(children[0])

    def zero_or_more(self, children: list[Any]) -> syntax.Path:
        """`path*`."""
        return self._ascent("descendant-or-self", *children)

    def one_or_more(self, children: list[Any]) -> syntax.Path:
        """`path+`."""
        return self._ascent("descendant", *children)

    def _ascent(self, relation: str, path: syntax.Path, mark: Token) -> syntax.Path:
        """Repetition is served where the taxonomy answers it: up or down rdfs:subClassOf and rdfs:subPropertyOf."""
        if isinstance(path, syntax.Inverse):
            return syntax.Inverse(self._ascent(relation, path.path, mark))
        if path not in _TAXONOMIC:
            return self._refused_path(
                f"a path that is repeated with {mark} is not served: its length has no bound",
                mark,
                "Only rdfs:subClassOf and rdfs:subPropertyOf may be repeated; write other paths step by step with /",
            )
        return syntax.Ascent(relation, place_of(mark))

    def zero_or_one(self, children: list[Any]) -> syntax.Path:
        """`path?`."""
        hint = "Write a UNION of the path and of its ends being the same, or OPTIONAL"
        reason = "a path with ? is not served: a path of no step would match every term"
        return self._refused_path(reason, children[1], hint)

    def negated(self, children: list[Any]) -> syntax.Path:
        """`!path`."""
        hint = "Use a variable as the predicate, and a FILTER on it with !="
        return self._refused_path("a negated property set is not served", children[0], hint)

    def _refused_path(self, reason: str, token: Token, hint: str) -> syntax.Path:
        """A path that stands in for one that is not served; it is never translated."""
        self.refusals.append(place_of(token).refused(reason, hint=hint))
        return syntax.Alternatives(())
