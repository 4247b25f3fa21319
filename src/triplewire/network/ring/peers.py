"""A peer of a ring: it keeps what is under its keys, extends partial results, and passes them on (S1 to S5).

Each method that is handed `now` is one step: what it changes in `state` is durable before its frames are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from triplewire.model import Behind, Document
from triplewire.network.node import NodeState
from triplewire.network.ring.holdings import Holdings, SplittingKey, indexed_keys
from triplewire.network.ring.homes import HomeState, Limited
from triplewire.network.ring.identifiers import identify, is_between, key_at
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.messages import (
    AskRing,
    ChangeSettled,
    ContentTold,
    CountTriples,
    EndQuery,
    ExtendMatching,
    FindSuccessor,
    FingersFound,
    HandOver,
    IndexQuery,
    IndexTriple,
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
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.settings import RingSettings
from triplewire.network.ring.statements import Origin
from triplewire.network.ring.subscriptions import RingSubscription
from triplewire.network.ring.unions import KeyUnion
from triplewire.network.ring.views import RingView

Outbox = list[tuple[str, RingFrame]]


@dataclass(slots=True)
class PeerState(NodeState):
    """What a peer must not lose."""

    view: RingView = field(default_factory=lambda: RingView(""))
    post: PostState = field(default_factory=PostState)
    keys: dict[str, KeyState] = field(default_factory=dict)
    homes: dict[str, HomeState] = field(default_factory=dict)


class RingPeer:
    """A peer, made from its durable state. `work` is told of the work that it does, in the paper's unit (section 6)."""

    def __init__(self, state: PeerState, settings: RingSettings, work: Callable[[int], None]) -> None:
        self.state, self.settings = state, settings
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
        self._holdings = Holdings(state.keys, self._post, state.view, settings, work)
        self._holdings.replicas = self._stand_ins()

    @property
    def _now(self) -> float:
        return self._holdings.now

    @_now.setter
    def _now(self, now: float) -> None:
        self._holdings.now = now

    @property
    def name(self) -> str:
        """What other peers call it."""
        return self.state.name

    @property
    def holdings(self) -> Holdings:
        """What it keeps under keys."""
        return self._holdings

    @property
    def neighbours(self) -> Iterable[str]:
        """The peers that it knows, and those that it waits for."""
        return sorted({*self.view.known, *self._post.awaited})

    def _sent(self) -> Outbox:
        self._post.work()
        return self._post.frames(self._holdings.loads.own.value(self._now))

    # -- what the network hands in

    def connect(self, peer: str, now: float) -> Outbox:
        """Nothing: a ring has no links that begin."""
        return []

    def receive(self, peer: str, frame: RingFrame, now: float) -> Outbox:
        """A frame came from another peer."""
        self._now = now
        self.view.find(peer)
        self._holdings.loads.hear(peer, frame.load)
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

    def subscribe(
        self,
        home: str,
        id: str,
        client: str,
        text: str,
        language: str,
        now: float,
        prefixes: Mapping[str, str] | None = None,
    ) -> Outbox:
        """A client registers a query; it counts what is published from `now` on."""
        self._now = now
        subscription = self.state.homes[home].subscribe(id, client, text, language, self.settings, now, prefixes)
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
        for number, key in indexed_keys(query):
            self._holdings.send(key, IndexQuery(query, number), cause)

    def _count_triples(self, key: str, asked: CountTriples, cause: CauseKey) -> None:
        count = self._holdings.count(key)
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
            for _, key in indexed_keys(query):
                self._holdings.send(key, EndQuery(query.key), cause)
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
            self._holdings.send(key, told, cause)
        return self._sent()

    # -- what is for this peer

    def _take(self, parcel: Parcel, cause: CauseKey) -> None:
        match parcel.body:
            case IndexQuery() | IndexTriple() | ExtendMatching() | EndQuery() | WatchContent():
                self._holdings.keep(parcel, cause)
            case CountTriples():
                self._count_triples(parcel.key, parcel.body, cause)
            case Notification() | ContentTold() | ChangeSettled() | TriplesCounted():
                self._bring_home(parcel, cause)
            case Replicate(key, SplitKey(is_settled)):
                self._holdings.copy_split(key, is_settled=is_settled)
            case Replicate(key, body):
                self._holdings.copy(key, body, cause)
            case SplitTold(key):
                self._holdings.learn_split(key)
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
            self._holdings.send(key_at("s", (watch.resource,) * 3), watch, cause)

    def _settle(self, cause: PostedCause) -> None:
        """All that a client has caused has arrived everywhere: those whom it concerns are told."""
        match cause.about:
            case SplittingKey(key):
                self._holdings.end_split(key)
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
        before, self._holdings.replicas = self._holdings.replicas, self._stand_ins()
        added = [peer for peer in self._holdings.replicas if peer not in before]
        if added:
            own = [key for key in self.state.keys if self.view.owns(identify(key))]
            for peer in added if own else ():
                self._holdings.copy_to(peer, own)

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
                self._holdings.send(key, HandOver(((key, self.state.keys[key].copy()),)), None)
        else:
            self._take_up(lambda place: is_between(place, start, before))

    def _take_up(self, is_new: Callable[[int], bool]) -> None:
        """This peer is responsible for more places: what was kept there for another one counts, and is passed on."""
        cause = self._post.begin(None)
        new = [key for key in self.state.keys if is_new(identify(key))]
        for key in new:
            self._holdings.extend(key, self.state.keys[key], self.state.keys[key].everything(), cause)
        for peer in self._holdings.replicas:
            self._holdings.copy_to(peer, new)
        self._holdings.split_again(new)
        self._post.conclude(cause)

    def _take_over(self, body: HandOver, cause: CauseKey) -> None:
        for home in body.homes:
            self.state.homes[home.name] = home
            self._post.resume(self._now, only_given_up=True)
        own = [key for key, _ in body.keys if self.view.owns(identify(key))]
        for key, told in body.keys:
            self._holdings.note(key)
            state = self.state.keys.get(key)
            if state is None:
                self.state.keys[key] = told.copy()
                continue
            found = KeyUnion(state, told).found()
            if key in own:
                self._holdings.extend(key, state, found, cause)
                self._holdings.tell_content(state, state.documents, cause)
        for peer in self._holdings.replicas:
            self._holdings.copy_to(peer, own, cause)
        self._holdings.split_again(own)
        self._send_homes_on()

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
                self._holdings.replicas = ()
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

    def hand_over(self, now: float) -> Outbox:
        """This peer goes: the next one gets all that it is responsible for, a key at a time."""
        self._now = now
        for key in [key for key in self.state.keys if self.view.owns(identify(key))]:
            for peer in self.view.successors[:1]:
                self._holdings.copy_to(peer, [key])
        return self._sent()

    @property
    def is_handing_over(self) -> bool:
        """Whether another peer has not answered yet to what it was handed."""
        return any(isinstance(kept.parcel.body, HandOver) for kept in self.state.post.kept.values())

    def adopt(self, left: PeerState, now: float) -> Outbox:
        """A peer has left, and this one goes on with what it has: keys, clients, and what it has not sent yet."""
        self._now = now
        cause = self._post.begin(None)
        self._take_over(HandOver(tuple(left.keys.items()), tuple(left.homes.values())), cause)
        self._post.conclude(cause)
        for key, kept_there in left.keys.items():
            place = identify(key)
            if left.view.owns(place) and not self.view.owns(place):
                self._holdings.send(key, HandOver(((key, kept_there.copy()),)), None)
        for kept in left.post.kept.values():
            if kept.parcel.peer is None and not isinstance(kept.parcel.body, FindSuccessor):
                self._post.send(kept.parcel.place, kept.parcel.key, kept.parcel.body, None, now)
        return self._sent()
