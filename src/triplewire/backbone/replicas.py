"""Replicas: what a hub does with the batches of another home, and which home of a document counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from triplewire.backbone.status import HomeConflict
from triplewire.model import Access, Change, Document, Publish, Restrict, Retract
from triplewire.store import HomeRecord, Writer
from triplewire.store.homes import GONE
from triplewire.wire.backbones import HomeBatch, ReplicatedDocument


@dataclass
class Replication:
    """The changes that a batch of another home leads to here, and the homes of its documents."""

    changes: list[Change] = field(default_factory=list)
    taken: dict[str, HomeRecord] = field(default_factory=dict)
    conflicts: list[HomeConflict] = field(default_factory=list)


def replicate(writer: Writer, name: str, batch: HomeBatch) -> Replication:
    """What a hub of this name does with a batch; documents of which another home counts are left out.

    One that was retracted before this hub ever heard of it changes nothing here, but its home is known from now on:
    else it could be registered here, too, and its home would not take it for its own.
    """
    found = Replication()
    records = writer.documents.current([told.uri for told in batch.documents])
    known = [record for record in records if record is not None]
    homes, lists = writer.homes.of(r.id for r in known), writer.access.of(r.id for r in known)
    for told, record in zip(batch.documents, records, strict=True):
        coming = HomeRecord(batch.home, told.generation)
        here = None if record is None else homes.get(record.id, HomeRecord(name) if record.version else None)
        if here is not None and here.home != coming.home and here.generation == coming.generation:
            first, other = sorted((here, coming))
            found.conflicts.append(HomeConflict(told.uri, first.home, other.home))
        if here is None or counts(coming, here):
            found.taken[told.uri] = coming
            is_there = record is not None or (told.is_content and told.content is not None)
            found.changes += _changes(told, None if record is None else lists.get(record.id)) if is_there else ()
    return found


def counts(coming: HomeRecord, here: HomeRecord) -> bool:
    """Whether a home takes the place of the one that is known, or is it."""
    return coming.home == here.home or (-coming.generation, coming.home) < (-here.generation, here.home)


def _changes(told: ReplicatedDocument, known: Access | None) -> list[Change]:
    found: list[Change] = []
    if told.is_content and told.content is None:
        found.append(Retract(told.uri))
    elif told.is_content:
        found.append(Publish(Document(told.uri, (told.content or "").encode(), told.xml.encode())))
    access = None if told.access is None else Access(*told.access)
    if access != known:
        found.append(Restrict(told.uri, access))
    return found


def note(writer: Writer, batch: HomeBatch, replication: Replication) -> None:
    """Write the homes of the documents that were taken over, and that this hub can tell of them now."""
    records = writer.documents.by_ids(writer.documents.ids(list(replication.taken)))
    there = [(record, replication.taken[record.uri]) for record in records]
    writer.homes.set([(record.id, home) for record, home in there])
    content = {told.uri: told.is_content for told in batch.documents}
    changed = [
        (record.id, (record.version or GONE) if content[record.uri] else 0, home.generation) for record, home in there
    ]
    writer.homes.note(batch.home, batch.number, changed)
