"""The table of a hierarchy's members: which units there are, whose place is which, and who stands there now.

A hub names its cluster by the units around it (`lindhaven/harbour`), and gets a number there; all hubs of a network
name as many units. The controller of a unit is a place like that of a broker, which nobody owns. A decision is a
function of the table before it:

    joined     the broker gets a vacant place of its cluster, whose units begin if they are new
    away       others of the smallest unit around stand where a silent member stood
    back       the member stands at its own place again; what it controlled stays with those who took over
    left       others stand where it stood; its place is for the next one that joins the cluster

Places stay when nobody owns them any more: who stands there has nothing, and tells the neighbours so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from triplewire.errors import NetworkError, UnitFull
from triplewire.network.hierarchy.units import (
    MOST_LEVELS,
    MOST_SUB_UNITS,
    Path,
    TreeTopology,
    controllers,
    path_of,
    unit_name,
)
from triplewire.network.membership import MemberTable, Seat


def units_named(cluster: str) -> tuple[str, ...]:
    """The names of the units around a broker, the widest first; ValueError if they are none.

    >>> units_named("lindhaven/harbour"), units_named("")
    (('lindhaven', 'harbour'), ())
    """
    names = tuple(cluster.split("/")) if cluster else ()
    if len(names) >= MOST_LEVELS or not all(name.strip() and len(name) <= 60 for name in names):
        raise ValueError(
            f"{cluster[:200]!r} is no cluster: name the units around it, at most {MOST_LEVELS - 1}, the widest first, "
            "such as lindhaven/harbour"
        )
    return names


@dataclass(frozen=True, slots=True)
class BrokerMember:
    """A hub of a hierarchy: its number in its cluster comes last in its path."""

    name: str
    url: str
    key: str
    path: Path
    is_away: bool = False

    @property
    def place(self) -> str:
        """Its place, by its name."""
        return unit_name(self.path)


@dataclass(frozen=True, slots=True)
class UnitMembership(MemberTable):
    """A table of members, units by their paths, and of who stands at each place."""

    network: ClassVar[str] = "hierarchy"
    noun: ClassVar[str] = "unit"

    members: tuple[BrokerMember, ...]
    units: tuple[tuple[Path, str], ...]
    seats: Mapping[str, Seat]
    levels: int

    @property
    def hubs(self) -> tuple[BrokerMember, ...]:
        """See `MemberTable.hubs`."""
        return self.members

    # -- places

    @property
    def places(self) -> list[str]:
        """See `MemberTable.places`; a unit comes before what is in it."""
        return sorted(self.seats, key=path_of)

    def seat(self, place: str) -> Seat | None:
        """See `MemberTable.seat`."""
        return self.seats.get(place)

    def beside(self, place: str) -> list[str]:
        """The unit around it, and those in it."""
        path = path_of(place)
        inside = [other for other in self.places if path_of(other)[:-1] == path and path_of(other)]
        return [unit_name(path[:-1]), *inside] if path else inside

    def is_place(self, name: str) -> bool:
        """See `MemberTable.is_place`."""
        numbers = name.removeprefix("unit-").split(".")
        if name == unit_name(()):
            return True
        is_path = all(each.isascii() and each.isdecimal() and len(each) < 3 for each in numbers)
        return is_path and len(numbers) <= self.levels and unit_name(tuple(map(int, numbers))) == name

    def are_neighbours(self, one: str, other: str) -> bool:
        """A unit, and the one around it."""
        inner, outer = sorted((path_of(one), path_of(other)), key=len, reverse=True)
        return bool(inner) and inner[:-1] == outer

    def topology(self, place: str) -> TreeTopology:
        """See `MemberTable.topology`."""
        return TreeTopology(path_of(place), self.levels)

    def way(self, origin: str, to: str) -> list[str]:
        """Up to the smallest unit that has both, and down."""
        found = [origin]
        while found[-1] != to:
            found.append(self.topology(found[-1]).next_hop(to))
        return found

    def words(self, place: str) -> str:
        """See `MemberTable.words`: names of units, and the number of a broker."""
        path, names = path_of(place), dict(self.units)
        told = [names.get(path[: depth + 1], str(path[depth])) for depth in range(len(path))]
        return f"{'broker' if len(path) == self.levels else 'unit'} {'/'.join(told) or '/'}"

    # -- decisions

    @classmethod
    def founded(cls, name: str, url: str, key: str, wish: str = "") -> UnitMembership:
        """A hierarchy of one broker, with as many levels as its cluster has."""
        return cls(1, 0, name, (), (), {}, len(units_named(wish)) + 1).joined(name, url, key, wish)

    def joined(self, name: str, url: str, key: str, wish: str = "") -> UnitMembership:
        """With a broker more in the cluster of that name; UnitFull says which unit has no room."""
        known = next((member for member in self.members if member.name == name), None)
        if known is not None:
            return self if known.url == url else self._settled(self._changed(replace(known, url=url)))
        names = units_named(wish)
        if len(names) != self.levels - 1:
            raise NetworkError(
                f"this network has {self.levels} levels, so a hub names {self.levels - 1} units around it, the widest "
                f"first, and {wish or 'none'!r} was named: say --cluster "
                f"{'/'.join(name for _, name in self._example()) or 'with nothing'}"
            )
        table = self
        unit: Path = ()
        for each in names:
            table, unit = table._with_unit(unit, each)
        taken = {member.path for member in table.members}
        vacant = next((path for n in range(MOST_SUB_UNITS) if (path := (*unit, n)) not in taken), None)
        if vacant is None:
            raise UnitFull(table.words(unit_name(unit)), MOST_SUB_UNITS)
        return table._settled((*table.members, BrokerMember(name, url, key, vacant)))

    def _example(self) -> list[tuple[Path, str]]:
        """The units around the first member."""
        names = dict(self.units)
        path = self.members[0].path if self.members else ()
        return [(path[:depth], names[path[:depth]]) for depth in range(1, len(path))]

    def _with_unit(self, around: Path, name: str) -> tuple[UnitMembership, Path]:
        """The unit of a name inside another one, perhaps a new one; one that has no members makes room."""
        inside = {path: known for path, known in self.units if path[:-1] == around}
        for path, known in inside.items():
            if known == name:
                return self, path
        numbers = [(*around, number) for number in range(MOST_SUB_UNITS)]
        left = [path for path in numbers if not any(m.path[: len(path)] == path for m in self.members)]
        vacant = next((path for path in left if path not in inside), next(iter(left), None))
        if vacant is None:
            raise UnitFull(self.words(unit_name(around)), MOST_SUB_UNITS)
        units = {path: known for path, known in self.units if path[: len(vacant)] != vacant} | {vacant: name}
        return replace(self, units=tuple(sorted(units.items()))), vacant

    def away(self, name: str) -> UnitMembership:
        """Others stand in for a member."""
        member = next((each for each in self.members if each.name == name), None)
        if member is None or member.is_away or sum(not each.is_away for each in self.members) == 1:
            return self
        return self._settled(self._changed(replace(member, is_away=True)))

    def back(self, name: str) -> UnitMembership:
        """A member stands at its own place again."""
        member = next((each for each in self.members if each.name == name), None)
        if member is None or not member.is_away:
            return self
        return self._settled(self._changed(replace(member, is_away=False)))

    def left(self, name: str) -> UnitMembership:
        """Without a member. NetworkError for the last one."""
        rest = tuple(member for member in self.members if member.name != name)
        if len(rest) == len(self.members):
            return self
        if all(member.is_away for member in rest):
            raise NetworkError(f"{name} is the last hub of its network, or the last one that is up; it cannot leave")
        return self._settled(rest)

    def _changed(self, changed: BrokerMember) -> tuple[BrokerMember, ...]:
        return tuple(changed if member.name == changed.name else member for member in self.members)

    def _settled(self, members: tuple[BrokerMember, ...]) -> UnitMembership:
        """With these members, each place has who should stand there; who may stay does.

        A generation is the number of the table that it began with, so that no two of a place are the same.
        """
        up = {member.path: member.name for member in members if not member.is_away}
        units = [unit_name(path) for path, _ in self.units]
        seats: dict[str, Seat] = {}
        for place in dict.fromkeys([*self.seats, unit_name(()), *units, *(member.place for member in members)]):
            known = self.seats.get(place)
            host = _host(path_of(place), up, "" if known is None else known.host)
            seats[place] = known if known is not None and known.host == host else Seat(host, self.number + 1)
        decider = self.decider if any(member.name == self.decider for member in members) else members[0].name
        return replace(self, number=self.number + 1, decider=decider, members=members, seats=seats)

    # -- as JSON

    def plain(self) -> dict[str, Any]:
        """The table, ready for JSON; it says of which kind it is."""
        return {"network": self.network, **asdict(self)}

    @classmethod
    def read(cls, told: dict[str, Any]) -> UnitMembership:
        """The table that JSON tells; ValueError, TypeError or KeyError if it tells none."""
        members = tuple(BrokerMember(**{**each, "path": tuple(each["path"])}) for each in told["members"])
        units = tuple((tuple(path), str(name)) for path, name in told["units"])
        seats = {str(place): Seat(**seat) for place, seat in told["seats"].items()}
        stamp = int(told["term"]), int(told["number"]), str(told["decider"])
        found = cls(*stamp, members, units, seats, int(told["levels"]))
        names, paths = {member.name for member in members}, {member.path for member in members}
        is_tree = 1 <= found.levels <= MOST_LEVELS and all(
            found.is_place(place) and (place == unit_name(()) or unit_name(path_of(place)[:-1]) in seats)
            for place in seats
        )
        numbers = [*(number for path in paths for number in path), *(n for path, _ in units for n in path)]
        is_whole = (
            len(names) == len(members) == len(paths)
            and all(len(path) == found.levels for path in paths)
            and all(type(number) is int and 0 <= number < MOST_SUB_UNITS for number in numbers)
            and all(member.place in seats for member in members)
        )
        if not (is_tree and is_whole and found.decider in names and all(s.host in names for s in seats.values())):
            raise ValueError("this is no table of the members of a hierarchy")
        return found


def _host(path: Path, up: Mapping[Path, str], now: str) -> str:
    """Who stands at a place: its owner, else a broker of the smallest unit around it that has one.

    Who stands there `now` stays, if it may.
    """
    if path in up:
        return up[path]
    for length in range(len(path), -1, -1):
        can = [up[other] for other in controllers(path[:length], up)]
        if can:
            return now if now in can else can[0]
    raise NetworkError("no hub of this network is up")
