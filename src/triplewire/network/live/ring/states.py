"""States: what a live peer must not lose, as rows of its store; each flush writes what has changed.

    part           name                      value
    peer           view | post | home        what it knows of the ring; a number that no parcel of it has reached; how
                                             often it has said what it wants to hear of
    kept           number                    a parcel that is not answered, and what it is there for
    cause          digest                    what was asked of it, and the subscriptions that have got something
    key            digest, number            0: all that is kept under a key; then each message that came for it since
    document       uri's digest              its version, its content while it is there, and until when
    subscription   id's digest               what is asked, and how far it is told
    answer         id's digest, digest       an answer, and what it stands on
    told           id's digest, digest       a row that the subscriber knows of
    content        digest                    what documents state of a resource that rows speak of
    event          id's digest, cursor       what the subscriber was told

What follows from these is not written: which parcels a cause waits for, the rows that answers give, indexes. How often
and when a parcel was sent is not, either: after a start, all of them are sent again. Nor are questions of the ring
itself, so that a peer to which nothing happens writes nothing.

Why messages and not whole keys: a key that many documents share would be written whole with each of them. What is kept
under it is the same however often it is told (see `keys`), so its messages can be told again. When they have become
more than what they have led to, the key is written whole.

Invariant: the state that is read is the one that was written, as far as a peer can tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from triplewire.matching.incremental import dump_pattern
from triplewire.model import Row
from triplewire.network.ring import HomeState, RingPeer, RingSubscription, RingView
from triplewire.network.ring.holdings import SplittingKey
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.messages import (
    AskRing,
    FindSuccessor,
    FingersFound,
    Kept,
    Rectify,
    RingTold,
    SplitTold,
)
from triplewire.network.ring.notation import (
    spelled_binding,
    spelled_key_state,
    spelled_query,
    spelled_statements,
    spelled_support,
    spelled_triple,
)
from triplewire.network.ring.post import CauseKey, KeptParcel, PostedCause
from triplewire.network.ring.spelling import spelled_parcel, spelled_ring_body
from triplewire.network.ring.subscriptions import AnswerKey
from triplewire.store.network import NetworkWriter

Place = tuple[str, str]
"""A part, and a name in it."""

_PASSING = (AskRing, FindSuccessor, FingersFound, Rectify, RingTold, SplitTold)
"""What is asked and told of the ring itself; a peer that comes back asks anew."""

_RESERVED = 4096
"""Numbers of parcels are reserved so many at a time, so that none is given twice."""

_FEW = 32
"""So many messages of a key are written before it is written whole, however little is kept under it."""

OWN_PARTS = ("answer", "told", "event")
"""What has rows of its own for each subscription."""


@dataclass(slots=True)
class PeerChanges:
    """What has to be written: values, None for what is gone; and before that, what goes whole, by part and digest."""

    gone: list[Place] = field(default_factory=list)
    values: dict[Place, str | None] = field(default_factory=dict)

    def put(self, part: str, name: str, value: Any) -> None:
        """A value is another."""
        self.values[part, name] = json.dumps(value, separators=(",", ":"))

    def drop(self, part: str, name: str) -> None:
        """A value is gone."""
        self.values[part, name] = None

    def write(self, writer: NetworkWriter) -> None:
        """Write it."""
        for part, digest in self.gone:
            writer.clear_state(part, f"{digest} ", f"{digest}!")
        writer.set_state(self.values)

    def __bool__(self) -> bool:
        return bool(self.gone or self.values)


class PeerBook:
    """What is written of a peer, and what has to be; `messages` counts those that are written of each key."""

    def __init__(self, peer: RingPeer, messages: dict[str, int]) -> None:
        self._peer, self._state = peer, peer.state
        self._single: dict[str, str] = {}
        self._parcels: set[int] = {*self._state.post.kept}
        self._causes: set[CauseKey] = {*self._state.post.causes}
        self._messages = messages
        self._follow()

    def _follow(self) -> None:
        self._state.post.noted, self._peer.holdings.noted = set(), {}
        for home in self._state.homes.values():
            home.noted = set()
            for subscription in home.subscriptions.values():
                subscription.noted = set()

    def difference(self) -> PeerChanges:
        """What has to be written since this was last asked; it must be, before anything else is."""
        found = PeerChanges()
        self._single_rows(found)
        self._post_rows(found)
        self._key_rows(found)
        for home in self._state.homes.values():
            self._home_rows(home, found)
        return found

    def _single_rows(self, found: PeerChanges) -> None:
        reserved = (self._state.post.newest // _RESERVED + 1) * _RESERVED
        watches = self._state.homes[self._peer.name].watches
        for name, value in (("view", spelled_view(self._state.view)), ("post", [reserved]), ("home", [watches])):
            text = json.dumps(value)
            if self._single.get(name) != text:
                self._single[name] = text
                found.values["peer", name] = text

    def _post_rows(self, found: PeerChanges) -> None:
        post = self._state.post
        noted, post.noted = post.noted or set(), set()
        for each in noted:
            if isinstance(each, int):
                self._parcel_row(each, post.kept.get(each), found)
            else:
                self._cause_row(each, post.causes.get(each), found)

    def _parcel_row(self, number: int, kept: KeptParcel | None, found: PeerChanges) -> None:
        if kept is not None:
            if isinstance(kept.parcel.body, _PASSING):
                return
            self._parcels.add(number)
            found.put("kept", f"{number:015}", [spelled_parcel(kept.parcel), kept.cause])
        elif number in self._parcels:
            self._parcels.discard(number)
            found.drop("kept", f"{number:015}")

    def _cause_row(self, key: CauseKey, cause: PostedCause | None, found: PeerChanges) -> None:
        name = digest([*key])
        if cause is not None:
            self._causes.add(key)
            found.put("cause", name, [[*key], _spelled_about(cause.about), sorted(map(list, cause.touched))])
        elif key in self._causes:
            self._causes.discard(key)
            found.drop("cause", name)

    # -- keys

    def _key_rows(self, found: PeerChanges) -> None:
        holdings = self._peer.holdings
        noted, holdings.noted = holdings.noted or {}, {}
        for key, messages in noted.items():
            state, written = self._state.keys[key], self._messages.get(key)
            if messages is None or written is None or written + len(messages) > max(_FEW, 2 * state.size):
                self._whole_key(key, state, found)
            else:
                self._key_messages(key, written, messages, found)

    def _whole_key(self, key: str, state: KeyState, found: PeerChanges) -> None:
        name = digest(key)
        if self._messages.get(key):
            found.gone.append(("key", name))
        self._messages[key] = 0
        found.put("key", f"{name} {0:08}", [key, spelled_key_state(state)])

    def _key_messages(self, key: str, written: int, messages: list[Kept], found: PeerChanges) -> None:
        name = digest(key)
        for number, body in enumerate(messages, written + 1):
            found.put("key", f"{name} {number:08}", spelled_ring_body(body))
        self._messages[key] = written + len(messages)

    # -- homes

    def _home_rows(self, home: HomeState, found: PeerChanges) -> None:
        noted, home.noted = home.noted or set(), set()
        for kind, name in noted:
            if kind == "document":
                _document_row(home, str(name), found)
            elif kind == "content":
                _content_row(home, name, found)
            else:
                self._subscription_rows(home, str(name), found)

    def _subscription_rows(self, home: HomeState, id: str, found: PeerChanges) -> None:
        known, name = home.subscriptions.get(id), digest(id)
        if known is None or known.noted is None:  # it is gone, or begins anew
            found.gone += [(part, name) for part in OWN_PARTS]
            found.drop("subscription", name)
        if known is None:
            return
        noted = {*_details(known)} if known.noted is None else known.noted
        known.noted = set()
        found.put("subscription", name, _spelled_subscription(home, known))
        for each in noted:
            _detail_row(known, name, each, found)
        events, known.log = known.log, []
        for event in events:
            found.put("event", f"{name} {event.cursor:015}", event.as_dict())


def digest(about: Any) -> str:
    """A short name for something that may be long."""
    return blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()


def spelled_view(view: RingView) -> Any:
    """What a peer knows of the ring."""
    fingers = sorted(view.fingers.items())
    return [[*view.successors], view.predecessor, view.start, fingers, [*view.lost], view.contact]


def _spelled_about(about: Any) -> Any:
    match about:
        case SplittingKey(key):
            return {"split": key}
        case (str(home), str(id)):
            return {"asked": [home, id]}
        case ((home, uri), versions):
            return {"changed": [[home, uri], [*versions]]}
    return None


def _document_row(home: HomeState, uri: str, found: PeerChanges) -> None:
    known = home.documents[uri]
    content = None if known.document is None else known.document.ntriples.decode()
    found.put("document", digest(uri), [uri, known.version, content, home.limits.get(("document", uri))])


def _content_row(home: HomeState, resource: Any, found: PeerChanges) -> None:
    known, name = home.contents.get(resource), digest(str(resource))
    if known is None:
        found.drop("content", name)
    else:
        found.put("content", name, [str(resource), spelled_statements(known.items())])


def _spelled_subscription(home: HomeState, known: RingSubscription) -> Any:
    counts = {query.key: [*home.counts[query.key].items()] for query in known.queries if query.key in home.counts}
    asked = [known.id, known.client, dump_pattern(known.pattern), known.since, known.in_one]
    limit = home.limits.get(("subscription", known.id))
    return [*asked, [*map(spelled_query, known.queries)], known.cursor, known.last_told, known.due, counts, limit]


def _details(known: RingSubscription) -> Iterator[AnswerKey | Row]:
    yield from known.told
    for required, answers in known.answers.items():
        yield from ((required, *key) for key in answers)


def _detail_row(known: RingSubscription, name: str, each: AnswerKey | Row, found: PeerChanges) -> None:
    if isinstance(each, Row):
        _told_row(known, name, each, found)
        return
    required, parts, binding = each
    spelled = [required[0], spelled_binding(required[1]), [*parts], spelled_binding(binding)]
    support = known.answers[required][parts, binding]
    found.put("answer", f"{name} {digest(spelled)}", [spelled, spelled_support(support)])


def _told_row(known: RingSubscription, name: str, row: Row, found: PeerChanges) -> None:
    spelled = {column: str(term) for column, term in row.items()}
    told, place = known.told.get(row), f"{name} {digest(sorted(spelled.items()))}"
    if told is None:
        found.drop("told", place)
    else:
        content, triples = ([spelled_triple(each) for each in several] for several in (told.content, told.triples))
        found.put("told", place, [spelled, content, triples])
