"""Differences: which rows a batch begins and ends (M6).

Deletions as MDV does it (section 3.5): candidates from the old state, survivors from the new state, then what the new
triples add; at the end, the net difference with the rows on record. A batch has `Neighbourhoods` of the old state
before its statements are written, and of the new one after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from triplewire.engine.batch.revisions import Revision, spelled_document
from triplewire.engine.neighbourhoods import Neighbourhoods, QueryView, Views
from triplewire.engine.standing import Standing
from triplewire.errors import SubscriptionError
from triplewire.matching.finder.finder import Derivation, Key, Reason, Rows
from triplewire.matching.findings import DocumentFindings, Matcher
from triplewire.matching.incremental import Seed, Triple, thinned
from triplewire.matching.pages import Terms
from triplewire.model import Document
from triplewire.model.foreign import uri_at_origin
from triplewire.store import DocumentRecord, NewRow, Queries, Reader, Writer, triples_of

_FEW_PREDICATES = 64
"""With more of them, it costs too much to see that a term is in no triple."""


@dataclass(slots=True)
class Difference:
    """Rows that begin and rows that end, with a derivation after and before; and the records of rows that change."""

    begun: Rows = field(default_factory=dict)
    ended: Rows = field(default_factory=dict)
    inserts: list[tuple[Key, int]] = field(default_factory=list)
    """Rows to put on record, each with its document (0 for the graph)."""
    deletes: list[tuple[int, int]] = field(default_factory=list)
    """Rows to take off the record, by the number of the record and the query that has it no longer."""
    found: Rows = field(default_factory=dict)
    """Rows of the new state that were met on the way, whether they are new or not."""

    def add(self, other: Difference) -> None:
        """Take another one in; they are of different queries."""
        self.begun |= other.begun
        self.ended |= other.ended
        self.inserts += other.inserts
        self.deletes += other.deletes


# -- scope "graph"


@dataclass(slots=True)
class Seeds:
    """The seeds of a batch: in what it takes away, and in what it brings."""

    removed: list[Seed]
    added: list[Seed]


def seeds_of(
    standing: Standing,
    revisions: Sequence[Revision],
    touched: Sequence[Triple],
    neighbourhoods: Neighbourhoods,
    last_known: int,
) -> Seeds:
    """Where the batch's statements fit an atom.

    A new version publishes all its triples: they count for queries that began after the version before. `touched`
    triples stay, but what they mean may change, because the taxonomy does. Terms over `last_known` are new. A document
    with another access list takes all its triples away from some, and brings them to others.
    """
    if not len(standing.graph):
        return Seeds([], [])
    last = standing.last_start
    removed = {
        triple
        for revision in revisions
        for triple in (revision.stated_before if revision.is_relisted else revision.removed)
    }
    added = {
        triple
        for revision in revisions
        for triple in (revision.statements if _counts_anew(revision, last) else revision.added)
    }
    coming = _seeds(standing, [*added, *touched], neighbourhoods)
    return Seeds(_seeds(standing, [*removed, *touched], neighbourhoods), thinned(coming, standing.shapes, last_known))


def _counts_anew(revision: Revision, last_start: int) -> bool:
    """Whether what a document stated before counts for more queries now."""
    is_newer = revision.is_published and revision.before > 0 and revision.published <= last_start
    return is_newer or revision.is_relisted


def _seeds(standing: Standing, triples: Sequence[Triple], neighbourhoods: Neighbourhoods) -> list[Seed]:
    if not triples:
        return []
    return standing.seeds_in(neighbourhoods.page(set(triples)))


def candidates(reader: Reader, old: Neighbourhoods, seeds: Seeds, standing: Standing) -> Rows:
    """Rows of the old state that may end: they use what is taken away, or an optional column of theirs may change.

    Each with a derivation that its query sees, if there is one.
    """
    found = old.around([*seeds.removed, *(seed for seed in seeds.added if standing.is_optional(seed))])
    leaving = {seed.triple for seed in seeds.removed}
    rows = {
        key: why
        for key, why in found.items()
        if not leaving.isdisjoint(why) or key[0] in standing.wide or not old.views.is_all(key[0])
    }  # the others are left a derivation as it was, and their queries see all of it
    _, hidden = visible(reader, old.views, {key: why for key, why in rows.items() if key[0] not in standing.wide})
    if hidden:
        seen = old.having(hidden)
        rows |= {key: seen[key] for key in hidden if key in seen}
    if old.views.has_lists:
        _let_see(reader, standing, old, rows)
    return rows


def _let_see(reader: Reader, standing: Standing, old: Neighbourhoods, rows: Rows) -> None:
    """Of wide queries, let rows have derivations that their viewers see: these are told, if they end."""
    wide = {key: why for key, why in rows.items() if key[0] in standing.wide}
    _, hidden = visible(reader, old.views, wide)
    for key in hidden:
        del rows[key]
    rows |= old.widened(hidden)


def graph_difference(
    reader: Reader, standing: Standing, new: Neighbourhoods, seeds: Seeds, candidates: Rows
) -> Difference:
    """What the batch does to the rows of the graph's queries; the new state is written already, the rows are not."""
    found = new.around([*seeds.added, *(seed for seed in seeds.removed if standing.is_optional(seed))])
    wide = standing.wide
    difference = _narrow(
        reader,
        standing,
        new,
        {key: triples for key, triples in found.items() if key[0] not in wide},
        {key: triples for key, triples in candidates.items() if key[0] not in wide},
    )
    is_all = new.views.is_all
    difference.found = found if new.views.is_one else {key: why for key, why in found.items() if is_all(key[0])}
    hints = [key for key in (*found, *candidates) if key[0] in wide]
    if hints:
        difference.add(_wide(reader, new, hints, candidates))
    return difference


