"""States: what all edges are told of one state of a hub, whatever they hold: where it is, its schema, its taxonomy."""

from __future__ import annotations

from collections.abc import Iterable

from triplewire.engine import taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.edges.holdings import EDGE, is_edge
from triplewire.engine.edges.offers import NUMBERED, KnownEdges
from triplewire.engine.edges.positions import HubPosition
from triplewire.model import parse_triple
from triplewire.schema import Schema
from triplewire.store import BatchRecord, Reader, StateStamp
from triplewire.wire.edges import EdgeAnswer, digest_of

_MARKS = 8


class HubSettings:
    """What is set of a hub: its schema and taxonomy, whether it is an edge, and whose edges it has."""

    schema: Schema
    schema_digest: str
    taxonomy: list[list[str]]
    taxonomy_digest: str

    def __init__(self, reader: Reader, before: HubSettings | None) -> None:
        """Of what was set `before`, what is the same is not made again."""
        self.is_edge = is_edge(reader)
        self.edges = KnownEdges(reader)
        self._number = taxonomies.number_of(reader)
        if before is not None and before._number == self._number:
            self.taxonomy, self.taxonomy_digest = before.taxonomy, before.taxonomy_digest
        else:
            self.taxonomy = taxonomies.everything(reader)
            self.taxonomy_digest = digest_of_triples(self.taxonomy)
        self.policy, self.triples = policies.stored(reader)
        if before is not None and (before.policy, before.triples) == (self.policy, self.triples):
            self.schema, self.schema_digest = before.schema, before.schema_digest
        else:
            self.schema = Schema.from_triples(parse_triple(*spelled) for spelled in self.triples)
            self.schema_digest = digest_of_triples(self.triples, self.policy)


class HubState:
    """One state of a hub. What has not changed since the state before it is taken from there."""

    marks: dict[int, str]
    """What the last batches had that no other has, by number."""
    set: HubSettings
    _sights: dict[str | None, str | None]

    def __init__(self, reader: Reader, stamp: StateStamp, before: HubState | None) -> None:
        self.stamp, self.generation = stamp, reader.generation
        self.number, self.lists = reader.batches.last(), reader.access.number()
        record = reader.batches.by_numbers({self.number}).get(self.number)
        self.batch, self.time = ("", "") if record is None else (record.id, record.committed)
        self.here = HubPosition(self.number, self.lists, mark_of(record))
        self.position = str(self.here)
        self.no_news = EdgeAnswer(self.position, self.number, self.time)
        """What an edge is told that nothing concerns: the same for all of them."""
        earlier = [] if before is None else [*before.marks.items()][-_MARKS:]
        self.marks = {**dict(earlier), self.number: self.here.mark}
        self.registry, self.forgotten = reader.subscriptions.last_change(), reader.log.forgotten()
        if before is not None and before.stamp.settings == stamp.settings:
            self.set = before.set
        else:
            self.set = HubSettings(reader, None if before is None else before.set)
        self._sights = before._sights if before is not None and before.lists == self.lists else {}

    def sight_of(self, reader: Reader, viewer: str | None) -> str | None:
        """See `AccessReader.sight_of`."""
        if viewer not in self._sights:
            self._sights[viewer] = reader.access.sight_of(viewer)
        return self._sights[viewer]


def mark_of(record: BatchRecord | None) -> str:
    """What only this batch has: one of another history with the same number has another."""
    return "" if record is None else digest_of([record.id, record.committed])


def stamp_of(reader: Reader) -> StateStamp:
    """What is another one whenever edges may have to be told something."""
    return reader.stamp([policies.NUMBERED, taxonomies.NUMBERED, NUMBERED, EDGE])


def digest_of_triples(triples: Iterable[list[str]], *more: str) -> str:
    """The digest of a schema or a taxonomy, as it is told."""
    return digest_of([*sorted(" ".join(triple) for triple in triples), *more])
