"""What another hub of the backbone is told: a function of its question and of the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from triplewire.backbone.members import MemberState
from triplewire.engine import taxonomies
from triplewire.engine.batch import policies
from triplewire.model import Access
from triplewire.store import DocumentRecord, HomeRecord, Reader, ReplicationRecord
from triplewire.wire.backbones import (
    HomeBatch,
    MemberAnswer,
    MemberQuestion,
    ReplicatedDocument,
    StampedTriples,
    digests_of_ranges,
    range_of,
)

MOST_DOCUMENTS = 1_000
"""So many documents are told at a time, or one batch that has more."""


def answer(reader: Reader, state: MemberState, question: MemberQuestion) -> MemberAnswer:
    """What the one that asks lacks."""
    found = MemberAnswer(state.name)
    if question.ranges:
        return replace(found, differing=_differing(reader, state, question.ranges))
    if question.documents:
        return replace(found, documents=_documents(reader, state, question.documents))
    found = _with_batches(reader, state, question, found)
    if state.stamp("schema") > question.schema:
        policy, triples = policies.stored(reader)
        found = replace(found, schema=StampedTriples(state.stamp("schema"), triples, policy))
    if state.stamp("taxonomy") > question.taxonomy:
        triples, names = taxonomies.stored(reader)
        found = replace(found, taxonomy=StampedTriples(state.stamp("taxonomy"), triples, names=names))
    return found


def _with_batches(reader: Reader, state: MemberState, question: MemberQuestion, found: MemberAnswer) -> MemberAnswer:
    batches: list[HomeBatch] = []
    positions: dict[str, int] = {}
    left = MOST_DOCUMENTS
    for home, until in (state.positions | {state.name: reader.batches.last()}).items():
        after = question.positions.get(home, 0)
        if home == question.member or until <= after or left <= 0:
            continue
        records = reader.homes.replications(home, after, until, left)
        left -= len(records)
        batches += _batches(reader, home, records)
        positions[home] = until if left > 0 else records[-1].number
    return replace(found, batches=batches, positions=positions, is_more=left <= 0)


def _batches(reader: Reader, home: str, records: Iterable[ReplicationRecord]) -> list[HomeBatch]:
    kept = [record for record in records if record.is_kept]
    documents = {record.id: record for record in reader.documents.by_ids([each.document for each in kept])}
    versions = [(each.document, each.version) for each in kept]
    contents, xml = reader.documents.contents(versions), reader.documents.xml(versions)
    lists = reader.access.of(documents)
    found: dict[int, list[ReplicatedDocument]] = {}
    for record, content, own in zip(kept, contents, xml, strict=True):
        told = ReplicatedDocument(
            documents[record.document].uri,
            None if content is None else content.decode(),
            own.decode(),
            listed(lists.get(record.document)),
            record.generation,
            is_content=record.version != 0,
        )
        found.setdefault(record.number, []).append(told)
    return [HomeBatch(home, number, told) for number, told in found.items()]


def listed(access: Access | None) -> list[list[str]] | None:
    """An access list as it is told."""
    return None if access is None else [[*access.readers], [*access.writers]]


# -- ranges


def own_documents(reader: Reader, name: str, home: str) -> list[tuple[DocumentRecord, HomeRecord]]:
    """The documents of a home as the hub of this name has them, by uri; retracted ones too."""
    found: list[tuple[DocumentRecord, HomeRecord]] = []
    after = ""
    while records := reader.documents.listing(after, MOST_DOCUMENTS, present=False):
        homes = reader.homes.of(record.id for record in records)
        with_homes = [(record, homes.get(record.id, HomeRecord(name))) for record in records if record.version]
        found += [(record, at) for record, at in with_homes if at.home == home]
        after = records[-1].uri
    return found


def digests(reader: Reader, documents: Iterable[tuple[DocumentRecord, HomeRecord]]) -> list[tuple[str, str]]:
    """The uri of each document, and a digest of what is there and of who may read it."""
    every = list(documents)
    lists = reader.access.of(record.id for record, _ in every)
    return [
        (record.uri, f"{record.digest.hex()} {listed(lists.get(record.id))} {at.generation}") for record, at in every
    ]


def _differing(reader: Reader, state: MemberState, ranges: dict[str, str]) -> dict[str, dict[str, str]]:
    own = digests(reader, own_documents(reader, state.name, state.name))
    here = digests_of_ranges(own)
    found: dict[str, dict[str, str]] = {
        name: {} for name in ranges.keys() | here.keys() if ranges.get(name) != here.get(name)
    }
    for uri, digest in own:
        if (name := range_of(uri)) in found:
            found[name][uri] = digest
    return found


def _documents(reader: Reader, state: MemberState, uris: list[str]) -> list[ReplicatedDocument]:
    """Those of the documents whose home this is."""
    records = [record for record in reader.documents.current(uris) if record is not None]
    homes = reader.homes.of(record.id for record in records)
    own = [(record, homes.get(record.id, HomeRecord(state.name))) for record in records]
    own = [(record, at) for record, at in own if at.home == state.name]
    wanted = [ReplicationRecord(0, r.id, r.version, at.generation) for r, at in own]
    batches = _batches(reader, state.name, wanted)
    return [document for batch in batches for document in batch.documents]
