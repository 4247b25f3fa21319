"""The hub: documents and subscriptions in, events out, all of it kept in one store."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from uuid import uuid4

from pyoxigraph import Quad, Triple

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.documents import Limits, parse
from triplewire.engine import (
    backfilling,
    browsing,
    checking,
    explaining,
    policies,
    reading,
    searching,
    subscribing,
    taxonomies,
)
from triplewire.engine.applying import Applied, Meaning, apply, told_again
from triplewire.engine.browsing import Resource, Version
from triplewire.engine.checking import Progress
from triplewire.engine.explaining import Why, WhyNot
from triplewire.engine.feeds import spread
from triplewire.engine.finding import HERE, Finder
from triplewire.engine.intake import Handled, entry_of
from triplewire.engine.names import refuse_unstorable_changes
from triplewire.engine.paging import RowPage, row_page
from triplewire.engine.preview import Preview, preview
from triplewire.engine.replica import Replica, Results
from triplewire.engine.revisions import Revision, revise
from triplewire.engine.standing import Standing
from triplewire.engine.telling import Outcome, Past, Teller
from triplewire.errors import MatchLimitExceeded, SchemaViolation, SubscriptionError, UnknownSubscription
from triplewire.matching.incremental import MOST_TRIPLES, load_pattern
from triplewire.model import Change, Document, Event, Publish, Retract, Row, Scope, Start, Subscription, Term, Unread
from triplewire.schema import Schema
from triplewire.store import (
    BackfillRecord,
    BatchRecord,
    EventRecord,
    Hearer,
    Reader,
    Rejection,
    Store,
    SubscriptionRecord,
    Writer,
)

_PAGE = 1000


class Hub:
    """Subscribers register a query once; publishers register, change and withdraw documents; events say what that did.

    `url` is where everything is kept: ":memory:", "sqlite:///path/to/file" or "postgresql://user@host/database".
    Several processes may use one store at the same time: any number reads while one applies a batch; another one that
    wants to write waits for `timeout` seconds at most. `limits` are those of reading documents; a subscription whose
    answers take more than `most_triples` to find fails in that batch, and the others are served. `finder` says where
    the rows of a batch are looked for: in this process, if it is not said. `durable`: what is committed survives not
    only the death of the process, but of the machine, too; each commit waits for the disk.

    >>> hub = Hub(":memory:")
    >>> _ = hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql", id="water")
    >>> [event.kind for event in hub.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")]
    ['matched']
    >>> [event.kind for event in hub.retract("urn:doc")]
    ['unmatched']
    """

    def __init__(
        self,
        url: str = ":memory:",
        *,
        timeout: float = 60.0,
        limits: Limits | None = None,
        most_triples: int = MOST_TRIPLES,
        finder: Finder = HERE,
        durable: bool = False,
    ) -> None:
        self.store = Store.open(url, timeout=timeout, durable=durable)
        self._limits = limits
        self._finder = finder
        self._lock = threading.RLock()
        self._standing = Standing(most_triples)
        self._book = policies.Book()
        self._taxonomy_number = -1
        self._replica = Replica()

    def close(self) -> None:
        """Let go of the store; what was committed is there."""
        with self._lock:
            if self._standing.is_worth_an_image and self.store.url != ":memory:":
                with self.store.writing() as writer:
                    self._standing.keep_image(writer)
            self.store.close()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        with self._lock, self.store.reading() as reader:
            self._catch_up(reader)
            yield reader

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """A transaction. If it fails, the taxonomy is read again: the rest of memory knows only what is committed."""
        with self._lock:
            try:
                with self.store.writing() as writer:
                    self._catch_up(writer)
                    yield writer
            except BaseException:
                self._standing.forget_uncommitted()
                self._taxonomy_number = -1
                raise
            self._standing.settle()

    def _catch_up(self, reader: Reader) -> None:
        self._standing.catch_up(reader)
        self._book.catch_up(reader)
        number = taxonomies.number_of(reader)
        if number != self._taxonomy_number:
            self._standing.use_taxonomy(taxonomies.read(reader))
            self._taxonomy_number = number

    # -- subscriptions

    def subscribe(
        self,
        text: str | Pattern,
        *,
        language: str = "sparql",
        id: str | None = None,
        scope: Scope = "document",
        start: Start = "now",
        owner: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        backfill: backfilling.When = "auto",
    ) -> Subscription:
        """Register a query; with start "ever", what answers it already is in its events first.

        `scope` says whether all triples of an answer must come from one document, or may come from several. `start`
        "now" counts only what is published from now on. An id is made if none is given. `backfill` says when what
        answers already is looked for: "now", before this returns; "later", by a stream or by `backfill`, and nothing is
        heard until then; "auto" is later if the store is large and a stream runs on it.
        """
        given = text if isinstance(text, Pattern) else None
        wanted = Subscription(id or f"s-{uuid4().hex[:12]}", str(text), language, scope, start, owner, given)
        with self._writing() as writer:
            later = backfilling.is_for_later(writer, backfill)
            registration = subscribing.Registration(writer, self._standing, later=later)
            (pattern,) = registration.add([wanted], prefixes)
            registration.tell()
        return replace(wanted, pattern=pattern)

    def subscribe_many(self, wanted: Iterable[Subscription], *, backfill: backfilling.When = "auto") -> int:
        """Register many queries in one transaction; gives how many. A `pattern` is taken as it is, if there is one."""
        count, coming = 0, iter(wanted)
        with self._writing() as writer:
            later = backfilling.is_for_later(writer, backfill)
            registration = subscribing.Registration(writer, self._standing, later=later)
            while some := list(islice(coming, _PAGE)):
                registration.add(some)
                count += len(some)
            registration.tell()
        if self.store.url != ":memory:":
            with self._writing() as writer:
                self._standing.keep_image(writer)
        return count

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription, its rows and its events."""
        with self._writing() as writer:
            subscribing.unregister(writer, id)

    def backfill(
        self, spread: backfilling.Spread | None = None, *, at_once: int = backfilling.MANY
    ) -> backfilling.Filled:
        """Find what answers the subscriptions that wait for that, and let them hear it; batches go on meanwhile.

        `spread` says who looks: this process, if it is not said. `at_once` are filled together. A stream calls this by
        itself.
        """
        found, chosen = backfilling.Filled(), spread or backfilling.Here(self.store)
        if spread is None:
            with self._writing() as writer:
                backfilling.take_over(writer)
        while True:
            more = backfilling.fill_queued(self.store, self._standing, self._writing, chosen, at_once)
            if more is None:
                return found
            found.add(more)

    def backfills(self, *, limit: int = 100, state: str | None = None) -> list[BackfillRecord]:
        """The last backfills, newest first: "queued", "running", "done" or "failed", with the reason."""
        with self._reading() as reader:
            return reader.backfills.listing(limit, state=state)

    def subscription(self, id: str) -> Subscription:
        """The subscription of an id."""
        with self._reading() as reader:
            return _subscription(reader, _record(reader, id))

    def subscriptions(self, *, owner: str | None = None) -> Iterator[Subscription]:
        """All subscriptions, or those of one owner, by id."""
        after = ""
        while True:
            with self._reading() as reader:
                page = reader.subscriptions.listing(after, _PAGE, owner=owner)
                found = [_subscription(reader, record) for record in page]
            if not found:
                return
            yield from found
            after = found[-1].id

    # -- changes

    def publish(
        self,
        data: Document | bytes | str,
        *,
        uri: str | None = None,
        media_type: str | None = None,
        batch: str | None = None,
        drop_missing: bool = False,
    ) -> Outcome:
        """Register a document, or a new version of it; gives the events that it causes.

        Of a feed, each item is a document. Items that a new version does not have stay, unless `drop_missing` is set.
        """
        if not isinstance(data, Document):
            if uri is None:
                raise TypeError("a document needs its uri: publish(data, uri=...)")
            limits = {} if self._limits is None else {"limits": self._limits}
            data = parse(data, uri=uri, media_type=media_type, **limits)
        return self.apply([Publish(data, drop_missing)], batch=batch)

    def retract(self, uri: str, *, batch: str | None = None) -> Outcome:
        """Take a document back; gives the events that this causes."""
        return self.apply([Retract(uri)], batch=batch)

    def submit(self, changes: Iterable[Change | Unread]) -> int:
        """Put changes on the intake log, for a stream to apply; gives their position there.

        They are kept when this returns, and are applied later, together: see docs/streaming.md. A document that turns
        out to be bad is in `rejected` then, and the others are applied.
        """
        changes = list(changes)
        refuse_unstorable_changes(changes, "")
        entries = [entry_of(change) for change in changes]
        with self._lock, self.store.writing() as writer:
            return writer.intake.append(entries, _now()) if entries else writer.intake.last()

    def rejected(self, *, after: int = 0, limit: int = 100) -> list[Rejection]:
        """What a stream could not apply, in order, from the one that follows number `after`."""
        with self._reading() as reader:
            return reader.intake.rejected(after, limit)

    def apply(self, changes: Iterable[Change], *, batch: str | None = None, handled: Handled | None = None) -> Outcome:
        """Apply a batch of changes: all of them or none, and told as one.

        With an id, `batch` is applied once: the same id again changes nothing, and gives the events that it gave.
        `handled` is what the batch takes off the intake log, and sets aside.
        """
        name, changes = batch or f"b-{uuid4().hex}", list(changes)
        refuse_unstorable_changes(changes, name)
        with _uncollected():
            return self._apply(changes, name, handled, is_named=batch is not None)

    def _apply(self, changes: list[Change], name: str, handled: Handled | None, *, is_named: bool) -> Outcome:
        """All that is made here and not given back is gone before garbage is looked for again."""
        with self._writing() as writer:
            known = writer.batches.find(name) if is_named else None
            if known is not None:
                return self._again(writer, name, told_again(writer, known.number))
            revisions = revise(writer, spread(writer, changes))
            warnings = self._book.check(writer, revisions)
            meaning = self._meaning(writer, revisions)
            applied = apply(
                writer,
                self._standing,
                revisions,
                name,
                strong=self._book.strong(writer),
                meaning=meaning,
                finder=self._finder,
            )
            if handled is not None:
                handled.note(writer, _now())
            return self._outcome(writer, name, applied, warnings)

    def _meaning(self, writer: Writer, revisions: Sequence[Revision]) -> Meaning | None:
        if not taxonomies.is_revised(revisions):
            return None
        after = taxonomies.revised(writer, revisions)
        touched = taxonomies.touched(writer, self._standing.taxonomy, after)
        self._taxonomy_number = taxonomies.note_change(writer)
        return Meaning(after, touched)

    def _outcome(
        self, writer: Writer, batch: str, applied: Applied, warnings: Sequence[SchemaViolation] = ()
    ) -> Outcome:
        errors: list[SubscriptionError] = []
        failed = list(applied.errors)
        for query, owners in zip(failed, writer.subscriptions.of_queries(failed), strict=True):
            reason = applied.errors[query].reason
            errors += [MatchLimitExceeded(reason, subscription=record.id) for record in owners]
        heard = self._standing.hearers(writer, applied.queries)
        count = sum(heard[query] for _, event in applied.events for query in event.queries)
        return Outcome(batch, count, lambda: self._tell(applied), warnings, errors)

    def _again(self, writer: Writer, batch: str, applied: Applied) -> Outcome:
        """Some who ask its queries now may have come after it."""
        hearers = writer.subscriptions.hearing(applied.queries)
        return Outcome(batch, sum(1 for _ in _heard(applied, hearers)), lambda: self._tell(applied))

    def _tell(self, applied: Applied) -> list[Event]:
        """The events of a batch; those of a subscription that has been removed since are not told."""
        with self._reading() as reader:
            hearers = reader.subscriptions.hearing(applied.queries)
            return self._teller(reader).events(list(_heard(applied, hearers)))

    def set_taxonomy(self, taxonomy: Iterable[Triple | Quad] | Document) -> Outcome:
        """Replace the given taxonomy by the RDFS triples of these; rows appear and disappear, with events (X3)."""
        triples = taxonomy.triples if isinstance(taxonomy, Document) else taxonomy
        spelled = taxonomies.given([t.triple if isinstance(t, Quad) else t for t in triples])
        name = f"taxonomy-{uuid4().hex}"
        with self._writing() as writer:
            before = self._standing.taxonomy
            taxonomies.save(writer, spelled)
            after = taxonomies.read(writer)
            self._taxonomy_number = taxonomies.note_change(writer)
            meaning = Meaning(after, taxonomies.touched(writer, before, after))
            applied = apply(writer, self._standing, [], name, strong=self._book.strong(writer), meaning=meaning)
            return self._outcome(writer, name, applied)

    @property
    def taxonomy(self) -> Taxonomy:
        """What is-a conditions are tested against now: the given taxonomy, and what documents state."""
        with self._reading():
            return self._standing.taxonomy

    def set_schema(self, schema: Schema, *, on_violation: policies.Policy = "refuse") -> None:
        """Check documents against a schema from now on; those that break it are refused, or let in with a warning."""
        if on_violation not in ("refuse", "warn"):
            raise ValueError(f'on_violation must be "refuse" or "warn", not {on_violation!r}')
        with self._writing() as writer:
            policies.save(writer, schema, on_violation)

    @property
    def schema(self) -> Schema:
        """What documents are checked against; it declares nothing if none was set."""
        with self._reading():
            return self._book.schema

    # -- answers

    def rows(self, id: str) -> list[Row]:
        """What answers a subscription now."""
        with self._reading() as reader:
            record = _record(reader, id)
            found = list(dict.fromkeys(row.terms for row in reader.rows.of_query(record.query)))
            return self._teller(reader).rows(record.columns, found)

    def row_page(self, id: str, *, after: str = "", limit: int = _PAGE) -> RowPage:
        """Some of what answers a subscription now, and where the next page begins; only these are read."""
        if limit < 1:
            raise ValueError(f"limit must be at least 1, and is {limit}")
        with self._reading() as reader:
            return row_page(reader, self._teller(reader), _record(reader, id), after, limit)

    def each_row(self, id: str) -> Iterator[Row]:
        """What answers a subscription now, read page by page; batches go on meanwhile (see `paging`)."""
        after: str | None = ""
        while after is not None:
            rows, after = self.row_page(id, after=after)
            yield from rows

    def events(self, id: str, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """The events of a subscription with a cursor over `after`, in order."""
        with self._reading() as reader:
            record = _record(reader, id)
            return reading.told(self._teller(reader), record, reading.following(reader, record, after, limit))

    def newest(self, id: str, *, before: int | None = None, limit: int = 100) -> list[Event]:
        """The last events of a subscription, or the last with a cursor under `before`, the newest first."""
        with self._reading() as reader:
            record = _record(reader, id)
            return reading.told(self._teller(reader), record, reading.newest(reader, record, before, limit))

    def _teller(self, reader: Reader) -> Teller:
        return Teller(reader, self._book.schema.strong, Past(self.store))

    def why(self, id: str, row: Mapping[str, Term]) -> Why:
        """Why a row answers a subscription: its triples, who states them, the conditions; UnknownRow if it does not."""
        with self._reading() as reader:
            return explaining.why_row(reader, self._standing.taxonomy, _record(reader, id), row)

    def why_not(self, id: str, iri: str | Term) -> WhyNot:
        """Why a resource does not answer a subscription: the part of the query that fits nothing, and what was seen."""
        with self._reading() as reader:
            return explaining.why_not_resource(reader, self._standing.taxonomy, _record(reader, id), iri)

    def preview(
        self,
        text: str | Pattern,
        *,
        language: str = "sparql",
        scope: Scope = "document",
        start: Start = "now",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
    ) -> Preview:
        """What a subscription would get and cost; nothing is written (X5)."""
        wanted = Subscription("preview", str(text), language, scope, start)
        with self._reading() as reader:
            pattern = subscribing.compiled(reader, text, language, prefixes)
            subscribing.refuse_unserved(pattern, scope, language)
            return preview(reader, self._standing, pattern, wanted.scope, wanted.start, limit)

    def find(
        self,
        text: str | Pattern,
        *,
        language: str = "xpath",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
    ) -> list[Document]:
        """Stored documents that match a query now, newest first, not more than `limit` (N3); nothing is registered."""
        if limit < 0:
            raise ValueError(f"limit must not be below 0, and is {limit}")
        with self._reading() as reader:
            pattern = subscribing.compiled(reader, text, language, prefixes)
            return searching.find(reader, self._standing.taxonomy, pattern, limit)

    # -- metadata

    def query(
        self,
        sparql: str,
        *,
        prefixes: Mapping[str, str] | None = None,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> Results:
        """What SPARQL finds in the current metadata; each document is a named graph, the default graph is all of them.

        The first question loads all documents into memory; later ones only what changed since. If graphs are named,
        by uri, the question sees only these.
        """
        with self._reading() as reader:
            self._replica.catch_up(reader)
            return self._replica.query(sparql, prefixes, default_graphs, named_graphs)

    def resource(self, iri: str | Term) -> Resource:
        """What the current metadata says of a resource, who says it, and what refers to it."""
        with self._reading() as reader:
            return browsing.resource(reader, iri, self._book.schema.strong)

    def documents(self, *, after: str = "", limit: int = 100) -> list[Version]:
        """The documents that are there now, by uri, from the one that follows `after`."""
        with self._reading() as reader:
            return browsing.documents(reader, after, limit)

    def history(self, uri: str) -> list[Version]:
        """The versions of a document that are kept, oldest first."""
        with self._reading() as reader:
            return browsing.history(reader, uri)

    def batches(self, *, after: int = 0, limit: int = 100) -> list[BatchRecord]:
        """The batches that were committed, in order, from the one that follows number `after`."""
        with self._reading() as reader:
            return reader.batches.listing(after, limit)

    def batch(self, id: str) -> BatchRecord | None:
        """The batch of an id, with the time when it was committed; None if there was none."""
        with self._reading() as reader:
            return reader.batches.find(id)

    def check(self, *, sample: int | None = None, progress: Progress | None = None) -> Iterator[str]:
        """What is wrong in the store, in sentences: broken invariants, and rows that are not what the queries mean.

        With a `sample`, only so many queries are answered again; `progress` hears how many are done, of how many.
        """
        yield from self.store.problems()
        with self._reading() as reader:
            yield from checking.problems(reader, sample, progress)

    def document(self, uri: str, version: int | None = None) -> Document | None:
        """A document as it is now, or in one of its versions; None if it is not there (any more, or then)."""
        with self._reading() as reader:
            (record,) = reader.documents.current([uri])
            if record is None or (version is None and not record.present):
                return None
            (content,) = reader.documents.contents([(record.id, record.version if version is None else version)])
            (xml,) = reader.documents.xml([(record.id, record.version if version is None else version)])
            return None if content is None else Document(uri, content, xml)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _heard(applied: Applied, hearers: Mapping[int, Sequence[Hearer]]) -> Iterator[tuple[EventRecord, Hearer]]:
    """Events of a batch, for each subscription that hears them."""
    for first, event in applied.events:
        for cursor, query in enumerate(event.queries, first):
            for hearer in hearers.get(query, ()):
                if hearer.first_cursor < cursor:
                    yield EventRecord(cursor, applied.number, query, *event[1:]), hearer


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection inside: a batch makes many small tuples and no cycles, so looking for these is wasted."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _record(reader: Reader, id: str) -> SubscriptionRecord:
    (record,) = reader.subscriptions.find([id])
    if record is None:
        raise UnknownSubscription(id)
    return record


def _subscription(reader: Reader, record: SubscriptionRecord) -> Subscription:
    (query,) = reader.queries.by_ids([record.query])
    assert query is not None, "a subscription has its query"
    pattern = load_pattern(query.pattern)
    return Subscription(
        record.id,
        record.text,
        record.language,
        query.scope,  # type: ignore[arg-type]  # the store holds what a Subscription had
        record.start,  # type: ignore[arg-type]  # and this as well
        record.owner,
        pattern,
    )
