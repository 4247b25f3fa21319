"""Super-peers in a hypercube, in a simulation: who stands at which corner, and who stands in when one is down (P3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from triplewire.errors import NetworkError
from triplewire.network.hypercube import CubeTopology, corner, neighbours, position_of, stand_in
from triplewire.network.routing import MovingHub, MovingState
from triplewire.network.simulation.hosts import HostedNetwork
from triplewire.network.simulation.wirings import Wire
from triplewire.network.simulation.world import World


class CubeNetwork(HostedNetwork):
    """Super-peers in a hypercube, by their numbers."""

    def __init__(self, world: World, loads: Counter[int], nodes: int, *, links: Sequence[Wire] | None = None) -> None:
        super().__init__(world, loads, nodes, links)
        self._dimensions = 0
        self._lost: dict[int, tuple[int, MovingState]] = {}
        self._grow((nodes - 1).bit_length())

    def _topology(self, name: str) -> CubeTopology:
        return CubeTopology(position_of(name))

    def _home(self, node: int) -> str:
        return corner(node)

    def _neighbours(self, position: int) -> list[str]:
        return [corner(other) for other in neighbours(position, self._dimensions)]

    def _grow(self, dimensions: int) -> None:
        """The cube gets its corners, up to so many dimensions; vacant ones are stood at by a node near them."""
        old, self._dimensions = len(self._hosts), dimensions
        for position in range(old, 1 << dimensions):
            is_taken = position in self._members
            self._begin(corner(position), position if is_taken else stand_in(position, self._members, dimensions))
        for position in range(1 << dimensions):
            for other in neighbours(position, dimensions):
                if position < other and other >= old:
                    self._world.join(corner(position), corner(other))

    # -- clients

    def hub(self, node: int) -> MovingHub:
        """See `HostedNetwork.hub`; it is also down while another one stands in for it and lacks what it had."""
        if node in self._lost:
            raise NetworkError(f"node {node} is down; restart it, or use another one")
        return super().hub(node)

    # -- faults

    def restart(self, node: int) -> None:
        """A node that has crashed is up again; what others did in its place comes back to it."""
        super().restart(node)
        for position, (host, lost) in [*self._lost.items()]:
            if host == node:
                self._give_back(position, node, lost)
        for position in [each for each in self._up() if self._hosts[corner(each)] != each]:
            if not self._world.is_down(corner(position)):
                self._hand_over(corner(position), position, self._neighbours(position))
            elif position == node:
                self._take_over(position, node)

    def _give_back(self, position: int, node: int, lost: MovingState) -> None:
        if self._world.is_down(corner(position)):
            self._take_over(position, node)  # what the stand-in was told goes with it, and is told anew
        else:
            self._hand_over(corner(position), node, self._neighbours(position))
        del self._lost[position]
        self._world.carry(corner(position), self.hub(position).adopt(lost, self.moment(corner(position))))
        for companion in sorted(lost.companions):
            self._world.join(corner(position), companion)

    def _notice(self, name: str, silent: str) -> None:
        """A corner has not heard from a neighbour for long: another node stands in for the one that is down."""
        position = position_of(silent)
        up = self._up()
        if self._hosts[silent] in self._down and up:
            self._take_over(position, stand_in(position, up, self._dimensions))

    def _take_over(self, position: int, host: int) -> None:
        """A node stands at a corner whose node is down, and begins there with nothing."""
        name = corner(position)
        state = self._world.state_of(name)
        assert isinstance(state, MovingState), "places are hubs"
        if state.has_clients and position not in self._lost:
            self._lost[position] = self._hosts[name], state
        self._world.remove(name)
        self._begin(name, host, stands_in=position in self._lost)
        stand = self._world.state_of(name)
        assert isinstance(stand, MovingState), "places are hubs"
        stand.companions |= state.companions
        for other in [*self._neighbours(position), *sorted(state.companions)]:
            self._world.join(name, other)

    # -- members

    def join(self) -> int:
        """A node joins, and takes over a corner at which another one stands; gives its number."""
        hosts = {position_of(name): host for name, host in self._hosts.items()}
        vacant = (p for p, host in hosts.items() if p not in self._members and host not in self._down)
        position = next(vacant, None)
        if position is None:
            self._grow(self._dimensions + 1)
            return self.join()
        self._members[position] = None
        self._welcome_node(position, sorted(self._members, key=lambda other: (other ^ position).bit_count()))
        self._hand_over(corner(position), position, self._neighbours(position))
        return position

    def leave(self, node: int) -> None:
        """A node leaves: what it has, its clients too, is handed over to others."""
        self._refuse_to_leave(node)
        self._refuse_to_split([node])
        places = self._places(node)
        del self._members[node]
        for position in map(position_of, places):
            to = stand_in(position, self._up(), self._dimensions)
            self._hand_over(corner(position), to, self._neighbours(position))
        self._dismiss([node])
