"""Steps: what happened between two batches, found once for all edges that ask for it (M5, M6).

The log says which rows began, ended or stay with another content; from this follows what rules register now and no
longer, and what has to be described. Why the log, and no list for each edge: an edge that was away asks for a longer
step, and one that was not for a short one, which it shares with all others.

Invariant: an edge that held the contents of what its rules registered at the first batch, and follows a step, holds
those of what they register at the second one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from triplewire.engine.batch.application import Applied
from triplewire.engine.batch.revisions import Revision
from triplewire.engine.edges.changes import KnownChanges, ReadChanges
from triplewire.engine.edges.contents import Contents
from triplewire.engine.edges.moves import Moves, QueryMoves, deleted_by, described_by
from triplewire.engine.edges.own import OwnBatch, OwnBatches, Told
from triplewire.engine.edges.past import PastContents
from triplewire.engine.edges.rules import KnownRules
from triplewire.engine.edges.states import HubState, stamp_of
from triplewire.store import MATCHED, UNMATCHED, LateReader, Reader, StateMoved, StateStamp, Store

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
        self,
        reader: Reader,
        seen: Reader,
        strong: frozenset[str],
        after: int,
        until: int,
        *,
        is_relisted: bool = False,
        own: OwnBatch | None = None,
    ) -> None:
        """With `is_relisted`, access lists have changed: what the viewer saw before is not known.

        `own` is the batch `until`, if that is the only one, this hub has it in mind, and the viewer sees everything.
        """
        self.now = Contents(seen, strong)
        self._is_relisted = is_relisted
        self._reader = reader
        self._past: PastContents | None = None
        self._rows: dict[int, _Rows] = {}
        self._moves: dict[int, QueryMoves] = {}
        self._touched: dict[KnownRules, set[int]] = {}
        if after < until:
            changes = ReadChanges(self.now, after, until) if own is None else KnownChanges(self.now, own)
            self._past = PastContents(self.now, changes)
            self._note_rows(reader.log.told_in(after, until) if own is None else own.told)
            self._add_rows_of_xml(after, until)

    def _note_rows(self, told: Iterable[Told]) -> None:
        for query, kind, terms in told:
            own = self._rows.setdefault(query, {})
            before = own.get(terms)
            was = kind != MATCHED if before is None else before.was
            own[terms] = _Fate(was, kind != UNMATCHED)

    def _add_rows_of_xml(self, after: int, until: int) -> None:
        """Rows that stay, and bind what is or holds a document whose XML has changed: the log knows only of triples.

        With other access lists, any XML may have come or gone; also that of a document which has none any more, and
        which the viewer may not read now.
        """
        if self._past is None:
            return
        nodes = self._past.xml_nodes
        if self._is_relisted:
            documents = self._reader.documents
            some = dict.fromkeys([*documents.with_xml(), *documents.first_of_batches(after, until)])
            nodes = nodes | self.now.named(record.uri for record in documents.by_ids(list(some)))
        resources = self.now.holders(nodes) if nodes else ()
        for row in self._reader.rows.binding(sorted(resources)) if resources else ():
            self._rows.setdefault(row.query, {}).setdefault(row.terms, _Fate(was=True, is_there=True))

    def read_with(self, reader: Reader, seen: Reader) -> None:
        """Go on in another transaction, which sees the same state."""
        self._reader, self.now.reader = reader, seen

    def look_ahead(self, asking: Iterable[KnownRules]) -> None:
        """Look up together what will be asked for the rules of edges: what their resources hold, then and now."""
        touched: set[int] = set().union(*map(self.touched_of, asking))
        resources = self.now.resources({term for query in touched for terms in self._rows[query] for term in terms})
        self.now.closure(resources)
        if self._past is not None and self._knows_past:
            self._past.closure(resources)
        moves = [self._moves_of(query) for query in touched]
        self.now.descriptions(sorted(set().union(*(each.differing | (each.new - each.old) for each in moves))))

    def touched_of(self, rules: KnownRules) -> set[int]:
        """The queries of an edge's rules whose rows it touches."""
        found = self._touched.get(rules)
        if found is None:
            found = self._touched[rules] = self._rows.keys() & rules.by_query.keys()
        return found

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


class Steps:
    """The steps that were asked for lately, and the rules of who asked: edges that keep up ask for the same again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], EdgeStep] = OrderedDict()
        self._rules: OrderedDict[tuple[str, str | None], KnownRules] = OrderedDict()
        self._own = OwnBatches()
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
    def _stamp_known(self) -> StateStamp | None:
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
        key = after, state.number, sight, state.lists, is_relisted, state.generation, state.set.schema.strong
        step = self._kept.get(key)
        if step is None:
            own = self._own_since(state, after) if sight is None and not is_relisted else None
            step = self._kept[key] = EdgeStep(
                reader, seen, state.set.schema.strong, after, state.number, is_relisted=is_relisted, own=own
            )
            step.look_ahead(self._at(after))
        else:
            step.read_with(reader, seen)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return step

    def note(self, name: str, generation: int, revisions: Sequence[Revision], applied: Applied) -> None:
        """This hub has committed a batch; it is kept in mind if edges ask here."""
        if self._rules:
            self._own.note(name, generation, revisions, applied)

    def _own_since(self, state: HubState, after: int) -> OwnBatch | None:
        """The only batch since then, if it is in mind."""
        return self._own.find(state.number, state.batch, state.generation) if state.number == after + 1 else None

    def _at(self, number: int) -> list[KnownRules]:
        """The rules of edges that have followed until a batch: the next step is theirs, too."""
        return [known for known in self._rules.values() if known.told == number]
