"""What an edge says of itself: how old its cache is, what it follows, why something is kept, what a sync did."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from triplewire.network.channels.status import UplinkStatus

RuleState = Literal["new", "loading", "kept", "refused"]
"""The hub has not heard of it; what it registers is not here yet; it is; the hub does not serve it."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The state of the hub that a cache has: its batch, when that was committed, and when the hub last confirmed it."""

    position: int
    committed: datetime | None
    confirmed: datetime | None
    age: timedelta | None
    """How long ago the hub said that this is its newest batch; None: never."""

    def __str__(self) -> str:
        if self.age is None:
            return "never told anything"
        return f"batch {self.position} of the hub, {self.age.total_seconds():.0f} seconds ago"


@dataclass(frozen=True, slots=True)
class FollowedRule:
    """A rule that an edge follows; a refused one says why. `resources` are those that it registers."""

    id: str
    text: str
    language: str
    state: RuleState = "new"
    reason: str = ""
    tag: str = ""
    resources: int = 0


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did: how many resources were described anew, which moved out or were deleted, and what went wrong."""

    as_of: AsOf
    described: int = 0
    moved_out: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    resync: str = ""
    """Why everything was compared; empty if it was not."""
    drifted: tuple[str, ...] = ()
    """The rules of which something else was held than should have been; it is repaired."""
    repaired: int = 0
    """How many resources a resync found to differ."""
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something is said of a resource at an edge: rules that register it, what holds it, private documents."""

    resource: str
    rules: tuple[str, ...]
    parents: tuple[str, ...]
    private: tuple[str, ...]
    """Private documents that say something of it, or refer to it; that is no cause to keep it."""
    is_cached: bool

    @property
    def dangles(self) -> bool:
        """Whether private documents refer to it, and no rule brings it."""
        return bool(self.private) and not self.is_cached

    def __str__(self) -> str:
        causes = [f"rule {rule}" for rule in self.rules]
        causes += [f"held by {parent}" for parent in self.parents]
        causes += [f"named in the private document {uri}" for uri in self.private]
        if self.dangles:
            causes.append("and no rule brings what the hub says of it")
        return f"{self.resource}: {', '.join(causes) or 'not here, and no rule registers it'}"


@dataclass(frozen=True, slots=True)
class EdgeStatus:
    """An edge at a glance; `problem` is what the link to the hub suffers from, empty while it works."""

    name: str
    hub: str
    as_of: AsOf
    rules: tuple[FollowedRule, ...]
    cached: int
    private: int
    """How many documents are cached, and how many are private."""
    problem: str = ""
    failing_since: datetime | None = None
    pending: tuple[str, ...] = ()
    """Rules that the hub has still to hear of, or to let go of."""
    link: UplinkStatus | None = None
    """What the channel to the hub does; None where there is none, because the hub is of this process, or a `Client`."""
