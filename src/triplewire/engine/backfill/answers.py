"""Answers: what answers queries already, found in this process, and told to subscribers that have not heard of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from triplewire.algebra.pattern import Conjunction
from triplewire.engine.batch.differences import Difference, document_rows, new_rows, resources_in, stored_documents
from triplewire.engine.batch.reasons import Documents, Touched
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.names import new_name, now
from triplewire.engine.neighbourhoods import Views, by_viewer
from triplewire.engine.standing import GRAPH, Standing, StandingQuery
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching import Index
from triplewire.matching.finder.finder import Reason, RowFinder, Rows, SeededQueries
from triplewire.matching.incremental import Question, Shape, Triple, shape_of, solve
from triplewire.model import Term
from triplewire.store import MATCHED, NewEvent, Reader, SubscriptionRecord, Writer


@dataclass(slots=True)
class Untold:
    """Subscriptions that have not heard yet what answers their queries; the rows of `new` ones are not on record."""

    asking: list[SubscriptionRecord] = field(default_factory=list)
    queries: dict[int, StandingQuery] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)


def answers_of(reader: Reader, standing: Standing, queries: Sequence[StandingQuery]) -> dict[int, Rows]:
    """The rows of queries in the current metadata, by document (0 for the graph).

    Queries of one scope, start and viewer are asked together. Where the limits are too low for that, they are halved,
    until one query alone is over them: MatchLimitExceeded, with the number of the query.
    """
    groups: defaultdict[tuple[str, int, str | None], list[StandingQuery]] = defaultdict(list)
    for query in queries:
        groups[query.scope, query.start, reader.access.sight_of(query.viewer)].append(query)
    found: defaultdict[int, Rows] = defaultdict(dict)
    waiting = list(groups.values())
    while waiting:
        group = waiting.pop()
        try:
            answers = _answers_together(reader, standing, group)
        except MatchLimitExceeded:
            if len(group) == 1:
                raise
            waiting += [group[: len(group) // 2], group[len(group) // 2 :]]
        else:
            for document, rows in answers.items():
                found[document] |= rows
    return found


def _answers_together(reader: Reader, standing: Standing, queries: Sequence[StandingQuery]) -> dict[int, Rows]:
    scope, start = queries[0].scope, queries[0].start
    reader = reader.seen_by(queries[0].viewer)
    index = standing.index_of(queries)
    triples = _concerned(reader, standing, queries, start)
    errors: dict[int, SubscriptionError] = {}
    if scope == GRAPH:
        number = partial(standing.number, reader)
        finder = RowFinder(SeededQueries(index), StoreLookups(reader), number=number, errors=errors)
        rows = {0: finder.rows_in(triples)}
    else:
        has_paths = any(query.pattern.asks_xml for query in queries)
        rows = _document_rows(reader, index, triples, start, errors, has_paths)
    for error in errors.values():
        raise error
    return rows


def _concerned(reader: Reader, standing: Standing, queries: Sequence[StandingQuery], start: int) -> set[Triple]:
    """The triples that answers are made of, looked up once for conjunctions that differ only in their conditions."""
    asked: dict[tuple[Shape, tuple[Term, ...]], tuple[Conjunction, int]] = {}
    for query in queries:
        for branch in query.pattern.branches:
            shaped = shape_of(branch)
            asked.setdefault((shaped.shape, shaped.constants), (branch, query.id))
    questions: list[Question] = [(branch, {}) for branch, _ in asked.values()]
    gathered = solve(questions, StoreLookups(reader, start), most_triples=standing.most_triples)
    owners = [query for _, query in asked.values()]
    for place, reason in gathered.refused.items():
        raise MatchLimitExceeded(reason, subscription=str(owners[place]))
    return gathered.triples


def _document_rows(
    reader: Reader,
    index: Index,
    triples: set[Triple],
    start: int,
    errors: dict[int, SubscriptionError],
    has_paths: bool,
) -> dict[int, Rows]:
    """Only a document that states some of the triples can give a row; for XPath, one that has XML."""
    stating = {id for stating in reader.triples.stated_by(list(triples)) for id in stating}
    ids = sorted(stating.union(reader.documents.with_xml(start) if has_paths else ()))
    found: dict[int, Rows] = {}
    for first in range(0, len(ids), 1000):
        records = [r for r in reader.documents.by_ids(ids[first : first + 1000]) if r.published > start]
        found |= document_rows(index, stored_documents(reader, records), reader, errors)
    return found


def tell_existing(writer: Writer, standing: Standing, untold: Untold) -> None:
    """Tell subscribers what answers their queries already, in one batch; the rows of new queries go on record."""
    try:
        found = answers_of(writer, standing, list(untold.queries.values()))
    except MatchLimitExceeded as error:
        names = {str(record.query): record.id for record in untold.asking}
        raise MatchLimitExceeded(error.reason, subscription=names[error.subscription]) from error
    waiting = {one.query for one in writer.backfills.unfinished(untold.queries.keys() - untold.new)}
    tell_answers(writer, Views(writer, standing), found, untold.asking, "subscribe", new=untold.new, partly=waiting)


def tell_answers(
    writer: Writer,
    views: Views,
    found: Mapping[int, Rows],
    asking: Sequence[SubscriptionRecord],
    occasion: str,
    *,
    new: Collection[int] = (),
    partly: Collection[int] = (),
) -> dict[int, int]:
    """Tell subscribers these rows, by document, in one batch; how many each query has.

    The events belong to each subscription alone: others with the same query have heard of these rows. Of `new` queries
    nothing is on record, of others perhaps a part: it is all then.
    """
    put_on_record(writer, found, new, partly)
    distinct: defaultdict[int, Rows] = defaultdict(dict)
    for rows in found.values():
        for key, derivation in rows.items():
            distinct[key[0]].setdefault(key, derivation)
    events: list[NewEvent] = []
    for viewer, queries in by_viewer(views, [record.query for record in asking]).items():
        reasons = {(terms, why) for query in queries for (_, terms), why in distinct[query].items()}
        behind = Touched(writer, (), (), viewer).documents_behind(reasons)
        name_documents(writer, found, behind)
        events += [
            NewEvent((-record.number,), MATCHED, terms, why, behind[terms, why])
            for record in asking
            if record.query in queries
            for (_, terms), why in distinct[record.query].items()
        ]
    if events:
        writer.log.append(writer.batches.next(), events)
        writer.batches.add(new_name(occasion), committed=now(), documents=0, events=len(events))
    return {record.query: len(distinct[record.query]) for record in asking}


def name_documents(reader: Reader, found: Mapping[int, Rows], behind: dict[Reason, Documents]) -> None:
    """Put the documents behind rows that no triple makes: those of XPath."""
    bare = {
        (terms, why): document
        for document, rows in found.items()
        if document
        for (_, terms), why in rows.items()
        if not behind.get((terms, why), True)
    }
    records = {record.id: record for record in reader.documents.by_ids(sorted(set(bare.values())))}
    for reason, document in bare.items():
        behind[reason] = ((document, records[document].version, records[document].version),)


def put_on_record(writer: Writer, found: Mapping[int, Rows], new: Collection[int], partly: Collection[int]) -> None:
    """Record the rows of `new` queries, and of those of which a part is on record what is missing."""
    fresh = Difference()
    for document, rows in found.items():
        begun = {key: why for key, why in rows.items() if key[0] in new}
        begun |= _missing(writer, document, {key: why for key, why in rows.items() if key[0] in partly})
        fresh.begun |= begun
        fresh.inserts += [(key, document) for key in begun]
    writer.rows.insert(new_rows(fresh, resources_in(writer, fresh)))


def _missing(reader: Reader, document: int, rows: Rows) -> Rows:
    recorded = reader.rows.find(list(rows))
    return {
        key: why
        for (key, why), records in zip(rows.items(), recorded, strict=True)
        if all(record.document != document for record in records)
    }
