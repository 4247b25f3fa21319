"""Queries over a whole graph, taken apart: what to keep of the graph, and where to begin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pyoxigraph import Variable

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Pattern, columns_of
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.matching.finder.plan import SeedPlan, WideBranch
from triplewire.matching.incremental import Shape, atoms_of, enumerating, shape_of
from triplewire.matching.incremental.flat import NumberLists
from triplewire.matching.index import Index

_NO_LIMIT = (1 << 31) - 1
"""What one triple must be is tested once for each triple, however many a document has."""

_Key = tuple[int, int, int]
"""A shape, a position, and the number of what fits there."""


class _Branch(NamedTuple):
    """A conjunction of a query; `kinds` are the numbers of what fits its required positions."""

    query: int
    conjunction: Conjunction
    shape: int
    kinds: tuple[int, ...]


class _Beginning(NamedTuple):
    """Where a conjunction begins: a position of its shape, and the kind of the triples that are seeds there."""

    branch: _Branch
    position: int
    kind: int


class Queries:
    """Queries by number; subscriptions that ask the same are one. A *kind* is what one triple must be to fit an atom.

    Equal atoms of different shapes and positions are one kind, so that a triple is tested once for all of them.
    """

    def __init__(self, subscriptions: Iterable[tuple[str, Pattern]] = ()) -> None:
        self.patterns: list[Pattern] = []
        self.subscriptions: list[list[str]] = []
        """By query, the subscriptions that ask it."""
        self.kinds: list[Pattern] = []
        self.constants: set[str] = set()
        """The texts of all terms that queries name: they may stand in a row though no triple has them."""
        self._numbers: dict[Pattern, int] = {}
        self._kinds: dict[str, int] = {}
        self._shapes: dict[Shape, int] = {}
        self._branches: list[_Branch] = []
        for id, pattern in subscriptions:
            self.add(id, pattern)

    def add(self, id: str, pattern: Pattern) -> None:
        """A subscription's pattern."""
        normal = normalize(pattern)
        number = self._numbers.setdefault(normal, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(normal)
            self.subscriptions.append([])
            for branch in normal.branches:
                self._take_apart(number, branch)
        self.subscriptions[number].append(id)

    def _take_apart(self, query: int, branch: Conjunction) -> None:
        atoms = atoms_of(branch, is_normal=True)
        if any(not atom.pattern.branches for atom in atoms if not atom.is_optional):
            return  # a position that nothing can fit
        self.constants.update(str(term) for _, term in branch.bindings)
        for triple in (*branch.triples, *(triple for part in branch.optionals for triple in part.triples)):
            self.constants.update(str(node) for node in triple if not isinstance(node, Variable))
        required = []
        for atom in atoms:
            kind = self._kinds.setdefault(atom.definition, len(self.kinds))
            if kind == len(self.kinds):
                self.kinds.append(atom.pattern)
            if not atom.is_optional:
                required.append(kind)
        shape = self._shapes.setdefault(shape_of(branch).shape, len(self._shapes))
        self._branches.append(_Branch(query, branch, shape, tuple(required)))

    def fitting(self, taxonomy: Taxonomy) -> Index:
        """An index that tells the kinds of a triple; a triple without one is in no answer."""
        index = Index(taxonomy, max_rows=_NO_LIMIT, max_steps=_NO_LIMIT)
        for number, pattern in enumerate(self.kinds):
            index.add(str(number), enumerating(pattern))
        return index

    def rarest(self, counts: Mapping[int, int]) -> set[int]:
        """The kinds at which all conjunctions would begin, if there are `counts` triples of each."""
        return {branch.kinds[_rarest_place(branch, counts)] for branch in self._branches}

    def plans(self, counts: Mapping[int, int], index: Index, number: Callable[[str], int]) -> list[SeedPlan]:
        """Where to begin, if there are `counts` triples of each kind; taxonomy and limits are those of an index.

        `number` gives the numbers of constants from their texts.

        Queries with optional parts have a plan of their own: what is gathered for them is looked at as a whole once
        more, to see which columns a row has.
        """
        rarest = [(branch, _rarest_place(branch, counts)) for branch in self._branches]
        return self._planned([_Beginning(branch, at, branch.kinds[at]) for branch, at in rarest], index, number)

    def fan_plans(
        self, places: Sequence[tuple[int, int]], index: Index, number: Callable[[str], int]
    ) -> list[SeedPlan]:
        """Where to begin with what was put off: all conjunctions of a shape at a position of it.

        The kind of a triple of a fan is the number of the fan's place in this list.
        """
        by_shape: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for kind, (shape, position) in enumerate(places):
            by_shape[shape].append((position, kind))
        begins = [
            _Beginning(branch, position, kind)
            for branch in self._branches
            for position, kind in by_shape.get(branch.shape, ())
        ]
        return self._planned(begins, index, number)

    def _planned(self, begins: Sequence[_Beginning], index: Index, number: Callable[[str], int]) -> list[SeedPlan]:
        narrow, wide = _Building(index, number), _Building(index, number)
        by_query: defaultdict[int, list[_Beginning]] = defaultdict(list)
        for begin in begins:
            by_query[begin.branch.query].append(begin)
        for query, own in by_query.items():
            pattern = self.patterns[query]
            if any(branch.optionals for branch in pattern.branches):
                for begin in own:
                    wide.add_wide(begin, pattern.answer)
            else:
                narrow.add(own, pattern)
        return [building.plan(list(self._shapes)) for building in (narrow, wide) if building.queries]


def _rarest_place(branch: _Branch, counts: Mapping[int, int]) -> int:
    return min(range(len(branch.kinds)), key=lambda place: counts.get(branch.kinds[place], 0))


class _Building:
    """A plan in the making."""

    def __init__(self, like: Index, number: Callable[[str], int]) -> None:
        max_rows, max_steps = like.limits
        self._index = Index(like.taxonomy, max_rows=max_rows, max_steps=max_steps)
        self._number = number
        self.queries: list[int] = []
        """By entry of the index, its query."""
        self._wide: dict[int, WideBranch] = {}
        self._atoms: dict[_Key, int] = {}
        self._uses: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._constants: defaultdict[int, dict[tuple[int, ...], None]] = defaultdict(dict)

    def add(self, begins: list[_Beginning], pattern: Pattern) -> None:
        """A query without optional parts: one entry of the index."""
        entry = self._enter(begins[0].branch.query, pattern)
        for begin in begins:
            self._seed(entry, begin)

    def add_wide(self, begin: _Beginning, answer: tuple[str, ...]) -> None:
        """A branch of a query with optional parts: an entry that tells its seed too (`WideBranch` says why)."""
        branch = begin.branch
        triple = shape_of(branch.conjunction).triples[begin.position]
        columns = columns_of(branch.conjunction)
        own = [name for name in answer if name in columns]
        names = list(dict.fromkeys([*own, *triple.variables]))
        entry = self._enter(branch.query, Pattern(tuple(names), (branch.conjunction,)))
        seed = [
            (names.index(node.value), 0) if isinstance(node, Variable) else (-1, self._number(str(node)))
            for node in triple
        ]
        places = [names.index(name) if name in columns else -1 for name in answer]
        atom = self._seed(entry, begin)
        self._wide[entry] = WideBranch(atom, tuple(places), (seed[0], seed[1], seed[2]))

    def _enter(self, query: int, pattern: Pattern) -> int:
        entry = len(self.queries)
        self.queries.append(query)
        self._index.add(str(entry), pattern)
        return entry

    def _seed(self, entry: int, begin: _Beginning) -> int:
        atom = self._atoms.setdefault((begin.branch.shape, begin.position, begin.kind), len(self._atoms))
        self._uses[atom][entry] = None
        constants = shape_of(begin.branch.conjunction).constants
        self._constants[atom][tuple(self._number(str(constant)) for constant in constants)] = None
        return atom

    def plan(self, shapes: list[Shape]) -> SeedPlan:
        """The plan of what was added."""
        atoms = range(len(self._atoms))
        keys = [(kind, shape, position, atom) for (shape, position, kind), atom in self._atoms.items()]
        widths = [len(shapes[shape].constants) for shape, _, _ in self._atoms]
        return SeedPlan(
            self._index,
            dict(enumerate(shapes)),
            self._wide,
            np.array(self.queries, dtype=np.int64),
            np.array(sorted(keys), dtype=np.int64).reshape(-1, 4),
            NumberLists.of([list(self._uses[atom]) for atom in atoms]),
            NumberLists.of([[number for row in self._constants[atom] for number in row] for atom in atoms]),
            np.array(widths, dtype=np.int64),
        )
