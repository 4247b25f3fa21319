"""The application of one batch of changes, from documents to events, in one transaction.

What may end is looked up in the old state; the statements are written; then a `Decision` says what becomes of rows, and
one commit writes it. Why the statements are written before anything is decided: the new state is asked of the store,
and to lay the changes over the old one instead would cost every lookup (`overlays` does it for workers elsewhere, who
cannot see them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.batch.differences import (
    Difference,
    Seeds,
    candidates,
    document_difference,
    document_rows,
    graph_difference,
    is_sure,
    new_rows,
    resources_in,
    seeds_of,
    shared,
    stored_documents,
)
from triplewire.engine.batch.hits import take_changed_hits
from triplewire.engine.batch.overlays import Changes
from triplewire.engine.batch.reasons import Sights
from triplewire.engine.batch.recovery import Stale, note_stale, recovered
from triplewire.engine.batch.revisions import Revision
from triplewire.engine.lookups import News
from triplewire.engine.names import now
from triplewire.engine.neighbourhoods import Neighbourhoods, let_in
from triplewire.engine.standing import Standing
from triplewire.engine.workers import SharedFinder
from triplewire.errors import SubscriptionError
from triplewire.matching.finder.finder import Key, Rows
from triplewire.matching.incremental import Triple
from triplewire.model import Access, Document
from triplewire.model.access import EVERYTHING
from triplewire.store import CHANGED, MATCHED, UNMATCHED, NewEvent, Reader, RowRecord, Writer


@dataclass(slots=True)
class Meaning:
    """What a batch changes besides documents: the taxonomy, and the triples that this gives another meaning."""

    taxonomy: Taxonomy
    touched: Sequence[Triple] = ()


@dataclass(slots=True)
class Applied:
    """How a batch ended: its number, its events, and the queries that failed in it.

    Each event has the cursor of its first query; those of the others follow.
    """

    number: int
    events: list[tuple[int, NewEvent]] = field(default_factory=list)
    errors: dict[int, SubscriptionError] = field(default_factory=dict)

    @property
    def queries(self) -> list[int]:
        """The queries that are told something, each once."""
        return list(dict.fromkeys(query for _, event in self.events for query in event.queries))


class _Before(NamedTuple):
    """What the old state says: where the batch fits an atom, the rows of the graph that may end, those of documents."""

    seeds: Seeds
    leaving: Rows
    of_documents: dict[int, Rows]


class Decision(NamedTuple):
    """What a batch does to rows: the records that come and go, the events, and the queries that are out of date."""

    difference: Difference
    events: list[NewEvent]
    stale: dict[int, Stale] | None
    """None: they are those from before."""


def apply(
    writer: Writer,
    standing: Standing,
    revisions: Sequence[Revision],
    batch: str,
    *,
    strong: Sequence[int],
    meaning: Meaning | None = None,
    finder: SharedFinder | None = None,
) -> Applied:
    """Write the revisions, and what they do to rows; the events are in the log then.

    A batch with another taxonomy is found in this process: nobody else knows that one yet.
    """
    return _Application(writer, standing, revisions, strong, meaning, None if meaning else finder).run(batch)


def told_again(reader: Reader, number: int) -> Applied:
    """A batch that was applied before, as the log has it."""
    return Applied(number, [(e.cursor, NewEvent((e.query,), *e[3:])) for e in reader.log.of_batch(number)])


class _Application:
    def __init__(
        self,
        writer: Writer,
        standing: Standing,
        revisions: Sequence[Revision],
        strong: Sequence[int],
        meaning: Meaning | None,
        finder: SharedFinder | None,
    ) -> None:
        self._writer, self._standing = writer, standing
        self._finder, self._documents = finder, finder.matcher(standing) if finder else standing.documents
        self._revisions, self._strong, self._meaning = revisions, strong, meaning
        self._touched = list(meaning.touched) if meaning is not None else []
        self._applied = Applied(writer.batches.next())
        self._changed_hits: Rows = {}
        self._named_before = writer.access.named() if writer.access.has_lists else None

    def run(self, batch: str) -> Applied:
        before = self._before()
        self._write_documents()
        time = now()
        self._commit(self._decided(before, time), batch, time)
        return self._applied

    def _before(self) -> _Before:
        writer, old = self._writer, self._neighbourhoods(lambda: Changes(self._applied.number - 1))
        seeds = seeds_of(self._standing, self._revisions, self._touched, old, writer.terms.last_known)
        return _Before(seeds, candidates(writer, old, seeds, self._standing), self._document_rows_before())

    def _decided(self, before: _Before, time: str) -> Decision:
        writer, seeds = self._writer, before.seeds
        new = self._neighbourhoods(self._changes)
        new.learn(News(writer.terms.last_known, (t for revision in self._revisions for t in revision.added)))
        if self._meaning is not None:
            self._standing.use_taxonomy(self._meaning.taxonomy)
            seeds = self._with_new_meaning(seeds, new)
        difference = graph_difference(writer, self._standing, new, seeds, before.leaving)
        difference.add(self._document_difference(before.of_documents))
        stale = recovered(writer, self._standing, self._applied.number, difference, self._applied.errors, time)
        return Decision(difference, self._events(difference, new), stale)

    def _commit(self, decision: Decision, batch: str, time: str) -> None:
        writer, difference, events = self._writer, decision.difference, decision.events
        if decision.stale is not None:
            note_stale(writer, decision.stale)
        writer.rows.delete(difference.deletes)
        writer.rows.insert(new_rows(difference, resources_in(writer, difference)))
        cursors = writer.log.append(self._applied.number, events)
        firsts = accumulate((len(event.queries) for event in events), initial=cursors.start)
        self._applied.events = list(zip(firsts, events, strict=False))
        writer.batches.add(batch, committed=time, documents=len(self._revisions), events=len(cursors))
        writer.settle()

    # -- finding, here or elsewhere

    def _neighbourhoods(self, changes: Callable[[], Changes]) -> Neighbourhoods:
        """What finds rows in the state as it is now; `changes` tells how that differs from what is committed."""
        if self._finder is None:
            return Neighbourhoods(self._writer, self._standing, self._applied.errors)
        return self._finder.neighbourhoods(self._writer, self._standing, self._applied.errors, changes)

    def _changes(self) -> Changes:
        """How the statements that are written now differ from those that are committed."""
        removed = list({triple for revision in self._revisions for triple in revision.removed})
        left = self._writer.triples.visible(removed, 0)
        gone = frozenset(triple for triple, is_left in zip(removed, left, strict=True) if not is_left)
        added = frozenset(triple for revision in self._revisions for triple in revision.added)
        return Changes(self._applied.number - 1, gone, added, dict(self._writer.terms.made))

    # -- documents

    def _document_rows_before(self) -> dict[int, Rows]:
        """Where the rows of documents came from: only needed of those that had a version."""
        if not len(self._standing.documents):
            return {}
        there = [revision for revision in self._revisions if revision.before]
        documents = {r.id: r.old_document for r in there}
        documents |= self._retouched()
        rows = document_rows(self._documents, documents, self._writer, self._applied.errors)
        return self._let_in(rows, {r.id: r.list_before for r in there})

    def _let_in(self, rows: dict[int, Rows], lists: Mapping[int, Access | None]) -> dict[int, Rows]:
        """The rows of documents that their queries' viewers may read; documents that stay have the lists they had."""
        known = {**self._writer.access.of(id for id in rows if id not in lists), **lists}
        return let_in(self._standing, rows, known)

    def _write_documents(self) -> None:
        writer = self._writer
        published = [revision for revision in self._revisions if revision.is_published]
        changes = [(revision.uri, revision.content) for revision in published]
        saved = writer.documents.save(changes, self._applied.number, [r.new_xml for r in published])
        for revision, record in zip(published, saved, strict=True):
            revision.after = record.version if record.present else 0
        writer.triples.replace([(revision.id, revision.removed, revision.added) for revision in published])
        writer.access.note_publishers([(r.id, r.publisher) for r in self._revisions if r.publisher is not None])
        writer.access.set([(r.id, r.list_after) for r in self._revisions if r.is_relisted])

    def _document_difference(self, before: Mapping[int, Rows]) -> Difference:
        errors = self._applied.errors
        if not len(self._standing.documents):
            return Difference()
        documents = {r.id: r.document for r in self._revisions if r.content is not None}
        after: dict[int, Rows] = {revision.id: {} for revision in self._revisions}
        after |= document_rows(self._documents, documents, self._writer, errors)
        again = self._retouched()
        published = {record.id: record.published for record in self._writer.documents.by_ids(list(again))}
        for id, rows in document_rows(self._documents, again, self._writer, errors).items():
            after[id] = {key: why for key, why in rows.items() if self._standing.start_of(key[0]) < published[id]}
        stayed = [revision for revision in self._revisions if not revision.is_published]
        for revision in stayed:
            own = after[revision.id]
            after[revision.id] = {
                key: why for key, why in own.items() if self._standing.start_of(key[0]) < revision.published
            }
        after = self._let_in(after, {r.id: r.list_after for r in self._revisions})
        difference = document_difference(self._writer, after, before, errors.keys())
        self._changed_hits = take_changed_hits(self._writer, self._standing, self._revisions, before, after, difference)
        return difference

    def _retouched(self) -> dict[int, Document]:
        """Documents that do not change, but state a triple that has another meaning now."""
        if not self._touched or not len(self._standing.documents):
            return {}
        changed = {revision.id for revision in self._revisions}
        stating = {id for ids in self._writer.triples.stated_by(self._touched) for id in ids} - changed
        records = self._writer.documents.by_ids(sorted(stating))
        return stored_documents(self._writer, records)

    def _with_new_meaning(self, seeds: Seeds, new: Neighbourhoods) -> Seeds:
        """The taxonomy decides which atoms a triple fits, too; a touched triple that has gone fits none any more."""
        there = self._writer.triples.visible(self._touched, 0)
        stays = [triple for triple, is_there in zip(self._touched, there, strict=True) if is_there]
        again = seeds_of(self._standing, self._revisions, stays, new, self._writer.terms.last_known)
        gone = set(self._touched).difference(stays)
        added = [seed for seed in (*seeds.added, *again.added) if seed.triple not in gone]
        return Seeds(list(dict.fromkeys([*seeds.removed, *again.removed])), list(dict.fromkeys(added)))

    # -- events

    def _events(self, difference: Difference, new: Neighbourhoods) -> list[NewEvent]:
        """Ended rows first, then those that begin, then those that stay with new content.

        Of these those of a query together, because the log is written faster where neighbours come one after another.
        """
        sights = Sights(self._writer, self._standing, self._revisions, self._strong, self._named())
        staying = self._staying(difference, sights, new)
        # a query that is answered anew begins and ends its rows by what is on record
        staying |= {key: why for key, why in self._changed_hits.items() if key not in difference.begun}
        kinds = ((UNMATCHED, difference.ended), (MATCHED, difference.begun), (CHANGED, staying))
        events = []
        for kind, rows in kinds:
            for touched, own in sights.split(rows):
                queries = shared(own)
                behind = touched.documents_behind(queries)
                for reason in sorted(queries, key=queries.__getitem__):
                    events.append(NewEvent(queries[reason], kind, *reason, behind[reason]))
        return events

    def _named(self) -> frozenset[str] | None:
        """Everybody who was or is named in an access list; None if there was none and is none."""
        access = self._writer.access
        if self._named_before is None and not access.has_lists:
            return None
        return access.named() | (self._named_before or frozenset())

    def _staying(self, difference: Difference, sights: Sights, new: Neighbourhoods) -> Rows:
        """Rows that stay and bind a resource whose content differs, with a derivation."""
        gone = set(difference.deletes)
        moved = dict(difference.inserts)
        stays: dict[Key, int] = {}
        for record in self._concerned(sights):
            key = record.query, record.terms
            if (record.id, record.query) not in gone:
                stays[key] = record.document
            elif key in moved:  # the row stays, because another document gives it now
                stays.setdefault(key, moved[key])
        for key in (*difference.begun, *difference.ended):
            stays.pop(key, None)
        derived = self._derived_in_documents({key: document for key, document in stays.items() if document})
        graph = [key for key, document in stays.items() if not document]
        derived |= {key: difference.found[key] for key in graph if key in difference.found}
        derived |= self._derived_in_graph([key for key in graph if key not in derived], new)
        return {key: derived.get(key, ()) for key in stays}

    def _concerned(self, sights: Sights) -> list[RowRecord]:
        """The rows on record that bind a resource whose content differs."""
        records = self._writer.rows.binding(list(sights.resources))
        bound = {term for record in records for term in record.terms}.intersection(sights.resources)
        if not bound:
            return []
        if sights.is_one:
            changed = sights.of(EVERYTHING).changed(bound)
            return [record for record in records if changed.intersection(record.terms)]
        changed_for = sights.changed((record.query for record in records), bound)
        return [record for record in records if changed_for[record.query].intersection(record.terms)]

    def _derived_in_graph(self, keys: Sequence[Key], new: Neighbourhoods) -> Rows:
        """Derivations of rows that are there; most use a triple of a changed resource, and are found together."""
        if not keys:
            return {}
        bound = {term for _, terms in keys for term in terms}
        said = {triple for revision in self._revisions for triple in revision.statements if triple[0] in bound}
        nearby = new.aside()  # it fails nobody: a row that it lacks is asked for
        found = nearby.around(self._standing.seeds_in(nearby.page(said)))
        rows = {key: found[key] for key in keys if is_sure(key, found, new.views)}
        left = [key for key in keys if key not in rows]
        asked = new.having(left) if left else {}
        return rows | {key: asked[key] for key in left if key in asked}

    def _derived_in_documents(self, keys: Mapping[Key, int]) -> Rows:
        records = self._writer.documents.by_ids(sorted(set(keys.values())))
        documents = stored_documents(self._writer, records)
        rows = document_rows(self._documents, documents, self._writer, self._applied.errors)
        return {key: rows[document].get(key, ()) for key, document in keys.items()}
