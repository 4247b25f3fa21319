"""Queries over what is stored: they climb until there are enough answers (N3).

A broker looks among what was published and advertised at it, and asks its controller for what is still wanted. A
controller asks its sub-units, but not the one that the query came from, and only those that have advertised something
for it (what was published and is gone is advertised no longer: for that, all are asked); then the unit above, as far as
the query's reach goes. With a limit they are asked one after the other, each for what is still wanted; without one all
together. A unit that is silent is passed over, and named in the answer. Each hub on the way keeps the answers that it
has given (`answers`), and need not ask again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY
from triplewire.matching import Index
from triplewire.model import Access
from triplewire.model.access import EVERYBODY
from triplewire.network.hierarchy.answers import (
    AnswerCache,
    AnswerKey,
    AnswersGone,
    FoundAdvertisement,
    FoundDocuments,
    FoundItem,
    KeptAnswer,
    QueryAnswered,
    QueryAsked,
    Sought,
    StoredPublication,
    UnitTold,
    told_of,
)
from triplewire.network.link import Timing
from triplewire.network.node import Outbox
from triplewire.network.routing import Advertisement, RoutesTold, RoutingHub, RoutingState, Topology
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.items import ItemIndex
from triplewire.network.routing.messages import DocumentSent
from triplewire.network.routing.moves import MovingHub, MovingState

_CLIENT = "client "
_MOST_PUBLICATIONS = 10_000
"""So many versions that were published at a broker are remembered; then the oldest one is forgotten."""


@dataclass(slots=True)
class QueryTask:
    """A query at a hub: where it came from, what was found so far, and which neighbours are asked, now and next.

    `parts` has the answers of neighbours so far, and where these keep them; `is_kept` is False when one of them is not
    kept, or something has changed meanwhile.
    """

    asked: QueryAsked
    came: str
    distance: int
    found: dict[tuple[Any, ...], FoundItem] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    parts: set[tuple[str, str]] = field(default_factory=set)
    is_kept: bool = True

    @property
    def wanted(self) -> int | None:
        """How many answers are still wanted."""
        return None if self.asked.wanted is None else self.asked.wanted - len(self.found)

    @property
    def key(self) -> AnswerKey:
        """Who asks what."""
        asked = self.asked
        return AnswerKey(
            self.came, self.distance, asked.account, asked.pattern, asked.reach, asked.wanted, asked.sought
        )

    def take(self, found: Iterable[FoundItem], silent: tuple[str, ...] = ()) -> None:
        """Something is found: each counts once, and not more than are wanted; then no more is looked for."""
        if self.wanted != 0:
            for item in found:
                self.found.setdefault(_identity(item, self.asked.sought), item)
                if self.wanted == 0:
                    break
        self.silent.extend(unit for unit in silent if unit not in self.silent)


def _identity(item: FoundItem, sought: Sought) -> tuple[Any, ...]:
    """What tells one answer from another."""
    if isinstance(item, FoundAdvertisement):
        return item.origin, item.id
    return (item.origin, item.uri) if sought == "documents" else (item.origin, item.uri, item.version)


def _could_answer(version: DocumentSent, key: AnswerKey) -> bool:
    """Whether a version matches what somebody asked who is near enough for it; others must not notice that it came."""
    document = version.document
    return document is not None and version.reach >= key.distance and bool(key.pattern.rows_in(document, EMPTY))


@dataclass(slots=True)
class QueryBook:
    """The queries that a hub works on, those that are done, the answers that it keeps, and what it looks in.

    `publications` has the versions of documents that were published here, those that are past among them, and `lists`
    by their ids the advertisements that not everybody may find.
    """

    queries: dict[str, QueryTask] = field(default_factory=dict)
    answers: dict[str, QueryTask] = field(default_factory=dict)
    cache: AnswerCache = field(default_factory=AnswerCache)
    lists: dict[str, Access] = field(default_factory=dict)
    publications: deque[DocumentSent] = field(default_factory=lambda: deque(maxlen=_MOST_PUBLICATIONS))


class QueryingHub(RoutingHub):
    """A hub of a hierarchy, which also answers queries; `book` has what it knows of them."""

    def __init__(
        self,
        state: RoutingState,
        topology: Topology,
        *,
        timing: Timing | None = None,
        short_cut: bool = True,
        book: QueryBook | None = None,
    ) -> None:
        super().__init__(state, topology, timing=timing, short_cut=short_cut)
        self.book = QueryBook() if book is None else book

    # -- clients

    def find(
        self,
        id: str,
        pattern: Pattern,
        reach: int,
        limit: int | None,
        now: float,
        sought: Sought = "documents",
        account: str = EVERYBODY,
    ) -> Outbox:
        """A client looks for something that its account may read."""
        self._begin_query("", QueryAsked(id, self.name, pattern, reach, limit, sought, account), now)
        return self._sent()

    def advertise(self, id: str, advertisement: Advertisement, now: float, *, access: Access | None = None) -> Outbox:
        """See `RoutingHub.advertise`; with a list, only those whom it names find the advertisement."""
        if self.book.lists.get(id) != access:
            self.book.lists.pop(id, None)
            if access is not None:
                self.book.lists[id] = access
            self._let_go_of(lambda key, parts: key.sought == "advertisements", now)
        return super().advertise(id, advertisement, now)

    def withdraw(self, id: str, now: float) -> Outbox:
        """See `RoutingHub.withdraw`."""
        self.book.lists.pop(id, None)
        return super().withdraw(id, now)

    def found(self, id: str) -> FoundDocuments:
        """What a client's query has found so far."""
        is_done = id in self.book.answers
        task = self.book.answers[id] if is_done else self.book.queries[id]
        found = [*task.found.values()]
        sent = [item for item in found if isinstance(item, DocumentSent)]
        advertised = tuple(item for item in found if isinstance(item, FoundAdvertisement))
        if task.asked.sought == "publications":
            published = tuple(
                StoredPublication(each.uri, each.version, each.time, each.document)
                for each in sent
                if each.document is not None
            )
            return FoundDocuments((), tuple(task.silent), is_done, publications=published)
        documents = tuple(each.document for each in sent if each.document is not None)
        return FoundDocuments(documents, tuple(task.silent), is_done, advertisements=advertised)

    # -- neighbours

    def connect(self, peer: str, now: float) -> Outbox:
        """See `RoutingHub.connect`; a new neighbour may know more."""
        known = peer in self.state.heard_items
        frames = super().connect(peer, now)
        if not known and peer in self.state.heard_items:
            self._let_go_of(lambda key, parts: True, now)
        return [*frames, *self._sent()]

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `RoutingHub.hear`."""
        match body:
            case QueryAsked():
                self._begin_query(peer, body, now)
            case QueryAnswered(id, found, silent, kept):
                task = self.book.queries.get(id)
                if task is not None and peer in task.waiting:
                    task.waiting.remove(peer)
                    task.take(found, silent)
                    task.parts.add((peer, kept))
                    task.is_kept = task.is_kept and bool(kept)
                    self._go_on(task, now)
            case AnswersGone(names):
                gone = {(peer, name) for name in names}
                self._let_go_of(lambda key, parts: not gone.isdisjoint(parts), now)
            case _:
                super().hear(peer, body, now)

    def hear_all(self, peer: str, body: RoutesTold, now: float) -> None:
        """See `RoutingHub.hear_all`; one that begins anew does not know what it has answered."""
        super().hear_all(peer, body, now)
        self._let_go_of(lambda key, parts: True, now)
        for asked in body.queries if isinstance(body, UnitTold) else ():
            self._begin_query(peer, asked, now)

    def all_for(self, peer: str) -> RoutesTold:
        """See `RoutingHub.all_for`; one that begins anew does not know what it was asked."""
        told = super().all_for(peer)
        if peer not in self.state.heard_items:
            return told  # it is no neighbour of the tree
        waiting = [task for task in self.book.queries.values() if peer in task.waiting]
        queries = tuple(replace(task.asked, wanted=task.wanted) for task in waiting)
        return UnitTold(told.advertised, told.interests, told.documents, queries)

    def awaited(self) -> set[str]:
        """The neighbours whose answers queries wait for."""
        return {peer for task in self.book.queries.values() for peer in task.waiting}

    def miss(self, peer: str, now: float) -> Outbox:
        """A neighbour has been silent for long: queries go on without it."""
        for task in [*self.book.queries.values()]:
            if peer in task.waiting:
                task.waiting.remove(peer)
                task.take((), (peer,))
                self._go_on(task, now)
        return self._sent()

    # -- queries

    def _begin_query(self, came: str, asked: QueryAsked, now: float) -> None:
        task = self.book.queries[asked.id] = QueryTask(asked, came, self._topology.distance(asked.asker))
        kept = self.book.cache.find(task.key)
        if kept is not None:
            task.take(kept.found)
            self._answer(task, kept.name, now)
            return
        task.take(self._own_answers(asked, task.distance))
        task.left = [peer for peer in self.state.heard_items if peer != came and self._may_know(peer, asked)]
        self._go_on(task, now)

    def _own_answers(self, asked: QueryAsked, distance: int) -> Iterable[FoundItem]:
        """What is here and matches, the newest first."""
        if asked.sought == "advertisements":
            return [
                FoundAdvertisement(self.name, source.removeprefix(_CLIENT), items)
                for source, items in self.state.advertisements.items()
                if source.startswith(_CLIENT)
                and self._lists(source.removeprefix(_CLIENT), asked.account)
                and distance <= min(asked.reach, max(item.reach for item in items))
                and ItemIndex(items).could_match(asked.pattern)
            ]
        return self._own_documents(asked, distance)

    def _own_documents(self, asked: QueryAsked, distance: int) -> Iterator[DocumentSent]:
        own = (
            [*self.book.publications]
            if asked.sought == "publications"
            else [kept.told for (origin, _), kept in self.state.documents.items() if origin == self.name]
        )
        index = Index()
        index.add("asked", asked.pattern)
        for told in sorted(own, key=lambda told: -told.time):
            is_seen = told.is_for(asked.account) and distance <= min(told.reach, asked.reach)
            if told.document is not None and is_seen and index.match(told.document):
                yield told

    def _lists(self, id: str, account: str) -> bool:
        """Whether an account may find an advertisement."""
        access = self.book.lists.get(id)
        return access is None or access.may_read(account)

    def _may_know(self, peer: str, asked: QueryAsked) -> bool:
        """The unit above may, as far as the query goes; a sub-unit if it has advertised something for it.

        So may one that a controller, which has begun with nothing, has not heard from.
        """
        if self._topology.takes_all(peer):
            return asked.reach >= self._topology.height(peer)
        if asked.sought == "publications" or (self.state.stands_in and self.state.links[peer].has is None):
            return True
        return self.state.heard_items[peer].could_match(asked.pattern, self._topology.distance(asked.asker))

    def _go_on(self, task: QueryTask, now: float) -> None:
        """Ask the next ones, or answer; sub-units come before the unit above, because they are nearer."""
        is_enough = task.wanted == 0
        if not is_enough and not task.waiting and task.left:
            task.left.sort(key=self._topology.takes_all)
            asking = len(task.left) if task.asked.wanted is None else 1
            task.waiting, task.left = task.left[:asking], task.left[asking:]
            for peer in task.waiting:
                self.tell(peer, replace(task.asked, wanted=task.wanted), now)
        elif is_enough or not task.waiting:
            self._answer(task, self._keep(task, now), now)

    def _answer(self, task: QueryTask, kept: str, now: float) -> None:
        del self.book.queries[task.asked.id]
        if task.came:
            answer = QueryAnswered(task.asked.id, tuple(task.found.values()), tuple(task.silent), kept)
            self.tell(task.came, answer, now)
        else:
            self.book.answers[task.asked.id] = task

    # -- answers that are kept

    def _keep(self, task: QueryTask, now: float) -> str:
        """Keep the answer to a query, if it can be; gives its name, else nothing."""
        if not task.is_kept or task.silent:
            return ""
        answer = KeptAnswer(task.asked.id, tuple(task.found.values()), frozenset(task.parts))
        name, gone = self.book.cache.keep(task.key, answer)
        self._tell_gone(gone, now)
        return name

    def _let_go_of(self, is_gone: Callable[[AnswerKey, frozenset[tuple[str, str]]], bool], now: float) -> None:
        """Something has changed that may alter some answers: those that are kept go, and what is found now is not kept.

        `is_gone` is asked with the key of an answer and with its parts.
        """
        for task in self.book.queries.values():
            if is_gone(task.key, frozenset(task.parts)):
                task.is_kept = False
        self._tell_gone(self.book.cache.drop(lambda key, answer: is_gone(key, answer.parts)), now)

    def _tell_gone(self, gone: dict[AnswerKey, KeptAnswer], now: float) -> None:
        for peer, names in told_of(gone.items()).items():
            if peer in self._links:
                self.tell(peer, AnswersGone(names), now)

    def _take(self, came: str, told: DocumentSent, now: float) -> None:
        """See `RoutingHub._take`; what is published here may be an answer, or have been one."""
        if told.origin == self.name and not came:
            kept = self.state.documents.get((told.origin, told.uri))
            versions = [told, *([kept.told] if kept is not None else []), *self._published(told)]
            self._let_go_of(
                lambda key, parts: (
                    key.sought != "advertisements" and any(_could_answer(version, key) for version in versions)
                ),
                now,
            )
        super()._take(came, told, now)

    def _published(self, told: DocumentSent) -> list[DocumentSent]:
        """Remember a version that is published; gives the one that is forgotten for it."""
        publications = self.book.publications
        is_full = len(publications) == publications.maxlen
        forgotten = [publications[0]] if publications and is_full else []
        if told.document is not None:
            publications.append(told)
        return forgotten

    def _set_own(self, source: str, items: frozenset[Advertised]) -> frozenset[Advertised]:
        """See `RoutingHub._set_own`."""
        changed = super()._set_own(source, items)
        if changed and source.startswith(_CLIENT):
            self._advertised_anew = True
        return changed

    def _advertise_on(self, changed: frozenset[Advertised], now: float, came: str = "") -> None:
        """See `RoutingHub._advertise_on`; also answers may be others now.

        Those without a neighbour that had nothing for them, and now has; and those about what is advertised here.
        """
        if came:
            heard = self.state.heard_items[came]
            self._let_go_of(
                lambda key, parts: (
                    key.who != came
                    and all(peer != came for peer, _ in parts)
                    and heard.could_match(key.pattern, key.distance)
                ),
                now,
            )
        elif self._advertised_anew:
            self._advertised_anew = False
            self._let_go_of(lambda key, parts: key.sought == "advertisements", now)
        super()._advertise_on(changed, now, came)

    _advertised_anew = False


@dataclass(slots=True)
class BrokerState(MovingState):
    """What a hub of a hierarchy must not lose: also what it knows of queries."""

    book: QueryBook = field(default_factory=QueryBook)


class BrokerHub(QueryingHub, MovingHub):
    """A hub of a hierarchy whose clients may move, and that must not lose a query."""

    state: BrokerState

    def __init__(
        self, state: BrokerState, topology: Topology, *, timing: Timing | None = None, short_cut: bool = True
    ) -> None:
        super().__init__(state, topology, timing=timing, short_cut=short_cut, book=state.book)