def _narrow(reader: Reader, standing: Standing, new: Neighbourhoods, found: Rows, candidates: Rows) -> Difference:
    keys = list(dict.fromkeys([*found, *candidates]))
    recorded = {key: records[0] for key, records in zip(keys, reader.rows.find(keys), strict=True) if records}
    fresh = {key: triples for key, triples in found.items() if key not in recorded} if recorded else dict(found)
    begun, doubtful = visible(reader, new.views, fresh)
    leaving = [key for key in candidates if key in recorded and not is_sure(key, found, new.views)]
    vanished = _vanished(reader, leaving)
    confirmed = new.having([*doubtful, *(key for key in leaving if key not in vanished)])
    begun |= {key: confirmed[key] for key in doubtful if key in confirmed}
    ended = {key: candidates[key] for key in leaving if key not in confirmed and key[0] not in new.errors}
    if new.errors:
        begun = {key: triples for key, triples in begun.items() if key[0] not in new.errors}
    return Difference(begun, ended, [(key, 0) for key in begun], [(recorded[key].id, key[0]) for key in ended])


def _vanished(reader: Reader, leaving: Sequence[Key]) -> set[Key]:
    """The rows with a term that no triple has any more, and that their query does not bring along: they have ended.

    So it is with most rows of a document that is retracted, and this is seen without knowing what their queries ask.
    """
    if not leaving or len(reader.triples.predicates()) > _FEW_PREDICATES:
        return set()
    unused = reader.triples.unused({term for _, terms in leaving for term in terms if term})
    concerned = [key for key in leaving if not unused.isdisjoint(key[1])]
    records = reader.queries.by_ids([query for query, _ in concerned])
    return {
        key
        for key, record in zip(concerned, records, strict=True)
        if record is not None and any(term in unused and term not in record.terms for term in key[1])
    }


def is_sure(key: Key, found: Rows, views: Views) -> bool:
    """A row found in the new state is there, if its query sees all of it."""
    return key in found and views.is_all(key[0])


def visible(reader: Reader, views: Views, rows: Rows) -> tuple[Rows, list[Key]]:
    """The rows whose derivation their query sees, and the others, which may have another one."""
    if views.is_one:
        return rows, []
    seen: Rows = {}
    hidden: list[Key] = []
    listed = reader.triples.listed([t for why in rows.values() for t in why]) if views.has_lists else set()
    by_view: dict[QueryView, list[Key]] = {}
    for key in rows:
        view = views.of(key[0])
        # most rows have nothing to do with access lists: these are looked at together, for all viewers
        by_view.setdefault(view if not listed.isdisjoint(rows[key]) else QueryView(view.start), []).append(key)
    for (start, viewer), keys in by_view.items():
        if not start and viewer is None:
            seen.update((key, rows[key]) for key in keys)
            continue
        triples = list(dict.fromkeys(triple for key in keys for triple in rows[key]))
        there = zip(triples, reader.seen_by(viewer).triples.visible(triples, start), strict=True)
        stated = {triple for triple, is_visible in there if is_visible}
        for key in keys:
            if stated.issuperset(rows[key]):
                seen[key] = rows[key]
            else:
                hidden.append(key)
    return seen, hidden


def _wide(
    reader: Reader,
    new: Neighbourhoods,
    hints: Sequence[Key],
    candidates: Rows,
) -> Difference:
    """Rows with optional columns: all that have the required columns of a hint, before and after."""
    queries = dict.fromkeys(query for query, _ in hints)
    parts = new.parts(queries)
    wanted = set(map(parts.of, hints))
    after = new.widened(hints, parts)
    before = {
        (record.query, record.terms): record
        for query in queries
        for record in reader.rows.of_query(query)
        if parts.of((record.query, record.terms)) in wanted
    }
    failed = new.errors.keys()
    begun = {key: triples for key, triples in after.items() if key not in before and key[0] not in failed}
    gone = [key for key in before if key not in after and key[0] not in failed]
    required = {parts.of(key): why for key, why in candidates.items() if key[0] in queries}
    ended = {key: candidates.get(key) or required.get(parts.of(key), ()) for key in gone}
    return Difference(begun, ended, [(key, 0) for key in begun], [(before[key].id, key[0]) for key in gone])


# -- scope "document"


