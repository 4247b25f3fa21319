"""Steps: what happened between two batches, found once for all edges that ask for it (M5, M6).

The log says which rows began, ended or stay with another content; from this follows what rules register now and no
longer, and what has to be described. Why the log, and no list for each edge: an edge that was away asks for a longer
step, and one that was not for a short one, which it shares with all others.

Invariant: an edge that held the contents of what its rules registered at the first batch, and follows a step, holds
those of what they register at the second one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from triplewire.engine import taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.edges.contents import Contents, PastContents
from triplewire.engine.edges.rules import KnownRules
from triplewire.model import parse_triple
from triplewire.schema import Schema
from triplewire.store import MATCHED, UNMATCHED, Reader
from triplewire.wire.edges import digest_of

_KEPT = 8
_EDGES = 1_000
_Rows = dict[tuple[int, ...], "_Fate"]


class _Fate(NamedTuple):
    """Whether a row was there at the beginning of a step, and whether it is at the end."""

    was: bool
    is_there: bool


class Moves(NamedTuple):
    """What a step does for some queries: for each the resources that come and go; and what all that concerns."""

    registered: dict[int, set[int]]
    released: dict[int, set[int]]
    described: list[int]
    """The nodes whose descriptions differ, or that are new."""
    deleted: list[int]
    """Nodes of before of which nothing is stated any more."""


class EdgeStep:
    """The way from the state after one batch to that after another, as a viewer sees it."""

    def __init__(self, reader: Reader, seen: Reader, strong: frozenset[str], after: int, until: int) -> None:
        self.now = Contents(seen, strong)
        self._reader = reader
        self._past = PastContents(seen, strong, after, until) if after < until else None
        self._rows: dict[int, _Rows] = {}
        for query, kind, terms in reader.log.told_in(after, until) if after < until else ():
            own = self._rows.setdefault(query, {})
            before = own.get(terms)
            was = kind != MATCHED if before is None else before.was
            own[terms] = _Fate(was, kind != UNMATCHED)

    def read_with(self, reader: Reader, seen: Reader) -> None:
        """Go on in another transaction, which sees the same state."""
        self._reader = reader
        for contents in (self.now, self._past):
            if contents is not None:
                contents.reader = seen

    def look_ahead(self, queries: Iterable[int]) -> None:
        """Look up together what will be asked for some queries: what their resources hold, then and now."""
        rows = [self._rows[query] for query in self._rows.keys() & set(queries)]
        resources = self.now.resources({term for own in rows for terms in own for term in terms})
        nodes = self.now.closure(resources)
        self.now.descriptions(sorted(nodes))
        if self._past is not None:
            self._past.closure(resources)

    def touches(self, queries: Collection[int]) -> Collection[int]:
        """Those of the queries whose rows it touches."""
        return self._rows.keys() & queries

    def moves(self, queries: Iterable[int], *, trusts_past: bool) -> Moves:
        """What the step does for queries; without trust in what was, all that it touches is described."""
        before: set[int] = set()
        touched: set[int] = set()
        registered: dict[int, set[int]] = {}
        released: dict[int, set[int]] = {}
        for query in queries:
            rows = self._rows.get(query)
            if not rows:
                continue
            was, is_there, ended = self._bound(rows)
            left = self._still_bound(query, ended - is_there)
            registered[query] = is_there - was
            released[query] = ended - is_there - left
            before |= was
            touched |= is_there | left
        new = self.now.closure(touched)
        old = self._past.closure(before) if self._past is not None and self._past.is_whole and trusts_past else set()
        stated = self.now.stated(new | old)
        described = [n for n in sorted(new) if n not in old or self._differs(n)]
        gone = (old - new).union(*released.values())
        self.now.stated(gone)
        return Moves(registered, released, described, [node for node in sorted(gone) if not stated[node]])

    def _differs(self, node: int) -> bool:
        assert self._past is not None, "there is something of before"
        return self._past.differs(node, self.now.stated([node])[node])

    def _bound(self, rows: _Rows) -> tuple[set[int], set[int], set[int]]:
        """The resources that rows bound before, bind now, and bind no longer."""
        found = [
            {term for terms, fate in rows.items() if which(fate) for term in terms}
            for which in (lambda fate: fate.was, lambda fate: fate.is_there, lambda fate: not fate.is_there)
        ]
        resources = self.now.resources(set().union(*found))
        was, is_there, ended = (terms & resources for terms in found)
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
        self._taxonomy: tuple[int, list[list[str]], str] = -1, [], ""
        self._schema: tuple[object, Schema, str] = None, Schema(), ""

    def taxonomy(self, reader: Reader) -> tuple[list[list[str]], str]:
        """The taxonomy of the hub and its digest; it is read when it is another one."""
        number = taxonomies.number_of(reader)
        if number != self._taxonomy[0]:
            triples = taxonomies.everything(reader)
            self._taxonomy = number, triples, digest_of_triples(triples)
        return self._taxonomy[1:]

    def schema(self, reader: Reader) -> tuple[Schema, str]:
        """The schema of the hub and the digest of it and its policy; it is read when it is another one."""
        number = policies.number_of(reader)
        if number != self._schema[0]:
            policy, triples = policies.stored(reader)
            schema = Schema.from_triples(parse_triple(*spelled) for spelled in triples)
            self._schema = number, schema, digest_of_triples(triples, policy)
        return self._schema[1:]

    def rules(self, reader: Reader, edge: str, viewer: str | None) -> KnownRules:
        """The rules of an edge; they are read when the registry has changed."""
        key = edge, viewer
        known = self._rules.get(key)
        if known is None or known.number != reader.subscriptions.last_change():
            known = self._rules[key] = KnownRules(reader, edge, viewer)
        self._rules.move_to_end(key)
        while len(self._rules) > _EDGES:
            self._rules.popitem(last=False)
        return known

    def between(self, reader: Reader, viewer: str | None, strong: frozenset[str], after: int, until: int) -> EdgeStep:
        """The step from one batch to the one that the reader sees last, as a viewer sees it."""
        seen = reader.seen_by(viewer)
        key = after, until, reader.access.sight_of(viewer), reader.access.number(), reader.generation, strong
        step = self._kept.get(key)
        if step is None:
            step = self._kept[key] = EdgeStep(reader, seen, strong, after, until)
            step.look_ahead(query for known in self._rules.values() for query in known.by_query)
        else:
            step.read_with(reader, seen)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return step


def digest_of_triples(triples: Iterable[list[str]], *more: str) -> str:
    """The digest of a schema or a taxonomy, as it is told."""
    return digest_of([*sorted(" ".join(triple) for triple in triples), *more])
