"""A hub among hubs: it forwards interests one way and documents the other, and serves its own clients (P4 to P6).

All that a hub tells a neighbour follows from what its clients and its other neighbours have told it:

    advertised to k   what its clients advertise, and what neighbours advertise from whom an advertisement may go to k
    interests for k   those of its clients, and of neighbours from whom an interest may go to k, as far as k should be
                      told of them (`interests`)
    documents to k    the versions that match an interest of k; and that one is gone, or matches none any more

Each step sends the differences; those of advertisements are gathered while a neighbour has not acknowledged the last
ones (`advertisers`). So an advertisement that changes nothing for a neighbour stops there; a withdrawal, a
late advertisement and the end of an interest need no rules of their own; and everything can be told anew at any time.

Documents that came are kept while the neighbour that has sent them counts them as sent. An interest is told of those
among them that were published after it began, however long it took to get here: so an interest that another one keeps
back misses nothing, and a client hears what it would hear in one hub.

A hub that is down for long is stood in for by another one, which begins with nothing and is told everything anew by the
neighbours. Nobody takes its silence about a document for the end of it: the document's origin is asked (`Ask`), and one
that stands in for the origin answers when that is back and has been asked itself (`adopt`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from math import floor
from typing import Any

from triplewire.algebra.pattern import Pattern
from triplewire.errors import DuplicateSubscription, UnknownDocument, UnknownSubscription
from triplewire.languages import compile as compile_query
from triplewire.model import Access, Document
from triplewire.model.access import EVERYBODY
from triplewire.network.link import Timing
from triplewire.network.node import Outbox
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.advertisers import OWN, AdvertisingHub
from triplewire.network.routing.interests import Interest, InterestStep, NeighbourInterests, interest_of
from triplewire.network.routing.items import ItemIndex, ItemSet
from triplewire.network.routing.messages import Advertise, AnswerSent, Ask, DocumentSent, RoutesTold, Subscribe
from triplewire.network.routing.reaches import NETWORK
from triplewire.network.routing.state import KeptDocument, RoutingState
from triplewire.network.routing.subscriptions import ClientSubscription, Key
from triplewire.network.routing.topologies import Topology
from triplewire.network.routing.watches import Rows, WatchIndex

_STOOD_IN_FOR = "the hub was away and stood in for: of documents that changed meanwhile it saw the last version alone"


class RoutingHub(AdvertisingHub):
    """A hub in a network, made from its durable state."""

    def __init__(
        self, state: RoutingState, topology: Topology, *, timing: Timing | None = None, short_cut: bool = True
    ) -> None:
        super().__init__(state, topology, timing=timing)
        self._watches = WatchIndex(topology.bit, short_cut=short_cut)
        for peer, interests in state.heard_interests.items():
            for interest, since in interests.items():
                self._watches.watch(peer, interest, since)
        for subscription in state.subscriptions.values():
            self._watches.watch_own(subscription)

    # -- clients

    def subscribe(
        self,
        id: str,
        client: str,
        text: str,
        language: str,
        since: float,
        *,
        reach: int = NETWORK,
        account: str = EVERYBODY,
    ) -> Outbox:
        """A client registers a query; it counts what is published from `since` on, and what its account may read."""
        if id in self.state.subscriptions:
            raise DuplicateSubscription(id)
        pattern = _compiled(text, language)
        self._begin(ClientSubscription(id, client, pattern, since, reach, account), since)
        return self._sent()

    def _begin(self, subscription: ClientSubscription, now: float) -> None:
        self.state.subscriptions[subscription.id] = subscription
        self.state.note("subscription", subscription.id)
        self._watches.watch_own(subscription)
        self._change_interests(OWN, [asked_by(subscription)], [], now)

    def unsubscribe(self, id: str, now: float) -> Outbox:
        """A client's query ends; with it, its log."""
        self._end(self.subscription(id), now)
        return self._sent()

    def _end(self, subscription: ClientSubscription, now: float) -> None:
        del self.state.subscriptions[subscription.id]
        self.state.note("subscription", subscription.id)
        for key in subscription.given:
            self.state.note("document", key)
        self._watches.unwatch_own(subscription)
        self._change_interests(OWN, [], [asked_by(subscription)], now)

    def subscription(self, id: str) -> ClientSubscription:
        """The subscription of an id."""
        if id not in self.state.subscriptions:
            raise UnknownSubscription(id)
        return self.state.subscriptions[id]

    def go_offline(self, client: str, limit: int, until: float) -> None:
        """A client goes offline: so many events of each of its subscriptions wait for it, until a time."""
        for subscription in self._subscriptions_of(client):
            subscription.leave(limit, until)

    def come_back(self, client: str, now: float) -> None:
        """A client is back, and told of what it missed."""
        for subscription in self._subscriptions_of(client):
            subscription.come_back(now)

    def _subscriptions_of(self, client: str) -> list[ClientSubscription]:
        return [each for each in self.state.subscriptions.values() if each.client == client]

    def fetch(self, client: str, uri: str) -> Document:
        """A document that a client was told of, from here, whether the one who published it is there or not."""
        for subscription in self._subscriptions_of(client):
            for key in subscription.given:
                document = self.state.documents[key].told.document if key[1] == uri else None
                if document is not None:
                    return document
        raise UnknownDocument(uri)

    def publish(self, document: Document, now: float, *, reach: int = NETWORK, access: Access | None = None) -> Outbox:
        """A client registers a document, or a new version of it; what it did not advertise is advertised for it.

        One that is registered again unchanged is unchanged. With a list, only those whom it names are told of it.
        """
        known = self.state.documents.get((self.name, document.uri))
        if known is not None and (known.told.document, known.told.reach, known.told.access) == (
            document,
            reach,
            access,
        ):
            return []
        self._advertise_on(self._inherited(self._advertise_document(document, reach), document.uri), now)
        told = self._next_version(document.uri, document, now, reach)
        self._take(OWN, told if access is None else replace(told, access=access), now)
        return self._sent()

    def retract(self, uri: str, now: float) -> Outbox:
        """A client takes a document back."""
        if (self.name, uri) not in self.state.documents:
            raise UnknownDocument(uri)
        self._take(OWN, self._next_version(uri, None, now), now)
        self._advertise_on(self._inherited(self._set_own(f"document {uri}", frozenset())), now)
        return self._sent()

    def _next_version(self, uri: str, document: Document | None, now: float, reach: int = NETWORK) -> DocumentSent:
        version = self.state.versions.get(uri, 0) + 1
        self.state.versions[uri] = version
        return DocumentSent(self.name, uri, version, now, document, reach)

    # -- what neighbours tell

    def connect(self, peer: str, now: float) -> Outbox:
        """See `Node.connect`; a new neighbour is told what concerns it."""
        is_new = peer not in self.state.interests
        if is_new:
            heard = self.state.heard_items[peer] = ItemIndex()
            self.state.interests[peer] = NeighbourInterests(None if self._topology.takes_all(peer) else heard)
            self.state.told_items[peer] = ItemSet()
            self.state.heard_interests[peer] = {}
        frames = super().connect(peer, now)
        if is_new:
            step = InterestStep()
            for came, interests in [(OWN, self._own_interests()), *self._heard()]:
                for interest, since in interests:
                    if self._interest_goes(came, interest, peer):
                        self.state.interests[peer].want(interest, since, step)
            self._tell_interests(peer, step, now)
            self._advertise_to(peer, frozenset(self._own_items).union(*self.state.heard_items.values()), now)
        return [*frames, *self._sent()]

    def _own_interests(self) -> list[tuple[Interest, float]]:
        return [*map(asked_by, self.state.subscriptions.values())]

    def _heard(self) -> list[tuple[str, list[tuple[Interest, float]]]]:
        return [(peer, [*interests.items()]) for peer, interests in self.state.heard_interests.items()]

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear`."""
        match body:
            case Advertise(added, removed):
                self._hear_items(peer, added, removed, now)
            case Subscribe(added, removed):
                known = self.state.heard_interests[peer]
                gone = [(interest, known[interest]) for interest in removed if interest in known]
                self._change_interests(peer, added, gone, now)
                self._catch_up(peer, [interest for interest, _ in added], now, again=True)
            case DocumentSent():
                self._take(peer, body, now)
            case Ask():
                self._hear_question(body, now)
            case AnswerSent(sent, path):
                self._note_answered(sent, path)
                if path:
                    self.tell(path[-1], AnswerSent(sent, path[:-1]), now)
                else:
                    self._take_answer(peer, sent, now)

    def _take_answer(self, peer: str, sent: DocumentSent, now: float) -> None:
        """Take what was asked for here; what is of no concern to anybody by now does not stay."""
        is_new = (sent.origin, sent.uri) not in self.state.documents
        self._take(peer, sent, now)
        if is_new:
            self._drop_unwanted((sent.origin, sent.uri))

    def hear_all(self, peer: str, body: RoutesTold, now: float) -> None:
        """See `Node.hear_all`."""
        self._ask_again(peer, now)
        self._hear_items(peer, body.advertised, frozenset(self.state.heard_items[peer]) - body.advertised, now)
        known, told = self.state.heard_interests[peer], dict(body.interests)
        gone = [(interest, since) for interest, since in known.items() if interest not in told]
        self._change_interests(peer, body.interests, gone, now)
        told_keys = {(each.origin, each.uri) for each in body.documents}
        for key, kept in [*self.state.documents.items()]:
            if kept.came == peer and key not in told_keys:
                self._ask(Ask(*key, kept.told.version, ()), now)
        for each in body.documents:
            self._take(peer, each, now)
        self._catch_up(peer, told, now)

    def besides(self, peer: str) -> list[Ask]:
        """See `Node.besides`: the questions that went to it, and were not answered."""
        return [each for each in self.state.unanswered if self._topology.next_hop(each.origin) == peer]

    def all_for(self, peer: str) -> RoutesTold:
        """See `Node.all_for`."""
        self._difference(peer, self._gathered(peer))
        interests = self.state.interests[peer].told
        sent = [kept for kept in self.state.documents.values() if peer in kept.sent]
        for kept in sent:
            kept.sent[peer] = kept.told.version
            self.state.note("document", kept.key)
        return RoutesTold(
            frozenset(self.state.told_items[peer]), tuple(interests.items()), tuple(kept.told for kept in sent)
        )

    def _hear_items(self, peer: str, added: frozenset[Advertised], removed: frozenset[Advertised], now: float) -> None:
        changed = self.state.heard_items[peer].change(added, removed)
        if changed:
            step = InterestStep()
            self.state.interests[peer].advertise(changed, step)
            self._tell_interests(peer, step, now)
            self._advertise_on(changed, now, came=peer)

    # -- a hub that was away

    def adopt(self, lost: RoutingState, now: float) -> Outbox:
        """Go on with the clients and documents of the hub that this one has stood in for, as it was when it went."""
        state = self.state
        state.stands_in, state.noted = False, None
        changed = frozenset[Advertised]().union(
            *(self._set_own(source, items) for source, items in lost.advertisements.items())
        )
        state.versions |= lost.versions
        state.subscriptions |= lost.subscriptions
        for subscription in lost.subscriptions.values():
            self._watches.watch_own(subscription)
            subscription.note_gap(_STOOD_IN_FOR)
        self._advertise_on(changed, now)
        self._change_interests(OWN, [*map(asked_by, lost.subscriptions.values())], [], now)
        for key, kept in lost.documents.items():
            self._adopt_document(key, kept, now)
        asked, state.asked = state.asked, []
        for question in asked:
            self._hear_question(question, now)
        return self._sent()

    def _adopt_document(self, key: Key, lost: KeptDocument, now: float) -> None:
        """One of its own is told to those who want it; of another one it is asked what became of it."""
        known = self.state.documents.pop(key, None)
        kept = self.state.documents[key] = KeptDocument(lost.told, lost.came)
        if key[0] == self.name:
            for peer in sorted(self._found(kept.told, kept.came)[0]):
                self._send(kept, peer, now, is_wanted=True)
        else:
            self._ask(Ask(*key, kept.told.version, ()), now)
        if known is not None:
            kept.sent = known.sent
            self._take(known.came, known.told, now)

    def _ask(self, question: Ask, now: float) -> None:
        on = replace(question, path=(*question.path, self.name))
        if on not in self.state.unanswered:
            self.state.unanswered.append(on)
        self.tell(self._topology.next_hop(question.origin), on, now)

    def _ask_again(self, peer: str, now: float) -> None:
        """A neighbour begins anew: the one that was there before may have taken questions along."""
        for question in self.besides(peer):
            self.tell(peer, question, now)

    def _note_answered(self, sent: DocumentSent, path: tuple[str, ...]) -> None:
        about = sent.origin, sent.uri, (*path, self.name)
        self.state.unanswered = [q for q in self.state.unanswered if (q.origin, q.uri, q.path) != about]

    def _hear_question(self, question: Ask, now: float) -> None:
        key = question.origin, question.uri
        if question.origin != self.name:
            self._ask(question, now)
        elif self.state.stands_in:
            self.state.asked.append(question)
        else:
            kept = self.state.documents.get(key)
            version = self.state.versions.get(question.uri, question.version)
            sent = kept.told if kept is not None else DocumentSent(*key, version, now, None)
            if any(sent.reach < self._topology.distance(place) for place in question.path):
                sent = gone(sent)  # it does not go as far as the one that asks, or leaves its unit on the way there
            self.tell(question.path[-1], AnswerSent(sent, question.path[:-1]), now)

    # -- what neighbours are told

    def _change_interests(
        self,
        came: str,
        added: Iterable[tuple[Interest, float]],
        removed: Iterable[tuple[Interest, float]],
        now: float,
    ) -> None:
        """Interests of a neighbour, or of clients, begin and end."""
        steps: dict[str, InterestStep] = {}
        known = self.state.heard_interests.get(came)
        for interest, since in added:
            before = known.get(interest) if known is not None else None
            if known is not None:
                known[interest] = since
                self.state.note("interest", came, interest)
                self._watches.watch(came, interest, since)
            self._pass_on(came, interest, since, before, steps)
        for interest, since in removed:
            if known is not None:
                del known[interest]
                self.state.note("interest", came, interest)
                self._watches.unwatch(came, interest)
            self._pass_on(came, interest, None, since, steps)
        for peer, step in steps.items():
            self._tell_interests(peer, step, now)

    def _pass_on(
        self, came: str, interest: Interest, since: float | None, before: float | None, steps: dict[str, InterestStep]
    ) -> None:
        for peer, interests in self.state.interests.items():
            if peer != came and self._interest_goes(came, interest, peer):
                step = steps.setdefault(peer, InterestStep())
                if since is not None:
                    interests.want(interest, since, step)
                if before is not None:
                    interests.drop(interest, before, step)

    def _interest_goes(self, came: str, interest: Interest, peer: str) -> bool:
        return interest.reach >= self._topology.height(peer) and self._topology.interest_goes(came, peer)

    def _tell_interests(self, peer: str, step: InterestStep, now: float) -> None:
        if step:
            self.tell(peer, Subscribe(tuple(step.added.items()), tuple(step.removed)), now)

    # -- documents

    def _found(self, told: DocumentSent, came: str) -> tuple[set[str], Rows]:
        """The neighbours that want a version of a document, and the rows that it gives to subscriptions here."""
        distance = self._topology.distance(told.origin)
        peers, rows = self._watches.found(told, came, distance)
        subscriptions = self.state.subscriptions
        return (
            {peer for peer in peers if told.reach >= self._topology.height(peer)},
            {
                id: some
                for id, some in rows.items()
                if subscriptions[id].counts(told.time, distance) and told.is_for(subscriptions[id].account)
            },
        )

    def _take(self, came: str, told: DocumentSent, now: float) -> None:
        """A version of a document arrives, or that it is gone: clients hear of it, and neighbours that want it."""
        key = told.origin, told.uri
        kept = self.state.documents.get(key)
        if told.reach < self._topology.distance(told.origin):
            told = gone(told)  # it came so far before, and does not any more
        if told.document is None if kept is None else told.version < kept.told.version:
            return
        self.state.note("document", key)
        peers, rows = self._found(told, came)
        if kept is None:
            kept = self.state.documents[key] = KeptDocument(told, came)
            self._tell_clients(key, None, told, rows, now)
        elif told.version > kept.told.version or told.document is None:
            before, kept.told = kept.told, told
            self._tell_clients(key, before, told, rows, now)
        for peer in sorted({*peers, *kept.sent}):
            if peer != came and self._topology.document_goes(came, peer):
                self._send(kept, peer, now, is_wanted=peer in peers)
        if told.document is None:
            del self.state.documents[key]

    def _drop_unwanted(self, key: Key) -> None:
        """Let go of a document that nobody wants, and of which no neighbour would say that it has changed."""
        kept = self.state.documents.get(key)
        if kept is not None and key[0] != self.name and not kept.sent and not self._watches.holders(key):
            del self.state.documents[key]

    def _send(self, kept: KeptDocument, peer: str, now: float, *, is_wanted: bool) -> None:
        told = kept.told
        self.state.note("document", kept.key)
        if not is_wanted:
            del kept.sent[peer]
            self.tell(peer, gone(told), now)
        elif kept.sent.get(peer) != told.version:
            kept.sent[peer] = told.version
            self.tell(peer, told, now)

    def _tell_clients(self, key: Key, before: DocumentSent | None, told: DocumentSent, rows: Rows, now: float) -> None:
        concerned = dict.fromkeys([*rows, *self._watches.holders(key)])
        self._tell([self.state.subscriptions[id] for id in concerned], key, before, told, rows, now)

    def _tell(
        self,
        subscriptions: Iterable[ClientSubscription],
        key: Key,
        before: DocumentSent | None,
        told: DocumentSent,
        rows: Rows,
        now: float,
    ) -> None:
        """Tell subscriptions what another version of a document makes of their rows."""
        versions = (before.version if before is not None else None), (told.version if told.document else None)
        old = before.document if before is not None else None
        for subscription in subscriptions:
            if subscription.id in rows or key in subscription.given:
                subscription.take(key, versions, old, told.document, rows.get(subscription.id, ()), now)
                self._watches.note(subscription, key)

    def _catch_up(self, peer: str, interests: Iterable[Interest], now: float, *, again: bool = False) -> None:
        """Tell a neighbour of the documents here that were published after its new interests began.

        With `again`, also of those that it had: it may have passed over them, when nobody had asked it for them.
        """
        known = self.state.heard_interests[peer]
        oldest = min((known[interest] for interest in interests), default=now)
        for kept in self.state.documents.values():
            is_late = kept.told.time > oldest and kept.came != peer
            if again and is_late and kept.sent.pop(peer, None) is not None:
                self.state.note("document", kept.key)
            is_new = kept.sent.get(peer) != kept.told.version
            may_go = is_late and is_new and self._topology.document_goes(kept.came, peer)
            if may_go and peer in self._found(kept.told, kept.came)[0]:
                self._send(kept, peer, now, is_wanted=True)


@lru_cache(maxsize=10_000)
def _compiled(text: str, language: str) -> Pattern:
    """What a query means; in a simulation many clients ask the same."""
    return compile_query(text, language=language)


def gone(told: DocumentSent) -> DocumentSent:
    """What those hear who may not have a version, or no longer; its signature would confirm what somebody guesses."""
    return replace(told, document=None, signature="")


def asked_by(subscription: ClientSubscription) -> tuple[Interest, float]:
    """What a subscription asks for, and since when: the beginning of that second.

    Of hubs that begin to ask the same at about the same time, those on the way are told once; to the moment, an older
    interest that comes later would be told again. What comes besides is kept here, and no client is told of it.
    """
    return interest_of(subscription.pattern, subscription.reach), floor(subscription.since)
