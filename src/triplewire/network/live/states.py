"""States: what the places of a live node must not lose, as rows of its store; each step writes the difference.

    part            name                         value
    corner          place                        its epoch, generation, and whether it stands in
    link            place, neighbour             the place in both logs
    entry           position, neighbour, number  a body that is not acknowledged
    advertised      place, source                what clients advertise
    heard, told     place, neighbour             what a neighbour advertises, and was told of
    gathered        place, neighbour             what it will be told of, when it has heeded the last
    interest        position, neighbour, digest  an interest of a neighbour, and since when
    asked           position, neighbour, digest  an interest that a neighbour was told of
    subscription    place, id                    a pattern, since when, and how far
    document        place, origin, uri           its version, where it came from, who has it, who wants it here
    question        place                        what the hub was asked for which this one stands in

What follows from these is not written: which interests could go to a neighbour, and the index that finds matches.

A place notes what it may have changed (`RoutingState.note`), and each step compares that with what was written: so it
takes time with what a step does, and with the number of neighbours, not with the size of the state. All rows are looked
at when a place is new, or has a new neighbour.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from triplewire.matching.incremental import dump_pattern
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
from triplewire.network.membership import read_place, spelled_place
from triplewire.network.routing import Advertise, RoutingState, Topology
from triplewire.network.routing.advertisers import OWN
from triplewire.network.routing.hubs import asked_by
from triplewire.network.routing.interests import Interest, NeighbourInterests
from triplewire.network.routing.items import ItemIndex, ItemSet
from triplewire.network.routing.state import KeptDocument
from triplewire.network.routing.subscriptions import ClientSubscription, Key

Place = tuple[str, str]
"""A part, and a name in it."""


Row = tuple[Place, Any, Callable[[Any], Any]]
"""Where a row is, a value that differs when it does, `_GONE` if there is none, and how that is spelled."""

_GONE = object()


@dataclass(slots=True)
class PlaceRecord:
    """A place with its state; `is_lost` if another one stands there now, and this is kept until the hub is back.

    `wanting` tells for which subscriptions a document is there; without, each of them is looked at.
    """

    generation: int
    state: RoutingState
    is_lost: bool = False
    wanting: Callable[[Key], Collection[str]] | None = None

    @property
    def place(self) -> str:
        """Which place it is."""
        return self.state.name

    @property
    def at(self) -> str:
        """How the names of its rows begin."""
        return str(spelled_place(self.place))


class StateBook:
    """What is written of the places of a node, and what has to be.

    Invariant: the difference that is found by what was noted is the one that a look at every row would find.
    """

    def __init__(self) -> None:
        self._written: dict[str, dict[Place, Any]] = {}
        self._followed: dict[str, RoutingState] = {}
        self._logs: dict[str, dict[str, tuple[int, int]]] = {}
        self._coming: dict[str, dict[Place, Any]] = {}
        self._records: Mapping[str, PlaceRecord] = {}

    def difference(self, records: Mapping[str, PlaceRecord]) -> dict[Place, str | None]:
        """What has to be written: new values, None for what is gone. Call `wrote` when that is done."""
        self._records, self._coming = dict(records), {}
        changed: dict[Place, str | None] = {}
        for name, record in records.items():
            written, coming = self._written.get(name, {}), self._coming.setdefault(name, {})
            is_followed = self._is_followed(record)
            for place, value, spell in self._noted_rows(record) if is_followed else _rows(record):
                before = written.get(place, _GONE)
                coming[place] = value
                if value is _GONE and before is not _GONE:
                    changed[place] = None
                elif value is not _GONE and (before is _GONE or before != value):
                    changed[place] = json.dumps(spell(value))
            if not is_followed:
                gone = dict.fromkeys(written.keys() - coming.keys())
                changed |= gone
                coming.update(dict.fromkeys(gone, _GONE))
        for name in self._written.keys() - records.keys():
            changed.update(dict.fromkeys(self._written[name]))
        return changed

    def wrote(self) -> None:
        """The difference is durable; what changes from now on is noted."""
        for name in self._written.keys() - self._records.keys():
            del self._written[name]
        for name, coming in self._coming.items():
            written = self._written.setdefault(name, {})
            for place, value in coming.items():
                if value is _GONE:
                    written.pop(place, None)
                else:
                    written[place] = value
        self._followed = {name: record.state for name, record in self._records.items()}
        self._logs = {name: _logs(state) for name, state in self._followed.items()}
        for state in self._followed.values():
            state.noted = set()
            for known in state.interests.values():
                known.noted = set()

    def _is_followed(self, record: PlaceRecord) -> bool:
        """Whether all that has changed was noted: of the same state, with the same neighbours."""
        state = record.state
        return (
            self._followed.get(record.place) is state
            and state.noted is not None
            and all(known.noted is not None for known in state.interests.values())
            and self._logs[record.place].keys() == state.links.keys()
        )

    def _noted_rows(self, record: PlaceRecord) -> Iterator[Row]:
        """What may have changed since it was written; there are few neighbours, which are all looked at."""
        state = record.state
        yield from _neighbour_rows(record)
        for peer, (done, newest) in self._logs[record.place].items():
            link = state.links[peer]
            for number in range(done + 1, min(link.done, newest) + 1):
                yield ("entry", f"{record.at} {peer} {number:015}"), _GONE, list
            for entry in islice(link.waiting, max(0, newest - link.done), None):
                yield _entry_row(record, peer, entry)
        for peer, known in state.interests.items():
            for interest in known.noted or ():
                yield _interest_row("asked", record, peer, interest, known.told)
        for part, *about in state.noted or ():
            yield _ROWS[part](record, *about)


def _logs(state: RoutingState) -> dict[str, tuple[int, int]]:
    """By neighbour, the numbers between which entries of the log wait."""
    return {peer: (link.done, link.newest) for peer, link in state.links.items()}


# -- rows


def _rows(record: PlaceRecord) -> Iterator[Row]:
    """All rows of a place."""
    state = record.state
    yield from _neighbour_rows(record)
    for peer, link in state.links.items():
        for entry in link.waiting:
            yield _entry_row(record, peer, entry)
    for source in state.advertisements:
        yield _advertised_row(record, source)
    for peer, interests in state.heard_interests.items():
        for interest in interests:
            yield _interest_row("interest", record, peer, interest, interests)
    for peer, known in state.interests.items():
        for interest in known.told:
            yield _interest_row("asked", record, peer, interest, known.told)
    for id in state.subscriptions:
        yield _subscription_row(record, id)
    wanting: dict[Key, list[str]] = {}
    for id, subscription in state.subscriptions.items():
        for key in subscription.given:
            wanting.setdefault(key, []).append(id)
    for key in state.documents:
        yield _document_row(record, key, wanting.get(key, []))


def _neighbour_rows(record: PlaceRecord) -> Iterator[Row]:
    """Rows of which there is one, or one for each neighbour."""
    state, at = record.state, record.at
    yield ("corner", at), (state.epoch, record.generation, state.stands_in, record.is_lost), list
    for peer, link in state.links.items():
        yield ("link", f"{at} {peer}"), (link.epoch, link.peer, link.done, link.has), _spelled_link
    for part, every in (("heard", state.heard_items), ("told", state.told_items)):
        for name, items in every.items():
            yield (part, f"{at} {name}"), items.stamp, _items(items)
    for name in state.links:
        gathered = state.gathered.get(name, ItemSet())
        yield ("gathered", f"{at} {name}"), gathered.stamp if gathered else _GONE, _items(gathered)
    asked = list(state.asked) if state.asked else _GONE
    yield ("question", at), asked, lambda value: [spelled_question(each) for each in value]
    unanswered = list(state.unanswered) if state.unanswered else _GONE
    yield ("unanswered", at), unanswered, lambda value: [spelled_question(each) for each in value]


def _entry_row(record: PlaceRecord, peer: str, entry: LogEntry) -> Row:
    place = "entry", f"{record.at} {peer} {entry.number:015}"
    return place, (entry.epoch, entry.number, entry.replaces), _entry(entry)


def _advertised_row(record: PlaceRecord, source: str) -> Row:
    items = record.state.advertisements.get(source, _GONE)
    return ("advertised", f"{record.at} {source}"), items, spelled_items


def _heard_row(record: PlaceRecord, peer: str, interest: Interest) -> Row:
    return _interest_row("interest", record, peer, interest, record.state.heard_interests[peer])


def _interest_row(
    part: str, record: PlaceRecord, peer: str, interest: Interest, interests: Mapping[Interest, float]
) -> Row:
    value = (interest, interests[interest]) if interest in interests else _GONE
    place = part, f"{record.at} {peer} {_digest(interest)}"
    return place, value, lambda value: [*spelled_interest(value[0]), value[1]]


def _subscription_row(record: PlaceRecord, id: str) -> Row:
    known = record.state.subscriptions.get(id)
    value = _GONE if known is None else (known.pattern, known.since, known.reach)
    return ("subscription", f"{record.at} {id}"), value, lambda value: [dump_pattern(value[0]), *value[1:]]


def _document_row(record: PlaceRecord, key: Key, wanting: Iterable[str] | None = None) -> Row:
    place = "document", f"{record.at} {key[0]} {key[1]}"
    kept = record.state.documents.get(key)
    if kept is None:
        return place, _GONE, _spelled_document
    if wanting is None:
        wanting = record.wanting(key) if record.wanting is not None else _wanting(record.state, key)
    return place, (kept.told, kept.came, dict(kept.sent), sorted(wanting)), _spelled_document


def _wanting(state: RoutingState, key: Key) -> list[str]:
    return [id for id, subscription in state.subscriptions.items() if key in subscription.given]


_ROWS: Mapping[str, Callable[..., Row]] = {
    "advertised": _advertised_row,
    "interest": _heard_row,
    "subscription": _subscription_row,
    "document": _document_row,
}
"""Of which parts of a state it is noted what may have changed."""


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


def read_records(rows: Mapping[Place, str], topology: Callable[[str], Topology]) -> dict[str, PlaceRecord]:
    """The places that rows tell of, by their names."""
    found: dict[str, PlaceRecord] = {}
    for (part, name), text in sorted(rows.items(), key=lambda row: (_ORDER.get(row[0][0], -1), row[0][1])):
        if part not in _ORDER:
            continue
        at, _, rest = name.partition(" ")
        place = read_place(at)
        if part == "corner":
            epoch, generation, stands_in, is_lost = json.loads(text)
            state = RoutingState(place, epoch, stands_in=stands_in)
            found[place] = PlaceRecord(generation, state, is_lost)
        else:
            _READERS[part](found[place].state, rest, json.loads(text))
    for record in found.values():
        _conclude(record.state, topology(record.place))
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


def _read_gathered(state: RoutingState, peer: str, told: Any) -> None:
    state.gathered[peer] = ItemSet(read_items(told))


def _read_interest(state: RoutingState, name: str, told: Any) -> None:
    text, reach, since = told
    state.heard_interests[name.split(" ")[0]][read_interest([text, reach])] = since


def _read_asked(state: RoutingState, name: str, told: Any) -> None:
    text, reach, since = told
    state.interests[name.split(" ")[0]].told[read_interest([text, reach])] = since


def _read_subscription(state: RoutingState, id: str, told: Any) -> None:
    text, since, *reach = told  # a reach was not written before there were units
    state.subscriptions[id] = ClientSubscription(id, "", read_pattern(text), since, *reach)


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


def _read_unanswered(state: RoutingState, name: str, told: Any) -> None:
    state.unanswered = [read_question(each) for each in told]


_READERS: Mapping[str, Callable[[RoutingState, str, Any], None]] = {
    "link": _read_link,
    "entry": _read_entry,
    "advertised": _read_advertised,
    "heard": _read_heard,
    "told": _read_told,
    "gathered": _read_gathered,
    "interest": _read_interest,
    "asked": _read_asked,
    "subscription": _read_subscription,
    "document": _read_document,
    "question": _read_question,
    "unanswered": _read_unanswered,
}
_ORDER = {part: place for place, part in enumerate(("corner", *_READERS))}
"""Each part is read after those that it refers to."""


def _conclude(state: RoutingState, topology: Topology) -> None:
    """What follows from what is written: which interests could go to each neighbour."""
    for peer, link in state.links.items():
        if any(isinstance(entry.body, Advertise) for entry in link.waiting):
            state.unheeded.add(peer)
        state.heard_items.setdefault(peer, ItemIndex())
        state.told_items.setdefault(peer, ItemSet())
    sources = [(OWN, [asked_by(each) for each in state.subscriptions.values()])]
    sources += [(peer, [*interests.items()]) for peer, interests in state.heard_interests.items()]
    for peer, known in state.interests.items():
        told = dict(known.told)
        fresh = NeighbourInterests(None if topology.takes_all(peer) else state.heard_items[peer])
        for came, interests in sources:
            for interest, since in interests:
                if came != peer and interest.reach >= topology.height(peer) and topology.interest_goes(came, peer):
                    fresh.count(interest, since)
        fresh.restore(told)
        state.interests[peer] = fresh
