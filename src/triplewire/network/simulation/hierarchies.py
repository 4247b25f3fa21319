"""Brokers in clusters of clusters, in a simulation: which broker controls a unit, and which takes over from it (N2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import get_args

from triplewire.algebra.pattern import Pattern
from triplewire.errors import NetworkError, UnitFull
from triplewire.languages import compile as compile_query
from triplewire.model import Access, Term
from triplewire.model.access import EVERYBODY
from triplewire.network.hierarchy import (
    MOST_SUB_UNITS,
    AnswerCache,
    AnswerCount,
    BrokerHub,
    BrokerState,
    ControllerHub,
    FoundDocuments,
    Path,
    QueryBook,
    Sought,
    StandbyNode,
    StandbyState,
    TreeTopology,
    brokers_of,
    check_clusters,
    controller_of,
    controllers,
    path_of,
    standby_of,
    unit_name,
)
from triplewire.network.node import Node, NodeState
from triplewire.network.routing import Advertisement
from triplewire.network.simulation.hosts import TIMING, HostedNetwork, MovingClient
from triplewire.network.simulation.wirings import Wire
from triplewire.network.simulation.world import World


class HierarchyNetwork(HostedNetwork):
    """Brokers by their numbers. `clusters` has the numbers of sub-units, from the widest level down.

    Without `standbys`, a controller that takes over is told everything anew. Without `short_cut`, all that match are
    looked at to find where a document goes. Each hub keeps at most so many `answers` to queries.
    """

    has_units = True

    def __init__(
        self,
        world: World,
        loads: Counter[int],
        clusters: Sequence[int],
        *,
        links: Sequence[Wire] | None = None,
        standbys: bool = True,
        short_cut: bool = True,
        answers: int = 1_000,
    ) -> None:
        check_clusters(clusters)
        self._paths: dict[int, Path] = dict(enumerate(brokers_of(clusters)))
        super().__init__(world, loads, prod(clusters), links)
        self._levels, self._with_standbys, self._short_cut = len(clusters), standbys, short_cut
        self._units: dict[Path, None] = {}
        self._most_answers = answers
        self._settle((), dict(self._paths))

    def _settle(self, around: Path, brokers: dict[int, Path]) -> None:
        """Brokers come, and with them the units inside `around` that they are in."""
        self._paths |= brokers
        self._members |= dict.fromkeys(brokers)
        inside = (path[:length] for path in brokers.values() for length in range(len(around), self._levels))
        units = [path for path in dict.fromkeys(inside) if path not in self._units]
        self._units |= dict.fromkeys(units)
        for path in units:
            self._begin(unit_name(path), self._candidates(path)[0])
        for node, path in brokers.items():
            self._begin(unit_name(path), node)
        for path in [*units, *brokers.values()]:
            if path:
                self._world.join(unit_name(path[:-1]), unit_name(path))
        self._seek_standbys()

    # -- places

    def _topology(self, name: str) -> TreeTopology:
        return TreeTopology(path_of(name), self._levels)

    def _area(self, node: int) -> Path:
        return self._paths[node]

    def _home(self, node: int) -> str:
        return unit_name(self._paths[node])

    def _made(self, state: NodeState) -> Node:
        assert isinstance(state, BrokerState), "it is the state of a hub"
        kind = ControllerHub if path_of(state.name) in self._units else BrokerHub
        return kind(state, self._topology(state.name), timing=TIMING, short_cut=self._short_cut)

    def _empty(self, name: str, epoch: str, stands_in: bool) -> BrokerState:
        return BrokerState(name, epoch, stands_in=stands_in, book=QueryBook(cache=AnswerCache(self._most_answers)))

    def _count(self, name: str) -> None:
        """What standbys are told is counted in `messages`, as steps; it is no work of routing."""
        if isinstance(hub := self._world.nodes.get(name), BrokerHub):
            super()._count(name)
            self._watch_queries(hub)

    def _watch_queries(self, hub: BrokerHub) -> None:
        for peer in sorted(hub.awaited()):
            self._world.miss(hub.name, peer)

    def hub(self, node: int) -> BrokerHub:
        """See `HostedNetwork.hub`."""
        found = super().hub(node)
        assert isinstance(found, BrokerHub), "brokers answer queries"
        return found

    def client(self, at: int, *, account: str = EVERYBODY) -> HierarchyClient:
        """A new client of a broker; of an account, if one is named, which access lists may name."""
        self._refuse_unknown(at)
        return HierarchyClient(self, f"client-{next(self._clients)}", at, account)

    def find(
        self, at: int, id: str, pattern: Pattern, reach: int, limit: int | None, sought: Sought, account: str
    ) -> None:
        """A client of a broker looks for something."""
        hub = self.hub(at)
        self.act(at, hub.find(id, pattern, reach, limit, self.moment(hub.name), sought, account))
        self._watch_queries(hub)

    @property
    def answers(self) -> AnswerCount:
        """How many queries were answered with an answer that was kept, at all hubs that are up, and how many not."""
        return AnswerCount.of(hub.book.cache for hub in self._world.nodes.values() if isinstance(hub, BrokerHub))

    @property
    def units(self) -> tuple[Path, ...]:
        """The units that have a controller, the widest first."""
        return tuple(self._units)

    def path(self, node: int) -> Path:
        """The place of a broker: its number in its cluster comes last."""
        return self._paths[node]

    def controller(self, *unit: int) -> int:
        """The broker that controls a unit now."""
        return self._hosts[unit_name(unit)]

    def standby(self, *unit: int) -> int | None:
        """The broker that would take over from a unit's controller, if there is one."""
        return self._hosts.get(standby_of(unit_name(unit)))

    def _candidates(self, unit: Path) -> list[int]:
        """The brokers of a unit, as they should control it, the best one first."""
        numbers = {self._paths[node]: node for node in self._members}
        return [numbers[path] for path in controllers(unit, numbers)]

    def _nearest(self, unit: Path) -> int:
        """The broker that is up and should be at a place, of the smallest unit around it that has one."""
        up = [node for node in self._candidates(unit) if node not in self._down]
        return up[0] if up else self._nearest(unit[:-1])

    def _neighbours(self, unit: Path) -> list[str]:
        below = [unit_name(path) for path in [*self._units, *self._paths.values()] if path and path[:-1] == unit]
        return [unit_name(unit[:-1]), *below] if unit else below

    # -- controllers and standbys

    def _notice(self, name: str, silent: str) -> None:
        """A standby takes over from a controller that is down, or another broker takes the place of a standby.

        What a broker is to be told waits until it is back; queries go on without it.
        """
        if isinstance(hub := self._world.nodes.get(name), BrokerHub):
            self._world.carry(name, hub.miss(silent, self._world.clock(name)))
            self._watch_queries(hub)
        if standby_of(name) == silent or (standby_of(silent) == name and self._hosts[silent] not in self._down):
            self._end_standby(max(name, silent, key=len))
        elif path_of(silent) in self._units and self._hosts[silent] in self._down:
            self._take_over(silent)
        self._seek_standbys()

    def _take_over(self, name: str) -> None:
        """A standby goes on with what it knows; without one, another broker begins with nothing."""
        standby = standby_of(name)
        state = self._world.state_of(standby) if standby in self._hosts else None
        host = self._hosts.get(standby)
        self._world.remove(name)
        if isinstance(state, StandbyState) and state.copy is not None and host not in self._down and host is not None:
            self._hosts[name] = host
            self._world.add(state.copy, self._made)
        else:
            self._begin(name, self._nearest(path_of(name)), stands_in=True)
        self._end_standby(standby)
        for other in self._neighbours(path_of(name)):
            self._world.join(name, other)

    def _end_standby(self, standby: str) -> None:
        self._world.remove(standby)
        self._hosts.pop(standby, None)

    def _seek_standbys(self) -> None:
        """Each controller that has no standby gets one, or goes on without."""
        for unit in self._units if self._with_standbys else ():
            controller = self._world.nodes.get(unit_name(unit))
            if isinstance(controller, ControllerHub) and standby_of(controller.name) not in self._hosts:
                can = (node for node in self._candidates(unit) if self._can_stand_by(node, controller.name))
                self._begin_standby(controller, next(can, None))

    def _begin_standby(self, controller: ControllerHub, host: int | None) -> None:
        if host is None:
            self._world.carry(controller.name, controller.end_standby())
            return
        name = standby_of(controller.name)
        self._hosts[name] = host
        self._epochs[name] += 1
        controller.begin_standby()
        self._world.add(StandbyState(name, f"{name}-{self._epochs[name]}"), self._made_standby)
        self._world.join(controller.name, name)

    def _can_stand_by(self, node: int, controller: str) -> bool:
        is_other, home = node != self._hosts[controller] and node not in self._down, self._home(node)
        return is_other and self._world.reaches(home, controller) and self._world.reaches(controller, home)

    def _made_standby(self, state: NodeState) -> Node:
        assert isinstance(state, StandbyState), "it is the state of a standby"
        return StandbyNode(state, self._topology(controller_of(state.name)), timing=TIMING)

    def restart(self, node: int) -> None:
        """A broker that has crashed is up again."""
        super().restart(node)
        self._seek_standbys()

    def heal(self) -> None:
        """All partitions end."""
        super().heal()
        self._seek_standbys()

    # -- members

    def join(self, cluster: Path | None = None) -> int:
        """A broker joins a cluster, which has room for 32, or the one that has the fewest; gives its number."""
        sizes = Counter(path[:-1] for path in self._paths.values())
        unit = min(sizes, key=lambda path: (sizes[path], path)) if cluster is None else tuple(cluster)
        if unit not in sizes:
            raise NetworkError(f"there is no cluster {unit}: the clusters are {', '.join(map(str, sizes))}")
        node = max(self._paths) + 1
        self._welcome(unit, {node: self._vacant(unit)})
        return node

    def _welcome(self, unit: Path, brokers: dict[int, Path]) -> None:
        """Brokers join: each has links to the nearest two, before it speaks."""
        self._paths |= brokers
        for node in brokers:
            self._members[node] = None
            self._welcome_node(node, sorted(self._members, key=lambda other: self._nearness(node, other), reverse=True))
        self._settle(unit, brokers)

    def _nearness(self, node: int, other: int) -> int:
        """How many levels two brokers share."""
        pairs = zip(self._paths[node], self._paths[other], strict=True)
        return next((level for level, (a, b) in enumerate(pairs) if a != b), self._levels)

    def join_unit(self, inside: Path, clusters: Sequence[int]) -> list[int]:
        """A unit joins as a whole: `clusters` has its numbers of sub-units; gives the numbers of its brokers."""
        check_clusters(clusters)
        if tuple(inside) not in self._units or len(inside) + 1 + len(clusters) != self._levels:
            raise NetworkError(f"a unit of {len(clusters)} levels has no place inside {tuple(inside)}")
        unit, first = self._vacant(tuple(inside)), max(self._paths) + 1
        brokers = {number: (*unit, *path) for number, path in enumerate(brokers_of(clusters), start=first)}
        self._welcome(unit, brokers)
        return list(brokers)

    def _vacant(self, unit: Path) -> Path:
        """The place of the next sub-unit."""
        taken = [path[-1] for path in [*self._units, *self._paths.values()] if path and path[:-1] == unit]
        if len(taken) >= MOST_SUB_UNITS:
            raise UnitFull(f"unit {unit}", MOST_SUB_UNITS)
        return (*unit, 1 + max(taken))

    def leave(self, node: int) -> None:
        """A broker leaves: another one of its cluster serves its clients, and others control its units."""
        self._refuse_to_leave(node)
        self._refuse_to_split([node])
        self._depart([node])

    def leave_unit(self, *unit: int) -> None:
        """A unit leaves as a whole: brokers of the unit around it serve its clients."""
        nodes = self._candidates(unit)
        if not nodes:
            raise NetworkError(f"there are no brokers in unit {unit}")
        for node in nodes:
            self._refuse_to_leave(node)
        if set(self._up()) <= set(nodes):
            raise NetworkError(f"no broker outside unit {unit} is up; it can leave when one is")
        self._refuse_to_split(nodes)
        self._depart(nodes)

    def _depart(self, nodes: Sequence[int]) -> None:
        places = [name for node in nodes for name in self._places(node)]
        for node in nodes:
            del self._members[node]
        for name in places:
            if not isinstance(self._world.nodes[name], StandbyNode):
                self._hand_on(name)
                continue
            controller = controller_of(name)
            if self._world.is_down(controller):  # which would be back without what the standby knows of
                self._take_over(controller)
                self._hand_on(controller)
            else:
                self._end_standby(name)
        self._dismiss(nodes)
        self._seek_standbys()

    def _hand_on(self, name: str) -> None:
        """The broker at a place leaves, and another one stands there from now on."""
        unit = path_of(name)
        self._hand_over(name, self._nearest(unit), self._neighbours(unit))
        if self._hosts.get(standby_of(name)) == self._hosts[name]:
            self._end_standby(standby_of(name))


