"""What a node says of itself: where it stands, who its neighbours are, and how far it is with each of them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from triplewire.network.live.node import LiveNode
from triplewire.network.live.places import LivePlace
from triplewire.network.membership import spelled_place
from triplewire.network.routing import NETWORK
from triplewire.network.routing.subscriptions import Key


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
        "documents": sum(map(_documents, node.places.values())),
        "problem": node.problem or node.council.refusal,
    }


def _documents(own: LivePlace) -> int:
    """How many are kept at a place; not those that stay in a unit, because all members may ask for this."""
    return sum(kept.told.reach == NETWORK for kept in own.state.documents.values())


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
                    "advertised": sum(item.reach == NETWORK for item in own.state.heard_items.get(peer, ())),
                }
            )
    return found


def passages_of(node: LiveNode, asker: str, key: Key) -> dict[str, Any]:
    """What a node remembers of a document that went by, the last first; and where it goes on from each place here.

    Of one that stays in a unit, hubs elsewhere are told what they would be told if there were none.
    """
    found: dict[str, Any] = node.call(lambda now: _passages(node, asker, key))
    return found


def _passages(node: LiveNode, asker: str, key: Key) -> dict[str, Any]:
    passages = node.passages.of(*key)
    kept = [own.state.documents[key].told.reach for own in node.places.values() if key in own.state.documents]
    if not _is_within(node, asker, key[0], min([*kept, *(each.reach for each in passages)], default=NETWORK)):
        return {"passages": [], "onward": {place: {} for place in node.places}}
    onward = {place: own.onward(key) for place, own in node.places.items()}
    return {"passages": [asdict(each) | {"at": _moment(each.at)} for each in passages[:50]], "onward": onward}


def _is_within(node: LiveNode, asker: str, origin: str, reach: int) -> bool:
    """Whether a member is as near to a place as a reach goes."""
    table = node.council.table
    member = None if table is None else table.member(asker)
    if table is None or member is None or not table.is_place(origin):
        return False
    return table.topology(member.place).distance(origin) <= reach


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
