"""Links with their costs, and shortest paths over them.

A link has two ends, and each end says what it knows of it: what it costs to send over it, that it is suspected, or that
it has failed. A link is used while both ends say that it is well. Which of two reports of an end is newer, their
numbers say; only the router at that end makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple


class LinkEnd(NamedTuple):
    """The end of a link at one router, whose other end is at another."""

    at: str
    to: str

    @property
    def other(self) -> LinkEnd:
        """The other end of the same link."""
        return LinkEnd(self.to, self.at)


class EndReport(NamedTuple):
    """What an end says: its number, and what it costs to send from here; None: it has failed."""

    number: int
    cost: float | None
    is_suspected: bool = False

    @property
    def is_well(self) -> bool:
        """Whether the link may be used, as far as this end knows."""
        return self.cost is not None and not self.is_suspected


@dataclass(slots=True)
class PathTree:
    """The shortest paths from one router to all that it reaches: what each costs, and the router before the last."""

    root: str
    costs: dict[str, float] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)

    def path(self, to: str) -> list[str] | None:
        """The routers on the way, both ends among them; None if there is no way."""
        if to not in self.costs:
            return None
        found = [to]
        while found[-1] != self.root:
            found.append(self.before[found[-1]])
        return found[::-1]

    def next_hop(self, to: str) -> str | None:
        """The neighbour on the way; None if there is no way."""
        path = self.path(to)
        return None if path is None or len(path) < 2 else path[1]

    def ends(self) -> set[LinkEnd]:
        """Both ends of every link of the tree."""
        return {end for to, at in self.before.items() for end in (LinkEnd(at, to), LinkEnd(to, at))}


def path_tree(
    root: str, reports: Mapping[LinkEnd, EndReport], is_inside: Callable[[str], bool] = lambda router: True
) -> PathTree:
    """The shortest paths over links that are well and inside (Dijkstra); of equal ones, that by the first name.

    >>> well = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 5.0}
    >>> both = {LinkEnd(*pair): EndReport(1, cost) for (a, b), cost in well.items() for pair in ((a, b), (b, a))}
    >>> path_tree("a", both).path("c")
    ['a', 'b', 'c']
    """
    ways: dict[str, list[tuple[str, float]]] = {}
    for end, report in reports.items():
        other = reports.get(end.other)
        if report.is_well and other is not None and other.is_well and is_inside(end.at) and is_inside(end.to):
            assert report.cost is not None, "it is well"
            ways.setdefault(end.at, []).append((end.to, report.cost))
    tree = PathTree(root)
    queue: list[tuple[float, str, str]] = [(0.0, root, "")]
    while queue:
        cost, router, before = heappop(queue)
        if router in tree.costs:
            continue
        tree.costs[router] = cost
        if before:
            tree.before[router] = before
        for other_router, more in ways.get(router, ()):
            if other_router not in tree.costs:
                heappush(queue, (cost + more, other_router, router))
    return tree
