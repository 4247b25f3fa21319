"""Writes: the side of a hub that changes its store: subscriptions come and go, batches of changes are applied."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from uuid import uuid4

from pyoxigraph import Quad, Triple

from triplewire.algebra.pattern import Pattern
from triplewire.documents import parse
from triplewire.engine import taxonomies
from triplewire.engine.backfill import backfills
from triplewire.engine.batch import policies, recovery
from triplewire.engine.batch.application import Applied, Meaning, apply, told_again
from triplewire.engine.batch.feeds import spread
from triplewire.engine.batch.revisions import Revision, revise
from triplewire.engine.connection import HubConnection, record_of, subscription_of
from triplewire.engine.edges import holdings, offers, rules
from triplewire.engine.edges.answers import EdgeAnswering
from triplewire.engine.names import BACKBONE, new_name, now, refuse_own_name, refuse_unstorable_changes
from triplewire.engine.subscriptions import edits, reaches, registrations
from triplewire.engine.workers import OneWorker, Workers
from triplewire.errors import DocumentError, MatchLimitExceeded, StoreError, SubscriptionError, UnknownDocument
from triplewire.intake.entries import Handled, entry_of
from triplewire.model import (
    Access,
    Change,
    Document,
    Event,
    NetworkReach,
    Publish,
    Restrict,
    Retract,
    Scope,
    Start,
    Subscription,
    Unread,
)
from triplewire.schema import Schema
from triplewire.store import EVERYBODY, EventRecord, Hearer, StateMoved, Writer
from triplewire.tables import Outcome
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion, EdgeRule
from triplewire.wire.hubs import AnyHub

_PAGE = 1000
_BETWEEN_LOOKS = 0.1
"""Seconds between two looks for what an edge waits for."""


class HubWrites(HubConnection, AnyHub):
    """What is done to a hub; each of these is one transaction, and its events say what it did.

    What `AnyHub` says of a method is not said again.
    """

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
        viewer: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        backfill: backfills.When = "auto",
        title: str | None = None,
        description: str | None = None,
        reach: NetworkReach = "hub",
    ) -> Subscription:
        """Register a query; with start "ever", what answers it already is in its events first.

        `scope` says whether all triples of an answer must come from one document, or may come from several. `start`
        "now" counts only what is published from now on. An id is made if none is given. `backfill` says when what
        answers already is looked for: "now", before this returns; "later", by a stream or by `backfill`, and nothing is
        heard until then; "auto" is later if the store is large and a stream runs on it. With a `viewer`, it sees the
        documents that this one may read; "" sees those that are for everybody, and without one it sees all. `title` and
        `description` are for people. With the `reach` "network", what other hubs of the network publish counts too;
        with that of a unit of a hierarchy ("cluster", …), what those inside it do.
        """
        given = text if isinstance(text, Pattern) else None
        wanted = Subscription(_id(id), str(text), language, scope, start, owner, given, viewer)
        wanted = replace(wanted, title=title or None, description=description or None, reach=reach)
        with self._writing() as writer:
            return self._subscribed(writer, wanted, prefixes, later=backfills.is_for_later(writer, backfill))

    def _subscribed(
        self, writer: Writer, wanted: Subscription, prefixes: Mapping[str, str] | None = None, *, later: bool = False
    ) -> Subscription:
        registration = registrations.Registration(writer, self._standing, later=later)
        registration.add([wanted], prefixes)
        registration.tell()
        reaches.note(writer, [wanted])
        return subscription_of(writer, record_of(writer, wanted.id), {})

    def edit(
        self,
        id: str,
        *,
        text: str | Pattern | None = None,
        language: str | None = None,
        scope: Scope | None = None,
        start: Start | None = None,
        title: str | None = None,
        description: str | None = None,
        paused: bool | None = None,
        keep_events: int | None = None,
        keep_seconds: float | None = None,
        prefixes: Mapping[str, str] | None = None,
        revision: str | None = None,
    ) -> Subscription:
        """Change a subscription; what is not given stays, and a title or description that is "" goes.

        With another query it keeps its id, its deliveries and its log, and one batch in its log tells what begins and
        what ends by the edit. It counts what it counted, since when it did; with another `start`, what that says now.
        What answers the new query is found before this returns. With a `revision`, SubscriptionChanged if the
        subscription has another one.
        """
        wanted = edits.Edit(text, language, scope, start, title, description, paused, keep_events, keep_seconds)
        with self._writing() as writer:
            record = edits.edit(writer, self._standing, record_of(writer, id), wanted, prefixes, revision)
            edited = subscription_of(writer, record, recovery.stale(writer, [record.query]))
            if start is not None:
                reaches.note(writer, [edited])
            return edited

    def duplicate(self, id: str, *, new_id: str | None = None, title: str | None = None) -> Subscription:
        with self._writing() as writer:
            known = subscription_of(writer, record_of(writer, id), {})
            return self._subscribed(writer, replace(known, id=_id(new_id), start="now", title=title or known.title))

    def subscribe_many(self, wanted: Iterable[Subscription], *, backfill: backfills.When = "auto") -> int:
        """Register many queries in one transaction; gives how many. A `pattern` is taken as it is, if there is one."""
        count, coming = 0, iter(wanted)
        with self._writing() as writer:
            later = backfills.is_for_later(writer, backfill)
            registration = registrations.Registration(writer, self._standing, later=later)
            while some := list(islice(coming, _PAGE)):
                registration.add(some)
                reaches.note(writer, some)
                count += len(some)
            registration.tell()
        if self.store.url != ":memory:":
            with self._writing() as writer:
                self._standing.keep_image(writer)
        return count

    def unsubscribe(self, id: str) -> None:
        with self._writing() as writer:
            registrations.unregister(writer, id)

    def mark(self, cursor: int, *, account: str = "") -> int:
        with self._lock, self.store.writing() as writer:
            reached = max(0, min(cursor, writer.log.last_cursor()))
            writer.marks.set(account, reached)
            return reached

    def backfill(self, workers: Workers | None = None, *, at_once: int = backfills.MANY) -> backfills.Filled:
        """Find what answers the subscriptions that wait for that, and let them hear it; batches go on meanwhile.

        `workers` look for the rows: this process, if none are named. `at_once` are filled together. A stream calls
        this by itself.
        """
        found, chosen = backfills.Filled(), workers or OneWorker(self.store)
        if workers is None:
            with self._writing() as writer:
                backfills.take_over(writer)
        while True:
            more = backfills.fill_queued(self.store, self._standing, self._writing, chosen, at_once)
            if more is None:
                return found
            found.add(more)

    # -- edges

    def serve_edge(self, question: EdgeQuestion, *, owner: str | None = None, viewer: str | None = None) -> EdgeAnswer:
        """What an edge lacks; its rules are the `owner`'s, and see the documents that the `viewer` may read.

        What an edge tells is of its cache alone, whoever asks. NotAllowed for an edge of another owner.
        """
        edge, refused = question.edge, {}
        rules.refuse_too_much(question)
        if question.follow or question.unfollow:
            refused = self.change_rules(edge, question.follow, question.unfollow, owner=owner, viewer=viewer)
        rules.refuse_bad_name(edge)
        if not question.position:
            self._note_edge(edge, owner)
        until = time.monotonic() + question.wait
        while True:
            answer = self._edge_answer(question, refused, owner, viewer)
            if answer.is_news or answer.position != question.position or time.monotonic() >= until:
                return answer
            time.sleep(min(_BETWEEN_LOOKS, question.wait))

    def _edge_answer(
        self, question: EdgeQuestion, refused: Mapping[str, str], owner: str | None, viewer: str | None
    ) -> EdgeAnswer:
        while True:
            with suppress(StateMoved), self._lock, self._steps.reading(self.store) as reader:
                return EdgeAnswering(reader, self._steps, question, viewer).answer(refused, owner)

    def change_rules(
        self,
        edge: str,
        follow: Sequence[EdgeRule],
        unfollow: Sequence[str],
        *,
        owner: str | None = None,
        viewer: str | None = None,
    ) -> dict[str, str]:
        """Let rules of an edge stand, and let go of others; gives those that are refused, with the reasons.

        Two transactions, because what stands now is learned at the end of one, and what has gone at the beginning.
        """
        with self._writing() as writer:
            viewer = EVERYBODY if holdings.is_edge(writer) else viewer
            rules.refuse_stranger(writer, edge, owner)
            offers.KnownEdges(writer).refuse_other_owner(edge, owner)
            replaced = rules.replaced(writer, edge, follow, owner=owner, viewer=viewer)
            rules.unfollow(writer, edge, [*unfollow, *replaced])
        with self._writing() as writer:
            offers.note_edge(writer, edge, owner)
            offers.settled(writer, edge, [*(rule.id for rule in follow), *unfollow])
            later = backfills.is_for_later(writer, "auto")
            return rules.follow(writer, self._standing, edge, follow, owner=owner, viewer=viewer, later=later)

    def _note_edge(self, edge: str, owner: str | None) -> None:
        with self._lock, self.store.reading() as reader:
            if offers.is_noted(reader, edge):
                return
        with self._writing() as writer:
            offers.note_edge(writer, edge, owner)

    def edges(self, *, owner: str | None = None) -> list[str]:
        """The edges of an owner that have asked this hub, by name."""
        with self._reading() as reader:
            return offers.edges_of(reader, owner)

    def offer(
        self, edge: str, text: str, *, language: str = "rules", id: str | None = None, owner: str | None = None
    ) -> EdgeRule:
        """Have an edge of an owner keep what a rule registers (M9): it follows the rule when it asks next."""
        rule = EdgeRule(id or f"r-{uuid4().hex[:12]}", text, language)
        with self._writing() as writer:
            registrations.compiled(writer, text, language, None)  # what is wrong with it is told now
            offers.offer(writer, edge, rule, owner)
        return rule

    # -- changes

    def publish(
        self,
        data: Document | bytes | str | Path,
        *,
        uri: str | None = None,
        media_type: str | None = None,
        batch: str | None = None,
        drop_missing: bool = False,
        access: Access | None = None,
        reach: NetworkReach | None = None,
    ) -> Outcome:
        if isinstance(data, Path):
            uri = uri or data.resolve().as_uri()
            data = data.read_bytes()
        if not isinstance(data, Document):
            if uri is None:
                raise TypeError("a document needs its uri: publish(data, uri=...)")
            limits = {} if self._limits is None else {"limits": self._limits}
            data = parse(data, uri=uri, media_type=media_type, **limits)
        return self.apply([Publish(data, drop_missing, access, reach=reach)], batch=batch)

    def retract(self, uri: str, *, batch: str | None = None) -> Outcome:
        return self.apply([Retract(uri)], batch=batch)

    def restrict(self, uri: str, access: Access | None, *, batch: str | None = None) -> Outcome:
        with self._reading() as reader:
            if reader.documents.current([uri]) == [None]:
                raise UnknownDocument(uri)
        return self.apply([Restrict(uri, access)], batch=batch)

    def submit(self, changes: Iterable[Change | Unread]) -> int:
        """Put changes on the intake log, for a stream to apply; gives their position there.

        They are kept when this returns, and are applied later, together: see docs/streaming.md. A document that turns
        out to be bad is in `rejected` then, and the others are applied.
        """
        changes = list(changes)
        refuse_unstorable_changes(changes, "")
        entries = [entry_of(change) for change in changes]
        with self._lock, self.store.writing() as writer:
            return writer.intake.append(entries) if entries else writer.intake.last()

    def apply(self, changes: Iterable[Change], *, batch: str | None = None, handled: Handled | None = None) -> Outcome:
        """Apply a batch of changes: all of them or none, and told as one.

        With an id, `batch` is applied once: the same id again changes nothing, and gives the events that it gave.
        ValueError if the id begins as those that a hub gives itself (`b-`, `stream-`, `recovery-`, `taxonomy-`,
        `subscribe-`, `backfill-`, `edit-`, `edge-`, `backbone-`, `network-`). `handled` is what the batch takes off the
        intake log, and sets aside: what waits there was not applied, and is applied under another name if the batch's
        is taken.
        """
        name, changes = batch or new_name(), list(changes)
        refuse_own_name(name)
        refuse_unstorable_changes(changes, name)
        with _uncollected():
            return self._apply(changes, name, handled, is_named=batch is not None)

    def _apply(self, changes: list[Change], name: str, handled: Handled | None, *, is_named: bool) -> Outcome:
        """All that is made here and not given back is gone before garbage is looked for again."""
        with self._writing() as writer:
            known = writer.batches.find(name) if is_named else None
            if known is not None and handled is not None and handled.still_waits(writer):
                name, known = new_name(), None
            if known is not None:
                return self._again(writer, name, told_again(writer, known.number))
            parts, refused = spread(writer, changes)
            reaches.refuse_foreign(parts)
            reaches.refuse_unknown_reach(writer, parts)
            revisions = revise(writer, holdings.admitted(writer, parts))
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
            reaches.keep_inside(writer, parts)
            self._note_revisions(writer, applied.number, revisions)
            if handled is not None:
                handled.note(writer)
                handled.set_aside(writer, refused)
            outcome = self._outcome(writer, name, applied, [*warnings, *(reason for _, reason in refused)])
        with self._lock:
            self._steps.note(name, writer.generation, revisions, applied)
        return outcome

    def _note_revisions(self, writer: Writer, batch: int, revisions: Sequence[Revision]) -> None:
        """A batch has changed these documents; StoreError where other hubs must hear of it, and none tells them."""
        if revisions and writer.settings.get(BACKBONE) is not None:
            raise StoreError(
                "this store is part of a backbone: send changes to its service (triplewire serve --backbone), "
                "or open it as a BackboneHub"
            )
        reaches.tell_others(writer, revisions)

    def _meaning(self, writer: Writer, revisions: Sequence[Revision], *, is_given: bool = False) -> Meaning | None:
        """What the batch does to the taxonomy; `is_given` if another one was given with it."""
        if not is_given and not taxonomies.is_revised(revisions):
            return None
        after = taxonomies.revised(writer, revisions)
        touched = taxonomies.touched(writer, self._standing.taxonomy, after)
        self._standing.taxonomy_number = taxonomies.note_change(writer)
        return Meaning(after, touched)

    def _outcome(self, writer: Writer, batch: str, applied: Applied, warnings: Sequence[DocumentError] = ()) -> Outcome:
        errors: list[SubscriptionError] = []
        failed = list(applied.errors)
        for query, owners in zip(failed, writer.subscriptions.of_queries(failed), strict=True):
            reason = applied.errors[query].reason
            errors += [MatchLimitExceeded(reason, subscription=record.id) for record in owners]
        heard = self._standing.hearers(writer, applied.queries)
        count = sum(heard[query] for _, event in applied.events for query in event.queries)
        return Outcome(batch, count, lambda: self._tell(applied), warnings, errors)

    def _again(self, writer: Writer, batch: str, applied: Applied) -> Outcome:
        """The outcome of a batch that was applied before: some subscriptions to its queries may be newer."""
        hearers = writer.subscriptions.hearing(applied.queries)
        return Outcome(batch, sum(1 for _ in _heard(applied, hearers)), lambda: self._tell(applied))

    def _tell(self, applied: Applied) -> list[Event]:
        """The events of a batch; those of a subscription that has been removed since are not told."""
        with self._reading() as reader:
            hearers = reader.subscriptions.hearing(applied.queries)
            return self._teller(reader).events(list(_heard(applied, hearers)))

    def recover(self) -> Outcome | None:
        """Answer again the queries over their limit that have waited long enough; None if there is none.

        A batch does so, too, for those that are due by then: this is for when none comes. A service and a stream call
        it by themselves.
        """
        with self._reading() as reader:
            if not recovery.is_due(reader, now()):
                return None
        name = new_name("recovery")
        with self._writing() as writer:
            applied = apply(writer, self._standing, [], name, strong=self._book.strong(writer))
            return self._outcome(writer, name, applied)

    def set_taxonomy(self, taxonomy: Iterable[Triple | Quad] | Document) -> Outcome:
        """Replace the given taxonomy by the RDFS triples of these; rows appear and disappear, with events (X3)."""
        given = taxonomy.triples if isinstance(taxonomy, Document) else taxonomy
        triples = [each.triple if isinstance(each, Quad) else each for each in given]
        spelled, names = taxonomies.given(triples), taxonomies.called(triples)
        name = new_name("taxonomy")
        with self._writing() as writer:
            holdings.refuse_at_edge(writer, "taxonomy")
            before = self._standing.taxonomy
            taxonomies.save(writer, spelled, names)
            after = taxonomies.read(writer)
            self._standing.taxonomy_number = taxonomies.note_change(writer)
            meaning = Meaning(after, taxonomies.touched(writer, before, after))
            applied = apply(writer, self._standing, [], name, strong=self._book.strong(writer), meaning=meaning)
            return self._outcome(writer, name, applied)

    def set_schema(self, schema: Schema, *, on_violation: policies.Policy = "refuse") -> None:
        """Check documents against a schema from now on; those that break it are refused, or let in with a warning."""
        if on_violation not in ("refuse", "warn"):
            raise ValueError(f'on_violation must be "refuse" or "warn", not {on_violation!r}')
        with self._writing() as writer:
            holdings.refuse_at_edge(writer, "schema")
            policies.save(writer, schema, on_violation)


def _id(given: str | None) -> str:
    return given or f"s-{uuid4().hex[:12]}"


def _heard(applied: Applied, hearers: Mapping[int, Sequence[Hearer]]) -> Iterator[tuple[EventRecord, Hearer]]:
    for first, event in applied.events:
        for cursor, query in enumerate(event.queries, first):
            for hearer in hearers.get(query, ()):
                if hearer.first_cursor < cursor <= hearer.last_cursor:
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
