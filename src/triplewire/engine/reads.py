"""Reads: the side of a hub that only reads. Nothing here changes the store."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine import taxonomies
from triplewire.engine.batch import recovery
from triplewire.engine.connection import HubConnection, record_of, subscription_of
from triplewire.engine.inspect import checks, events, explanations, inbox, resources, summaries
from triplewire.engine.inspect.checks import Progress
from triplewire.engine.inspect.explanations import Why, WhyNot
from triplewire.engine.inspect.preview import Preview, preview
from triplewire.engine.inspect.replica import Results
from triplewire.engine.inspect.resources import Resource, Version
from triplewire.engine.inspect.summaries import Sees
from triplewire.engine.subscriptions import absences, registrations
from triplewire.errors import BadRequest, UnknownDocument
from triplewire.model import (
    Access,
    Document,
    Event,
    InboxNews,
    InboxPage,
    MissedEvents,
    NetworkReach,
    Scope,
    Sort,
    Start,
    Subscription,
    SummaryPage,
    Term,
    Time,
)
from triplewire.schema import Schema
from triplewire.store import BackfillRecord, BatchRecord, EventRecord, Reader, Rejection, SubscriptionRecord
from triplewire.tables import Events, RowPage, Rows, SearchResult
from triplewire.wire.hubs import PAGE, AnyHub

_BETWEEN_LOOKS = 0.5
"""Seconds."""


class HubReads(HubConnection, AnyHub):
    """What a hub tells: its subscriptions with their answers and events, reasons, and the metadata itself.

    Where a `viewer` is named, documents that it may not read are not there. Without one, all are. What `AnyHub` says of
    a method is not said again.
    """

    # -- subscriptions

    def backfills(self, *, limit: int = 100, state: str | None = None) -> list[BackfillRecord]:
        """The last backfills, newest first: "queued", "running", "done" or "failed", with the reason."""
        with self._reading() as reader:
            return reader.backfills.listing(limit, state=state)

    def subscription(self, id: str) -> Subscription:
        with self._reading() as reader:
            record = record_of(reader, id)
            return subscription_of(reader, record, recovery.stale(reader, [record.query]))

    def missed(self, id: str) -> list[MissedEvents]:
        with self._reading() as reader:
            return absences.missed(reader, record_of(reader, id))

    def subscriptions(self, *, owner: str | None = None) -> Iterator[Subscription]:
        after = ""
        while True:
            with self._reading() as reader:
                page = reader.subscriptions.listing(after, PAGE, owner=owner)
                stale = recovery.stale(reader)
                found = [subscription_of(reader, record, stale) for record in page]
            if not found:
                return
            yield from found
            after = found[-1].id

    def columns(self, id: str) -> tuple[str, ...]:
        with self._reading() as reader:
            return tuple(record_of(reader, id).columns)

    def log_columns(self, id: str) -> tuple[str, ...]:
        with self._reading() as reader:
            spans = reader.subscriptions.spans(record_of(reader, id))
        return tuple(dict.fromkeys(name for span in reversed(spans) for name in span.columns))

    def summaries(
        self,
        *,
        owner: str | None = None,
        words: str = "",
        sort: Sort = "id",
        after: str = "",
        limit: int = 100,
        sees: Sees = lambda viewer: True,
    ) -> SummaryPage:
        """A page of subscriptions as a list shows them: with their answers, counted, and their last events' times.

        Of all owners or of one, with `words` in their id, title, description, text or owner, sorted by "id", "title",
        "created", "answers" or "last_event" (with a minus, the other way round), from the one that follows `after`.
        `sees` says for which viewers' subscriptions answers and events are told.
        """
        with self._reading() as reader:
            return summaries.page(reader, summaries.SummaryFilter(owner, words, sort, after, limit), sees)

    # -- answers

    def rows(self, id: str) -> Rows:
        with self._reading() as reader:
            record = record_of(reader, id)
            found = list(dict.fromkeys(row.terms for row in reader.rows.of_query(record.query)))
            return Rows(record.columns, self._teller(reader).rows(record.columns, found))

    def row_page(self, id: str, *, after: str = "", limit: int = PAGE) -> RowPage:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, and is {limit}")
        with self._reading() as reader:
            record = record_of(reader, id)
            return self._teller(reader).row_page(record.query, record.columns, after, limit)

    def events(
        self,
        id: str,
        *,
        after: int = 0,
        limit: int | None = None,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Events:
        with self._reading() as reader:
            record, some = record_of(reader, id), events.Some(after, since=since, until=until)
            return self._told(reader, record, events.following(reader, record, some, limit))

    def follow(self, id: str, *, after: int = 0) -> Iterator[Event]:
        """The events with a cursor over `after`, then each new one as it happens, without an end.

        The store is looked at twice a second. UnknownSubscription when there is no such subscription any more.
        """
        while True:
            for event in self.each_event(id, after=after):
                after = event.cursor
                yield event
            time.sleep(_BETWEEN_LOOKS)

    def _told(self, reader: Reader, record: SubscriptionRecord, found: Sequence[EventRecord]) -> Events:
        return Events(events.told(reader, self._teller(reader), record, found))

    def newest(
        self,
        id: str,
        *,
        before: int | None = None,
        limit: int = 100,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Events:
        """The last events of a subscription, or the last with a cursor under `before`, the newest first."""
        some = events.Some(since=since, until=until) if before is None else events.Some(0, before, since, until)
        with self._reading() as reader:
            record = record_of(reader, id)
            return self._told(reader, record, events.newest(reader, record, some, limit))

    def inbox(
        self,
        *,
        owner: str | None = None,
        subscriptions: Sequence[str] = (),
        kinds: Sequence[str] = (),
        since: Time | None = None,
        until: Time | None = None,
        words: str = "",
        before: str | None = None,
        limit: int = 50,
        sees: Sees = lambda viewer: True,
    ) -> InboxPage:
        """The events of all subscriptions, or of one owner's, or of some, together, the newest first.

        Of these kinds, committed from `since` to before `until`, with `words` in their rows or titles. A page looks at
        5,000 events at most; `before` is the `next` of the page before it.
        """
        place = inbox.InboxPlace() if before is None else inbox.InboxPlace.of(before)
        wanted = inbox.InboxFilter(owner, subscriptions, kinds, since, until, words, place, limit)
        with self._reading() as reader:
            return inbox.page(reader, self._teller(reader), wanted, sees)

    def news(self, *, account: str = "", owner: str | None = None, sees: Sees = lambda viewer: True) -> InboxNews:
        with self._reading() as reader:
            return inbox.news(reader, account, owner, sees)

    def why(self, id: str, row: Mapping[str, Term]) -> Why:
        with self._reading() as reader:
            return explanations.why_row(reader, self._standing.taxonomy, record_of(reader, id), row)

    def why_not(self, id: str, iri: str | Term) -> WhyNot:
        with self._reading() as reader:
            return explanations.why_not_resource(reader, self._standing.taxonomy, record_of(reader, id), iri)

    def preview(
        self,
        text: str | Pattern,
        *,
        language: str = "sparql",
        scope: Scope = "document",
        start: Start = "now",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
        viewer: str | None = None,
    ) -> Preview:
        """What a subscription would get and cost; nothing is written (X5)."""
        wanted = Subscription("preview", str(text), language, scope, start)
        with self._reading() as reader:
            pattern = registrations.compiled(reader, text, language, prefixes)
            registrations.refuse_unserved(pattern, scope, language)
            return preview(reader, self._standing, pattern, wanted.scope, wanted.start, limit, viewer)

    def find(
        self,
        text: str | Pattern,
        *,
        language: str = "xpath",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
        viewer: str | None = None,
        reach: NetworkReach = "hub",
    ) -> SearchResult:
        """See `AnyHub.find`; a store alone asks nobody else."""
        if limit < 0:
            raise ValueError(f"limit must not be below 0, and is {limit}")
        if reach != "hub":
            raise BadRequest(
                f'its reach is "{reach}", and a store alone asks no other hub: ask the service, by its url'
            )
        with self._reading() as reader:
            pattern = registrations.compiled(reader, text, language, prefixes)
            return SearchResult(resources.find(reader.seen_by(viewer), self._standing.taxonomy, pattern, limit))

    # -- metadata

    @property
    def taxonomy(self) -> Taxonomy:
        """What is-a conditions are tested against now: the given taxonomy, and what documents state."""
        with self._reading():
            return self._standing.taxonomy

    @property
    def called(self) -> Mapping[str, Sequence[str]]:
        """What the given taxonomy calls its nodes, by their spelling: names, the one to be shown first."""
        with self._reading() as reader:
            number = self._standing.taxonomy_number
            if self._called[0] != number:
                self._called = number, taxonomies.names(reader)
            return self._called[1]

    @property
    def schema(self) -> Schema:
        """What documents are checked against; it declares nothing if none was set."""
        with self._reading():
            return self._book.schema

    def query(
        self,
        sparql: str,
        *,
        prefixes: Mapping[str, str] | None = None,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
        viewer: str | None = None,
    ) -> Results:
        """What SPARQL finds in the current metadata; each document is a named graph, the default graph is all of them.

        The first question loads all documents into memory; later ones only what changed since. If graphs are named,
        by uri, the question sees only these.
        """
        with self._reading() as reader:
            return self._replicas.of(reader, viewer).query(sparql, prefixes, default_graphs, named_graphs)

    def resource(self, iri: str | Term, *, viewer: str | None = None) -> Resource:
        """What the current metadata says of a resource, who says it, and what refers to it."""
        with self._reading() as reader:
            return resources.resource(reader.seen_by(viewer), iri, self._book.schema.strong)

    def documents(self, *, after: str = "", limit: int = 100, viewer: str | None = None) -> list[Version]:
        """The documents that are there now, by uri, from the one that follows `after`."""
        with self._reading() as reader:
            return resources.documents(reader.seen_by(viewer), after, limit)

    def history(self, uri: str, *, viewer: str | None = None) -> list[Version]:
        """The versions of a document that are kept, oldest first."""
        with self._reading() as reader:
            return resources.history(reader.seen_by(viewer), uri)

    def document(self, uri: str, version: int | None = None, *, viewer: str | None = None) -> Document | None:
        with self._reading() as reader:
            (record,) = reader.seen_by(viewer).documents.current([uri])
            if record is None or (version is None and not record.present):
                return None
            (content,) = reader.documents.contents([(record.id, record.version if version is None else version)])
            (xml,) = reader.documents.xml([(record.id, record.version if version is None else version)])
            return None if content is None else Document(uri, content, xml)

    def access(self, uri: str) -> Access | None:
        with self._reading() as reader:
            (record,) = reader.documents.current([uri])
            if record is None:
                raise UnknownDocument(uri)
            return reader.access.of([record.id]).get(record.id)

    # -- upkeep

    def batches(self, *, after: int = 0, limit: int = 100) -> list[BatchRecord]:
        """The batches that were committed, in order, from the one that follows number `after`."""
        with self._reading() as reader:
            return reader.batches.listing(after, limit)

    def batch(self, id: str) -> BatchRecord | None:
        """The batch of an id, with the time when it was committed; None if there was none."""
        with self._reading() as reader:
            return reader.batches.find(id)

    def rejected(self, *, after: int = 0, limit: int = 100) -> list[Rejection]:
        """What a stream could not apply, in order, from the one that follows number `after`."""
        with self._reading() as reader:
            return reader.intake.rejected(after, limit)

    def check(self, *, sample: int | None = None, progress: Progress | None = None) -> Iterator[str]:
        """What is wrong in the store, in sentences: broken invariants, and rows that are not what the queries mean.

        With a `sample`, only so many queries are answered again; `progress` hears how many are done, of how many.
        """
        yield from self.store.problems()
        with self._reading() as reader:
            yield from checks.problems(reader, sample, progress)
