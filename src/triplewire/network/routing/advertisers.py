"""A hub that advertises: what its clients will publish, and what its neighbours advertise, goes on to others (P2, P4).

A neighbour is told the differences. While it has not acknowledged one, what changes meanwhile is gathered, and goes in
one message when it has: so when many hubs advertise at about the same time, a link carries few messages, and what
comes and goes in between is never said. Nothing waits for longer than a message and its acknowledgement take.
"""

from __future__ import annotations

from collections import Counter

from triplewire.model import Document
from triplewire.network.link import LinkState, Timing
from triplewire.network.node import Node, Outbox
from triplewire.network.routing.advertisements import Advertised, Advertisement, kept_inside
from triplewire.network.routing.items import ItemIndex, ItemSet
from triplewire.network.routing.messages import Advertise
from triplewire.network.routing.state import RoutingState
from triplewire.network.routing.topologies import Topology

OWN = ""
"""The neighbour that clients of the hub stand for."""


class AdvertisingHub(Node):
    """A hub that knows what its clients and its neighbours advertise, made from its durable state."""

    state: RoutingState

    def __init__(self, state: RoutingState, topology: Topology, *, timing: Timing | None = None) -> None:
        super().__init__(state, timing=timing)
        self._topology = topology
        self._own_counts = Counter(item for items in state.advertisements.values() for item in items)
        self._own_items = ItemIndex(self._own_counts)
        self._said = {peer: _last_said(link) for peer, link in state.links.items()}  # numbers of entries

    # -- clients

    def advertise(self, id: str, advertisement: Advertisement, now: float) -> Outbox:
        """A client says what it will publish; under the same id, something else from now on."""
        self._advertise_on(self._inherited(self._set_own(f"client {id}", advertisement.items)), now)
        return self._sent()

    def withdraw(self, id: str, now: float) -> Outbox:
        """A client will not publish any more what it advertised; what it has published stays."""
        self._advertise_on(self._inherited(self._set_own(f"client {id}", frozenset())), now)
        return self._sent()

    # -- items

    def _advertise_document(self, document: Document, reach: int) -> frozenset[Advertised]:
        """Advertise for a document what is not advertised without it; gives what has changed."""
        source = f"document {document.uri}"
        given = self._set_own(source, frozenset())
        return given ^ self._set_own(source, kept_inside(self._own_items.lacking(document, reach), reach))

    def _inherited(self, changed: frozenset[Advertised], besides: str = "") -> frozenset[Advertised]:
        """Advertise what has gone for the sake of documents that still need it; gives all that has changed.

        The document `besides`, of which another version comes, needs what was advertised for that one alone.
        """
        gone = changed - self._own_items.among(changed)
        for key, kept in self.state.documents.items() if gone else ():
            if key[0] == self.name and key[1] != besides and kept.told.document is not None:
                changed |= self._advertise_document(kept.told.document, kept.told.reach)
                gone -= self._own_items.among(changed)
                if not gone:
                    break
        return changed

    def _set_own(self, source: str, items: frozenset[Advertised]) -> frozenset[Advertised]:
        """A client, or a document, advertises this from now on, if anything; gives what has changed."""
        before = self.state.advertisements.pop(source, frozenset())
        if items:
            self.state.advertisements[source] = items
        self.state.note("advertised", source)
        self._own_counts.subtract(before - items)
        self._own_counts.update(items - before)
        gone = [item for item in before - items if not self._own_counts[item]]
        for item in gone:
            del self._own_counts[item]
        self._own_items.change(items - before, gone)
        return before ^ items

    # -- what neighbours are told

    def _advertise_on(self, changed: frozenset[Advertised], now: float, came: str = OWN) -> None:
        """A neighbour, or a client, advertises these items now, or no longer: tell those whom that may concern."""
        for peer in self.state.told_items if changed else ():
            if peer != came and self._topology.advertisement_goes(came, peer):
                self._advertise_to(peer, changed, now)

    def _advertise_to(self, peer: str, changed: frozenset[Advertised], now: float) -> None:
        """Tell a neighbour what of these items is advertised now, and what is not, once it has heeded the last."""
        if peer in self.state.unheeded:
            self.state.gathered.setdefault(peer, ItemSet()).change(changed, ())
            return
        said = self._difference(peer, changed)
        if said.added or said.removed:
            self.tell(peer, said, now)
            self.state.unheeded.add(peer)
            self._said[peer] = self.state.links[peer].newest

    def _difference(self, peer: str, changed: frozenset[Advertised]) -> Advertise:
        """What a neighbour has to be told of these items, which it counts as told from now on."""
        present = self._own_items.among(changed)
        for came, items in self.state.heard_items.items():
            if came != peer and self._topology.advertisement_goes(came, peer):
                present |= items.among(changed)
        told, height = self.state.told_items[peer], self._topology.height(peer)
        known = told.among(changed)
        added = frozenset(item for item in present - known if item.reach >= height)
        removed = known - present
        told.change(added, removed)
        return Advertise(added, removed)

    def acknowledged(self, peer: str, now: float) -> None:
        """See `Node.acknowledged`."""
        if peer in self.state.unheeded and self._said.get(peer, 0) <= self.state.links[peer].done:
            self.heeded(peer, now)

    def heeded(self, peer: str, now: float) -> None:
        """A neighbour has taken in what was advertised to it: what has changed meanwhile is next."""
        self.state.unheeded.discard(peer)
        self._advertise_to(peer, self._gathered(peer), now)

    def _gathered(self, peer: str) -> frozenset[Advertised]:
        """What may have changed since the last word to a neighbour; it is gathered no longer."""
        return frozenset(self.state.gathered.pop(peer, ()))


def _last_said(link: LinkState) -> int:
    """The number of the last advertisement that is not acknowledged; 0 if all are."""
    return max((entry.number for entry in link.waiting if isinstance(entry.body, Advertise)), default=0)
