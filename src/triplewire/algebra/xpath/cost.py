"""What evaluating an expression may cost, told before it starts: lxml cannot be stopped once it has.

The estimate is an upper bound in visits of nodes, made from the size of the document alone. A step from a set of nodes
along the child axis visits each node of the document once at most; along the descendant axis each node once for every
ancestor; along the following and preceding axes all nodes from each. A predicate is evaluated for each visit, and an
absolute path inside it starts anew each time: that is what makes expressions expensive.
"""

from __future__ import annotations

from dataclasses import dataclass

from triplewire.algebra.xpath.syntax import (
    COMPARISONS,
    NODES,
    Binary,
    CoreCall,
    Expression,
    Path,
    Step,
    parts_of,
    steps_of,
    type_of,
)

_LOCAL = frozenset({"self", "parent"})
_FLAT = frozenset({"child", "attribute", "namespace"})
_DEEP = frozenset({"descendant", "descendant-or-self", "ancestor", "ancestor-or-self"})
_LOOKS_AT_NO_TEXT = ("count", "not", "boolean", "name", "local-name")
_CHARACTERS = 16
"""So many characters of text cost as much as the visit of a node."""
MOST_PREFIXES = 16
"""Namespace nodes of so many prefixes become rows: each is an evaluation more."""
_LARGEST = 1 << 40
_DEEPEST = 256


def cost(expression: Expression, *, nodes: int, size: int, depth: int) -> float:
    """At most so many visits of nodes, on a document with so many nodes, bytes, and levels."""
    estimate = _Estimate(float(max(nodes, 1)), float(size), float(max(depth, 1)))
    times = 1 + MOST_PREFIXES if any(step.axis == "namespace" for step in steps_of(expression)) else 1
    return times * estimate.of(expression, 1.0, 1.0)


def safe_size(expression: Expression, limit: int) -> int:
    """A size of documents, in bytes, up to which the expression stays below the limit whatever they are like."""
    size = 64
    while size < _LARGEST:
        # a node takes four bytes at least, a level seven
        if cost(expression, nodes=size // 4, size=size, depth=min(size // 7, _DEEPEST)) > limit:
            break
        size *= 2
    return size // 2


@dataclass(frozen=True, slots=True)
class _Estimate:
    nodes: float
    size: float
    depth: float

    def of(self, expression: Expression, distinct: float, repeats: float) -> float:
        """The cost for so many distinct context nodes, each of them so often."""
        if isinstance(expression, Path):
            return self.path(expression, distinct, repeats)[0]
        total = distinct * repeats
        inner = sum(self.of(part, distinct, repeats) for part in parts_of(expression))
        if isinstance(expression, CoreCall | Binary):
            inner += self._texts(expression, distinct, repeats)
        if isinstance(expression, Binary) and expression.operator in COMPARISONS:
            sides = [side for side in (expression.left, expression.right) if type_of(side) == NODES]
            if len(sides) == 2:
                inner += total * self.nodes * self.nodes / max(1.0, distinct)
        return total + inner

    def _texts(self, expression: Expression, distinct: float, repeats: float) -> float:
        """Texts of nodes: those of nested elements repeat, once for each level."""
        if not any(type_of(part) == NODES for part in parts_of(expression)):
            return 0.0
        if isinstance(expression, CoreCall) and expression.function in _LOOKS_AT_NO_TEXT:
            return 0.0
        return repeats * min(distinct, self.depth) * self.size / _CHARACTERS

    def path(self, path: Path, distinct: float, repeats: float) -> tuple[float, float]:
        """The cost, and how many nodes it may select for all contexts together."""
        spent, contexts = 0.0, distinct * repeats
        if path.start is not None:
            spent = self.of(path.start, distinct, repeats)
            distinct = self.nodes if type_of(path.start) == NODES else distinct
            spent += self._filtered(path.filters, distinct, repeats)
        elif path.is_absolute:
            distinct, repeats = 1.0, distinct * repeats
        for step in path.steps:
            visits, distinct, repeats = self._step(step, distinct, repeats)
            spent += visits + self._filtered(step.predicates, distinct, repeats)
            repeats = min(repeats, contexts)  # what a step reaches is a set, for each context
        return spent + distinct * repeats, distinct * repeats

    def _step(self, step: Step, distinct: float, repeats: float) -> tuple[float, float, float]:
        """Visits, and the distinct nodes reached, each so often."""
        if step.axis in _LOCAL:
            return distinct * repeats, distinct, repeats
        if step.axis in _FLAT:
            return repeats * self.nodes, self.nodes, repeats
        if step.axis in _DEEP:
            often = min(distinct, self.depth)
            return repeats * self.nodes * often, self.nodes, repeats * often
        return repeats * distinct * self.nodes, self.nodes, repeats * distinct

    def _filtered(self, predicates: tuple[Expression, ...], distinct: float, repeats: float) -> float:
        return sum(self.of(predicate, distinct, repeats) for predicate in predicates)
