"""From the parse tree to the syntax: names resolved, abbreviations written out, what is not served refused."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, pairwise
from typing import Any, Final

from lark import Token, Tree
from lark.exceptions import VisitError
from pyoxigraph import NamedNode, Variable

from triplewire.algebra.expressions import FALSE
from triplewire.languages.sparql import syntax
from triplewire.languages.sparql.faults import function_refusal, place_of, refusal
from triplewire.languages.sparql.operations import OperationReader
from triplewire.languages.sparql.statements import StatementReader

_REFUSED: Final = {
    "describe": "DESCRIBE",
    "computed": "an expression in SELECT",
    "dataset": "FROM",
    "grouping": "GROUP BY",
    "having": "HAVING",
    "ordering": "ORDER BY",
    "minus": "MINUS",
    "graph": "GRAPH",
    "service": "SERVICE",
    "bind": "BIND",
}
"""Rules whose first token is the place of a feature that is not served."""

_NOTHING: Final = syntax.GroupPattern(())


def read(tree: Tree[Token], tokens: list[Token], prefixes: Mapping[str, str]) -> syntax.SelectQuery:
    """The query that the tree says; raises the first refusal in the order of the text."""
    reader = _Reader(tokens, prefixes)
    try:
        query: syntax.SelectQuery = reader.transform(tree)
    except VisitError as error:
        raise error.orig_exc from None
    if reader.refusals:
        raise min(reader.refusals, key=lambda found: (found.line or 0, found.column or 0))
    return query


class _Reader(OperationReader, StatementReader):
    """The rules from `start` down to the parts of a group."""

    def __init__(self, tokens: list[Token], prefixes: Mapping[str, str]) -> None:
        super().__init__(tokens, prefixes)
        self._before = {token.start_pos: before for before, token in pairwise(tokens)}
        self._last = {str(token): token for token in tokens if token.type == "BLANK"}
        self._homes: dict[str, int] = {}
        self._blocks = count()

    def __default__(self, data: str, children: list[Any], meta: object) -> Any:
        """Rules that are refused, or that only hold what is refused."""
        if data in _REFUSED:
            self._refuse(_REFUSED[data], next(child for child in children if isinstance(child, Token)))

    def _refuse(self, feature: str, token: Token) -> None:
        self.refusals.append(refusal(feature, place_of(token)))

    def start(self, children: list[Any]) -> Any:
        return children[-1]

    def select_clause(self, children: list[Any]) -> tuple[Token, tuple[str, ...] | None]:
        """The keyword and the columns; None for `*`. Rows are distinct always, so DISTINCT changes nothing."""
        columns = tuple(dict.fromkeys(child.value for child in children[1:] if isinstance(child, Variable)))
        return children[0], columns if len(children) > 1 else None

    def select(self, children: list[Any]) -> syntax.SelectQuery:
        keyword, columns = children[0]
        return self._query(keyword, columns, children[1:])

    def ask(self, children: list[Any]) -> syntax.SelectQuery:
        """An ASK: no columns."""
        return self._query(children[0], (), children[1:])

    def _query(self, keyword: Token, columns: tuple[str, ...] | None, parts: list[Any]) -> syntax.SelectQuery:
        (where,) = (part for part in parts if isinstance(part, syntax.GroupPattern))
        values = next((part for part in parts if isinstance(part, syntax.Values)), None)
        return syntax.SelectQuery(columns, where, values, frozenset(self.hidden), self.used, place_of(keyword))

    def construct(self, children: list[Any]) -> None:
        """CONSTRUCT; its template is made of triples, not of paths."""
        for template in (child for child in children if isinstance(child, syntax.Triples)):
            if any(not isinstance(statement.path, NamedNode | Variable) for statement in template.statements):
                raise place_of(children[0]).wrong("a template has triples, and this one has a path")
        self._refuse("CONSTRUCT", children[0])

    def nested_select(self, children: list[Any]) -> syntax.GroupPattern:
        self._refuse("a nested SELECT", children[0][0])
        return _NOTHING

    def cut(self, children: list[Any]) -> None:
        """LIMIT or OFFSET."""
        self._refuse(children[0].upper(), children[0])

    def custom(self, children: list[Any]) -> syntax.Expression:
        """A function that is named by an IRI, such as a cast."""
        bracket = next(child for child in children if isinstance(child, Token))
        name = self._before[bracket.start_pos]
        self.refusals.append(function_refusal(str(name), place_of(name)))
        return FALSE

    def aggregate(self, children: list[Any]) -> syntax.Expression:
        """COUNT and its kin."""
        self._refuse("an aggregate", children[0])
        return FALSE

    def exists(self, children: list[Any]) -> syntax.Expression:
        """EXISTS or NOT EXISTS."""
        self._refuse("EXISTS", next(child for child in children if isinstance(child, Token)))
        return FALSE

    def group(self, children: list[Any]) -> syntax.GroupPattern:
        """What stands between braces."""
        parts = tuple(part for part in children if isinstance(part, syntax.Part))
        self._check_labels(parts)
        return syntax.GroupPattern(parts)

    def _check_labels(self, parts: tuple[syntax.Part, ...]) -> None:
        """A blank node's label stays inside one basic graph pattern, which only FILTER does not end (section 5.1.1)."""
        block = next(self._blocks)
        for part in parts:
            if isinstance(part, syntax.Triples):
                self._settle_labels({name for statement in part.statements for name in statement.variables}, block)
            elif not isinstance(part, syntax.Filter):
                block = next(self._blocks)

    def _settle_labels(self, names: set[str], block: int) -> None:
        for name in names & self.labelled.keys():
            if self._homes.setdefault(name, block) != block:
                label = self.labelled[name]
                raise place_of(self._last[label]).wrong(
                    f"the blank node {label} is used in two groups of triples",
                    hint="Use a variable instead; a blank node's label is known in one group only",
                )

    def union(self, children: list[Any]) -> syntax.Union:
        """Groups, any of which may hold."""
        return syntax.Union(tuple(children))

    def optional(self, children: list[Any]) -> syntax.OptionalPart:
        return syntax.OptionalPart(children[1], place_of(children[0]))

    def filter(self, children: list[Any]) -> syntax.Filter:
        return syntax.Filter(children[1], place_of(children[0]))

    def header(self, children: list[Any]) -> tuple[str, ...]:
        """The variables of VALUES."""
        return tuple(child.value for child in children)

    def row(self, children: list[Any]) -> tuple[Token, tuple[Any, ...]]:
        """One row of VALUES, and where it stands."""
        return children[0], _cells(children[1:])

    def values_of_one(self, children: list[Any]) -> syntax.Values:
        """`VALUES ?x { … }`."""
        keyword, variable, *terms = children
        return syntax.Values((variable.value,), tuple((cell,) for cell in _cells(terms)), place_of(keyword))

    def values(self, children: list[Any]) -> syntax.Values:
        """`VALUES (?x ?y) { (…) }`."""
        keyword, names, *rows = children
        if len(set(names)) != len(names):
            raise place_of(keyword).wrong("VALUES names a variable twice")
        for bracket, row in rows:
            if len(row) != len(names):
                raise place_of(bracket).wrong(
                    f"this row has {len(row)} values for {len(names)} variables",
                    hint="Write UNDEF where a row says nothing of a variable",
                )
        return syntax.Values(names, tuple(row for _, row in rows), place_of(keyword))


def _cells(terms: list[Any]) -> tuple[Any, ...]:
    """The values of a row; None for UNDEF, which is the only one that is still a token."""
    return tuple(None if isinstance(term, Token) else term for term in terms)
