"""Plans: how partial matches of a shape may go on, whatever they have bound so far.

A partial match is a tuple with a number of a term for each variable of the shape, 0 for those that are still open.
A *stage* is a set of triple patterns to be matched together: the required ones; one optional part; or the path from a
triple pattern of an optional part to the required ones. A *move* matches one more triple pattern of a stage, by a
lookup whose key the partial match has. Where nothing else needs what the triple would bind, the variables stay open:
three properties with ten values each are thirty triples, and one partial match instead of a thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from triplewire.matching.incremental.lookups import Triple
from triplewire.matching.incremental.shapes import Shape

Bindings = tuple[int, ...]

PRESENT, FORWARD, BACKWARD, SCAN = range(4)
"""The kinds of moves: everything is bound; the subject is; the object is; neither."""

NOWHERE = -1
"""The number of a predicate that no triple has; 0 would be any."""


class AtomPlaces(NamedTuple):
    """A triple pattern of a stage: numbers of variables; `slot` is -1 if the predicate is the term `predicate`."""

    subject: int
    predicate: int
    slot: int
    object: int

    @property
    def mask(self) -> int:
        """Its variables as bits."""
        return 1 << self.subject | 1 << self.object | (1 << self.slot if self.slot >= 0 else 0)

    def kinds(self, bound: int) -> tuple[int, ...]:
        """The kinds of moves that match it where these variables are bound."""
        subject, object = bound >> self.subject & 1, bound >> self.object & 1
        if not subject and not object:
            return (SCAN,)
        if subject and object:
            return (PRESENT,) if self.slot < 0 or bound >> self.slot & 1 else (FORWARD, BACKWARD)
        return (FORWARD,) if subject else (BACKWARD,)

    def triples(self, matches: Iterable[Bindings]) -> list[Triple]:
        """The triple that each partial match has here, where all its variables are bound."""
        subject, predicate, slot, object = self
        if slot < 0:
            return [(b[subject], predicate, b[object]) for b in matches]
        return [(b[subject], b[slot], b[object]) for b in matches]

    def keys(self, kind: int, slot: int, matches: Iterable[Bindings]) -> Sequence[tuple[int, ...]]:
        """The keys of a kind of move; the predicate is the value of `slot`, or if that is -1 the one here (0: any)."""
        subject, predicate, _, object = self
        if kind == FORWARD:
            if slot < 0:
                return [(b[subject], predicate) for b in matches]
            return [(b[subject], b[slot]) for b in matches]
        if kind == BACKWARD:
            if slot < 0:
                return [(predicate, b[object]) for b in matches]
            return [(b[slot], b[object]) for b in matches]
        if kind == PRESENT:
            return self.triples(matches)
        return [(predicate if slot < 0 else b[slot], 0) for b in matches]


@dataclass(frozen=True, slots=True)
class Move:
    """One more triple pattern: the lookup's key is made of what is bound, the triples found bind or check the rest."""

    kind: int
    places: AtomPlaces
    slot: int
    """The variable whose value is the key's predicate; -1: it is `places.predicate`, which is 0 for any."""
    sets: tuple[tuple[int, int], ...]
    """(place of the triple, variable that it binds)."""
    checks: tuple[tuple[int, int], ...]
    """(place of the triple, variable that it must equal)."""
    same: tuple[tuple[int, int], ...]
    """Two places that must be equal."""
    done: int
    bound: int
    is_leaf: bool
    """Nothing else needs what it would bind: any triple will do, and all are taken at the end."""

    def keys(self, matches: Iterable[Bindings]) -> Sequence[tuple[int, ...]]:
        """The keys of the lookups for partial matches."""
        return self.places.keys(self.kind, self.slot, matches)


