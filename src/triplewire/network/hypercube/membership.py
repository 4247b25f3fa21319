"""Membership: which hubs form a cube, which corner is whose, and who stands at it now. A value, with a version.

What each decision does is a function of the table before it, as in the simulation (`simulation.cubes`):

    joined     the member gets the first vacant corner; if there is none, the cube grows by a dimension
    away       others stand in at the corners of a member that is silent for long
    back       the member stands at its own corner again
    left       the member has no corner any more; others stand where it stood
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from triplewire.errors import NetworkError
from triplewire.network.hypercube.cube import CubeTopology, corner, neighbours, position_of, stand_in
from triplewire.network.membership import MemberTable, Seat

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

    @property
    def place(self) -> str:
        """Its corner, by its name."""
        return corner(self.position)


@dataclass(frozen=True, slots=True)
class Membership(MemberTable):
    """A table of members and corners. `seats` has one for each corner, by position."""

    network: ClassVar[str] = "hypercube"
    noun: ClassVar[str] = "corner"

    members: tuple[CubeMember, ...]
    seats: tuple[Seat, ...]

    @classmethod
    def founded(cls, name: str, url: str, key: str, wish: str = "") -> Membership:
        """A cube of one member, which decides."""
        return cls(1, 1, name, (CubeMember(name, url, key, 0),), (Seat(name, 1),))

    @property
    def hubs(self) -> tuple[CubeMember, ...]:
        """See `MemberTable.hubs`."""
        return self.members

    @property
    def dimensions(self) -> int:
        """Of the cube."""
        return (len(self.seats) - 1).bit_length()

    def member(self, name: str) -> CubeMember | None:
        """The member of a name."""
        return next((member for member in self.members if member.name == name), None)

    def corners(self, name: str) -> list[int]:
        """The corners that a member stands at now."""
        return [position for position, seat in enumerate(self.seats) if seat.host == name]

    # -- places

    @property
    def places(self) -> list[str]:
        """See `MemberTable.places`."""
        return [*map(corner, range(len(self.seats)))]

    def seat(self, place: str) -> Seat | None:
        """See `MemberTable.seat`."""
        position = position_of(place) if self.is_place(place) else -1
        return self.seats[position] if 0 <= position < len(self.seats) else None

    def beside(self, place: str) -> list[str]:
        """See `MemberTable.beside`."""
        return [*map(corner, neighbours(position_of(place), self.dimensions))]

    def is_place(self, name: str) -> bool:
        """See `MemberTable.is_place`."""
        number = name.removeprefix("corner-")
        return number.isascii() and number.isdecimal() and len(number) < 10 and corner(int(number)) == name

    def are_neighbours(self, one: str, other: str) -> bool:
        """Those that differ in one bit."""
        return (position_of(one) ^ position_of(other)).bit_count() == 1

    def topology(self, place: str) -> CubeTopology:
        """See `MemberTable.topology`."""
        return CubeTopology(position_of(place))

    def way(self, origin: str, to: str) -> list[str]:
        """A document climbs the dimensions in which the two differ.

        >>> Membership.founded("a", "", "").way("corner-5", "corner-2")
        ['corner-5', 'corner-4', 'corner-6', 'corner-2']
        """
        positions, differ = [position_of(origin)], position_of(origin) ^ position_of(to)
        for dimension in range(differ.bit_length()):
            if differ & (1 << dimension):
                positions.append(positions[-1] ^ (1 << dimension))
        return [*map(corner, positions)]

    def words(self, place: str) -> str:
        """See `MemberTable.words`."""
        return place.replace("-", " ")

    # -- decisions

    def joined(self, name: str, url: str, key: str, wish: str = "") -> Membership:
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
