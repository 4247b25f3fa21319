"""Tables of members. One member at a time decides, the *decider*; each decision is a table with a higher number.

A term is the time of one decider: of two tables the one of the later term counts, in one term the one with the higher
number. A *place* is named as the node that stands there (`corner-3`, `unit-0.2`); the topology interprets the name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

from triplewire.network.routing import Topology

_CORNER = "corner-"


def spelled_place(place: str) -> int | str:
    """A place as messages and stores have it: a corner is its number.

    >>> spelled_place("corner-3"), spelled_place("unit-0.2")
    (3, 'unit-0.2')
    """
    return int(place.removeprefix(_CORNER)) if place.startswith(_CORNER) else place


def read_place(told: int | str) -> str:
    """The name of a place.

    >>> read_place(3), read_place("3"), read_place("unit-0.2")
    ('corner-3', 'corner-3', 'unit-0.2')
    """
    return f"{_CORNER}{told}" if isinstance(told, int) or told.isdecimal() else told


@dataclass(frozen=True, slots=True)
class Seat:
    """A place: the member that stands there, and the how manieth that is, so that an earlier one knows that it is."""

    host: str
    generation: int


class Member(Protocol):
    """A hub of a network: its name, where it is found, its public key, its place; `is_away` while others stand in."""

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def is_away(self) -> bool: ...
    @property
    def place(self) -> str: ...


@dataclass(frozen=True, slots=True)
class MemberTable(ABC):
    """A table of members, and of the places at which they stand."""

    network: ClassVar[str]
    """The kind of the network, as people name it."""
    noun: ClassVar[str]
    """What a place is called."""

    term: int
    number: int
    decider: str

    @property
    def stamp(self) -> tuple[int, int]:
        """Which of two tables counts: the one with the higher stamp."""
        return self.term, self.number

    @property
    @abstractmethod
    def hubs(self) -> tuple[Member, ...]:
        """The members."""

    def member(self, name: str) -> Member | None:
        """The member of a name."""
        return next((member for member in self.hubs if member.name == name), None)

    def owner_of(self, place: str) -> Member | None:
        """The member whose place it is; None: it is vacant, or nobody's own."""
        return next((member for member in self.hubs if member.place == place), None)

    def is_majority(self, names: Iterable[str]) -> bool:
        """Whether these are more than half of the members."""
        return 2 * len({*names} & {member.name for member in self.hubs}) > len(self.hubs)

    def decided_by(self, name: str, term: int) -> Self:
        """With another decider, from a later term on."""
        return replace(self, term=term, number=self.number + 1, decider=name)

    def host_of(self, place: str) -> str:
        """The member that stands at a place; "" if there is no such place."""
        seat = self.seat(place)
        return "" if seat is None else seat.host

    def places_of(self, name: str) -> list[str]:
        """The places that a member stands at now."""
        return [place for place in self.places if self.host_of(place) == name]

    def next_to(self, name: str) -> set[str]:
        """The members that stand at places beside those of a member."""
        beside = {other for place in self.places_of(name) for other in self.beside(place)}
        return {self.host_of(place) for place in beside} - {name}

    # -- what the topology says of places

    @property
    @abstractmethod
    def places(self) -> list[str]:
        """All places, in order."""

    @abstractmethod
    def seat(self, place: str) -> Seat | None:
        """Who stands at a place; None if there is no such place."""

    @abstractmethod
    def beside(self, place: str) -> list[str]:
        """The places that a place has links to."""

    @abstractmethod
    def is_place(self, name: str) -> bool:
        """Whether this could be the name of a place."""

    @abstractmethod
    def are_neighbours(self, one: str, other: str) -> bool:
        """Whether two places would have a link."""

    @abstractmethod
    def topology(self, place: str) -> Topology:
        """Which way messages go on at a place."""

    @abstractmethod
    def way(self, origin: str, to: str) -> list[str]:
        """The places on the way of a document, both ends among them."""

    @abstractmethod
    def words(self, place: str) -> str:
        """A place for people."""

    # -- decisions

    @classmethod
    @abstractmethod
    def founded(cls, name: str, url: str, key: str, wish: str = "") -> MemberTable:
        """A network of one member, which decides."""

    @abstractmethod
    def joined(self, name: str, url: str, key: str, wish: str = "") -> MemberTable:
        """With a member more, or where a known one is found now; `wish` says where it wants to be, if it may."""

    @abstractmethod
    def away(self, name: str) -> MemberTable:
        """Others stand in for a member."""

    @abstractmethod
    def back(self, name: str) -> MemberTable:
        """A member stands at its own place again."""

    @abstractmethod
    def left(self, name: str) -> MemberTable:
        """Without a member. NetworkError for the last one."""

    # -- as JSON

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """The table, ready for JSON."""

    @classmethod
    @abstractmethod
    def read(cls, told: dict[str, Any]) -> MemberTable:
        """The table that JSON tells; ValueError, TypeError or KeyError if it tells none."""
