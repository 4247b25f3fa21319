"""The invariants of a store, each as a question to the database.

The order is that of the tables in `schema`. Whether the rows on record are what the patterns mean is not known here:
the engine checks that.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from operator import itemgetter

from triplewire.model.access import OWN
from triplewire.model.spelling import triples_of
from triplewire.store.access import seen
from triplewire.store.crowds import CrowdReader
from triplewire.store.documents import DocumentReader, DocumentRecord
from triplewire.store.packing import Triple, digest, digest_of, unpack
from triplewire.store.queries import NewQuery
from triplewire.store.sql import Sql, Values
from triplewire.store.terms import TermMemory, TermReader, key_of

_AT_ONCE = 500

_COUNTED = {
    "registry": ("subscriptions.number", "alterations.number", "removals.number"),
    "batches": ("batches.number",),
    "dead letters": ("dead_letters.number",),
    **{name: (f"{name}.id",) for name in ("terms", "documents", "queries", "shapes", "atoms", "crowds", "rows")},
}
"""A counter, and the columns whose numbers it gave."""

_REFERENCES = {
    "documents.id": (
        "versions.document",
        "statements.document",
        "access_lists.document",
        "publishers.document",
        "document_reaches.document",
    ),
    "batches.number": ("versions.batch", "events.batch"),
    "terms.id": ("statements.s", "statements.p", "statements.o", "bindings.term"),
    "access_lists.document": ("access_entries.document",),
    "queries.id": ("subscriptions.query", "query_atoms.query", "crowd_members.query", "rows.query"),
    "subscriptions.number": ("spans.number", "backfills.number"),
    "subscriptions.id": ("deliveries.subscription",),
    "shapes.id": ("atoms.shape",),
    "atoms.id": ("query_atoms.atom",),
    "crowds.id": ("crowd_members.crowd", "past_members.crowd", "rows.crowd", "events.crowd"),
    "rows.id": ("bindings.row",),
    "deliveries.id": ("dead_letters.delivery",),
}
"""A column, and those whose numbers are all in it."""

_MAY_BE_NOTHING = ("rows.query", "rows.crowd", "events.crowd")
"""Columns of these in which 0 stands for nothing."""


def problems(sql: Sql) -> Iterator[str]:
    """A sentence for each invariant that a store breaks."""
    for check in CHECKS:
        yield from check(sql)


def _counters(sql: Sql) -> Iterator[str]:
    for name, columns in _COUNTED.items():
        for table, column in (place.split(".") for place in columns):
            last, given = sql.number(f"SELECT max({column}) FROM {table}"), sql.counter(name)
            if last > given:
                yield f"the counter {name} is at {given}, but {table}.{column} goes up to {last}"


def _references(sql: Sql) -> Iterator[str]:
    for target, columns in _REFERENCES.items():
        other, key = target.split(".")
        for place in columns:
            table, column = place.split(".")
            something = f"t.{column} <> 0 AND" if place in _MAY_BE_NOTHING else ""
            missing = sql.number(
                f"SELECT count(*) FROM {table} t"
                f" WHERE {something} NOT EXISTS (SELECT 1 FROM {other} x WHERE x.{key} = t.{column})"
            )
            if missing:
                yield f"{missing} of {table} have a {column} that is not in {other}"


def _term_keys(sql: Sql) -> Iterator[str]:
    for number, found, text in sql.stream("SELECT id, key, text FROM terms"):
        if found != key_of(text):
            yield f"term {number} has the key of another text"
    twice = "SELECT min(id), max(id) FROM terms GROUP BY key, text HAVING count(*) > 1"
    for first, last in sql.rows(twice):
        yield f"terms {first} and {last} are the same"


def _current_versions(sql: Sql) -> Iterator[str]:
    """A document's record is that of its last version."""
    found = sql.stream(
        "SELECT d.uri, d.version, d.published, d.digest, v.version, v.batch, v.content, v.xml FROM documents d"
        " LEFT JOIN versions v ON v.document = d.id AND v.version = d.version ORDER BY d.id"
    )
    for uri, version, published, key, kept, batch, content, xml in found:
        if kept is None:
            if version or published or key:
                yield f"document {uri}: its version {version} is missing"
        elif published != batch:
            yield f"document {uri}: published by batch {published}, but its version by batch {batch}"
        elif key != _digest_of_compressed(content, xml):
            yield f"document {uri}: its content has another digest"
    newer = "SELECT d.uri FROM versions v JOIN documents d ON d.id = v.document WHERE v.version > d.version"
    for (uri,) in sql.rows(newer):
        yield f"document {uri}: there is a version after the current one"


