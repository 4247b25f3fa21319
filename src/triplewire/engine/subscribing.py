"""Subscribing: a text becomes a query that stands, and what answers it already is told first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from uuid import uuid4

from pyoxigraph import Variable

from triplewire.algebra.lint import parts_of
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.algebra.wording import word_triple
from triplewire.algebra.xpath.query import PathQuery
from triplewire.engine import taxonomies
from triplewire.engine.differences import Difference, document_rows, new_rows, resources_in, stored_documents
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.names import refuse_unstorable
from triplewire.engine.neighbourhoods import Neighbourhoods, Reason, Rows
from triplewire.engine.reasons import Documents, Touched
from triplewire.engine.standing import GRAPH, Arrivals, Query, Standing, seed_id
from triplewire.errors import MatchLimitExceeded, SubscriptionError, UnsupportedQuery
from triplewire.languages import compile
from triplewire.matching import Index
from triplewire.matching.incremental import (
    Question,
    Shape,
    Triple,
    atoms_of,
    dump_pattern,
    load_pattern,
    shape_of,
    solve,
    unanchored,
)
from triplewire.model import Subscription, Term
from triplewire.store import MATCHED, AtomUse, NewEvent, NewQuery, Reader, SubscriptionRecord, Writer

RULES = "rules"
_MANY = 10_000
"""How many subscriptions are told together what answers them already."""

_NAME = re.compile(r"[^\W\d][\w.-]*")


def compiled(reader: Reader, text: str | Pattern, language: str, prefixes: Mapping[str, str] | None) -> Pattern:
    """The pattern of a text; a rule may name a subscription in the language of rules as its extension (M3)."""
    if isinstance(text, Pattern):
        return normalize(text)
    return _compiled(text, language, prefixes, named_rules(reader, [text]) if language == RULES else {})


def _compiled(text: str, language: str, prefixes: Mapping[str, str] | None, rules: Mapping[str, Pattern]) -> Pattern:
    if language != RULES:
        return compile(text, language=language, prefixes=prefixes)
    named = {name: rules[name] for name in _names_in(text) if name in rules}
    return compile(text, language=language, prefixes=prefixes, named=named)


def named_rules(reader: Reader, texts: Iterable[str]) -> dict[str, Pattern]:
    """The patterns of the registered rules that these texts name."""
    names = list(dict.fromkeys(name for text in texts for name in _names_in(text)))
    known = [record for record in reader.subscriptions.find(names) if record is not None and record.language == RULES]
    queries = reader.queries.by_ids([record.query for record in known])
    return {
        record.id: load_pattern(query.pattern)
        for record, query in zip(known, queries, strict=True)
        if query is not None
    }


def _names_in(text: str) -> list[str]:
    return list(dict.fromkeys(_NAME.findall(text)))


def refuse_unserved(pattern: Pattern, scope: str, language: str) -> None:
    """UnsupportedQuery for what could only be answered by combining everything with everything."""
    if scope != GRAPH:
        return
    if isinstance(pattern, PathQuery):
        reason = "XPath asks one document, and the scope is the graph of all"
        raise UnsupportedQuery(reason, language=language, hint='Use scope="document".')
    for branch in pattern.branches:
        parts = [] if _is_joined(branch) else parts_of(branch)
        if len(parts) > 1:
            named = " / ".join(f"`{word_triple(part[0])}`" for part in parts)
            reason = (
                f"its parts share no variable ({named}), so it would combine every match of one with all of the other"
            )
            hint = 'Join them with a variable, subscribe to each alone, or use scope="document".'
            raise UnsupportedQuery(reason, language=language, hint=hint)
        loose = unanchored(branch)
        if loose:
            reason = f"the optional part with `{word_triple(loose[0].triples[0])}` hangs from no required variable"
            raise UnsupportedQuery(
                reason, language=language, hint="Put it inside the optional part that it hangs from."
            )


def _is_joined(branch: Conjunction) -> bool:
    """True if variables alone join all triple patterns: so it is with most, and it is seen sooner than the parts."""
    waiting = [triple.variables for triple in branch.triples]
    known = set(waiting[0]) if waiting else set()
    while waiting:
        apart = []
        for names in waiting:
            if known.isdisjoint(names):
                apart.append(names)
            else:
                known.update(names)
        if len(apart) == len(waiting):
            return False
        waiting = apart
    return True


@dataclass(slots=True)
class Untold:
    """Subscriptions that have not heard yet what answers their queries; the rows of `new` ones are not on record."""

    asking: list[SubscriptionRecord] = field(default_factory=list)
    queries: dict[int, Query] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)


class Registration:
    """Registers subscriptions in one transaction, a list at a time: lists of a thousand take the least time for each.

    The indexes know them at once. If the transaction fails, `Standing.forget_uncommitted` takes them back.
    """

    def __init__(self, writer: Writer, standing: Standing) -> None:
        self._writer, self._standing = writer, standing
        self._batch, self._cursor = writer.batches.last(), writer.log.last_cursor()
        self._has_documents = bool(writer.documents.listing(limit=1))
        self._shapes: dict[Shape, int] = {}
        self._untold = Untold()

    def add(self, wanted: Sequence[Subscription], prefixes: Mapping[str, str] | None = None) -> list[Pattern]:
        """Register all of them; their patterns."""
        for one in wanted:
            refuse_unstorable(one)
        patterns = self._compiled(wanted, prefixes)
        queries, new = self._queries(wanted, patterns)
        records = self._records(wanted, patterns, queries)
        atoms = self._attach([query for query in new if query.scope == GRAPH])
        shapes = {number: shape for shape, number in self._shapes.items()}
        self._standing.learn(Arrivals(records[-1].number, new, atoms, shapes))
        if self._has_documents:
            self._untold.new.update(query.id for query in new)
            for one, record, pattern in zip(wanted, records, patterns, strict=True):
                if one.start == "ever":
                    self._untold.asking.append(record)
                    self._untold.queries[record.query] = Query(record.query, one.scope, 0, pattern)
            if len(self._untold.asking) >= _MANY:
                self.tell()
        return patterns

    def tell(self) -> None:
        """Tell those that start "ever" what answers them already; to be called when all are registered."""
        untold, self._untold = self._untold, Untold()
        if untold.asking:
            tell_existing(self._writer, self._standing, untold)

    def _compiled(self, wanted: Sequence[Subscription], prefixes: Mapping[str, str] | None) -> list[Pattern]:
        """The patterns; a rule may name one that stands before it."""
        rules = named_rules(self._writer, (one.text for one in wanted if one.language == RULES and one.pattern is None))
        patterns = []
        for one in wanted:
            given = one.pattern is not None
            pattern = normalize(one.pattern) if given else _compiled(one.text, one.language, prefixes, rules)
            refuse_unserved(pattern, one.scope, one.language)
            if one.language == RULES:
                rules[one.id] = pattern
            patterns.append(pattern)
        return patterns

    def _queries(self, wanted: Sequence[Subscription], patterns: Sequence[Pattern]) -> tuple[list[int], list[Query]]:
        """The number of each one's query, and the queries that nobody had."""
        asked = [
            NewQuery(one.scope, self._batch if one.start == "now" else 0, dump_pattern(pattern))
            for one, pattern in zip(wanted, patterns, strict=True)
        ]
        known = zip(asked, self._writer.queries.find_many(asked), strict=True)
        numbers = {query: number for query, number in known if number}
        new = {query: pattern for query, pattern in zip(asked, patterns, strict=True) if query not in numbers}
        made = self._writer.queries.add_many(self._with_terms(new))
        numbers.update(zip(new, made, strict=True))
        taxonomies.note_places(self._writer, new.values())
        return [numbers[query] for query in asked], [
            Query(numbers[query], query.scope, query.start, pattern) for query, pattern in new.items()
        ]

    def _with_terms(self, new: Mapping[NewQuery, Pattern]) -> list[NewQuery]:
        """The queries with the numbers of their constants."""
        texts = [
            sorted({str(term) for branch in pattern.branches for term in _constants(branch)})
            for pattern in new.values()
        ]
        names = list(dict.fromkeys(text for own in texts for text in own))
        numbers = dict(zip(names, self._writer.terms.ids(names), strict=True))
        return [
            replace(query, terms=tuple([numbers[text] for text in own])) for query, own in zip(new, texts, strict=True)
        ]

    def _records(
        self, wanted: Sequence[Subscription], patterns: Sequence[Pattern], queries: Sequence[int]
    ) -> list[SubscriptionRecord]:
        return self._writer.subscriptions.add_many(
            [
                SubscriptionRecord(
                    one.id,
                    query,
                    one.text,
                    one.language,
                    one.owner,
                    pattern.answer,
                    first_cursor=self._cursor,
                    created=self._batch,
                    number=0,
                    start=one.start,
                )
                for one, pattern, query in zip(wanted, patterns, queries, strict=True)
            ]
        )

    def _attach(self, queries: Sequence[Query]) -> dict[str, Pattern]:
        """Write the atoms of graph queries; the patterns that seed them, by name."""
        shaped = [[shape_of(branch).shape for branch in query.pattern.branches] for query in queries]
        fresh = [shape for shape in dict.fromkeys(chain.from_iterable(shaped)) if shape not in self._shapes]
        self._shapes.update(zip(fresh, self._writer.atoms.shape_ids([s.encode() for s in fresh]), strict=True))
        users: list[tuple[int, list[AtomUse]]] = []
        seeding: list[Pattern] = []
        for query, shapes in zip(queries, shaped, strict=True):
            uses: list[AtomUse] = []
            for number, (branch, shape) in enumerate(zip(query.pattern.branches, shapes, strict=True)):
                for atom in atoms_of(branch, is_normal=query.pattern.is_normal):
                    uses.append(AtomUse(number, self._shapes[shape], atom.position, atom.definition))
                    seeding.append(atom.pattern)
            users.append((query.id, uses))
        numbers = chain.from_iterable(self._writer.atoms.attach_many(users))
        used = chain.from_iterable(uses for _, uses in users)
        return {
            seed_id(number, use.shape, use.position): pattern
            for number, use, pattern in zip(numbers, used, seeding, strict=True)
        }