@dataclass(eq=False, slots=True)
class PlanStage:
    """Triple patterns that are matched together; its moves are found when they are first asked for.

    `kept` are the variables that later stages need, as bits.
    """

    atoms: tuple[AtomPlaces, ...]
    kept: int = 0
    mask: int = 0
    full: int = 0
    _moves: dict[tuple[int, int], list[Move]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = (1 << len(self.atoms)) - 1
        self.mask = _united(self.atoms)

    def moves(self, done: int, bound: int) -> list[Move]:
        """The moves of partial matches that have matched and bound this much, the likely cheapest first.

        One that only asks whether a triple is there goes before all others, alone.
        """
        found = self._moves.get((done, bound))
        if found is None:
            open_atoms = [i for i in range(len(self.atoms)) if not done >> i & 1]
            every = [self._move(i, kind, done, bound) for i in open_atoms for kind in range(4)]
            found = sorted((move for move in every if move is not None), key=lambda move: move.kind)
            if found and found[0].kind == PRESENT:
                found = found[:1]
            self._moves[done, bound] = found
        return found

    def skipped(self, done: int, bound: int) -> int:
        """The variables of matched triple patterns that have stayed open."""
        return _united(atom for i, atom in enumerate(self.atoms) if done >> i & 1) & ~bound

    def _move(self, number: int, kind: int, done: int, bound: int) -> Move | None:
        """The move of a kind that matches an atom, if it has what its key needs (and is not one that asks for less)."""
        atom = self.atoms[number]
        if kind not in atom.kinds(bound):
            return None
        known = atom.slot < 0 or bound >> atom.slot & 1
        in_key = {0: kind in (PRESENT, FORWARD), 1: bool(known), 2: kind in (PRESENT, BACKWARD)}
        sets: dict[int, int] = {}
        checks, same = [], []
        for place, slot in ((0, atom.subject), (1, atom.slot), (2, atom.object)):
            if slot < 0 or in_key[place]:
                continue
            if bound >> slot & 1:
                checks.append((place, slot))
            elif slot in sets:
                same.append((sets[slot], place))
            else:
                sets[slot] = place
        others = _united(other for i, other in enumerate(self.atoms) if i != number) | self.kept
        is_leaf = kind != PRESENT and not checks and not same and not any(others >> slot & 1 for slot in sets)
        return Move(
            kind,
            atom,
            atom.slot if known else -1,
            tuple((place, slot) for slot, place in sets.items()),
            tuple(checks),
            tuple(same),
            done | 1 << number,
            bound if is_leaf else bound | atom.mask,
            is_leaf,
        )


def _united(atoms: Iterable[AtomPlaces]) -> int:
    mask = 0
    for atom in atoms:
        mask |= atom.mask
    return mask


@dataclass(frozen=True, eq=False, slots=True)
class ShapePlan:
    """A shape with the numbers of its predicates.

    Invariant: where `required` or a part is None, it has a predicate that no triple has.
    """

    width: int
    constants: tuple[int, ...]
    required: PlanStage | None
    parts: tuple[PlanStage | None, ...]
    atoms: tuple[AtomPlaces, ...]
    """By position."""
    paths: tuple[PlanStage | None, ...]
    """By position, from optional ones: what leads to a required variable, empty if the position has one; or None."""

    @property
    def required_mask(self) -> int:
        """The variables of the required triple patterns."""
        return self.required.mask if self.required else 0


@lru_cache(maxsize=65536)
def plan_of(shape: Shape, predicates: tuple[int, ...]) -> ShapePlan:
    """The plan of a shape; `predicates` are the numbers of `shape.predicates`, 0 for one that no triple has."""
    numbers = {text: number or NOWHERE for text, number in zip(shape.predicates, predicates, strict=True)}

    def stage(triples: Sequence[tuple[int, int | str, int]]) -> tuple[AtomPlaces, ...]:
        return tuple(
            AtomPlaces(s, 0, p, o) if isinstance(p, int) else AtomPlaces(s, numbers[p], -1, o) for s, p, o in triples
        )

    required, *parts = (stage(part) for part in (shape.required, *shape.optionals))
    atoms = required + tuple(atom for part in parts for atom in part)
    paths = [_path(part, i, _united(required)) for part in parts for i in range(len(part))]
    return ShapePlan(
        max((atom.mask.bit_length() for atom in atoms), default=0),
        shape.constants,
        _possible(required, _united(atom for part in parts for atom in part)),
        tuple(_possible(part, 0) for part in parts),
        atoms,
        (*(None for _ in required), *paths),
    )


def _possible(atoms: tuple[AtomPlaces, ...], kept: int) -> PlanStage | None:
    return PlanStage(atoms, kept) if all(atom.predicate != NOWHERE for atom in atoms) else None


def _path(part: tuple[AtomPlaces, ...], start: int, required: int) -> PlanStage | None:
    """The shortest way from a triple pattern of an optional part to a required variable.

    Why no other of the part's triple patterns: they may be missing in the state that is asked. Of the changed triples
    of a part one is the nearest to the required ones, and those on its shortest way are in both states.
    """
    ways: list[tuple[int, ...]] = [(start,)]
    seen = {start}
    for way in ways:
        last = part[way[-1]].mask
        if last & required:
            return PlanStage(tuple(part[i] for i in way[1:]), required)
        near = [i for i, atom in enumerate(part) if i not in seen and atom.mask & last]
        seen.update(near)
        ways += [(*way, i) for i in near]
    return None
