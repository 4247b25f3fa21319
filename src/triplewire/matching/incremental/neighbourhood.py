"""The neighbourhood of seeds: partial matches that advance together, in rounds.

Each round matches one more triple pattern of every partial match. The lookups that a round needs are batched over all
of them, so their number follows the depth of the patterns and not the number of seeds. Equal partial matches are one.

The order: what is known to be there or not; then forward, because a subject has few triples; then backward by the
smallest degree. Partial matches to which every way is large take a detour (`detours`), or the smallest of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triplewire.matching.incremental.answers import Key, LookupAnswers
from triplewire.matching.incremental.detours import Detours
from triplewire.matching.incremental.fans import PutOff
from triplewire.matching.incremental.groups import (
    BY_CONSTANTS,
    MatchGroup,
    MatchStep,
    MatchWays,
    Origin,
    Users,
    bound_by,
    extended,
    projected,
)
from triplewire.matching.incremental.lookups import Lookups, Triple
from triplewire.matching.incremental.plans import BACKWARD, FORWARD, PRESENT, Bindings, PlanStage, ShapePlan

HIGH = 256
"""How many triples a move may have before another way is looked for."""

MOST_TRIPLES = 1_000_000
"""How many triples the partial matches of one owner may take; beyond, it is refused."""


class Neighbourhood:
    """Finds the triples around what is put in; `refused` has the owners that need too many, and why."""

    def __init__(
        self, lookups: Lookups, users: Users | None, high: int, most_triples: int, put_off: PutOff | None = None
    ) -> None:
        self.triples: set[Triple] = set()
        self.refused: dict[int, str] = {}
        self._answers = LookupAnswers(lookups, high + 1)
        self._users = users
        self._put_off = put_off
        self._high, self._most = high, most_triples
        self._groups: dict[tuple[int, PlanStage, int, int, Origin], MatchGroup] = {}
        self._active: dict[MatchGroup, None] = {}
        self._spent: defaultdict[int, int] = defaultdict(int)

    def group(
        self, owner: int, plan: ShapePlan, stage: PlanStage, done: int, bound: int, lineage: Origin
    ) -> MatchGroup:
        """The group of partial matches that have come this far."""
        key = (owner, stage, done, bound, lineage)
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = MatchGroup(owner, plan, stage, done, bound, lineage)
        return found

    def put(self, group: MatchGroup, matches: dict[Bindings, Origin]) -> None:
        """Partial matches that have come this far; those that came before are passed over."""
        known = group.known
        fresh = {match: origin for match, origin in matches.items() if match not in known} if known else matches
        if not fresh:
            return
        known.update(fresh)
        if group.done == group.stage.full:
            self._finish(group, fresh)
        else:
            group.waiting.update(fresh)
            self._active[group] = None

    def _finish(self, group: MatchGroup, matches: dict[Bindings, Origin]) -> None:
        """A stage is complete: its triples are found, or it was a path to the required ones."""
        plan, stage = group.plan, group.stage
        if stage is not plan.required and stage not in plan.parts:
            self.begin_required(group.owner, plan, group.bound, group.lineage, matches)
            return
        self._collect(group, matches)
        if stage is plan.required:
            for part in plan.parts:
                if part is not None:
                    bases = dict.fromkeys([projected(match, part.mask) for match in matches], BY_CONSTANTS)
                    self.put(self.group(group.owner, plan, part, 0, group.bound & part.mask, BY_CONSTANTS), bases)

    def _collect(self, group: MatchGroup, matches: dict[Bindings, Origin]) -> None:
        """Take the triples of complete matches; where variables stayed open, all that were found there."""
        for atom in group.stage.atoms:
            if not atom.mask & ~group.bound:
                self.triples.update(atom.triples(matches))
                continue
            (kind,) = atom.kinds(group.bound)
            slot = atom.slot if atom.slot >= 0 and group.bound >> atom.slot & 1 else -1
            for key in set(atom.keys(kind, slot, matches)):
                self.triples.update(self._answers.found[kind][key])

    def begin_required(
        self, owner: int, plan: ShapePlan, bound: int, lineage: Origin, matches: dict[Bindings, Origin]
    ) -> None:
        """From an optional seed: the required triple patterns, with what is known of their variables."""
        assert plan.required is not None
        mask = plan.required.mask
        bases = {projected(match, mask): origin for match, origin in matches.items()}
        self.put(self.group(owner, plan, plan.required, 0, bound & mask, lineage), bases)

    def run(self) -> None:
        """Advance until every partial match is complete or dead."""
        while self._active:
            groups, self._active = list(self._active), {}
            turns = []
            for group in groups:
                waiting, group.waiting = group.waiting, {}
                if group.owner not in self.refused:
                    turns.append(MatchWays(group, list(waiting), list(waiting.values())))
            self._round(turns)

    def _round(self, turns: list[MatchWays]) -> None:
        for way in turns:
            way.look(PRESENT)
        steps = [way.step(0) for way in turns if way.columns]
        ways = [way for way in turns if not way.columns]
        for way in ways:
            way.look(FORWARD)
        self._count(ways)
        along: list[tuple[int, Sequence[Key]]] = []
        crowded = [way for way in ways if not self._goes_forward(way, steps, along)]
        for way in crowded:
            way.look(BACKWARD)
        self._count(crowded)
        hard = [way for way in crowded if self._is_left(way, steps)]
        if hard:
            steps += self._detours(hard)
        self._answers.fetch([*((step.move.kind, step.keys) for step in steps), *along])
        for step in steps:
            self._take(step)

    def _count(self, ways: list[MatchWays]) -> None:
        self._answers.count([(move.kind, keys) for way in ways for move, keys in way.columns], self._high + 1)

    def _goes_forward(self, way: MatchWays, steps: list[MatchStep], along: list[tuple[int, Sequence[Key]]]) -> bool:
        """True if all go forward by one move, or none is left.

        The other forward moves are looked up along: what hangs from one subject takes one lookup.
        """
        sizes = way.sizes(self._answers)
        if any(0 in column for column in sizes):
            way.keep([i for i, row in enumerate(zip(*sizes, strict=True)) if 0 not in row])
            sizes = way.sizes(self._answers)
        if not way.matches:
            return True
        largest = [max(column) for column in sizes]
        if not largest or min(largest) > self._high:
            return False
        steps.append(way.step(largest.index(min(largest))))
        along += [
            (move.kind, keys) for (move, keys), most in zip(way.columns, largest, strict=True) if most <= self._high
        ]
        return True

    def _is_left(self, way: MatchWays, steps: list[MatchStep]) -> bool:
        """Each goes by its smallest move; True if some are left, to which every move is large."""
        sizes = way.sizes(self._answers)
        if not sizes:
            return True
        chosen: defaultdict[int, list[int]] = defaultdict(list)
        for i, row in enumerate(zip(*sizes, strict=True)):
            smallest = min(row)
            if smallest:
                chosen[row.index(smallest) if smallest <= self._high else -1].append(i)
        left = chosen.pop(-1, [])
        steps += [way.step(column, rows) for column, rows in chosen.items()]
        way.keep(left)
        return bool(left)

    def _detours(self, ways: list[MatchWays]) -> list[MatchStep]:
        """By constants where that is less; else by the smallest move, within the limit."""
        detours = Detours(ways, self._answers, self._users, self._most, self._put_off)
        for group, match, origin in detours.by_constants():
            self.put(
                self.group(group.owner, group.plan, group.stage, group.done, bound_by(match), BY_CONSTANTS),
                {match: origin},
            )
        steps, too_large = detours.smallest()
        for owner in too_large:
            self._refuse(owner)
        return [step for step in steps if step.group.owner not in self.refused]

    def _take(self, step: MatchStep) -> None:
        group, move = step.group, step.move
        found = self._answers.found[move.kind]
        lists = [found[key] for key in step.keys]
        if move.kind == PRESENT or move.is_leaf:
            rows = zip(step.matches, step.origins, lists, strict=True)
            matches = {match: origin for match, origin, some in rows if some}
        else:
            self._spent[group.owner] += sum(map(len, lists))
            if self._spent[group.owner] > self._most:
                self._refuse(group.owner)
                return
            matches = extended(move, step.matches, step.origins, lists)
        if matches:
            self.put(self.group(group.owner, group.plan, group.stage, move.done, move.bound, group.lineage), matches)

    def _refuse(self, owner: int) -> None:
        reason = f"finding its answers takes more than {self._most:,} triples; narrow it, or raise most_triples"
        self.refused[owner] = reason
