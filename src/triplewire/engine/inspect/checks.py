"""Checks: are the rows on record what the patterns mean?

Every query is answered again by the definition (`evaluate`), over the documents that count for it, without anything of
the matcher: no index, no shapes, no gathering. One query after the other, so that a large store takes time, not memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from random import Random
from typing import TypeVar

from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.wording import word_list
from triplewire.engine import taxonomies
from triplewire.engine.batch.differences import stored_documents
from triplewire.engine.inspect.graphs import StoreGraph, numbers_of, row_of, terms_of
from triplewire.engine.standing import GRAPH
from triplewire.matching.incremental import load_pattern
from triplewire.model import Term
from triplewire.store import DocumentRecord, QueryRecord, Reader

Found = set[tuple[int, tuple[int, ...]]]
"""Rows as they are on record, each with its document, or 0."""

Progress = Callable[[int, int], None]
"""Hears how many are done, and of how many."""

Item = TypeVar("Item")
_AT_ONCE = 200
_MOST_NAMED = 3


def problems(reader: Reader, sample: int | None = None, progress: Progress | None = None) -> Iterator[str]:
    """What is wrong with the rows of all queries, or of so many of them, chosen by chance."""
    taxonomy = taxonomies.read(reader)
    ids = [query.id for query in reader.queries.everything()]
    if sample is not None and sample < len(ids):
        ids = sorted(Random().sample(ids, sample))
    for done, id in enumerate(ids):
        if progress is not None:
            progress(done, len(ids))
        yield from problems_of(reader, taxonomy, id)


def problems_of(reader: Reader, taxonomy: Taxonomy, query: int) -> list[str]:
    """What is wrong with the rows of one query, in sentences; of one that waits for its backfill nothing is known."""
    (record,) = reader.queries.by_ids([query])
    if record is None or reader.backfills.unfinished([query]):
        return []
    pattern = load_pattern(record.pattern)
    recorded = {(row.document, row.terms) for row in reader.rows.of_query(query)}
    meant = _meant(reader, taxonomy, record, pattern)
    if recorded == meant:
        return []
    (owners,) = reader.subscriptions.of_queries([query])
    who = f"query {query} (subscription {word_list([owner.id for owner in owners], _MOST_NAMED)})"
    return [
        *_told(reader, pattern, recorded - meant, f"{who}: a row is on record that recomputation does not give"),
        *_told(reader, pattern, meant - recorded, f"{who}: recomputation gives a row that is not on record"),
    ]


def _meant(reader: Reader, taxonomy: Taxonomy, query: QueryRecord, pattern: Pattern) -> Found:
    reader = reader.seen_by(query.viewer)
    if query.scope == GRAPH:
        rows = evaluate(pattern, StoreGraph(reader, query.start), taxonomy)
        return _numbered(reader, pattern, 0, rows)
    found: Found = set()
    for records in _parts(_possible(reader, query, pattern)):
        for id, document in stored_documents(reader, records).items():
            found |= _numbered(reader, pattern, id, pattern.rows_in(document, taxonomy))
    return found


def _numbered(reader: Reader, pattern: Pattern, document: int, rows: Iterable[dict[str, Term]]) -> Found:
    told = list(rows)
    numbers = numbers_of(reader, (str(term) for row in told for term in row.values()))
    return {(document, tuple(numbers[str(row[n])] if n in row else 0 for n in pattern.answer)) for row in told}


def _possible(reader: Reader, query: QueryRecord, pattern: Pattern) -> Iterator[DocumentRecord]:
    """The documents that can give a row: they state something for the rarest triple pattern of an alternative."""
    if not all(branch.triples for branch in pattern.branches):
        yield from [record for record, _ in reader.documents.everything(query.start)]
        return
    ids = set(reader.documents.with_xml(query.start) if pattern.asks_xml else ())
    for branch in pattern.branches:
        graph = StoreGraph(reader, query.start)
        rarest = min(branch.triples, key=lambda triple: len(graph.candidates(triple)))
        ids.update(id for stating in reader.triples.stated_by(graph.numbers(rarest)) for id in stating)
    for part in _parts(sorted(ids)):
        yield from (record for record in reader.documents.by_ids(part) if record.published > query.start)


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(items)
    while part := list(islice(left, _AT_ONCE)):
        yield part


def _told(reader: Reader, pattern: Pattern, rows: Found, what: str) -> Iterator[str]:
    some = sorted(rows)[:_MOST_NAMED]
    terms = terms_of(reader, (number for _, row in some for number in row))
    documents = reader.documents.by_ids(sorted({document for document, _ in some if document}))
    uris = {record.id: f" in {record.uri}" for record in documents}
    for document, numbers in some:
        yield f"{what}: {row_of(pattern.answer, numbers, terms)}{uris.get(document, '')}"
    if len(rows) > len(some):
        yield f"{what}: and {len(rows) - len(some):,} more rows"
