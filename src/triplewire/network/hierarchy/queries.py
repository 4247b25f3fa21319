"""Queries over stored documents: they climb until there are enough answers (N3).

A broker looks among its own documents, and asks its controller for what is still wanted. A controller asks its
sub-units, but not the one that the query came from, and only those that have advertised something for it; then the unit
above, as far as the query's reach goes. With a limit they are asked one after the other, each for what is still wanted;
without one all together. A unit that is silent is passed over, and named in the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import Document
from triplewire.network.node import Outbox
from triplewire.network.routing import RoutesTold
from triplewire.network.routing.messages import DocumentSent
from triplewire.network.routing.moves import MovingHub, MovingState
from triplewire.network.routing.subscriptions import Key


@dataclass(frozen=True, slots=True)
class QueryAsked:
    """A query of a client at the hub `asker`; `wanted` is how many documents are still wanted, None for all."""

    kind: ClassVar[str] = "query"
    id: str
    asker: str
    pattern: Pattern
    reach: int
    wanted: int | None


@dataclass(frozen=True, slots=True)
class QueryAnswered:
    """The documents that a unit has found, and the units below and around it that did not answer."""

    kind: ClassVar[str] = "found"
    id: str
    documents: tuple[DocumentSent, ...]
    silent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitTold(RoutesTold):
    """Everything that a neighbour should know, with what it is asked."""

    queries: tuple[QueryAsked, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """What a query has found; `silent` has the units that did not answer, so that what they have may be missing."""

    documents: tuple[Document, ...]
    silent: tuple[str, ...]
    is_done: bool


@dataclass(slots=True)
class QueryTask:
    """A query at a hub: where it came from, what was found so far, and which neighbours are asked, now and next."""

    asked: QueryAsked
    came: str
    found: dict[Key, DocumentSent] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> int | None:
        """How many documents are still wanted."""
        return None if self.asked.wanted is None else self.asked.wanted - len(self.found)

    def take(self, documents: tuple[DocumentSent, ...], silent: tuple[str, ...] = ()) -> None:
        """Documents are found: each counts once, and not more than are wanted."""
        for told in documents:
            if self.wanted is None or self.wanted > 0:
                self.found.setdefault((told.origin, told.uri), told)
        self.silent.extend(unit for unit in silent if unit not in self.silent)


@dataclass(slots=True)
class BrokerState(MovingState):
    """What a hub of a hierarchy must not lose: also the queries that it works on, and those that are done."""

    queries: dict[str, QueryTask] = field(default_factory=dict)
    answers: dict[str, QueryTask] = field(default_factory=dict)


class BrokerHub(MovingHub):
    """A hub of a hierarchy, which also answers queries."""

    state: BrokerState

    # -- clients

    def find(self, id: str, pattern: Pattern, reach: int, limit: int | None, now: float) -> Outbox:
        """A client looks for documents."""
        self._begin_query("", QueryAsked(id, self.name, pattern, reach, limit), now)
        return self._sent()

    def found(self, id: str) -> FoundDocuments:
        """What a client's query has found so far."""
        is_done = id in self.state.answers
        task = self.state.answers[id] if is_done else self.state.queries[id]
        found = tuple(told.document for told in task.found.values() if told.document is not None)
        return FoundDocuments(found, tuple(task.silent), is_done)

    # -- neighbours

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `MovingHub.hear`."""
        match body:
            case QueryAsked():
                self._begin_query(peer, body, now)
            case QueryAnswered(id, documents, silent):
                task = self.state.queries.get(id)
                if task is not None and peer in task.waiting:
                    task.waiting.remove(peer)
                    task.take(documents, silent)
                    self._go_on(task, now)
            case _:
                super().hear(peer, body, now)

    def hear_all(self, peer: str, body: RoutesTold, now: float) -> None:
        """See `MovingHub.hear_all`."""
        super().hear_all(peer, body, now)
        for asked in body.queries if isinstance(body, UnitTold) else ():
            self._begin_query(peer, asked, now)

    def all_for(self, peer: str) -> RoutesTold:
        """See `MovingHub.all_for`; one that begins anew does not know what it was asked."""
        told = super().all_for(peer)
        if peer in self.state.companions:
            return told
        waiting = [task for task in self.state.queries.values() if peer in task.waiting]
        queries = tuple(replace(task.asked, wanted=task.wanted) for task in waiting)
        return UnitTold(told.advertised, told.interests, told.documents, queries)

    def awaited(self) -> set[str]:
        """The neighbours whose answers queries wait for."""
        return {peer for task in self.state.queries.values() for peer in task.waiting}

    def miss(self, peer: str, now: float) -> Outbox:
        """A neighbour has been silent for long: queries go on without it."""
        for task in [*self.state.queries.values()]:
            if peer in task.waiting:
                task.waiting.remove(peer)
                task.take((), (peer,))
                self._go_on(task, now)
        return self._sent()

    # -- queries

    def _begin_query(self, came: str, asked: QueryAsked, now: float) -> None:
        task = self.state.queries[asked.id] = QueryTask(asked, came)
        task.take(tuple(self._own_answers(asked)))
        task.left = [peer for peer in self.state.heard_items if peer != came and self._may_know(peer, asked)]
        self._go_on(task, now)

    def _own_answers(self, asked: QueryAsked) -> list[DocumentSent]:
        """The documents that were published here and match, the newest first."""
        distance = self._topology.distance(asked.asker)
        own = [kept.told for (origin, _), kept in self.state.documents.items() if origin == self.name]
        found = [
            told
            for told in own
            if told.document is not None
            and distance <= min(told.reach, asked.reach)
            and asked.pattern.rows_in(told.document, EMPTY)
        ]
        return sorted(found, key=lambda told: -told.time)

    def _may_know(self, peer: str, asked: QueryAsked) -> bool:
        """The unit above may, as far as the query goes; a sub-unit if it has advertised something for it.

        So may one that a controller, which has begun with nothing, has not heard from.
        """
        if self._topology.takes_all(peer):
            return asked.reach >= self._topology.height(peer)
        if self.state.stands_in and self.state.links[peer].has is None:
            return True
        return self.state.heard_items[peer].could_match(asked.pattern)

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
            del self.state.queries[task.asked.id]
            if task.came:
                self.tell(task.came, QueryAnswered(task.asked.id, tuple(task.found.values()), tuple(task.silent)), now)
            else:
                self.state.answers[task.asked.id] = task
