"""Backfills: subscriptions that came to a large store hear what answers them already, when it has been found.

The order of things:

    register   the subscription stands, and rows of its query are kept from the next batch on; it hears nothing yet
    seek       `shares` finds what answers it in the store as it is, in shares, while batches go on
    confirm    in one short transaction: what was found and still holds, and what went on record meanwhile, is all that
               answers now; the subscription hears of this, and from here on of every change

So a subscription hears the same as if it had been made at the moment of the last step, however long the one before
took. A process that dies leaves the backfill to be begun again; nothing of it is in the store before that step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

from triplewire.engine import taxonomies
from triplewire.engine.backfill.answers import tell_answers
from triplewire.engine.backfill.shares import BackfillJob, BackfillShare, MatchedDocument, planned, put_off
from triplewire.engine.batch.differences import document_rows, found_rows, stored_documents, visible
from triplewire.engine.names import now
from triplewire.engine.neighbourhoods import Neighbourhoods, Views, let_in
from triplewire.engine.standing import DOCUMENT, GRAPH, Standing, StandingQuery
from triplewire.engine.workers import Worker, Workers
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching.finder.finder import Key, Rows
from triplewire.matching.findings import DocumentFindings
from triplewire.matching.incremental.fans import Fan, in_rounds
from triplewire.store import BackfillRecord, QueryRecord, Reader, Store, Writer

MANY = 10_000
"""Subscriptions that are filled together, and about how many rows are confirmed in one transaction."""
_DOCUMENTS = 2_000
"""Documents of a share."""


@dataclass(slots=True)
class UnconfirmedRows:
    """What was found for queries while batches went on; the first three tell in which state of the store it began."""

    since: int
    taxonomy: int
    generation: int
    graph: defaultdict[int, Rows] = field(default_factory=lambda: defaultdict(dict))
    """By query."""
    documents: defaultdict[int, list[MatchedDocument]] = field(default_factory=lambda: defaultdict(list))
    """By query, those that have rows of it."""
    errors: dict[int, str] = field(default_factory=dict)
    """Queries that went over a limit, with the reasons."""

    def size(self, query: int) -> int:
        """How much there is to confirm."""
        return len(self.graph[query]) + len(self.documents[query])


def seek(store: Store, queries: Sequence[QueryRecord], workers: Workers, most_triples: int) -> UnconfirmedRows:
    """Find what answers queries that stand already; no transaction is open for longer than a page takes."""
    with store.reading() as reader:
        found = UnconfirmedRows(reader.batches.last(), taxonomies.number_of(reader), reader.generation)
        job, shares = planned(reader, queries, most_triples)
        documents = set(reader.documents.with_xml()) if job.asks_xml else set()

    def take(job: BackfillJob, shares: Sequence[BackfillShare]) -> list[Fan]:
        """Add what shares give; what was put off in them."""
        fans: list[Fan] = []
        for sought in workers.each(partial(Worker.seek, job=job), shares):
            for key, why in sought.rows.items():
                found.graph[key[0]][key] = why
            found.errors |= sought.errors
            documents.update(sought.documents)
            fans += sought.fans
        return fans

    in_rounds(take(job, shares), lambda fans, left: take(*put_off(job, fans, is_last=not left)))
    numbers = sorted(documents)
    parts = [numbers[first : first + _DOCUMENTS] for first in range(0, len(numbers), _DOCUMENTS)]
    for matched in workers.each(partial(Worker.match, job=job), parts):
        for one in matched:
            for query in {int(finding[0]) for finding in one.found.findings}:
                found.documents[query].append(one)
            found.errors |= {int(id): error.reason for id, error in one.found.errors.items()}
    return found


class Confirmation:
    """Brings what was found up to the state that a transaction sees, and tells it."""

    def __init__(self, writer: Writer, standing: Standing, found: UnconfirmedRows) -> None:
        self._writer, self._standing, self._found = writer, standing, found
        self._is_same_taxonomy = taxonomies.number_of(writer) == found.taxonomy
        self._is_same_state = writer.batches.last() == found.since

    def tell(self, backfills: Sequence[BackfillRecord], now: str) -> int:
        """Tell subscriptions what answers their queries; how many rows. SubscriptionError if one is over a limit."""
        writer = self._writer
        queries = self._standing.queries(writer, (one.query for one in backfills))
        ids = [one.subscription for one in backfills]
        records = [record for record in writer.subscriptions.find(ids) if record is not None]
        views = Views(writer, self._standing)
        told = tell_answers(writer, views, self._answers(queries), records, "backfill", partly=queries.keys())
        writer.subscriptions.hear_from(ids, writer.log.last_cursor())
        writer.backfills.end([(record.number, told[record.query]) for record in records], now)
        return sum(told[record.query] for record in records)

    def _answers(self, queries: Mapping[int, StandingQuery]) -> dict[int, Rows]:
        """All rows of the queries as things are now, by document (0 for the graph)."""
        answers: dict[int, Rows] = {}
        errors: dict[int, SubscriptionError] = {}
        recorded = [record for query in queries for record in self._writer.rows.of_query(query)]
        documents = {id: query for id, query in queries.items() if query.scope == DOCUMENT}
        if documents:
            answers = self._in_documents(documents, {r.document for r in recorded if r.document}, errors)
        graph = {id: query for id, query in queries.items() if query.scope == GRAPH}
        if graph:
            answers[0] = self._in_graph(graph, [(r.query, r.terms) for r in recorded if not r.document], errors)
        for error in errors.values():
            raise error
        return answers

    # -- scope "graph"

    def _in_graph(
        self, queries: Mapping[int, StandingQuery], recorded: Sequence[Key], errors: dict[int, SubscriptionError]
    ) -> Rows:
        now = Neighbourhoods(self._writer, self._standing, errors)
        found = {key: why for query in queries for key, why in self._found.graph[query].items()}
        rows = self._holding({key: why for key, why in found.items() if not queries[key[0]].wide}, now.views)
        others = [key for key in dict.fromkeys([*found, *recorded]) if key not in rows]
        doubtful = [key for key in others if not queries[key[0]].wide]
        seen = now.having(doubtful)
        rows |= {key: seen[key] for key in doubtful if key in seen}
        return rows | now.widened([key for key in others if queries[key[0]].wide])

    def _holding(self, rows: Rows, views: Views) -> Rows:
        """The rows whose derivations are still there, still mean the same, and are seen by their queries."""
        if not self._is_same_taxonomy:
            return {}
        if views.has_lists:
            return visible(self._writer, views, self._there(rows))[0]
        return self._there(rows)

    def _there(self, rows: Rows) -> Rows:
        if self._is_same_state:
            return rows
        triples = list({triple for why in rows.values() for triple in why})
        there = dict(zip(triples, self._writer.triples.visible(triples, 0), strict=True))
        return {key: why for key, why in rows.items() if all(there[triple] for triple in why)}

    # -- scope "document"

    def _in_documents(
        self, queries: Mapping[int, StandingQuery], recorded: set[int], errors: dict[int, SubscriptionError]
    ) -> dict[int, Rows]:
        """What documents gave that are as they were; the others that have rows on record are matched again.

        A document with a new version has all of its rows on record, because the queries stood when it came.
        """
        writer = self._writer
        found = {one.document: one for query in queries for one in self._found.documents[query]}
        versions = {record.id: record.version for record in writer.documents.by_ids(sorted(found)) if record.present}
        same = {id: one.found for id, one in found.items() if versions.get(id) == one.version}
        known = same if self._is_same_taxonomy else {}
        names = set(map(str, queries))
        own = {id: DocumentFindings([f for f in one.findings if f[0] in names], {}) for id, one in known.items()}
        again = (recorded | same.keys()) - known.keys()
        stored = stored_documents(writer, writer.documents.by_ids(sorted(again)))
        index = self._standing.index_of(queries.values())
        rows = found_rows(own, writer, errors) | document_rows(index, stored, writer, errors)
        return let_in(self._standing, rows, writer.access.of(rows))


# -- now or later

When = Literal["auto", "now", "later"]
_BEAT = "engine.backfiller"
"""The setting with the last moment at which a backfiller was there."""
BEATING = timedelta(seconds=10)
"""How often a backfiller says that it is there; one that was silent three times as long is taken for gone."""
LARGE = 100_000
"""Triples up to which a store is asked at once: that takes less time than to begin a job."""


def is_for_later(reader: Reader, when: When) -> bool:
    """Whether what answers a new subscription is to be found by a backfiller."""
    if when not in ("auto", "now", "later"):
        raise ValueError(f'backfill must be "auto", "now" or "later", not {when!r}')
    if when != "auto":
        return when == "later"
    return _has_backfiller(reader) and reader.triples.count() > LARGE


def _has_backfiller(reader: Reader) -> bool:
    beat = reader.settings.get(_BEAT)
    return beat is not None and datetime.now(UTC) - datetime.fromisoformat(beat) < 3 * BEATING


def take_over(writer: Writer) -> None:
    """What a backfiller has begun that is gone is to be begun again."""
    if not _has_backfiller(writer):
        writer.backfills.queue_again()


def beat(writer: Writer) -> None:
    """Say that a backfiller is there."""
    writer.settings.set(_BEAT, now())


def leave(writer: Writer) -> None:
    """Nobody is there any more; what was begun is to be begun again."""
    writer.settings.remove(_BEAT)
    writer.backfills.queue_again()


# -- from the queue to the end


@dataclass(slots=True)
class Filled:
    """What was done: how many subscriptions have heard of how many rows, and which have failed, with the reasons."""

    subscriptions: int = 0
    rows: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, other: Filled) -> None:
        """Both together."""
        self.subscriptions += other.subscriptions
        self.rows += other.rows
        self.failed |= other.failed


Writing = Callable[[], AbstractContextManager[Writer]]
"""Opens a transaction of the hub, which knows then what others have changed."""


def fill_queued(store: Store, standing: Standing, writing: Writing, workers: Workers, at_once: int) -> Filled | None:
    """Fill subscriptions that wait, up to so many in one job; None if there are none."""
    with store.reading() as reader:
        if not reader.backfills.queued(1):
            return None
    with writing() as writer:
        queued = writer.backfills.queued(at_once)
        writer.backfills.begin([one.number for one in queued])
        numbers = list(dict.fromkeys(one.query for one in queued))
        queries = [record for record in writer.queries.by_ids(numbers) if record is not None]
    found = seek(store, queries, workers, standing.most_triples)
    filled = Filled()
    for group in _groups(numbers, found):
        filled.add(_confirmed(standing, writing, found, group))
    return filled


def _groups(queries: Sequence[int], found: UnconfirmedRows) -> Iterator[list[int]]:
    """Queries that are told in one transaction: not many rows, and those that failed each alone."""
    group: list[int] = []
    size = 0
    for query in queries:
        if query in found.errors:
            yield [query]
            continue
        group.append(query)
        size += found.size(query)
        if size >= MANY:
            yield group
            group, size = [], 0
    if group:
        yield group


def _confirmed(standing: Standing, writing: Writing, found: UnconfirmedRows, queries: Sequence[int]) -> Filled:
    """Tell the subscriptions that wait for these queries, in one transaction, or in one for each if that fails."""
    if queries[0] in found.errors:
        return _failed(writing, queries[0], found.errors[queries[0]])
    try:
        with writing() as writer:
            waiting = writer.backfills.unfinished(queries)
            if writer.generation != found.generation:  # numbers of terms may be others' now
                writer.backfills.queue_again()
                return Filled()
            rows = Confirmation(writer, standing, found).tell(waiting, now())
            if writer.batches.last() == found.since + 1:
                found.since += 1
            return Filled(len(waiting), rows)
    except SubscriptionError as error:
        if len(queries) == 1:
            return _failed(writing, queries[0], error.reason if isinstance(error, MatchLimitExceeded) else str(error))
    filled = Filled()
    for query in queries:
        filled.add(_confirmed(standing, writing, found, [query]))
    return filled


def _failed(writing: Writing, query: int, reason: str) -> Filled:
    with writing() as writer:
        waiting = writer.backfills.unfinished([query])
        writer.backfills.fail([(one.number, reason) for one in waiting], now())
    return Filled(failed={one.subscription: reason for one in waiting})
