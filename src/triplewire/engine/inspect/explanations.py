"""Explanations: why a row answers a subscription, and why a resource does not (X4).

An answer is told by its triples, the conditions that they passed, and the documents that state them. Where there is
none, the pattern is followed from the resource, triple by triple, through all documents that count for the
subscription, until a part of it fits nothing; that part is named, with the values seen by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from pyoxigraph import NamedNode, Triple

from triplewire.algebra.evaluate import Graph
from triplewire.algebra.explain import Checked, Failure, Reason, follow, why
from triplewire.algebra.pattern import Conjunction, Pattern, columns_of
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.wording import word_list, word_term, word_triple
from triplewire.algebra.xpath.query import PathQuery
from triplewire.engine.batch.differences import stored_documents
from triplewire.engine.connection import query_of
from triplewire.engine.inspect.graphs import StoreGraph, document_graphs, numbers_of, spelled_triples
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.standing import GRAPH
from triplewire.engine.subscriptions.registrations import as_written
from triplewire.errors import MatchLimitExceeded, UnknownRow
from triplewire.matching.incremental import load_pattern, solve
from triplewire.model import Row, Term, parse_term
from triplewire.model.event import DOCUMENT
from triplewire.store import DocumentRecord, QueryRecord, Reader, RowRecord, SubscriptionRecord

_MOST_DOCUMENTS = 200
"""So many documents that speak of a resource are looked at; the first ones stand for the rest."""
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A document that states something, in the version that does."""

    uri: str
    version: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"uri": self.uri, "version": self.version}

    def __str__(self) -> str:
        return f"{self.uri} (version {self.version})"


