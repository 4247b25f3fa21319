"""The connection: a store in use, the transactions of a hub, and what it keeps in memory of the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from triplewire.documents import Limits
from triplewire.engine.batch import policies
from triplewire.engine.batch.recovery import Stale
from triplewire.engine.edges.steps import Steps
from triplewire.engine.inspect.replica import Replicas
from triplewire.engine.standing import Standing
from triplewire.engine.telling import Teller
from triplewire.engine.workers import SharedFinder
from triplewire.errors import UnknownSubscription
from triplewire.matching.incremental import MOST_TRIPLES, load_pattern
from triplewire.model import Subscription, moment
from triplewire.model.access import at_home, reach_of
from triplewire.store import QueryRecord, Reader, Store, SubscriptionRecord, Writer


class HubConnection:
    """A hub's store, with the standing queries, the schema and the taxonomy in memory, kept up with it.

    The standing queries are brought up to a reading transaction when it first asks for them. Most ask for none, and
    those of a new process need neither the index, which may be large, nor what it is compiled with.
    """

    def __init__(
        self,
        url: str | Path | Store = ":memory:",
        *,
        timeout: float = 60.0,
        limits: Limits | None = None,
        most_triples: int = MOST_TRIPLES,
        finder: SharedFinder | None = None,
        durable: bool = False,
    ) -> None:
        """`url` is where the store is, or a store that is open; that one is closed with the hub."""
        self.store = url if isinstance(url, Store) else Store.open(url, timeout=timeout, durable=durable)
        self._limits = limits
        self._finder = finder
        self._lock = threading.RLock()
        self._known = Standing(most_triples)
        self._behind: Reader | None = None
        self._book = policies.Book()
        self._called: tuple[int, Mapping[str, Sequence[str]]] = (-1, {})
        self._replicas = Replicas()
        self._steps = Steps()

    @property
    def _standing(self) -> Standing:
        """The standing queries and the taxonomy, as the transaction that is under way sees them."""
        if self._behind is not None:
            reader, self._behind = self._behind, None
            self._known.catch_up(reader)
        return self._known

    def close(self) -> None:
        """Let go of the store; what was committed is there."""
        with self._lock:
            if self._standing.is_worth_an_image and self.store.url != ":memory:":
                with self.store.writing() as writer:
                    self._standing.keep_image(writer)
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        with self._lock, self.store.reading() as reader:
            around, self._behind = self._behind, reader
            self._book.catch_up(reader)
            try:
                yield reader
            finally:
                self._behind = around

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """A transaction. If it fails, the taxonomy is read again: the rest of memory knows only what is committed."""
        with self._lock:
            try:
                with self.store.writing() as writer:
                    self._known.catch_up(writer)
                    self._book.catch_up(writer)
                    yield writer
            except BaseException:
                self._standing.forget_uncommitted()
                raise
            self._standing.settle()

    def _teller(self, reader: Reader) -> Teller:
        return Teller(reader, self._book.schema.strong, self.store)


def record_of(reader: Reader, id: str) -> SubscriptionRecord:
    """The record of a subscription; UnknownSubscription if there is none."""
    (record,) = reader.subscriptions.find([id])
    if record is None:
        raise UnknownSubscription(id)
    return record


def query_of(reader: Reader, record: SubscriptionRecord) -> QueryRecord:
    """The query that a subscription asks."""
    (query,) = reader.queries.by_ids([record.query])
    assert query is not None, "a subscription has its query"
    return query


def subscription_of(reader: Reader, record: SubscriptionRecord, stale: Mapping[int, Stale]) -> Subscription:
    """A record as the subscription that it is of, with its pattern."""
    query = query_of(reader, record)
    return replace(described(record, query, stale), pattern=load_pattern(query.pattern))


def described(record: SubscriptionRecord, query: QueryRecord, stale: Mapping[int, Stale]) -> Subscription:
    """A record as the subscription that it is of; its pattern, which takes time to read, is left out."""
    since = stale[record.query].since if record.query in stale else ""
    return Subscription(
        record.id,
        record.text,
        record.language,
        query.scope,  # type: ignore[arg-type]  # the store holds what a Subscription had
        record.start,  # type: ignore[arg-type]  # and this as well
        record.owner,
        None,
        at_home(query.viewer),
        moment(since) if since else None,
        record.title,
        record.description,
        moment(record.paused_since) if record.paused_since else None,
        record.tag,
        reach_of(query.viewer),  # type: ignore[arg-type]  # and this as well
    )