def document_rows(
    matcher: Matcher, documents: Mapping[int, Document], reader: Reader, errors: dict[int, SubscriptionError]
) -> dict[int, Rows]:
    """The rows of each document, by its number."""
    if not documents or not len(matcher):
        return {id: {} for id in documents}
    return found_rows(dict(zip(documents, matcher.find(list(documents.values())), strict=True)), reader, errors)


def found_rows(
    findings: Mapping[int, DocumentFindings], reader: Reader, errors: dict[int, SubscriptionError]
) -> dict[int, Rows]:
    """What was found in documents, by their numbers, as rows."""
    rows: dict[int, Rows] = {}
    texts = {
        text
        for found in findings.values()
        for _, row, triples in found.findings
        for text in (*row, *(text for triple in triples for text in triple))
        if text is not None
    }
    ordered = list(texts)
    # places and texts of XML are in no triple: they get their numbers when a row shows them
    number = reader.terms.ids if isinstance(reader, Writer) else reader.terms.find
    numbers = dict(zip(ordered, number(ordered), strict=True))
    for document, found in findings.items():
        errors.update({int(id): error for id, error in found.errors.items()})
        own = rows[document] = {}
        for id, row, triples in found.findings:
            key = int(id), tuple([numbers[text] if text is not None else 0 for text in row])
            if key not in own:
                own[key] = tuple([(numbers[s], numbers[p], numbers[o]) for s, p, o in triples])
    return rows


def document_difference(
    reader: Reader, after: Mapping[int, Rows], before: Mapping[int, Rows], failed: Collection[int]
) -> Difference:
    """What the batch does to rows of documents; a row is there while any document gives it.

    `after` has the rows of each document that the batch touches, `before` derivations of what it gave until now.
    """
    inserts: list[tuple[Key, int]] = []
    deletes: dict[tuple[int, int], Key] = {}
    for document, records in zip(after, reader.rows.of_documents(list(after)), strict=True):
        known = {(record.query, record.terms): record for record in records}
        inserts += [(key, document) for key in after[document] if key not in known and key[0] not in failed]
        deletes |= {
            (record.id, key[0]): key
            for key, record in known.items()
            if key not in after[document] and key[0] not in failed
        }
    keys = list(dict.fromkeys([*(key for key, _ in inserts), *deletes.values()]))
    recorded = dict(zip(keys, reader.rows.find(keys), strict=True))
    brought = {key: after[document][key] for key, document in reversed(inserts)}
    difference = Difference(inserts=inserts, deletes=list(deletes))
    for key in keys:
        is_left = any((record.id, key[0]) not in deletes for record in recorded[key])
        if key in brought and not recorded[key]:
            difference.begun[key] = brought[key]
        elif recorded[key] and not is_left and key not in brought:
            given = (before[record.document] for record in recorded[key] if record.document in before)
            difference.ended[key] = next((rows[key] for rows in given if key in rows), ())
    return difference


# -- what goes on record


def shared(rows: Rows) -> dict[Reason, Queries]:
    """The queries that have a row for one reason, for each row and reason: most rows are those of many queries."""
    found: defaultdict[Reason, list[int]] = defaultdict(list)
    for (query, terms), why in rows.items():
        found[terms, why].append(query)
    return {reason: tuple(sorted(queries)) for reason, queries in found.items()}


def new_rows(difference: Difference, resources: Collection[int]) -> list[NewRow]:
    """The rows to write, one for all queries that get it for one reason; `resources` has what is no literal."""
    distinct = {terms for (_, terms), _ in difference.inserts}
    bound = {terms: tuple(dict.fromkeys(term for term in terms if term in resources)) for terms in distinct}
    found: defaultdict[tuple[int, Terms, Derivation], list[int]] = defaultdict(list)
    for key, document in difference.inserts:
        found[document, key[1], difference.begun.get(key, ())].append(key[0])
    rows = [
        NewRow(tuple(sorted(queries)), document, terms, bound[terms]) for (document, terms, _), queries in found.items()
    ]
    return sorted(rows)


def resources_in(reader: Reader, difference: Difference) -> set[int]:
    """Those of the new rows' terms that are no literals."""
    distinct = {terms for (_, terms), _ in difference.inserts}
    terms = list({term for row in distinct for term in row if term})
    texts = reader.terms.texts(terms)
    return {term for term, text in zip(terms, texts, strict=True) if not text.startswith('"')}


def stored_documents(reader: Reader, records: Sequence[DocumentRecord]) -> dict[int, Document]:
    """Documents as they are now, by number, with the hub's names for their blank nodes."""
    versions = [(record.id, record.version) for record in records]
    contents, xml = reader.documents.contents(versions), reader.documents.xml(versions)
    return {
        record.id: _spelled(record.id, record.uri, content or b"", own)
        for record, content, own in zip(records, contents, xml, strict=True)
    }


def _spelled(document: int, uri: str, content: bytes, xml: bytes) -> Document:
    if b"_:" not in content:
        return Document(uri_at_origin(uri), content, xml)
    return spelled_document(uri, triples_of(document, content), xml)
