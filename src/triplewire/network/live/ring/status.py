"""What a peer says of itself: its place, the peers next to it, what it keeps, and what is not answered yet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from triplewire.network.ring.identifiers import SIZE, distance, identify

if TYPE_CHECKING:
    from triplewire.network.live.ring.peers import LivePeer


def status_of(live: LivePeer) -> dict[str, Any]:
    """A peer as JSON: a `NetworkTold`, with what is only of a ring under `ring`."""
    view, home = live.peer.view, live.peer.state.homes[live.name]
    return {
        "name": live.name,
        "network": "ring",
        "place": place_words(live.name) if view.successors or view.start is not None else "",
        "corner": None,
        "decider": None,
        "term": 0,
        "number": 0,
        "members": [_member(live, each.name, each.url) for each in sorted(live.addresses.all(), key=_clockwise)],
        "links": [_link(live, name) for name in sorted(view.known, key=identify)],
        "subscriptions": len(home.subscriptions),
        "documents": sum(known.document is not None for known in home.documents.values()),
        "problem": live.problem or _problem(live),
        "ring": _ring(live),
    }


def place_words(name: str) -> str:
    """Where a peer stands on the circle, in hundredths."""
    return f"{100 * identify(name) / SIZE:.2f} %"


def _clockwise(address: Any) -> int:
    return identify(address.name)


def _problem(live: LivePeer) -> str:
    view = live.peer.view
    if not view.successors and view.start is None:
        return "it has not found its place yet"
    return ""


def _member(live: LivePeer, name: str, url: str) -> dict[str, Any]:
    return {
        "name": name,
        "url": url,
        "corner": None,
        "stands_at": [],
        "is_away": name in live.peer.view.lost,
        "is_connected": name == live.name or name in live.lines.open,
        "place": place_words(name),
        "stands_at_places": [],
    }


def _link(live: LivePeer, name: str) -> dict[str, Any]:
    silence = live.lines.silence(name)
    return {
        "corner": None,
        "to": None,
        "member": name,
        "is_open": silence is not None,
        "waiting": sum(kept.hop == name for kept in live.peer.state.post.kept.values()),
        "lag": None,
        "silence": 0.0 if silence is None else round(silence, 1),
        "interests": 0,
        "advertised": 0,
        "place": place_words(live.name),
        "to_place": ", ".join(_roles(live, name)),
    }


def _roles(live: LivePeer, name: str) -> list[str]:
    view, found = live.peer.view, []
    if name == view.predecessor:
        found.append("predecessor")
    if name in view.successors:
        found.append(f"successor {view.successors.index(name) + 1}")
    if name in view.fingers.values():
        found.append("finger")
    return found


def _ring(live: LivePeer) -> dict[str, Any]:
    state, view = live.peer.state, live.peer.view
    own = [kept for key, kept in state.keys.items() if view.owns(identify(key))]
    sent = [kept.sent for kept in state.post.kept.values() if kept.sent]
    return {
        "algorithm": live.settings.algorithm,
        "replicas": live.settings.replicas,
        "predecessor": view.predecessor,
        "successors": [*view.successors],
        "share": 0.0 if view.start is None else round((distance(view.start, view.place) or SIZE) / SIZE, 6),
        "keys": len(own),
        "copies": len(state.keys) - len(own),
        "triples": sum(len(kept.said) for kept in own),
        "waiting_queries": sum(len(group.members) for kept in own for group in kept.groups.values()),
        "unanswered": len(state.post.kept),
        "under_way": len(state.post.causes),
        "lag": round(max(0.0, time.time() - min(sent)), 1) if sent else 0.0,
    }
