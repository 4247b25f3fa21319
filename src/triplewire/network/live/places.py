"""A place of a live network: the routing of the simulation, whose clients are those of an ordinary hub.

The hub's store has the subscriptions, the documents and the log; the place only decides which documents of others must
be there (`arrivals`), and tells others of the hub's own. So subscribers use the hub as always: events, deliveries,
feeds, `why`, and everything else, whoever published a document.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from triplewire.algebra.pattern import Pattern
from triplewire.model import Document
from triplewire.network.hierarchy.answers import FoundItem, QueryAnswered, QueryAsked
from triplewire.network.hierarchy.queries import QueryBook, QueryingHub, QueryTask
from triplewire.network.link import LinkLag, Timing
from triplewire.network.node import Outbox
from triplewire.network.routing import NETWORK, DocumentSent, RoutingState, Topology
from triplewire.network.routing.advertisers import OWN
from triplewire.network.routing.messages import Ask
from triplewire.network.routing.state import KeptDocument
from triplewire.network.routing.subscriptions import ClientSubscription, Key
from triplewire.network.routing.watches import Rows

_MOST_QUERIES = 1_000
"""So many queries a place works on at once."""
_LONGEST_ANSWER = 8 * 1024 * 1024
"""So many bytes of documents an answer has at the most."""
_SILENCE = 3.0
"""Seconds after which a query does not wait for a neighbour that cannot be reached."""
ASKS, ASKS_NOTHING, NOT_SO_FAR = "asks", "asks for nothing of it", "is out of its reach"
"""What decides whether a document goes on to a neighbour: an interest that it matches, none, or how far it goes."""
_MOST_TAKEN_BACK = 10_000
"""Of so many documents that are gone it is remembered, in memory, which version was the last."""


def signed_text(sent: DocumentSent) -> bytes:
    """What the origin of a document signs: everything that it says of this version."""
    content = None if sent.document is None else sent.document.digest
    said = ["triplewire document", sent.origin, sent.uri, sent.version, sent.time, content, sent.reach]
    return json.dumps(said).encode()


def _length(item: FoundItem) -> int:
    document = item.document if isinstance(item, DocumentSent) else None
    return 0 if document is None else len(document.ntriples) + len(document.xml)


class LivePlace(QueryingHub):
    """A place that a hub stands at, its own or one that it stands in at; `sign` signs what it publishes."""

    def __init__(
        self, state: RoutingState, topology: Topology, sign: Callable[[bytes], str], *, timing: Timing | None = None
    ) -> None:
        super().__init__(state, topology, timing=timing, book=QueryBook(publications=deque(maxlen=0)))
        self._sign = sign
        self._coming = 0, 0.0
        self.arrivals: list[DocumentSent] = []
        """Documents of other hubs that this hub must have, or have no more, in the order in which they came."""
        self.passages: list[tuple[DocumentSent, str]] = []
        """Versions that were taken in, each with the neighbour that it came from."""
        self._taken_back: dict[tuple[str, Key], DocumentSent] = {}

    # -- the hub's own

    def watch(self, id: str, pattern: Pattern, since: float, now: float, reach: int = NETWORK) -> Outbox:
        """A subscription of the hub reaches into the network; it counts what is published after `since`."""
        self._begin(ClientSubscription(id, "", pattern, since, reach), now)
        self._hold(self.state.subscriptions[id])
        return self._sent()

    def _hold(self, subscription: ClientSubscription) -> None:
        """What came for others, or only by, and matches, is here now as long as this subscription is."""
        foreign = [(key, kept.told) for key, kept in self.state.documents.items() if key[0] != self.name]
        for key, told in foreign:
            if subscription.id in self._found(told, OWN)[1]:
                if not self._watches.holders(key):
                    self.arrivals.append(told)
                subscription.given[key] = {}
                self.state.note("document", key)
                self._watches.note(subscription, key)

    def told_of(self, ids: Collection[str]) -> list[DocumentSent]:
        """The documents that match these subscriptions, as this hub has told of them: others' and its own."""
        given = {key for id in ids for key in self.state.subscriptions[id].given}
        own = {
            key
            for key, kept in self.state.documents.items()
            if key[0] == self.name and not self._found(kept.told, OWN)[1].keys().isdisjoint(ids)
        }
        kept = [self.state.documents[key].told for key in sorted(given | own) if key in self.state.documents]
        return [told for told in kept if told.document is not None]

    def take_along(self, sent: DocumentSent, now: float) -> Outbox:
        """A document comes with a subscription from the hub that it was at before, perhaps before it comes itself."""
        key = sent.origin, sent.uri
        is_new = key not in self.state.documents
        if sent.origin != self.name:
            super()._take(self._topology.next_hop(sent.origin), sent, now)
        if is_new:
            self._drop_unwanted(key)
        return self._sent()

    def ask_after(self, sent: DocumentSent, now: float) -> Outbox:
        """Ask what became of a document of another hub since this version."""
        if sent.origin != self.name:
            self._ask(Ask(sent.origin, sent.uri, sent.version, ()), now)
        return self._sent()

    def unwatch(self, id: str, now: float) -> Outbox:
        """It is gone; documents that nobody else here wants are to go."""
        subscription = self.subscription(id)
        self._end(subscription, now)
        for key in subscription.given:
            kept = self.state.documents.get(key)
            if kept is not None and not self._watches.holders(key):
                self.arrivals.append(replace(kept.told, document=None))
                if not kept.sent:
                    del self.state.documents[key]
        return self._sent()

    def put(
        self, uri: str, document: Document | None, version: int, time: float, now: float, reach: int = NETWORK
    ) -> Outbox:
        """A document of the hub has another version; None: it is not for other hubs, or not there any more."""
        self._coming = version, time
        if document is not None:
            return self.publish(document, now, reach=reach)
        return self.retract(uri, now) if (self.name, uri) in self.state.documents else []

    def _next_version(self, uri: str, document: Document | None, now: float, reach: int = NETWORK) -> DocumentSent:
        version, time = self._coming
        self.state.versions[uri] = version
        known = self.state.documents.get((self.name, uri))
        if document is None and known is not None:
            reach = known.told.reach  # so that no more is told of the end of a document than of the document
        sent = DocumentSent(self.name, uri, version, time, document, reach)
        return replace(sent, signature=self._sign(signed_text(sent)))

    # -- queries

    def _own_answers(self, asked: QueryAsked, distance: int) -> Iterable[FoundItem]:
        """See `QueryingHub`; what is at the hub of the one that asks, that hub has looked for by itself."""
        return () if asked.asker == self.name else super()._own_answers(asked, distance)

    def _begin_query(self, came: str, asked: QueryAsked, now: float) -> None:
        """See `QueryingHub`; a neighbour that asks too much at once is answered that this place is silent.

        One that asks under the id of another's query is passed over.
        """
        known = self.book.queries.get(asked.id)
        if known is not None and known.came != came:
            return
        if came and len(self.book.queries) >= _MOST_QUERIES:
            self.tell(came, QueryAnswered(asked.id, (), (self.name,)), now)
            return
        super()._begin_query(came, asked, now)

    def _answer(self, task: QueryTask, kept: str, now: float) -> None:
        """See `QueryingHub`; what is too long for a message is left out, and this place named as one that is silent."""
        length = 0
        for key, item in [*task.found.items()] if task.came else ():
            length += _length(item)
            if length > _LONGEST_ANSWER:
                del task.found[key]
                kept = ""
        task.silent += [self.name] if length > _LONGEST_ANSWER else []
        super()._answer(task, kept, now)

    def end_query(self, id: str) -> tuple[list[DocumentSent], list[str]]:
        """What a query of this hub has found, and the places that have not answered; it is not gone on with."""
        done = self.book.answers.pop(id, None)
        task = self.book.queries.pop(id) if done is None else done
        found = [item for item in task.found.values() if isinstance(item, DocumentSent)]
        return found, [*task.silent, *([] if done else [*task.waiting, *task.left])]

    def pass_over_silent(self, now: float) -> Outbox:
        """Let queries go on without neighbours that cannot be reached."""
        away = [peer for peer in self.awaited() if not self.is_open(peer) and self.lag(peer, now).silence > _SILENCE]
        return [frame for peer in away for frame in self.miss(peer, now)]

    # -- what others tell

    def _take(self, came: str, told: DocumentSent, now: float) -> None:
        key = told.origin, told.uri
        last = self._taken_back.get((came, key))
        if last is not None and told.document is not None and told.version <= last.version and told.time <= last.time:
            uri = told.uri[:200]
            self.refused.append(f"{came} tells again of version {told.version} of {uri!r}, which it had taken back")
            return
        self._note_taken_back(came, key, told)
        self.passages.append((told, came))
        super()._take(came, told, now)

    def _note_taken_back(self, came: str, key: Key, told: DocumentSent) -> None:
        """A neighbour says that a document is gone: the versions up to now, which are signed, it cannot tell again."""
        kept = self.state.documents.get(key)
        if kept is not None and told.document is None and told.version > kept.told.version:
            self._taken_back[came, key] = replace(kept.told, document=None)
            if len(self._taken_back) > _MOST_TAKEN_BACK:
                del self._taken_back[next(iter(self._taken_back))]

    def _tell_clients(self, key: Key, before: DocumentSent | None, told: DocumentSent, rows: Rows, now: float) -> None:
        """Note that the hub must have it, or has it no more; of what was published here, the hub knows by itself."""
        if key[0] == self.name:
            return
        self.state.note("document", key)
        held = self._watches.holders(key)
        was_wanted = bool(held)
        for id in dict.fromkeys([*rows, *held]):
            subscription = self.state.subscriptions[id]
            subscription.given.pop(key, None)
            if id in rows:
                subscription.given[key] = {}
            self._watches.note(subscription, key)
        if rows:
            self.arrivals.append(told)
        elif was_wanted:
            self.arrivals.append(replace(told, document=None))

    def take_question(self, question: Ask, now: float) -> Outbox:
        """A question that another one was asked, who stood in here."""
        self._hear_question(question, now)
        return self._sent()

    def forget_origin(self, origin: str, now: float) -> Outbox:
        """The hub at a place is no member any more: its documents are gone, here and for those behind."""
        for key, kept in [*self.state.documents.items()]:
            if key[0] == origin:
                super()._take(kept.came, replace(kept.told, document=None), now)
        return self._sent()

    def wanting(self, key: Key) -> Collection[str]:
        """The subscriptions of the hub that a document is here for."""
        return self._watches.holders(key)

    def onward(self, key: Key) -> dict[str, str]:
        """The neighbours that a document which is kept here could go on to, each with what decides (`REASONS`)."""
        kept = self.state.documents.get(key)
        if kept is None:
            return {}
        others = [peer for peer in self.neighbours if peer != kept.came]
        return {peer: self._reason(kept, peer) for peer in others if self._topology.document_goes(kept.came, peer)}

    def _reason(self, kept: KeptDocument, peer: str) -> str:
        if peer in kept.sent:
            return ASKS
        return NOT_SO_FAR if kept.told.reach < self._topology.height(peer) else ASKS_NOTHING

    def distance(self, origin: str) -> int:
        """How far away the hub at a place is: the height of the smallest unit around both (`model.reach`)."""
        return self._topology.distance(origin)

    def lag(self, peer: str, now: float) -> LinkLag:
        """How far this end of a link is behind."""
        return self._links[peer].lag(now)

    def is_open(self, peer: str) -> bool:
        """Whether a neighbour answers."""
        return peer in self._links and self._links[peer].is_open
