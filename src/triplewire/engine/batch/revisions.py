"""Revisions: what a batch does to each document, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triplewire.engine.batch.permissions import AccessLists
from triplewire.model import Access, Change, Document, Publish, Restrict
from triplewire.model.foreign import uri_at_origin
from triplewire.store import DocumentRecord, Triple, Writer, digest, triples_of

Spelled = tuple[str, str, str]


@dataclass(slots=True)
class Revision:
    """A document that a batch changes.

    `before` and `after` are its versions, 0 where it is not there. `old` and `new` have the statements of these
    versions as the store spells them: a blank node under the name that it has in the whole hub. `list_before` and
    `list_after` say who may read them; where only these differ, it is not `is_published`. `publisher` is who publishes
    a document that is new.
    """

    uri: str
    id: int
    content: bytes | None
    before: int
    published: int
    after: int = 0
    old: tuple[Spelled, ...] = ()
    new: tuple[Spelled, ...] = ()
    old_xml: bytes = b""
    new_xml: bytes = b""
    removed: list[Triple] = field(default_factory=list)
    added: list[Triple] = field(default_factory=list)
    statements: list[Triple] = field(default_factory=list)
    list_before: Access | None = None
    list_after: Access | None = None
    publisher: str | None = None
    is_published: bool = True

    @property
    def is_relisted(self) -> bool:
        """Whether others may read it now than before."""
        return self.list_before != self.list_after

    @property
    def stated_before(self) -> list[Triple]:
        """The statements of the version before."""
        added = set(self.added)
        return [*self.removed, *(triple for triple in self.statements if triple not in added)]

    def is_seen_before(self, viewer: str | None) -> bool:
        """Whether the version before was there, and a viewer could read it."""
        return self.before > 0 and (self.list_before is None or self.list_before.may_read(viewer))

    def is_seen_after(self, viewer: str | None) -> bool:
        """Whether there is a version now, and a viewer may read it."""
        return self.content is not None and (self.list_after is None or self.list_after.may_read(viewer))

    @property
    def document(self) -> Document:
        """The new version, with the hub's names for its blank nodes."""
        return spelled_document(self.uri, self.new, self.new_xml)

    @property
    def old_document(self) -> Document:
        """The version before, with the hub's names for its blank nodes."""
        return spelled_document(self.uri, self.old, self.old_xml)


def spelled_document(uri: str, triples: Iterable[Spelled], xml: bytes = b"") -> Document:
    """A document of triples whose terms are spelled out."""
    document = Document.from_lines(uri_at_origin(uri), "\n".join([f"{s} {p} {o} ." for s, p, o in triples]).encode())
    return replace(document, xml=xml) if xml else document


def revise(writer: Writer, changes: Sequence[Change]) -> list[Revision]:
    """What the changes do, in the order of the uris' first occurrence; what changes nothing is left out."""
    uris = dict.fromkeys(change.uri for change in changes)
    last = {
        change.uri: change.document if isinstance(change, Publish) else None
        for change in changes
        if not isinstance(change, Restrict)
    }
    records = dict(zip(uris, writer.documents.current(list(uris)), strict=True))
    lists = AccessLists(writer, changes, records)
    wanted = {uri: document for uri, document in last.items() if _differs(document, records[uri])}
    ids = dict(zip(wanted, writer.documents.ids(list(wanted)), strict=True))
    revisions = [_revision(uri, ids[uri], document, records[uri]) for uri, document in wanted.items()]
    revisions += _as_they_are(writer, [uri for uri in lists.changed if uri not in wanted])
    lists.note(revisions)
    _spell(writer, revisions)
    return revisions


def _as_they_are(writer: Writer, uris: Sequence[str]) -> list[Revision]:
    """Documents whose content stays, and whose list does not; one that came and went with the batch keeps its list."""
    if not uris:
        return []
    writer.documents.ids(uris)
    known = [record for record in writer.documents.current(uris) if record is not None]
    versions = [(record.id, record.version) for record in known]
    contents, xml = writer.documents.contents(versions), writer.documents.xml(versions)
    found: list[Revision] = []
    for record, content, own in zip(known, contents, xml, strict=True):
        version = record.version if record.present else 0
        about = record.uri, record.id, content, version, record.published
        found.append(Revision(*about, after=version, new_xml=own, is_published=False))
    return found


def _differs(document: Document | None, record: DocumentRecord | None) -> bool:
    is_there = record is not None and record.present
    if document is None:
        return is_there
    return not is_there or record is None or record.digest != digest(document.ntriples + document.xml)


def _revision(uri: str, id: int, document: Document | None, record: DocumentRecord | None) -> Revision:
    before, published = (record.version, record.published) if record is not None and record.present else (0, 0)
    content, xml = (None, b"") if document is None else (document.ntriples, document.xml)
    return Revision(uri, id, content, before, published, new_xml=xml)


def _spell(writer: Writer, revisions: Sequence[Revision]) -> None:
    """Find the statements of both versions; terms that are new get their numbers."""
    there = [revision for revision in revisions if revision.before]
    contents = writer.documents.contents([(revision.id, revision.before) for revision in there])
    xml = writer.documents.xml([(revision.id, revision.before) for revision in there])
    for revision, content, old_xml in zip(there, contents, xml, strict=True):
        revision.old = tuple(triples_of(revision.id, content or b""))
        revision.old_xml = old_xml
    for revision in revisions:
        if revision.content is not None:
            revision.new = tuple(triples_of(revision.id, revision.content))
    numbers = numbered(writer, (triple for revision in revisions for triple in (*revision.old, *revision.new)))
    for revision in revisions:
        revision.statements = [(numbers[s], numbers[p], numbers[o]) for s, p, o in revision.new]
        old = [(numbers[s], numbers[p], numbers[o]) for s, p, o in revision.old]
        were, are = set(old), set(revision.statements)
        revision.removed = [triple for triple in old if triple not in are]
        revision.added = [triple for triple in revision.statements if triple not in were]


def numbered(writer: Writer, triples: Iterable[Spelled]) -> Mapping[str, int]:
    """The numbers of all terms of triples."""
    texts = list(dict.fromkeys(text for triple in triples for text in triple))
    return dict(zip(texts, writer.terms.ids(texts), strict=True))
