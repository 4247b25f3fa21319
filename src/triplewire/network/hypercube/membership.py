"""Membership: which hubs form a cube, which corner is whose, and who stands at it now. A value, with a version.

One member at a time decides on it, the *decider*; each decision is a table with a higher number. A term is the time of
one decider: of two tables the one of the later term counts, in one term the one with the higher number. What each
decision does is a function of the table before it, as in the simulation (`simulation.cubes`):

    joined     the member gets the first vacant corner; if there is none, the cube grows by a dimension
    away       others stand in at the corners of a member that is silent for long
    back       the member stands at its own corner again
    left       the member has no corner any more; others stand where it stood
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from triplewire.errors import NetworkError
from triplewire.network.hypercube.cube import neighbours, stand_in

MOST_DIMENSIONS = 12
"""A table of 4,096 corners is what one message of moderate length can say."""


@dataclass(frozen=True, slots=True)
class CubeMember:
    """A hub of a cube: its name, where it is found, its public key, and its corner; `is_away` while others stand in."""

    name: str
    url: str
    key: str
    position: int
    is_away: bool = False


@dataclass(frozen=True, slots=True)
class Seat:
    """A corner: the member that stands there, and the how manieth that is, so that an earlier one knows that it is."""

    host: str
    generation: int


@dataclass(frozen=True, slots=True)
class Membership:
    """A table of members and corners. `seats` has one for each corner, by position."""

    term: int
    number: int
    decider: str
    members: tuple[CubeMember, ...]
    seats: tuple[Seat, ...]

    @classmethod
    def founded(cls, name: str, url: str, key: str) -> Membership:
        """A cube of one member, which decides."""
        return cls(1, 1, name, (CubeMember(name, url, key, 0),), (Seat(name, 1),))

    @property
    def stamp(self) -> tuple[int, int]:
        """Which of two tables counts: the one with the higher stamp."""
        return self.term, self.number

    @property
    def dimensions(self) -> int:
        """Of the cube."""
        return (len(self.seats) - 1).bit_length()

    def member(self, name: str) -> CubeMember | None:
        """The member of a name."""
        return next((member for member in self.members if member.name == name), None)

    def owner(self, position: int) -> CubeMember | None:
        """The member whose corner it is; None: it is vacant."""
        return next((member for member in self.members if member.position == position), None)

    def corners(self, name: str) -> list[int]:
        """The corners that a member stands at now."""
        return [position for position, seat in enumerate(self.seats) if seat.host == name]

    def next_to(self, name: str) -> set[str]:
        """The members that stand at corners beside those of a member."""
        beside = {other for corner in self.corners(name) for other in neighbours(corner, self.dimensions)}
        return {self.seats[position].host for position in beside} - {name}

    def is_majority(self, names: Iterable[str]) -> bool:
        """Whether these are more than half of the members."""
        return 2 * len({*names} & {member.name for member in self.members}) > len(self.members)

    # -- decisions

    def joined(self, name: str, url: str, key: str) -> Membership:
        """With a member more, or where a known one is found now."""
        known = self.member(name)
        if known is not None:
            return self if known.url == url else self._with_members(self._changed(replace(known, url=url)))
        taken = {member.position for member in self.members}
        vacant = next((position for position in range(len(self.seats)) if position not in taken), None)
        if vacant is None:
            return self._grown().joined(name, url, key)
        seats = self._seated({vacant: name})
        return self._next((*self.members, CubeMember(name, url, key, vacant)), seats)

    def away(self, name: str) -> Membership:
        """Others stand in for a member."""
        member = self.member(name)
        if member is None or member.is_away or len(self._up()) == 1:
            return self
        return self._without_host(name, self._changed(replace(member, is_away=True)))

    def back(self, name: str) -> Membership:
        """A member stands at its own corner again."""
        member = self.member(name)
        if member is None or not member.is_away:
            return self
        return self._next(self._changed(replace(member, is_away=False)), self._seated({member.position: name}))

    def left(self, name: str) -> Membership:
        """Without a member. NetworkError for the last one."""
        if self.member(name) is None:
            return self
        if self._up() == [self.member(name)]:
            raise NetworkError(f"{name} is the last hub of its network, or the last one that is up; it cannot leave")
        return self._without_host(name, tuple(member for member in self.members if member.name != name))

    def decided_by(self, name: str, term: int) -> Membership:
        """With another decider, from a later term on."""
        return replace(self, term=term, number=self.number + 1, decider=name)

    def _up(self) -> list[CubeMember]:
        return [member for member in self.members if not member.is_away]

    def _changed(self, changed: CubeMember) -> tuple[CubeMember, ...]:
        return tuple(changed if member.name == changed.name else member for member in self.members)

    def _seated(self, hosts: dict[int, str]) -> tuple[Seat, ...]:
        return tuple(
            Seat(hosts[position], seat.generation + 1) if position in hosts else seat
            for position, seat in enumerate(self.seats)
        )

    def _without_host(self, name: str, members: tuple[CubeMember, ...]) -> Membership:
        by_position = {member.position: member.name for member in members if not member.is_away}
        hosts = {p: by_position[stand_in(p, by_position, self.dimensions)] for p in self.corners(name)}
        return self._next(members, self._seated(hosts))

    def _grown(self) -> Membership:
        dimensions = self.dimensions + 1
        if dimensions > MOST_DIMENSIONS:
            raise NetworkError(f"a network has at most {1 << MOST_DIMENSIONS:,} hubs")
        up = {member.position: member.name for member in self._up()}
        coming = range(len(self.seats), 1 << dimensions)
        seats = tuple(Seat(up[stand_in(position, up, dimensions)], 1) for position in coming)
        return replace(self, seats=(*self.seats, *seats))

    def _with_members(self, members: tuple[CubeMember, ...]) -> Membership:
        return self._next(members, self.seats)

    def _next(self, members: tuple[CubeMember, ...], seats: tuple[Seat, ...]) -> Membership:
        decider = self.decider if any(member.name == self.decider for member in members) else members[0].name
        return Membership(self.term, self.number + 1, decider, members, seats)

    # -- as JSON

    def plain(self) -> dict[str, Any]:
        """The table, ready for JSON."""
        return asdict(self)

    @classmethod
    def read(cls, told: dict[str, Any]) -> Membership:
        """The table that JSON tells; ValueError, TypeError or KeyError if it tells none."""
        members = tuple(CubeMember(**member) for member in told["members"])
        seats = tuple(Seat(**seat) for seat in told["seats"])
        found = cls(int(told["term"]), int(told["number"]), str(told["decider"]), members, seats)
        names = {member.name for member in members}
        is_cube = seats and len(seats) & (len(seats) - 1) == 0 and len(seats) <= 1 << MOST_DIMENSIONS
        positions = {member.position for member in members}
        is_whole = len(names) == len(members) == len(positions) and positions <= set(range(len(seats)))
        if not (is_cube and is_whole and found.decider in names and all(seat.host in names for seat in seats)):
            raise ValueError("this is no table of the members of a cube")
        return found
