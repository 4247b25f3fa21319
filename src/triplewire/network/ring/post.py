"""The post of a peer: `send` and `multiSend` to places on the circle, and what comes of what was sent (section 2).

A parcel goes from peer to peer towards its place, and each passes on together what goes the same way next. Any of these
hops may fail, so the sender keeps a parcel until the peer that is responsible has answered, and sends it again. That
peer answers when everything that the parcel has led to has been answered in turn (Dijkstra and Scholten 1980): so
the first sender knows when all that follows from a change of a document has arrived everywhere.

A peer that has answered is known: what goes to the same place later goes there in one hop, the paper's query chain
routing table (QCRT). If another peer has become responsible since, the parcel goes on from there as any other.

Invariant: a parcel is kept until it is answered, and it is answered when all that it led to is kept elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from triplewire.network.ring.messages import MAINTENANCE, ChangeSettled, ExtendMatching, Notification
from triplewire.network.ring.views import RingView

RETRY = 2.0
"""Seconds after which a parcel is sent again that was not answered."""

MOST_TRIES = 20
"""How often; then it waits until the network has changed."""

_MOST_HOPS = 512
_REMEMBERED = 1024
"""How many answers are remembered: one that was lost is given again."""

_LEARNT = (ExtendMatching, Notification, ChangeSettled)
"""What goes over learnt links."""

CauseKey = tuple[str, int]
Touched = frozenset[tuple[str, str]]
"""Subscriptions that have got something: the peer of the subscriber, and the id."""


class Parcel(NamedTuple):
    """Something for the peer that is responsible for a place, or for the `peer` of that name.

    `is_final`: the one who sent it on takes the receiver for that peer. `seal` is what its sender has signed, and the
    signature, where peers are strangers; the post passes it on as it is.
    """

    sender: str
    number: int
    place: int
    key: str
    body: Any
    peer: str | None = None
    is_final: bool = False
    hops: int = 0
    seal: tuple[str, str] | None = None


class Parcels(NamedTuple):
    """Parcels that go the same way next, all of one kind; `load` is what the peer that sends this has done lately."""

    kind: str
    parcels: tuple[Parcel, ...]
    load: float = 0.0


@dataclass(frozen=True, slots=True)
class Receipts:
    """Parcels that were answered, with the subscriptions that have got something because of them."""

    kind: ClassVar[str] = "receipt"
    answered: tuple[tuple[int, Touched], ...]
    load: float = 0.0


RingFrame = Parcels | Receipts


@dataclass(slots=True)
class KeptParcel:
    """A parcel that is not answered yet: what it is there for, the peer it went to first, when, and how often."""

    parcel: Parcel
    cause: CauseKey | None
    hop: str = ""
    sent: float = 0.0
    tries: int = 0


@dataclass(slots=True)
class PostedCause:
    """Something that was asked of this peer, and what it has led to that is not answered yet.

    `about` is what a client has done; without it, the peer that asked is answered. `here` counts what is still to
    be done in this step.
    """

    waits_for: set[int] = field(default_factory=set)
    touched: set[tuple[str, str]] = field(default_factory=set)
    about: Any = None
    here: int = 0


@dataclass(slots=True)
class PostState:
    """What the post of a peer must not lose."""

    kept: dict[int, KeptParcel] = field(default_factory=dict)
    causes: dict[CauseKey, PostedCause] = field(default_factory=dict)
    newest: int = 0
    noted: set[int | CauseKey] | None = None
    """The parcels and causes that may have changed since this was written; None: nobody writes it."""

    def note(self, each: int | CauseKey) -> None:
        """A parcel, or a cause, may be new, other or gone."""
        if self.noted is not None:
            self.noted.add(each)


class Post:
    """The post of one peer. `take` is what it does with what is for it."""

    def __init__(
        self,
        name: str,
        state: PostState,
        view: RingView,
        take: Callable[[Parcel, CauseKey], None],
        settle: Callable[[PostedCause], None],
        *,
        is_grouped: bool = True,
        learns: bool = True,
    ) -> None:
        self.name, self.state, self.view = name, state, view
        self._take, self._settle, self._is_grouped, self._learns = take, settle, is_grouped, learns
        self._links: dict[int, str] = {}
        self._answered: dict[CauseKey, Touched] = {}
        self._by_hop: dict[str, dict[int, KeptParcel]] = {}
        self._parcels: dict[tuple[str, str], list[Parcel]] = {}
        self._receipts: dict[str, list[tuple[int, Touched]]] = {}
        self._local: deque[tuple[Parcel, CauseKey]] = deque()
        self._is_busy = False
        for number, kept in state.kept.items():
            self._by_hop.setdefault(kept.hop, {})[number] = kept

    # -- sending

    def begin(self, about: Any) -> CauseKey:
        """A client does something."""
        self.state.newest += 1
        key = self.name, self.state.newest
        self.state.causes[key] = PostedCause(about=about)
        self.state.note(key)
        return key

    def send(self, place: int, key: str, body: Any, cause: CauseKey | None, now: float, *, via: str = "") -> None:
        """The paper's send: to the peer that is responsible for a place; `via` another one, if this knows none."""
        if not via and self.view.owns(place):
            self._do_here(Parcel(self.name, 0, place, key, body), cause or self.begin(None))
            return
        self._keep(Parcel(self.name, 0, place, key, body), cause, now, via)

    def send_to(self, peer: str, body: Any, cause: CauseKey | None, now: float) -> None:
        """To a peer, in one hop."""
        if peer != self.name:
            self._keep(Parcel(self.name, 0, 0, "", body, peer), cause, now, peer)

    def _keep(self, parcel: Parcel, cause: CauseKey | None, now: float, via: str) -> None:
        self.state.newest += 1
        number = self.state.newest
        kept = KeptParcel(_numbered(parcel, number), cause)
        self.state.kept[number] = kept
        self.state.note(number)
        if cause is not None:
            self.state.causes[cause].waits_for.add(number)
        self._dispatch(kept, now, via)

    def _dispatch(self, kept: KeptParcel, now: float, via: str = "") -> None:
        parcel, is_final = kept.parcel, False
        hop = via or parcel.peer or ""
        if not hop and self._learns and isinstance(parcel.body, _LEARNT):
            hop = self._links.get(parcel.place, "")
        if not hop:
            hop, is_final = self.view.hop(parcel.place)
        self._by_hop.get(kept.hop, {}).pop(parcel.number, None)
        kept.hop, kept.sent, kept.tries = hop, now, kept.tries + 1
        self._by_hop.setdefault(hop, {})[parcel.number] = kept
        self._pass_on(hop, parcel, is_final=is_final)

    def _pass_on(self, hop: str, parcel: Parcel, *, is_final: bool) -> None:
        sender, number, place, key, body, peer, _, hops, seal = parcel
        sent = Parcel(sender, number, place, key, body, peer, is_final, hops + 1, seal)
        self._parcels.setdefault((hop, body.kind), []).append(sent)

    def frames(self, load: float) -> list[tuple[str, RingFrame]]:
        """What a step has led to; parcels of a kind that go the same way are one message (multiSend)."""
        found: list[tuple[str, RingFrame]] = []
        for (hop, kind), parcels in self._parcels.items():
            groups = [parcels] if self._is_grouped else [[parcel] for parcel in parcels]
            found += [(hop, Parcels(kind, tuple(group), load)) for group in groups]
        found += [(peer, Receipts(tuple(answered), load)) for peer, answered in self._receipts.items()]
        self._parcels, self._receipts = {}, {}
        return found

    @property
    def awaited(self) -> Iterable[str]:
        """The peers that parcels went to first that are not answered."""
        return [hop for hop, kept in self._by_hop.items() if kept]

    # -- what arrives

    def arrive(self, parcel: Parcel, now: float) -> bool:
        """A parcel is for this peer, or goes on; False: it should be for this one, and this one does not know."""
        if parcel.peer is not None:
            if parcel.peer == self.name:
                self._accept(parcel)
        elif self.view.owns(parcel.place):
            self._accept(parcel)
        elif parcel.hops < _MOST_HOPS and self.view.successors:
            if parcel.is_final:  # the one before has taken this one for its successor: the right one is between them
                if self.view.predecessor is None:
                    return False
                self._pass_on(self.view.predecessor, parcel, is_final=True)
            else:
                hop, is_final = self.view.hop(parcel.place)
                self._pass_on(hop, parcel, is_final=is_final)
        return True

    def _accept(self, parcel: Parcel) -> None:
        key = parcel.sender, parcel.number
        if parcel.sender == self.name:  # it has come around
            kept = self.state.kept.get(parcel.number)
            if kept is not None:
                self._do_here(_numbered(parcel, 0), self._relayed(kept))
            return
        if key in self.state.causes:
            return  # it is being worked on
        if key in self._answered:
            self._receipts.setdefault(parcel.sender, []).append((parcel.number, self._answered[key]))
            return
        self.state.causes[key] = PostedCause()
        self.state.note(key)
        self._do_here(parcel, key)

    def _do_here(self, parcel: Parcel, cause: CauseKey) -> None:
        self.state.causes[cause].here += 1
        self._local.append((parcel, cause))

    def hold(self, parcel: Parcel, cause: CauseKey) -> None:
        """A parcel is for what is not here now: it is not answered, and will be sent again."""
        if parcel.number:
            del self.state.causes[cause]
            self.state.note(cause)
            return
        self.state.newest += 1
        number = self.state.newest
        self.state.note(number)
        self.state.kept[number] = KeptParcel(_numbered(parcel, number), cause, tries=MOST_TRIES)
        self.state.causes[cause].waits_for.add(number)

    def touch(self, cause: CauseKey, subscriptions: Iterable[tuple[str, str]]) -> None:
        """Subscriptions have got something."""
        self.state.causes[cause].touched.update(subscriptions)
        self.state.note(cause)

    def conclude(self, cause: CauseKey) -> None:
        """Nothing more is caused by this than there is already."""
        self._finish(cause)

    def work(self) -> None:
        """Do what there is to do here; what that leads to here as well, until nothing is left."""
        if self._is_busy:
            return
        self._is_busy = True
        while self._local:
            parcel, cause = self._local.popleft()
            self._take(parcel, cause)
            if cause in self.state.causes:
                self.state.causes[cause].here -= 1
                self._finish(cause)
        self._is_busy = False

    def receipt(self, peer: str, number: int, touched: Touched) -> None:
        """A parcel was answered."""
        kept = self.state.kept.get(number)
        if kept is None or kept.parcel.peer not in (None, peer):  # what is for one peer is answered by that one
            return
        del self.state.kept[number]
        self.state.note(number)
        self._by_hop.get(kept.hop, {}).pop(number, None)
        if kept.parcel.peer is None:
            self._links[kept.parcel.place] = peer
        self._release(kept, touched)

    def _release(self, kept: KeptParcel, touched: Touched = frozenset()) -> None:
        if kept.cause is not None and (cause := self.state.causes.get(kept.cause)) is not None:
            cause.waits_for.discard(kept.parcel.number)
            if not cause.touched.issuperset(touched):
                cause.touched.update(touched)
                self.state.note(kept.cause)
            self._finish(kept.cause)

    def _finish(self, key: CauseKey) -> None:
        """Answer, if all that something has led to is answered."""
        cause = self.state.causes.get(key)
        if cause is None or cause.waits_for or cause.here:
            return
        del self.state.causes[key]
        self.state.note(key)
        sender, number = key
        if sender != self.name:
            touched = self._answered[key] = frozenset(cause.touched)
            if len(self._answered) > _REMEMBERED:
                del self._answered[next(iter(self._answered))]
            self._receipts.setdefault(sender, []).append((number, touched))
        else:
            self._settle(cause)

    # -- time, and peers that do not answer

    def due(self, hop: str) -> float | None:
        """When something that went to a peer first should be sent again."""
        waiting = self._by_hop.get(hop)
        first = next((kept for kept in waiting.values() if kept.tries < MOST_TRIES), None) if waiting else None
        return None if first is None else first.sent + RETRY

    def again(self, hop: str, now: float) -> None:
        """Send again what went to a peer first, and was not answered in time."""
        for kept in [*self._by_hop.get(hop, {}).values()]:
            if kept.sent + RETRY > now:
                break
            if kept.tries < MOST_TRIES:
                self._links.pop(kept.parcel.place, None)
                self._redirect(kept, now)

    def lose(self, peer: str, now: float) -> None:
        """A peer does not answer: what is for it alone is dropped, all else takes another way."""
        self._links = {place: name for place, name in self._links.items() if name != peer}
        for number, kept in [*self._by_hop.pop(peer, {}).items()]:
            if kept.parcel.peer is not None and isinstance(kept.parcel.body, MAINTENANCE):
                del self.state.kept[number]
                self.state.note(number)
                self._release(kept)
            else:
                self._redirect(kept, now)

    def _redirect(self, kept: KeptParcel, now: float) -> None:
        """Send a parcel again, by the way that is right now."""
        if kept.parcel.peer is not None:
            self._dispatch(kept, now)
        elif self.view.owns(kept.parcel.place):
            self._do_here(_numbered(kept.parcel, 0), self._relayed(kept))
        elif kept.tries < MOST_TRIES:
            self._dispatch(kept, now)
        else:
            kept.hop = ""

    def _relayed(self, kept: KeptParcel) -> CauseKey:
        """This peer has become responsible for what it has sent itself."""
        del self.state.kept[kept.parcel.number]
        self.state.note(kept.parcel.number)
        self._by_hop.get(kept.hop, {}).pop(kept.parcel.number, None)
        if kept.cause is None or kept.cause not in self.state.causes:
            return self.begin(None)
        self.state.causes[kept.cause].waits_for.discard(kept.parcel.number)
        return kept.cause

    def resume(self, now: float, *, only_given_up: bool = False) -> None:
        """The network has changed: try again what waits, or only what was given up."""
        for kept in [*self.state.kept.values()]:
            if only_given_up and kept.tries < MOST_TRIES:
                continue
            kept.tries = 0
            self._redirect(kept, now)


def _numbered(parcel: Parcel, number: int) -> Parcel:
    return Parcel(parcel.sender, number, parcel.place, parcel.key, parcel.body, parcel.peer)