def _digest_of_compressed(content: bytes | None, xml: bytes | None = None) -> bytes | None:
    if content is None:
        return b""
    try:
        return digest(zlib.decompress(content) + (zlib.decompress(xml) if xml is not None else b""))
    except zlib.error:
        return None


def _readable_versions(sql: Sql) -> Iterator[str]:
    for document, version, content, xml in sql.stream("SELECT document, version, content, xml FROM versions"):
        if content is not None and _digest_of_compressed(content, xml) is None:
            yield f"version {version} of document {document} cannot be read"


def _statements(sql: Sql) -> Iterator[str]:
    """What a document states is what its current version says; one that is not present states nothing."""
    stated = _beside(sql.stream("SELECT document, s, p, o FROM statements ORDER BY document"))
    for record, said in _written(sql):
        kept = set(stated(record.id))
        if said - kept:
            yield f"document {record.uri}: {len(said - kept)} triples of its content are not in the store"
        if kept - said:
            yield f"document {record.uri}: {len(kept - said)} triples in the store are not of its content"
    absent = (
        "SELECT st.document, count(*) FROM statements st WHERE NOT EXISTS (SELECT 1 FROM documents d JOIN versions v"
        " ON v.document = d.id AND v.version = d.version WHERE d.id = st.document AND v.content IS NOT NULL)"
        " GROUP BY st.document ORDER BY st.document"
    )
    for document, count in sql.rows(absent):
        yield f"document {document}: {count} triples in the store are not of its content"


def _beside(rows: Iterator[Values]) -> Callable[[int], list[Values]]:
    """What gives the rest of the rows that begin with a number: they are in the order in which numbers are asked for.

    Rows of numbers that nothing asks for are passed over: `_references` tells of them.
    """
    groups = groupby(rows, itemgetter(0))
    at, group = next(groups, (None, iter(())))

    def of(number: int) -> list[Values]:
        nonlocal at, group
        while at is not None and at < number:
            at, group = next(groups, (None, iter(())))
        return [row[1:] for row in group] if at == number else []

    return of


def _written(sql: Sql) -> Iterator[tuple[DocumentRecord, set[Triple]]]:
    """The present documents by number, with the triples that their contents hold; 0 is a term that is missing."""
    terms = TermReader(sql, TermMemory(0))
    contents = _readable(sql)
    while part := list(islice(contents, _AT_ONCE)):
        texts = [(record, list(triples_of(record.id, content))) for record, content in part]
        distinct = list({text for _, triples in texts for triple in triples for text in triple})
        number = dict(zip(distinct, terms.find(distinct), strict=True))
        for record, triples in texts:
            yield record, {(number[s], number[p], number[o]) for s, p, o in triples}


def _readable(sql: Sql) -> Iterator[tuple[DocumentRecord, bytes]]:
    try:
        yield from DocumentReader(sql).everything()
    except zlib.error:
        return  # told by _readable_versions


def _predicates(sql: Sql) -> Iterator[str]:
    counted: dict[int, int] = dict(sql.rows("SELECT p, count(*) FROM statements GROUP BY p"))
    told: dict[int, int] = dict(sql.rows("SELECT p, statements FROM predicates"))
    for predicate in sorted(counted.keys() | told.keys()):
        if counted.get(predicate, 0) != told.get(predicate, -1):
            yield (
                f"predicate {predicate} has {counted.get(predicate, 0)} statements,"
                f" but the statistics say {told.get(predicate, 0)}"
            )


