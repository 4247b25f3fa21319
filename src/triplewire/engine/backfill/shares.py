"""Shares: what answers queries already, looked for in parts, by workers that can read the store.

A share is a part of the triples at which the queries' conjunctions begin, each at its rarest one. A worker goes through
these triples page by page: rows of the graph are found around them (`matching.finder`), and the documents that state
them are matched by the worker that has these in a second share. Where they lead to a popular node, that node's triples
are put off, and are shares of a job of their own.

Invariant: pages need not see one state of the store. The queries stand already, so a row that uses anything that is
stated anew from now on goes on record with the batch that states it. What is not on record in the end uses only
what has been there all the time, and that is in every state. `backfills` confirms what is found here, and joins both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import NamedTuple
from uuid import uuid4

from pyoxigraph import Variable

from triplewire.algebra.pattern import Pattern
from triplewire.engine import taxonomies
from triplewire.engine.batch.differences import stored_documents
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.standing import DOCUMENT, GRAPH
from triplewire.matching import Index
from triplewire.matching.finder.finder import RowFinder, Rows
from triplewire.matching.finder.queries import Queries
from triplewire.matching.findings import DocumentFindings
from triplewire.matching.incremental import MOST_TRIPLES, Triple, load_pattern
from triplewire.matching.incremental.fans import POPULAR, Fan, Piece, shared_out, triples_of, united
from triplewire.matching.pages import page_of
from triplewire.store import QueryRecord, Reader, Store, TripleSpan

_PAGE = 5_000
"""Triples, or documents, that are looked at in one state of the store."""
_SHARE = 20_000
"""Triples of a share, about: some seconds of work, so that nobody waits long for a worker."""
_COUNTED = 1_000_000
"""Up to which the triples of a predicate and an object are counted."""
_KEYS = 1_000

Fixed = tuple[int, int, int]
"""The constants of a triple pattern: subject, predicate and object, 0 for a variable."""


class BackfillShare(NamedTuple):
    """Which triples to begin at: those of whole keys, those of spans, and pieces of what was put off."""

    forward: tuple[tuple[int, int], ...] = ()
    backward: tuple[tuple[int, int], ...] = ()
    spans: tuple[TripleSpan, ...] = ()
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class BackfillJob:
    """What is looked for: queries, each with its scope and pattern; and how many triples there are of each kind.

    All that look must begin at the same kinds, so these numbers are taken once.
    """

    queries: tuple[tuple[int, str, str], ...]
    counts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """By scope and kind."""
    most_triples: int = MOST_TRIPLES
    name: str = field(default_factory=lambda: uuid4().hex)
    places: tuple[tuple[int, int], ...] = ()
    """Where what was put off begins: shapes and positions; none, if nothing was put off yet."""
    popular: int | None = None
    """More triples than this are put off."""

    @property
    def asks_xml(self) -> bool:
        """Whether there is a query whose answers no triple is a part of."""
        return any(load_pattern(pattern).asks_xml for _, _, pattern in self.queries)

    def taken_apart(self, scope: str) -> Queries:
        """The queries of a scope."""
        return Queries((str(id), load_pattern(pattern)) for id, its, pattern in self.queries if its == scope)


class Sought(NamedTuple):
    """What a share gives: rows of the graph, documents to look at, and queries that went over a limit, with reasons."""

    rows: Rows
    documents: set[int]
    errors: dict[int, str]
    fans: tuple[Fan, ...] = ()
    """Fans that were put off."""


class MatchedDocument(NamedTuple):
    """What a version of a document gives."""

    document: int
    version: int
    found: DocumentFindings


def planned(
    reader: Reader, queries: Iterable[QueryRecord], most_triples: int
) -> tuple[BackfillJob, list[BackfillShare]]:
    """The job of finding what answers queries, and the shares that it is cut into."""
    spelled = tuple((query.id, query.scope, query.pattern) for query in queries)
    bare = BackfillJob(spelled, most_triples=most_triples)
    counts: dict[str, Mapping[int, int]] = {}
    sources: dict[Fixed, int] = {}
    for scope in (GRAPH, DOCUMENT):
        own = bare.taken_apart(scope)
        numbers = numbers_of(reader, own.constants)
        fixed = [_fixed(kind, numbers) for kind in own.kinds]
        sizes = _sizes(reader, {one for each in fixed for one in each})
        counts[scope] = {kind: sum(sizes[one] for one in each) for kind, each in enumerate(fixed)}
        for kind in own.rarest(counts[scope]):
            sources |= {one: sizes[one] for one in fixed[kind]}
    job = BackfillJob(spelled, counts, most_triples, bare.name, popular=POPULAR)
    return job, list(_shares(reader, sources))


def put_off(job: BackfillJob, fans: Sequence[Fan], *, is_last: bool) -> tuple[BackfillJob, list[BackfillShare]]:
    """The job of finding what was put off in another one, and its shares; in the last one, nothing is put off."""
    places = tuple(sorted({fan.place for fan in fans}))
    shares = shared_out(fans, 1 + sum(fan.size for fan in fans) // _PAGE)
    popular = None if is_last else job.popular
    return (
        replace(job, name=uuid4().hex, places=places, popular=popular),
        [BackfillShare(pieces=tuple(pieces)) for pieces in shares],
    )


def _fixed(kind: Pattern, numbers: Mapping[str, int]) -> list[Fixed]:
    found: list[Fixed] = []
    for branch in kind.branches:
        s, p, o = (0 if isinstance(node, Variable) else numbers[str(node)] for node in branch.triples[0])
        found.append((s, p, o))
    return found


def _sizes(reader: Reader, fixed: Iterable[Fixed]) -> dict[Fixed, int]:
    """About how many triples have these constants; of a subject there are few."""
    lookups = StoreLookups(reader)
    asked = [one for one in fixed if not one[0]]
    found = lookups.degrees([(p, o) for _, p, o in asked], _COUNTED)
    return dict(zip(asked, found, strict=True)) | {one: 1 for one in fixed if one[0]}


def _shares(reader: Reader, sources: Mapping[Fixed, int]) -> Iterator[BackfillShare]:
    """Small sources together, large ones in parts."""
    forward: list[tuple[int, int]] = []
    backward: list[tuple[int, int]] = []
    size = 0
    for (s, p, o), count in sorted(sources.items()):
        if not s and (count > _SHARE or not o):
            yield from (BackfillShare(spans=(span,)) for span in _spans(reader, p, o, count))
            continue
        (forward if s else backward).append((s, p) if s else (p, o))
        size += count
        if size > _SHARE or len(forward) + len(backward) >= _KEYS:
            yield BackfillShare(tuple(dict.fromkeys(forward)), tuple(backward))
            forward, backward, size = [], [], 0
    if forward or backward:
        yield BackfillShare(tuple(dict.fromkeys(forward)), tuple(backward))


def _spans(reader: Reader, predicate: int, object: int, count: int) -> Iterator[TripleSpan]:
    parts, last = 1 + count // _SHARE, reader.triples.last_term()
    bounds = [last * part // parts for part in range(parts)] + [last]
    predicates = [predicate] if predicate or not object else list(reader.triples.predicates())
    for low, high in pairwise(bounds):
        yield from (TripleSpan(one, object, low, high) for one in predicates)


class BackfillSearch:
    """A job in the hands of a worker: what its queries are made of, ready for any share of it."""

    def __init__(self, store: Store, job: BackfillJob) -> None:
        self._store, self._job = store, job
        graph, documents = job.taken_apart(GRAPH), job.taken_apart(DOCUMENT)
        with store.reading() as reader:
            taxonomy = taxonomies.read(reader)
            self._numbers = numbers_of(reader, graph.constants | documents.constants)
        like = Index(taxonomy)
        number = self._numbers.__getitem__
        self._plans = (
            graph.fan_plans(job.places, like, number) if job.places else graph.plans(job.counts[GRAPH], like, number)
        )
        self._ids = [[int(id) for id in ids] for ids in graph.subscriptions]
        """For each pattern the queries that have it: those of several viewers."""
        self._fitting = {GRAPH: graph.fitting(taxonomy), DOCUMENT: documents.fitting(taxonomy)}
        self._begins = {
            GRAPH: graph.rarest(job.counts[GRAPH]),
            DOCUMENT: documents.rarest(job.counts[DOCUMENT]),
        }
        self._documents = Index(taxonomy)
        for id, scope, pattern in job.queries:
            if scope != GRAPH:
                self._documents.add(str(id), load_pattern(pattern))

    def seek(self, share: BackfillShare) -> Sought:
        """What there is around the triples of a share."""
        rows: Rows = {}
        documents: set[int] = set()
        errors: dict[int, str] = {}
        fans: list[Fan] = []
        for reader, begins in self._begun(share, documents):
            for plan in self._plans if begins else ():
                graph, most = StoreLookups(reader), self._job.most_triples
                finder = RowFinder(plan, graph, most_triples=most, popular=self._job.popular)
                for found in finder.around(plan.seeds_of(begins)):
                    rows |= {(id, row): why for (query, row), why in found.items() for id in self._ids[query]}
                errors |= {id: error.reason for query, error in finder.errors.items() for id in self._ids[query]}
                fans += finder.fans
        return Sought(rows, documents, errors, tuple(united(fans)))

    def _begun(self, share: BackfillShare, documents: set[int]) -> Iterator[tuple[Reader, list[tuple[int, Triple]]]]:
        """The triples at which rows of the graph begin, with their kinds; the documents at which others do."""
        for reader, triples in self._pages(share):
            yield reader, self._kinds(GRAPH, reader, triples)
            stated = [triple for _, triple in self._kinds(DOCUMENT, reader, triples)]
            documents.update(id for ids in reader.triples.stated_by(stated) for id in ids)
        kinds = {place: kind for kind, place in enumerate(self._job.places)}
        for piece in share.pieces:
            with self._store.reading() as reader:
                triples = triples_of(piece, StoreLookups(reader))
                for first in range(0, len(triples), _PAGE):
                    yield reader, [(kinds[piece.fan.place], one) for one in triples[first : first + _PAGE]]

    def match(self, documents: Sequence[int]) -> list[MatchedDocument]:
        """What documents give that are there now."""
        found: list[MatchedDocument] = []
        for first in range(0, len(documents), _KEYS):
            with self._store.reading() as reader:
                records = [r for r in reader.documents.by_ids(documents[first : first + _KEYS]) if r.present]
                stored = stored_documents(reader, records)
            given = self._documents.find(list(stored.values()))
            found += [
                MatchedDocument(record.id, record.version, DocumentFindings(one.findings, dict(one.errors)))
                for record, one in zip(records, given, strict=True)
            ]
        return found

    def _pages(self, share: BackfillShare) -> Iterator[tuple[Reader, list[Triple]]]:
        """The triples of a share, some at a time, each time with the state in which they were seen."""
        if share.forward or share.backward:
            with self._store.reading() as reader:
                lists = [*reader.triples.forward(share.forward), *reader.triples.backward(share.backward)]
                triples = iter(dict.fromkeys(triple for found in lists for triple in found))
                while some := list(islice(triples, _PAGE)):
                    yield reader, some
        for span in share.spans:
            last: Triple | None = None
            is_over = False
            while not is_over:
                with self._store.reading() as reader:
                    page = reader.triples.page(span, last, _PAGE)
                    is_over = len(page) < _PAGE
                    if page:
                        last = page[-1]
                        yield reader, list(dict.fromkeys(page))

    def _kinds(self, scope: str, reader: Reader, triples: Sequence[Triple]) -> list[tuple[int, Triple]]:
        begins = self._begins[scope]
        if not begins:
            return []
        page = page_of(triples, reader.terms.texts, self._numbers.__getitem__)
        found = [(int(kind), triple) for kind, triple in self._fitting[scope].fitting(page)]
        return [(kind, triple) for kind, triple in found if kind in begins]
