"""Units by their paths, and which way messages go between them.

The path of a unit has for each level its number among the sub-units of the one above: () is the whole network, (3,) its
fourth sub-unit, and the longest paths are brokers. Of a destination a controller needs to know one number only: a
vector of 32 bits, *one bit for each sub-unit* and valid in this unit alone. (The brokering paper, section 5.2, gives
two nodes of one cluster the codes 0011 and 0101. They share a bit: who has reached the one would pass over the other.)

Advertisements climb. Interests climb, all of them, and descend where something is advertised for them. Documents follow
interests back. A tree has one path between two units, so nothing comes round again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from triplewire.errors import UnitFull

MOST_SUB_UNITS = 32
MOST_LEVELS = 4

_ABOVE = 1 << MOST_SUB_UNITS
"""The bit of the unit above, which is none of the sub-units."""

Path = tuple[int, ...]


def unit_name(path: Path) -> str:
    """The name of the node that is a unit's controller, or a broker.

    >>> unit_name((3, 2)), unit_name(())
    ('unit-3.2', 'unit-')
    """
    return f"unit-{'.'.join(map(str, path))}"


@lru_cache(maxsize=10_000)
def path_of(name: str) -> Path:
    """The path of the unit of this name."""
    numbers = name.removeprefix("unit-")
    return tuple(map(int, numbers.split("."))) if numbers else ()


def vectors(path: Path) -> tuple[int, ...]:
    """A destination as a vector for each level, from the widest unit down.

    >>> vectors((0, 2, 1))
    (1, 4, 2)
    """
    return tuple(1 << number for number in path)


def check_clusters(clusters: Sequence[int]) -> None:
    """Refuse numbers of sub-units, from the widest level down, that are no hierarchy."""
    if not 1 <= len(clusters) <= MOST_LEVELS:
        raise ValueError(f"a hierarchy has 1 to {MOST_LEVELS} levels, and {len(clusters)} were asked for")
    if min(clusters) < 1:
        raise ValueError(f"a unit has at least one sub-unit, and {min(clusters)} were asked for")
    if max(clusters) > MOST_SUB_UNITS:
        raise UnitFull("a unit", MOST_SUB_UNITS)


def brokers_of(clusters: Sequence[int]) -> Iterator[Path]:
    """The paths of the brokers, in order."""
    return product(*map(range, clusters))


def controllers(unit: Path, brokers: Iterable[Path]) -> list[Path]:
    """The brokers that can be a unit's controller, the first one before its standbys.

    Standbys are in other sub-units, where there are some, and units of different heights prefer different brokers.
    """
    inside = [path for path in brokers if path[: len(unit)] == unit]
    inside.sort(key=lambda path: path[::-1])
    turn = (len(inside[0]) - len(unit) - 1) % len(inside) if inside else 0
    return inside[turn:] + inside[:turn]


class TreeTopology:
    """Which way messages go on at a unit's controller, or at a broker."""

    def __init__(self, path: Path, levels: int) -> None:
        self._path = path
        self._height = levels - len(path)

    def _is_above(self, name: str) -> bool:
        return bool(self._path) and path_of(name) == self._path[:-1]

    def advertisement_goes(self, came: str, to: str) -> bool:
        """Upwards: interests are told to the unit above in any case, so nobody below needs to know."""
        return self._is_above(to)

    def interest_goes(self, came: str, to: str) -> bool:
        """Up, and down again."""
        return True

    def document_goes(self, came: str, to: str) -> bool:
        """Up, and down again."""
        return True

    def next_hop(self, to: str) -> str:
        """Down to the sub-unit that it is in, or up."""
        path, level = path_of(to), len(self._path)
        return unit_name(path[: level + 1] if path[:level] == self._path else self._path[:-1])

    def takes_all(self, peer: str) -> bool:
        """The unit above does."""
        return self._is_above(peer)

    def bit(self, peer: str) -> int:
        """That of the sub-unit in the vectors of this unit."""
        return _ABOVE if self._is_above(peer) else vectors(path_of(peer))[-1]

    def height(self, peer: str) -> int:
        """That of the unit above; down goes everything."""
        return self._height + 1 if self._is_above(peer) else 0

    def distance(self, origin: str) -> int:
        """The height of the smallest unit that has both this one and the origin inside."""
        path = path_of(origin)
        shortest = min(len(path), len(self._path))
        shared = next((i for i, (a, b) in enumerate(zip(path, self._path, strict=False)) if a != b), shortest)
        return self._height + len(self._path) - shared
