"""Why an XPath query matches a document, and why it does not (X4): the hits, or the step that selects nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import Literal

from triplewire.algebra.explain import Failure, PatternWhyNot, Reason
from triplewire.algebra.wording import word_list, word_term
from triplewire.algebra.xpath.evaluate import Hit, compiled, hits, matches, row_of, tree_of
from triplewire.algebra.xpath.places import Tree
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import (
    NODES,
    Binary,
    CoreCall,
    Expression,
    Name,
    Path,
    Several,
    Step,
    render,
    type_of,
)
from triplewire.model import Document

_MOST_SEEN = 5
_CHILD = Step("child", Name(None, "*"))


@dataclass(frozen=True, slots=True)
class PathReason(Reason):
    """Why a row is an answer: the expression, and the node that it selects or the value that it gives."""

    expression: str = field(kw_only=True)
    hit: Hit = field(kw_only=True)

    def __str__(self) -> str:
        values = ", ".join(f"?{name} = {word_term(term)}" for name, term in self.row.items())
        if self.hit.path is None:
            return f"matches with {values}\n  because `{self.expression}` is {self.hit.text or 'true'}"
        return f"matches with {values}\n  because `{self.expression}` selects {self.hit.path}"


@dataclass(frozen=True, slots=True)
class PathFailure(Failure):
    """Where an expression stops: `reached` selects something still, `stops` selects nothing or is false.

    `values` is what was there instead.
    """

    reached: str = field(kw_only=True, default="")
    stops: str = field(kw_only=True, default="")
    values: tuple[str, ...] = field(kw_only=True, default=())

    def __str__(self) -> str:
        text = f"`{self.stops}` selects nothing" if self.reached or "/" in self.stops else f"`{self.stops}` is not true"
        if self.reached:
            text += f", and `{self.reached}` does"
        if self.values:
            text += f"; there was {word_list(self.values, _MOST_SEEN)}"
        return text

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: the path as far as it goes, where it stops, and the values there."""
        matched = [self.reached] if self.reached else []
        told = {"matched": matched, "failed": self.stops, "is_condition": True, "values": [*self.values[:_MOST_SEEN]]}
        return {"alternative": self.branch + 1, "seen": {}, "near": [], "never": self.never} | told


def why(query: PathQuery, document: Document) -> list[Reason]:
    """A reason for each row that a document gives a query."""
    if not document.xml:
        return []
    reasons: list[Reason] = []
    for hit in hits(query, tree_of(document.xml)):
        row = row_of(query, document.uri, hit)
        reasons.append(PathReason(row, 0, dict(row), (), (), expression=query.text, hit=hit))
    return reasons


def why_not(query: PathQuery, document: Document) -> PatternWhyNot:
    """Which step or predicate of the expression fails on a document."""
    if not document.xml:
        return PatternWhyNot(False, (_failed(0, "", "/", ("no XML in the document",)),))
    tree = tree_of(document.xml)
    if matches(query, tree):
        return PatternWhyNot(True)
    names = {namespace: prefix for prefix, namespace in query.namespaces.items()}
    walk = _Walk(tree, names)
    failures = [walk.failure(number, part) for number, part in enumerate(_alternatives(query.expression))]
    furthest = sorted(failures, key=lambda failure: len(failure.reached), reverse=True)
    return PatternWhyNot(False, tuple(furthest))


def _alternatives(expression: Expression) -> tuple[Expression, ...]:
    is_choice = isinstance(expression, Several) and expression.operator in ("|", "or")
    return expression.parts if is_choice else (expression,)  # type: ignore[union-attr]  # a choice has them


def _failed(number: int, reached: str, stops: str, values: tuple[str, ...]) -> PathFailure:
    return PathFailure(number, (), Literal(stops), reached=reached, stops=stops, values=values)


class _Walk:
    def __init__(self, tree: Tree, names: dict[str, str]) -> None:
        self._tree, self._names = tree, names

    def failure(self, number: int, expression: Expression) -> PathFailure:
        """The first part of an expression that is not true, and how far its path comes."""
        while isinstance(expression, Several) and expression.operator == "and":
            expression = next(part for part in expression.parts if not self._is_true(part))
        if isinstance(expression, Path):
            return self._stopped(number, expression)
        if isinstance(expression, Binary) and isinstance(expression.left, Path):
            if not self._is_true(expression.left):
                return self._stopped(number, expression.left)
            return _failed(number, self._text(expression.left), self._text(expression), self._values(expression.left))
        return _failed(number, "", self._text(expression), ())

    def _stopped(self, number: int, path: Path) -> PathFailure:
        reached: Path | None = None
        for part, predicate in _prefixes(path):
            if not self._is_true(part):
                values = self._seen(reached, predicate)
                return _failed(number, "" if reached is None else self._text(reached), self._text(part), values)
            reached = part
        return _failed(number, "", self._text(path), ())

    def _seen(self, reached: Path | None, predicate: Expression | None) -> tuple[str, ...]:
        """The values that a predicate saw; or the names that were there instead of a step's."""
        if reached is None:
            return (self._tree.getroot().tag,)
        if predicate is None:
            there = compiled(Path(reached.is_absolute, (*reached.steps, _CHILD), reached.start, reached.filters))
            return tuple(dict.fromkeys(str(node.tag) for node in there(self._tree)))
        if isinstance(predicate, CoreCall) and predicate.arguments:
            predicate = predicate.arguments[0]
        left = predicate.left if isinstance(predicate, Binary) else predicate
        if not isinstance(left, Path) or left.is_absolute or left.start is not None:
            return ()
        return self._values(Path(reached.is_absolute, (*reached.steps, *left.steps), reached.start, reached.filters))

    def _values(self, path: Path) -> tuple[str, ...]:
        found = hits(PathQuery.of(path), self._tree)[: _MOST_SEEN + 1] if type_of(path) == NODES else []
        return tuple(f"{hit.path} = {word_term(Literal(hit.text[:80]))}" for hit in found)

    def _is_true(self, expression: Expression) -> bool:
        return bool(compiled(CoreCall("boolean", (expression,)))(self._tree))

    def _text(self, expression: Expression) -> str:
        return render(expression, self._names.__getitem__)


def _prefixes(path: Path) -> Iterator[tuple[Path, Expression | None]]:
    """The path as far as each of its steps and predicates, with the predicate."""
    if path.start is not None:
        for count in range(len(path.filters) + 1):
            yield Path(False, (), path.start, path.filters[:count]), path.filters[count - 1] if count else None
    for number, step in enumerate(path.steps):
        before = path.steps[:number]
        for count in range(len(step.predicates) + 1):
            part = Step(step.axis, step.test, step.predicates[:count])
            predicate = step.predicates[count - 1] if count else None
            yield Path(path.is_absolute, (*before, part), path.start, path.filters), predicate
