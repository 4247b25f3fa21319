"""Fans: what a popular node leads to, put off so that others can share it.

From a publisher with 100,000 datasets one partial match becomes 100,000, all in the hands of the worker that has the
seed. Where that is too much for one, gathering stops there, and names the triples that it would have taken: a *fan*,
which is a position of a shape and the key of a lookup.

Invariant: every solution of a partial match that was put off has a triple of the fan at the fan's position. So the
triples of the fan, planted there as seeds, find no fewer solutions; and seeds can be shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from triplewire.matching.incremental.answers import Key, LookupAnswers
from triplewire.matching.incremental.groups import BY_CONSTANTS, MatchGroup, MatchStep, Origin
from triplewire.matching.incremental.lookups import Lookups, Triple
from triplewire.matching.incremental.plans import FORWARD, SCAN

POPULAR = 2_000
"""More triples than this are a fan; fewer are no burden beside the seeds that a share has anyway."""
ROUNDS = 2
"""How often what was put off may be put off again, for a popular node behind another one; the last share all."""
_ODD = 0x9E3779B97F4A7C15


class Fan(NamedTuple):
    """The triples of a key that fit a position of a shape: `kind` is that of the lookup, `size` how many there are.

    `atoms` are those that seeded the partial matches which led here.
    """

    shape: int
    position: int
    kind: int
    key: Key
    atoms: Origin
    size: int

    @property
    def place(self) -> tuple[int, int]:
        """The shape, and the position there."""
        return self.shape, self.position


class Piece(NamedTuple):
    """One of so many parts of a fan."""

    fan: Fan
    number: int
    of: int


class PutOff:
    """Collects the fans of one gathering.

    `deep`: also of partial matches that are more than a seed. Without, a seed is put off as a whole, and told in
    `seeds` (shape, position, triple): nothing that uses it is to be looked for here.
    """

    def __init__(self, popular: int, *, deep: bool = True) -> None:
        self.fans: dict[tuple[int, int, int, Key], Fan] = {}
        self.seeds: set[tuple[int, int, Triple]] = set()
        self._popular, self._deep = popular, deep

    def without(self, steps: Iterable[MatchStep], answers: LookupAnswers) -> list[MatchStep]:
        """The steps of those that go on; the others are put off."""
        return [left for step in steps for left in self._left(step, answers) if left.matches]

    def _left(self, step: MatchStep, answers: LookupAnswers) -> Iterator[MatchStep]:
        if not self._may_wait(step.group):
            yield step
            return
        sizes = answers.sizes(step.move.kind, step.keys)
        rows = [row for row, size in enumerate(sizes) if size <= self._popular]
        if len(rows) < len(sizes):
            for row, size in enumerate(sizes):
                if size > self._popular:
                    self._put_off(step, row, size)
        yield step.only(rows)

    def _may_wait(self, group: MatchGroup) -> bool:
        """Only in the required part: what an optional part finds decides whether a column has a value."""
        if group.stage is not group.plan.required:
            return False
        return self._deep or (group.lineage != BY_CONSTANTS and group.done.bit_count() == 1)

    def _put_off(self, step: MatchStep, row: int, size: int) -> None:
        group, move, key = step.group, step.move, step.keys[row]
        position = (move.done ^ group.done).bit_length() - 1
        found = self.fans.get((group.owner, position, move.kind, key))
        atoms = tuple(dict.fromkeys([*(found.atoms if found else ()), *step.origins[row]]))
        self.fans[group.owner, position, move.kind, key] = Fan(group.owner, position, move.kind, key, atoms, size)
        if not self._deep:
            seeded = group.done.bit_length() - 1
            (triple,) = group.plan.atoms[seeded].triples([step.matches[row]])
            self.seeds.add((group.owner, seeded, triple))


def united(fans: Iterable[Fan]) -> list[Fan]:
    """Each fan once, with the atoms of all seeds that met it."""
    found: dict[tuple[int, int, int, Key], Fan] = {}
    for fan in fans:
        key = (*fan.place, fan.kind, fan.key)
        same = found.get(key, fan)
        atoms = tuple(dict.fromkeys([*same.atoms, *fan.atoms]))
        found[key] = fan._replace(atoms=atoms, size=max(same.size, fan.size))
    return [found[key] for key in sorted(found)]


def in_rounds(fans: Iterable[Fan], find: Callable[[list[Fan], int], Iterable[Fan]]) -> None:
    """Have rows found around what was put off, and around what that puts off in turn.

    `find` is told how many rounds are left, and gives what it puts off; if none is left, it must not put off anything.
    """
    for left in reversed(range(ROUNDS)):
        waiting = united(fans)
        if not waiting:
            return
        fans = find(waiting, left)


def shared_out(fans: Sequence[Fan], shares: int, least: int = 1) -> list[list[Piece]]:
    """Pieces of fans in about so many shares, none of them larger than its part of all, or than `least`.

    >>> fans = [Fan(0, 0, 2, (7, 1), (), 30), Fan(0, 0, 2, (7, 2), (), 10)]
    >>> [[(piece.fan.key, piece.number, piece.of) for piece in share] for share in shared_out(fans, 4)]
    [[((7, 1), 0, 3)], [((7, 1), 1, 3)], [((7, 1), 2, 3)], [((7, 2), 0, 1)]]
    """
    size = max(least, -(-sum(fan.size for fan in fans) // shares), 1)
    made: list[list[Piece]] = []
    room = 0
    for fan in sorted(fans, key=lambda fan: -fan.size):
        parts = max(1, -(-fan.size // size))
        for number in range(parts):
            part = fan.size // parts
            if room < part or not made:
                made.append([])
                room = size
            made[-1].append(Piece(fan, number, parts))
            room -= part
    return made


def triples_of(piece: Piece, lookups: Lookups) -> list[Triple]:
    """The triples of a piece: by the number of what the fan's key leaves open, whatever the state of the store is.

    Numbers of terms that come together are often a step apart, so they are mixed first.
    """
    fan, number, of = piece
    if fan.kind == SCAN:
        (found,) = lookups.scan([fan.key[0]])
    else:
        key = (fan.key[0], fan.key[1])
        (found,) = lookups.forward([key]) if fan.kind == FORWARD else lookups.backward([key])
    place = 2 if fan.kind == FORWARD else 0
    return [triple for triple in found if ((triple[place] * _ODD & (1 << 64) - 1) >> 32) % of == number]
