"""Steps: what happened between two batches, found once for all edges that ask for it (M5, M6).

The log says which rows began, ended or stay with another content; from this follows what rules register now and no
longer, and what has to be described. Why the log, and no list for each edge: an edge that was away asks for a longer
step, and one that was not for a short one, which it shares with all others.

Invariant: an edge that held the contents of what its rules registered at the first batch, and follows a step, holds
those of what they register at the second one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, KeysView
from contextlib import contextmanager
from typing import NamedTuple

from triplewire.engine import taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.edges.contents import Contents
from triplewire.engine.edges.holdings import EDGE, is_edge
from triplewire.engine.edges.moves import Moves, QueryMoves, deleted_by, described_by
from triplewire.engine.edges.offers import NUMBERED, KnownEdges
from triplewire.engine.edges.past import PastContents
from triplewire.engine.edges.positions import HubPosition
from triplewire.engine.edges.rules import KnownRules
from triplewire.model import parse_triple
from triplewire.schema import Schema
from triplewire.store import MATCHED, UNMATCHED, BatchRecord, LateReader, Reader, StateMoved, Store
from triplewire.wire.edges import digest_of

_KEPT = 8
_EDGES = 1_000
_Rows = dict[tuple[int, ...], "_Fate"]


class _Fate(NamedTuple):
    """Whether a row was there at the beginning of a step, and whether it is at the end."""

    was: bool
    is_there: bool


class EdgeStep:
    """The way from the state after one batch to that after another, as a viewer sees it."""

    def __init__(
        self, reader: Reader, seen: Reader, strong: frozenset[str], after: int, until: int, *, is_relisted: bool = False
    ) -> None:
        """With `is_relisted`, access lists have changed: what the viewer saw before is not known."""
        self.now = Contents(seen, strong)
        self._is_relisted = is_relisted
        self._reader = reader
        self._past = PastContents(self.now, after, until) if after < until else None
        self._rows: dict[int, _Rows] = {}
        self._moves: dict[int, QueryMoves] = {}
        for query, kind, terms in reader.log.told_in(after, until) if after < until else ():
            own = self._rows.setdefault(query, {})
            before = own.get(terms)
            was = kind != MATCHED if before is None else before.was
            own[terms] = _Fate(was, kind != UNMATCHED)
        self._add_rows_of_xml()

    def _add_rows_of_xml(self) -> None:
        """Rows that stay, and bind what is or holds a document whose XML has changed: the log knows only of triples.

        With other access lists, any XML may have come or gone.
        """
        if self._past is None:
            return
        nodes = self._past.xml_nodes
        if self._is_relisted:
            documents = self._reader.documents
            nodes = nodes | self.now.named(documents.by_ids(documents.with_xml()))
        resources = self.now.holders(nodes) if nodes else ()
        for row in self._reader.rows.binding(sorted(resources)) if resources else ():
            self._rows.setdefault(row.query, {}).setdefault(row.terms, _Fate(was=True, is_there=True))

    def read_with(self, reader: Reader, seen: Reader) -> None:
        """Go on in another transaction, which sees the same state."""
        self._reader, self.now.reader = reader, seen

    def look_ahead(self, touched: Collection[int]) -> None:
        """Look up together what will be asked for queries that it touches: what their resources hold, then and now."""
        resources = self.now.resources({term for query in touched for terms in self._rows[query] for term in terms})
        self.now.closure(resources)
        if self._past is not None and self._knows_past:
            self._past.closure(resources)
        moves = [self._moves_of(query) for query in touched]
        self.now.descriptions(sorted(set().union(*(each.differing | (each.new - each.old) for each in moves))))

    def touches(self, queries: KeysView[int]) -> set[int]:
        """Those of the queries whose rows it touches."""
        return self._rows.keys() & queries

    def moves(self, queries: Iterable[int]) -> Moves:
        """What the step does for queries; where it is not known what was, all that it touches is described."""
        found = {query: self._moves_of(query) for query in queries}
        return Moves(found, described_by(found.values()), deleted_by(found.values()))

    def _moves_of(self, query: int) -> QueryMoves:
        """What it does for one query, found once for all edges that follow it."""
        found = self._moves.get(query)
        if found is None:
            found = self._moves[query] = self._moves_found(query)
        return found

    def _moves_found(self, query: int) -> QueryMoves:
        was, is_there, ended = self._bound(self._rows[query])
        left = self._still_bound(query, ended - is_there)
        new = self.now.closure(is_there | left)
        old = self._past.closure(was) if self._past is not None and self._knows_past else set()
        registered, released = is_there - was, ended - is_there - left
        return QueryMoves(
            self.now.names(sorted(registered)),
            self.now.names(sorted(released)),
            frozenset(released),
            frozenset(new),
            frozenset(old),
            frozenset() if self._past is None else self._past.differing(new),
            self._bare((old - new) | released),
        )

    def _bare(self, nodes: Collection[int]) -> frozenset[int]:
        """Those of the nodes of which nothing is stated any more."""
        if not nodes:
            return frozenset()
        stated = self.now.stated(nodes)
        bare = [node for node in sorted(nodes) if not stated[node]]
        return frozenset(node for node, told in zip(bare, self.now.descriptions(bare), strict=True) if not told.xml)

    @property
    def _knows_past(self) -> bool:
        return self._past is not None and self._past.is_whole and not self._is_relisted

    def _bound(self, rows: _Rows) -> tuple[set[int], set[int], set[int]]:
        """The resources that rows bound before, bind now, and bind no longer."""
        resources = self.now.resources({term for terms in rows for term in terms})
        was: set[int] = set()
        is_there: set[int] = set()
        ended: set[int] = set()
        for terms, fate in rows.items():
            own = resources.intersection(terms)
            was |= own if fate.was else set()
            (is_there if fate.is_there else ended).update(own)
        return was, is_there, ended

    def _still_bound(self, query: int, resources: Collection[int]) -> set[int]:
        """Those of the resources that another row of a query binds."""
        if not resources:
            return set()
        rows = self._reader.rows.binding(sorted(resources))
        return {term for row in rows if row.query == query for term in row.terms if term in resources}


class HubState:
    """What all edges are told of one state of a hub, whatever they hold: where it is, its schema, its taxonomy."""

    taxonomy: list[list[str]]
    taxonomy_digest: str
    schema: Schema
    marks: dict[int, str]
    """What the last batches had that no other has, by number."""

    def __init__(self, reader: Reader, stamp: tuple[object, ...], before: HubState | None) -> None:
        """What has not changed since the state `before` is taken from there."""
        self.stamp, self.generation = stamp, reader.generation
        self.number, self.lists = reader.batches.last(), reader.access.number()
        record = reader.batches.by_numbers({self.number}).get(self.number)
        mark, self.time = mark_of(record), "" if record is None else record.committed
        self.here = HubPosition(self.number, self.lists, mark)
        self.position = str(self.here)
        earlier = [] if before is None else [*before.marks.items()][-_KEPT:]
        self.marks = {**dict(earlier), self.number: mark}
        self.registry, self.forgotten = reader.subscriptions.last_change(), reader.log.forgotten()
        self.is_edge = is_edge(reader)
        self.edges = KnownEdges(reader)
        self._sights: dict[str | None, str | None] = {}
        self._taxonomy_number = taxonomies.number_of(reader)
        if before is not None and before._taxonomy_number == self._taxonomy_number:
            self.taxonomy, self.taxonomy_digest = before.taxonomy, before.taxonomy_digest
        else:
            self.taxonomy = taxonomies.everything(reader)
            self.taxonomy_digest = digest_of_triples(self.taxonomy)
        self.policy, self.triples = policies.stored(reader)
        if before is not None and before.triples == self.triples:
            self.schema = before.schema
        else:
            self.schema = Schema.from_triples(parse_triple(*spelled) for spelled in self.triples)
        self.schema_digest = digest_of_triples(self.triples, self.policy)

    def sight_of(self, reader: Reader, viewer: str | None) -> str | None:
        """See `AccessReader.sight_of`."""
        if viewer not in self._sights:
            self._sights[viewer] = reader.access.sight_of(viewer)
        return self._sights[viewer]


def mark_of(record: BatchRecord | None) -> str:
    """What only this batch has: one of another history with the same number has another."""
    return "" if record is None else digest_of([record.id, record.committed])


class Steps:
    """The steps that were asked for lately, and the rules of who asked: edges that keep up ask for the same again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], EdgeStep] = OrderedDict()
        self._rules: OrderedDict[tuple[str, str | None], KnownRules] = OrderedDict()
        self._state: HubState | None = None
        self._edition: int | None = None
        """That of the store when the state was read."""

    @contextmanager
    def reading(self, store: Store) -> Iterator[Reader]:
        """The state of the store; while that is the one that was asked of last, it is opened only if need be.

        Most questions of edges that keep up are answered by what was looked up for the first of them.
        """
        edition = store.edition()
        if edition is not None and edition == self._edition and self._state is not None:
            late = store.late_reader(lambda reader: stamp_of(reader) == self._stamp_known)
            try:
                yield late
            except StateMoved:
                self._edition = None
                raise
            finally:
                late.close()
            return
        with store.reading() as reader:
            self._edition = None
            yield reader
            self._edition = edition

    @property
    def _stamp_known(self) -> tuple[object, ...] | None:
        return None if self._state is None else self._state.stamp

    def state(self, reader: Reader) -> HubState:
        """What all edges are told of this state; it is read when there is another one."""
        if isinstance(reader, LateReader) and self._state is not None:
            return self._state
        stamp = stamp_of(reader)
        if self._state is None or self._state.stamp != stamp:
            self._state = HubState(reader, stamp, self._state)
        return self._state

    def rules(self, reader: Reader, state: HubState, edge: str, viewer: str | None) -> KnownRules:
        """The rules of an edge; they are read when the registry has changed."""
        key = edge, viewer
        known = self._rules.get(key)
        if known is None or known.number != state.registry:
            told = -1 if known is None else known.told
            known = self._rules[key] = KnownRules(reader, edge, viewer, told)
        self._rules.move_to_end(key)
        while len(self._rules) > _EDGES:
            self._rules.popitem(last=False)
        return known

    def since(
        self, reader: Reader, state: HubState, viewer: str | None, after: int, *, is_relisted: bool = False
    ) -> EdgeStep:
        """The step from one batch to the last, as a viewer sees it; see `EdgeStep`."""
        sight = state.sight_of(reader, viewer)
        seen = reader if sight is None else reader.seen_by(viewer)
        key = after, state.number, sight, state.lists, is_relisted, state.generation, state.schema.strong
        step = self._kept.get(key)
        if step is None:
            step = self._kept[key] = EdgeStep(
                reader, seen, state.schema.strong, after, state.number, is_relisted=is_relisted
            )
            step.look_ahead(set().union(*(step.touches(known.by_query.keys()) for known in self._at(after))))
        else:
            step.read_with(reader, seen)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return step

    def _at(self, number: int) -> list[KnownRules]:
        """The rules of edges that have followed until a batch: the next step is theirs, too."""
        return [known for known in self._rules.values() if known.told == number]


def stamp_of(reader: Reader) -> tuple[object, ...]:
    """What is another one whenever edges may have to be told something."""
    return reader.stamp([policies.NUMBERED, taxonomies.NUMBERED, NUMBERED, EDGE])


def digest_of_triples(triples: Iterable[list[str]], *more: str) -> str:
    """The digest of a schema or a taxonomy, as it is told."""
    return digest_of([*sorted(" ".join(triple) for triple in triples), *more])