def _queries(sql: Sql) -> Iterator[str]:
    known = {number for (number,) in sql.stream("SELECT id FROM terms")}
    for number, key, scope, start, pattern, terms, viewer in sql.stream(
        "SELECT id, digest, scope, start, pattern, terms, viewer FROM queries"
    ):
        if key != NewQuery(scope, start, pattern, viewer=viewer).digest:
            yield f"query {number} has the digest of another one"
        if not known.issuperset(unpack(terms)):
            yield f"query {number} names terms that are not there"


def _unused_queries(sql: Sql) -> Iterator[str]:
    unused = "SELECT id FROM queries WHERE id NOT IN (SELECT query FROM subscriptions) ORDER BY id"
    for (number,) in sql.rows(unused):
        yield f"query {number} has no subscription"


def _spans(sql: Sql) -> Iterator[str]:
    """What a subscription asked it asked one after the other; what it asks now comes last."""
    found = sql.stream(
        "SELECT s.number, s.first_cursor, s.last_cursor, t.first_cursor FROM spans s"
        " JOIN subscriptions t ON t.number = s.number ORDER BY s.number, s.last_cursor"
    )
    for number, alike in groupby(found, itemgetter(0)):
        heard = 0
        for _, first, last, now in alike:
            if not heard <= first <= last <= now:
                yield f"subscription number {number} has spans that overlap"
            heard = last


def _atoms(sql: Sql) -> Iterator[str]:
    for number, key, definition in sql.stream("SELECT id, digest, definition FROM shapes"):
        if key != digest_of(definition):
            yield f"shape {number} has the digest of another one"
    users: Counter[int] = Counter(dict(sql.rows("SELECT atom, count(*) FROM query_atoms GROUP BY atom")))
    for number, key, shape, position, definition, told in sql.stream(
        "SELECT id, digest, shape, position, definition, users FROM atoms"
    ):
        if key != digest_of(shape, position, definition):
            yield f"atom {number} has the digest of another one"
        if told != users[number]:
            yield f"atom {number} has {users[number]} users, but says {told}"


def _crowds(sql: Sql) -> Iterator[str]:
    """A crowd's list is in order, and its members are where the list has them."""
    places = _beside(sql.stream("SELECT crowd, place, query FROM crowd_members ORDER BY crowd, place"))
    for number, key, count, packed in sql.stream("SELECT id, digest, members, queries FROM crowds ORDER BY id"):
        members, queries = places(number), unpack(packed)
        if key != digest(packed):
            yield f"crowd {number} has the digest of another one"
        if list(queries) != sorted(set(queries)):
            yield f"crowd {number} has its queries in disorder"
        if count != len(members):
            yield f"crowd {number} has {len(members)} members, but says {count}"
        if not set(members) <= set(enumerate(queries)):
            yield f"crowd {number} has members that are not in their places"


def _owners_of_rows(sql: Sql) -> Iterator[str]:
    """A row is a query's or a crowd's, and a query has it once, alone or in a crowd."""
    crowds = CrowdReader(sql)
    for _, alike in groupby(
        sql.stream("SELECT key, document, id, query, crowd FROM rows ORDER BY key, document, id"), itemgetter(0, 1)
    ):
        seen: set[int] = set()
        for _, _, number, query, crowd in alike:
            if bool(query) == bool(crowd):
                yield f"row {number} is not of either a query or a crowd"
            owners = set(crowds.members([crowd]).get(crowd, ())) if crowd else {query}
            if not owners:
                yield f"row {number} is of a crowd without members"
            for owner in sorted(owners & seen)[:1]:
                yield f"row {number} is on record for query {owner} already"
            seen |= owners