def _constants(branch: Conjunction) -> list[object]:
    """All that may stand in a row or in a key: constants of triples, and fixed bindings."""
    triples = [*branch.triples, *(triple for part in branch.optionals for triple in part.triples)]
    return [
        *(node for triple in triples for node in triple if not isinstance(node, Variable)),
        *(term for _, term in branch.bindings),
    ]


def unregister(writer: Writer, id: str) -> SubscriptionRecord:
    """Take a subscription out, and its query if nobody else has it."""
    record = writer.subscriptions.remove(id)
    (others,) = writer.subscriptions.of_queries([record.query])
    if not others:
        writer.queries.remove(record.query)
    return record


# -- what answers it already


def answers_now(
    reader: Reader, standing: Standing, pattern: Pattern, scope: str, start: int, query: int = 0
) -> dict[int, Rows]:
    """The rows of a pattern in the current metadata, by document (0 for the graph); MatchLimitExceeded if too many."""
    return answers_of(reader, standing, [Query(query, scope, start, pattern)])


def answers_of(reader: Reader, standing: Standing, queries: Sequence[Query]) -> dict[int, Rows]:
    """The rows of queries in the current metadata, by document (0 for the graph).

    Queries of one scope and start are asked together. Where the limits are too low for that, they are halved, until
    one query alone is over them: MatchLimitExceeded, with the number of the query.
    """
    groups: defaultdict[tuple[str, int], list[Query]] = defaultdict(list)
    for query in queries:
        groups[query.scope, query.start].append(query)
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


