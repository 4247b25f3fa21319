"""A network of hubs, as any of them tells it: members, links, and the way of an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from triplewire.wire.messages import Described


@dataclass(frozen=True)
class MemberTold:
    """A hub of the network."""

    name: str
    url: Annotated[str, Described("Where other hubs find it.")]
    corner: Annotated[int | None, Described("Its own corner of the cube; null in a hierarchy.")]
    stands_at: Annotated[list[int], Described("The corners at which it stands now: its own, vacant ones, others'.")]
    is_away: Annotated[bool, Described("Whether it was silent for so long that others stand in for it.")]
    is_connected: Annotated[bool, Described("Whether the hub that tells this has a channel to it.")]
    place: Annotated[str, Described("Its own place in the network, in words.")] = ""
    stands_at_places: Annotated[list[str], Described("The places at which it stands now, in words.")] = field(
        default_factory=list
    )


@dataclass(frozen=True)
class LinkTold:
    """One end of a link between two places of the network."""

    corner: int | None
    to: Annotated[int | None, Described("The corner at the other end; null in a hierarchy.")]
    member: Annotated[str, Described("The hub that stands there.")]
    is_open: Annotated[bool, Described("Whether the other end answers.")]
    waiting: Annotated[int, Described("Messages to the other end that it has not acknowledged.")]
    lag: Annotated[int | None, Described("Messages of the other end that are missing here; null: that is not known.")]
    silence: Annotated[float, Described("Seconds since anything was heard of the other end.")]
    interests: Annotated[int, Described("What the other end wants to hear of.")]
    advertised: Annotated[int, Described("What the other end says it has to tell.")]
    place: Annotated[str, Described("This end, in words.")] = ""
    to_place: Annotated[str, Described("The other end, in words.")] = ""


@dataclass(frozen=True)
class RingPlaceTold:
    """A peer of a ring: the peers next to it, what it keeps, and how far it is."""

    algorithm: str
    replicas: Annotated[int, Described("How many peers have what is kept under a key.")]
    predecessor: Annotated[str | None, Described("The peer before it; null while that is not known.")]
    successors: Annotated[list[str], Described("The peers after it, the nearest first.")]
    share: Annotated[float, Described("The part of the circle that it is responsible for.")]
    keys: Annotated[int, Described("Keys that it is responsible for, and that something is kept under.")]
    copies: Annotated[int, Described("Keys that it keeps for other peers, or kept once.")]
    triples: Annotated[int, Described("Triples under its own keys: a triple is under several.")]
    waiting_queries: Annotated[int, Described("Queries that wait under its own keys, with each set of values.")]
    unanswered: Annotated[int, Described("Messages of it that other peers have not answered.")]
    under_way: Annotated[int, Described("Requests of clients and peers that it has not finished.")]
    lag: Annotated[float, Described("Seconds since the oldest unanswered message was sent; 0 if there is none.")]


@dataclass(frozen=True)
class NetworkTold:
    """A network, as one of its hubs sees it."""

    name: Annotated[str, Described("The hub that tells this.")]
    corner: Annotated[int | None, Described("Its corner; null while it is no member yet.")]
    decider: Annotated[str | None, Described("The member that decides who is one.")]
    term: int
    number: Annotated[int, Described("Which table of members this is, in its term.")]
    members: list[MemberTold]
    links: list[LinkTold]
    subscriptions: Annotated[int, Described("What subscriptions here ask of the network.")]
    documents: Annotated[int, Described("Documents that are kept here for the network, its own and others'.")]
    problem: Annotated[str, Described("Why the node cannot work; empty if it does.")] = ""
    network: Annotated[str, Described("The kind of the network: hypercube, hierarchy or ring.")] = ""
    place: Annotated[str, Described("Its place, in words; empty while it is no member yet.")] = ""
    ring: Annotated[RingPlaceTold | None, Described("What only a peer of a ring has; null for other hubs.")] = None
    inside: Annotated[list[LinkTold], Described("Links between two places at which this hub stands itself.")] = field(
        default_factory=list
    )


@dataclass(frozen=True)
class MapTold:
    """The whole network: what each member says of itself; `silent` are those that did not answer, and why."""

    hubs: list[NetworkTold]
    silent: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TraceTold:
    """The way of one event through the network, in plain words, one line for each step."""

    subscription: str
    cursor: int
    lines: list[str]
    places: Annotated[list[str], Described("The places on the way, in words.")] = field(default_factory=list)


@dataclass(frozen=True)
class SpreadTold:
    """Where a document went from the hub that it was published at, in plain words, and why there."""

    uri: str
    lines: list[str]
    places: Annotated[list[str], Described("The places that it came to, in words, the hub's own one first.")]


@dataclass(frozen=True)
class MoveAsked:
    """What to sign to move: see `wire.keys.move_text`."""

    to: Annotated[str, Described("The hub that is moved to.")]
    generation: Annotated[int, Described("Which departure of this key from the old hub it will be.")]
    nonce: Annotated[str, Described("The old hub's; it has the time in it, and counts once.")]


@dataclass(frozen=True)
class MovedTold:
    """A subscription that goes on at its new hub."""

    id: str
    cursor: Annotated[int, Described("Its events here have greater cursors; those of the old hub count no more.")]


@dataclass(frozen=True)
class MoveTold:
    """What has moved."""

    subscriptions: list[MovedTold]
