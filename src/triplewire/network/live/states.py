"""States: what the corners of a live node must not lose, as rows of its store; each step writes the difference.

    part            name                         value
    corner          position                     its epoch, generation, and whether it stands in
    link            position, neighbour          the place in both logs
    entry           position, neighbour, number  a body that is not acknowledged
    advertised      position, source             what clients advertise
    heard, told     position, neighbour          what a neighbour advertises, and was told of
    interest        position, neighbour, digest  an interest of a neighbour, and since when
    asked           position, neighbour, digest  an interest that a neighbour was told of
    subscription    position, id                 a pattern, and since when
    document        position, origin, uri        its version, where it came from, who has it, who wants it here
    question        position                     what the hub was asked for which this one stands in

What follows from these is not written: which interests could go to a neighbour, and the index that finds matches.

To find the difference, each step compares what there is with what was written: that takes time with the size of the
state, a microsecond or two for each row, and not with what is in them; a text is made of what differs alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from triplewire.matching.incremental import dump_pattern
from triplewire.network.hypercube import CubeTopology, corner
from triplewire.network.link import LinkState, LogEntry, Position
from triplewire.network.live.spelling import (
    read_body,
    read_interest,
    read_items,
    read_pattern,
    read_question,
    read_sent,
    spelled_body,
    spelled_interest,
    spelled_items,
    spelled_question,
    spelled_sent,
)
from triplewire.network.routing import RoutingState
from triplewire.network.routing.hubs import OWN, asked_by
from triplewire.network.routing.interests import Interest, NeighbourInterests
from triplewire.network.routing.items import ItemIndex, ItemSet
from triplewire.network.routing.state import KeptDocument
from triplewire.network.routing.subscriptions import ClientSubscription

Place = tuple[str, str]
"""A part, and a name in it."""


@dataclass(slots=True)
class CornerRecord:
    """A corner with its state; `is_lost` if another one stands there now, and this is kept until the hub is back."""

    position: int
    generation: int
    state: RoutingState
    is_lost: bool = False


class StateBook:
    """What is written of the corners of a node, to be compared with what they are."""

    def __init__(self) -> None:
        self._written: dict[Place, Any] = {}
        self._coming: dict[Place, Any] = {}

    def difference(self, records: Mapping[int, CornerRecord]) -> dict[Place, str | None]:
        """What has to be written: new values, None for what is gone. Call `wrote` when that is done."""
        self._coming = {}
        changed: dict[Place, str | None] = {}
        for record in records.values():
            for place, value, spell in _rows(record):
                self._coming[place] = value
                if place not in self._written or self._written[place] != value:
                    changed[place] = json.dumps(spell(value))
        changed.update((place, None) for place in self._written.keys() - self._coming.keys())
        return changed

    def wrote(self) -> None:
        """The difference is durable."""
        self._written = self._coming


def _rows(record: CornerRecord) -> Iterator[tuple[Place, Any, Callable[[Any], Any]]]:
    """The rows of a corner: where each is, a value that differs when it does, and how that is spelled."""
    state, at = record.state, str(record.position)
    about = (state.epoch, record.generation, state.stands_in, record.is_lost)
    yield ("corner", at), about, list
    for peer, link in state.links.items():
        yield ("link", f"{at} {peer}"), (link.epoch, link.peer, link.done, link.has), _spelled_link
        for entry in link.waiting:
            yield (
                ("entry", f"{at} {peer} {entry.number:015}"),
                (entry.epoch, entry.number, entry.replaces),
                _entry(entry),
            )
    for source, advertised in state.advertisements.items():
        yield ("advertised", f"{at} {source}"), advertised, spelled_items
    for part, every in (("heard", state.heard_items), ("told", state.told_items)):
        for name, items in every.items():
            yield (part, f"{at} {name}"), items.stamp, _items(items)
    for peer, interests in state.heard_interests.items():
        yield from _interest_rows("interest", f"{at} {peer}", interests)
    for peer, known in state.interests.items():
        yield from _interest_rows("asked", f"{at} {peer}", known.told)
    for id, subscription in state.subscriptions.items():
        asked = (subscription.pattern, subscription.since)
        yield ("subscription", f"{at} {id}"), asked, lambda value: [dump_pattern(value[0]), value[1]]
    wanting: dict[tuple[str, str], list[str]] = {}
    for id, subscription in state.subscriptions.items():
        for key in subscription.given:
            wanting.setdefault(key, []).append(id)
    for key, kept in state.documents.items():
        value = (kept.told, kept.came, dict(kept.sent), wanting.get(key, []))
        yield ("document", f"{at} {key[0]} {key[1]}"), value, _spelled_document
    if state.asked:
        yield ("question", at), list(state.asked), lambda value: [spelled_question(each) for each in value]


def _interest_rows(
    part: str, at: str, interests: Mapping[Interest, float]
) -> Iterator[tuple[Place, Any, Callable[[Any], Any]]]:
    for interest, since in interests.items():
        yield (
            (part, f"{at} {_digest(interest)}"),
            (interest, since),
            lambda value: [*spelled_interest(value[0]), value[1]],
        )


_digests: dict[Interest, str] = {}


def _digest(interest: Interest) -> str:
    if interest not in _digests:
        if len(_digests) > 100_000:
            _digests.clear()
        text = json.dumps(spelled_interest(interest)).encode()
        _digests[interest] = blake2b(text, digest_size=12).hexdigest()
    return _digests[interest]


def _spelled_link(value: tuple[str, str | None, int, Position | None]) -> Any:
    epoch, peer, done, has = value
    return [epoch, peer, done, None if has is None else [has.epoch, has.number]]


def _items(items: ItemSet) -> Callable[[Any], Any]:
    return lambda stamp: spelled_items(frozenset(items))


def _entry(entry: LogEntry) -> Callable[[Any], Any]:
    return lambda value: [*value, spelled_body(entry.body)]


def _spelled_document(value: Any) -> Any:
    told, came, sent, wanting = value
    return [spelled_sent(told), came, sent, wanting]


# -- reading


def read_records(rows: Mapping[Place, str]) -> dict[int, CornerRecord]:
    """The corners that rows tell of, by position."""
    found: dict[int, CornerRecord] = {}
    for (part, name), text in sorted(rows.items(), key=lambda row: (_ORDER.get(row[0][0], -1), row[0][1])):
        if part not in _ORDER:
            continue
        position, _, rest = name.partition(" ")
        if part == "corner":
            epoch, generation, stands_in, is_lost = json.loads(text)
            state = RoutingState(corner(int(position)), epoch, stands_in=stands_in)
            found[int(position)] = CornerRecord(int(position), generation, state, is_lost)
        else:
            _READERS[part](found[int(position)].state, rest, json.loads(text))
    for record in found.values():
        _conclude(record)
    return found


def _read_link(state: RoutingState, peer: str, told: Any) -> None:
    epoch, other, done, has = told
    state.links[peer] = LinkState(epoch, other, done, has=None if has is None else Position(*has))
    state.interests.setdefault(peer, NeighbourInterests(None))
    state.heard_interests.setdefault(peer, {})


def _read_entry(state: RoutingState, name: str, told: Any) -> None:
    epoch, number, replaces, body = told
    state.links[name.split(" ")[0]].waiting.append(LogEntry(epoch, number, read_body(body), replaces))


def _read_advertised(state: RoutingState, source: str, told: Any) -> None:
    state.advertisements[source] = read_items(told)


def _read_heard(state: RoutingState, peer: str, told: Any) -> None:
    state.heard_items[peer] = ItemIndex(read_items(told))


def _read_told(state: RoutingState, peer: str, told: Any) -> None:
    state.told_items[peer] = ItemSet(read_items(told))


def _read_interest(state: RoutingState, name: str, told: Any) -> None:
    text, reach, since = told
    state.heard_interests[name.split(" ")[0]][read_interest([text, reach])] = since


def _read_asked(state: RoutingState, name: str, told: Any) -> None:
    text, reach, since = told
    state.interests[name.split(" ")[0]].told[read_interest([text, reach])] = since


def _read_subscription(state: RoutingState, id: str, told: Any) -> None:
    text, since = told
    state.subscriptions[id] = ClientSubscription(id, "", read_pattern(text), since)


def _read_document(state: RoutingState, name: str, told: Any) -> None:
    spelled, came, sent, wanting = told
    version = read_sent(spelled)
    key = version.origin, version.uri
    state.documents[key] = KeptDocument(version, came, sent)
    if version.origin == state.name:
        state.versions[version.uri] = version.version
    for id in wanting:
        state.subscriptions[id].given[key] = {}


def _read_question(state: RoutingState, name: str, told: Any) -> None:
    state.asked = [read_question(each) for each in told]


_READERS: Mapping[str, Callable[[RoutingState, str, Any], None]] = {
    "link": _read_link,
    "entry": _read_entry,
    "advertised": _read_advertised,
    "heard": _read_heard,
    "told": _read_told,
    "interest": _read_interest,
    "asked": _read_asked,
    "subscription": _read_subscription,
    "document": _read_document,
    "question": _read_question,
}
_ORDER = {part: place for place, part in enumerate(("corner", *_READERS))}
"""Each part is read after those that it refers to."""


def _conclude(record: CornerRecord) -> None:
    """What follows from what is written: which interests could go to each neighbour."""
    state, topology = record.state, CubeTopology(record.position)
    for peer in state.links:
        state.heard_items.setdefault(peer, ItemIndex())
        state.told_items.setdefault(peer, ItemSet())
    sources = [(OWN, [asked_by(each) for each in state.subscriptions.values()])]
    sources += [(peer, [*interests.items()]) for peer, interests in state.heard_interests.items()]
    for peer, known in state.interests.items():
        told = dict(known.told)
        fresh = NeighbourInterests(state.heard_items[peer])
        for came, interests in sources:
            for interest, since in interests:
                if came != peer and interest.reach >= topology.height(peer) and topology.interest_goes(came, peer):
                    fresh.count(interest, since)
        fresh.restore(told)
        state.interests[peer] = fresh