def _rows(sql: Sql) -> Iterator[str]:
    """A row's key is the digest of its terms, and it is bound by those of them that are resources."""
    terms = TermReader(sql, TermMemory(0))
    found = sql.stream("SELECT id, document, key, terms FROM rows ORDER BY id")
    bound = _beside(sql.stream("SELECT row, term FROM bindings ORDER BY row, term"))
    while part := list(islice(found, _AT_ONCE)):
        distinct = list({number for row in part for number in unpack(row[3])} - {0})
        resources = _resources(terms, distinct)
        for number, _, key, packed in part:
            kept = {term for (term,) in bound(number)}
            if key != digest(packed):
                yield f"row {number} has the key of another one"
            if kept != resources.intersection(unpack(packed)):
                yield f"row {number} is not bound by the resources that it holds"


def _resources(terms: TermReader, numbers: list[int]) -> set[int]:
    """Those of the terms that are IRIs or blank nodes."""
    try:
        texts = terms.texts(numbers)
    except KeyError:
        return set()
    return {number for number, text in zip(numbers, texts, strict=True) if text[0] in "<_"}


def _rows_of_documents(sql: Sql) -> Iterator[str]:
    orphans = sql.number(
        "SELECT count(*) FROM rows r WHERE r.document <> 0 AND NOT EXISTS"
        " (SELECT 1 FROM documents d WHERE d.id = r.document AND d.digest <> ?)",
        b"",
    )
    if orphans:
        yield f"{orphans} rows are of documents that are not present"


def _rows_of_listed_documents(sql: Sql) -> Iterator[str]:
    """A document gives rows to those who may read it; of the graph's rows, the engine knows who may."""
    own = "JOIN queries q ON q.id = r.query"
    shared = "JOIN crowd_members m ON m.crowd = r.crowd AND r.crowd <> 0 JOIN queries q ON q.id = m.query"
    listed = "rows r JOIN access_lists al ON al.document = r.document"
    count = 0
    for owners in (own, shared):
        for viewer, rows in sql.rows(f"SELECT q.viewer, count(*) FROM {listed} {owners} GROUP BY q.viewer"):
            is_seen, names = seen(OWN if viewer is None else str(viewer), "r.document")
            asked, values = ("q.viewer IS NULL", ()) if viewer is None else ("q.viewer = ?", (viewer,))
            count += rows - sql.number(
                f"SELECT count(*) FROM {listed} {owners} WHERE {asked}{is_seen}", *values, *names
            )
    if count:
        yield f"{count} rows are of documents that their subscribers may not read"


def _events(sql: Sql) -> Iterator[str]:
    """Events are in the order of their batches; each query of a crowd has a cursor, and no other event has it."""
    last = free = 0
    for cursor, batch, kind, packed in sql.stream(
        "SELECT e.cursor, e.batch, e.kind, length(c.queries) FROM events e LEFT JOIN crowds c ON c.id = e.crowd"
        " ORDER BY e.cursor"
    ):
        if batch < last:
            yield f"event {cursor} of batch {batch} comes after one of batch {last}"
        if kind not in (1, 2, 3):
            yield f"event {cursor} has no kind"
        if cursor < free:
            yield f"event {cursor} has a cursor of a crowd's event before it"
        last, free = max(last, batch), cursor + (packed // 8 if packed else 1)
    if free > sql.counter("events") + 1:
        yield f"the counter events is at {sql.counter('events')}, but events go up to {free - 1}"


def _batches(sql: Sql) -> Iterator[str]:
    count, last = sql.number("SELECT count(*) FROM batches"), sql.counter("batches")
    if count != last:
        yield f"there are {count} batches, but the last one is number {last}"


def _images(sql: Sql) -> Iterator[str]:
    for name, parts, last, first, greatest in sql.rows(
        "SELECT name, count(*), max(part), min(number), max(number) FROM images GROUP BY name"
    ):
        if parts != last + 1 or first != greatest:
            yield f"image {name!r} has parts of different times, or lacks some"


CHECKS = (
    _counters,
    _references,
    _term_keys,
    _current_versions,
    _readable_versions,
    _statements,
    _predicates,
    _queries,
    _unused_queries,
    _spans,
    _atoms,
    _crowds,
    _owners_of_rows,
    _rows,
    _rows_of_documents,
    _rows_of_listed_documents,
    _events,
    _batches,
    _images,
)
