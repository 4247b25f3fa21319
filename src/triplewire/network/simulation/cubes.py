"""Super-peers in a hypercube, in a simulation: who stands at which corner, and who stands in when one is down (P3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from triplewire.errors import NetworkError
from triplewire.network.hypercube import CubeTopology, corner, neighbours, position_of, stand_in
from triplewire.network.link import Timing
from triplewire.network.node import Node, NodeState
from triplewire.network.routing import RoutingHub, RoutingState
from triplewire.network.simulation.networks import SimulatedNetwork
from triplewire.network.simulation.world import World

_TIMING = Timing(heartbeat=None)


class CubeNetwork(SimulatedNetwork):
    """Super-peers in a hypercube, by their numbers."""

    def __init__(self, world: World, loads: Counter[int], nodes: int) -> None:
        super().__init__(world, loads, nodes)
        self._dimensions = 0
        self._hosts: dict[int, int] = {}
        self._epochs: Counter[int] = Counter()
        self._lost: dict[int, tuple[int, RoutingState]] = {}
        world.on_silence = self._notice
        world.place = self._place
        world.on_arrival = self._count
        self._grow((nodes - 1).bit_length())

    def _place(self, name: str) -> str:
        """The node that stands at a corner, so that what it tells itself is no message."""
        return str(self._hosts[position_of(name)])

    def _count(self, name: str) -> None:
        self._loads[int(self._place(name))] += 1

    def _grow(self, dimensions: int) -> None:
        """The cube gets its corners, up to so many dimensions; vacant ones are stood at by a node near them."""
        old, self._dimensions = len(self._hosts), dimensions
        for position in range(old, 1 << dimensions):
            is_taken = position in self._members
            self._hosts[position] = position if is_taken else stand_in(position, self._members, dimensions)
            self._begin(position)
        for position in range(1 << dimensions):
            for other in neighbours(position, dimensions):
                if position < other and other >= old:
                    self._world.join(corner(position), corner(other))

    def _begin(self, position: int, *, stands_in: bool = False) -> None:
        """A corner begins with nothing."""
        self._epochs[position] += 1
        name = corner(position)
        self._world.add(RoutingState(name, f"{name}-{self._epochs[position]}", stands_in=stands_in), _hub_at(position))

    # -- clients

    def hub(self, node: int) -> RoutingHub:
        """The hub of a node, for its clients; those of a node that has left are served by another one.

        NetworkError while it is down.
        """
        host = self._hosts.get(node)
        if host is None or host in self._down or node in self._lost:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        found = self._world.nodes[corner(node)]
        assert isinstance(found, RoutingHub), "corners are hubs"
        return found

    # -- faults

    def _places(self, node: int) -> list[str]:
        self._refuse_unknown(node)
        return [corner(position) for position, host in self._hosts.items() if host == node]

    def restart(self, node: int) -> None:
        """A node that has crashed is up again; what others did in its place comes back to it."""
        super().restart(node)
        for position, (host, lost) in [*self._lost.items()]:
            if host == node:
                del self._lost[position]
                self._give_back(position, node, lost)

    def _give_back(self, position: int, node: int, lost: RoutingState) -> None:
        if self._world.is_down(corner(position)):
            self._take_over(position, node)
        else:
            self._hand_over(position, node)
        self._world.carry(corner(position), self.hub(position).adopt(lost, self.moment()))

    def _notice(self, name: str, silent: str) -> None:
        """A corner has not heard from a neighbour for long: another node stands in for the one that is down."""
        position = position_of(silent)
        up = [node for node in self._members if node not in self._down]
        if self._hosts[position] in self._down and up:
            self._take_over(position, stand_in(position, up, self._dimensions))

    def _take_over(self, position: int, host: int) -> None:
        """A node stands at a corner whose node is down, and begins there with nothing."""
        state = self._world.state_of(corner(position))
        if isinstance(state, RoutingState) and state.has_clients:
            self._lost[position] = self._hosts[position], state
        self._world.remove(corner(position))
        self._hosts[position] = host
        self._begin(position, stands_in=position in self._lost)
        for other in neighbours(position, self._dimensions):
            self._world.join(corner(position), corner(other))

    # -- members

    def join(self) -> int:
        """A node joins, and takes over a corner at which another one stands; gives its number."""
        vacant = (p for p, host in self._hosts.items() if p not in self._members and host not in self._down)
        position = next(vacant, None)
        if position is None:
            self._grow(self._dimensions + 1)
            return self.join()
        self._members[position] = None
        self._hand_over(position, position)
        return position

    def leave(self, node: int) -> None:
        """A node leaves: what it has, its clients too, is handed over to others."""
        self._refuse_to_leave(node)
        positions = [position for position, host in self._hosts.items() if host == node]
        del self._members[node]
        for position in positions:
            self._hand_over(position, stand_in(position, self._members, self._dimensions))

    def _hand_over(self, position: int, to: int) -> None:
        """Another node stands at a corner from now on: it is sent the corner's state, and the neighbours are told."""
        self._hosts[position] = to
        others = {self._hosts[other] for other in neighbours(position, self._dimensions)} - {to}
        self._world.messages["hand over"] += 1
        self._world.messages["moved"] += len(others)


def _hub_at(position: int) -> Callable[[NodeState], Node]:
    def made(state: NodeState) -> RoutingHub:
        assert isinstance(state, RoutingState), "it is the state of a hub"
        return RoutingHub(state, CubeTopology(position), timing=_TIMING)

    return made
