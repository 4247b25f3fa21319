"""An XPath subscription as the rest of Triplewire sees it: a pattern whose rows come from XML, not from triples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.xpath.normal import normal_form
from triplewire.algebra.xpath.syntax import NODES, NUMBER, STRING, Expression, from_plain, namespaces_of, plain, render
from triplewire.algebra.xpath.syntax import type_of as type_of_expression
from triplewire.model import Document, Term
from triplewire.model.event import DOCUMENT, NODE, TEXT

if TYPE_CHECKING:
    from triplewire.algebra.explain import PatternWhyNot, Reason
    from triplewire.algebra.taxonomy import Taxonomy

_ANSWERS = {NODES: (DOCUMENT, NODE, TEXT), NUMBER: (DOCUMENT, TEXT), STRING: (DOCUMENT, TEXT)}


@dataclass(frozen=True, slots=True)
class PathQuery(Pattern):
    """What an XPath text compiles to: an expression in normal form, asked of the XML of one document.

    Why a pattern: an index, a hub and a command take it wherever they take one. It has no branches, because no triple
    is a part of its answers; so what is said of triples holds for it, and what finds rows looks at `expression`.
    No taxonomy makes a difference to it.
    """

    expression: Expression = field(kw_only=True)

    @classmethod
    def of(cls, expression: Expression) -> PathQuery:
        """The query of an expression, which is brought into its normal form."""
        return cls._of_normal(normal_form(expression))

    @classmethod
    def _of_normal(cls, normal: Expression) -> PathQuery:
        answer = _ANSWERS.get(type_of_expression(normal), (DOCUMENT,))
        return cls(answer, (), is_normal=True, expression=normal)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.answer, self.expression)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return PathQuery._of_normal, (self.expression,)

    @property
    def asks_xml(self) -> bool:
        return True

    def rows_in(self, document: Document, taxonomy: Taxonomy) -> list[dict[str, Term]]:
        from triplewire.algebra.xpath.evaluate import rows

        return rows(self, document)

    def why(self, document: Document, taxonomy: Taxonomy) -> list[Reason]:
        from triplewire.algebra.xpath.explain import why

        return why(self, document)

    def why_not(self, document: Document, taxonomy: Taxonomy) -> PatternWhyNot:
        from triplewire.algebra.xpath.explain import why_not

        return why_not(self, document)

    @property
    def type(self) -> str:
        """What the expression gives: a node-set, a boolean, a number or a string."""
        return type_of_expression(self.expression)

    @property
    def namespaces(self) -> dict[str, str]:
        """The prefixes of `text`: ns1 and so on, in the order of the namespaces."""
        return _spelled(self.expression)[1]

    @property
    def text(self) -> str:
        """The expression as XPath, in one spelling for all that are equivalent."""
        return _spelled(self.expression)[0]

    def __str__(self) -> str:
        given = "".join(f" {prefix} = {namespace}," for prefix, namespace in self.namespaces.items())
        return f"{self.text}{' with' + given.rstrip(',') if given else ''}"


@lru_cache(maxsize=4096)
def _spelled(expression: Expression) -> tuple[str, dict[str, str]]:
    found = namespaces_of(expression)
    prefixes = {namespace: f"ns{number}" for number, namespace in enumerate(sorted(found), 1)}
    return render(expression, prefixes.__getitem__), {prefix: name for name, prefix in prefixes.items()}


def dump(query: PathQuery) -> Any:
    """The query as lists and texts, for JSON."""
    return plain(query.expression)


def load(value: Any) -> PathQuery:
    """The query that was dumped."""
    return PathQuery._of_normal(from_plain(value))
