"""Groups of partial matches, the ways that they have, and the steps that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from triplewire.matching.incremental.answers import Key, LookupAnswers
from triplewire.matching.incremental.lookups import Triple
from triplewire.matching.incremental.plans import Bindings, Move, PlanStage, ShapePlan

Users = Callable[[Sequence[int], int], list[list[tuple[int, ...]] | None]]
"""From atoms and `most` to the constants of the conjunctions that use each atom; None if there are more than `most`."""

Origin = tuple[int, ...]
"""The atoms that seeded a partial match."""

REQUIRED: Origin = ()
"""The lineage of partial matches from a required seed."""

BY_CONSTANTS: Origin = (-1,)
"""The lineage of partial matches that go on with what they have: their constants are known, or decide nothing."""


@dataclass(eq=False, slots=True)
class MatchGroup:
    """Partial matches of one shape that have matched the same triple patterns and bound the same variables.

    `lineage` keeps apart what must not become one: those that go by constants; and those from optional seeds by their
    atoms, because the seed is no part of them. Those from required seeds may become one whatever their seeds: if two
    are equal, both have both seeds among their triples, and the users of either seed's atoms are enough.
    """

    owner: int
    plan: ShapePlan
    stage: PlanStage
    done: int
    bound: int
    lineage: Origin
    waiting: dict[Bindings, Origin] = field(default_factory=dict)
    known: set[Bindings] = field(default_factory=set)

    @property
    def moves(self) -> list[Move]:
        """The moves that they have."""
        return self.stage.moves(self.done, self.bound)


@dataclass(slots=True)
class MatchStep:
    """Partial matches of a group that make one move, with the move's keys."""

    group: MatchGroup
    move: Move
    matches: list[Bindings]
    origins: list[Origin]
    keys: Sequence[Key]

    def only(self, rows: Sequence[int]) -> MatchStep:
        """The same for some of the partial matches."""
        matches, origins = [self.matches[i] for i in rows], [self.origins[i] for i in rows]
        return MatchStep(self.group, self.move, matches, origins, [self.keys[i] for i in rows])


class MatchWays:
    """Partial matches of a group that must choose: `columns` has the moves looked at, with the keys of all of them."""

    __slots__ = ("columns", "group", "matches", "origins")

    def __init__(self, group: MatchGroup, matches: list[Bindings], origins: list[Origin]) -> None:
        self.group, self.matches, self.origins = group, matches, origins
        self.columns: list[tuple[Move, Sequence[Key]]] = []

    def look(self, kind: int) -> None:
        """Look at the moves of a kind too."""
        self.columns += [(move, move.keys(self.matches)) for move in self.group.moves if move.kind == kind]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the partial matches only."""
        self.matches = [self.matches[i] for i in rows]
        self.origins = [self.origins[i] for i in rows]
        self.columns = [(move, [keys[i] for i in rows]) for move, keys in self.columns]

    def sizes(self, answers: LookupAnswers) -> list[list[int]]:
        """How many triples each move has, for each of the partial matches."""
        return [answers.sizes(move.kind, keys) for move, keys in self.columns]

    def step(self, column: int, rows: Sequence[int] | None = None) -> MatchStep:
        """The move of a column for some of the partial matches, or all."""
        move, keys = self.columns[column]
        step = MatchStep(self.group, move, self.matches, self.origins, keys)
        return step if rows is None else step.only(rows)


def extended(
    move: Move, matches: Sequence[Bindings], origins: Sequence[Origin], lists: Sequence[Sequence[Triple]]
) -> dict[Bindings, Origin]:
    """Partial matches with one triple more: each with each of its triples that fits."""
    made: dict[Bindings, Origin] = {}
    if len(move.sets) == 1 and not move.checks and not move.same:
        ((place, slot),) = move.sets
        after = slot + 1
        for match, origin, triples in zip(matches, origins, lists, strict=True):
            head, tail = match[:slot], match[after:]
            for triple in triples:
                made[(*head, triple[place], *tail)] = origin
        return made
    for match, origin, triples in zip(matches, origins, lists, strict=True):
        for triple in triples:
            if all(triple[place] == match[slot] for place, slot in move.checks) and all(
                triple[one] == triple[other] for one, other in move.same
            ):
                wider = list(match)
                for place, slot in move.sets:
                    wider[slot] = triple[place]
                made[tuple(wider)] = origin
    return made


def projected(match: Bindings, mask: int) -> Bindings:
    """A partial match that has forgotten all but some variables."""
    return tuple([value if mask >> slot & 1 else 0 for slot, value in enumerate(match)])


def bound_by(match: Bindings) -> int:
    """The variables that a partial match binds, as bits."""
    return sum(1 << slot for slot, value in enumerate(match) if value)
