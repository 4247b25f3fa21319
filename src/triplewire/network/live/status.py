"""What a node says of itself: where it stands, who its neighbours are, and how far it is with each of them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from triplewire.network.live.node import LiveNode
from triplewire.network.membership import spelled_place


def status_of(node: LiveNode) -> dict[str, Any]:
    """A node and its links, as JSON; asked in the node's own thread, so that it is of one moment."""
    found: dict[str, Any] = node.call(lambda now: _status(node, now))
    return found


def _status(node: LiveNode, now: float) -> dict[str, Any]:
    table = node.council.table
    own = None if table is None else table.member(node.name)
    members = [] if table is None else [_member(node, each.name) for each in table.hubs]
    return {
        "name": node.name,
        "network": "" if table is None else table.network,
        "place": "" if table is None or own is None else table.words(own.place),
        "corner": None if own is None else _corner(own.place),
        "decider": None if table is None else table.decider,
        "term": 0 if table is None else table.term,
        "number": 0 if table is None else table.number,
        "members": members,
        "links": _links(node, now, inside=False),
        "inside": _links(node, now, inside=True),
        "subscriptions": sum(len(each.state.subscriptions) for each in node.places.values()),
        "documents": sum(len(each.state.documents) for each in node.places.values()),
        "problem": node.problem or node.council.refusal,
    }


def _corner(place: str) -> int | None:
    """The number of a corner; None for another place."""
    found = spelled_place(place)
    return found if isinstance(found, int) else None


def _member(node: LiveNode, name: str) -> dict[str, Any]:
    table = node.council.table
    assert table is not None, "it has members"
    member = table.member(name)
    assert member is not None, "it is one of them"
    return {
        "name": name,
        "url": member.url,
        "place": table.words(member.place),
        "corner": _corner(member.place),
        "stands_at": [each for each in map(_corner, table.places_of(name)) if each is not None],
        "stands_at_places": [*map(table.words, table.places_of(name))],
        "is_away": member.is_away,
        "is_connected": name in node.channels or name == node.name,
    }


def _links(node: LiveNode, now: float, *, inside: bool) -> list[dict[str, Any]]:
    """Each end here of a link to another member's place, or to one where this member stands too (`inside`).

    A lag counts entries that this end lacks, if that is known.
    """
    table = node.council.table
    found: list[dict[str, Any]] = []
    order = {place: number for number, place in enumerate(() if table is None else table.places)}
    for place, own in sorted(node.places.items(), key=lambda each: order.get(each[0], -1)):
        for peer in sorted(own.neighbours, key=lambda each: order.get(each, -1)):
            if table is None or not table.host_of(peer) or (peer in node.places) != inside:
                continue
            lag = own.lag(peer, now)
            found.append(
                {
                    "place": table.words(place),
                    "to_place": table.words(peer),
                    "corner": _corner(place),
                    "to": _corner(peer),
                    "member": table.host_of(peer),
                    "is_open": own.is_open(peer),
                    "waiting": len(own.state.links[peer].waiting),
                    "lag": lag.entries if lag.is_known else None,
                    "silence": round(lag.silence, 1),
                    "interests": len(own.state.heard_interests.get(peer, ())),
                    "advertised": len(own.state.heard_items.get(peer, ())),
                }
            )
    return found


def passages_of(node: LiveNode, origin: str, uri: str) -> dict[str, Any]:
    """What a node remembers of a document that went by, the last first; and where it goes on from each place here."""
    found = [asdict(each) for each in node.passages.of(origin, uri)]
    passages = [
        each | {"at": datetime.fromtimestamp(each["at"], UTC).isoformat(timespec="milliseconds")} for each in found[:50]
    ]
    onward = node.call(lambda now: {place: own.onward((origin, uri)) for place, own in node.places.items()})
    return {"passages": passages, "onward": onward}
