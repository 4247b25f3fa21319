"""Brokers in clusters of clusters, in a simulation: which broker controls a unit, and who takes over from it (N2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from triplewire.errors import NetworkError, UnitFull
from triplewire.network.hierarchy import (
    MOST_SUB_UNITS,
    Path,
    TreeTopology,
    brokers_of,
    check_clusters,
    controllers,
    path_of,
    unit_name,
)
from triplewire.network.simulation.hosts import HostedNetwork
from triplewire.network.simulation.world import World


class HierarchyNetwork(HostedNetwork):
    """Brokers by their numbers. `clusters` has the numbers of sub-units, from the widest level down."""

    has_units = True

    def __init__(self, world: World, loads: Counter[int], clusters: Sequence[int]) -> None:
        check_clusters(clusters)
        super().__init__(world, loads, prod(clusters))
        self._levels = len(clusters)
        self._paths: dict[int, Path] = dict(enumerate(brokers_of(clusters)))
        units = dict.fromkeys(path[:length] for path in self._paths.values() for length in range(self._levels))
        for path in units:
            self._begin(unit_name(path), self._candidates(path)[0])
        for node, path in self._paths.items():
            self._begin(unit_name(path), node)
        for path in [*units, *self._paths.values()]:
            if path:
                self._world.join(unit_name(path[:-1]), unit_name(path))

    def _topology(self, name: str) -> TreeTopology:
        return TreeTopology(path_of(name), self._levels)

    def _home(self, node: int) -> str:
        return unit_name(self._paths[node])

    def path(self, node: int) -> Path:
        """The place of a broker: its number in its cluster comes last."""
        return self._paths[node]

    def controller(self, *unit: int) -> int:
        """The broker that controls a unit now."""
        return self._hosts[unit_name(unit)]

    def _candidates(self, unit: Path) -> list[int]:
        """The brokers of a unit, as they should control it, the best one first."""
        numbers = {self._paths[node]: node for node in self._members}
        return [numbers[path] for path in controllers(unit, numbers)]

    def _nearest(self, unit: Path) -> int:
        """The broker that is up and should be at a place, of the smallest unit around it that has one."""
        up = [node for node in self._candidates(unit) if node not in self._down]
        return up[0] if up else self._nearest(unit[:-1])

    def _neighbours(self, unit: Path) -> list[str]:
        below = [name for name in self._hosts if (path := path_of(name)) and path[:-1] == unit]
        return [unit_name(unit[:-1]), *below] if unit else below

    # -- faults

    def _notice(self, name: str, silent: str) -> None:
        """A controller is down: a standby takes over. What a broker is to be told waits until it is back."""
        unit = path_of(silent)
        if len(unit) < self._levels and self._hosts[silent] in self._down:
            self._world.remove(silent)
            self._begin(silent, self._nearest(unit))
            for other in self._neighbours(unit):
                self._world.join(silent, other)

    # -- members

    def join(self, cluster: Path | None = None) -> int:
        """A broker joins a cluster, which has room for 32, or the one that has the fewest; gives its number."""
        sizes = Counter(path[:-1] for path in self._paths.values())
        unit = min(sizes, key=lambda path: (sizes[path], path)) if cluster is None else tuple(cluster)
        if unit not in sizes:
            raise NetworkError(f"there is no cluster {unit}: the clusters are {', '.join(map(str, sizes))}")
        if sizes[unit] >= MOST_SUB_UNITS:
            raise UnitFull(f"cluster {unit}", MOST_SUB_UNITS)
        node = max(self._paths) + 1
        self._members[node] = None
        self._paths[node] = (*unit, 1 + max(path[-1] for path in self._paths.values() if path[:-1] == unit))
        self._begin(self._home(node), node)
        self._world.join(unit_name(unit), self._home(node))
        return node

    def leave(self, node: int) -> None:
        """A broker leaves: another one of its cluster serves its clients, and others control its units."""
        self._refuse_to_leave(node)
        places = self._places(node)
        del self._members[node]
        for name in places:
            unit = path_of(name)
            self._hand_over(name, self._nearest(unit), self._neighbours(unit))
