"""Wiring: which nodes of a simulation can speak to each other at once, and the routers by which the others do (N7).

Without a wiring every two nodes can. With one, each node has a router, and a wire is a link between two of these; a
partition cuts the wires between its sides, and what is sent goes around, while there is a way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

from triplewire.network.link import Timing
from triplewire.network.maps import MapRouter, RouterState, router_name
from triplewire.network.node import Node, NodeState
from triplewire.network.simulation.world import World

Wire = tuple[int, int] | tuple[int, int, float]
"""Two nodes, and in milliseconds what it costs to send from one to the other; without, it is measured."""

_COSTS = 1.0, 2.0, 5.0, 20.0
_TIMING = Timing(heartbeat=None)


class Wiring:
    """The wires of a network. `area` gives the place of a node in units."""

    def __init__(self, world: World, area: Callable[[int], tuple[int, ...]]) -> None:
        self._world, self._area = world, area
        self._wires: dict[int, dict[int, float | None]] = {}
        self._names: dict[int, str] = {}
        self._nodes: dict[str, int] = {}
        self._incarnations: Counter[str] = Counter()
        self._parts: dict[int, int] | None = None

    # -- see `world.Wires`

    def is_router(self, name: str) -> bool:
        """Whether a node of the world is one."""
        return name in self._nodes

    def router_at(self, place: str) -> str:
        """The router of a place."""
        return self._names[int(place)]

    def is_wired(self, a: str, b: str) -> bool:
        """Whether two places can speak to each other at once, if nothing is cut."""
        return int(b) in self._wires.get(int(a), ())

    def is_connected(self, a: str, b: str) -> bool:
        """Whether there is a way between two places now, over wires that carry both ways."""
        if a == b:
            return True
        if self._parts is None:
            self._parts = self._connected_parts()
        return int(a) in self._parts and self._parts[int(a)] == self._parts.get(int(b))

    def changed(self) -> None:
        """A place, or a wire, has come or gone."""
        self._parts = None

    def _connected_parts(self) -> dict[int, int]:
        up = [node for node, name in self._names.items() if name in self._world.nodes]
        return _parts(up, lambda a: (b for b in self._wires[a] if self._carries(a, b) and self._carries(b, a)))

    def _carries(self, a: int, b: int) -> bool:
        return self._world.reaches(self._names[a], self._names[b])

    # -- wires

    def place(self, name: str) -> str:
        """Where a router stands."""
        return str(self._nodes[name])

    def node_of(self, name: str) -> int:
        """The node of a router."""
        return self._nodes[name]

    def add_node(self, node: int) -> None:
        """A node comes, with a router."""
        name = router_name(self._area(node))
        self._names[node], self._nodes[name], self._wires[node] = name, node, {}
        self._incarnations[name] += 1
        incarnation = self._incarnations[name]
        self._world.add(RouterState(name, f"{name}-{incarnation}", incarnation=incarnation), _made)

    def remove_node(self, node: int) -> None:
        """A node goes, and its wires with it."""
        for other in [*self._wires[node]]:
            self.unlink(node, other)
        self._world.remove(self._names[node])
        name = self._names.pop(node)
        del self._wires[node], self._nodes[name]
        self.changed()

    def link(self, a: int, b: int, cost: float | None = None) -> None:
        """Two nodes are wired."""
        if a == b or b in self._wires[a]:
            raise ValueError(f"nodes {a} and {b} are one, or are linked already")
        if cost is not None and cost <= 0:
            raise ValueError(f"the cost of a link must be above 0, and is {cost}")
        for one, other in ((a, b), (b, a)):
            self._wires[one][other] = cost
            router = self._router(one)
            router.begin_link(self._names[other], cost, self._world.clock(router.name))
        self.changed()
        self._world.join(self._names[a], self._names[b])

    def unlink(self, a: int, b: int) -> None:
        """Two nodes are wired no longer."""
        for one, other in ((a, b), (b, a)):
            del self._wires[one][other]
            router = self._router(one)
            router.end_link(self._names[other], self._world.clock(router.name))
            self._world.carry(router.name, [])
        self.changed()

    def is_whole(self, without: Iterable[int] = ()) -> bool:
        """Whether all nodes but some are connected, if nothing is cut."""
        gone = {*without}
        left = [node for node in self._wires if node not in gone]
        return len({*_parts(left, lambda a: (b for b in self._wires[a] if b not in gone)).values()}) <= 1

    def wired_to(self, node: int) -> list[int]:
        """The nodes that one can speak to at once."""
        return sorted(self._wires[node])

    # -- routers

    def _router(self, node: int) -> MapRouter:
        state = self._world.state_of(self._names[node])
        found = self._world.nodes.get(state.name)
        if found is None:
            assert isinstance(state, RouterState), "it is the state of a router"
            return MapRouter(state)  # it is down: what it finds when it is up again
        assert isinstance(found, MapRouter), "it is one"
        return found

    def routers(self) -> list[MapRouter]:
        """Those that are up."""
        return [self._router(node) for node, name in self._names.items() if name in self._world.nodes]

    def router(self, node: int) -> MapRouter:
        """That of a node."""
        return self._router(node)

    def doubt(self, name: str, peer: str) -> None:
        """A router has not been answered by a neighbour for a while."""
        router = self._router(self._nodes[name])
        self._world.carry(name, router.suspect(peer, self._world.clock(name)))

    def notice(self, name: str, peer: str) -> None:
        """A router has not been answered by a neighbour for long."""
        router = self._router(self._nodes[name])
        self._world.carry(name, router.fail(peer, self._world.clock(name)))

    def measure(self) -> None:
        """Measure anew what links cost, where that was not given."""
        for router in self.routers():
            self._world.carry(router.name, router.measure(self._world.clock(router.name)))

    def route(self, a: int, b: int) -> list[int] | None:
        """The nodes on the way, as the map of the first one says; None if it knows no way."""
        path = self._router(a).path(self._names[b])
        return None if path is None else [self._nodes[name] for name in path]


def drawn_links(nodes: int, links: int, chance: Random) -> list[Wire]:
    """So many links at random, with costs at random, or as many as there can be; all nodes are connected by them."""
    pairs = dict.fromkeys((chance.randrange(node), node) for node in range(1, nodes))
    others = [(a, b) for b in range(nodes) for a in range(b) if (a, b) not in pairs]
    more = max(0, min(links - len(pairs), len(others)))
    pairs |= dict.fromkeys(chance.sample(others, more))
    return [(a, b, chance.choice(_COSTS)) for a, b in pairs]


def _parts(nodes: Iterable[int], beside: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """For each node, the first one of those that it is connected with."""
    found: dict[int, int] = {}
    for first in nodes:
        left = [] if first in found else [first]
        while left:
            node = left.pop()
            if node not in found:
                found[node] = first
                left.extend(beside(node))
    return found


def _made(state: NodeState) -> Node:
    assert isinstance(state, RouterState), "it is the state of a router"
    return MapRouter(state, timing=_TIMING)