class HierarchyClient(MovingClient):
    """A client of a broker, which also looks for what is stored."""

    _network: HierarchyNetwork

    def advertise(
        self,
        *,
        schemas: Iterable[str] = (),
        properties: Iterable[str] = (),
        values: Mapping[str, Iterable[Term | str | int | float]] | None = None,
        id: str | None = None,
        reach: str = "network",
        access: Access | None = None,
    ) -> str:
        """See `SimulatedClient.advertise`; with a list, only accounts that it names find the advertisement (N4)."""
        found = id or f"{self.name}/advertisement-{next(self._numbers)}"
        wanted = Advertisement(schemas=schemas, properties=properties, values=values, reach=self._height(reach))
        now = self._moment(self.at)
        self._network.act(self.at, self._network.hub(self.at).advertise(found, wanted, now, access=access))
        return found

    def find(
        self,
        text: str,
        *,
        language: str = "sparql",
        reach: str = "network",
        limit: int | None = None,
        sought: Sought = "documents",
    ) -> FoundQuery:
        """Look for documents that are published now, inside a reach, and not more than `limit` (N3).

        With `sought="publications"`, for all versions that were published, those that were changed or retracted since
        among them; with "advertisements", for advertisements of clients that could match.
        """
        if sought not in get_args(Sought):
            raise ValueError(f"sought is one of {', '.join(get_args(Sought))}, and not {sought!r}")
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be above 0, and is {limit}")
        id, pattern = f"{self.name}/query-{next(self._numbers)}", compile_query(text, language=language)
        self._network.find(self.at, id, pattern, self._height(reach), limit, sought, self.account)
        return FoundQuery(self._network, self.at, id)


class FoundQuery:
    """A query that a client has asked."""

    def __init__(self, network: HierarchyNetwork, at: int, id: str) -> None:
        self._network, self._at, self._id = network, at, id

    @property
    def found(self) -> FoundDocuments:
        """What it has found so far."""
        return self._network.hub(self._at).found(self._id)
