"""Detours: partial matches to which every way is large go on by constants, where those lead to fewer triples.

A shape's constants are open variables, so a partial match of a shape stands for those of all its subscriptions. At a
hub (a class with a million instances, a publisher with 100,000 datasets) that is the wrong way in: each
subscription's constants are filled in, and each of these partial matches chooses its own way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from triplewire.matching.incremental.answers import Key, LookupAnswers
from triplewire.matching.incremental.fans import PutOff
from triplewire.matching.incremental.groups import (
    BY_CONSTANTS,
    MatchGroup,
    MatchStep,
    MatchWays,
    Origin,
    Users,
    bound_by,
)
from triplewire.matching.incremental.plans import BACKWARD, FORWARD, PRESENT, SCAN, Bindings

COUNTED = 100_000
"""Up to how many the triples of a large move are counted, to compare it with others."""

_Constants = list[tuple[int, ...]] | None


class Detours:
    """Decides for one round's partial matches that have only large moves left."""

    def __init__(
        self,
        ways: list[MatchWays],
        answers: LookupAnswers,
        users: Users | None,
        most_triples: int,
        put_off: PutOff | None,
    ) -> None:
        self._ways, self._answers, self._users, self._most = ways, answers, users, most_triples
        self._put_off = put_off
        for way in ways:
            way.look(SCAN)
        self._count(ways)

    def _count(self, ways: list[MatchWays]) -> None:
        self._answers.count([(move.kind, keys) for way in ways for move, keys in way.columns], COUNTED)

    def by_constants(self) -> Iterator[tuple[MatchGroup, Bindings, Origin]]:
        """The partial matches with constants filled in that are the better way; those they come from are gone."""
        open_ways = [way for way in self._ways if self._users is not None and _open_constants(way.group)]
        constants = self._constants(open_ways)
        tried = [(way, filled) for way in open_ways for filled in [self._filled(way, constants)]]
        costs = self._costs([(way.group, match) for way, filled in tried for row in filled.values() for match in row])
        for way, filled in tried:
            smallest = self._smallest_sizes(way)
            taken = {row for row, made in filled.items() if sum(costs[way.group, m] for m in made) < smallest[row]}
            for row in taken:
                yield from ((way.group, match, way.origins[row]) for match in filled[row])
            way.keep([row for row in range(len(way.matches)) if row not in taken])

    def _constants(self, ways: list[MatchWays]) -> dict[int, _Constants]:
        """The constants of conjunctions that use the atoms that seeded the partial matches, if they are few enough."""
        atoms = sorted({atom for way in ways for origin in way.origins for atom in origin})
        if not atoms or self._users is None:
            return {}
        most = max(max(self._smallest_sizes(way)) for way in ways)
        return dict(zip(atoms, self._users(atoms, most), strict=True))

    def _smallest_sizes(self, way: MatchWays) -> list[int]:
        return [min(row) for row in zip(*way.sizes(self._answers), strict=True)]

    def _filled(self, way: MatchWays, constants: dict[int, _Constants]) -> dict[int, list[Bindings]]:
        """The partial matches of a row with each user's constants; without the rows that have too many users."""
        found: dict[int, list[Bindings]] = {}
        for row, (match, origin, size) in enumerate(
            zip(way.matches, way.origins, self._smallest_sizes(way), strict=True)
        ):
            lists = [constants[atom] for atom in origin]
            if origin and all(users is not None and len(users) < size for users in lists):
                made = [_fill(way.group, match, values) for users in lists for values in users or ()]
                found[row] = list(dict.fromkeys(wider for wider in made if wider is not None))
        return found

    def _costs(self, made: list[tuple[MatchGroup, Bindings]]) -> dict[tuple[MatchGroup, Bindings], int]:
        """What each would take: itself, and the triples of its smallest move."""
        by_bound: defaultdict[tuple[MatchGroup, int], list[Bindings]] = defaultdict(list)
        for group, match in made:
            by_bound[group, bound_by(match)].append(match)
        ways = []
        for (group, bound), matches in by_bound.items():
            way = MatchWays(replace(group, bound=bound), matches, [BY_CONSTANTS] * len(matches))
            for kind in (PRESENT, FORWARD, BACKWARD, SCAN):
                way.look(kind)
            ways.append((group, way))
        is_large = [way.columns[0][0].kind != PRESENT for _, way in ways]
        self._count([way for (_, way), large in zip(ways, is_large, strict=True) if large])
        costs: dict[tuple[MatchGroup, Bindings], int] = {}
        for (group, way), large in zip(ways, is_large, strict=True):
            sizes = self._smallest_sizes(way) if large else [0] * len(way.matches)
            costs |= {(group, match): 1 + size for match, size in zip(way.matches, sizes, strict=True)}
        return costs

    def smallest(self) -> tuple[list[MatchStep], set[int]]:
        """The steps of all others by their smallest moves, and the owners for whom these are too large.

        Without those that are put off.
        """
        steps: list[MatchStep] = []
        for way in self._ways:
            chosen: defaultdict[int, list[int]] = defaultdict(list)
            for i, row in enumerate(zip(*way.sizes(self._answers), strict=True)):
                if min(row):
                    chosen[row.index(min(row))].append(i)
            steps += [way.step(column, rows) for column, rows in chosen.items()]
        asked = [(step.move.kind, step.keys) for step in steps]
        self._answers.count(asked, self._most + 1)
        if self._put_off is not None:
            steps = self._put_off.without(steps, self._answers)
        taken: defaultdict[int, set[tuple[int, Key]]] = defaultdict(set)
        for step in steps:
            taken[step.group.owner].update((step.move.kind, key) for key in step.keys)
        return steps, {owner for owner, keys in taken.items() if self._total(keys) > self._most}

    def _total(self, keys: set[tuple[int, Key]]) -> int:
        return sum(self._answers.sizes(kind, [key])[0] for kind, key in keys)


def _open_constants(group: MatchGroup) -> list[tuple[int, int]]:
    """(place among the constants, variable) of those that could still lead somewhere."""
    if group.lineage == BY_CONSTANTS:
        return []
    closed = group.bound | group.stage.skipped(group.done, group.bound)
    return [(i, slot) for i, slot in enumerate(group.plan.constants) if not closed >> slot & 1]


def _fill(group: MatchGroup, match: Bindings, constants: tuple[int, ...]) -> Bindings | None:
    """The partial match with constants; None if it has others, or one of a required place is no term of the store."""
    wider = list(match)
    for slot, value in zip(group.plan.constants, constants, strict=True):
        if (wider[slot] and wider[slot] != value) or (not value and group.plan.required_mask >> slot & 1):
            return None
    for place, slot in _open_constants(group):
        wider[slot] = constants[place]
    return tuple(wider)