@dataclass(frozen=True, slots=True)
class Why:
    """Why a row answers a subscription: the triples with the documents that state each, and the conditions passed."""

    subscription: str
    row: Row
    stated: tuple[tuple[Triple, tuple[Source, ...]], ...]
    conditions: tuple[Checked, ...]
    selected: tuple[str, Source] | None = None
    """Of an XPath subscription: its expression, and the document that it is true of."""

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples that make the row."""
        return tuple(triple for triple, _ in self.stated)

    @property
    def documents(self) -> tuple[Source, ...]:
        """All documents that state one of the triples."""
        own = [] if self.selected is None else [self.selected[1]]
        return tuple(sorted({*own, *(source for _, sources in self.stated for source in sources)}))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, terms in their N-Triples spelling."""
        return {
            "subscription": self.subscription,
            "row": {name: str(term) for name, term in self.row.items()},
            "triples": [
                {"triple": str(triple), "documents": [source.as_dict() for source in sources]}
                for triple, sources in self.stated
            ],
            "conditions": [str(checked) for checked in self.conditions],
            **({} if self.selected is None else {"xpath": self.selected[0], "document": self.selected[1].as_dict()}),
        }

    def __str__(self) -> str:
        values = ", ".join(f"?{name} = {word_term(term)}" for name, term in self.row.items())
        if self.selected is not None:
            return f"{values} answers {self.subscription}\n  because of `{self.selected[0]}` in {self.selected[1]}"
        lines = [f"{values or 'it'} answers {self.subscription}", "  because of the triples"]
        for triple, sources in self.stated:
            lines.append(f"    {word_triple(triple)}  in {word_list(map(str, sources), _MOST_NAMED)}")
        if self.conditions:
            lines += ["  and the conditions", *(f"    {checked}" for checked in self.conditions)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a resource does not answer a subscription: for each alternative of the pattern the part that fits nothing.

    `variable` is the column in which the resource came furthest. `document` is the one that came furthest, where all
    triples must come from one document. `earlier` are documents that would make it an answer, but were published
    before the subscription that starts now. `is_mentioned` is false if no document that counts speaks of it.
    """

    subscription: str
    resource: Term
    matches: bool
    variable: str | None = None
    failures: tuple[Failure, ...] = ()
    document: Source | None = None
    earlier: tuple[Source, ...] = ()
    is_mentioned: bool = True

    @property
    def first(self) -> Failure | None:
        """The failure to look at first: the one that got furthest; None if the resource is an answer."""
        return self.failures[0] if self.failures else None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, terms in their N-Triples spelling."""
        return {
            "subscription": self.subscription,
            "resource": str(self.resource),
            "matches": self.matches,
            "variable": self.variable,
            "failures": [str(failure) for failure in self.failures],
            "stops": [failure.as_dict() for failure in self.failures],
            "document": None if self.document is None else self.document.as_dict(),
            "earlier": [source.as_dict() for source in self.earlier],
            "is_mentioned": self.is_mentioned,
        }

    def __str__(self) -> str:
        name = word_term(self.resource)
        if self.matches:
            return f"{name} answers {self.subscription}"
        lines = [f"{name} does not answer {self.subscription}"]
        if self.earlier:
            which = word_list(map(str, self.earlier), _MOST_NAMED)
            lines.append(f"  it would, but the subscription starts now, and this was published before it: {which}")
            return "\n".join(lines)
        if not self.is_mentioned:
            lines.append("  no document that counts for the subscription speaks of it")
        lines += [f"  {self._told(failure)}" for failure in self.failures]
        if self.document is not None:
            lines.append(f"  (looked at in {self.document}; all triples must come from one document)")
        if not self.failures and self.is_mentioned:
            lines.append("  the pattern can never match: it has no alternative")
        return "\n".join(lines)

    def _told(self, failure: Failure) -> str:
        return f"alternative {failure.branch + 1}: {failure}" if len(self.failures) > 1 else str(failure)


# -- why


def why_row(reader: Reader, taxonomy: Taxonomy, record: SubscriptionRecord, row: Mapping[str, Term]) -> Why:
    """Why a row is an answer; UnknownRow if it is none."""
    query = query_of(reader, record)
    reader = reader.seen_by(query.viewer)
    pattern = load_pattern(query.pattern)
    numbers = _numbers(reader, pattern, row)
    found = reader.rows.find([(query.id, numbers)])[0] if numbers is not None else []
    on_record = found[0] if found else None
    return _why(pattern, _RowInQuestion(reader, taxonomy, record, query, row, numbers or (), on_record))


@dataclass(frozen=True, slots=True)
class _RowInQuestion:
    """A row of a query that is to be explained: its numbers, and what is on record of it."""

    reader: Reader
    taxonomy: Taxonomy
    record: SubscriptionRecord
    query: QueryRecord
    row: Mapping[str, Term]
    numbers: tuple[int, ...]
    on_record: RowRecord | None


@singledispatch
def _why(pattern: Pattern, asked: _RowInQuestion) -> Why:
    reader, taxonomy, record, query, row = asked.reader, asked.taxonomy, asked.record, asked.query, asked.row
    if asked.on_record is None:
        raise UnknownRow(_not_a_row(reader, taxonomy, record, pattern, row), subscription=record.id)
    told = as_written(reader, record.text, record.language, pattern)
    if query.scope == GRAPH:
        graph = _around(reader, pattern, asked.numbers, query.start, record.id)
        return _told(reader, record, _reason(told, graph, taxonomy, row), None)
    (document,) = reader.documents.by_ids([asked.on_record.document])
    ((_, stated),) = document_graphs(reader, [document])
    return _told(reader, record, _reason(told, stated, taxonomy, row), document.id)


@_why.register(PathQuery)
def _why_of_path(query: PathQuery, asked: _RowInQuestion) -> Why:
    if asked.on_record is None:
        raise UnknownRow("it selects nothing that makes this row", subscription=asked.record.id)
    (behind,) = asked.reader.documents.by_ids([asked.on_record.document])
    return Why(asked.record.id, Row(asked.row), (), (), (query.text, Source(behind.uri, behind.version)))


def _numbers(reader: Reader, pattern: Pattern, row: Mapping[str, Term]) -> tuple[int, ...] | None:
    """The row as it would be on record; None if it cannot be."""
    if not row.keys() <= set(pattern.answer):
        return None
    found = numbers_of(reader, map(str, row.values()))
    return tuple(found[str(row[n])] if n in row else 0 for n in pattern.answer) if all(found.values()) else None


def _around(reader: Reader, pattern: Pattern, numbers: Sequence[int], start: int, id: str) -> Graph:
    bindings = {name: number for name, number in zip(pattern.answer, numbers, strict=True) if number}
    gathered = solve([(branch, bindings) for branch in pattern.branches], StoreLookups(reader, start))
    for reason in gathered.refused.values():
        raise MatchLimitExceeded(reason, subscription=id)
    return Graph(spelled_triples(reader, list(gathered.triples)))


def _reason(pattern: Pattern, graph: Graph, taxonomy: Taxonomy, row: Mapping[str, Term]) -> Reason:
    return next(reason for reason in why(pattern, graph.triples, taxonomy) if reason.row == row)


def _told(reader: Reader, record: SubscriptionRecord, reason: Reason, only: int | None) -> Why:
    stated = zip(reason.triples, sources_of(reader, reason.triples, only), strict=True)
    return Why(record.id, Row(reason.row), tuple(stated), reason.conditions)


def sources_of(reader: Reader, triples: Sequence[Triple], only: int | None = None) -> list[tuple[Source, ...]]:
    """The documents that state each triple; or one of them only."""
    numbers = numbers_of(reader, (str(term) for triple in triples for term in triple))
    keys = [(numbers[str(t.subject)], numbers[str(t.predicate)], numbers[str(t.object)]) for t in triples]
    stating = reader.triples.stated_by(keys)
    ids = sorted({id for found in stating for id in found if only in (None, id)})
    named = {record.id: Source(record.uri, record.version) for record in reader.documents.by_ids(ids)}
    return [tuple(named[id] for id in found if id in named) for found in stating]


def _not_a_row(
    reader: Reader, taxonomy: Taxonomy, record: SubscriptionRecord, pattern: Pattern, row: Mapping[str, Term]
) -> str:
    wrong = sorted(row.keys() - set(pattern.answer))
    if wrong:
        columns = ", ".join(f"?{name}" for name in pattern.answer) or "none (it is a yes or no question)"
        return f"?{wrong[0]} is not one of its columns; they are {columns}"
    values = ", ".join(f"?{name} = {word_term(term)}" for name, term in row.items()) or "the empty row"
    asked = _Asked(reader, taxonomy, record)
    found = asked.of_whole(dict(row)) if row else None
    return f"{values} is not one of its answers" + (f": {found.first}" if found and found.first else "")


# -- why not


def why_not_resource(reader: Reader, taxonomy: Taxonomy, record: SubscriptionRecord, iri: str | Term) -> WhyNot:
    """Why a resource is no answer; `matches` if it is one."""
    resource = resource_of(iri)
    (number,) = reader.terms.find([str(resource)])
    if number and any(row.query == record.query for row in reader.rows.binding([number])):
        return WhyNot(record.id, resource, True)
    query = query_of(reader, record)
    reader, pattern = reader.seen_by(query.viewer), load_pattern(query.pattern)
    if pattern.asks_xml:
        return _why_not_selected(reader, taxonomy, record, pattern, resource)
    return _Asked(reader, taxonomy, record).of_resource(resource)


def _why_not_selected(
    reader: Reader, taxonomy: Taxonomy, record: SubscriptionRecord, pattern: Pattern, resource: Term
) -> WhyNot:
    """Why a document gives an XPath subscription nothing; the resource is the document."""
    (document,) = reader.documents.current([resource.value])
    if document is None or not document.present:
        return WhyNot(record.id, resource, False, DOCUMENT, is_mentioned=False, failures=())
    source = Source(document.uri, document.version)
    told = pattern.why_not(stored_documents(reader, [document])[document.id], taxonomy)
    if told.matches:
        return WhyNot(record.id, resource, False, DOCUMENT, (), source, (source,))
    return WhyNot(record.id, resource, False, DOCUMENT, told.failures, source)


def resource_of(iri: str | Term) -> Term:
    """The resource that is meant: an IRI, bare or in angle brackets, or a blank node by the hub's name for it."""
    if not isinstance(iri, str):
        return iri
    return parse_term(iri) if iri.startswith(("<", "_:")) else NamedNode(iri)


@dataclass(frozen=True, slots=True)
class _Followed:
    """How far values came: a reason for a match, or the failures of all alternatives, furthest first."""

    reasons: tuple[Reason, ...]
    failures: tuple[Failure, ...]

    @property
    def reach(self) -> int:
        return max((len(failure.matched) for failure in self.failures), default=0)


class _Asked:
    """Follows a subscription's pattern from given values."""

    def __init__(self, reader: Reader, taxonomy: Taxonomy, record: SubscriptionRecord) -> None:
        self._reader, self._taxonomy, self._record = reader, taxonomy, record
        self._query = query_of(reader, record)
        self._pattern = as_written(reader, record.text, record.language, load_pattern(self._query.pattern))

    def of_whole(self, given: dict[str, Term]) -> WhyNot:
        """Why these values together are no row."""
        return self._best(next(iter(given.values())), [given])

    def of_resource(self, resource: Term) -> WhyNot:
        """Why the resource is no answer, in the column in which it comes furthest."""
        return self._best(resource, [{name: resource} for name in self._columns()])

    def _best(self, resource: Term, tries: Sequence[dict[str, Term]]) -> WhyNot:
        found = [self._tried(resource, given) for given in tries] or [WhyNot(self._record.id, resource, False)]
        told = [answer for answer in found if answer.earlier] or found
        return max(told, key=lambda answer: max((len(f.matched) for f in answer.failures), default=-1))

    def _columns(self) -> list[str]:
        """The columns that a resource can be in, required ones first; of a yes or no question all variables."""
        branches = self._pattern.branches
        names = self._pattern.answer or tuple(
            dict.fromkeys(n for b in branches for t in b.triples for n in t.variables)
        )
        required = [n for n in names if any(n in b.variables or n in dict(b.bindings) for b in branches)]
        return required or list(names)

    def _tried(self, resource: Term, given: dict[str, Term]) -> WhyNot:
        start, name = self._query.start, next(iter(given))
        is_mentioned = bool(self._speaking(given.values(), start))
        document, visible = self._furthest(given, start)
        earlier = self._earlier(self._furthest(given, 0)[1], start) if start else ()
        return WhyNot(self._record.id, resource, False, name, visible.failures, document, earlier, is_mentioned)

    def _follow(self, graph: Graph, given: dict[str, Term]) -> _Followed:
        found = [
            follow(number, _widened(branch, given), graph, self._taxonomy, _fitting(branch, given))
            for number, branch in enumerate(self._pattern.branches)
        ]
        failures = sorted((f for f in found if isinstance(f, Failure)), key=lambda failure: -len(failure.matched))
        return _Followed(tuple(r for r in found if isinstance(r, Reason)), tuple(failures))

    def _furthest(self, given: dict[str, Term], start: int) -> tuple[Source | None, _Followed]:
        """How far the values come; with the document in which that is, where all triples must come from one."""
        if self._query.scope == GRAPH:
            return None, self._follow(StoreGraph(self._reader, start), given)
        best: tuple[Source | None, _Followed] = None, self._follow(Graph(()), given)
        for record, graph in document_graphs(self._reader, self._speaking(given.values(), start)):
            found = self._follow(graph, given)
            if found.reasons:
                return Source(record.uri, record.version), found
            if best[0] is None or found.reach > best[1].reach:
                best = Source(record.uri, record.version), found
        return best

    def _speaking(self, terms: Iterable[Term], start: int) -> list[DocumentRecord]:
        """Documents that speak of the first of the terms, as a subject or else as a value."""
        (number,) = self._reader.terms.find([str(next(iter(terms)))])
        if not number:
            return []
        ids = dict.fromkeys(self._stating(number))
        return [r for r in self._reader.documents.by_ids(list(ids)) if r.published > start and r.present]

    def _stating(self, number: int) -> Iterator[int]:
        triples = self._reader.triples
        about = triples.forward([(number, 0)])[0][:_MOST_DOCUMENTS]
        if not about and triples.degrees([(0, number)], _MOST_DOCUMENTS)[0]:
            about = triples.backward([(0, number)])[0][:_MOST_DOCUMENTS]
        for stating in triples.stated_by(about):
            yield from stating

    def _earlier(self, everywhere: _Followed, start: int) -> tuple[Source, ...]:
        """The documents behind a match that would be, if those published before the start counted."""
        for reason in everywhere.reasons[:1]:
            sources = sorted({s for stating in sources_of(self._reader, reason.triples) for s in stating})
            records = self._reader.documents.current([source.uri for source in sources])
            return tuple(s for s, r in zip(sources, records, strict=True) if r is not None and r.published <= start)
        return ()


def _widened(branch: Conjunction, given: Mapping[str, Term]) -> Conjunction:
    """The alternative with those optional parts required that a value is asked of."""
    wanted = given.keys() - branch.variables - dict(branch.bindings).keys()
    asked = [part for part in branch.optionals if any(wanted & set(triple.variables) for triple in part.triples)]
    if not asked:
        return branch
    triples = (*branch.triples, *(triple for part in asked for triple in part.triples))
    return Conjunction(triples, (*branch.conditions, *(c for part in asked for c in part.conditions)), branch.bindings)


def _fitting(branch: Conjunction, given: dict[str, Term]) -> dict[str, Term]:
    known = columns_of(branch)
    return {name: term for name, term in given.items() if name in known}
