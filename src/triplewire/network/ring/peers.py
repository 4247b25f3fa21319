"""A peer of a ring: it keeps what is under its keys, extends partial results, and passes them on (S1 to S5).

Each method that is handed `now` is one step: what it changes in `state` is durable before its frames are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from triplewire.model import Behind, Document
from triplewire.network.node import NodeState
from triplewire.network.ring.homes import HomeState, Limited
from triplewire.network.ring.identifiers import identify, is_between, key_at
from triplewire.network.ring.keys import Found, KeyState
from triplewire.network.ring.loads import PeerLoads
from triplewire.network.ring.messages import (
    Answer,
    AskRing,
    ChangeSettled,
    ContentTold,
    CountTriples,
    EndQuery,
    ExtendMatching,
    Extension,
    FindSuccessor,
    FingersFound,
    HandOver,
    IndexQuery,
    IndexTriple,
    Kept,
    Member,
    Notification,
    Rectify,
    Replicate,
    RingTold,
    SplitKey,
    SplitTold,
    TriplesCounted,
    WatchContent,
)
from triplewire.network.ring.post import CauseKey, Parcel, Parcels, Post, PostedCause, PostState, RingFrame
from triplewire.network.ring.queries import NextStep, NextSteps, RingQuery
from triplewire.network.ring.settings import RingSettings
from triplewire.network.ring.splits import DEEPEST, KeySplit, base_of, depth, share_key
from triplewire.network.ring.statements import Origin
from triplewire.network.ring.subscriptions import RingSubscription
from triplewire.network.ring.views import RingView

Outbox = list[tuple[str, RingFrame]]
_MANY_TRIPLES = 1 << 40
"""As good as any number: a key that is split is hot."""

_KNOWN_SPLITS = 4096
"""So many keys of others are known to be split."""


@dataclass(slots=True)
class PeerState(NodeState):
    """What a peer must not lose."""

    view: RingView = field(default_factory=lambda: RingView(""))
    post: PostState = field(default_factory=PostState)
    keys: dict[str, KeyState] = field(default_factory=dict)
    homes: dict[str, HomeState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SplittingKey:
    """What a peer has caused that splits a key."""

    key: str


class RingPeer:
    """A peer, made from its durable state. `work` is told of the work that it does, in the paper's unit (section 6)."""

    def __init__(self, state: PeerState, settings: RingSettings, work: Callable[[int], None]) -> None:
        self.state, self.settings, self._work = state, settings, work
        self._now = 0.0
        self.view = state.view
        self._post = Post(
            state.name,
            state.post,
            state.view,
            self._take,
            self._settle,
            is_grouped=settings.is_grouped,
            learns=settings.learns,
        )
        self._replicas = self._stand_ins()
        self._loads = PeerLoads()
        self._known_splits: dict[str, None] = {}

    @property
    def name(self) -> str:
        """What other peers call it."""
        return self.state.name

    @property
    def neighbours(self) -> Iterable[str]:
        """The peers that it knows, and those that it waits for."""
        return sorted({*self.view.known, *self._post.awaited})

    def _sent(self) -> Outbox:
        self._post.work()
        return self._post.frames(self._loads.own.value(self._now))

    # -- what the network hands in

    def connect(self, peer: str, now: float) -> Outbox:
        """Nothing: a ring has no links that begin."""
        return []

    def receive(self, peer: str, frame: RingFrame, now: float) -> Outbox:
        """A frame came from another peer."""
        self._now = now
        self.view.find(peer)
        self._loads.hear(peer, frame.load)
        if isinstance(frame, Parcels):
            is_known = [self._post.arrive(parcel, now) for parcel in frame.parcels]
            if not all(is_known):  # the one that sends this is the predecessor that is missing
                self._post.send_to(peer, self._told(), None, now)
        else:
            for number, touched in frame.answered:
                self._post.receipt(peer, number, touched)
        return self._sent()

    def due(self, peer: str) -> float | None:
        """When `tick` has something to do: for another peer, something to send again; for itself, to tell."""
        if peer != self.name:
            return self._post.due(peer)
        return min((due for home in self.state.homes.values() if (due := home.due()) is not None), default=None)

    def tick(self, peer: str, now: float) -> Outbox:
        """Time has passed."""
        self._now = now
        out: Outbox = []
        if peer != self.name:
            self._post.again(peer, now)
        else:
            out = self._end_limited(now)
            for home in self.state.homes.values():
                late = [each.id for each in home.subscriptions.values() if each.due is not None and each.due <= now]
                home.settle(late, None, now, is_late=True)
        return out + self._sent()

    # -- clients

    def subscribe(self, home: str, id: str, client: str, text: str, language: str, now: float) -> Outbox:
        """A client registers a query; it counts what is published from `now` on."""
        self._now = now
        subscription = self.state.homes[home].subscribe(id, client, text, language, self.settings, now)
        cause = self._post.begin((home, id))
        for query in subscription.queries:
            self._plan(self.state.homes[home], query, cause)
        return self._sent()

    def _plan(self, home: HomeState, query: RingQuery, cause: CauseKey) -> None:
        """Index a query, or ask first which of its subqueries is the rarest. Nothing is missed meanwhile (S4)."""
        if query.chain or self.settings.rewriter == "any" or len(query.rewriters) == 1:
            self._index_query(query, cause)
            return
        home.counts[query.key] = {}
        for number in query.rewriters:
            key = query.key_of(number, query.triples[number])
            assert key is not None, "it can be indexed by this"
            asked = CountTriples(home.name, query.subscription, query.key, number)
            self._post.send(identify(key), key, asked, cause, self._now)

    def _index_query(self, query: RingQuery, cause: CauseKey) -> None:
        for number, key in _indexed(query):
            self._send(key, IndexQuery(query, number), cause)

    def _count_triples(self, key: str, asked: CountTriples, cause: CauseKey) -> None:
        state = self.state.keys.get(key)
        known = 0 if state is None else len(state.documents)
        count = _MANY_TRIPLES if state is not None and state.is_split else known
        told = TriplesCounted(asked.home, asked.subscription, asked.query, asked.number, count)
        self._post.send(identify(asked.home), "", told, cause, self._now)

    def unsubscribe(self, home: str, id: str, now: float) -> Outbox:
        """A client's query ends; with it, its log."""
        self._now = now
        at = self.state.homes[home]
        subscription = at.unsubscribe(id)
        cause = self._post.begin(None)
        if self.settings.is_wide:
            subscription.spoken_of = dict.fromkeys(subscription.about, -1)
            self._watch(at.rewatched(subscription), cause)
        for query in subscription.queries:
            for _, key in _indexed(query):
                self._send(key, EndQuery(query.key), cause)
        return self._sent()

    def subscription(self, home: str, id: str) -> RingSubscription:
        """The subscription of an id."""
        return self.state.homes[home].subscription(id)

    def publish(self, home: str, document: Document, now: float) -> Outbox:
        """A client registers a document, or a new version of it; one that is unchanged is unchanged."""
        at = self.state.homes[home]
        known = at.documents.get(document.uri)
        versions = at.publish(document)
        if versions is None:
            return []
        return self._index(at, document.uri, document, known.document if known is not None else None, versions, now)

    def retract(self, home: str, uri: str, now: float) -> Outbox:
        """A client takes a document back."""
        at = self.state.homes[home]
        known = at.documents.get(uri)
        before, _ = at.retract(uri)
        assert known is not None, "it was there"
        return self._index(at, uri, None, known.document, (before, None), now)

    def limit(self, home: str, kind: Limited, name: str, until: float) -> Outbox:
        """A document, or a subscription, of a client ends by itself at a time; a new version is without limit again."""
        self.state.homes[home].limit(kind, name, until)
        return self._sent()

    def _end_limited(self, now: float) -> Outbox:
        out: Outbox = []
        for home in [*self.state.homes.values()]:
            for kind, name in home.over(now):
                end = self.retract if kind == "document" else self.unsubscribe
                out += end(home.name, name, now)
        return out

    def _index(
        self,
        home: HomeState,
        uri: str,
        document: Document | None,
        before: Document | None,
        versions: tuple[int | None, int | None],
        now: float,
    ) -> Outbox:
        self._now = now
        origin = home.name, uri
        cause = self._post.begin((origin, versions))
        for key, told in home.statements(uri, document, before, self.settings, now).items():
            self._send(key, told, cause)
        return self._sent()

    def _send(self, key: str, body: Kept | HandOver, cause: CauseKey | None) -> None:
        """Send what is for a key; where that is known to be split, to its shares."""
        if key in self._known_splits and not isinstance(body, HandOver):
            for share, part in KeySplit(key, self.settings.algorithm).shared(body):
                self._send(share, part, cause)
        else:
            self._post.send(identify(key), key, body, cause, self._now)

    # -- what is for this peer

    def _take(self, parcel: Parcel, cause: CauseKey) -> None:
        match parcel.body:
            case IndexQuery() | IndexTriple() | ExtendMatching() | EndQuery() | WatchContent():
                self._keep(parcel, cause)
            case CountTriples():
                self._count_triples(parcel.key, parcel.body, cause)
            case Notification() | ContentTold() | ChangeSettled() | TriplesCounted():
                self._bring_home(parcel, cause)
            case Replicate(key, SplitKey(is_settled)):
                self._copy_split(self._kept_under(key), is_settled=is_settled)
            case Replicate(key, body):
                self._changed(self._kept_under(key), key, body, None)
            case SplitTold(key):
                self._known_splits[key] = None
                if len(self._known_splits) > _KNOWN_SPLITS:
                    del self._known_splits[next(iter(self._known_splits))]
            case HandOver():
                self._take_over(parcel.body, cause)
            case FindSuccessor(asker, fingers) if asker != self.name:
                found = FingersFound(fingers) if fingers else self._told()
                self._post.send_to(asker, found, None, self._now)
            case FingersFound(fingers):
                self.view.point(fingers, parcel.sender)
            case AskRing():
                self._post.send_to(parcel.sender, self._told(), None, self._now)
            case RingTold(predecessor, successors):
                self._hear_ring(parcel.sender, predecessor, successors)
            case Rectify():
                self._rectify(parcel.sender)

    # -- what is kept under a key

    def _kept_under(self, key: str) -> KeyState:
        state = self.state.keys.get(key)
        if state is None:
            state = self.state.keys[key] = KeyState(is_by_document=self.settings.scope == "document")
        return state

    def _keep(self, parcel: Parcel, cause: CauseKey) -> None:
        key, body = parcel.key, parcel.body
        state = self._kept_under(key)
        work = work_of(body, state)
        divided = work if self.settings.hot is not None and KeySplit(key, self.settings.algorithm).divides(body) else 0
        if not state.is_split and self._is_hot(key, state, divided):
            self._split(key, state)
        if state.is_split:
            self._share_out(parcel, state, cause)
            return
        self._work(work)
        self._loads.own.add(work, self._now)
        state.work.add(divided, self._now)
        self._extend(key, state, self._changed(state, key, body, cause), cause)
        for peer in self._replicas:
            self._post.send_to(peer, Replicate(key, body), cause, self._now)

    def _changed(self, state: KeyState, key: str, body: Kept, cause: CauseKey | None) -> list[Found]:
        """What a message does to what is kept under a key, and the results that this makes.

        Without a cause it is not this peer that is responsible.
        """
        match body:
            case IndexQuery(query, number):
                return self._wait(state, _first(query, number))
            case IndexTriple(origin, statement, gone):
                self._tell_content(key, state, {origin: statement}, cause)
                changes = state.state(origin, statement, gone)
                return [found for change in changes for found in state.met_by(*change)]
            case ExtendMatching(extensions):
                return [found for each in extensions for found in self._wait(state, (each,))]
            case EndQuery(query_key):
                self._end(key, state, query_key, cause)
            case WatchContent(home, resource, is_wanted):
                if is_wanted:
                    state.watchers[home] = resource
                    self._tell_content(key, state, state.documents, cause, [home])
                else:
                    state.watchers.pop(home, None)
        return []

    def _wait(self, state: KeyState, extensions: Iterable[Extension]) -> list[Found]:
        news = [found for each in extensions if (found := state.wait(each)) is not None]
        return [found for each in news for found in state.met_with(*each)]

    def _tell_content(
        self,
        key: str,
        state: KeyState,
        said: Any,
        cause: CauseKey | None,
        homes: Iterable[str] | None = None,
    ) -> None:
        if cause is not None and said:
            for home in [*state.watchers] if homes is None else homes:
                told = ContentTold(home, state.watchers[home], tuple(said.items()))
                self._post.send(identify(home), "", told, cause, self._now)

    def _end(self, key: str, state: KeyState, query: str, cause: CauseKey | None) -> None:
        """A query ends here, and where its results went on to."""
        where = set()
        for group, members in state.end(query):
            for asked, path in members:
                if len(path) < len(asked.triples):
                    for _, wider in state.ever_met(group):
                        number, step = NextSteps(wider, base_of(key)).after(asked, path)
                        if (number, step.key) not in _indexed(asked):  # there the home says it
                            where.add(step.key)
        if cause is not None:
            for after in sorted(where):
                self._send(after, EndQuery(query), cause)

    def _extend(self, key: str, state: KeyState, found: Iterable[Found], cause: CauseKey) -> None:
        """Pass results on: to the next subquery of each query, or, if there is none, to its home."""
        onward: dict[str, list[Extension]] = {}
        answers: dict[str, list[Answer]] = {}
        base = base_of(key)
        for group, members, triple, wider in found:
            support = {**group.support, triple: state.sources(triple)}
            binding = tuple(sorted(wider.items(), key=lambda each: each[0]))
            steps, waiting = NextSteps(wider, base), dict[int, tuple[NextStep, list[Member]]]()
            satisfied: dict[str, list[RingQuery]] = {}
            for query, path in members:
                if len(path) == len(query.triples):
                    satisfied.setdefault(query.home, []).append(query)
                else:
                    number, step = steps.after(query, path)
                    waiting.setdefault(id(step), (step, []))[1].append((query, extended_path(path, number)))
            for step, some in waiting.values():
                onward.setdefault(step.key, []).append(Extension(step.pattern, binding, support, tuple(some)))
            for home, queries in satisfied.items():
                answers.setdefault(home, []).append(Answer(binding, support, tuple(queries)))
        for after, extensions in onward.items():
            for each in self._grouped(extensions):
                self._send(after, ExtendMatching(each), cause)
        for home, told in answers.items():
            self._post.send(identify(home), "", Notification(home, tuple(told)), cause, self._now)

    def _grouped(self, extensions: list[Extension]) -> list[tuple[Extension, ...]]:
        """Intermediate results for one place are one message (section 4), if that is not switched off."""
        if self.settings.is_grouped:
            return [tuple(extensions)]
        return [
            (Extension(each.pattern, each.binding, each.support, (member,)),)
            for each in extensions
            for member in each.members
        ]

    # -- keys that are hot

    def _is_hot(self, key: str, state: KeyState, amount: int) -> bool:
        hot = self.settings.hot
        if hot is None or not amount or depth(key) >= DEEPEST:
            return False
        return self._loads.is_too_much(hot, state.work, amount, self._now)

    def _split(self, key: str, state: KeyState) -> None:
        """A key is kept in shares from now on, and what is kept under it goes there.

        Until the shares have everything, and those that stand in for this peer know of it, it is kept here as well, so
        that another peer can do this again; and nobody else sends to the shares, so that none is missed.
        """
        state.is_split, state.is_settled = True, False
        cause = self._post.begin(SplittingKey(key))
        for number, share in state.divided(KeySplit(key, self.settings.algorithm)).items():
            name = share_key(key, number)
            self._send(name, HandOver(((name, share),)), cause)
        self._replicate_split(key, SplitKey(), cause)
        self._post.conclude(cause)

    def _replicate_split(self, key: str, body: SplitKey, cause: CauseKey | None) -> None:
        for peer in self._replicas:
            self._post.send_to(peer, Replicate(key, body), cause, self._now)

    def _end_split(self, key: str) -> None:
        """The shares of a key have what was kept under it, unless more has come meanwhile."""
        state = self.state.keys.get(key)
        if state is None or any(each.about == SplittingKey(key) for each in self.state.post.causes.values()):
            return
        if self.view.owns(identify(key)):
            state.clear()
            state.is_settled = True
            self._replicate_split(key, SplitKey(is_settled=True), None)

    def _copy_split(self, state: KeyState, *, is_settled: bool) -> None:
        """The peer that is responsible for a key says that it is split."""
        state.is_split, state.is_settled = True, is_settled
        if is_settled:
            state.clear()

    def _share_out(self, parcel: Parcel, state: KeyState, cause: CauseKey) -> None:
        """What is for a key that is split goes to its shares; the sender is told, and sends it there next time."""
        for share, part in KeySplit(parcel.key, self.settings.algorithm).shared(parcel.body):
            self._send(share, part, cause)
        if state.is_settled:
            self._post.send_to(parcel.sender, SplitTold(parcel.key), None, self._now)

    # -- what is for clients

    def _bring_home(self, parcel: Parcel, cause: CauseKey) -> None:
        body = parcel.body
        home = self.state.homes.get(body.home)
        if home is None:
            self._post.hold(parcel, cause)  # its peer is away: this one only stands in for it
            return
        match body:
            case Notification(_, answers):
                concerned, watches = home.take(answers, self._now, watches=self.settings.is_wide)
            case ContentTold(_, resource, said):
                concerned, watches = home.restate(resource, said, self._now)
            case ChangeSettled(_, origin, versions, ids):
                home.settle(ids, Behind(origin[1], *versions), self._now)
                return
            case TriplesCounted(_, subscription, key, number, count):
                query = home.counted(subscription, key, number, count)
                if query is not None:
                    self._index_query(query, cause)
                return
        self._post.touch(cause, ((body.home, id) for id in sorted(concerned)))
        self._watch(watches, cause)

    def _watch(self, watches: Iterable[WatchContent], cause: CauseKey) -> None:
        for watch in watches:
            self._send(key_at("s", (watch.resource,) * 3), watch, cause)

    def _settle(self, cause: PostedCause) -> None:
        """All that a client has caused has arrived everywhere: those whom it concerns are told."""
        match cause.about:
            case SplittingKey(key):
                self._end_split(key)
            case (str(home), str(id)) if home in self.state.homes:
                self.state.homes[home].settle([id], None, self._now)
            case ((str(), str()) as origin, versions):
                self._tell_settled(origin, versions, cause)

    def _tell_settled(self, origin: Origin, versions: tuple[int | None, int | None], cause: PostedCause) -> None:
        concerned: dict[str, list[str]] = {}
        for home, id in sorted(cause.touched):
            concerned.setdefault(home, []).append(id)
        for home, ids in concerned.items():
            self._post.send(identify(home), "", ChangeSettled(home, origin, versions, tuple(ids)), None, self._now)

    # -- the ring

    def join(self, contact: str | None, now: float) -> Outbox:
        """Come to the ring that another peer is part of; without one, begin a ring."""
        self._now = now
        self.view.meet(contact)
        self._post.resume(now)
        if contact is not None:
            self._post.send(self.view.place, "", FindSuccessor(self.name), None, now, via=contact)
        return self._sent()

    def _told(self) -> RingTold:
        return RingTold(self.view.predecessor, self.view.successors)

    def _ask(self, peer: str) -> None:
        self._post.send_to(peer, AskRing(), None, self._now)

    def _hear_ring(self, peer: str, predecessor: str | None, successors: tuple[str, ...]) -> None:
        is_new = not self.view.successors
        is_changed = self.view.stabilise(peer, successors)
        if self.view.successors and self.view.successors[0] == peer:
            if predecessor is not None and self.view.is_before(predecessor, peer):
                self._ask(predecessor)
            if self.view.should_precede(peer, predecessor):
                self._post.send_to(peer, Rectify(), None, self._now)
        if is_changed:
            self._news_of_successors()
        if is_new and is_changed:
            self._find_fingers(self.view.far_fingers())

    def _find_fingers(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._post.send(self.view.finger_start(number), "", FindSuccessor(self.name, (number,)), None, self._now)

    def _stand_ins(self) -> tuple[str, ...]:
        """The peers that have a copy of what is kept here."""
        return self.view.successors[: self.settings.replicas - 1]

    def _news_of_successors(self) -> None:
        """The peers after this one are others: the one before is told, and new ones get what is kept here."""
        if self.view.predecessor is not None:
            self._post.send_to(self.view.predecessor, self._told(), None, self._now)
        self._post.resume(self._now, only_given_up=True)
        before, self._replicas = self._replicas, self._stand_ins()
        added = [peer for peer in self._replicas if peer not in before]
        if added:
            own = [key for key in self.state.keys if self.view.owns(identify(key))]
            for peer in added if own else ():
                self._copy_to(peer, own)

    def _copy_to(self, peer: str, keys: Iterable[str], cause: CauseKey | None = None) -> None:
        """Another peer is to stand in for this one."""
        copies = tuple((key, self.state.keys[key].copy()) for key in keys)
        if copies:
            self._post.send_to(peer, HandOver(copies), cause, self._now)

    def _rectify(self, peer: str) -> None:
        old, old_start, was_alone = self.view.predecessor, self.view.start, not self.view.successors
        if self.view.rectify(peer):
            self._change_range(old_start)
            if old is not None:
                self._post.send_to(old, self._told(), None, self._now)
        self._post.send_to(peer, self._told(), None, self._now)
        if was_alone:
            self._ask(peer)

    def _change_range(self, before: int | None) -> None:
        """The places that this peer is responsible for begin somewhere else."""
        self._post.resume(self._now, only_given_up=True)
        start, end = self.view.start, self.view.place
        if before is None or start is None or start == before:
            return
        if is_between(start, before, end):
            gone = [key for key in self.state.keys if is_between(identify(key), before, start)]
            self._send_homes_on()
            for key in gone:
                self._send(key, HandOver(((key, self.state.keys[key].copy()),)), None)
        else:
            self._take_up(lambda place: is_between(place, start, before))

    def _take_up(self, is_new: Callable[[int], bool]) -> None:
        """This peer is responsible for more places: what was kept there for another one counts, and is passed on."""
        cause = self._post.begin(None)
        new = [key for key in self.state.keys if is_new(identify(key))]
        for key in new:
            self._extend(key, self.state.keys[key], self.state.keys[key].everything(), cause)
        for peer in self._replicas:
            self._copy_to(peer, new)
        self._split_again(new)
        self._post.conclude(cause)

    def _take_over(self, body: HandOver, cause: CauseKey) -> None:
        for home in body.homes:
            self.state.homes[home.name] = home
            self._post.resume(self._now, only_given_up=True)
        own = [key for key, _ in body.keys if self.view.owns(identify(key))]
        for key, told in body.keys:
            state = self.state.keys.get(key)
            if state is None:
                self.state.keys[key] = told
                continue
            found = [*state.merge(told)]
            if key in own:
                self._extend(key, state, found, cause)
                self._tell_content(key, state, state.documents, cause)
        for peer in self._replicas:
            self._copy_to(peer, own, cause)
        self._split_again(own)
        self._send_homes_on()

    def _split_again(self, keys: Iterable[str]) -> None:
        """What another peer has kept under keys that are split goes to their shares."""
        for key in keys:
            state = self.state.keys[key]
            if state.is_split and not state.is_settled:
                self._split(key, state)

    def _send_homes_on(self) -> None:
        """Homes of peers that have left are kept where what is for them goes."""
        for home in [*self.state.homes.values()]:
            if home.name != self.name and self.view.start is not None and not self.view.owns(home.place):
                del self.state.homes[home.name]
                self._post.send(home.place, "", HandOver((), (home,)), None, self._now)

    def lose(self, peer: str, now: float) -> Outbox:
        """A peer does not answer any more."""
        self._now = now
        old_start, was_before = self.view.start, self.view.predecessor == peer
        if peer in self.view.known:
            missing = self.view.lose(peer)
            if not self.view.successors:
                self._replicas = ()
                if old_start is not None:
                    self._take_up(lambda place: not is_between(place, old_start, self.view.place))
            else:
                self._news_of_successors()
                self._ask(self.view.successors[0])
                if was_before:  # the way to its place ends at the peer before it
                    self._post.send(identify(peer), "", FindSuccessor(self.name), None, now)
                if missing:
                    start = self.view.finger_start(min(missing))
                    self._post.send(start, "", FindSuccessor(self.name, tuple(missing)), None, now)
        self._post.lose(peer, now)
        return self._sent()

    def resume(self, back: Iterable[str], now: float) -> Outbox:
        """The network has changed: peers may be reached again that could not be."""
        self._now = now
        for peer in sorted({*back} & {*self.view.lost}):
            self._post.send(self.view.place, "", FindSuccessor(self.name), None, now, via=peer)
        if self.name in back:
            for peer in sorted(self.view.known):
                self._post.send(self.view.place, "", FindSuccessor(self.name), None, now, via=peer)
        self._post.resume(now)
        return self._sent()

    def stabilise(self, now: float, contact: str | None = None) -> Outbox:
        """Ask the successor for news, as peers do now and then; what was given up is tried again.

        With a contact, this peer looks for its own place from there: two rings that know nothing of each other become
        one.
        """
        self._now = now
        if contact not in (None, self.name):
            self._post.send(self.view.place, "", FindSuccessor(self.name), None, now, via=contact or "")
        if self.view.successors:
            self._ask(self.view.successors[0])
        self._post.resume(now, only_given_up=True)
        return self._sent()

    def adopt(self, left: PeerState, now: float) -> Outbox:
        """A peer has left, and this one goes on with what it has: keys, clients, and what it has not sent yet."""
        self._now = now
        cause = self._post.begin(None)
        self._take_over(HandOver(tuple(left.keys.items()), tuple(left.homes.values())), cause)
        self._post.conclude(cause)
        for key, kept_there in left.keys.items():
            place = identify(key)
            if left.view.owns(place) and not self.view.owns(place):
                self._send(key, HandOver(((key, kept_there.copy()),)), None)
        for kept in left.post.kept.values():
            if kept.parcel.peer is None and not isinstance(kept.parcel.body, FindSuccessor):
                self._post.send(kept.parcel.place, kept.parcel.key, kept.parcel.body, None, now)
        return self._sent()


@lru_cache(maxsize=1024)
def extended_path(path: tuple[int, ...], number: int) -> tuple[int, ...]:
    """A path and one more: the same value for all queries that go the same way."""
    return (*path, number)


def work_of(body: Kept, state: KeyState) -> int:
    """How much work a message is, in the paper's unit (section 6): triples to look at, and subqueries to compare."""
    match body:
        case IndexQuery():
            return int(len(state.documents) > 0)
        case IndexTriple(_, statement):
            return len(statement.triples)
        case ExtendMatching(extensions):
            return sum(len(each.members) for each in extensions)
    return 0


def _indexed(query: RingQuery) -> list[tuple[int, str]]:
    """The subqueries that a query is indexed by, with their keys: all of a chain, as far as they have a constant."""
    keys = [(number, query.key_of(number, query.triples[number])) for number in query.chain or (query.first,)]
    return [(number, key) for number, key in keys if key is not None]


def _first(query: RingQuery, number: int) -> tuple[Extension, ...]:
    """What waits when a query is indexed: its first subquery. Others of a chain wait with what was found before."""
    if number != query.first:
        return ()
    return (Extension(query.triples[number], (), {}, ((query, (number,)),)),)
