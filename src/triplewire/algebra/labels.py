"""Canonical names and order: two conjunctions that differ only in names and order become the same.

Colour refinement tells variables apart by where they stand; what stays alike is told apart by the names of answer
variables, then by trying each (individualise and refine) and keeping the smallest outcome. The order of variables
depends on structure before names, so that patterns that differ only in the names of their answers are laid out alike
and share one plan in the index.
"""

from __future__ import annotations

from collections import Counter

from pyoxigraph import Variable

from triplewire.algebra.conditions import SYMMETRIC
from triplewire.algebra.pattern import (
    Call,
    Conjunction,
    Expression,
    Node,
    Optional,
    TriplePattern,
    render,
    variable,
)

_MOST_TRIES = 64


def label(branch: Conjunction, answer: frozenset[str]) -> Conjunction:
    """The conjunction with canonical names for variables that are not answers, and everything in order."""
    names = _names(branch)
    order = _Labelling(branch, answer).order(names) if len(names) > 1 else names
    prefix = "_"
    while any(name.startswith(prefix) for name in answer):
        prefix += "_"
    hidden = [name for name in order if name not in answer]
    swap = {name: variable(f"{prefix}{i}") for i, name in enumerate(hidden)}
    rank = {(swap[name].value if name in swap else name): i for i, name in enumerate(order)}
    return _ordered(_renamed(branch, swap), rank)


def _names(branch: Conjunction) -> list[str]:
    triples = [*branch.triples, *(triple for part in branch.optionals for triple in part.triples)]
    return list(dict.fromkeys(name for triple in triples for name in triple.variables))


def _renamed(branch: Conjunction, swap: dict[str, Variable]) -> Conjunction:
    if not swap:
        return branch

    def node(old: Node) -> Node:
        return swap.get(old.value, old) if isinstance(old, Variable) else old

    def expression(old: Expression) -> Expression:
        if isinstance(old, Call):
            return Call(old.function, tuple(expression(argument) for argument in old.arguments))
        return swap.get(old.value, old) if isinstance(old, Variable) else old

    def triple(old: TriplePattern) -> TriplePattern:
        return TriplePattern(node(old.subject), node(old.predicate), node(old.object))

    return Conjunction(
        tuple(triple(t) for t in branch.triples),
        tuple(expression(c) for c in branch.conditions),
        branch.bindings,
        tuple(
            Optional(tuple(triple(t) for t in part.triples), tuple(expression(c) for c in part.conditions))
            for part in branch.optionals
        ),
    )


def _ordered(branch: Conjunction, rank: dict[str, int]) -> Conjunction:
    def place(node: Node) -> str:
        return f"?{rank[node.value]:04}" if isinstance(node, Variable) else str(node)

    def key(triple: TriplePattern) -> tuple[str, str, str]:
        return place(triple.predicate), place(triple.subject), place(triple.object)

    return Conjunction(
        tuple(sorted(branch.triples, key=key)),
        tuple(sorted(set(map(_turned, branch.conditions)), key=render)),
        branch.bindings,
        tuple(
            Optional(
                tuple(sorted(part.triples, key=key)), tuple(sorted(set(map(_turned, part.conditions)), key=render))
            )
            for part in branch.optionals
        ),
    )


def _turned(condition: Expression) -> Expression:
    """The sides of a symmetric comparison of two variables in the order of their names, which are canonical now."""
    if isinstance(condition, Call) and condition.function in SYMMETRIC:
        left, right = condition.arguments
        if isinstance(left, Variable) and isinstance(right, Variable) and left.value > right.value:
            return Call(condition.function, (right, left))
    return condition


class _Labelling:
    """Orders the variables of one conjunction."""

    def __init__(self, branch: Conjunction, answer: frozenset[str]) -> None:
        self.answer = answer
        self.tries = 0
        self.facts: list[tuple[str, ...]] = []
        """Where variables stand: constants as `=text`, variables as `?name`, the kind of fact first."""
        for triple in branch.triples:
            self.facts.append(("t", *map(_mark, triple)))
        for condition in branch.conditions:
            self.facts.append(("c", *_flatten(condition)))
            if isinstance(condition, Call) and condition.function in SYMMETRIC:
                self.facts.append(("c", *_flatten(Call(condition.function, condition.arguments[::-1]))))
        for i, part in enumerate(branch.optionals):
            self.facts += [(f"o{i}", *map(_mark, triple)) for triple in part.triples]
            self.facts += [(f"p{i}", *_flatten(condition)) for condition in part.conditions]
        self.uses: dict[str, list[tuple[str, ...]]] = {}
        for fact in self.facts:
            for mark in dict.fromkeys(fact):
                if mark.startswith("?"):
                    self.uses.setdefault(mark[1:], []).append(fact)

    def order(self, names: list[str]) -> list[str]:
        colours = self._refined(dict.fromkeys(names, 0))
        colours = self._told_apart(colours)
        return sorted(names, key=lambda name: colours[name])

    def _refined(self, colours: dict[str, int]) -> dict[str, int]:
        """Split colours by the facts that variables stand in until nothing splits any more."""
        distinct = len(set(colours.values()))
        while distinct < len(colours):
            signatures = {name: (colours[name], self._signature(name, colours)) for name in colours}
            ranks = {signature: i for i, signature in enumerate(sorted(set(signatures.values())))}
            colours = {name: ranks[signature] for name, signature in signatures.items()}
            if len(ranks) == distinct:
                break
            distinct = len(ranks)
        return colours

    def _signature(self, name: str, colours: dict[str, int]) -> tuple[tuple[str, ...], ...]:
        own = "?" + name
        return tuple(
            sorted(
                tuple("*" if m == own else f"?{colours[m[1:]]}" if m.startswith("?") else m for m in fact)
                for fact in self.uses.get(name, ())
            )
        )

    def _told_apart(self, colours: dict[str, int]) -> dict[str, int]:
        counts = Counter(colours.values())
        tied = min((colour for colour, count in counts.items() if count > 1), default=None)
        if tied is None:
            return colours
        members = sorted(name for name, colour in colours.items() if colour == tied)
        answers = [name for name in members if name in self.answer]
        if answers:
            return self._told_apart(self._individualised(colours, answers[0]))
        outcomes = []
        for name in members:
            outcomes.append(self._told_apart(self._individualised(colours, name)))
            self.tries += 1
            if self.tries > _MOST_TRIES:
                break
        return min(outcomes, key=self._outcome)

    def _individualised(self, colours: dict[str, int], chosen: str) -> dict[str, int]:
        """The chosen variable comes before the others of its colour."""
        raised = {name: 2 * colour + 1 for name, colour in colours.items()}
        raised[chosen] -= 1
        return self._refined(raised)

    def _outcome(self, colours: dict[str, int]) -> list[tuple[str, ...]]:
        return sorted(tuple(f"?{colours[m[1:]]}" if m.startswith("?") else m for m in fact) for fact in self.facts)


def _mark(node: Node) -> str:
    return f"?{node.value}" if isinstance(node, Variable) else f"={node}"


def _flatten(expression: Expression) -> list[str]:
    if isinstance(expression, Call):
        return [f"({expression.function}", *(m for a in expression.arguments for m in _flatten(a)), ")"]
    return [_mark(expression)]
