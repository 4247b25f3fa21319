"""Corners of a cube, and the order in which messages take its dimensions.

Advertisements climb the dimensions, and so an advertisement of r reaches x by the bits in which they differ, the lowest
first. An interest of x goes back that way, and so descends; a document of r follows the interest back, and climbs
again. Were interests to climb as well, they would only find publishers that are one step away.
"""

from __future__ import annotations

from collections.abc import Collection

from triplewire.network.routing import HUB, NETWORK


def corner(position: int) -> str:
    """The name of the node at a corner."""
    return f"corner-{position}"


def position_of(name: str) -> int:
    """The corner that a node of this name is at."""
    return int(name.removeprefix("corner-"))


def neighbours(position: int, dimensions: int) -> list[int]:
    """The corners that differ in one bit, by dimension."""
    return [position ^ (1 << dimension) for dimension in range(dimensions)]


def stand_in(position: int, taken: Collection[int], dimensions: int) -> int:
    """The corner whose node stands at a vacant one: the nearest, where high dimensions are short ways.

    >>> [stand_in(position, range(5), 3) for position in range(8)]
    [0, 1, 2, 3, 4, 1, 2, 3]
    """
    return min(taken, key=lambda other: f"{position ^ other:0{max(dimensions, 1)}b}"[::-1])


class CubeTopology:
    """Which way messages go on at a corner."""

    def __init__(self, position: int) -> None:
        self._position = position
        self._dimensions: dict[str, int] = {}

    def _dimension(self, name: str) -> int:
        found = self._dimensions.get(name)
        if found is None:
            found = self._dimensions[name] = (position_of(name) ^ self._position).bit_length() - 1
        return found

    def advertisement_goes(self, came: str, to: str) -> bool:
        """Upwards."""
        return not came or self._dimension(to) > self._dimension(came)

    def interest_goes(self, came: str, to: str) -> bool:
        """Downwards: back on the way of the advertisement."""
        return not came or self._dimension(to) < self._dimension(came)

    def document_goes(self, came: str, to: str) -> bool:
        """Upwards: back on the way of the interest."""
        return not came or self._dimension(to) > self._dimension(came)

    def next_hop(self, to: str) -> str:
        """Over the highest dimension in which they differ, as an interest goes."""
        return corner(self._position ^ (1 << self._dimension(to)))

    def takes_all(self, peer: str) -> bool:
        """No: each is told of what it advertises."""
        return False

    def bit(self, peer: str) -> int:
        """That of the dimension."""
        return 1 << self._dimension(peer)

    def height(self, peer: str) -> int:
        """There are no units: what leaves a hub goes everywhere."""
        return NETWORK

    def distance(self, origin: str) -> int:
        """Nothing, or the whole network."""
        return HUB if position_of(origin) == self._position else NETWORK
