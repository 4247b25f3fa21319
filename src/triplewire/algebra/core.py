"""The core of a conjunction: without the triple patterns that follow from the others (Chandra and Merlin 1977)."""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Variable

from triplewire.algebra.pattern import Conjunction, Node, TriplePattern, render, variables_of
from triplewire.algebra.substitution import replace_nodes, replace_variables

_MOST_STEPS = 2000
"""A pattern that takes longer to fold stays as it is: less sharing, same meaning."""


def fold(branch: Conjunction, answer: frozenset[str]) -> Conjunction:
    """The conjunction without triple patterns that another one makes redundant; answers stay as they are."""
    triples = tuple(dict.fromkeys(branch.triples))
    fixed = set(answer)
    for optional in branch.optionals:
        fixed.update(name for triple in optional.triples for name in triple.variables)
    free = frozenset(name for triple in triples for name in triple.variables) - fixed
    branch = replace(branch, triples=triples)
    while free and (smaller := _smaller(branch, free)) is not None:
        branch = smaller
    return branch


def _smaller(branch: Conjunction, free: frozenset[str]) -> Conjunction | None:
    for triple in branch.triples:
        if not free.intersection(triple.variables):
            continue
        targets = [other for other in branch.triples if other != triple and _fits(triple, other, free)]
        if targets:
            mapping = _Folding(branch, free, without=triple).find(triple)
            if mapping is not None:
                return _image(branch, mapping)
    return None


def _fits(triple: TriplePattern, other: TriplePattern, free: frozenset[str]) -> bool:
    """A quick test whether the triple could be mapped onto the other one."""
    return all(a == b or (isinstance(a, Variable) and a.value in free) for a, b in zip(triple, other, strict=True))


def _image(branch: Conjunction, mapping: dict[str, Node]) -> Conjunction:
    return replace(
        branch,
        triples=tuple(dict.fromkeys(replace_nodes(triple, mapping) for triple in branch.triples)),
        conditions=tuple(dict.fromkeys(replace_variables(condition, mapping) for condition in branch.conditions)),
    )


class _Folding:
    """The search for a mapping of the conjunction into itself that avoids one triple pattern."""

    def __init__(self, branch: Conjunction, free: frozenset[str], without: TriplePattern) -> None:
        self.branch = branch
        self.free = free
        self.targets = [triple for triple in branch.triples if triple != without]
        self.conditions = {render(condition) for condition in branch.conditions}
        self.steps = 0

    def find(self, first: TriplePattern) -> dict[str, Node] | None:
        return self._extend([first], {})

    def _extend(self, pending: list[TriplePattern], mapping: dict[str, Node]) -> dict[str, Node] | None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return None
        if not pending:
            return mapping if self._keeps_conditions(mapping) else None
        triple, rest = pending[0], pending[1:]
        for target in self.targets:
            wider = self._unified(triple, target, mapping)
            if wider is None:
                continue
            moved = {name for name in wider.keys() - mapping.keys() if wider[name] != Variable(name)}
            more = [t for t in self.branch.triples if t not in rest and t != triple and moved.intersection(t.variables)]
            found = self._extend(rest + more, wider)
            if found is not None:
                return found
        return None

    def _unified(
        self, triple: TriplePattern, target: TriplePattern, mapping: dict[str, Node]
    ) -> dict[str, Node] | None:
        wider = dict(mapping)
        for node, image in zip(triple, target, strict=True):
            if isinstance(node, Variable) and node.value in self.free:
                if wider.setdefault(node.value, image) != image:
                    return None
            elif node != image:
                return None
        return wider

    def _keeps_conditions(self, mapping: dict[str, Node]) -> bool:
        """Every condition on a variable that moves must hold already where it moves to."""
        for condition in self.branch.conditions:
            if (
                variables_of(condition) & mapping.keys()
                and render(replace_variables(condition, mapping)) not in self.conditions
            ):
                return False
        # A triple that was visited before a variable of it moved must still be mapped onto a kept one.
        kept = set(self.targets)
        return all(replace_nodes(triple, mapping) in kept for triple in self.branch.triples)
