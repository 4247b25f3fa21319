"""Reasons: which rows a batch touches without ending them, and which documents are behind an event (M6, X4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from triplewire.engine.batch.revisions import Revision
from triplewire.engine.standing import Standing
from triplewire.matching.finder.finder import Derivation, Reason, Rows
from triplewire.matching.incremental import Triple
from triplewire.matching.pages import Terms
from triplewire.model.access import EVERYTHING, sight_among
from triplewire.model.foreign import uri_at_origin
from triplewire.store import Writer

Documents = tuple[tuple[int, int, int], ...]
"""Documents by number, with their versions before and after; 0: it is not there."""


class Touched:
    """What a batch does to the content of resources; asked after its statements are written.

    The holders of a resource are seen in the new state. That is enough: where a way to a changed resource was cut, the
    holder of that way's beginning has changed itself. Only for the documents behind an event the ways that were cut
    count as well. With a `viewer`, all of this is as it sees it: `revisions` are those of `seen_revisions`.
    """

    def __init__(
        self, writer: Writer, revisions: Sequence[Revision], strong: Collection[int], viewer: str | None = None
    ) -> None:
        self._reader, self._strong = writer.seen_by(viewer), strong
        self._last_known = writer.terms.last_known
        self._revisions = {revision.id: revision for revision in revisions}
        self._removers = _by_triple((revision.id, revision.removed) for revision in revisions)
        origins: dict[int, set[int]] = {}
        for revision in revisions:
            for subject in {triple[0] for triples in (revision.removed, revision.added) for triple in triples}:
                origins.setdefault(subject, set()).add(revision.id)
        self._subjects = set(origins)
        self._is_flat = True
        """No resource holds any of these: each is its own content, and no other's."""
        self.resources = self._climbed(origins)
        """The resources in whose content a statement changed, with the documents of these statements."""
        with_xml = [revision for revision in revisions if revision.old_xml or revision.new_xml]
        names = writer.terms.find([f"<{uri_at_origin(revision.uri)}>" for revision in with_xml])
        for revision, number in zip(with_xml, names, strict=True):  # rows of XML name the document itself
            if number:
                self.resources.setdefault(number, set()).add(revision.id)

    def _climbed(self, origins: Mapping[int, set[int]]) -> dict[int, set[int]]:
        """Hand the documents up to the holders of each resource, until no holder gets a new one."""
        reached = {resource: set(documents) for resource, documents in origins.items()}
        fresh: Iterable[int] = list(reached)
        while fresh:
            above = self._holders(list(fresh))
            self._is_flat = self._is_flat and not above
            grown = set()
            for holder, held in above:
                before = reached.setdefault(holder, set())
                if not reached[held] <= before:
                    before |= reached[held]
                    grown.add(holder)
            fresh = grown
        return reached

    def _holders(self, resources: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of a resource and what it holds."""
        texts = self._reader.terms.texts(resources)
        blank = {number for number, text in zip(resources, texts, strict=True) if text.startswith("_:")}
        keys = [(0, number) for number in blank]
        keys += [(predicate, number) for number in resources if number not in blank for predicate in self._strong]
        pairs = [(s, o) for triples in (self._reader.triples.backward(keys) if keys else ()) for s, _, o in triples]
        wanted = set(resources)
        pairs += [(s, o) for s, p, o in self._removers if o in wanted and (o in blank or p in self._strong)]
        return pairs

    def changed(self, bound: Collection[int]) -> set[int]:
        """Those of the resources whose content differs, however many documents state it."""
        subjects = self._subjects.intersection(bound) if self._is_flat else self._subjects
        adders = _by_triple((r.id, [t for t in r.added if t[0] in subjects]) for r in self._revisions.values())
        triples = list({*adders, *(triple for triple in self._removers if triple[0] in subjects)})
        stated = zip(triples, self._reader.triples.stated_by(triples), strict=True)
        reached = {triple[0] for triple, by in stated if self._is_real(triple, set(by), adders.get(triple, set()))}
        fresh = set() if self._is_flat else set(reached)
        while fresh:
            fresh = {holder for holder, _ in self._holders(list(fresh))} - reached
            reached |= fresh
        return reached & set(bound)

    def _is_real(self, triple: Triple, stated: set[int], adders: set[int]) -> bool:
        """True if the triple itself comes or goes, not only a document that states it too."""
        before = (stated - adders) | self._removers.get(triple, set())
        return bool(before) != bool(stated)

    def documents_behind(self, reasons: Collection[Reason]) -> dict[Reason, Documents]:
        """For each row the documents that state its derivation, before or after, or changed what it binds."""
        stated = self._stated({triple for _, derivation in reasons for triple in derivation})
        found = {reason: self._behind(*reason, stated) for reason in reasons}
        others = list({document for ids in found.values() for document in ids} - self._revisions.keys())
        records = zip(others, self._reader.documents.by_ids(others), strict=True)
        versions = {document: (record.version, record.version) for document, record in records}
        versions |= {id: (revision.before, revision.after) for id, revision in self._revisions.items()}
        return {reason: tuple([(id, *versions[id]) for id in sorted(ids)]) for reason, ids in found.items()}

    def _stated(self, triples: Collection[Triple]) -> dict[Triple, Collection[int]]:
        """Who states each of the triples; what is said of a resource that is new, only this batch can have said."""
        last = self._last_known
        old = [triple for triple in triples if triple[0] <= last]
        found: dict[Triple, Collection[int]] = dict(zip(old, self._reader.triples.stated_by(old), strict=True))
        if len(old) < len(triples):
            found |= _by_triple((r.id, [t for t in r.added if t[0] > last]) for r in self._revisions.values())
        return found

    def _behind(self, terms: Terms, derivation: Derivation, stated: Mapping[Triple, Collection[int]]) -> set[int]:
        found: set[int] = set()
        for triple in derivation:
            found.update(stated[triple])
            found |= self._removers.get(triple, set())
        for term in terms:
            found |= self.resources.get(term, set())
        return found


class Sights:
    """What a batch does to the content of resources, as each viewer sees it.

    A viewer sees nothing of a document that it may not read: what changes there is no change, and it is behind no
    event. One that it may read no longer is gone for it, and one that it may read from now on is new.
    """

    def __init__(
        self,
        writer: Writer,
        standing: Standing,
        revisions: Sequence[Revision],
        strong: Collection[int],
        named: Collection[str] | None,
    ) -> None:
        """`named` is everybody in an access list, before or after; None if there is no list at all."""
        self._writer, self._standing, self._revisions, self._strong = writer, standing, revisions, strong
        self._named = named
        self._touched: dict[str | None, Touched] = {}
        self.resources: Collection[int] = self.of(EVERYTHING).resources
        """Resources in whose content a statement changed for some viewer."""
        if any(revision.is_relisted for revision in revisions):
            loud = [replace(r, removed=r.stated_before, added=r.statements) if r.is_relisted else r for r in revisions]
            self.resources = Touched(writer, loud, strong, EVERYTHING).resources

    @property
    def is_one(self) -> bool:
        """Whether all see the same."""
        return self._named is None

    def of(self, viewer: str | None) -> Touched:
        """As a viewer sees it."""
        if viewer not in self._touched:
            seen = self._revisions if self.is_one else seen_revisions(self._revisions, viewer)
            self._touched[viewer] = Touched(self._writer, seen, self._strong, viewer)
        return self._touched[viewer]

    def viewer_of(self, query: int) -> str | None:
        """The viewer of a query, or one who sees the same before and after."""
        viewer = self._standing.viewer_of(query)
        return None if self._named is None else sight_among(viewer, self._named)

    def split(self, rows: Rows) -> Iterator[tuple[Touched, Rows]]:
        """Rows by what their viewers see."""
        if self.is_one:
            yield self.of(EVERYTHING), rows
            return
        found: dict[str | None, Rows] = {}
        for key, why in rows.items():
            found.setdefault(self.viewer_of(key[0]), {})[key] = why
        for viewer, own in found.items():
            yield self.of(viewer), own

    def changed(self, queries: Iterable[int], bound: Collection[int]) -> dict[int, set[int]]:
        """For each query those of the resources whose content differs for its viewer."""
        of: dict[str | None, set[int]] = {}
        found: dict[int, set[int]] = {}
        for query in set(queries):
            viewer = self.viewer_of(query)
            if viewer not in of:
                of[viewer] = self.of(viewer).changed(bound)
            found[query] = of[viewer]
        return found


def seen_revisions(revisions: Sequence[Revision], viewer: str | None) -> list[Revision]:
    """The revisions as a viewer sees them; those that it does not see, or in which it sees no change, are left out."""
    found: list[Revision] = []
    for revision in revisions:
        was, is_there = revision.is_seen_before(viewer), revision.is_seen_after(viewer)
        if was and not is_there:
            gone = replace(revision, content=None, after=0, new_xml=b"", added=[], removed=revision.stated_before)
            found.append(gone if revision.is_relisted else revision)
        elif is_there and not was:
            come = replace(revision, before=0, old_xml=b"", removed=[], added=revision.statements)
            found.append(come if revision.is_relisted else revision)
        elif was and revision.is_published:
            found.append(revision)
    return found


def _by_triple(changes: Iterable[tuple[int, Iterable[Triple]]]) -> dict[Triple, set[int]]:
    found: dict[Triple, set[int]] = {}
    for document, triples in changes:
        for triple in triples:
            found.setdefault(triple, set()).add(document)
    return found
