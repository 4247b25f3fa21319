"""A router: what it knows of links, what it tells its neighbours of them, and which way it sends frames on.

A router finds the shortest paths to all others in what its neighbours have told it, and tells them the links of these
paths: its *tree* (as in the link-vector algorithm of Garcia-Luna-Aceves and Behrens, 1995). A neighbour's paths over it
use no others, so that is all that a neighbour needs. What follows:

    change      a link that changes is told on by those routers alone on whose trees it is, or comes to be
    failure     what a router knew only of a neighbour is forgotten while the link to that is not well
    ghost       a neighbour that tells an older report of a link than one knows is told the newer one
    return      a link that was suspected, or has failed, is well again when the other end has acknowledged that it was
    areas       of routers that are in one unit there is a tree of that unit, too: frames between them stay inside it
                while there is a way, over whichever gateway is the nearest

Invariant: at rest each router knows a shortest path to every router that can be reached, and to no other.

A frame remembers where it was. One that comes round again, while the map changes, is let go of: there is no echo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from triplewire.network.link import Timing
from triplewire.network.maps.carriage import RoutedFrame
from triplewire.network.maps.paths import EndReport, LinkEnd, PathTree, path_tree
from triplewire.network.node import Node, NodeState, Outbox

Area = tuple[int, ...]
Reports = dict[LinkEnd, EndReport]

_SETTLING = 0.01
"""Seconds that a router waits for more news before it tells what has changed."""
_PROBES = 3
_UNMEASURED = 100.0
"""What a link costs, in milliseconds, before it is measured."""
_TREMBLE = 1.25
"""A measured cost that differs by less than this factor is no news."""


def router_name(area: Area) -> str:
    """The name of the router of a hub at a place in units; without units, that has one number.

    >>> router_name((0, 2, 1))
    'router-0.2.1'
    """
    return f"router-{'.'.join(map(str, area))}"


@lru_cache(maxsize=10_000)
def area_of(name: str) -> Area:
    """The place of the router of this name."""
    return tuple(map(int, name.removeprefix("router-").split(".")))


@dataclass(frozen=True, slots=True)
class LinksTold:
    """Links that are on a router's paths, and such as are no longer; of both, what it knows."""

    kind: ClassVar[str] = "map"
    reports: tuple[tuple[LinkEnd, EndReport], ...]
    removed: tuple[tuple[LinkEnd, EndReport], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """How long does it take to you and back? The answer is the same with `is_answer`."""

    kind: ClassVar[str] = "probe"
    sent: float
    left: int
    is_answer: bool = False


@dataclass(slots=True)
class RouterState(NodeState):
    """What a router must not lose. `given` has the costs that were given; None for those to be measured.

    `incarnation` is above that of any router that had this name before: so are the numbers of what it reports. `trees`
    has what each neighbour tells, `told` what each was told, and `newest` the newest report of each end.
    """

    incarnation: int = 1
    given: dict[str, float | None] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    own: Reports = field(default_factory=dict)
    trees: dict[str, Reports] = field(default_factory=dict)
    told: dict[str, Reports] = field(default_factory=dict)
    newest: Reports = field(default_factory=dict)


class MapRouter(Node):
    """The router of a hub. `dropped` counts frames that it could not send on, by the reason."""

    state: RouterState

    def __init__(self, state: RouterState, *, timing: Timing | None = None) -> None:
        super().__init__(state, timing=timing)
        self._area = area_of(state.name)
        self._trees: list[PathTree] = []
        self._settles: float | None = 0.0  # when what has changed is told
        self._best: dict[str, float] = {}
        self.dropped: Counter[str] = Counter()
        self._draw()

    # -- links

    def begin_link(self, peer: str, cost: float | None, now: float) -> None:
        """There is a link from now on; without a cost it is measured."""
        if cost is not None and cost <= 0:
            raise ValueError(f"the cost of a link must be above 0, and is {cost}")
        self.state.given[peer] = cost
        self.state.trees[peer], self.state.told[peer] = {}, {}
        self._report(peer, self._cost(peer), now)

    def end_link(self, peer: str, now: float) -> None:
        """There is none any more."""
        self._report(peer, None, now)
        self.forget(peer)
        for known in (self.state.given, self.state.trees, self.state.told, self.state.measured):
            known.pop(peer, None)

    def connect(self, peer: str, now: float) -> Outbox:
        """See `Node.connect`."""
        frames = super().connect(peer, now)
        self._news(now)
        if self.state.given.get(peer) is None and peer not in self.state.measured:
            self.tell(peer, Probe(now, _PROBES), now)
        return [*frames, *self._sent()]

    def measure(self, now: float) -> Outbox:
        """Measure anew what links cost, where that was not given."""
        for peer, cost in self.state.given.items():
            if cost is None:
                self.tell(peer, Probe(now, _PROBES), now)
        return self._sent()

    def _cost(self, peer: str) -> float:
        given = self.state.given[peer]
        return given if given is not None else self.state.measured.get(peer, _UNMEASURED)

    def suspect(self, peer: str, now: float) -> Outbox:
        """A neighbour has not answered for a while: other links are used."""
        own = self.state.own.get(LinkEnd(self.name, peer))
        if own is not None and own.is_well:
            self._report(peer, own.cost, now, is_suspected=True)
            self._tell_links(peer, now)  # at once: what it acknowledges from now on says that it is there
        return self._sent()

    def fail(self, peer: str, now: float) -> Outbox:
        """A neighbour has not answered for long."""
        own = self.state.own.get(LinkEnd(self.name, peer))
        if own is not None and own.cost is not None:
            self._report(peer, None, now)
            self._tell_links(peer, now)
        return self._sent()

    def _report(self, peer: str, cost: float | None, now: float, *, is_suspected: bool = False) -> None:
        end = LinkEnd(self.name, peer)
        known = self.state.newest.get(end)
        number = self.state.incarnation << 32 if known is None else known.number
        report = EndReport(number + 1, cost, is_suspected)
        self.state.own[end] = self.state.newest[end] = report
        self._news(now)

    def _news(self, now: float) -> None:
        """Something may have changed: what follows is told soon, with what else comes until then."""
        if self._settles is None:
            self._settles = now + _SETTLING

    # -- frames

    def send(self, frame: RoutedFrame, now: float) -> list[tuple[str, Any]]:
        """Send a frame one step further; it is let go of where there is no way, and where it was before."""
        if frame.to == self.name:
            return [(frame.receiver, frame)]
        if self.name in frame.path:
            self.dropped["echo"] += 1
            return []
        to = self.next_hop(frame.to)
        if to is None:
            self.dropped["no way"] += 1
            return []
        return [(to, frame.by(self.name))]

    def receive(self, peer: str, frame: Any, now: float) -> list[tuple[str, Any]]:
        """See `Node.receive`; also frames of hubs, here and elsewhere."""
        if isinstance(frame, RoutedFrame):
            return self.send(frame, now)
        frames = super().receive(peer, frame, now)
        own = self.state.own.get(LinkEnd(self.name, peer))
        if own is not None and not own.is_well and peer in self._links:
            link = self.state.links[peer]
            if self._links[peer].is_open and not link.waiting and link.done:
                self._report(peer, self._cost(peer), now)
        return frames

    # -- the map

    def path(self, to: str) -> list[str] | None:
        """The routers on the way to another one; None if there is no way."""
        return self._tree_to(to).path(to)

    def next_hop(self, to: str) -> str | None:
        """The neighbour on the way to another router; None if there is no way.

        Paths are found a moment after the map has changed: until then one may begin with a link that has ended.
        """
        found = self._tree_to(to).next_hop(to)
        return found if found in self._links else None

    def _tree_to(self, to: str) -> PathTree:
        """The tree of the smallest unit in which there is a way."""
        inside = [tree for depth, tree in enumerate(self._trees) if area_of(to)[:depth] == self._area[:depth]]
        return next((tree for tree in reversed(inside) if to in tree.costs), self._trees[0])

    def reports(self) -> Reports:
        """The map: what is known of each link."""
        found = dict(self.state.own)
        for peer, tree in self.state.trees.items():
            if self._is_well(peer):
                for end in tree:
                    found.setdefault(end, self.state.newest[end])
        return found

    def _is_well(self, peer: str) -> bool:
        """Whether what a neighbour tells counts: both ends must say that the link is well."""
        own = self.state.own.get(LinkEnd(self.name, peer))
        other = self.state.newest.get(LinkEnd(peer, self.name))
        return own is not None and own.is_well and other is not None and other.is_well

    def _draw(self) -> None:
        """Find the shortest paths, in each unit that this router is in, the widest first."""
        known = self.reports()
        self._trees = [self._tree(known, depth) for depth in range(len(self._area))]

    def _tree(self, known: Reports, depth: int) -> PathTree:
        area = self._area[:depth]
        return path_tree(self.name, known, lambda router: area_of(router)[:depth] == area)

    def due(self, peer: str) -> float | None:
        """See `Node.due`."""
        return self._settles if peer == self.name else super().due(peer)

    def tick(self, peer: str, now: float) -> Outbox:
        """See `Node.tick`."""
        if peer != self.name:
            return super().tick(peer, now)
        if self._settles is not None and now >= self._settles:
            self._settles = None
            self._draw()
            for neighbour in self.state.told:
                if self.state.own[LinkEnd(self.name, neighbour)].is_well:  # to others, when they are back
                    self._tell_links(neighbour, now)
        return self._sent()

    def _concerning(self, peer: str) -> Reports:
        """What a neighbour should know: the links of the trees of units that it is in as well, and this end."""
        ends = {LinkEnd(self.name, peer)}
        for depth, tree in enumerate(self._trees):
            if area_of(peer)[:depth] == self._area[:depth]:
                ends |= tree.ends()
        return {end: self.state.newest[end] for end in sorted(ends) if end in self.state.newest}

    def _tell_links(self, peer: str, now: float) -> None:
        """Tell a neighbour the difference."""
        if peer not in self._links:
            return
        told, wanted = self.state.told[peer], self._concerning(peer)
        added = tuple((end, report) for end, report in wanted.items() if told.get(end) != report)
        removed = tuple((end, self.state.newest[end]) for end in told if end not in wanted)
        if added or removed:
            self.state.told[peer] = wanted
            self.tell(peer, LinksTold(added, removed), now)

    # -- what neighbours tell

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear`."""
        match body:
            case LinksTold(reports, removed):
                tree = self.state.trees.get(peer)
                if tree is not None:
                    self._note(peer, [*reports, *removed], now)
                    tree.update(reports)
                    for end, _ in removed:
                        tree.pop(end, None)
                    self._news(now)
            case Probe(sent, left, False):
                self.tell(peer, Probe(sent, left, True), now)
            case Probe(sent, left, True):
                self._take_measure(peer, (now - sent) * 500, left, now)

    def hear_all(self, peer: str, body: LinksTold, now: float) -> None:
        """See `Node.hear_all`."""
        if peer in self.state.trees:
            self._note(peer, body.reports, now)
            self.state.trees[peer] = dict(body.reports)
            self._news(now)

    def all_for(self, peer: str) -> LinksTold:
        """See `Node.all_for`."""
        self.state.told[peer] = wanted = self._concerning(peer)
        return LinksTold(tuple(wanted.items()))

    def _note(self, peer: str, reports: Iterable[tuple[LinkEnd, EndReport]], now: float) -> None:
        """Know what is newer, and tell the neighbour of what it has an older report.

        Routers on both sides of a link that has ended could go on to believe each other that it is there: those at its
        ends may have lost, in the same moment, all neighbours that they had told of it.
        """
        newer = []
        for end, report in reports:
            known = self.state.newest.get(end)
            if known is not None and report.number < known.number and self.state.told[peer].get(end) != known:
                newer.append((end, known))
            elif end.at != self.name and (known is None or report.number > known.number):
                self.state.newest[end] = report
        if newer:
            self.tell(peer, LinksTold((), tuple(newer)), now)

    def _take_measure(self, peer: str, cost: float, left: int, now: float) -> None:
        """A probe is back after twice so many milliseconds; the shortest of a few counts."""
        if peer not in self.state.given:
            return
        self._best[peer] = min(self._best.get(peer, cost), cost)
        if left > 1:
            self.tell(peer, Probe(now, left - 1), now)
            return
        found = max(0.01, float(f"{self._best.pop(peer):.2g}"))
        known = self.state.measured.get(peer)
        if known is None or not known / _TREMBLE <= found <= known * _TREMBLE:
            self.state.measured[peer] = found
            own = self.state.own[LinkEnd(self.name, peer)]
            if own.is_well:
                self._report(peer, found, now)
