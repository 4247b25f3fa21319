"""What a hub among hubs must not lose: what was advertised and asked, here and by neighbours, and documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triplewire.network.node import NodeState
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.interests import Interest, NeighbourInterests
from triplewire.network.routing.items import ItemIndex, ItemSet
from triplewire.network.routing.messages import Ask, DocumentSent
from triplewire.network.routing.subscriptions import ClientSubscription, Key

Note = tuple[Any, ...]
"""A part of a state, and what of it may have changed."""


@dataclass(slots=True)
class KeptDocument:
    """A document that is kept here: its version, the neighbour that it came from, and those that have it."""

    told: DocumentSent
    came: str
    sent: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Which document it is."""
        return self.told.origin, self.told.uri


@dataclass(slots=True)
class RoutingState(NodeState):
    """What a hub among hubs must not lose."""

    advertisements: dict[str, frozenset[Advertised]] = field(default_factory=dict)
    """What clients advertise, and for the sake of each document what nobody has advertised."""
    heard_items: dict[str, ItemIndex] = field(default_factory=dict)
    told_items: dict[str, ItemSet] = field(default_factory=dict)
    unheeded: set[str] = field(default_factory=set)
    """The neighbours that have not acknowledged what was advertised to them."""
    gathered: dict[str, ItemSet] = field(default_factory=dict)
    """Items about which they will be told then, if that is something else than they know."""
    heard_interests: dict[str, dict[Interest, float]] = field(default_factory=dict)
    interests: dict[str, NeighbourInterests] = field(default_factory=dict)
    subscriptions: dict[str, ClientSubscription] = field(default_factory=dict)
    documents: dict[Key, KeptDocument] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    stands_in: bool = False
    """Whether it does not know what the hub knew that it stands in for."""
    asked: list[Ask] = field(default_factory=list)
    """What that hub was asked meanwhile."""
    unanswered: list[Ask] = field(default_factory=list)
    """Questions that went on from here, its own and others', as they went."""
    noted: set[Note] | None = field(default=None, repr=False, compare=False)
    """What may have changed since somebody wrote it down; None while nobody does, or all of it may have."""

    def note(self, part: str, *about: Any) -> None:
        """A part may have changed: `advertised` by a source, `interest` of a neighbour, `subscription`, `document`."""
        if self.noted is not None:
            self.noted.add((part, *about))

    @property
    def has_clients(self) -> bool:
        """Whether clients have registered anything here, ever."""
        return bool(self.subscriptions or self.advertisements or self.versions)
