"""All that a peer keeps under keys: what messages do to it, what results go on to, and keys that are hot (S2 to S5).

What is kept is changed by the messages for a key, and by nothing else; those who stand in for the peer get the same
messages. Results go on to the key of the next subquery, or, if there is none, to the peer that asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from triplewire.network.ring.identifiers import identify
from triplewire.network.ring.keys import Found, HomeWatch, KeyState
from triplewire.network.ring.loads import PeerLoads
from triplewire.network.ring.members import next_member
from triplewire.network.ring.messages import (
    Answer,
    ContentTold,
    EndQuery,
    ExtendMatching,
    Extension,
    HandOver,
    IndexQuery,
    IndexTriple,
    Kept,
    Member,
    Notification,
    Replicate,
    SplitKey,
    SplitTold,
    WatchContent,
)
from triplewire.network.ring.post import CauseKey, Parcel, Post
from triplewire.network.ring.queries import NextStep, NextSteps, RingQuery
from triplewire.network.ring.settings import RingSettings
from triplewire.network.ring.splits import DEEPEST, KeySplit, base_of, depth, share_key
from triplewire.network.ring.statements import KeyStatement, Origin
from triplewire.network.ring.views import RingView

_MANY_TRIPLES = 1 << 40
"""As good as any number: a key that is split is hot."""

_KNOWN_SPLITS = 4096
"""So many keys of others are known to be split."""


@dataclass(frozen=True, slots=True)
class SplittingKey:
    """What a peer has caused that splits a key."""

    key: str


class Holdings:
    """What one peer keeps under keys; `work` is told of the work that this is, in the paper's unit (section 6).

    The peer says what time it is (`now`), and who stands in for it (`replicas`).
    """

    def __init__(
        self,
        keys: dict[str, KeyState],
        post: Post,
        view: RingView,
        settings: RingSettings,
        work: Callable[[int], None],
    ) -> None:
        self.keys, self.post, self.loads = keys, post, PeerLoads()
        self._view, self._settings, self._work = view, settings, work
        self.now = 0.0
        self.replicas: tuple[str, ...] = ()
        self._known_splits: dict[str, None] = {}
        self.noted: dict[str, list[Kept] | None] | None = None
        """What has happened to keys since they were written, in order; of a key, None: more than messages.

        Itself None: nobody writes it.
        """

    def note(self, key: str, body: Kept | None = None) -> None:
        """A message has changed what is kept under a key, or something else has."""
        if self.noted is None:
            return
        known = self.noted.setdefault(key, [])
        if body is None:
            self.noted[key] = None
        elif known is not None:
            known.append(body)

    def count(self, key: str) -> int:
        """How many documents state triples of a key, as far as this peer knows."""
        state = self.keys.get(key)
        if state is None:
            return 0
        return _MANY_TRIPLES if state.is_split else len(state.documents)

    def learn_split(self, key: str) -> None:
        """Another peer says that a key of it is split."""
        self._known_splits[key] = None
        if len(self._known_splits) > _KNOWN_SPLITS:
            del self._known_splits[next(iter(self._known_splits))]

    def send(self, key: str, body: Kept | HandOver, cause: CauseKey | None) -> None:
        """Send what is for a key; where that is known to be split, to its shares."""
        if key in self._known_splits and not isinstance(body, HandOver):
            self._send_to_shares(key, body, cause)
        else:
            self.post.send(identify(key), key, body, cause, self.now)

    def _send_to_shares(self, key: str, body: Kept, cause: CauseKey | None) -> None:
        for share, part in KeySplit(key, self._settings.algorithm).shared(body):
            self.send(share, part, cause)

    # -- what is kept under a key

    def kept_under(self, key: str) -> KeyState:
        """What is kept under a key, perhaps nothing yet."""
        state = self.keys.get(key)
        if state is None:
            state = self.keys[key] = KeyState(is_by_document=self._settings.scope == "document")
        return state

    def keep(self, parcel: Parcel, cause: CauseKey) -> None:
        """A message for a key that this peer is responsible for."""
        key, body = parcel.key, parcel.body
        state = self.kept_under(key)
        work = work_of(body, state)
        divided = self._divided(key, body, work)
        if not state.is_split and self._is_hot(key, state, divided):
            self._split(key, state)
        if state.is_split:
            self._share_out(parcel, state, cause)
            return
        self._work(work)
        self.loads.own.add(work, self.now)
        state.work.add(divided, self.now)
        self.extend(key, state, self._changed(state, key, body, cause), cause)
        self._replicate(key, body, cause)

    def copy(self, key: str, body: Kept, cause: CauseKey) -> None:
        """A message for a key that this peer stands in for; the shares of one that is split have it.

        If it has become responsible meanwhile, what the message makes together with what is here is for it to pass on.
        """
        state = self.kept_under(key)
        is_own = self._view.owns(identify(key))
        if is_own and state.is_split:
            self._send_to_shares(key, body, cause)
        elif is_own:
            self.extend(key, state, self._changed(state, key, body, cause), cause)
        elif not state.is_settled:
            self._changed(state, key, body, None)

    def _changed(self, state: KeyState, key: str, body: Kept, cause: CauseKey | None) -> list[Found]:
        """What a message does to what is kept under a key, and the results that this makes.

        Without a cause it is not this peer that is responsible.
        """
        self.note(key, body)
        match body:
            case IndexTriple(origin, statement):
                self.tell_content(state, {origin: statement}, cause)
            case EndQuery(query_key):
                self._end(key, state, query_key, cause)
                return []
        found = changed(state, body)
        if isinstance(body, WatchContent) and body.is_wanted:
            self.tell_content(state, state.documents, cause, [body.home])
        return found

    def tell_content(
        self,
        state: KeyState,
        said: Mapping[Origin, KeyStatement],
        cause: CauseKey | None,
        homes: Iterable[str] | None = None,
    ) -> None:
        """Tell what documents state of a resource to those that watch it, or to some of them."""
        if cause is not None and said:
            watchers = state.watchers
            for home in [*watchers] if homes is None else watchers.keys() & {*homes}:
                told = ContentTold(home, watchers[home], tuple(said.items()))
                self.post.send(identify(home), "", told, cause, self.now)

    def _end(self, key: str, state: KeyState, query: str, cause: CauseKey | None) -> None:
        """A query ends here, and where its results went on to."""
        where = set()
        for group, members in state.end(query):
            for asked, path in members:
                if len(path) < len(asked.triples):
                    for _, wider in state.ever_met(group):
                        number, step = NextSteps(wider, base_of(key)).after(asked, path)
                        if (number, step.key) not in indexed_keys(asked):  # there the home says it
                            where.add(step.key)
        if cause is not None:
            for after in sorted(where):
                self.send(after, EndQuery(query), cause)

    def extend(self, key: str, state: KeyState, found: Iterable[Found], cause: CauseKey) -> None:
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
                    waiting.setdefault(id(step), (step, []))[1].append(next_member(query, path, number))
            for step, some in waiting.values():
                onward.setdefault(step.key, []).append(Extension(step.pattern, binding, support, tuple(some)))
            for home, queries in satisfied.items():
                answers.setdefault(home, []).append(Answer(binding, support, tuple(queries)))
        for after, extensions in onward.items():
            for each in self._grouped(extensions):
                self.send(after, ExtendMatching(each), cause)
        for home, told in answers.items():
            self.post.send(identify(home), "", Notification(home, tuple(told)), cause, self.now)

    def _grouped(self, extensions: list[Extension]) -> list[tuple[Extension, ...]]:
        """Intermediate results for one place are one message (section 4), if that is not switched off."""
        if self._settings.is_grouped:
            return [tuple(extensions)]
        return [
            (Extension(each.pattern, each.binding, each.support, (member,)),)
            for each in extensions
            for member in each.members
        ]

    # -- keys that are hot

    def _divided(self, key: str, body: Kept, work: int) -> int:
        """How much of some work would be shared out if the key was split."""
        if self._settings.hot is None or not KeySplit(key, self._settings.algorithm).divides(body):
            return 0
        return work

    def _is_hot(self, key: str, state: KeyState, amount: int) -> bool:
        hot = self._settings.hot
        if hot is None or not amount or depth(key) >= DEEPEST:
            return False
        return self.loads.is_too_much(hot, state.work, amount, self.now)

    def _split(self, key: str, state: KeyState) -> None:
        """A key is kept in shares from now on, and what is kept under it goes there.

        Until the shares have everything, and those that stand in for this peer know of it, it is kept here as well, so
        that another peer can do this again; and nobody else sends to the shares, so that none is missed.
        """
        state.is_split, state.is_settled = True, False
        self.note(key)
        cause = self.post.begin(SplittingKey(key))
        for number, share in state.divided(KeySplit(key, self._settings.algorithm)).items():
            name = share_key(key, number)
            self.send(name, HandOver(((name, share),)), cause)
        self._replicate(key, SplitKey(), cause)
        self.post.conclude(cause)

    def _replicate(self, key: str, body: Kept | SplitKey, cause: CauseKey | None) -> None:
        for peer in self.replicas:
            self.post.send_to(peer, Replicate(key, body), cause, self.now)

    def end_split(self, key: str) -> None:
        """The shares of a key have what was kept under it, unless more has come meanwhile."""
        state = self.keys.get(key)
        if state is None or any(each.about == SplittingKey(key) for each in self.post.state.causes.values()):
            return
        if self._view.owns(identify(key)):
            state.clear()
            state.is_settled = True
            self.note(key)
            self._replicate(key, SplitKey(is_settled=True), None)

    def copy_split(self, key: str, *, is_settled: bool) -> None:
        """A peer that is responsible for a key says that it is split.

        If this one is, too, what is kept here may be kept nowhere else: it goes to the shares.
        """
        state = self.kept_under(key)
        if self._view.owns(identify(key)):
            if not state.is_split:
                self._split(key, state)
            return
        state.is_split, state.is_settled = True, is_settled
        self.note(key)
        if is_settled:
            state.clear()

    def _share_out(self, parcel: Parcel, state: KeyState, cause: CauseKey) -> None:
        """What is for a key that is split goes to its shares; the sender is told, and sends it there next time.

        As long as those who stand in for this peer may not know of the split, they keep it, too: for them the key may
        be whole.
        """
        self._send_to_shares(parcel.key, parcel.body, cause)
        if state.is_settled:
            self.post.send_to(parcel.sender, SplitTold(parcel.key), None, self.now)
        else:
            self._replicate(parcel.key, parcel.body, cause)

    def split_again(self, keys: Iterable[str]) -> None:
        """What another peer has kept under keys that are split goes to their shares."""
        for key in keys:
            state = self.keys[key]
            if state.is_split and not state.is_settled:
                self._split(key, state)

    def copy_to(self, peer: str, keys: Iterable[str], cause: CauseKey | None = None) -> None:
        """Another peer is to stand in for this one."""
        copies = tuple((key, self.keys[key].copy()) for key in keys)
        if copies:
            self.post.send_to(peer, HandOver(copies), cause, self.now)


def changed(state: KeyState, body: Kept) -> list[Found]:
    """What a message does to what is kept under a key, and the results that this makes."""
    match body:
        case IndexQuery(query, number):
            return _wait(state, _first(query, number))
        case IndexTriple(origin, statement, gone):
            changes = state.state(origin, statement, gone)
            return [found for change in changes for found in state.met_by(*change)]
        case ExtendMatching(extensions):
            return [found for each in extensions for found in _wait(state, (each,))]
        case EndQuery(query_key):
            state.end(query_key)
        case WatchContent(home, resource, is_wanted, at):
            state.watch(home, HomeWatch(at, resource, is_wanted))
    return []


def _wait(state: KeyState, extensions: Iterable[Extension]) -> list[Found]:
    news = [found for each in extensions if (found := state.wait(each)) is not None]
    return [found for each in news for found in state.met_with(*each)]


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


def indexed_keys(query: RingQuery) -> list[tuple[int, str]]:
    """The subqueries that a query is indexed by, with their keys: all of a chain, as far as they have a constant."""
    keys = [(number, query.key_of(number, query.triples[number])) for number in query.chain or (query.first,)]
    return [(number, key) for number, key in keys if key is not None]


def _first(query: RingQuery, number: int) -> tuple[Extension, ...]:
    """What waits when a query is indexed: its first subquery. Others of a chain wait with what was found before."""
    if number != query.first:
        return ()
    return (Extension(query.triples[number], (), {}, ((query, (number,)),)),)
