"""Resources: what the hub has of a resource, of a document, of its own history (M9), and which documents match (N3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Triple

from triplewire.algebra.content import content
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.batch.differences import stored_documents
from triplewire.engine.inspect.explanations import Source, resource_of, sources_of
from triplewire.engine.inspect.graphs import spelled_triples
from triplewire.matching import Index
from triplewire.model import Document, Term
from triplewire.store import DocumentRecord, Reader, VersionRecord

MOST_REFERENCES = 100
"""So many triples that refer to a resource are shown."""
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """What the current metadata says of a resource.

    `triples` have it as their subject; `content` adds what it holds by blank nodes and strong references (M7);
    `documents` state these. `referenced_by` are triples with it as their object, at most MOST_REFERENCES of those whose
    property has no more of them; `references` counts all, where `has_more` says that it stopped counting. `stated_by`
    has the documents of each of `triples` and `referenced_by`.
    """

    iri: Term
    triples: tuple[Triple, ...]
    content: tuple[Triple, ...]
    documents: tuple[Source, ...]
    referenced_by: tuple[Triple, ...]
    references: int
    has_more: bool
    stated_by: Mapping[Triple, tuple[Source, ...]]

    def __bool__(self) -> bool:
        """True if anything is known of it."""
        return bool(self.triples or self.references)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document: the batch that made it (its id, its number) and when; not present means retracted."""

    uri: str
    version: int
    batch: str
    number: int
    time: str
    present: bool

    def __str__(self) -> str:
        what = "published" if self.present else "retracted"
        return f"{self.uri} version {self.version}: {what} by {self.batch} at {self.time}"


def resource(reader: Reader, iri: str | Term, strong: frozenset[str]) -> Resource:
    """All that is known of a resource now."""
    term = resource_of(iri)

    def about(nodes: Sequence[Term]) -> list[Triple]:
        numbers = [number for number in reader.terms.find([str(node) for node in nodes]) if number]
        found = reader.triples.forward([(number, 0) for number in numbers])
        return spelled_triples(reader, [triple for triples in found for triple in triples])

    whole = content(term, about, strong)
    own = tuple(triple for triple in whole if triple.subject == term)
    stating = dict(zip(whole, sources_of(reader, whole), strict=True))
    documents = sorted({source for sources in stating.values() for source in sources})
    shown, references, has_more = _references(reader, term)
    stating.update(zip(shown, sources_of(reader, shown), strict=True))
    stated_by = {triple: stating[triple] for triple in (*own, *shown)}
    return Resource(term, own, whole, tuple(documents), shown, references, has_more, stated_by)


def _references(reader: Reader, term: Term) -> tuple[tuple[Triple, ...], int, bool]:
    """Counted for each property first: a class may have a million instances, which nobody wants to see."""
    (number,) = reader.terms.find([str(term)])
    keys = [(predicate, number) for predicate in reader.triples.predicates()] if number else []
    counts = dict(zip(keys, reader.triples.degrees(keys, MOST_REFERENCES + 1), strict=True))
    few = [key for key, count in counts.items() if 0 < count <= MOST_REFERENCES]
    triples = [triple for found in reader.triples.backward(few) for triple in found] if few else []
    shown = sorted(spelled_triples(reader, triples[:MOST_REFERENCES]), key=str)
    return tuple(shown), sum(counts.values()), any(count > MOST_REFERENCES for count in counts.values())


def documents(reader: Reader, after: str, limit: int) -> list[Version]:
    """The documents that are there now, by uri, from the one that follows `after`."""
    records = reader.documents.listing(after, limit)
    versions = [VersionRecord(record.id, record.version, record.published, record.present) for record in records]
    return _told(reader, versions, {record.id: record for record in records})


def history(reader: Reader, uri: str) -> list[Version]:
    """The versions of a document that are kept, oldest first; none if it was never heard of."""
    (record,) = reader.documents.current([uri])
    return [] if record is None else _told(reader, reader.documents.history(record.id), {record.id: record})


def _told(reader: Reader, versions: Sequence[VersionRecord], records: dict[int, DocumentRecord]) -> list[Version]:
    batches = reader.batches.by_numbers({version.batch for version in versions})
    return [
        Version(
            records[version.document].uri,
            version.version,
            batches[version.batch].id,
            version.batch,
            batches[version.batch].committed,
            version.present,
        )
        for version in versions
    ]


def find(reader: Reader, taxonomy: Taxonomy, pattern: Pattern, limit: int) -> list[Document]:
    """The newest documents that match a pattern; MatchLimitExceeded if one would take too long to tell.

    The brokering paper's second kind of matching (section 5.3): one query against many stored events. The search stops
    as soon as it has enough of them.
    """
    index = Index(taxonomy)
    index.add("asked", pattern)
    found: list[Document] = []
    before: tuple[int, int] | None = None
    while len(found) < limit and (records := reader.documents.newest(_AT_ONCE, before=before)):
        documents = stored_documents(reader, records)
        for record, matches in zip(records, index.match_many([documents[r.id] for r in records]), strict=True):
            for error in matches.errors.values():
                raise error
            if matches and len(found) < limit:
                found.append(replace(matches.document, uri=record.uri))
        before = records[-1].published, records[-1].id
    return found
