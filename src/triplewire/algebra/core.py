"""The core of a conjunction: without the triple patterns that follow from the others (Chandra and Merlin 1977).

Finding it is NP-hard, so the search has a number of steps to spend; what it does not get to stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyoxigraph import Variable

from triplewire.algebra.conditions import arranged
from triplewire.algebra.pattern import Conjunction, Expression, Node, TriplePattern, variable, variables_of
from triplewire.algebra.substitution import replace_nodes, replace_variables

MOST_STEPS = 30_000
"""How many pairs of triple patterns a conjunction may compare; beyond, it is less shared, and means the same."""

Mapping = dict[str, Node]
_Level = tuple[tuple[TriplePattern, ...], frozenset[TriplePattern], Iterator[tuple[Mapping, list[str]]]]
"""Of the search: the triple patterns still to be mapped, those that have been met, the ways for one of them."""


def fold(branch: Conjunction, answer: frozenset[str], most_steps: int = MOST_STEPS) -> Conjunction:
    """The conjunction without triple patterns that another one makes redundant; answers stay as they are."""
    triples = tuple(dict.fromkeys(branch.triples))
    if len(triples) < len(branch.triples):
        branch = replace(branch, triples=triples)
    if not _may_fold(triples):
        return branch
    optional = {name for part in branch.optionals for triple in part.triples for name in triple.variables}
    free = branch.variables - answer - optional
    return _Core(branch, free, most_steps).found() if free else branch


def _may_fold(triples: tuple[TriplePattern, ...]) -> bool:
    """False if each triple pattern has a predicate of its own: then none can take another's place."""
    predicates = {triple.predicate for triple in triples}
    return len(predicates) < len(triples) or any(isinstance(predicate, Variable) for predicate in predicates)


class _Core:
    """Takes out one triple pattern after the other.

    Each is looked at once: one that cannot go now cannot go later, because a way to do without it in the smaller
    conjunction, after the way into the smaller one, would have been a way before.
    """

    def __init__(self, branch: Conjunction, free: frozenset[str], most_steps: int) -> None:
        self.free = free
        self.steps = most_steps
        self.conditions = set(map(arranged, branch.conditions))
        """What is stated; of variables that are gone too, which no mapping leads to."""
        self._use(branch)

    def _use(self, branch: Conjunction) -> None:
        self.branch = branch
        self.triples = dict.fromkeys(branch.triples)
        self.with_nodes: defaultdict[tuple[Node | None, ...], list[TriplePattern]] = defaultdict(list)
        self.with_variable: defaultdict[str, list[TriplePattern]] = defaultdict(list)
        self.about_variable: defaultdict[str, list[Expression]] = defaultdict(list)
        for triple in branch.triples:
            subject, predicate, object = triple
            for key in ((subject, predicate), (None, predicate), (None, predicate, object)):
                self.with_nodes[key].append(triple)
            for name in triple.variables:
                self.with_variable[name].append(triple)
        for condition in branch.conditions:
            for name in variables_of(condition):
                self.about_variable[name].append(condition)

    def found(self) -> Conjunction:
        for triple in self.branch.triples:
            if self.steps <= 0:
                break
            if triple in self.triples and not self.free.isdisjoint(triple.variables):
                mapping = self._mapping_without(triple)
                if mapping is not None:
                    self._use(self._image(mapping))
        return self.branch

    def _image(self, mapping: Mapping) -> Conjunction:
        return replace(
            self.branch,
            triples=tuple(dict.fromkeys(replace_nodes(triple, mapping) for triple in self.branch.triples)),
            conditions=tuple(dict.fromkeys(arranged(replace_variables(c, mapping)) for c in self.branch.conditions)),
        )

    def _mapping_without(self, avoided: TriplePattern) -> Mapping | None:
        """A mapping of the conjunction into itself that avoids a triple pattern; depth first, without recursion.

        It may take half of the steps that are left, so that a hard one leaves something to the others.

        A triple pattern is visited when a variable of it moves, or is compared with one that moves; that leaves none of
        its variables to move later. Those that are never visited stay where they are.
        """
        last = self.steps // 2
        scheduled = frozenset((avoided,))
        stack: list[_Level] = [((), scheduled, self._ways(avoided, avoided, {}))]
        while stack:
            pending, scheduled, ways = stack[-1]
            if self.steps <= last:
                return None
            step = next(ways, None)
            if step is None:
                stack.pop()
                continue
            mapping, added = step
            if not self._keeps_conditions(mapping, added):
                continue
            moved = [name for name in added if mapping[name] != variable(name)]
            more = [t for name in moved for t in self._concerned(name) if t not in scheduled]
            waiting = (*pending, *dict.fromkeys(more))
            if waiting:
                stack.append((waiting[1:], scheduled.union(more), self._ways(waiting[0], avoided, mapping)))
            else:
                return mapping
        return None

    def _concerned(self, name: str) -> Iterator[TriplePattern]:
        """What must be mapped when a variable moves: its triple patterns, and what its conditions compare it with."""
        yield from self.with_variable[name]
        for condition in self.about_variable[name]:
            for other in variables_of(condition):
                if other != name and other in self.free:
                    self.steps -= 1
                    yield self.with_variable[other][0]

    def _ways(
        self, triple: TriplePattern, avoided: TriplePattern, mapping: Mapping
    ) -> Iterator[tuple[Mapping, list[str]]]:
        """The mapping, extended so that the triple pattern is another one, and the variables that this adds."""
        for target in self._targets(triple, mapping):
            self.steps -= 1 + len(mapping) // 32
            if self.steps <= 0:
                return
            if target != avoided:
                found = self._unified(triple, target, mapping)
                if found is not None:
                    yield found

    def _targets(self, triple: TriplePattern, mapping: Mapping) -> Iterable[TriplePattern]:
        """The triple patterns that have what is known of the image, by its predicate and another place."""
        subject, predicate, object = (self._known(node, mapping) for node in triple)
        if predicate is None:
            return self.branch.triples
        if subject is not None:
            return self.with_nodes.get((subject, predicate), ())
        return self.with_nodes.get((None, predicate) if object is None else (None, predicate, object), ())

    def _known(self, node: Node, mapping: Mapping) -> Node | None:
        return mapping.get(node.value) if isinstance(node, Variable) and node.value in self.free else node

    def _unified(
        self, triple: TriplePattern, target: TriplePattern, mapping: Mapping
    ) -> tuple[Mapping, list[str]] | None:
        added: Mapping = {}
        for node, image in zip(triple, target, strict=True):
            if isinstance(node, Variable) and node.value in self.free:
                known = mapping.get(node.value)
                if (added.setdefault(node.value, image) if known is None else known) != image:
                    return None
            elif node != image:
                return None
        return {**mapping, **added}, list(added)

    def _keeps_conditions(self, mapping: Mapping, added: list[str]) -> bool:
        """Each condition whose last variable was just mapped must be stated already of what it is mapped to."""
        for name in added:
            for condition in self.about_variable[name]:
                self.steps -= 1
                if (
                    variables_of(condition) & self.free <= mapping.keys()
                    and arranged(replace_variables(condition, mapping)) not in self.conditions
                ):
                    return False
        return True