def _answers_together(reader: Reader, standing: Standing, queries: Sequence[Query]) -> dict[int, Rows]:
    scope, start = queries[0].scope, queries[0].start
    index = Index(standing.taxonomy)
    for query in queries:
        index.add(str(query.id), query.pattern)
    triples = _concerned(reader, standing, queries, start)
    errors: dict[int, SubscriptionError] = {}
    if scope == GRAPH:
        rows = {0: Neighbourhoods(reader, standing, errors).rows_in(triples, index)}
    else:
        has_paths = any(isinstance(query.pattern, PathQuery) for query in queries)
        rows = _document_rows(reader, index, triples, start, errors, has_paths)
    for error in errors.values():
        raise error
    return rows


def _concerned(reader: Reader, standing: Standing, queries: Sequence[Query], start: int) -> set[Triple]:
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
    """Tell subscribers what answers their queries already, in one batch; the rows of new queries go on record.

    The events belong to each subscription alone: others with the same query have heard of these rows.
    """
    try:
        found = answers_of(writer, standing, list(untold.queries.values()))
    except MatchLimitExceeded as error:
        names = {str(record.query): record.id for record in untold.asking}
        raise MatchLimitExceeded(error.reason, subscription=names[error.subscription]) from error
    _put_on_record(writer, found, untold.new)
    distinct: defaultdict[int, Rows] = defaultdict(dict)
    for rows in found.values():
        for key, derivation in rows.items():
            distinct[key[0]].setdefault(key, derivation)
    behind = Touched(writer, (), ()).documents_behind(
        {(terms, why) for own in distinct.values() for (_, terms), why in own.items()}
    )
    _name_documents(writer, found, behind)
    events = [
        NewEvent((-record.number,), MATCHED, terms, why, behind[terms, why])
        for record in untold.asking
        for (_, terms), why in distinct[record.query].items()
    ]
    if events:
        writer.log.append(writer.batches.next(), events)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        writer.batches.add(f"subscribe-{uuid4()}", committed=now, documents=0, events=len(events))


def _name_documents(reader: Reader, found: Mapping[int, Rows], behind: dict[Reason, Documents]) -> None:
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


def _put_on_record(writer: Writer, found: Mapping[int, Rows], new: Collection[int]) -> None:
    fresh = Difference()
    for document, rows in found.items():
        begun = {key: why for key, why in rows.items() if key[0] in new}
        fresh.begun |= begun
        fresh.inserts += [(key, document) for key in begun]
    writer.rows.insert(new_rows(fresh, resources_in(writer, fresh)))
