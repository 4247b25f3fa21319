"""What a node says of itself: where it stands, who its neighbours are, and how far it is with each of them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from triplewire.network.hypercube import position_of
from triplewire.network.live.node import LiveNode


def status_of(node: LiveNode) -> dict[str, Any]:
    """A node and its links, as JSON; asked in the node's own thread, so that it is of one moment."""
    found: dict[str, Any] = node.call(lambda now: _status(node, now))
    return found


def _status(node: LiveNode, now: float) -> dict[str, Any]:
    table = node.council.table
    own = None if table is None else table.member(node.name)
    members = [] if table is None else [_member(node, each.name) for each in table.members]
    return {
        "name": node.name,
        "corner": None if own is None else own.position,
        "decider": None if table is None else table.decider,
        "term": 0 if table is None else table.term,
        "number": 0 if table is None else table.number,
        "members": members,
        "links": _links(node, now),
        "subscriptions": sum(len(each.state.subscriptions) for each in node.corners.values()),
        "documents": sum(len(each.state.documents) for each in node.corners.values()),
        "problem": node.problem,
    }


def _member(node: LiveNode, name: str) -> dict[str, Any]:
    table = node.council.table
    assert table is not None, "it has members"
    member = table.member(name)
    assert member is not None, "it is one of them"
    return {
        "name": name,
        "url": member.url,
        "corner": member.position,
        "stands_at": table.corners(name),
        "is_away": member.is_away,
        "is_connected": name in node.channels or name == node.name,
    }


def _links(node: LiveNode, now: float) -> list[dict[str, Any]]:
    """Each end here of a link to another member's corner; lag counts entries that this end lacks, if that is known."""
    table = node.council.table
    found: list[dict[str, Any]] = []
    for position, own in sorted(node.corners.items()):
        for peer in sorted(own.neighbours, key=position_of):
            other = position_of(peer)
            if table is None or other >= len(table.seats) or other in node.corners:
                continue
            lag = own.lag(peer, now)
            found.append(
                {
                    "corner": position,
                    "to": other,
                    "member": table.seats[other].host,
                    "is_open": own.is_open(peer),
                    "waiting": len(own.state.links[peer].waiting),
                    "lag": lag.entries if lag.is_known else None,
                    "silence": round(lag.silence, 1),
                    "interests": len(own.state.heard_interests.get(peer, ())),
                    "advertised": len(own.state.heard_items.get(peer, ())),
                }
            )
    return found


def passages_of(node: LiveNode, origin: str, uri: str) -> list[dict[str, Any]]:
    """What a node remembers of a document that went by, the last first."""
    found = [asdict(each) for each in node.passages.of(origin, uri)]
    return [
        each | {"at": datetime.fromtimestamp(each["at"], UTC).isoformat(timespec="milliseconds")} for each in found[:50]
    ]


def way(origin: int, to: int) -> list[int]:
    """The corners on the way of a document: it climbs the dimensions in which they differ.

    >>> way(0b101, 0b010)
    [5, 4, 6, 2]
    """
    places = [origin]
    for dimension in range((origin ^ to).bit_length()):
        if (origin ^ to) & (1 << dimension):
            places.append(places[-1] ^ (1 << dimension))
    return places
