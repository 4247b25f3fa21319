"""Whom a document concerns: neighbours by their interests, clients by their subscriptions, in one match.

Each neighbour is one bit, so that what a document has reached is a vector, as in the brokering paper (section 5.2). An
interest that several neighbours have is kept once, with the vector of them. Looking at matches ends when every bit is
there: a neighbour that is reached is not matched again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count

from triplewire.algebra.pattern import Pattern
from triplewire.matching import Index
from triplewire.model import Term
from triplewire.network.routing.interests import Interest
from triplewire.network.routing.messages import DocumentSent
from triplewire.network.routing.reaches import NETWORK
from triplewire.network.routing.subscriptions import ClientSubscription, Key

Rows = dict[str, list[dict[str, Term]]]
"""By the id of a subscription, what a document gives it."""


class WatchIndex:
    """The interests of neighbours and the subscriptions of clients; `bit` says which one a neighbour has.

    Without `short_cut` every match is looked at, which is for comparison only.
    """

    def __init__(self, bit: Callable[[str], int], *, short_cut: bool = True) -> None:
        self._bit, self._short_cut = bit, short_cut
        self._index: Index | None = None  # most hubs of a large network never need one
        self._names = count()
        self._interests: dict[Interest, str] = {}
        self._since: dict[str, dict[str, float]] = {}
        self._reaches: dict[str, int] = {}
        self._vectors: dict[int, int] = {}
        self._own: dict[str, str] = {}
        self._own_names: dict[str, str] = {}
        self._holders: dict[Key, dict[str, None]] = {}  # by document, the subscriptions that it gives rows to
        self._peers: dict[int, str] = {}
        self._youngest = float("-inf")
        self._shortest = NETWORK

    # -- interests and subscriptions

    def watch(self, peer: str, interest: Interest, since: float) -> None:
        """A neighbour has an interest, since a time."""
        name = self._interests.get(interest)
        if name is None:
            name = self._interests[interest] = self._added(interest.pattern)
            self._since[name], self._reaches[name] = {}, interest.reach
        self._peers[self._bit(peer)] = peer
        self._since[name][peer] = since
        self._youngest = max(self._youngest, since)
        self._shortest = min(self._shortest, interest.reach)
        self._point(name)

    def unwatch(self, peer: str, interest: Interest) -> None:
        """A neighbour has an interest no longer."""
        name = self._interests[interest]
        del self._since[name][peer]
        self._point(name)
        if not self._since[name]:
            del self._interests[interest], self._since[name], self._reaches[name]
            self._removed(name)

    def _point(self, name: str) -> None:
        assert self._index is not None, "something was added"
        self._vectors[self._index.number(name)] = sum(self._bit(peer) for peer in self._since[name])

    def watch_own(self, subscription: ClientSubscription) -> None:
        """A client subscribes."""
        if subscription.id not in self._own_names:
            name = self._added(subscription.pattern)
            self._own_names[subscription.id], self._own[name] = name, subscription.id
            for key in subscription.given:
                self._holders.setdefault(key, {})[subscription.id] = None

    def unwatch_own(self, subscription: ClientSubscription) -> None:
        """A client's subscription ends."""
        name = self._own_names.pop(subscription.id)
        del self._own[name]
        self._removed(name)
        for key in subscription.given:
            self._let_go(key, subscription.id)

    def note(self, subscription: ClientSubscription, key: Key) -> None:
        """A subscription was told of a document, which gives it rows now, or none any more."""
        if key in subscription.given:
            self._holders.setdefault(key, {})[subscription.id] = None
        elif subscription.id in self._holders.get(key, ()):
            self._let_go(key, subscription.id)

    def _let_go(self, key: Key, id: str) -> None:
        del self._holders[key][id]
        if not self._holders[key]:
            del self._holders[key]

    def holders(self, key: Key) -> Collection[str]:
        """The ids of the subscriptions that a document gives rows to, found without a look at the others."""
        return self._holders.get(key, {}).keys()

    def _added(self, pattern: Pattern) -> str:
        if self._index is None:
            self._index = Index()
        name = str(next(self._names))
        self._index.add(name, pattern)
        return name

    def _removed(self, name: str) -> None:
        assert self._index is not None, "something was added"
        self._vectors.pop(self._index.number(name), None)
        self._index.remove(name)

    # -- documents

    def found(self, told: DocumentSent, came: str, distance: int) -> tuple[set[str], Rows]:
        """The neighbours that want a version of a document, and the rows that it gives to subscriptions.

        `distance` is how far an interest must reach to want it. The neighbour that it came from is not looked for.
        """
        if told.document is None or self._index is None:
            return set(), {}
        matches = self._index.match(told.document)
        own = [match for match in matches if match.subscription in self._own] if self._own else []
        rows = {self._own[match.subscription]: match.rows for match in own}
        if self._short_cut and told.time > self._youngest and distance <= self._shortest:
            reached = matches.reached(self._vectors, sum(bit for bit, peer in self._peers.items() if peer != came))
            return {peer for bit, peer in self._peers.items() if reached & bit}, rows
        wanted = [self._since[name] for name in matches.subscriptions if self._reaches.get(name, -1) >= distance]
        return {peer for times in wanted for peer, since in times.items() if told.time > since}, rows
